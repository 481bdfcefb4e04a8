"""Parts as code: elements of maps and sequences, fields of records and unions, kinds of messages.

A part of something in memory is found there by its place, so that the whole is not copied.
"""

from __future__ import annotations

from typing import Any

from checker.layout.shape import Shape, VariantShape
from checker.llvm import cells
from checker.llvm.code import Flag, Operand, Ref
from checker.llvm.fit import anything, convert
from checker.llvm.frame import Frame, Value
from checker.machine import terms
from checker.machine.terms import Term
from checker.machine.types import Bool, Option, Record


def locatable(frame: Frame, term: Term) -> bool:
    """Whether a term is a part of something in memory, so that its cells need not be copied."""
    match term:
        case terms.Read():
            return True
        case terms.Field(item, _, _, _):
            return isinstance(item.type, Record) and locatable(frame, item)
        case terms.At(item, _, _, _):
            shape = frame.shapes[item.type]
            assert shape.item is not None
            return not shape.slotted or not shape.item.coded_slot
    return not frame.shapes[term.type].scalar


def locate(frame: Frame, term: Term) -> Ref:
    """Return the place of a locatable term."""
    match term:
        case terms.Read():
            return frame.variables[term.variable]
        case terms.Field(item, name, _, _) if isinstance(item.type, Record):
            if locatable(frame, item):
                field = frame.shapes[item.type].variants[0].field(name)
                assert field is not None
                return frame.code.shift(locate(frame, item), field.offset)
        case terms.At(item, key, _, _):
            shape = frame.shapes[item.type]
            place = element_place(frame, frame.cells(item), shape, key)
            return frame.code.shift(place, 1) if shape.slotted else place
    return frame.cells(term)


def element_place(frame: Frame, held: Ref, shape: Shape, key: Term) -> Ref:
    """Return the place of the element at a key or position; an error where it is not there."""
    code = frame.code
    index = key_code(frame, shape, key)
    if shape.key is None:
        frame.require(code.compare("ult", index, shape.count))
    place = cells.element(frame, held, shape, index)
    frame.require(cells.is_present(frame, place, shape))
    return place


def key_code(frame: Frame, shape: Shape, key: Term) -> Operand:
    """Return the code of a key of a map, or a position (perhaps outside) of a sequence."""
    if shape.key is None:
        return frame.number(key)
    value = convert(frame, frame.value(key), frame.shapes[key.type], shape.key)
    return cells.code_of(frame, value, shape.key)


def at(frame: Frame, term: terms.At) -> Value:
    """`item[key]` of a map or a sequence; an error where there is nothing."""
    shape, target = frame.shapes[term.item.type], frame.shapes[term.type]
    assert shape.item is not None
    place = element_place(frame, frame.cells(term.item), shape, term.key)
    return convert(frame, cells.load_element(frame, place, shape), shape.item, target)


def field_of(frame: Frame, term: terms.Field) -> Value:
    """A field of a record, or of a union value whose variant has it."""
    shape, target = frame.shapes[term.item.type], frame.shapes[term.type]
    if isinstance(shape.type, Record):
        field = shape.variants[0].field(term.name)
        assert field is not None
        if locatable(frame, term):
            value = cells.load(frame, locate(frame, term), field.shape)
        else:
            held = frame.value(term.item)
            value = cells.variant_field(frame, held, shape, shape.variants[0], term.name)
        return convert(frame, value, field.shape, target)
    return _union_field(frame, frame.value(term.item), term, target)


def variants_with(
    frame: Frame, item: Term, shape: Shape, name: str
) -> tuple[list[VariantShape], bool]:
    """Return the variants that a union may be of and that have a field, and whether that is all."""
    known = frame.facts.get(item.name) if isinstance(item, terms.Local) else None
    possible = [variant for variant in shape.variants if known in {None, variant.name}]
    having = [variant for variant in possible if variant.field(name) is not None]
    return having, len(having) == len(possible)


def _union_field(frame: Frame, held: Value, term: terms.Field, target: Shape) -> Value:
    shape = frame.shapes[term.item.type]
    having, always = variants_with(frame, term.item, shape, term.name)
    if not always:
        among: Flag = False
        for variant in having:
            among = frame.code.either(among, cells.in_variant(frame, held, shape, variant))
        frame.require(among)
    if not having:
        return anything(frame, target)
    if len(having) == 1:
        return _variant_field(frame, held, (shape, having[0]), term.name, target)
    return _field_of_several(frame, held, shape, having, (term.name, target))


def _variant_field(
    frame: Frame, held: Value, where: tuple[Shape, VariantShape], name: str, target: Shape
) -> Value:
    field = where[1].field(name)
    assert field is not None
    value = cells.variant_field(frame, held, *where, name)
    return convert(frame, value, field.shape, target)


def _field_of_several(
    frame: Frame, held: Value, shape: Shape, having: list[VariantShape], wanted: tuple[str, Shape]
) -> Value:
    """Take the field from whichever of several variants the value is of, the last without test."""
    code, (name, target) = frame.code, wanted
    end = code.new_label()
    incoming: list[tuple[Any, str]] = []
    for variant in having:
        following = code.new_label()
        if variant is not having[-1]:
            here = code.new_label()
            code.fork(cells.in_variant(frame, held, shape, variant), here, following)
            code.label(here)
        value = _variant_field(frame, held, (shape, variant), name, target)
        value = code.pointer(value) if isinstance(value, Ref) else value
        if code.open:
            incoming.append(code.arriving(value))
        code.jump(end)
        code.label(following)
    code.label(end)
    if not target.scalar:
        return Ref(code.phi_pointer(incoming) if incoming else code.reserve(1).base)
    return code.phi_flag(incoming) if isinstance(target.type, Bool) else code.phi(incoming)


def is_none(frame: Frame, term: terms.IsNone) -> Flag:
    """Whether an option is none."""
    if not isinstance(term.item.type, Option):
        frame.value(term.item)
        return False
    return cells.is_none(frame, frame.value(term.item))


def is_variant(frame: Frame, term: terms.IsVariant) -> Flag:
    """Whether a union value, or what an option holds, is of a variant."""
    value, shape = frame.value(term.item), frame.shapes[term.item.type]
    some: Flag = True
    if isinstance(shape.type, Option):
        assert shape.item is not None
        some = frame.code.negate(cells.is_none(frame, value))
        value, shape = cells.unwrap(frame, value, shape), shape.item
    here: Flag = False
    for variant in shape.variants:
        if variant.name == term.variant:
            here = cells.in_variant(frame, value, shape, variant)
    return frame.code.both(some, here)


def record_of(frame: Frame, term: terms.RecordOf) -> Value:
    """A record, or one variant of a union, of its fields."""
    shape = frame.shapes[term.type]
    variant = next(variant for variant in shape.variants if variant.name == term.name)
    given = dict(term.fields)
    values = {
        name: convert(
            frame, frame.value(part), frame.shapes[part.type], _field_shape(variant, name)
        )
        for name, part in given.items()
    }
    return cells.compose(frame, shape, variant, [values[field.name] for field in variant.fields])


def _field_shape(variant: VariantShape, name: str) -> Shape:
    field = variant.field(name)
    assert field is not None
    return field.shape


def with_field(frame: Frame, term: terms.With) -> Value:
    """A record, or a union value whose variant has the field, with one field replaced."""
    shape = frame.shapes[term.type]
    held = convert(frame, frame.value(term.item), frame.shapes[term.item.type], shape)
    value, given = frame.value(term.value), frame.shapes[term.value.type]
    if isinstance(shape.type, Record):
        return _replaced(frame, held, (shape, shape.variants[0]), term.name, (value, given))
    return _replaced_in_union(frame, held, term, (value, given))


def _replaced_in_union(
    frame: Frame, held: Value, term: terms.With, new: tuple[Value, Shape]
) -> Value:
    code, shape = frame.code, frame.shapes[term.type]
    having, always = variants_with(frame, term.item, shape, term.name)
    end, none = code.new_label(), code.new_label()
    incoming: list[tuple[Any, str]] = []
    for variant in having:
        following, here = code.new_label(), code.new_label()
        test = cells.in_variant(frame, held, shape, variant)
        code.fork(True if always and variant is having[-1] else test, here, following)
        code.label(here)
        made = _replaced(frame, held, (shape, variant), term.name, new)
        made = code.pointer(made) if isinstance(made, Ref) else made
        if code.open:
            incoming.append(code.arriving(made))
        code.jump(end)
        code.label(following)
    code.label(none)
    code.jump(frame.error)
    code.label(end)
    if not incoming:
        return anything(frame, shape)
    return code.phi(incoming) if shape.scalar else Ref(code.phi_pointer(incoming))


def _replaced(
    frame: Frame,
    held: Value,
    where: tuple[Shape, VariantShape],
    name: str,
    new: tuple[Value, Shape],
) -> Value:
    """Return a value of one variant with a field replaced."""
    shape, variant = where
    code, field = frame.code, variant.field(name)
    assert field is not None
    value = convert(frame, *new, field.shape)
    if isinstance(held, Ref):
        copy = code.scratch(shape.cells)
        cells.copy(frame, copy, held, shape.cells)
        cells.store(frame, code.shift(copy, field.offset), field.shape, value)
        return copy
    old = cells.variant_field(frame, held, shape, variant, name)
    difference = code.sub(
        cells.code_of(frame, value, field.shape), cells.code_of(frame, old, field.shape)
    )
    return code.add(held, code.mul(difference, field.weight))
