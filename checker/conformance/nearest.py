"""Where no step explains a line: the row that comes nearest to it, and what came too early."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from checker.conformance.bind import BoundRow
from checker.conformance.log import Event
from checker.conformance.places import Place, Steps
from checker.conformance.space import Edge
from checker.errors import EvaluationError
from checker.frozen import frozen
from checker.machine import terms as t
from checker.machine.walk import walk
from checker.semantics.evaluate import Context, evaluate
from checker.semantics.plain import as_json
from checker.semantics.successors import as_mapping, instances_of
from checker.trace.naming import excerpt, place

Item = tuple[str, object, object]
"""What differs: its name, what the model has, what the log has."""


@frozen()
class Nearest:
    """The row that comes nearest to a line that no step explains.

    Either its guard is false, in the part that is shown, or it is enabled and `items` differ.
    """

    row: str
    bindings: tuple[tuple[str, object], ...]
    guard: str | None
    place: str
    items: tuple[Item, ...]


@frozen()
class TooEarly:
    """A row that would have had to fire before its timer's least time: by how many milliseconds."""

    row: str
    timer: str
    whose: str
    missing: float


def too_early(steps: Steps) -> tuple[TooEarly, ...]:
    """Return the steps before a line that time forbade."""
    rows = steps.space.bound.rows
    found = (
        TooEarly(rows[row].action.name, steps.timers[timer].name, whose, missing)
        for (row, timer, whose), missing in steps.early.steps.items()
    )
    return tuple(sorted(found, key=lambda one: (one.missing, one.row, one.whose)))


def nearest(steps: Steps, places: Iterable[Place], event: Event) -> Nearest | None:
    """Return the row whose guard has most parts that are true, or that differs in least."""
    found: list[tuple[tuple[int, int], int, Nearest]] = []
    for at in (named for one in places for named in steps.named(one, event)):
        for row in steps.space.bound.rows:
            if row.kind == event.do and row.target == event.name:
                found += [(rank, len(found), near) for rank, near in _tried(steps, at, row, event)]
    return min(found, key=lambda item: item[:2])[2] if found else None


def _tried(
    steps: Steps, at: Place, row: BoundRow, event: Event
) -> Iterator[tuple[tuple[int, int], Nearest]]:
    values = as_mapping(steps.space.bound.machine, steps.space.state(at.key))
    for names in instances_of(row.action, values):
        context = Context(values, names)
        wrong = _wrong_arguments(steps, row, context, event, at)
        shown = tuple(
            (binding.name, names[binding.name]) for binding in row.action.bindings if binding.shown
        )
        false = _false_part(row.action.guard, context)
        if false is not None:
            before, part = false
            near = Nearest(row.action.name, shown, excerpt(part.span), place(part.span), wrong)
            yield (len(wrong), 1000 - before), near
        else:
            known = {name for name, _, _ in wrong}
            after = (item for item in _seen_items(steps, at, row, event) if item[0] not in known)
            yield (len(wrong), 0), Nearest(row.action.name, shown, None, "", (*wrong, *after))


def _wrong_arguments(
    steps: Steps, row: BoundRow, context: Context, event: Event, at: Place
) -> tuple[Item, ...]:
    wrong = []
    for name, term in row.arguments:
        if name not in event.arguments or any(isinstance(n, t.Next) for n in walk(term)):
            continue
        try:
            said = as_json(term.type, evaluate(term, context), steps.space.bound.names)
        except EvaluationError:
            continue
        window = steps.matcher.window(name)
        value = event.arguments[name]
        if steps.matcher.same(term.type, said, value, at.binding, None, window) is None:
            wrong.append((name, said, value))
    return tuple(wrong)


def _seen_items(steps: Steps, at: Place, row: BoundRow, event: Event) -> tuple[Item, ...]:
    """Return what is otherwise in a step of an enabled row: arguments, else what is seen."""
    seen: list[tuple[Item, ...]] = []
    asked: list[tuple[Item, ...]] = []
    for choice in steps.space.node(at.key).choices:
        for edge in choice.edges:
            if steps.space.bound.rows[edge.row] is not row:
                continue
            said = steps.fitting.request(choice)["with"]
            differing = steps.fitting.differing(edge, said, event, at.binding)
            if differing:
                asked.append(differing)
            else:
                seen.append(_otherwise(steps, edge, event, at))
    return min(seen or asked, key=len, default=())


def _otherwise(steps: Steps, edge: Edge, event: Event, at: Place) -> tuple[Item, ...]:
    items: list[Item] = []
    if edge.answer is not None and steps.fitting.answered(edge.answer, event, at.binding) is None:
        items.append(("answer", edge.answer.value, event.answer))
    observed = {item.item: item for item in steps.space.node(edge.target).observed}
    for name, value in event.fields.items():
        item = observed.get(name)
        window = steps.matcher.window(name)
        if item is None:
            items.append((name, "(not in the mapping)", value))
        elif steps.matcher.same(item.type, item.value, value, at.binding, None, window) is None:
            items.append((name, item.value, value))
    return tuple(items)


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


def as_object(near: Nearest | None) -> Mapping[str, object] | None:
    """Return it as data that `json` writes, without the step's name."""
    if near is None:
        return None
    return {
        "row": near.row,
        "guard": near.guard,
        "place": near.place,
        "items": [
            {"name": name, "expected": expected, "observed": observed}
            for name, expected, observed in near.items
        ],
    }
