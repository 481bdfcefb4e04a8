"""Renaming symmetric ids in native code: the cells of a value with every id in it replaced.

A *naming* of an id type is one integer: nibble i holds what id i is called afterwards. So a type
has at most `semantics.symmetry.IDS_MAX` ids, and renaming an id is a shift and a mask.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from checker.layout.shape import Shape, VariantShape, codes_in_use, is_dense
from checker.llvm import cells, loops
from checker.llvm.code import Operand, Ref
from checker.llvm.frame import Frame, Value
from checker.llvm.slots import insert_sorted
from checker.machine.relations import mentions
from checker.machine.types import Bag, Id, Map, Option, Record, Set, Union
from checker.symmetry.codes import Order, renamed_codes

NIBBLE = 4
"""Bits of a naming for each id."""
_UNROLLED = 8
_CELLS_UNROLLED = 64
"""Elements, and their cells, of a collection that are written one by one, not in a loop."""


@dataclass(slots=True)
class Renaming:
    """Writes values renamed. `namings` are the integers by the name of their id type.

    Where it is known now what ids are called, `orders` say so, and tables have what becomes of
    values of few codes.
    """

    frame: Frame
    namings: Mapping[str, Operand]
    orders: Mapping[str, Order] | None = None
    _known: dict[int, tuple[Shape, bool]] = field(default_factory=dict)

    def changes(self, shape: Shape) -> bool:
        """Whether renaming can change a value of this shape."""
        known = self._known.get(id(shape))
        if known is None:
            known = self._known[id(shape)] = shape, mentions(shape.type, frozenset(self.namings))
        return known[1]

    # --------------------------------------------------------------------------------- values

    def value(self, value: Value, shape: Shape) -> Value:
        """Write: return a value renamed."""
        if not self.changes(shape):
            return value
        if not shape.scalar:
            assert isinstance(value, Ref)
            target = self.frame.code.scratch(max(shape.cells, 1))
            self.cells(value, target, shape)
            return target
        assert not isinstance(value, Ref)
        code, table = self.frame.code, self._table(shape)
        if table is not None:
            renamed = self._looked_up(table, cells.code_of(self.frame, value, shape))
            return cells.value_of(self.frame, renamed, shape)
        match shape.type:
            case Id(name, _, _):
                return self._renamed(self.namings[name], value)
            case Option():
                return self._option(value, shape)
            case Set():
                return self._mask(value, shape)
        result = code.scratch(1)
        code.store(value, result)
        self._each_variant(
            value, shape, lambda variant: self._digits(value, shape, variant, result)
        )
        return code.load(result)

    def code_of(self, code: Operand, shape: Shape) -> Operand:
        """Write: return the code of the renamed value that has this code."""
        table = self._table(shape)
        if table is not None:
            return self._looked_up(table, code)
        value = self.value(cells.value_of(self.frame, code, shape), shape)
        return cells.code_of(self.frame, value, shape)

    def _table(self, shape: Shape) -> tuple[int, ...] | None:
        """Return the codes of values renamed; None where that has to be worked out."""
        return None if self.orders is None else renamed_codes(shape, self.orders)

    def _looked_up(self, table: tuple[int, ...], number: Operand) -> Operand:
        if isinstance(number, int):
            return table[number]
        code = self.frame.code
        return code.load(code.shift(self.frame.constants.array(table), number))

    def _renamed(self, naming: Operand, index: Operand) -> Operand:
        code = self.frame.code
        shifted = code.bits("lshr", naming, code.mul(index, NIBBLE))
        return code.bits("and", shifted, (1 << NIBBLE) - 1)

    def _option(self, value: Operand, shape: Shape) -> Operand:
        code, item = self.frame.code, shape.item
        assert item is not None
        if isinstance(item.type, Id):
            count = len(item.type.members)
            ones = sum(1 << NIBBLE * index for index in range(count))
            naming = code.add(self.namings[item.type.name], ones)
            return self._renamed(code.bits("shl", naming, NIBBLE), value)
        result, end = code.scratch(1), code.new_label()
        code.store(0, result)
        code.leave_if(code.compare("eq", value, 0), end)
        code.store(code.add(self.code_of(code.sub(value, 1), item), 1), result)
        code.label(end)
        return code.load(result)

    def _mask(self, mask: Operand, shape: Shape) -> Operand:
        """Write: return a flat set renamed."""
        code, item = self.frame.code, shape.item
        assert item is not None
        if isinstance(item.type, Id):
            total: Operand = 0
            for index in range(shape.count):
                bit = code.bits("and", code.bits("lshr", mask, index), 1)
                place = self._renamed(self.namings[item.type.name], index)
                total = code.bits("or", total, code.bits("shl", bit, place))
            return total
        result = code.scratch(1)
        code.store(0, result)

        def visit(element: Operand, _: str) -> None:
            renamed = self.code_of(element, item)
            code.store(code.bits("or", code.load(result), code.bits("shl", 1, renamed)), result)

        self._each_element(mask, shape, visit)
        return code.load(result)

    def _each_element(
        self, held: Value, shape: Shape, visit: Callable[[Operand, str], None]
    ) -> None:
        domain = loops.Domain(shape, 0, shape.count, held)
        loops.run(self.frame, domain, visit, distinct=False, unroll=shape.count <= _UNROLLED)

    def _each_index(self, shape: Shape, visit: Callable[[Operand], None]) -> None:
        if shape.count <= _UNROLLED and shape.cells <= _CELLS_UNROLLED:
            for index in range(shape.count):
                visit(index)
        else:
            self.frame.code.counted(0, shape.count, visit)

    def _each_variant(
        self, value: Value, shape: Shape, visit: Callable[[VariantShape], None]
    ) -> None:
        """Write: visit the variant that a record or union value is, if renaming can change it."""
        code = self.frame.code
        for variant in shape.variants:
            if any(self.changes(part.shape) for part in variant.fields):
                end = code.new_label()
                code.leave_unless(cells.in_variant(self.frame, value, shape, variant), end)
                visit(variant)
                code.label(end)

    def _digits(self, value: Operand, shape: Shape, variant: VariantShape, result: Ref) -> None:
        """Write: let the code at `result`, that of a value of this variant, be renamed."""
        frame, code = self.frame, self.frame.code
        total = value
        for part in variant.fields:
            if self.changes(part.shape):
                old = cells.variant_field(frame, value, shape, variant, part.name)
                before = cells.code_of(frame, old, part.shape)
                after = cells.code_of(frame, self.value(old, part.shape), part.shape)
                total = code.add(total, code.mul(code.sub(after, before), part.weight))
        code.store(total, result)

    # ---------------------------------------------------------------------------------- cells

    def cells(self, source: Ref, target: Ref, shape: Shape) -> None:
        """Write the cells at `target`: those of the value at `source` renamed.

        The two places do not overlap.
        """
        frame, code = self.frame, self.frame.code
        if not self.changes(shape):
            cells.copy(frame, target, source, shape.cells)
            return
        match shape.type:
            case Record():
                for part in shape.variants[0].fields:
                    here, there = code.shift(source, part.offset), code.shift(target, part.offset)
                    self.cells(here, there, part.shape)
            case Map():
                self._map(source, target, shape)
            case _ if shape.scalar:
                value = self.value(cells.load(frame, source, shape), shape)
                cells.store(frame, target, shape, value)
            case Set():
                self._wide_set(source, target, shape)
            case Option():
                assert shape.item is not None
                self._where(source, target, shape.item)
            case Union():
                cells.copy(frame, target, source, shape.cells)
                self._each_variant(
                    source, shape, lambda variant: self._fields(source, target, variant)
                )
            case Bag():
                self._bag(source, target, shape)
            case _:
                self._each_index(
                    shape, lambda index: self._slot(source, target, shape, index, index)
                )

    def _fields(self, source: Ref, target: Ref, variant: VariantShape) -> None:
        for part in variant.fields:
            if self.changes(part.shape):
                code = self.frame.code
                here, there = code.shift(source, part.offset), code.shift(target, part.offset)
                self.cells(here, there, part.shape)

    def _where(self, source: Ref, target: Ref, item: Shape) -> None:
        """Write: a wide value behind a cell that says whether it is there."""
        frame, code = self.frame, self.frame.code
        cells.copy(frame, target, source, 1 + item.cells)
        end = code.new_label()
        code.leave_if(code.compare("eq", code.load(source), 0), end)
        self.cells(code.shift(source, 1), code.shift(target, 1), item)
        code.label(end)

    def _slot(self, source: Ref, target: Ref, shape: Shape, index: Operand, place: Operand) -> None:
        """Write: element `index` of a map or a row at `source` renamed, as element `place`."""
        frame, code, item = self.frame, self.frame.code, shape.item
        assert item is not None
        here = cells.element(frame, source, shape, index)
        there = cells.element(frame, target, shape, place)
        if not self.changes(item):
            cells.copy(frame, there, here, shape.stride)
        elif not shape.slotted:
            self.cells(here, there, item)
        elif not item.coded_slot:
            self._where(here, there, item)
        elif (table := self._table(item)) is not None:
            slots = (0, *(renamed + 1 for renamed in table))
            code.store(self._looked_up(slots, code.load(here)), there)
        else:
            end = code.new_label()
            held = code.load(here)
            code.store(held, there)
            code.leave_if(code.compare("eq", held, 0), end)
            code.store(code.add(self.code_of(code.sub(held, 1), item), 1), there)
            code.label(end)

    def _map(self, source: Ref, target: Ref, shape: Shape) -> None:
        key = shape.key
        assert key is not None

        def visit(index: Operand) -> None:
            place = self.code_of(index, key) if self.changes(key) else index
            self._slot(source, target, shape, index, place)

        if is_dense(key.type):
            self._each_index(shape, visit)
            return
        cells.clear(self.frame, target, shape.cells)
        for index in codes_in_use(key.type):
            visit(index)

    def _wide_set(self, source: Ref, target: Ref, shape: Shape) -> None:
        frame, item = self.frame, shape.item
        assert item is not None
        cells.clear(frame, target, shape.cells)
        self._each_element(
            source,
            shape,
            lambda element, _: _add(frame, target, shape, self.code_of(element, item)),
        )

    def _bag(self, source: Ref, target: Ref, shape: Shape) -> None:
        """Write: every item renamed, and all in ascending order again."""
        frame, code, item = self.frame, self.frame.code, shape.item
        assert item is not None
        if item.coded_slot and shape.count <= _UNROLLED:
            for index in range(shape.count):
                self._slot(source, target, shape, index, index)
            self._sort(target, shape.count)
            return
        cells.clear(frame, target, shape.cells)

        def visit(index: Operand) -> None:
            end = code.new_label()
            place = cells.element(frame, source, shape, index)
            code.leave_unless(cells.is_present(frame, place, shape), end)
            renamed = self.value(cells.load_element(frame, place, shape), item)
            insert_sorted(frame, target, shape, renamed)
            code.label(end)

        self._each_index(shape, visit)

    def _sort(self, target: Ref, count: int) -> None:
        """Write: `count` coded slots in ascending order, empty ones last."""
        code = self.frame.code
        if count < 2:
            return
        keys = [code.sub(code.load(code.shift(target, index)), 1) for index in range(count)]
        for last in range(count - 1, 0, -1):
            for index in range(last):
                left, right = keys[index], keys[index + 1]
                swap = code.compare("ult", right, left)
                keys[index] = code.select(swap, right, left)
                keys[index + 1] = code.select(swap, left, right)
        for index, key in enumerate(keys):
            code.store(code.add(key, 1), code.shift(target, index))


def _add(frame: Frame, target: Ref, shape: Shape, element: Operand) -> None:
    cells.add_element(frame, target, shape, element)
