"""Terms over sequences and bags as code."""

from __future__ import annotations

from checker.layout.shape import Shape
from checker.llvm import cells
from checker.llvm.code import Operand, Ref
from checker.llvm.fit import convert, fit
from checker.llvm.frame import Frame, Value
from checker.llvm.slots import each_index, insert_behind, insert_sorted, is_short, slot_of
from checker.machine import terms
from checker.machine.terms import Term
from checker.machine.types import Bag


def count(frame: Frame, term: terms.Count) -> Operand:
    """`bag.count(item)`, of a sequence too."""
    shape, code = frame.shapes[term.collection.type], frame.code
    assert shape.item is not None
    item = frame.value(term.item)
    held = frame.cells(term.collection)
    value, fits = fit(frame, item, frame.shapes[term.item.type], shape.item)
    wanted, total = code.scratch(shape.stride), code.scratch(1)
    cells.store_element(frame, wanted, shape, value)
    code.store(0, total)

    def visit(index: Operand) -> None:
        place = cells.element(frame, held, shape, index)
        here = code.number(cells.same_cells(frame, place, wanted, shape.stride))
        code.store(code.add(code.load(total), here), total)

    each_index(frame, shape.count, visit)
    return code.select(fits, code.load(total), 0)


def sequence_of(frame: Frame, term: terms.SequenceOf) -> Ref:
    """`[a, b]`, or a bag of these items."""
    shape = frame.shapes[term.type]
    assert shape.item is not None
    result = cells.collection(frame, shape)
    for index, item in enumerate(term.items):
        value = convert(frame, frame.value(item), frame.shapes[item.type], shape.item)
        if index >= shape.count:
            frame.code.jump(frame.error)
        elif isinstance(shape.type, Bag):
            insert_sorted(frame, result, shape, value)
        else:
            place = cells.element(frame, result, shape, index)
            cells.store_element(frame, place, shape, value)
    return result


def append(frame: Frame, held: Ref, shape: Shape, at: Operand, value: Value) -> None:
    """Put `value` behind the `at` items of a sequence, or into a bag; E501 when it is full."""
    frame.require(frame.code.compare("slt", at, shape.count))
    if isinstance(shape.type, Bag):
        insert_sorted(frame, held, shape, value)
    else:
        place = cells.element(frame, held, shape, at)
        cells.store_element(frame, place, shape, value)


def concatenate(frame: Frame, term: terms.Concatenate) -> Ref:
    """`left + right`."""
    shape, code = frame.shapes[term.type], frame.code
    left = _as_row(frame, term.left, shape)
    right, source = frame.cells(term.right), frame.shapes[term.right.type]
    result = code.scratch(max(shape.cells, 1))
    cells.copy(frame, result, left, shape.cells)
    if source.count == 1 and is_short(shape) and not isinstance(shape.type, Bag):
        _append_one(frame, result, (right, source), shape)
        return result
    at = code.scratch(1)
    code.store(cells.count_present(frame, result, shape), at)
    _append_all(frame, (right, source), (result, shape), at)
    return result


def _as_row(frame: Frame, term: Term, shape: Shape) -> Ref:
    value = convert(frame, frame.value(term), frame.shapes[term.type], shape)
    assert isinstance(value, Ref)
    return value


def _append_one(frame: Frame, held: Ref, origin: tuple[Ref, Shape], shape: Shape) -> None:
    """Append a sequence of at most one item."""
    code, (right, source) = frame.code, origin
    assert source.item is not None
    assert shape.item is not None
    skip = code.new_label()
    place = cells.element(frame, right, source, 0)
    code.leave_unless(cells.is_present(frame, place, source), skip)
    item = cells.load_element(frame, place, source)
    value = convert(frame, item, source.item, shape.item)
    if shape.count:
        last = cells.element(frame, held, shape, shape.count - 1)
        frame.fail_if(cells.is_present(frame, last, shape))
        insert_behind(frame, held, shape, slot_of(frame, value, shape))
    code.label(skip)


def _append_all(
    frame: Frame, origin: tuple[Ref, Shape], target: tuple[Ref, Shape], at: Ref
) -> None:
    code, (held, source), (result, shape) = frame.code, origin, target
    assert source.item is not None
    assert shape.item is not None
    given, item = source.item, shape.item

    def visit(index: Operand) -> None:
        end = code.new_label()
        place = cells.element(frame, held, source, index)
        code.leave_unless(cells.is_present(frame, place, source), end)
        value = convert(frame, cells.load_element(frame, place, source), given, item)
        now = code.load(at)
        append(frame, result, shape, now, value)
        code.store(code.add(now, 1), at)
        code.label(end)

    each_index(frame, source.count, visit)


def slice_bounds(frame: Frame, term: terms.Slice) -> tuple[Operand, Operand]:
    """Return the first position of a slice and the one behind its last; fail if one is negative."""
    code, source = frame.code, frame.shapes[term.item.type]
    start: Operand = 0 if term.start is None else frame.number(term.start)
    stop: Operand = source.count if term.stop is None else frame.number(term.stop)
    frame.fail_if(code.compare("slt", start, 0))
    frame.fail_if(code.compare("slt", stop, 0))
    return start, code.select(code.compare("slt", stop, source.count), stop, source.count)


def cut(frame: Frame, term: terms.Slice) -> Ref:
    """`item[start:stop]`; a negative bound is an error."""
    shape, source, code = frame.shapes[term.type], frame.shapes[term.item.type], frame.code
    held = frame.cells(term.item)
    start, stop = slice_bounds(frame, term)
    result = cells.collection(frame, shape)
    if isinstance(start, int) and is_short(source) and source.item is shape.item:
        for index in range(min(shape.count, max(source.count - start, 0))):
            slot = code.load(code.shift(held, index + start))
            inside = code.compare("slt", index + start, stop)
            code.store(code.select(inside, slot, 0), code.shift(result, index))
        return result
    at = code.scratch(1)
    code.store(0, at)
    _append_between(frame, (held, source), (result, shape), at, (start, stop))
    return result


def _append_between(
    frame: Frame,
    origin: tuple[Ref, Shape],
    target: tuple[Ref, Shape],
    at: Ref,
    bounds: tuple[Operand, Operand],
) -> None:
    code, (held, source), (result, shape) = frame.code, origin, target
    assert source.item is not None
    assert shape.item is not None
    given, item = source.item, shape.item

    def visit(index: str) -> None:
        end = code.new_label()
        place = cells.element(frame, held, source, index)
        code.leave_unless(cells.is_present(frame, place, source), end)
        value = convert(frame, cells.load_element(frame, place, source), given, item)
        now = code.load(at)
        append(frame, result, shape, now, value)
        code.store(code.add(now, 1), at)
        code.label(end)

    code.counted(*bounds, visit)
