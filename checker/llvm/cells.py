"""Values and cells: reading, writing, comparing and coding values whose parts lie in memory."""

from __future__ import annotations

from functools import lru_cache

from checker.layout.shape import (
    CHUNK,
    Shape,
    VariantShape,
    cell_cardinalities,
    codes_in_use,
    is_dense,
)
from checker.llvm.code import Flag, Operand, Ref
from checker.llvm.frame import Frame, Value
from checker.machine.types import Bool, Record, Set

UNROLLED_CELLS = 16
"""Cells that are copied and compared one by one; more are copied in a loop."""


def code_of(frame: Frame, value: Value, shape: Shape) -> Operand:
    """Return the canonical code of a value of a flat shape."""
    if isinstance(shape.type, Bool):
        assert not isinstance(value, Ref)
        return frame.code.number(value)  # type: ignore[arg-type]
    if isinstance(value, Ref):
        return _code_of_cells(frame, value, shape)
    return frame.code.sub(value, shape.low)


def value_of(frame: Frame, code: Operand, shape: Shape) -> Value:
    """Return the value with this canonical code of a flat shape."""
    if isinstance(shape.type, Bool):
        return frame.code.flag(code)
    if shape.scalar:
        return frame.code.add(code, shape.low)
    cells = frame.code.scratch(max(shape.cells, 1))
    _cells_of_code(frame, code, cells, shape)
    return cells


@lru_cache(maxsize=4096)
def _digits(shape: Shape) -> list[tuple[int, int, int]]:
    """Return (cell, weight, cardinality) of the cells with a choice; the last is least."""
    result = []
    weight = 1
    sizes = [size for _, size in cell_cardinalities(shape)]
    for index in range(len(sizes) - 1, -1, -1):
        if sizes[index] > 1:
            result.append((index, weight, sizes[index]))
            weight *= sizes[index]
    return result


def _code_of_cells(frame: Frame, cells: Ref, shape: Shape) -> Operand:
    total: Operand = 0
    for index, weight, _ in reversed(_digits(shape)):
        cell = frame.code.load(frame.code.shift(cells, index))
        total = frame.code.add(total, frame.code.mul(cell, weight))
    return total


def _cells_of_code(frame: Frame, code: Operand, cells: Ref, shape: Shape) -> None:
    digits = _digits(shape)
    if len(digits) < shape.cells:
        clear(frame, cells, shape.cells)
    for position, (index, weight, size) in enumerate(digits):
        digit = frame.code.divide(code, weight)
        if position < len(digits) - 1:
            digit = frame.code.remainder(digit, size)
        frame.code.store(digit, frame.code.shift(cells, index))


def load(frame: Frame, ref: Ref, shape: Shape) -> Value:
    """Return the value whose cells lie at `ref`; without a copy where it is not scalar."""
    if not shape.scalar:
        return ref
    if isinstance(shape.type, Record):
        return _code_of_cells(frame, ref, shape)
    return value_of(frame, frame.code.load(ref), shape)


def store(frame: Frame, ref: Ref, shape: Shape, value: Value) -> None:
    """Write a value into the cells at `ref`."""
    if isinstance(value, Ref):
        copy(frame, ref, value, shape.cells)
    elif isinstance(shape.type, Record):
        _cells_of_code(frame, value, ref, shape)
    else:
        frame.code.store(code_of(frame, value, shape), ref)


def copy(frame: Frame, target: Ref, origin: Ref, count: int) -> None:
    """Copy `count` cells; the two places are the same or do not overlap."""
    code = frame.code
    if target == origin:
        return
    if count <= UNROLLED_CELLS:
        # All loads first: the places may be the same under two names.
        cells = [code.load(code.shift(origin, index)) for index in range(count)]
        for index, cell in enumerate(cells):
            code.store(cell, code.shift(target, index))
    else:
        to, at = code.pointer(target), code.pointer(origin)
        code.emit(f"call void @llvm.memmove.p0.p0.i64(ptr {to}, ptr {at}, i64 {8 * count}, i1 0)")


def clear(frame: Frame, target: Ref, count: int) -> None:
    """Set `count` cells to 0."""
    code = frame.code
    if count <= UNROLLED_CELLS:
        for index in range(count):
            code.store(0, code.shift(target, index))
    else:
        to = code.pointer(target)
        code.emit(f"call void @llvm.memset.p0.i64(ptr {to}, i8 0, i64 {8 * count}, i1 0)")


def equal(frame: Frame, left: Value, right: Value, shape: Shape) -> Flag:
    """Whether two values of one shape (or two integers) are equal."""
    code = frame.code
    if isinstance(shape.type, Bool):
        return code.same_flag(left, right)  # type: ignore[arg-type]
    if isinstance(left, Ref):
        assert isinstance(right, Ref)
        return same_cells(frame, left, right, shape.cells)
    assert not isinstance(right, Ref)
    return code.compare("eq", left, right)


def same_cells(frame: Frame, left: Ref, right: Ref, count: int) -> Flag:
    """Whether `count` cells are the same at two places."""
    return frame.code.compare("eq", _difference(frame, left, right, count), 0)


def _difference(frame: Frame, left: Ref, right: Ref, count: int) -> Operand:
    """Return a number that is 0 where all cells are equal."""
    code = frame.code
    total: Operand = 0
    if count <= UNROLLED_CELLS:
        for index in range(count):
            total = code.bits("or", total, _unlike(frame, left, right, index))
        return total
    sum_ = code.scratch(1)
    code.store(0, sum_)

    def visit(index: str) -> None:
        code.store(code.bits("or", code.load(sum_), _unlike(frame, left, right, index)), sum_)

    code.counted(0, count, visit)
    return code.load(sum_)


def _unlike(frame: Frame, left: Ref, right: Ref, index: Operand) -> Operand:
    code = frame.code
    return code.bits("xor", code.load(code.shift(left, index)), code.load(code.shift(right, index)))


def precedes(frame: Frame, left: Ref, right: Ref, count: int) -> Flag:
    """Whether `left` comes before `right`, cell by cell."""
    code = frame.code
    if count <= UNROLLED_CELLS:
        before: Flag = False
        for index in range(count - 1, -1, -1):
            one = code.load(code.shift(left, index))
            two = code.load(code.shift(right, index))
            less = code.compare("slt", one, two)
            before = code.either(less, code.both(code.compare("eq", one, two), before))
        return before
    result, end = code.scratch(1), code.new_label()
    code.store(0, result)

    def visit(index: str) -> None:
        one = code.load(code.shift(left, index))
        two = code.load(code.shift(right, index))
        code.store(code.number(code.compare("slt", one, two)), result)
        code.leave_if(code.compare("ne", one, two), end)

    code.counted(0, count, visit)
    code.label(end)
    return code.flag(code.load(result))


# ------------------------------------------------------------------------- slots of collections


def element(frame: Frame, cells: Ref, shape: Shape, index: Operand) -> Ref:
    """Return the place of element `index` of a map, a sequence or a bag."""
    return frame.code.shift(cells, frame.code.mul(index, shape.stride))


def is_present(frame: Frame, place: Ref, shape: Shape) -> Flag:
    """Whether the element at `place` of a collection of this shape is there."""
    if not shape.slotted:
        return True
    return frame.code.compare("ne", frame.code.load(place), 0)


def load_element(frame: Frame, place: Ref, shape: Shape) -> Value:
    """Return the element at `place`, which is there."""
    item = shape.item
    assert item is not None
    if not shape.slotted:
        return load(frame, place, item)
    if item.coded_slot:
        return value_of(frame, frame.code.sub(frame.code.load(place), 1), item)
    return load(frame, frame.code.shift(place, 1), item)


def store_element(frame: Frame, place: Ref, shape: Shape, value: Value) -> None:
    """Put `value` at `place` of a collection of this shape."""
    item = shape.item
    assert item is not None
    if not shape.slotted:
        store(frame, place, item, value)
    elif item.coded_slot:
        frame.code.store(frame.code.add(code_of(frame, value, item), 1), place)
    else:
        store(frame, frame.code.shift(place, 1), item, value)
        frame.code.store(1, place)


def count_present(frame: Frame, cells: Ref, shape: Shape) -> Operand:
    """Return how many elements of a collection are there."""
    code = frame.code
    if shape.key is not None and not shape.slotted:
        return len(codes_in_use(shape.key.type))
    if shape.count <= UNROLLED_CELLS:
        total: Operand = 0
        for index in range(shape.count):
            present = is_present(frame, element(frame, cells, shape, index), shape)
            total = code.add(total, code.number(present))
        return total
    sum_ = code.scratch(1)
    code.store(0, sum_)

    def visit(index: str) -> None:
        present = code.number(is_present(frame, element(frame, cells, shape, index), shape))
        code.store(code.add(code.load(sum_), present), sum_)

    code.counted(0, shape.count, visit)
    return code.load(sum_)


# ---------------------------------------------------------------------------- sets, both forms


def chunk_place(frame: Frame, cells: Ref, shape: Shape, code: Operand) -> Ref:
    """Return the place of the chunk of a wide set that holds element `code`."""
    at = frame.code.sub(shape.cells - 1, frame.code.divide(code, CHUNK))
    return frame.code.shift(cells, at)


def has_element(frame: Frame, value: Value, shape: Shape, code: Operand) -> Flag:
    """Whether the element with this code is in a set."""
    here = frame.code
    if isinstance(value, Ref):
        mask: Operand = here.load(chunk_place(frame, value, shape, code))
        code = here.remainder(code, CHUNK)
    else:
        mask = value
    bit = here.bits("and", here.bits("lshr", mask, code), 1)
    return here.compare("ne", bit, 0)


def add_element(frame: Frame, value: Value, shape: Shape, code: Operand) -> Value:
    """Return a set with the element of this code added; a wide one is changed in place."""
    here = frame.code
    if not isinstance(value, Ref):
        return here.bits("or", value, here.bits("shl", 1, code))
    place = chunk_place(frame, value, shape, code)
    bit = here.bits("shl", 1, here.remainder(code, CHUNK))
    here.store(here.bits("or", here.load(place), bit), place)
    return value


def drop_element(frame: Frame, value: Value, shape: Shape, code: Operand) -> Value:
    """Return a set with the element of this code left out; a wide one is changed in place."""
    here = frame.code
    if not isinstance(value, Ref):
        inverse = here.bits("xor", here.bits("shl", 1, code), -1)
        return here.bits("and", value, inverse)
    place = chunk_place(frame, value, shape, code)
    bit = here.bits("shl", 1, here.remainder(code, CHUNK))
    here.store(here.bits("and", here.load(place), here.bits("xor", bit, -1)), place)
    return value


def empty_set(frame: Frame, shape: Shape) -> Value:
    """Return a new empty set of this shape."""
    assert isinstance(shape.type, Set)
    if shape.scalar:
        return 0
    cells = frame.code.scratch(shape.cells)
    clear(frame, cells, shape.cells)
    return cells


def full_mask(count: int) -> int:
    """Return the mask of all of `count` elements."""
    return (1 << count) - 1


def collection(frame: Frame, shape: Shape) -> Ref:
    """Return a new empty map, sequence or bag; the elements of a total map are still to come."""
    cells = frame.code.scratch(max(shape.cells, 1))
    if shape.slotted or shape.key is None or not is_dense(shape.key.type):
        clear(frame, cells, shape.cells)
    return cells


# ------------------------------------------------------------------- fields of records, unions


def in_variant(frame: Frame, value: Value, shape: Shape, variant: VariantShape) -> Flag:
    """Whether a value is of this variant; a record always is."""
    code = frame.code
    if isinstance(shape.type, Record):
        return True
    if isinstance(value, Ref):
        return code.compare("eq", code.load(value), variant.index)
    if len(shape.variants) == 1:
        return True
    if variant.count == 0:
        return False
    if variant.count == 1:
        return code.compare("eq", value, variant.base)
    return code.compare("ult", code.sub(value, variant.base), variant.count)


def variant_field(
    frame: Frame, value: Value, shape: Shape, variant: VariantShape, name: str
) -> Value:
    """Return a field of a record, or of a union value that is of this variant."""
    field = variant.field(name)
    assert field is not None
    code = frame.code
    if not shape.scalar:
        assert isinstance(value, Ref)
        return load(frame, code.shift(value, field.offset), field.shape)
    assert not isinstance(value, Ref)
    if field.shape.cardinality <= 1 or _is_known_not_to_be(value, variant):
        return value_of(frame, 0, field.shape)
    digit = code.divide(code.sub(value, variant.base), field.weight)
    if field.weight * field.shape.cardinality < variant.count:
        digit = code.remainder(digit, field.shape.cardinality)
    return value_of(frame, digit, field.shape)


def _is_known_not_to_be(value: Operand, variant: VariantShape) -> bool:
    """Whether a value is known now and of another variant: nothing leads to where it is looked at.

    What is written there has to be of its type all the same: tables are looked up in it.
    """
    return isinstance(value, int) and not 0 <= value - variant.base < variant.count


def compose(frame: Frame, shape: Shape, variant: VariantShape, values: list[Value]) -> Value:
    """Return the record, or the union value of this variant, with these field values."""
    code = frame.code
    if shape.scalar:
        total: Operand = variant.base
        for field, value in zip(variant.fields, values, strict=True):
            digit = code_of(frame, value, field.shape)
            total = code.add(total, code.mul(digit, field.weight))
        return total
    cells = code.scratch(shape.cells)
    if not isinstance(shape.type, Record):
        clear(frame, cells, shape.cells)
        code.store(variant.index, cells)
    for field, value in zip(variant.fields, values, strict=True):
        store(frame, code.shift(cells, field.offset), field.shape, value)
    return cells


# ------------------------------------------------------------------------------------- options


def is_none(frame: Frame, value: Value) -> Flag:
    """Whether an option is none."""
    cell = frame.code.load(value) if isinstance(value, Ref) else value
    return frame.code.compare("eq", cell, 0)


def unwrap(frame: Frame, value: Value, shape: Shape) -> Value:
    """Return the item of an option; some value of its type where the option is none."""
    assert shape.item is not None
    code = frame.code
    if isinstance(value, Ref):
        return load(frame, code.shift(value, 1), shape.item)
    some = code.select(code.compare("eq", value, 0), 1, value)
    return value_of(frame, code.sub(some, 1), shape.item)


def wrap(frame: Frame, value: Value, shape: Shape) -> Value:
    """Return an option of this shape that holds `value`."""
    assert shape.item is not None
    if shape.scalar:
        return frame.code.add(code_of(frame, value, shape.item), 1)
    cells = frame.code.scratch(shape.cells)
    frame.code.store(1, cells)
    store(frame, frame.code.shift(cells, 1), shape.item, value)
    return cells
