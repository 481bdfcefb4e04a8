"""What an action changes, cell by cell, as far as its bindings tell while it is written."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from checker.layout.shape import Shape
from checker.llvm.code import Ref
from checker.llvm.frame import Bound, Frame
from checker.machine import terms
from checker.machine.terms import Place, Statement, Term
from checker.machine.types import Bool, Map, Option, Range, Record, Type, Union
from checker.machine.walk import statements_inside
from checker.passes.writes import assigned_locals, places
from checker.semantics.values import belongs, code_of


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
    varying |= {item.name for item in statements_inside(statements) if isinstance(item, terms.For)}
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
