"""The LabelledGraph: every state and every step of a machine, each step with its name.

One breadth-first pass over a telling machine (`labels`) finds states, steps and names together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from checker.errors import Interruption, UsageError
from checker.frozen import frozen
from checker.graph.edges import index_states
from checker.graph.interning import intern
from checker.graph.labels import Label, Telling, bare, shown_value, telling
from checker.kernel import build
from checker.kernel.calls import Calls, HaltedError
from checker.kernel.kernel import Words
from checker.layout import pack
from checker.layout.cells import value_from
from checker.layout.codec import decode_all, unpack
from checker.layout.layout import Layout
from checker.llvm.meta import ACTION_MASK, CUT, DROPPED, ERROR
from checker.machine import terms as t
from checker.machine.machine import Machine
from checker.machine.walk import walk
from checker.memory import available, default_limit
from checker.search.progress import Interrupt, interrupted
from checker.semantics.successor import State
from checker.semantics.successors import successors
from checker.semantics.symmetry import reduces
from checker.semantics.values import format_value

CUT_OFF = -1
"""The target of a step beyond the bounds, or of one that ran out of ids."""
FAILED = -2
"""The target of a step that failed."""

_CHUNK = 1 << 14
_STEPS = 1 << 18
"""States that are expanded at a time, but no further ones after so many steps."""
_BYTES_OF_A_STEP = 24
_DECODED = 1 << 14


@frozen(slots=False)
class LabelledGraph:
    """All states of a machine, numbered as they were found, and all steps between them.

    `words` (states, words) are packed as `layout` says; variables beyond the machine's are none.
    `depths` int32 (states,). The steps of state s are `offsets[s]:offsets[s + 1]`, in canonical
    order: `targets` int32 (CUT_OFF, FAILED), `names` int32 into `labels`. `initial`: the initial
    states inside the bounds; `astray` says what the initial action leads to besides (CUT_OFF,
    FAILED). Under symmetry states are representatives, and names those of the
    steps out of them; picks that come to the same are one step, called by the first of them.
    """

    machine: Machine
    layout: Layout
    words: Words
    depths: NDArray[np.int32]
    offsets: NDArray[np.int64]
    targets: NDArray[np.int32]
    names: NDArray[np.int32]
    labels: tuple[Label, ...]
    initial: NDArray[np.int64]
    astray: frozenset[int]

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self.words)

    @property
    def sources(self) -> NDArray[np.int32]:
        """The state that each step leaves."""
        return np.repeat(np.arange(self.states, dtype=np.int32), np.diff(self.offsets))

    @cached_property
    def parents(self) -> NDArray[np.int64]:
        """The first step that leads to each state from the level before it; -1 for initial ones."""
        steps = np.arange(len(self.targets))
        down = self.targets >= 0
        down[down] = self.depths[self.targets[down]] == self.depths[self.sources[down]] + 1
        parents = np.full(self.states, -1, np.int64)
        parents[self.targets[down][::-1]] = steps[down][::-1]
        return parents

    def values(self, numbers: NDArray[np.int64]) -> list[State]:
        """Return the values of the machine's variables in some states."""
        own = len(self.machine.variables)
        return [state[:own] for state in decode_all(self.layout, self.words[numbers])]

    def state(self, number: int) -> State:
        """Return the values of the machine's variables in one state."""
        return self.values(np.array([number]))[0]


def labelled_graph(
    machine: Machine,
    states_max: int | None = None,
    interrupt: Interrupt | None = None,
    tell: Callable[[int], None] | None = None,
    depth_max: int | None = None,
    *,
    rows_only: bool = False,
) -> LabelledGraph | None:
    """Return the graph of `machine`; None where it has more than `states_max` states.

    `rows_only`: steps are named by their rows alone. States at `depth_max` are found and not
    expanded: they have no steps.
    Symmetry is used if the machine says so. UsageError where it does not fit the memory;
    Interruption where `interrupt` says to stop. `tell` is told how many states there are.
    """
    builder = _Builder(machine, interrupt, rows_only=rows_only)
    return builder.graph(states_max, tell, depth_max)


class _Builder:
    def __init__(self, machine: Machine, interrupt: Interrupt | None, *, rows_only: bool) -> None:
        self.machine, self.stop = machine, partial(interrupted, interrupt)
        self.telling: Telling = bare(machine) if rows_only else telling(machine)
        self.layout = pack(self.telling.machine)
        self.kernel = build(
            self.telling.machine, self.layout, prompt=True, brief=True, stop=self.stop
        )
        self.calls = Calls(self.kernel)
        self.labels: dict[Label, int] = {}
        words = self.layout.words
        self.store = np.zeros((1 << 12, words), np.int64)
        self.index = np.zeros(1 << 13, np.int32)
        self.count = 0
        self.reduced = reduces(self.telling.machine)
        self.numbers = {action.name: i for i, action in enumerate(machine.actions)}
        self.interpreted = {row: _Interpreted(self, row) for row in self.telling.silent}

    def graph(
        self,
        states_max: int | None,
        tell: Callable[[int], None] | None,
        depth_max: int | None,
    ) -> LabelledGraph | None:
        try:
            begun, meta = self.calls.initial(halt=self.stop)
        except HaltedError as error:
            raise Interruption("initial states were being found") from error
        inside = (meta & (CUT | DROPPED | ERROR)) == 0
        initial = self._numbered(self.calls.canonical(begun), inside)[inside]
        failed = (meta & ERROR) != 0
        astray = {CUT_OFF: (~inside & ~failed).any(), FAILED: failed.any()}
        targets, names = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
        counts = [np.zeros(0, np.int64)]
        depths = [np.zeros(0, np.int32)]
        done, depth, steps = 0, 0, 0
        while done < self.count:
            level = self.count
            depths.append(np.full(level - done, depth, np.int32))
            if depth == depth_max:
                counts.append(np.zeros(level - done, np.int64))
                break
            while done < level:
                to, named, ends = self._expand(done, min(done + _CHUNK, level))
                done += len(ends)
                targets.append(to)
                names.append(named)
                counts.append(np.diff(ends, prepend=0))
                steps += len(to)
                self._watch(steps)
                if tell is not None:
                    tell(self.count)
                if states_max is not None and self.count > states_max:
                    return None
            depth += 1
        offsets = np.zeros(self.count + 1, np.int64)
        np.cumsum(np.concatenate(counts), out=offsets[1:])
        return LabelledGraph(
            machine=self.machine,
            layout=self.layout,
            words=self.store[: self.count].copy(),
            depths=np.concatenate(depths),
            offsets=offsets,
            targets=np.concatenate(targets),
            names=np.concatenate(names),
            labels=tuple(self.labels),
            initial=np.array(list(dict.fromkeys(initial.tolist())), np.int64),
            astray=frozenset(kind for kind, met in astray.items() if met),
        )

    def _watch(self, steps: int) -> None:
        if self.stop():
            raise Interruption(f"{self.count:,} states of the graph were found")
        needed = 2 * self.store.nbytes + self.index.nbytes + _BYTES_OF_A_STEP * steps
        # What putting it together takes beside what there is already.
        more = self.store.nbytes + _BYTES_OF_A_STEP // 3 * steps
        if needed > default_limit() or more > available():
            raise UsageError(
                f"the graph does not fit the memory: {self.count:,} states and {steps:,} steps so "
                "far; set smaller constants, or let `checker graph --engine spark` write it"
            )

    def _numbered(self, states: Words, wanted: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the numbers of states, new ones included; -1 for those not wanted."""
        room = self.count + len(states)
        if room > len(self.store):
            grown = np.zeros((max(room, 2 * len(self.store)), self.layout.words), np.int64)
            grown[: self.count] = self.store[: self.count]
            self.store = grown
        if 2 * room > len(self.index):
            self.index = np.zeros(1 << (4 * room).bit_length(), np.int32)
            store, index = self.store.ctypes.data, self.index
            index_states(store, self.layout.words, self.count, index, index.ctypes.data)
        numbers = np.full(len(states), CUT_OFF, np.int64)
        given = np.ascontiguousarray(states)
        self.count = intern(
            self.store.ctypes.data,
            self.layout.words,
            self.count,
            self.index,
            given.ctypes.data,
            wanted,
            numbers,
        )
        return numbers

    def _expand(self, first: int, last: int) -> tuple[NDArray[np.int32], NDArray[np.int32], Words]:
        """Return targets and names of the steps out of some states, and where each one's end.

        Those of the first states alone where these have many steps.
        """
        found = self.calls.expand(self.store[first:last], most=_STEPS)
        last = first + len(found.ends)
        words, told = self._told(found.words)
        kept = (found.meta & (CUT | DROPPED | ERROR)) == 0
        targets = self._numbered(self.calls.canonical(words), kept)
        targets[(found.meta & ERROR) != 0] = FAILED
        names = self._names(found.meta & ACTION_MASK, told)
        owners = np.repeat(np.arange(last - first), np.diff(found.ends, prepend=0))
        for row in self.telling.silent:
            steps = np.flatnonzero((found.meta & ACTION_MASK) == self.numbers[row])
            names[steps] = self.interpreted[row].names(self.store[first:last], owners[steps])
        ends = found.ends
        if self.reduced:
            once = self._once(owners, words, found.meta, told)
            targets, names = targets[once], names[once]
            ends = np.cumsum(np.bincount(owners[once], minlength=last - first))
        return targets.astype(np.int32), names, ends

    def _once(
        self, owners: NDArray[np.int64], words: Words, meta: Words, told: Words
    ) -> NDArray[np.int64]:
        """Return the steps to keep: of the picks of an instance that come to the same the first.

        That is how steps are counted under symmetry; a kernel whose picks are told cannot see it.
        """
        start = self.layout.starts[self.telling.own]
        kept = np.ones(len(owners), np.bool_)
        actions = meta & ACTION_MASK
        for number in np.unique(actions[(meta & ERROR) == 0]).tolist():
            picked = self.telling.picked(number)
            steps = np.flatnonzero((actions == number) & ((meta & ERROR) == 0))
            if not picked:
                continue
            instances = told[steps]
            for slot in picked:
                own = slice(self.layout.starts[slot] - start, self.layout.starts[slot + 1] - start)
                instances[:, own] = 0
            same = np.hstack((owners[steps, None], meta[steps, None], words[steps], instances))
            _, firsts = np.unique(same, axis=0, return_index=True)
            kept[steps] = False
            kept[steps[firsts]] = True
        return np.flatnonzero(kept)

    def _told(self, words: Words) -> tuple[Words, Words]:
        """Return states without what they tell, and the cells of that."""
        start = self.layout.starts[self.telling.own]
        leaves = self.layout.leaves[start:]
        plain = words.view(np.uint64).copy()
        cells = np.zeros((len(words), len(leaves)), np.int64)
        for place, leaf in enumerate(leaves):
            if not leaf.width:
                continue
            mask = np.uint64((1 << leaf.width) - 1)
            digit = (words.view(np.uint64)[:, leaf.word] >> np.uint64(leaf.shift)) & mask
            digit = digit // np.uint64(leaf.divisor)
            if not leaf.last:
                digit = digit % np.uint64(leaf.cardinality)
            cells[:, place] = digit
            plain[:, leaf.word] -= digit * np.uint64(leaf.weight % (1 << 64))
        return plain.view(np.int64), cells

    def _names(self, actions: Words, told: Words) -> NDArray[np.int32]:
        names = np.zeros(len(actions), np.int32)
        starts = [start - self.layout.starts[self.telling.own] for start in self.layout.starts]
        for number in np.unique(actions).tolist():
            steps = np.flatnonzero(actions == number)
            slots = self.telling.slots[number]
            columns = [c for slot, _, _ in slots for c in range(starts[slot], starts[slot + 1])]
            different, which = np.unique(told[steps][:, columns], axis=0, return_inverse=True)
            found = [self._label(number, row) for row in different.tolist()]
            names[steps] = np.array(found, np.int32)[which.reshape(-1)]
        return names

    def _label(self, number: int, cells: list[int]) -> int:
        bindings: list[tuple[str, str]] = []
        picks: list[tuple[str, str]] = []
        for slot, name, told in self.telling.slots[number]:
            size = self.layout.starts[slot + 1] - self.layout.starts[slot]
            value = value_from(self.layout.shapes[slot], cells[:size])
            cells = cells[size:]
            if value is not None and told != "unnamed":
                (picks if told == "picked" else bindings).append((name, shown_value(value)))
        return self.known(Label(self.machine.actions[number].name, tuple(bindings), tuple(picks)))

    def known(self, label: Label) -> int:
        return self.labels.setdefault(label, len(self.labels))


class _Interpreted:
    """The steps of a row that picks in a loop, named as the interpreter does.

    How they are named depends on what the row reads and writes, so each such part of a state is
    interpreted once.
    """

    def __init__(self, builder: _Builder, row: str) -> None:
        machine, layout = builder.machine, builder.layout
        number = builder.numbers[row]
        action = machine.actions[number]
        self.row, self.builder = row, builder
        self.alone = replace(machine, actions=(action,), properties=(), deadlock=False)
        nodes = list(walk(action))
        met = {node.variable for node in nodes if isinstance(node, t.Read | t.Place)}
        if any(isinstance(node, t.Fresh) for node in nodes):  # which looks at everything
            met = {variable.name for variable in machine.variables}
        self.columns = [
            leaf
            for place, variable in enumerate(machine.variables)
            if variable.name in met
            for leaf in range(layout.starts[place], layout.starts[place + 1])
        ]
        self.known: dict[bytes, list[int]] = {}

    def names(self, states: Words, owners: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the numbers of the labels of steps; `owners` are their states, in order."""
        if not len(owners):
            return np.zeros(0, np.int32)
        own, begins, counts = np.unique(owners, return_index=True, return_counts=True)
        parts = unpack(self.builder.layout, states[own])[:, self.columns]
        different, first, which = np.unique(parts, axis=0, return_index=True, return_inverse=True)
        told = [
            self._told(part.tobytes(), states[own[place]])
            for part, place in zip(different, first.tolist(), strict=True)
        ]
        which = which.reshape(-1)
        lengths = np.array([len(labels) for labels in told])
        if (lengths[which] != counts).any():
            raise AssertionError(f"{self.row}: the interpreter takes other steps than the kernel")
        starts = np.cumsum(lengths) - lengths
        found = np.array([label for labels in told for label in labels], np.int32)
        return found[np.repeat(starts[which] - begins, counts) + np.arange(len(owners))]

    def _told(self, part: bytes, state: Words) -> list[int]:
        if part not in self.known:
            values = decode_all(self.builder.layout, state[None])[0]
            once = reduces(self.alone)  # as the kernel does
            made = successors(self.alone, values[: len(self.alone.variables)], once=once)
            labels = [Label(self.row, _texts(it.bindings), _texts(it.picks)) for it in made]
            self.known[part] = [self.builder.known(label) for label in labels]
        return self.known[part]


def _texts(items: tuple[tuple[str, object], ...]) -> tuple[tuple[str, str], ...]:
    return tuple((name, format_value(value)) for name, value in items)
