"""The states of an instrumented machine, expanded one by one on the native kernel when asked for.

A Node is a state with what can be asked of an implementation in it. Words of a state are the
layout's of the specification, followed by those of the labels, which are 0 in every node.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from checker.conformance.bind import Bound
from checker.conformance.instrument import Instrumented, Label, instrument
from checker.errors import EvaluationError, InternalError
from checker.frozen import frozen
from checker.kernel import build
from checker.kernel.calls import Calls
from checker.layout import pack
from checker.layout.cells import value_from
from checker.layout.codec import decode
from checker.layout.layout import Layout, Leaf
from checker.llvm.meta import ACTION_MASK, CUT, DROPPED, ERROR
from checker.machine.machine import Machine
from checker.machine.relations import bare
from checker.machine.types import Id, Set, Type
from checker.semantics.plain import as_json, normal
from checker.semantics.successor import State, Successor
from checker.semantics.successors import successors

Key = bytes
"""The words of a state, labels left out."""

_KEPT = 200_000
"""Expanded nodes that are kept when walking without an end."""


@frozen()
class Expected:
    """What is to be seen: a value as JSON, its type, and the text that is the same for equals."""

    item: str
    type: Type
    value: object
    text: str


@frozen()
class Timed:
    """What a step has to do with timers: the ones it sets and fires, by number; and its ids."""

    sets: tuple[tuple[int, str], ...] = ()
    fires: tuple[tuple[int, str], ...] = ()
    ids: tuple[tuple[str, str], ...] = ()


@frozen(eq=False)
class Edge:
    """A step of the model: the row's number, where it leads, the answer, known differences."""

    row: int
    target: Key
    answer: Expected | None
    known: tuple[int, ...]
    timed: Timed = Timed()


@frozen(eq=False)
class Choice:
    """What can be asked in a state, and the steps of the model that it may be.

    Without a request nothing is asked: the model goes on by itself.
    """

    request: str | None
    edges: tuple[Edge, ...]


@frozen(eq=False)
class Refused:
    """A call that is to be refused in a state."""

    row: int
    request: str
    answer: Expected | None
    known: tuple[int, ...]


@frozen(eq=False)
class Node:
    """A state: what is to be observed, what can be asked, what is to be refused in it."""

    key: Key
    control: tuple[int, ...]
    observed: tuple[Expected, ...]
    choices: tuple[Choice, ...]
    refused: tuple[Refused, ...]
    armed: tuple[tuple[int, str], ...] = ()
    """The timers that run, by number and whose they are."""
    slides: tuple[Key | None, ...] = ()
    """Of each window the state in which its numbers are one less."""


@frozen()
class _Said:
    """What the labels of a step say."""

    request: str | None
    answer: Expected | None
    known: tuple[int, ...]
    timed: Timed


class Space:
    """The nodes of one instance; `node` expands what has not been."""

    def __init__(self, bound: Bound) -> None:
        self.bound = bound
        self.instrumented: Instrumented = instrument(bound)
        machine = self.instrumented.machine
        self.layout, self.words = _layout(machine, self.instrumented.base)
        self._calls = Calls(build(machine, self.layout, prompt=True, brief=True))
        self.cut = False
        """Whether there were steps that bounds or assumptions leave out."""
        self._said: dict[tuple[int, bytes], _Said] = {}
        self._observed: dict[bytes, tuple[Expected, ...]] = {}
        self._nodes: dict[Key, Node] = {}
        self._values: dict[tuple[int, tuple[int, ...]], Expected] = {}
        self._places = {name: n for n, name in enumerate(self.layout.variables)}
        self._leaves = {name: self.layout.variable_leaves(n) for name, n in self._places.items()}
        self._control = [
            leaf
            for index, variable in enumerate(machine.variables[: self.instrumented.base])
            if variable.origin == "machine"
            for leaf in self.layout.variable_leaves(index)
            if leaf.width
        ]

    def initial(self) -> list[Key]:
        """Return the states to begin in, each once."""
        states, meta = self._calls.initial()
        self.cut = self.cut or any(int(one) & CUT for one in meta)
        keys = [
            states[n, : self.words].tobytes()
            for n in range(len(meta))
            if not int(meta[n]) & (ERROR | DROPPED | CUT)
        ]
        return list(dict.fromkeys(keys))

    def node(self, key: Key) -> Node:
        """Return the node of a state."""
        found = self._nodes.get(key)
        if found is None:
            found = self._nodes[key] = self._expanded(key)
        return found

    def labels(self, row: int) -> tuple[Label, ...]:
        """Return the arguments of a row's call, with their types."""
        return self.instrumented.labels[row].arguments

    def forget(self) -> None:
        """Forget expanded nodes where there are many; they are expanded again when needed."""
        for kept in (self._nodes, self._said, self._observed, self._values):
            if len(kept) > _KEPT:
                kept.clear()

    def state(self, key: Key) -> State:
        """Return the values of the specification's variables."""
        return decode(self.layout, self._all_words(key))[: self.instrumented.base]

    def variable(self, key: Key, index: int) -> object:
        """Return the value of one of the specification's variables."""
        words = np.frombuffer(key, np.uint64).tolist()
        cells = tuple(_cell(leaf, words[leaf.word]) for leaf in self.layout.variable_leaves(index))
        return value_from(self.layout.shapes[index], cells)

    def successor(self, key: Key, edge: Edge) -> Successor:
        """Return a step as the reference semantics makes it."""
        action = self.bound.rows[edge.row].action
        machine = replace(self.bound.machine, actions=(action,), properties=())
        wanted = self.state(edge.target)
        for found in successors(machine, self.state(key)):
            if found.state == wanted:
                return found
        raise InternalError(f"the reference semantics knows no step of {action.name} here")

    def _all_words(self, key: Key) -> np.ndarray:
        words = np.zeros(self.layout.words, np.int64)
        words[: self.words] = np.frombuffer(key, np.int64)
        return words

    def _expanded(self, key: Key) -> Node:
        step = self._calls.expand(self._all_words(key).reshape(1, -1))
        rows = len(self.instrumented.rows)
        windows = len(self.bound.windows)
        observe = len(self.instrumented.machine.actions) - 1 - windows
        base = np.ascontiguousarray(step.words[:, : self.words])
        labels = np.ascontiguousarray(step.words[:, self.words :])
        choices: dict[str | int, tuple[str | None, list[Edge]]] = {}
        refused: dict[str, Refused] = {}
        observed: tuple[Expected, ...] = ()
        armed: tuple[tuple[int, str], ...] = ()
        slides: list[Key | None] = [None] * windows
        for n, meta in enumerate(step.meta.tolist()):
            number = meta & ACTION_MASK
            if meta & ERROR:
                self._tell_error(key, number)
                continue
            if meta & (DROPPED | CUT):
                self.cut = self.cut or bool(meta & CUT)
                continue
            if number == observe:
                observed = self._fields(labels[n])
                armed = self._armed(labels[n])
                continue
            if number > observe:
                slides[number - observe - 1] = base[n].tobytes()
                continue
            said = self._labels(number, labels[n])
            if number >= rows:
                assert said.request is not None
                row = self.instrumented.refusals[number - rows]
                refused.setdefault(
                    said.request, Refused(row, said.request, said.answer, said.known)
                )
            elif self.instrumented.rows[number].kind != "skip":
                edge = Edge(number, base[n].tobytes(), said.answer, said.known, said.timed)
                _, edges = choices.setdefault(said.request or n, (said.request, []))
                edges.append(edge)
        return Node(
            key=key,
            control=self._control_state(key),
            observed=observed,
            choices=tuple(Choice(asked, _distinct(edges)) for asked, edges in choices.values()),
            refused=tuple(item for text, item in refused.items() if text not in choices),
            armed=armed,
            slides=tuple(slides),
        )

    def _control_state(self, key: Key) -> tuple[int, ...]:
        words = np.frombuffer(key, np.uint64).tolist()
        return tuple(_cell(leaf, words[leaf.word]) for leaf in self._control)

    def _tell_error(self, key: Key, number: int) -> None:
        """Raise what an expression of the mapping fails with; rows that fail are not ours."""
        machine = replace(
            self.instrumented.machine, actions=(self.instrumented.machine.actions[number],)
        )
        state = decode(self.layout, self._all_words(key))
        for found in successors(machine, state):
            error = found.error
            if isinstance(error, EvaluationError) and self._is_ours(error):
                raise error

    def _is_ours(self, error: EvaluationError) -> bool:
        return error.span.source.name == self.bound.path

    def _fields(self, words: np.ndarray) -> tuple[Expected, ...]:
        text = words.tobytes()
        if text not in self._observed:
            self._observed[text] = tuple(
                self._expected(label, words) for label in self.instrumented.observed
            )
        return self._observed[text]

    def _armed(self, words: np.ndarray) -> tuple[tuple[int, str], ...]:
        found: list[tuple[int, str]] = []
        for number, label in enumerate(self.instrumented.armed):
            expected = self._expected(label, words)
            if isinstance(label.type, Set):
                item, members = label.type.item, expected.value
                assert isinstance(members, list)
                found += [(number, normal(item, member)) for member in members]
            elif expected.value:
                found.append((number, expected.text))
        return tuple(found)

    def _labels(self, number: int, words: np.ndarray) -> _Said:
        text = words.tobytes()
        said = self._said.get((number, text))
        if said is None:
            said = self._said[number, text] = self._decoded(number, words)
        return said

    def _decoded(self, number: int, words: np.ndarray) -> _Said:
        instrumented = self.instrumented
        labels = instrumented.labels[number]
        rows = len(instrumented.rows)
        row = instrumented.rows[number if number < rows else instrumented.refusals[number - rows]]
        request = None
        if row.kind in ("call", "fire", "complete"):
            asked: dict[str, object] = {"do": row.kind, "name": row.target}
            if row.outcome is not None:
                asked["outcome"] = row.outcome
            asked["with"] = {
                label.item: self._expected(label, words).value for label in labels.arguments
            }
            request = json.dumps(asked)
        return _Said(
            request,
            None if labels.answer is None else self._expected(labels.answer, words),
            tuple(
                known
                for known, label in labels.known
                if label is None or self._expected(label, words).value is True
            ),
            Timed(
                tuple(self._of_timers(labels.sets, words)),
                tuple(self._of_timers(labels.fires, words)),
                tuple(
                    (kind.name, str(self._value(label, words)))
                    for label in labels.ids
                    if isinstance(kind := bare(label.type), Id)
                ),
            ),
        )

    def _of_timers(
        self, labels: tuple[tuple[int, Label], ...], words: np.ndarray
    ) -> Iterator[tuple[int, str]]:
        """Yield timers with whose they are; a step does nothing to one that is nobody's."""
        for number, label in labels:
            whose = self._expected(label, words)
            if whose.value is not None:
                yield number, whose.text

    def _value(self, label: Label, words: np.ndarray) -> object:
        """Return what a label holds, as a value of the model."""
        index = self._places[label.variable]
        held = words.view(np.uint64).tolist()
        leaves = self._leaves[label.variable]
        cells = tuple(_cell(leaf, held[leaf.word - self.words]) for leaf in leaves)
        return value_from(self.layout.shapes[index], cells)

    def _expected(self, label: Label, words: np.ndarray) -> Expected:
        index = self._places[label.variable]
        held = words.view(np.uint64).tolist()
        cells = tuple(
            _cell(leaf, held[leaf.word - self.words]) for leaf in self._leaves[label.variable]
        )
        found = self._values.get((index, cells))
        if found is None:
            value = value_from(self.layout.shapes[index], cells)
            plain = as_json(label.type, value, self.bound.names)
            found = Expected(label.item, label.type, plain, normal(label.type, plain))
            self._values[index, cells] = found
        return found


def _cell(leaf: Leaf, word: int) -> int:
    if not leaf.width:
        return 0
    return (word >> leaf.shift) % (1 << leaf.width) // leaf.divisor % leaf.cardinality


def _distinct(edges: list[Edge]) -> tuple[Edge, ...]:
    """Return edges without those that another one says already."""
    kept: dict[tuple[object, ...], Edge] = {}
    for edge in edges:
        answer = None if edge.answer is None else edge.answer.text
        kept.setdefault((edge.row, edge.target, answer, edge.timed), edge)
    return tuple(kept.values())


def _layout(machine: Machine, base: int) -> tuple[Layout, int]:
    """Return the layout of a machine with labels, these in words of their own, and the others."""
    own = pack(replace(machine, variables=machine.variables[:base]))
    labels = pack(replace(machine, variables=machine.variables[base:]))
    leaves = tuple(replace(leaf, word=leaf.word + own.words) for leaf in labels.leaves)
    layout = Layout(
        machine=machine.name,
        words=own.words + labels.words,
        variables=(*own.variables, *labels.variables),
        shapes=(*own.shapes, *labels.shapes),
        starts=(*own.starts, *(start + own.starts[-1] for start in labels.starts[1:])),
        leaves=(*own.leaves, *leaves),
        bits=own.bits + labels.bits,
    )
    return layout, own.words
