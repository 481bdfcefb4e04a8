"""The slots of sequences and bags: searching them, putting items in, taking items out.

Short rows of items with codes are changed without a jump.
"""

from __future__ import annotations

from collections.abc import Callable

from checker.layout.shape import Shape, codes_in_use, is_dense
from checker.llvm import cells
from checker.llvm.code import Flag, Operand, Ref
from checker.llvm.frame import Frame, Value
from checker.machine.types import Bag

SHORT = 12
"""Rows of at most this many slots are written slot by slot."""


def is_short(shape: Shape) -> bool:
    """Whether a row is short, and each of its slots one cell."""
    assert shape.item is not None
    return shape.count <= SHORT and shape.item.coded_slot


def _slots(frame: Frame, held: Ref, shape: Shape) -> list[Operand]:
    return [frame.code.load(frame.code.shift(held, index)) for index in range(shape.count)]


def slot_of(frame: Frame, value: Value, shape: Shape) -> Operand:
    """Return what the slot of an item holds."""
    assert shape.item is not None
    return frame.code.add(cells.code_of(frame, value, shape.item), 1)


# --------------------------------------------------------------------------------- searching


def find(frame: Frame, held: Ref, shape: Shape, value: Value) -> Operand:
    """Return the first slot of a sequence or bag that holds `value`; -1 if none does."""
    code = frame.code
    if is_short(shape):
        wanted, found = slot_of(frame, value, shape), -1
        result: Operand = found
        for index, slot in reversed(list(enumerate(_slots(frame, held, shape)))):
            result = code.select(code.compare("eq", slot, wanted), index, result)
        return result
    place, at, end = code.scratch(shape.stride), code.scratch(1), code.new_label()
    cells.store_element(frame, place, shape, value)
    code.store(-1, at)

    def visit(index: Operand) -> None:
        following = code.new_label()
        there = cells.element(frame, held, shape, index)
        code.leave_unless(cells.same_cells(frame, there, place, shape.stride), following)
        code.store(index, at)
        code.jump(end)
        code.label(following)

    each_index(frame, shape.count, visit)
    code.label(end)
    return code.load(at)


def holds(frame: Frame, held: Ref, shape: Shape, value: Value) -> Flag:
    """Whether a sequence or bag holds `value`."""
    code = frame.code
    if not is_short(shape):
        return code.compare("ne", find(frame, held, shape, value), -1)
    wanted = slot_of(frame, value, shape)
    result: Flag = False
    for slot in _slots(frame, held, shape):
        result = code.either(result, code.compare("eq", slot, wanted))
    return result


# ----------------------------------------------------------------------------------- changing


def insert(frame: Frame, held: Ref, shape: Shape, at: Operand, value: Value) -> None:
    """Put `value` into a row with room: behind the `at` items of a sequence, sorted into a bag."""
    if isinstance(shape.type, Bag):
        insert_sorted(frame, held, shape, value)
    elif is_short(shape):
        insert_behind(frame, held, shape, slot_of(frame, value, shape))
    else:
        place = cells.element(frame, held, shape, at)
        cells.store_element(frame, place, shape, value)


def insert_behind(frame: Frame, held: Ref, shape: Shape, new: Operand) -> None:
    """Put `new`, what a slot holds, behind the items of a short sequence with room."""
    code = frame.code
    before: Flag = True
    for index, slot in enumerate(_slots(frame, held, shape)):
        empty = code.compare("eq", slot, 0)
        first = code.both(empty, before)
        code.store(code.select(first, new, slot), code.shift(held, index))
        before = code.negate(empty)


def insert_sorted(frame: Frame, bag: Ref, shape: Shape, value: Value) -> None:
    """Put `value` into a bag that has room: behind what is not greater, the rest moves up."""
    code, stride = frame.code, shape.stride
    if is_short(shape):
        _insert_short(frame, bag, shape, slot_of(frame, value, shape))
        return
    carried = code.scratch(stride)
    cells.store_element(frame, carried, shape, value)

    def visit(index: Operand) -> None:
        place = cells.element(frame, bag, shape, index)
        swap, end = code.new_label(), code.new_label()
        empty = code.compare("eq", code.load(place), 0)
        later = code.both(
            code.compare("ne", code.load(carried), 0),
            code.either(empty, cells.precedes(frame, carried, place, stride)),
        )
        code.fork(later, swap, end)
        code.label(swap)
        held = [code.load(code.shift(place, cell)) for cell in range(stride)]
        cells.copy(frame, place, carried, stride)
        for cell, old in enumerate(held):
            code.store(old, code.shift(carried, cell))
        code.label(end)

    each_index(frame, shape.count, visit)


def _insert_short(frame: Frame, bag: Ref, shape: Shape, new: Operand) -> None:
    """From the slot where `new` belongs on, each slot takes what the one before it held."""
    code = frame.code
    placed: Flag = False
    carried = new
    for index, slot in enumerate(_slots(frame, bag, shape)):
        belongs = code.either(code.compare("eq", slot, 0), code.compare("slt", new, slot))
        placed = code.either(placed, belongs)
        code.store(code.select(placed, carried, slot), code.shift(bag, index))
        carried = code.select(placed, slot, carried)


def remove(frame: Frame, held: Ref, shape: Shape, at: Operand) -> None:
    """Take the item at slot `at` out; those behind it move down."""
    code = frame.code
    if is_short(shape):
        slots = [*_slots(frame, held, shape), 0]
        for index in range(shape.count):
            stays = code.compare("slt", index, at)
            moved = code.select(stays, slots[index], slots[index + 1])
            code.store(moved, code.shift(held, index))
        return

    def close_gap(index: Operand) -> None:
        end = code.new_label()
        code.leave_if(code.compare("slt", index, at), end)
        place = cells.element(frame, held, shape, index)
        cells.copy(frame, place, code.shift(place, shape.stride), shape.stride)
        code.label(end)

    each_index(frame, shape.count - 1, close_gap)
    cells.clear(frame, cells.element(frame, held, shape, shape.count - 1), shape.stride)


def each_key(frame: Frame, shape: Shape, visit: Callable[[Operand], None]) -> None:
    """Run `visit(index)` for each key of a map: of a total one, for those that there are."""
    assert shape.key is not None
    if shape.slotted or is_dense(shape.key.type):
        each_index(frame, shape.count, visit)
        return
    for index in codes_in_use(shape.key.type):
        visit(index)


def each_index(frame: Frame, count: int, visit: Callable[[Operand], None]) -> None:
    """Run `visit(index)` for each element, one by one where they are few."""
    if count <= cells.UNROLLED_CELLS // 2:
        for index in range(count):
            visit(index)
    else:
        frame.code.counted(0, count, visit)
