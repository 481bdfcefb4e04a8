"""Values as cells and back, by the shape of their type."""

from __future__ import annotations

from collections.abc import Sequence as Row

from checker.layout.shape import CHUNK, Shape, VariantShape
from checker.machine.types import Map, Option, Record, Set
from checker.semantics.values import MapValue, RecordValue, code_of, coded_values, value_of


def cells_of(shape: Shape, value: object) -> list[int]:
    """Return the cells of a value; ValueError where it is none of the type."""
    match shape.type:
        case Record():
            return _variant_cells(shape.variants[0], value)
        case Map():
            assert isinstance(value, MapValue)
            return _map_cells(shape, value)
        case _ if shape.flat and shape.scalar:
            return [code_of(shape.type, value)]
        case Set(item):
            assert isinstance(value, frozenset)
            mask = sum(1 << code_of(item, member) for member in value)
            return [mask >> place & _MASK for place in range((shape.cells - 1) * CHUNK, -1, -CHUNK)]
        case Option():
            assert shape.item is not None
            if value is None:
                return [0] * shape.cells
            return [1, *cells_of(shape.item, value)]
        case _ if shape.variants:
            return _union_cells(shape, value)
    assert isinstance(value, tuple)
    if len(value) > shape.count:
        raise ValueError(f"{len(value)} items where at most {shape.count} fit")
    padding = shape.count - len(value)
    there = [True] * len(value) + [False] * padding
    return _element_cells(shape, [*value, *[None] * padding], there)


_MASK = (1 << CHUNK) - 1


def _variant_cells(variant: VariantShape, value: object) -> list[int]:
    assert isinstance(value, RecordValue)
    return [cell for field in variant.fields for cell in cells_of(field.shape, value[field.name])]


def _union_cells(shape: Shape, value: object) -> list[int]:
    assert isinstance(value, RecordValue)
    result = [0] * shape.cells
    variant = next(variant for variant in shape.variants if variant.name == value.name)
    result[0] = variant.index
    cells = _variant_cells(variant, value)
    if variant.fields:
        start = variant.fields[0].offset
        result[start : start + len(cells)] = cells
    return result


def _map_cells(shape: Shape, value: MapValue) -> list[int]:
    """Return the cells of a map, which has some for each code of a key, in use or not."""
    assert shape.key is not None
    held: list[object] = [None] * shape.count
    there = [False] * shape.count
    for name, part in value.items():
        place = code_of(shape.key.type, name)
        held[place], there[place] = part, True
    if not shape.slotted and len(value) < len(coded_values(shape.key.type)):
        raise ValueError(f"{len(value)} keys in a map that holds every one")
    return _element_cells(shape, held, there)


def _element_cells(shape: Shape, held: Row[object], there: Row[bool]) -> list[int]:
    item = shape.item
    assert item is not None
    result: list[int] = []
    for value, present in zip(held, there, strict=True):
        if not present:
            result += [0] * shape.stride
        elif not shape.slotted:
            result += cells_of(item, value)
        elif item.coded_slot:
            result.append(1 + code_of(item.type, value))
        else:
            result += [1, *cells_of(item, value)]
    return result


def value_from(shape: Shape, cells: Row[int]) -> object:
    """Return the value with these cells."""
    match shape.type:
        case Record(name, _):
            return _variant_value(name, shape.variants[0], cells)
        case Map(key, _, _):
            held = _elements(shape, cells)
            return MapValue((name, held[code][0]) for code, name in coded_values(key) if held[code])
        case _ if shape.flat and shape.scalar:
            return value_of(shape.type, cells[0])
        case Set(item):
            mask = 0
            for cell in cells:
                mask = mask << CHUNK | cell
            return frozenset(member for code, member in coded_values(item) if mask >> code & 1)
        case Option():
            assert shape.item is not None
            return value_from(shape.item, cells[1:]) if cells[0] else None
        case _ if shape.variants:
            variant = shape.variants[cells[0]]
            return _variant_value(variant.name, variant, cells)
    return tuple(part[0] for part in _elements(shape, cells) if part)


def _variant_value(name: str, variant: VariantShape, cells: Row[int]) -> RecordValue:
    return RecordValue(
        name,
        tuple(
            (
                field.name,
                value_from(field.shape, cells[field.offset : field.offset + field.shape.cells]),
            )
            for field in variant.fields
        ),
    )


def _elements(shape: Shape, cells: Row[int]) -> list[tuple[object, ...]]:
    """Return each element as a 1-tuple, or an empty one where it is absent."""
    item = shape.item
    assert item is not None
    result: list[tuple[object, ...]] = []
    for index in range(shape.count):
        own = cells[index * shape.stride : (index + 1) * shape.stride]
        if not shape.slotted:
            result.append((value_from(item, own),))
        elif not own[0]:
            result.append(())
        elif item.coded_slot:
            result.append((value_of(item.type, own[0] - 1),))
        else:
            result.append((value_from(item, own[1:]),))
    return result
