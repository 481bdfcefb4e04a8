"""What an action changes: which cells of which variables, as far as its bindings tell."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from checker.kernel.code import Ref
from checker.kernel.frame import Bound, Frame
from checker.layout.shape import Shape
from checker.machine import terms
from checker.machine.terms import Place, Statement, Term
from checker.machine.types import Bool, Id, Map, Option, Range, Record, Type, Union
from checker.semantics.values import belongs, code_of

_CHANGING = (terms.Assign, terms.Transition, terms.Delete, terms.Send, terms.Receive)
_NAMING = (terms.SetLocal, terms.Pick, terms.Fresh)


def inside(statements: Iterable[Statement]) -> Iterator[Statement]:
    """Yield statements and all statements inside them."""
    for statement in statements:
        yield statement
        for name in ("body", "then", "otherwise"):
            yield from inside(getattr(statement, name, ()))


def places(statements: Iterable[Statement]) -> list[Place]:
    """Return the places that statements may change."""
    return [item.place for item in inside(statements) if isinstance(item, _CHANGING)]


def written_variables(statements: Iterable[Statement]) -> tuple[str, ...]:
    """Return the variables that statements may change, each once."""
    return tuple(dict.fromkeys(place.variable for place in places(statements)))


def assigned_locals(statements: Iterable[Statement]) -> set[str]:
    """Return the names that statements assign as locals."""
    return {item.name for item in inside(statements) if isinstance(item, _NAMING)}


def drawn_kinds(statements: Iterable[Statement]) -> list[Id]:
    """Return the id types that statements draw fresh ids of."""
    kinds = {
        item.type.name: item.type for item in inside(statements) if isinstance(item, terms.Fresh)
    }
    return list(kinds.values())


def changed_cells(
    frame: Frame,
    statements: tuple[Statement, ...],
    shapes: Mapping[str, Shape],
    source: Mapping[str, Ref],
) -> dict[str, Collection[int]]:
    """Return the cells that statements may change, by variable, with the locals bound now.

    A cell that is not known in the source counts as changed.
    """
    varying = assigned_locals(statements)
    varying |= {item.name for item in inside(statements) if isinstance(item, terms.For)}
    cells: dict[str, set[int]] = {}
    for place in places(statements):
        shape = shapes[place.variable]
        cells.setdefault(place.variable, set()).update(_cells(frame, place, shape, varying))
    known = frame.code.known
    for name, changed in cells.items():
        base = source[name].base
        changed.update(cell for cell in range(shapes[name].cells) if (base, cell) not in known)
    return {name: sorted(changed) for name, changed in cells.items()}


def _cells(frame: Frame, place: Place, shape: Shape, varying: set[str]) -> range:
    start = 0
    for step in place.steps:
        if step.key is None:
            if not isinstance(shape.type, Record):
                break
            field = shape.variants[0].field(step.name or "")
            assert field is not None
            start, shape = start + field.offset, field.shape
            continue
        if not isinstance(shape.type, Map) or shape.key is None or shape.item is None:
            break
        index = _constant(frame, step.key, shape.key.type, varying)
        if index is None:
            break
        start += index * shape.stride
        if shape.slotted:
            return range(start, start + shape.stride)
        shape = shape.item
    return range(start, start + shape.cells)


def _constant(frame: Frame, key: Term, kind: Type, varying: set[str]) -> int | None:
    """Return the code of a key that is known now, as one of `kind`."""
    match key:
        case terms.Literal(value, _, _) if belongs(kind, value):
            return code_of(kind, value)
        case terms.Cast(item, _, _):
            return _constant(frame, item, kind, varying)
        case terms.Local(name, type_, _) if name not in varying:
            known = frame.locals.get(name)
            held = known.value if isinstance(known, Bound) else None
            if isinstance(kind, (Option, Record, Union)) or not isinstance(held, int):
                return None
            if isinstance(kind, Range):
                inside_ = isinstance(type_, Range) and kind.low <= held <= kind.high
                return held - kind.low if inside_ else None
            if type_ == kind and isinstance(held, bool) == isinstance(kind, Bool):
                return int(held)
    return None
