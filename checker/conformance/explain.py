"""Takes a Space and a log, makes an Explanation: whether some run of the model shows all of it.

Line by line the set of states is kept that the model may be in, each with what the log's ids are
in it. Between two lines any hidden steps may have happened. A line keeps the states that one of
its steps leads to with the same answer and the same fields, as far as the line knows them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from checker.conformance.bind import BoundRow
from checker.conformance.log import Event
from checker.conformance.space import Choice, Edge, Expected, Key, Space
from checker.errors import EvaluationError
from checker.machine import terms as t
from checker.machine.types import Id, Option, Type
from checker.machine.walk import walk
from checker.search.progress import Interrupt, interrupted
from checker.semantics.evaluate import Context, evaluate
from checker.semantics.plain import as_json, normal
from checker.semantics.successors import as_mapping, instances_of
from checker.trace.naming import excerpt, place

Verdict = Literal["explained", "diverges", "inconclusive"]

Names = tuple[tuple[str, str, str], ...]
"""What names of the log are: type, name in the log, id of the model."""

_SHOWN = 3
"""States that are shown, and looked through for the nearest row, where no step fits."""


@dataclass(frozen=True, slots=True)
class Place:
    """A state that the model may be in, with what the log's ids are in it."""

    key: Key
    names: Names


@dataclass(frozen=True, eq=False, slots=True)
class Came:
    """How a place was come to: the steps since the one before, the last of them the line's."""

    before: Place | None
    edges: tuple[tuple[Key, Edge], ...]


@dataclass(frozen=True, slots=True)
class Nearest:
    """The row that comes nearest to a line that no step explains.

    Either its guard is false, in the part that is shown, or it is enabled and `items` differ.
    """

    row: str
    bindings: tuple[tuple[str, object], ...]
    guard: str | None
    place: str
    items: tuple[tuple[str, object, object], ...]


@dataclass
class Explanation:
    """The verdict on a log. `events` were explained; `event` is the first that was not."""

    verdict: Verdict
    events: int = 0
    event: Event | None = None
    states: tuple[Key, ...] = ()
    possible: int = 0
    allowed: tuple[str, ...] = ()
    nearest: Nearest | None = None
    why: str | None = None
    run: tuple[tuple[Event | None, Key, Edge], ...] = ()
    start: Key = b""
    seen_rows: dict[str, int] = field(default_factory=dict)
    most: int = 0


def explain(
    space: Space,
    events: Iterable[Event],
    limit: int,
    interrupt: Interrupt | None = None,
) -> Explanation:
    """Return whether the model explains a log, with at most `limit` states at a time."""
    return _Explainer(space, limit, interrupt).explained(events)


class _Explainer:
    def __init__(self, space: Space, limit: int, interrupt: Interrupt | None) -> None:
        self.space, self.limit, self.interrupt = space, limit, interrupt
        self.hidden = {
            n
            for n, row in enumerate(space.bound.rows)
            if row.kind == "silent" or row.action.name in space.bound.hidden
        }
        self.cut = False
        self.most = 0
        self.history: list[tuple[Event | None, dict[Place, Came]]] = []
        self._asked: dict[str, dict[str, Any]] = {}
        self._outside = {
            (kind.name, space.bound.names.get((kind.name, member), member)): member
            for kind in space.bound.machine.ids
            for member in kind.members
        }

    def explained(self, events: Iterable[Event]) -> Explanation:
        places = self._beginning(None)
        number = 0
        for event in events:
            if interrupted(self.interrupt):
                return Explanation("inconclusive", number, why="an interrupt")
            if event.do == "reset":
                places = self._beginning(event)
                number += 1
                continue
            wide = self._closed(places)
            found: dict[Place, Came] = {}
            for state, came in wide.items():
                for after, edge in self._after(state, event):
                    edges = (*came.edges, *([(state.key, edge)] if edge is not None else []))
                    found.setdefault(after, Came(came.before, edges))
            if not found:
                return self._unexplained(number, event, wide)
            places = self._kept(found)
            self.history.append((event, places))
            self.most = max(self.most, len(places))
            number += 1
            self.space.forget()
        return self._whole(number, places)

    def _beginning(self, event: Event | None) -> dict[Place, Came]:
        places = {Place(key, ()): Came(None, ()) for key in self.space.initial()}
        if event is not None and event.fields:
            places = {p: c for p, c in places.items() if self._shows(p.key, event, p.names)}
        self.history.append((event, places))
        return places

    def _closed(self, places: dict[Place, Came]) -> dict[Place, Came]:
        """Return the places and all that hidden steps lead to from them."""
        found = {state: Came(state, ()) for state in places}
        waiting = list(found)
        for state in waiting:
            if len(found) >= self.limit:
                self.cut = True
                break
            for choice in self.space.node(state.key).choices:
                for edge in choice.edges:
                    after = Place(edge.target, state.names)
                    if edge.row in self.hidden and after not in found:
                        came = found[state]
                        found[after] = Came(came.before, (*came.edges, (state.key, edge)))
                        waiting.append(after)
        self.most = max(self.most, len(found))
        return found

    def _kept(self, found: dict[Place, Came]) -> dict[Place, Came]:
        if len(found) <= self.limit:
            return found
        self.cut = True
        return dict(list(found.items())[: self.limit])

    # --------------------------------------------------------------------------- one line

    def _after(self, state: Place, event: Event) -> Iterator[tuple[Place, Edge | None]]:
        """Yield where a line leads from a place."""
        if event.do is None:
            if self._shows(state.key, event, state.names):
                yield state, None
            return
        for choice in self.space.node(state.key).choices:
            if not self._is_asked(choice, event):
                continue
            for edge in choice.edges:
                names = self._arguments(edge, choice, event, state.names)
                if names is not None:
                    names = self._answer(edge.answer, event, names)
                if names is not None and self._shows(edge.target, event, names):
                    yield Place(edge.target, names), edge

    def _is_asked(self, choice: Choice, event: Event) -> bool:
        if choice.request is None:
            return False
        asked = self._request(choice.request)
        return (
            asked["do"] == event.do
            and asked["name"] == event.name
            and event.outcome in (None, asked.get("outcome"))
        )

    def _request(self, text: str) -> dict[str, Any]:
        if text not in self._asked:
            self._asked[text] = json.loads(text)
        return self._asked[text]

    def _arguments(self, edge: Edge, choice: Choice, event: Event, names: Names) -> Names | None:
        assert choice.request is not None
        said = self._request(choice.request)["with"]
        kinds = {label.item: label.type for label in self.space.labels(edge.row)}
        found: Names | None = names
        for name, value in event.arguments.items():
            if name not in kinds:
                return None
            found = self._same(kinds[name], said[name], value, found or ())
            if found is None:
                return None
        return found

    def _answer(self, expected: Expected | None, event: Event, names: Names) -> Names | None:
        if expected is None or not event.answered:
            return names
        return self._same(expected.type, expected.value, event.answer, names)

    def _shows(self, key: Key, event: Event, names: Names) -> bool:
        if not event.fields:
            return True
        observed = {item.item: item for item in self.space.node(key).observed}
        return all(
            name in observed
            and self._same(observed[name].type, observed[name].value, value, names) is not None
            for name, value in event.fields.items()
        )

    def _same(self, kind: Type, expected: Any, value: Any, names: Names) -> Names | None:
        """Return the names with which a value of the log is the model's; None if with none."""
        inner = kind.item if isinstance(kind, Option) else kind
        if isinstance(inner, Id) and isinstance(value, str) and isinstance(expected, str):
            if (inner.name, value) in self._outside:
                return names if value == expected else None
            for type_name, outside, inside in names:
                if type_name == inner.name and (outside == value or inside == expected):
                    return names if (outside, inside) == (value, expected) else None
            return (*names, (inner.name, value, expected))
        known = {outside: inside for _, outside, inside in names}
        return names if normal(kind, _renamed(value, known)) == normal(kind, expected) else None

    # ------------------------------------------------------------------------ the verdict

    def _whole(self, number: int, places: dict[Place, Came]) -> Explanation:
        """Return that all was explained, with a run that does so."""
        if not places:
            return Explanation("diverges", number, why="nothing begins as the log does")
        last = next(iter(places))
        steps: list[tuple[Event | None, Key, Edge]] = []
        state: Place | None = last
        start = last.key
        for event, found in reversed(self.history):
            if state is None or state not in found:
                break
            start = state.key
            came = found[state]
            if came.before is None:
                break
            marks = [None] * (len(came.edges) - 1) + [event]
            steps += [
                (mark, key, edge)
                for mark, (key, edge) in reversed(list(zip(marks, came.edges, strict=False)))
            ]
            state = came.before
            start = state.key
        run = tuple(reversed(steps))
        rows: dict[str, int] = {}
        for _, _, edge in run:
            name = self.space.bound.rows[edge.row].action.name
            rows[name] = rows.get(name, 0) + 1
        return Explanation(
            "explained", number, run=run, start=start, seen_rows=rows, most=self.most
        )

    def _unexplained(self, number: int, event: Event, wide: dict[Place, Came]) -> Explanation:
        states = list(wide)[:_SHOWN]
        allowed = {
            choice.request
            for state in states
            for choice in self.space.node(state.key).choices
            if choice.request is not None
            and (event.name is None or self._request(choice.request)["name"] == event.name)
        }
        verdict: Verdict = "inconclusive" if self.cut else "diverges"
        return Explanation(
            verdict,
            number,
            event=event,
            states=tuple(dict.fromkeys(state.key for state in states)),
            possible=len(wide),
            allowed=tuple(sorted(allowed)),
            nearest=self._nearest(states, event),
            why=f"more than {self.limit:,} states fitted, and some were dropped"
            if self.cut
            else None,
            most=self.most,
        )

    def _nearest(self, states: list[Place], event: Event) -> Nearest | None:
        """Return the row whose guard has most parts that are true, or that differs in least."""
        found: list[tuple[tuple[int, int], int, Nearest]] = []
        for state in states:
            for row in self.space.bound.rows:
                if row.kind == event.do and row.target == event.name:
                    found += [
                        (rank, len(found), near) for rank, near in self._tried(state, row, event)
                    ]
        return min(found, key=lambda item: item[:2])[2] if found else None

    def _tried(
        self, state: Place, row: BoundRow, event: Event
    ) -> Iterator[tuple[tuple[int, int], Nearest]]:
        values = as_mapping(self.space.bound.machine, self.space.state(state.key))
        for names in instances_of(row.action, values):
            context = Context(values, names)
            wrong = self._wrong_arguments(row, context, event, state.names)
            shown = tuple(
                (binding.name, names[binding.name])
                for binding in row.action.bindings
                if binding.shown
            )
            false = _false_part(row.action.guard, context)
            if false is not None:
                before, part = false
                near = Nearest(row.action.name, shown, excerpt(part.span), place(part.span), wrong)
                yield (len(wrong), 1000 - before), near
            else:
                items = (*wrong, *self._seen_items(state, row, names, event))
                yield (len(wrong), 0), Nearest(row.action.name, shown, None, "", items)

    def _wrong_arguments(
        self, row: BoundRow, context: Context, event: Event, names: Names
    ) -> tuple[tuple[str, object, object], ...]:
        wrong = []
        for name, term in row.arguments:
            if name not in event.arguments or any(isinstance(n, t.Next) for n in walk(term)):
                continue
            try:
                said = as_json(term.type, evaluate(term, context), self.space.bound.names)
            except EvaluationError:
                continue
            if self._same(term.type, said, event.arguments[name], names) is None:
                wrong.append((name, said, event.arguments[name]))
        return tuple(wrong)

    def _seen_items(
        self, state: Place, row: BoundRow, names: Mapping[str, object], event: Event
    ) -> tuple[tuple[str, object, object], ...]:
        """Return what is seen otherwise after the step of a row that is enabled."""
        del names
        best: tuple[tuple[str, object, object], ...] | None = None
        for choice in self.space.node(state.key).choices:
            for edge in choice.edges:
                if self.space.bound.rows[edge.row] is not row:
                    continue
                if self._arguments(edge, choice, event, state.names) is None:
                    continue
                items = self._otherwise(edge, event, state.names)
                best = items if best is None or len(items) < len(best) else best
        return best or ()

    def _otherwise(
        self, edge: Edge, event: Event, names: Names
    ) -> tuple[tuple[str, object, object], ...]:
        items: list[tuple[str, object, object]] = []
        if self._answer(edge.answer, event, names) is None and edge.answer is not None:
            items.append(("answer", edge.answer.value, event.answer))
        observed = {item.item: item for item in self.space.node(edge.target).observed}
        for name, value in event.fields.items():
            item = observed.get(name)
            if item is None:
                items.append((name, "(not in the mapping)", value))
            elif self._same(item.type, item.value, value, names) is None:
                items.append((name, item.value, value))
        return tuple(items)


def _renamed(value: Any, known: Mapping[str, str]) -> Any:
    """Return a value of the log with the names of the model, where they are known."""
    match value:
        case str():
            return known.get(value, value)
        case list():
            return [_renamed(item, known) for item in value]
        case dict():
            return {known.get(key, key): _renamed(item, known) for key, item in value.items()}
    return value


def _false_part(guard: t.Term, context: Context) -> tuple[int, t.Term] | None:
    """Return the first part of a guard that is false, and how many before it are true."""
    if isinstance(guard, t.Let):
        try:
            value = evaluate(guard.value, context)
        except EvaluationError:
            return 0, guard
        return _false_part(guard.body, context.bind(guard.name, value))
    parts = guard.items if isinstance(guard, t.And) else (guard,)
    for number, part in enumerate(parts):
        try:
            if not evaluate(part, context):
                return number, part
        except EvaluationError:
            return number, part
    return None
