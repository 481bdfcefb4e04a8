"""Casts: a value of one type as a value of another, and whether it is one."""

from __future__ import annotations

from functools import lru_cache

from checker.errors import EvaluationError
from checker.layout.shape import Shape, VariantShape, codes_in_use
from checker.llvm import cells
from checker.llvm.code import Flag, Operand, Ref
from checker.llvm.frame import Frame, Value
from checker.llvm.slots import each_index, each_key, insert_sorted
from checker.machine.types import (
    Bag,
    Map,
    Option,
    Range,
    Record,
    Sequence,
    Set,
    Type,
    Union,
)
from checker.semantics.evaluate import fit as fit_value
from checker.semantics.values import code_of, value_of
from checker.source import NOWHERE


def convert(frame: Frame, value: Value, source: Shape, target: Shape) -> Value:
    """Return `value` as one of `target`; an evaluation error where it is not one."""
    if source is target:
        return value
    result, fits = fit(frame, value, source, target)
    frame.require(fits)
    return result


def fit(frame: Frame, value: Value, source: Shape, target: Shape) -> tuple[Value, Flag]:
    """Return `value` as one of `target`, and whether it is one (else the result is any value)."""
    if source is target or source.type == target.type:
        return value, True
    match source.type, target.type:
        case Range(), Range(low, high):
            return value, _within(frame, value, source.type, low, high)
        case Option(), Option():
            return _option_to_option(frame, value, source, target)
        case Option(), _:
            return _unwrap(frame, value, source, target)
        case _, Option():
            assert target.item is not None
            inner, fits = fit(frame, value, source, target.item)
            return cells.wrap(frame, inner, target), fits
        case ((Record() | Union()), (Record() | Union())):
            return _variants(frame, value, source, target)
        case Set(), Set():
            return _set(frame, value, source, target)
        case Set(), (Map() | Sequence() | Bag()) if source.count == 0:
            return anything(frame, target), True  # an `empty`: without elements
        case Map(), Map():
            assert isinstance(value, Ref)
            return _map(frame, value, source, target)
        case ((Sequence() | Bag()), (Sequence() | Bag())):
            assert isinstance(value, Ref)
            return _row(frame, value, source, target)
    return anything(frame, target), False


def anything(frame: Frame, shape: Shape) -> Value:
    """Return some value of `shape`, to stand where an evaluation error makes it unused."""
    if shape.scalar:
        return cells.value_of(frame, 0, shape)
    result = frame.code.scratch(max(shape.cells, 1))
    cells.clear(frame, result, shape.cells)
    return result


def _within(frame: Frame, value: Value, kind: Range, low: int, high: int) -> Flag:
    assert not isinstance(value, Ref)
    above = True if low <= kind.low else frame.code.compare("sle", low, value)
    below = True if kind.high <= high else frame.code.compare("sle", value, high)
    return frame.code.both(above, below)


def _unwrap(frame: Frame, value: Value, source: Shape, target: Shape) -> tuple[Value, Flag]:
    assert source.item is not None
    some = frame.code.negate(cells.is_none(frame, value))
    inner = cells.unwrap(frame, value, source)
    result, fits = fit(frame, inner, source.item, target)
    return result, frame.code.both(some, fits)


def _option_to_option(
    frame: Frame, value: Value, source: Shape, target: Shape
) -> tuple[Value, Flag]:
    assert source.item is not None
    assert target.item is not None
    code = frame.code
    none = cells.is_none(frame, value)
    inner, fits = fit(frame, cells.unwrap(frame, value, source), source.item, target.item)
    wrapped = cells.wrap(frame, inner, target)
    result: Value
    if isinstance(wrapped, Ref):
        _clear_if(frame, none, wrapped, target.cells)
        result = wrapped
    else:
        result = code.select(none, 0, wrapped)
    return result, code.either(none, fits)


def _clear_if(frame: Frame, flag: Flag, ref: Ref, count: int) -> None:
    code = frame.code
    yes, end = code.new_label(), code.new_label()
    code.fork(flag, yes, end)
    code.label(yes)
    cells.clear(frame, ref, count)
    code.label(end)


# ------------------------------------------------------------------------- records and unions


def _variants(frame: Frame, value: Value, source: Shape, target: Shape) -> tuple[Value, Flag]:
    """Convert variant by variant; a variant the target lacks does not fit."""
    code = frame.code
    names = {variant.name: variant for variant in target.variants}
    shared = [variant for variant in source.variants if variant.name in names]
    if not shared:
        return anything(frame, target), False
    place = None if target.scalar else code.scratch(target.cells)
    if place is not None:
        cells.clear(frame, place, target.cells)
    chosen: Operand = 0
    fits: Flag = False
    for variant in shared:
        here = cells.in_variant(frame, value, source, variant)
        fields, good = _fields(frame, value, (source, variant), names[variant.name])
        made = cells.compose(frame, target, names[variant.name], fields)
        fits = code.either(fits, code.both(here, good))
        if place is None:
            assert not isinstance(made, Ref)
            chosen = made if variant is shared[0] else code.select(here, made, chosen)
        else:
            assert isinstance(made, Ref)
            _copy_if(frame, here, place, made, target.cells)
    return (chosen if place is None else place), fits


def _fields(
    frame: Frame, value: Value, origin: tuple[Shape, VariantShape], target: VariantShape
) -> tuple[list[Value], Flag]:
    """Convert the fields of one variant; the value may be of another, then the result is any."""
    shape, variant = origin
    code = frame.code
    if not isinstance(value, Ref) and len(shape.variants) > 1:
        value = code.select(cells.in_variant(frame, value, shape, variant), value, variant.base)
    results: list[Value] = []
    fits: Flag = True
    for field in target.fields:
        from_field = variant.field(field.name)
        if from_field is None:
            return [anything(frame, part.shape) for part in target.fields], False
        part = cells.variant_field(frame, value, shape, variant, field.name)
        result, good = fit(frame, part, from_field.shape, field.shape)
        results.append(result)
        fits = code.both(fits, good)
    return results, fits


def _copy_if(frame: Frame, flag: Flag, target: Ref, origin: Ref, count: int) -> None:
    code = frame.code
    yes, end = code.new_label(), code.new_label()
    code.fork(flag, yes, end)
    code.label(yes)
    cells.copy(frame, target, origin, count)
    code.label(end)


# -------------------------------------------------------------------------------- collections


@lru_cache(maxsize=1024)
def _moves(source: Type, target: Type) -> tuple[dict[int, int], int]:
    """Return masks of the elements of `source` by how far they move, and those that do not fit."""
    masks: dict[int, int] = {}
    lost = 0
    for place in codes_in_use(source):
        try:
            value = fit_value(target, value_of(source, place), NOWHERE)
        except EvaluationError:
            lost |= 1 << place
        else:
            distance = code_of(target, value) - place
            masks[distance] = masks.get(distance, 0) | 1 << place
    return masks, lost


def _set(frame: Frame, value: Value, source: Shape, target: Shape) -> tuple[Value, Flag]:
    assert source.item is not None
    assert target.item is not None
    code = frame.code
    if not isinstance(value, Ref) and target.scalar:
        masks, lost = _moves(source.item.type, target.item.type)
        result: Operand = 0
        for distance, mask in masks.items():
            part = code.bits("and", value, mask)
            direction = "shl" if distance >= 0 else "lshr"
            result = code.bits("or", result, code.bits(direction, part, abs(distance)))
        return result, code.compare("eq", code.bits("and", value, lost), 0)
    return _set_in_a_loop(frame, value, source, target)


def _set_in_a_loop(frame: Frame, value: Value, source: Shape, target: Shape) -> tuple[Value, Flag]:
    assert source.item is not None
    assert target.item is not None
    code, item, wanted = frame.code, source.item, target.item
    good, mask = code.scratch(1), code.scratch(1)
    code.store(1, good)
    code.store(0, mask)
    result = cells.empty_set(frame, target)

    def visit(index: str) -> None:
        end = code.new_label()
        code.leave_unless(cells.has_element(frame, value, source, index), end)
        element = cells.value_of(frame, index, item)
        converted, fits = fit(frame, element, item, wanted)
        add, bad = code.new_label(), code.new_label()
        code.fork(fits, add, bad)
        code.label(bad)
        code.store(0, good)
        code.jump(end)
        code.label(add)
        place = cells.code_of(frame, converted, wanted)
        if isinstance(result, Ref):
            cells.add_element(frame, result, target, place)
        else:
            more = cells.add_element(frame, code.load(mask), target, place)
            assert not isinstance(more, Ref)
            code.store(more, mask)
        code.label(end)

    code.counted(0, source.count, visit)
    made = result if isinstance(result, Ref) else code.load(mask)
    return made, code.flag(code.load(good))


def _map(frame: Frame, value: Ref, source: Shape, target: Shape) -> tuple[Value, Flag]:
    """Convert key by key. Keys stay apart, so a total target is covered if enough arrive."""
    assert source.key is not None
    assert target.key is not None
    assert source.item is not None
    assert target.item is not None
    code = frame.code
    result, good, arrived = code.scratch(max(target.cells, 1)), code.scratch(1), code.scratch(1)
    cells.clear(frame, result, target.cells)
    code.store(1, good)
    code.store(0, arrived)
    key, name, item, wanted = source.key, target.key, source.item, target.item

    def visit(index: Operand) -> None:
        end, bad, keep = code.new_label(), code.new_label(), code.new_label()
        place = cells.element(frame, value, source, index)
        code.leave_unless(cells.is_present(frame, place, source), end)
        where, known = fit(frame, cells.value_of(frame, index, key), key, name)
        code.leave_unless(known, bad)
        held, fits = fit(frame, cells.load_element(frame, place, source), item, wanted)
        code.fork(fits, keep, bad)
        code.label(bad)
        code.store(0, good)
        code.jump(end)
        code.label(keep)
        to = cells.element(frame, result, target, cells.code_of(frame, where, name))
        cells.store_element(frame, to, target, held)
        code.store(code.add(code.load(arrived), 1), arrived)
        code.label(end)

    each_key(frame, source, visit)
    fits = code.flag(code.load(good))
    if not target.slotted:
        fits = code.both(fits, code.compare("eq", code.load(arrived), len(codes_in_use(name.type))))
    return result, fits


def _row(frame: Frame, value: Ref, source: Shape, target: Shape) -> tuple[Value, Flag]:
    """Convert a sequence or bag slot by slot; slots beyond the target's must be empty."""
    assert source.item is not None
    assert target.item is not None
    code = frame.code
    if source.item is target.item and isinstance(target.type, type(source.type)):
        return _resized(frame, value, source, target)
    result, good = code.scratch(max(target.cells, 1)), code.scratch(1)
    cells.clear(frame, result, target.cells)
    code.store(1, good)
    item, wanted = source.item, target.item

    def visit(index: Operand) -> None:
        end, bad, keep = code.new_label(), code.new_label(), code.new_label()
        place = cells.element(frame, value, source, index)
        code.leave_unless(cells.is_present(frame, place, source), end)
        code.leave_if(code.compare("sge", index, target.count), bad)
        held, fits = fit(frame, cells.load_element(frame, place, source), item, wanted)
        code.fork(fits, keep, bad)
        code.label(bad)
        code.store(0, good)
        code.jump(end)
        code.label(keep)
        if isinstance(target.type, Bag):
            insert_sorted(frame, result, target, held)
        else:
            to = cells.element(frame, result, target, index)
            cells.store_element(frame, to, target, held)
        code.label(end)

    each_index(frame, source.count, visit)
    return result, code.flag(code.load(good))


def _resized(frame: Frame, value: Ref, source: Shape, target: Shape) -> tuple[Value, Flag]:
    """Return a row with room for another number of the same items."""
    code = frame.code
    if target.count <= source.count:
        # Its first slots are the row, unless there are more.
        more: Flag = False
        if target.count < source.count:
            beyond = cells.element(frame, value, source, target.count)
            more = cells.is_present(frame, beyond, source)
        return value, code.negate(more)
    result = code.scratch(target.cells)
    cells.copy(frame, result, value, source.cells)
    cells.clear(frame, code.shift(result, source.cells), target.cells - source.cells)
    return result, True
