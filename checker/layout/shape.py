"""Shapes: how a value of a finite type is laid out as integer cells.

A *cell* holds one small integer, the canonical code of a part of the value; equal values have
equal cells. Maps are laid out by key, records by field, sequences and bags by slot; options,
unions and whatever stands in a slot are one cell, their code, as long as that is below
`CODE_LIMIT` (then the type is *flat*). Compared cell by cell, cells are in canonical order.

| type                 | cells in place                                                       |
| -------------------- | -------------------------------------------------------------------- |
| Bool Range Enum Id   | the code                                                             |
| Set                  | flat: the bit mask; wide: chunks of `CHUNK` elements, highest first  |
| Option, Union        | flat: the code; wide: a tag, then the cells of the item / all fields |
| Record               | the cells of its fields                                              |
| Map                  | total: the cells of each value; partial: a slot for each key         |
| Sequence, Bag        | `capacity` slots                                                     |

A *slot* is 0 when empty. An item with a code takes one cell, 1 + code; a wide item a cell that is
1, then its own cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from checker.frozen import frozen
from checker.machine.types import (
    Bag,
    Bool,
    Enum,
    Id,
    Map,
    Option,
    Range,
    Record,
    Sequence,
    Set,
    Type,
    Union,
    cardinality,
)
from checker.semantics.values import coded_values

CODE_LIMIT = 1 << 62
"""Codes stay below this, so that a code and one more fit a non-negative int64."""

CHUNK = 32
"""Elements in a cell of a wide set."""


@frozen(eq=False)
class FieldShape:
    """A field: where its cells start in its record, and its factor in the record's code."""

    name: str
    shape: Shape
    offset: int
    weight: int


@frozen(eq=False)
class VariantShape:
    """One record shape of a union, or a record itself (index 0, base 0).

    `base` is the code of its first value, `count` how many values it has; field offsets count
    from the start of the union (record).
    """

    name: str
    index: int
    base: int
    count: int
    fields: tuple[FieldShape, ...]

    def field(self, name: str) -> FieldShape | None:
        """Return the field called `name`, None if the variant lacks it."""
        return next((field for field in self.fields if field.name == name), None)


@frozen(eq=False)
class Shape:
    """The shape of a type.

    `flat`: a value has a code below CODE_LIMIT. `scalar`: a value travels as one integer (its
    code; a Range's actual value) rather than as cells. `count` is the number of map keys, set
    elements or slots. `item` is the shape of the item or map value, `key` that of map keys.
    """

    type: Type
    cardinality: int
    flat: bool
    scalar: bool
    cells: int
    item: Shape | None = None
    key: Shape | None = None
    count: int = 0
    variants: tuple[VariantShape, ...] = ()

    @property
    def coded_slot(self) -> bool:
        """Whether a slot that holds such a value is one cell."""
        return self.cardinality < CODE_LIMIT

    @property
    def slot_cells(self) -> int:
        """Return how many cells a slot takes that holds such a value or nothing."""
        return 1 if self.coded_slot else 1 + self.cells

    @property
    def low(self) -> int:
        """What a scalar's value is when its code is 0."""
        return self.type.low if isinstance(self.type, Range) else 0

    @property
    def stride(self) -> int:
        """Return how many cells an element of a map, a sequence or a bag takes."""
        assert self.item is not None
        in_place = isinstance(self.type, Map) and self.type.total
        return self.item.cells if in_place else self.item.slot_cells

    @property
    def slotted(self) -> bool:
        """Whether its elements are slots: partial maps, sequences, bags."""
        return not (isinstance(self.type, Map) and self.type.total)


def is_dense(kind: Type) -> bool:
    """Whether every code of `kind` is the code of a value: not so in sequences and bags."""
    match kind:
        case Sequence(item, capacity) | Bag(item, capacity):
            return is_dense(item) and capacity <= 1
        case Option(item) | Set(item):
            return is_dense(item)
        case Map(key, value, _):
            return is_dense(key) and is_dense(value)
        case Record(_, fields):
            return all(is_dense(field) for _, field in fields)
        case Union(_, variants):
            return all(is_dense(variant) for variant in variants)
        case _:
            return True


@lru_cache(maxsize=512)
def codes_in_use(kind: Type) -> tuple[int, ...]:
    """Return the codes of the values of `kind`, ascending."""
    if is_dense(kind):
        return tuple(range(cardinality(kind)))
    return tuple(code for code, _ in coded_values(kind))


@lru_cache(maxsize=4096)
def shape_of(kind: Type) -> Shape:
    """Return the shape of `kind`."""
    size = cardinality(kind)
    flat = size <= CODE_LIMIT
    match kind:
        case Bool() | Range() | Enum() | Id():
            return Shape(kind, size, flat, scalar=True, cells=1)
        case Set(item):
            element = shape_of(item)
            count = element.cardinality
            cells = 1 if flat else -(-count // CHUNK)
            return Shape(kind, size, flat, flat, cells, item=element, count=count)
        case Option(item):
            inner = shape_of(item)
            return Shape(kind, size, flat, flat, 1 if flat else 1 + inner.cells, item=inner)
        case Record():
            variant, cells = _variant(kind, 0, 0, 0)
            return Shape(kind, size, flat, flat, cells, variants=(variant,))
        case Union(_, records):
            return _union(kind, records, size)
        case Map(key, value, total):
            keys, inner = shape_of(key), shape_of(value)
            count = keys.cardinality
            cells = count * (inner.cells if total else inner.slot_cells)
            return Shape(kind, size, flat, False, cells, inner, keys, count)
        case Sequence(item, capacity) | Bag(item, capacity):
            inner = shape_of(item)
            cells = capacity * inner.slot_cells
            return Shape(kind, size, flat, False, cells, item=inner, count=capacity)


def _variant(record: Record, index: int, base: int, start: int) -> tuple[VariantShape, int]:
    """Return the shape of a variant whose cells start at `start`, and the cell after it."""
    shapes = [(name, shape_of(kind)) for name, kind in record.fields]
    weight = cardinality(record)
    fields = []
    for name, shape in shapes:
        weight //= max(shape.cardinality, 1)
        fields.append(FieldShape(name, shape, start, weight))
        start += shape.cells
    variant = VariantShape(record.name, index, base, cardinality(record), tuple(fields))
    return variant, start


def _union(kind: Union, records: tuple[Record, ...], size: int) -> Shape:
    variants = []
    base, cells = 0, 1
    for index, record in enumerate(records):
        variant, cells = _variant(record, index, base, cells)
        variants.append(variant)
        base += variant.count
    flat = size <= CODE_LIMIT
    return Shape(kind, size, flat, flat, 1 if flat else cells, variants=tuple(variants))


def cell_cardinalities(shape: Shape) -> Iterator[tuple[str, int]]:
    """Yield the cells of a shape in order: where each is in the value, and its number of codes."""
    match shape.type:
        case Record():
            for field in shape.variants[0].fields:
                for path, size in cell_cardinalities(field.shape):
                    yield f".{field.name}{path}", size
        case Map() | Sequence() | Bag():
            for index in range(shape.count):
                yield from _element_cells(shape, index)
        case _ if shape.flat:
            yield "", shape.cardinality
        case Set():
            for start in range((shape.cells - 1) * CHUNK, -1, -CHUNK):
                width = min(CHUNK, shape.count - start)
                yield f"{{{start}..{start + width - 1}}}", 1 << width
        case Option():
            assert shape.item is not None
            yield "?", 2
            yield from cell_cardinalities(shape.item)
        case _:
            yield " kind", len(shape.variants)
            for variant in shape.variants:
                for field in variant.fields:
                    for path, size in cell_cardinalities(field.shape):
                        yield f".{variant.name}.{field.name}{path}", size


def _element_cells(shape: Shape, index: int) -> Iterator[tuple[str, int]]:
    assert shape.item is not None
    name = f"[{_label(shape, index)}]"
    if not shape.slotted:
        for path, size in cell_cardinalities(shape.item):
            yield f"{name}{path}", size
    elif shape.item.coded_slot:
        yield name, shape.item.cardinality + 1
    else:
        yield f"{name}?", 2
        for path, size in cell_cardinalities(shape.item):
            yield f"{name}{path}", size


def _label(shape: Shape, index: int) -> str:
    """Return how the element with this index is called."""
    kind = shape.key.type if shape.key is not None else None
    match kind:
        case Enum(_, members) | Id(_, members, _):
            return members[index]
        case Range(low, _):
            return str(low + index)
        case _:
            return str(index)
