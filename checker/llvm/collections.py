"""Sets and maps as code."""

from __future__ import annotations

from checker.layout.shape import CHUNK, Shape, codes_in_use, is_dense
from checker.llvm import cells
from checker.llvm.code import Flag, Operand, Ref
from checker.llvm.fit import convert, fit
from checker.llvm.frame import Frame, Value
from checker.llvm.slots import each_index, each_key, holds
from checker.machine import terms
from checker.machine.types import Bag, Map, Range, Sequence, Set


def contains(frame: Frame, term: terms.Contains) -> Flag:
    """Membership; an integer outside the item type, or none, is not in it."""
    shape = frame.shapes[term.collection.type]
    wanted = shape.item if shape.key is None else shape.key
    assert wanted is not None
    item = frame.value(term.item)
    source = frame.shapes[term.item.type]
    inside = _within(term, shape)
    if inside is not None:
        low, high = (frame.number(bound) for bound in inside)
        code = frame.code
        return code.both(code.compare("sle", low, item), code.compare("sle", item, high))  # type: ignore[arg-type]
    held = frame.value(term.collection)
    value, fits = fit(frame, item, source, wanted)
    if isinstance(shape.type, (Sequence, Bag)):
        assert isinstance(held, Ref)
        return frame.code.both(fits, holds(frame, held, shape, value))
    # Where it does not fit, any code will do, as long as it is one.
    index = frame.code.select(fits, cells.code_of(frame, value, wanted), 0)
    if isinstance(shape.type, Set):
        return frame.code.both(fits, cells.has_element(frame, held, shape, index))
    assert isinstance(held, Ref)
    place = cells.element(frame, held, shape, index)
    return frame.code.both(fits, cells.is_present(frame, place, shape))


def _within(term: terms.Contains, shape: Shape) -> tuple[terms.Term, terms.Term] | None:
    """Return the bounds if the collection is an interval of integers."""
    if isinstance(term.collection, terms.Interval) and isinstance(term.item.type, Range):
        assert isinstance(shape.type, Set)
        return term.collection.low, term.collection.high
    return None


# ------------------------------------------------------------------------------------------ sets


def set_operation(frame: Frame, term: terms.SetOperation) -> Value:
    """`| & - ^` of two sets."""
    shape = frame.shapes[term.type]
    left, right = _as_set(frame, term.left, shape), _as_set(frame, term.right, shape)
    if not isinstance(left, Ref):
        assert not isinstance(right, Ref)
        return _combine(frame, term.operator, left, right)
    assert isinstance(right, Ref)
    result, code = frame.code.scratch(shape.cells), frame.code

    def visit(index: Operand) -> None:
        one, two = code.load(code.shift(left, index)), code.load(code.shift(right, index))
        code.store(_combine(frame, term.operator, one, two), code.shift(result, index))

    each_index(frame, shape.cells, visit)
    return result


def _as_set(frame: Frame, term: terms.Term, shape: Shape) -> Value:
    return convert(frame, frame.value(term), frame.shapes[term.type], shape)


def _combine(frame: Frame, operator: str, left: Operand, right: Operand) -> Operand:
    code = frame.code
    match operator:
        case "|":
            return code.bits("or", left, right)
        case "&":
            return code.bits("and", left, right)
        case "^":
            return code.bits("xor", left, right)
    return code.bits("and", left, code.bits("xor", right, -1))


def subset(frame: Frame, term: terms.Subset) -> Flag:
    """`<=` or `<` of two sets."""
    shape, code = frame.shapes[term.left.type], frame.code
    left, right = frame.value(term.left), _as_set(frame, term.right, shape)
    if not isinstance(left, Ref):
        assert not isinstance(right, Ref)
        inside = code.compare("eq", _combine(frame, "-", left, right), 0)
        return code.both(inside, code.compare("ne", left, right)) if term.strict else inside
    assert isinstance(right, Ref)
    beyond, unlike = code.scratch(1), code.scratch(1)
    code.store(0, beyond)
    code.store(0, unlike)

    def visit(index: Operand) -> None:
        one, two = code.load(code.shift(left, index)), code.load(code.shift(right, index))
        for total, operator in ((beyond, "-"), (unlike, "^")):
            part = _combine(frame, operator, one, two)
            code.store(code.bits("or", code.load(total), part), total)

    each_index(frame, shape.cells, visit)
    inside = code.compare("eq", code.load(beyond), 0)
    return code.both(inside, code.compare("ne", code.load(unlike), 0)) if term.strict else inside


def set_of(frame: Frame, term: terms.SetOf) -> Value:
    """`{a, b}`."""
    shape = frame.shapes[term.type]
    assert shape.item is not None
    result = cells.empty_set(frame, shape)
    for item in term.items:
        value = convert(frame, frame.value(item), frame.shapes[item.type], shape.item)
        result = cells.add_element(frame, result, shape, cells.code_of(frame, value, shape.item))
    return result


def everything(frame: Frame, term: terms.Everything) -> Value:
    """All values of a type."""
    shape = frame.shapes[term.type]
    assert shape.item is not None
    if is_dense(shape.item.type):
        mask = cells.full_mask(shape.count)
    else:
        mask = sum(1 << code for code in codes_in_use(shape.item.type))
    if shape.scalar:
        return mask
    places = range((shape.cells - 1) * CHUNK, -1, -CHUNK)
    return frame.constants.array([mask >> place & cells.full_mask(CHUNK) for place in places])


def interval(frame: Frame, term: terms.Interval) -> Value:
    """The integers low..high as a set."""
    shape, code = frame.shapes[term.type], frame.code
    assert shape.item is not None
    low = code.sub(frame.number(term.low), shape.item.low)
    high = code.sub(frame.number(term.high), shape.item.low)
    if shape.scalar:
        # high - low + 1 ones from low on; at most 62 of them.
        count = code.add(code.sub(high, low), 1)
        some = code.compare("sgt", count, 0)
        length = code.select(some, count, 0)
        ones = code.sub(code.bits("shl", 1, length), 1)
        return code.bits("shl", ones, code.select(some, low, 0))
    result = cells.empty_set(frame, shape)

    def visit(index: Operand) -> None:
        cells.add_element(frame, result, shape, index)

    code.counted(low, code.add(high, 1), visit)
    return result


def keys(frame: Frame, term: terms.Keys) -> Value:
    """The present keys of a map, as a set."""
    shape, source, code = frame.shapes[term.type], frame.shapes[term.item.type], frame.code
    held = frame.cells(term.item)
    assert source.key is not None
    assert isinstance(shape.type, Set)
    if not source.slotted:
        return everything(frame, terms.Everything(shape.type, term.span))
    key_set = frame.shapes[shape.type]
    result = cells.empty_set(frame, key_set)
    if key_set.scalar:
        mask: Operand = 0
        if source.count <= cells.UNROLLED_CELLS:
            for index in range(source.count):
                here = cells.is_present(frame, cells.element(frame, held, source, index), source)
                mask = code.bits("or", mask, code.bits("shl", code.number(here), index))
            return mask
        total = code.scratch(1)
        code.store(0, total)

        def gather(index: Operand) -> None:
            here = cells.is_present(frame, cells.element(frame, held, source, index), source)
            bit = code.bits("shl", code.number(here), index)
            code.store(code.bits("or", code.load(total), bit), total)

        code.counted(0, source.count, gather)
        return code.load(total)

    def visit(index: Operand) -> None:
        end = code.new_label()
        here = cells.is_present(frame, cells.element(frame, held, source, index), source)
        code.leave_unless(here, end)
        cells.add_element(frame, result, key_set, index)
        code.label(end)

    code.counted(0, source.count, visit)
    return result


def length(frame: Frame, term: terms.Length) -> Operand:
    """`len` of a set, map, sequence or bag."""
    shape, code = frame.shapes[term.item.type], frame.code
    held = frame.value(term.item)
    if not isinstance(shape.type, Set):
        assert isinstance(held, Ref)
        return cells.count_present(frame, held, shape)
    if not isinstance(held, Ref):
        return code.count_ones(held)
    total = code.scratch(1)
    code.store(0, total)

    def visit(index: Operand) -> None:
        ones = code.count_ones(code.load(code.shift(held, index)))
        code.store(code.add(code.load(total), ones), total)

    each_index(frame, shape.cells, visit)
    return code.load(total)


# ------------------------------------------------------------------------------------------ maps


def map_of(frame: Frame, term: terms.MapOf) -> Ref:
    """`{k: v, ...}`: later pairs win; a total map must be covered."""
    shape = frame.shapes[term.type]
    assert isinstance(shape.type, Map)
    assert shape.key is not None
    assert shape.item is not None
    result = cells.collection(frame, shape)
    seen = KeysSeen(frame, shape)
    for key, value in term.pairs:
        name = convert(frame, frame.value(key), frame.shapes[key.type], shape.key)
        index = cells.code_of(frame, name, shape.key)
        held = convert(frame, frame.value(value), frame.shapes[value.type], shape.item)
        cells.store_element(frame, cells.element(frame, result, shape, index), shape, held)
        seen.add(index)
    seen.require_all()
    return result


class KeysSeen:
    """Which keys of a total map under construction were given; nothing for a partial map."""

    def __init__(self, frame: Frame, shape: Shape) -> None:
        self._frame = frame
        self._shape = shape
        self._flags: Ref | None = None
        if not shape.slotted:
            self._flags = frame.code.scratch(max(shape.count, 1))
            cells.clear(frame, self._flags, shape.count)

    def add(self, index: Operand) -> None:
        """Note a key."""
        if self._flags is not None:
            self._frame.code.store(1, self._frame.code.shift(self._flags, index))

    def require_all(self) -> None:
        """Fail unless every key was given."""
        if self._flags is None:
            return
        code, flags = self._frame.code, self._flags

        def visit(index: Operand) -> None:
            self._frame.fail_if(code.compare("eq", code.load(code.shift(flags, index)), 0))

        each_key(self._frame, self._shape, visit)
