"""Places: reading and changing a part deep inside a variable's value.

A *path* is a place whose keys have been evaluated: for each step either `("key", value)` or
`("field", name)`. Values are immutable, so a change makes a new value of the whole variable.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from checker.errors import EvaluationError, InternalError
from checker.machine.terms import Place
from checker.machine.types import Map, Option, Record, Sequence, Type, Union
from checker.semantics.evaluate import Context, describe, evaluate, field_of, item_at
from checker.semantics.values import MapValue, RecordValue, belongs, format_value, map_value
from checker.source import Span

Path = tuple[tuple[str, Any], ...]
"""The steps into a variable: `("key", value)` or `("field", name)`."""

ABSENT = object()
"""What stands at a key that a partial map lacks; as a new value: remove the key."""

Update = Callable[[Type, object], object]
"""From a place's type and its old value (or ABSENT) to its new value (or ABSENT)."""


def path_of(place: Place, context: Context) -> Path:
    """Evaluate the keys of a place, outermost first."""
    return tuple(
        ("field", step.name) if step.key is None else ("key", evaluate(step.key, context))
        for step in place.steps
    )


def place_text(variable: str, path: Path) -> str:
    """Return a place as a trace shows it: `requests[c1]`, `group.members[m2].generation`."""
    steps = (f".{value}" if kind == "field" else f"[{format_value(value)}]" for kind, value in path)
    return variable + "".join(steps)


def machine_text(variable: str, path: Path) -> str:
    """Return a machine's state as a trace shows it: `client[c1].state` of a `per` component."""
    component, dot, name = variable.rpartition(".")
    if not dot:
        return place_text(variable, path)
    return place_text(place_text(component, path[:1]) + dot + name, path[1:])


def read_place(value: Any, path: Path, span: Span) -> Any:
    """Return what stands at `path` in `value`. Raises E502, E504, E505, E506."""
    for kind, step in path:
        if value is None:
            raise EvaluationError("E502", "the place is in a value that is none", span)
        value = field_of(value, step, span) if kind == "field" else item_at(value, step, span)
    return value


def changed(kind: Type, value: Any, path: Path, update: Update, span: Span) -> Any:
    """Return `value`, of type `kind`, with what stands at `path` updated.

    Only the last step of a path may name an absent key. Raises E502, E504, E505, E506.
    """
    if not path:
        result = update(kind, value)
        if result is not ABSENT and not belongs(kind, result):
            raise InternalError(f"{span}: {format_value(result)} stored in {describe(kind)}")
        return result
    if isinstance(kind, Option):
        if value is None:
            raise EvaluationError("E502", "the place is in a value that is none", span)
        return changed(kind.item, value, path, update, span)
    (_, step), rest = path[0], path[1:]
    match kind:
        case Map(_, held, _):
            missing = step not in value and not rest
            old = ABSENT if missing else item_at(value, step, span)
            return _with_entry(kind, value, step, changed(held, old, rest, update, span))
        case Sequence(item, _):
            new = changed(item, item_at(value, step, span), rest, update, span)
            return (*value[:step], new, *value[step + 1 :])
        case Record() | Union():
            old = field_of(value, step, span)
            new = changed(_field_type(kind, value, step), old, rest, update, span)
            return value.replaced(step, new)
    raise InternalError(f"{span}: no place leads into {describe(kind)}")


def _with_entry(kind: Map, value: MapValue, key: object, new: object) -> MapValue:
    entries = dict(value)
    entries.pop(key, None)
    if new is not ABSENT:
        entries[key] = new
    elif kind.total:
        raise InternalError(f"a key was removed from {describe(kind)}")
    return map_value(kind, entries)


def _field_type(kind: Record | Union, value: RecordValue, name: str) -> Type:
    variants = (kind,) if isinstance(kind, Record) else kind.variants
    shape = next(variant for variant in variants if variant.name == value.name)
    return dict(shape.fields)[name]
