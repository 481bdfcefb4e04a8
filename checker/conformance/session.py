"""One implementation driven one request at a time beside the model, and what differs.

Where the model leaves a choice to the implementation, or does not show at once what it chose, the
session keeps every state that fits what was seen; it differs when none is left.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from checker.conformance.adapter import Adapter, Reply
from checker.conformance.bind import ANSWER, ERROR
from checker.conformance.space import Choice, Edge, Expected, Key, Node, Refused, Space
from checker.frozen import frozen
from checker.semantics.evaluate import Context, evaluate
from checker.semantics.plain import as_json, normal
from checker.semantics.successors import as_mapping

OBSERVE = json.dumps({"do": "observe"})
STATES_MAX = 2_000
"""States that may fit what was seen; where more do, the path is given up: none may be forgotten."""


@frozen(eq=False)
class Taken:
    """A step of a path: from where, what was asked, and which step of the model it was."""

    key: Key
    choice: Choice
    edge: Edge


Path = tuple[Taken, ...]


@frozen()
class Item:
    """Something compared that is not the same: what the model says, and what was seen."""

    name: str
    expected: object
    observed: object


@frozen(eq=False, slots=False)
class Difference:
    """A step, or a call to be refused, after which the implementation is not as the model says.

    `edge` is the step of the model that comes nearest; None where the call is to be refused, and
    at the beginning, where `row` is None too. `known` is the number of the declared difference.
    """

    start: Key
    path: Path
    key: Key
    row: int | None
    request: str | None
    edge: Edge | None
    choice: Choice | None
    refusal: Refused | None
    items: tuple[Item, ...]
    known: int | None

    @property
    def cause(self) -> tuple[object, ...]:
        """What differences of one cause have in common."""
        failed = next((str(item.observed) for item in self.items if item.name == ERROR), "")
        names = tuple(item.name for item in self.items)
        return self.row, self.refusal is not None, names, failed.partition(":")[0], self.known


@dataclass
class Tally:
    """Of one row: steps asked for and agreed, and the same of calls that are to be refused."""

    taken: int = 0
    agreed: int = 0
    refused: int = 0
    refused_agreed: int = 0


@dataclass
class Counts:
    """What a whole run did."""

    rows: list[Tally]
    requests: int = 0
    resets: int = 0
    steps: int = 0
    given_up: int = 0
    """Paths that ended where more states fitted than are kept."""
    known: dict[int, int] = field(default_factory=dict)
    known_tried: dict[int, int] = field(default_factory=dict)

    def add(self, other: Counts) -> None:
        """Add what another run did."""
        for own, its in zip(self.rows, other.rows, strict=True):
            own.taken += its.taken
            own.agreed += its.agreed
            own.refused += its.refused
            own.refused_agreed += its.refused_agreed
        self.requests += other.requests
        self.resets += other.resets
        self.steps += other.steps
        self.given_up += other.given_up
        for mine, theirs in ((self.known, other.known), (self.known_tried, other.known_tried)):
            for number, times in theirs.items():
                mine[number] = mine.get(number, 0) + times


class Session:
    """The implementation and the states of the model that it may be in.

    `here` is the first of them; None before `begin`, after a difference that ends the path, and
    where it was given up.
    """

    def __init__(self, space: Space, adapter: Adapter, counts: Counts) -> None:
        self.space, self.adapter, self.counts = space, adapter, counts
        self.counting = True
        self.states: tuple[Key, ...] = ()
        self.start: Key = b""
        self.path: list[Taken] = []

    @property
    def here(self) -> Key | None:
        """The state of the model that the implementation is in, as far as is known."""
        return self.states[0] if self.states else None

    def begin(self, start: Key) -> Difference | None:
        """Reset the implementation and compare it with an initial state."""
        self.counts.resets += 1
        self.states, self.start, self.path = (start,), start, []
        reset, seen = self._ask([self._reset(start), OBSERVE])
        node = self.space.node(start)
        items = _failures(reset) or _fields(node, seen)
        if not items:
            return None
        self.states = ()
        return Difference(start, (), start, None, self._reset(start), None, None, None, items, None)

    def take(self, choice: Choice, wanted: Edge | None = None) -> Difference | None:
        """Ask for one of the choices of `here`, and follow what the implementation did.

        Of several steps that fit, `wanted` is preferred for `here`. No state is left where too many
        fit.
        """
        assert self.here is not None
        key = self.here
        lines = [OBSERVE] if choice.request is None else [choice.request, OBSERVE]
        replies = self._ask(lines)
        answer = replies[0] if choice.request is not None else {}
        found = [(edge, self._differing(edge, answer, replies[-1])) for edge in choice.edges]
        fitting = [edge for edge, items in found if not items]
        fitting.sort(key=lambda edge: edge is not wanted)
        targets = [edge.target for edge in fitting]
        for other in self.states[1:]:
            targets += self._others(other, choice, answer, replies[-1])
        if fitting:
            self._count(fitting[0], agreed=True)
            self.path.append(Taken(key, choice, fitting[0]))
        elif targets:
            # It was in another of the states that fitted so far; what was asked says nothing
            # of the row that was wanted.
            self.path = []
        else:
            return self._differs(key, choice, found)
        self.states = tuple(dict.fromkeys(targets))
        if len(self.states) > STATES_MAX:
            self.states = ()
            self.counts.given_up += 1
        return None

    def refuse(self, refusals: Sequence[Refused]) -> list[Difference]:
        """Make calls that are to be refused in `here`; return what differs.

        A call that changes what is observed ends the path.
        """
        assert self.here is not None
        node = self.space.node(self.here)
        lines = [line for item in refusals for line in (item.request, OBSERVE)]
        replies = self._ask(lines)
        differences: list[Difference] = []
        for n, refusal in enumerate(refusals):
            answer, seen = replies[2 * n], replies[2 * n + 1]
            moved = _fields(node, seen)
            items = (*(_failures(answer) or _answer(refusal.answer, answer)), *moved)
            known = self._known(refusal.known, items)
            self._count_refusal(refusal, agreed=not items)
            if items:
                differences.append(
                    Difference(
                        self.start,
                        tuple(self.path),
                        self.here,
                        refusal.row,
                        refusal.request,
                        None,
                        None,
                        refusal,
                        items,
                        known,
                    )
                )
            if moved or "error" in answer:
                self.states = ()
                break
        return differences

    # ---------------------------------------------------------------------------- snapshots

    def save(self) -> tuple[object, tuple[Key, ...], Key, Path]:
        """Have the adapter keep a copy of the implementation as it is now."""
        (reply,) = self._ask([json.dumps({"do": "save"})])
        self.adapter.refuse_error(reply)
        return reply.get("snapshot"), self.states, self.start, tuple(self.path)

    def restore(self, saved: tuple[object, tuple[Key, ...], Key, Path]) -> None:
        """Go back to a copy."""
        (reply,) = self._ask([json.dumps({"do": "restore", "snapshot": saved[0]})])
        self.adapter.refuse_error(reply)
        self.states, self.start = saved[1], saved[2]
        self.path = list(saved[3])

    # ------------------------------------------------------------------------------ the rest

    def _ask(self, lines: list[str]) -> list[Reply]:
        self.counts.requests += len(lines)
        return self.adapter.ask(lines)

    def _reset(self, start: Key) -> str:
        bound = self.space.bound
        context = Context(as_mapping(bound.machine, self.space.state(start)), {})
        arguments = {
            name: as_json(term.type, evaluate(term, context), bound.names)
            for name, term in bound.reset
        }
        return json.dumps({"do": "reset", "with": arguments})

    def _differing(self, edge: Edge, answer: Reply, seen: Reply) -> tuple[Item, ...]:
        failed = _failures(answer)
        if failed:
            return failed
        return (*_answer(edge.answer, answer), *_fields(self.space.node(edge.target), seen))

    def _others(self, key: Key, choice: Choice, answer: Reply, seen: Reply) -> list[Key]:
        """Return where another state that fitted leads when the same is asked in it."""
        if choice.request is None:
            return [key] if not _fields(self.space.node(key), seen) else []
        return [
            edge.target
            for other in self.space.node(key).choices
            if other.request == choice.request
            for edge in other.edges
            if not self._differing(edge, answer, seen)
        ]

    def _differs(
        self, key: Key, choice: Choice, found: list[tuple[Edge, tuple[Item, ...]]]
    ) -> Difference:
        edge, items = min(found, key=lambda pair: len(pair[1]))
        known = self._known(edge.known, items)
        self._count(edge, agreed=False)
        difference = Difference(
            self.start,
            tuple(self.path),
            key,
            edge.row,
            choice.request,
            edge,
            choice,
            None,
            items,
            known,
        )
        self.path.append(Taken(key, choice, edge))
        goes_on = known is not None and {item.name for item in items} == {ANSWER}
        self.states = (edge.target,) if goes_on else ()
        return difference

    def _known(self, numbers: tuple[int, ...], items: tuple[Item, ...]) -> int | None:
        """Return the declared difference that these items are; count those that are not."""
        names = {item.name for item in items}
        found = None
        for number in numbers:
            if self.counting:
                self.counts.known_tried[number] = self.counts.known_tried.get(number, 0) + 1
            declared = {word.text for word in self.space.bound.known[number].differs}
            if items and names <= declared:
                found = number if found is None else found
                if self.counting:
                    self.counts.known[number] = self.counts.known.get(number, 0) + 1
        return found

    def _count(self, edge: Edge, *, agreed: bool) -> None:
        if not self.counting:
            return
        if agreed:
            self._known(edge.known, ())
        self.counts.steps += 1
        tally = self.counts.rows[edge.row]
        tally.taken += 1
        tally.agreed += agreed

    def _count_refusal(self, refusal: Refused, *, agreed: bool) -> None:
        if self.counting:
            tally = self.counts.rows[refusal.row]
            tally.refused += 1
            tally.refused_agreed += agreed


def _failures(reply: Reply) -> tuple[Item, ...]:
    if "error" not in reply:
        return ()
    return (Item(ERROR, None, str(reply["error"])),)


def _answer(expected: Expected | None, reply: Reply) -> tuple[Item, ...]:
    if expected is None:
        return ()
    observed = reply.get("answer")
    if normal(expected.type, observed) == expected.text:
        return ()
    return (Item(ANSWER, expected.value, observed),)


def _fields(node: Node, reply: Reply) -> tuple[Item, ...]:
    """Return the observed fields that are not as in a state."""
    if "error" in reply:
        return (Item(ERROR, None, f"observe: {reply['error']}"),)
    fields = reply.get("fields")
    if not isinstance(fields, dict):
        return (Item(ERROR, None, f"observe: no `fields` in {json.dumps(reply)[:200]}"),)
    return tuple(
        Item(expected.item, expected.value, fields.get(expected.item, "(missing)"))
        for expected in node.observed
        if expected.item not in fields
        or normal(expected.type, fields[expected.item]) != expected.text
    )
