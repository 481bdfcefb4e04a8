"""Nondeterminism inside a body: scripts of choices, `pick`, `fresh`.

A body with picks runs once for each way they can fall. Each run follows a script of choices and
takes the first where the script ends; then the last choice that has a further one is advanced,
like an odometer.
"""

from __future__ import annotations

from collections.abc import Callable

from checker.layout.shape import Shape
from checker.llvm import cells, loops
from checker.llvm.code import Operand, Ref
from checker.llvm.frame import Bound, Frame, Value
from checker.machine import terms
from checker.machine.types import Bag, Id, Option, Record, Sequence, Set, Union
from checker.passes.analysis import mentions_id

PICKS_FEW = 64
"""Picks of one execution for which there is always room."""

MASK_POSITIONS = 62
"""Domains of up to this many positions keep their candidates as a bit mask."""


class Script:
    """The script of choices of a body that makes `most` in one execution, in the function's frame.

    Elaboration bounds them.
    """

    def __init__(self, frame: Frame, most: int) -> None:
        self._frame = frame
        code = frame.code
        room = max(PICKS_FEW, most)
        self._choices = code.reserve(room)
        self._sizes = code.reserve(room)
        self._length = code.reserve(1)
        self._met = code.reserve(1)

    def reset(self) -> None:
        """Write: the empty script."""
        self._frame.code.store(0, self._length)

    def begin(self) -> None:
        """Write: a run begins."""
        self._frame.code.store(0, self._met)

    def choose(self, size: Operand) -> Operand:
        """Write: return the next choice among `size`, which is at least 1."""
        code = self._frame.code
        at = code.load(self._met)
        code.store(code.add(at, 1), self._met)
        code.store(size, code.shift(self._sizes, at))
        new, end = code.new_label(), code.new_label()
        code.fork(code.compare("sge", at, code.load(self._length)), new, end)
        code.label(new)
        code.store(0, code.shift(self._choices, at))
        code.store(code.add(at, 1), self._length)
        code.label(end)
        return code.load(code.shift(self._choices, at))

    def advance(self, again: str) -> None:
        """Write: go to `again` with the following script; fall through after the last."""
        code = self._frame.code
        head, more, end = (code.new_label() for _ in range(3))
        up, shorter = code.new_label(), code.new_label()
        code.loop_label(head)
        length = code.load(self._length)
        code.fork(code.compare("eq", length, 0), end, more)
        code.label(more)
        at = code.sub(length, 1)
        choice = code.add(code.load(code.shift(self._choices, at)), 1)
        code.fork(code.compare("slt", choice, code.load(code.shift(self._sizes, at))), up, shorter)
        code.label(up)
        code.store(choice, code.shift(self._choices, at))
        code.jump(again)
        code.label(shorter)
        code.store(at, self._length)
        code.jump(head)
        code.label(end)


def pick(frame: Frame, statement: terms.Pick, script: Script) -> tuple[Value, Shape]:
    """Write a choice among the distinct candidates of a domain; return the one of the script."""
    domain = loops.domain_of(frame, statement.domain)
    if domain.shape.count <= MASK_POSITIONS:
        position = _pick_by_mask(frame, statement, script, domain)
    else:
        position = _pick_by_list(frame, statement, script, domain)
    return loops.value_at(frame, domain, position), domain.item


def _candidates(
    frame: Frame, statement: terms.Pick, domain: loops.Domain, note: Callable[[Operand], None]
) -> None:
    def visit(position: Operand, skip: str) -> None:
        if statement.condition is not None:
            value = loops.value_at(frame, domain, position)
            with frame.bound(statement.name, Bound(value, domain.item)):
                wanted = frame.flag(statement.condition)
                frame.code.leave_unless(wanted, skip)
        note(position)

    loops.run(frame, domain, visit, distinct=True, unroll=False)


def _pick_by_mask(
    frame: Frame, statement: terms.Pick, script: Script, domain: loops.Domain
) -> Operand:
    code, mask = frame.code, frame.code.scratch(1)
    if isinstance(domain.held, (int, str)) and statement.condition is None:
        code.store(domain.held, mask)
    else:
        code.store(0, mask)

        def note(position: Operand) -> None:
            bit = code.bits("shl", 1, position)
            code.store(code.bits("or", code.load(mask), bit), mask)

        _candidates(frame, statement, domain, note)
    count = code.count_ones(code.load(mask))
    frame.fail_if(code.compare("eq", count, 0))
    chosen = script.choose(count)

    def drop_lowest(_: Operand) -> None:
        now = code.load(mask)
        code.store(code.bits("and", now, code.sub(now, 1)), mask)

    code.counted(0, chosen, drop_lowest)
    return code.lowest_one(code.load(mask))


def _pick_by_list(
    frame: Frame, statement: terms.Pick, script: Script, domain: loops.Domain
) -> Operand:
    code = frame.code
    found, count = code.scratch(domain.shape.count), code.scratch(1)
    code.store(0, count)

    def note(position: Operand) -> None:
        at = code.load(count)
        code.store(position, code.shift(found, at))
        code.store(code.add(at, 1), count)

    _candidates(frame, statement, domain, note)
    size = code.load(count)
    frame.fail_if(code.compare("eq", size, 0))
    return code.load(code.shift(found, script.choose(size)))


# ------------------------------------------------------------------------------------ fresh ids


class Drawn:
    """The ids that earlier `fresh` of the same run drew, a set for each type of ids."""

    def __init__(self, frame: Frame, kinds: list[Id]) -> None:
        self._frame = frame
        self._sets: dict[str, tuple[Ref, Shape]] = {}
        for kind in kinds:
            shape = frame.shapes[Set(kind)]
            self._sets[kind.name] = (frame.code.reserve(shape.cells), shape)

    def begin(self) -> None:
        """Write: nothing is drawn yet."""
        for ref, shape in self._sets.values():
            cells.clear(self._frame, ref, shape.cells)

    def fresh(self, kind: Id, variables: list[tuple[Ref, Shape]], none_left: str) -> Operand:
        """Write: return the least id that occurs in no variable, or go to `none_left`."""
        frame, code = self._frame, self._frame.code
        drawn, shape = self._sets[kind.name]
        used = code.scratch(shape.cells)
        cells.copy(frame, used, drawn, shape.cells)

        def note(index: Operand) -> None:
            _add(frame, used, shape, index)

        for ref, held in variables:
            _occurring(frame, cells.load(frame, ref, held), held, kind, note)
        index = _least_free(frame, used, shape, none_left)
        _add(frame, drawn, shape, index)
        return index


def _add(frame: Frame, ref: Ref, shape: Shape, index: Operand) -> None:
    more = cells.add_element(frame, cells.load(frame, ref, shape), shape, index)
    cells.store(frame, ref, shape, more)


def _least_free(frame: Frame, used: Ref, shape: Shape, none_left: str) -> Operand:
    code, found, end = frame.code, frame.code.scratch(1), frame.code.new_label()
    held = cells.load(frame, used, shape)
    if not isinstance(held, Ref):
        free = code.bits("and", code.bits("xor", held, -1), cells.full_mask(shape.count))
        code.leave_if(code.compare("eq", free, 0), none_left)
        return code.lowest_one(free)

    def visit(index: Operand) -> None:
        following = code.new_label()
        code.leave_if(cells.has_element(frame, held, shape, index), following)
        code.store(index, found)
        code.jump(end)
        code.label(following)

    code.counted(0, shape.count, visit)
    code.jump(none_left)
    code.label(end)
    return code.load(found)


def _occurring(
    frame: Frame, value: Value, shape: Shape, wanted: Id, note: Callable[[Operand], None]
) -> None:
    """Write: note each id of `wanted` in a value. Keys of total maps are places, not content."""
    if not mentions_id(shape.type, wanted):
        return
    code = frame.code
    match shape.type:
        case Id():
            assert not isinstance(value, Ref)
            note(value)
        case Option():
            assert shape.item is not None
            end = code.new_label()
            code.leave_if(cells.is_none(frame, value), end)
            _occurring(frame, cells.unwrap(frame, value, shape), shape.item, wanted, note)
            code.label(end)
        case Record() | Union():
            _occurring_in_fields(frame, value, shape, wanted, note)
        case _:
            _occurring_in_elements(frame, value, shape, wanted, note)


def _occurring_in_fields(
    frame: Frame, value: Value, shape: Shape, wanted: Id, note: Callable[[Operand], None]
) -> None:
    code = frame.code
    for variant in shape.variants:
        parts = [part for part in variant.fields if mentions_id(part.shape.type, wanted)]
        if not parts:
            continue
        end = code.new_label()
        code.leave_unless(cells.in_variant(frame, value, shape, variant), end)
        for part in parts:
            field = cells.variant_field(frame, value, shape, variant, part.name)
            _occurring(frame, field, part.shape, wanted, note)
        code.label(end)


def _occurring_in_elements(
    frame: Frame, value: Value, shape: Shape, wanted: Id, note: Callable[[Operand], None]
) -> None:
    collection = isinstance(shape.type, (Set, Sequence, Bag))
    item = shape.item
    assert item is not None

    def visit(index: Operand, _: str) -> None:
        if isinstance(shape.type, Set):
            _occurring(frame, cells.value_of(frame, index, item), item, wanted, note)
            return
        assert isinstance(value, Ref)
        place = cells.element(frame, value, shape, index)
        if not collection and shape.slotted:
            assert shape.key is not None
            key = cells.value_of(frame, index, shape.key)
            _occurring(frame, key, shape.key, wanted, note)
        _occurring(frame, cells.load_element(frame, place, shape), item, wanted, note)

    total = not collection and not shape.slotted
    domain = loops.all_keys(frame, shape) if total else loops.Domain(shape, 0, shape.count, value)
    loops.run(frame, domain, visit, distinct=False, unroll=shape.count <= 4)
