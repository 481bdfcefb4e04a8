"""Places as code: finding a part deep inside a variable and changing it there.

Where the way leads through a value that is kept as one code (an option, a union, what stands in a
slot), that value is taken apart, changed, and put back.
"""

from __future__ import annotations

from collections.abc import Callable

from checker.frozen import frozen
from checker.layout.shape import Shape, VariantShape
from checker.llvm import cells
from checker.llvm.code import Operand, Ref
from checker.llvm.fit import convert
from checker.llvm.frame import Frame, Value
from checker.llvm.slots import find, insert, remove
from checker.machine.terms import Place
from checker.machine.types import Bag, Map, Option, Record, Sequence, Set, Union


@frozen()
class Key:
    """A step into a map or a row, its key evaluated."""

    value: Value
    shape: Shape


Step = Key | str
"""A step into a place: a key, or the name of a field."""


@frozen()
class Element:
    """What a place leads to: a value of `shape` at `ref`.

    `slots` is the shape of the collection where it stands in a slot, which may be empty.
    """

    frame: Frame
    ref: Ref
    shape: Shape
    slots: Shape | None = None

    def require_present(self) -> None:
        """Fail (E505) where there is nothing."""
        if self.slots is not None:
            self.frame.require(cells.is_present(self.frame, self.ref, self.slots))

    def load(self) -> Value:
        """Return the value; the cells themselves where they lie in place."""
        if self.slots is not None:
            return cells.load_element(self.frame, self.ref, self.slots)
        return cells.load(self.frame, self.ref, self.shape)

    def store(self, value: Value) -> None:
        """Replace the value, or put one where nothing was."""
        if self.slots is not None:
            cells.store_element(self.frame, self.ref, self.slots, value)
        else:
            cells.store(self.frame, self.ref, self.shape, value)

    def remove(self) -> None:
        """Leave nothing there."""
        assert self.slots is not None
        cells.clear(self.frame, self.ref, self.slots.stride)


Update = Callable[[Element], None]


def steps_of(frame: Frame, place: Place) -> list[Step]:
    """Evaluate the keys of a place, outermost first."""
    steps: list[Step] = []
    for step in place.steps:
        if step.key is not None:
            steps.append(Key(frame.value(step.key), frame.shapes[step.key.type]))
        else:
            assert step.name is not None
            steps.append(step.name)
    return steps


def change(frame: Frame, ref: Ref, shape: Shape, steps: list[Step], update: Update) -> None:
    """Apply `update` to what the steps lead to from a value of `shape` that lies at `ref`."""
    if not steps:
        update(Element(frame, ref, shape))
        return
    step, rest = steps[0], steps[1:]
    match shape.type:
        case Option():
            _through_option(frame, ref, shape, steps, update)
        case Map() | Sequence() | Bag():
            assert isinstance(step, Key)
            _into_element(frame, ref, shape, _index(frame, shape, step), rest, update)
        case Record():
            assert isinstance(step, str)
            field = shape.variants[0].field(step)
            assert field is not None
            change(frame, frame.code.shift(ref, field.offset), field.shape, rest, update)
        case Union():
            assert isinstance(step, str)
            _through_union(frame, ref, shape, step, rest, update)
        case _:
            raise AssertionError(f"no place leads into {shape.type}")


def _through_option(
    frame: Frame, ref: Ref, shape: Shape, steps: list[Step], update: Update
) -> None:
    assert shape.item is not None
    value = cells.load(frame, ref, shape)
    frame.fail_if(cells.is_none(frame, value))
    if isinstance(value, Ref):
        change(frame, frame.code.shift(ref, 1), shape.item, steps, update)
    else:
        inner = _changed(frame, cells.unwrap(frame, value, shape), shape.item, steps, update)
        cells.store(frame, ref, shape, cells.wrap(frame, inner, shape))


def _index(frame: Frame, shape: Shape, key: Key) -> Operand:
    """Return the code of a key, or the position, which may lie outside."""
    if shape.key is None:
        assert not isinstance(key.value, Ref)
        return key.value
    value = convert(frame, key.value, key.shape, shape.key)
    return cells.code_of(frame, value, shape.key)


def _into_element(
    frame: Frame, ref: Ref, shape: Shape, index: Operand, rest: list[Step], update: Update
) -> None:
    assert shape.item is not None
    if not isinstance(shape.type, Map):
        frame.require(frame.code.compare("ult", index, shape.count))
    place = cells.element(frame, ref, shape, index)
    if not shape.slotted:
        change(frame, place, shape.item, rest, update)
        return
    element = Element(frame, place, shape.item, shape)
    if rest or not isinstance(shape.type, Map):
        element.require_present()
    if not rest:
        update(element)
    elif shape.item.coded_slot:
        element.store(_changed(frame, element.load(), shape.item, rest, update))
    else:
        change(frame, frame.code.shift(place, 1), shape.item, rest, update)


def _changed(frame: Frame, value: Value, shape: Shape, steps: list[Step], update: Update) -> Value:
    """Return a value with what the steps lead to updated, by way of a copy in memory."""
    copy = frame.code.scratch(max(shape.cells, 1))
    cells.store(frame, copy, shape, value)
    change(frame, copy, shape, steps, update)
    return cells.load(frame, copy, shape)


def _through_union(
    frame: Frame, ref: Ref, shape: Shape, name: str, rest: list[Step], update: Update
) -> None:
    code, value = frame.code, cells.load(frame, ref, shape)
    end = code.new_label()
    for variant in shape.variants:
        field = variant.field(name)
        if field is None:
            continue
        here, following = code.new_label(), code.new_label()
        code.fork(cells.in_variant(frame, value, shape, variant), here, following)
        code.label(here)
        if isinstance(value, Ref):
            change(frame, code.shift(ref, field.offset), field.shape, rest, update)
        else:
            _change_field(frame, ref, (shape, variant), name, rest, update)
        code.jump(end)
        code.label(following)
    code.jump(frame.error)
    code.label(end)


def _change_field(
    frame: Frame,
    ref: Ref,
    where: tuple[Shape, VariantShape],
    name: str,
    rest: list[Step],
    update: Update,
) -> None:
    """Change a field of a union value that is kept as one code and is of this variant."""
    shape, variant = where
    code, field = frame.code, variant.field(name)
    assert field is not None
    old = cells.load(frame, ref, shape)
    assert not isinstance(old, Ref)
    part = cells.variant_field(frame, old, shape, variant, name)
    before = cells.code_of(frame, part, field.shape)
    made = _changed(frame, part, field.shape, rest, update)
    after = cells.code_of(frame, made, field.shape)
    code.store(code.add(old, code.mul(code.sub(after, before), field.weight)), ref)


def add_to(frame: Frame, element: Element, value: Value, full: Callable[[], None]) -> None:
    """Put `value` into the set, sequence or bag at a place; `full` is written for where it is."""
    code, shape = frame.code, element.shape
    assert shape.item is not None
    element.require_present()
    held = element.load()
    if isinstance(shape.type, Set):
        index = cells.code_of(frame, value, shape.item)
        element.store(cells.add_element(frame, held, shape, index))
        return
    assert isinstance(held, Ref)
    at = cells.count_present(frame, held, shape)
    room, no_room, end = code.new_label(), code.new_label(), code.new_label()
    code.fork(code.compare("slt", at, shape.count), room, no_room)
    code.label(no_room)
    full()
    code.jump(end)
    code.label(room)
    insert(frame, held, shape, at, value)
    element.store(held)
    code.label(end)


def take_from(frame: Frame, element: Element, value: Value, *, keep: bool) -> None:
    """Take `value` out of the set, sequence or bag at a place; an error (E505) where it is not.

    `keep`: only see that it is there.
    """
    code, shape = frame.code, element.shape
    assert shape.item is not None
    element.require_present()
    held = element.load()
    if isinstance(shape.type, Set):
        index = cells.code_of(frame, value, shape.item)
        frame.require(cells.has_element(frame, held, shape, index))
        if not keep:
            element.store(cells.drop_element(frame, held, shape, index))
        return
    assert isinstance(held, Ref)
    at = find(frame, held, shape, value)
    frame.fail_if(code.compare("slt", at, 0))
    if keep:
        return

    remove(frame, held, shape, at)
    element.store(held)
