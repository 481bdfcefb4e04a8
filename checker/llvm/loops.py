"""Domains: what generators, bindings, `for` and `pick` run over, one position after the other.

A *position* is the code of a set's element or of a map's key, or the number of a slot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from checker.frozen import frozen
from checker.layout.shape import Shape, codes_in_use, is_dense
from checker.llvm import cells
from checker.llvm.code import Flag, Operand, Ref
from checker.llvm.frame import Frame, Value
from checker.llvm.rows import slice_bounds
from checker.machine import terms
from checker.machine.terms import Term
from checker.machine.types import Bag, Sequence, Set
from checker.semantics.values import code_of
from checker.source import NOWHERE

Visit = Callable[[Operand, str], None]
"""Called with a position and the label to jump to for the next one."""


@frozen()
class Domain:
    """A domain, evaluated.

    `start`..`stop` (excluded) are the positions it may have; where `held` is None all of them are
    there, else it is the set, map, sequence or bag. `shape` is the shape of the domain.
    """

    shape: Shape
    start: Operand
    stop: Operand
    held: Value | None

    @property
    def item(self) -> Shape:
        """The shape of what it yields: of a map these are the keys, and positions are theirs."""
        item = self.shape.item if self.shape.key is None else self.shape.key
        assert item is not None
        return item

    @property
    def positions(self) -> range | None:
        """The positions it may have, where they are known now."""
        if isinstance(self.start, int) and isinstance(self.stop, int):
            return range(self.start, max(self.start, self.stop))
        return None


def domain_of(frame: Frame, term: Term) -> Domain:
    """Evaluate a domain. It refers to the state, where it is a part of it."""
    shape = frame.shapes[term.type]
    assert shape.item is not None
    match term:
        case terms.Everything():
            held = None if is_dense(shape.item.type) else frame.value(term)
            return Domain(shape, 0, shape.count, held)
        case terms.Interval(low, high, _, _):
            start = frame.code.sub(frame.number(low), shape.item.low)
            stop = frame.code.add(frame.code.sub(frame.number(high), shape.item.low), 1)
            return Domain(shape, start, stop, None)
        case terms.Literal(value, Set(kind), _) if isinstance(value, frozenset):
            codes = sorted(code_of(kind, member) for member in value)
            if not codes:
                return Domain(shape, 0, 0, None)
            full = len(codes) == codes[-1] + 1 - codes[0]
            held = None if full else frame.value(term)
            return Domain(shape, codes[0], codes[-1] + 1, held)
        case terms.Slice():
            start, stop = slice_bounds(frame, term)
            return Domain(frame.shapes[term.item.type], start, stop, frame.cells(term.item))
    held = frame.value(term)
    if shape.key is not None and not shape.slotted:
        return all_keys(frame, shape)
    return Domain(shape, 0, shape.count, held)


def all_keys(frame: Frame, shape: Shape) -> Domain:
    """Return the domain of the keys of a total map: they are the same in all states."""
    assert shape.key is not None
    return domain_of(frame, terms.Everything(Set(shape.key.type), NOWHERE))


def snapshot(frame: Frame, domain: Domain) -> Domain:
    """Return the domain as a copy, so that it stays as it is while the state changes."""
    if not isinstance(domain.held, Ref):
        return domain
    copy = frame.code.scratch(max(domain.shape.cells, 1))
    cells.copy(frame, copy, domain.held, domain.shape.cells)
    return Domain(domain.shape, domain.start, domain.stop, copy)


def value_at(frame: Frame, domain: Domain, position: Operand) -> Value:
    """Return the value at a position that is there."""
    if isinstance(domain.shape.type, (Sequence, Bag)):
        assert isinstance(domain.held, Ref)
        place = cells.element(frame, domain.held, domain.shape, position)
        return cells.load_element(frame, place, domain.shape)
    return cells.value_of(frame, position, domain.item)


def present(frame: Frame, domain: Domain, position: Operand) -> Flag:
    """Whether a position of a set or a map's keys is there; of a row, whether a slot is used."""
    if domain.held is None:
        return True
    if isinstance(domain.shape.type, Set):
        return cells.has_element(frame, domain.held, domain.shape, position)
    assert isinstance(domain.held, Ref)
    place = cells.element(frame, domain.held, domain.shape, position)
    return cells.is_present(frame, place, domain.shape)


def run(frame: Frame, domain: Domain, visit: Visit, *, distinct: bool, unroll: bool) -> None:
    """Call `visit` for every position in order; `distinct`: a sequence's repetitions only once.

    A bag's repetitions are always left out.
    """
    code = frame.code

    def one(position: Operand) -> None:
        skip = code.new_label()
        code.leave_unless(present(frame, domain, position), skip)
        _skip_repetition(frame, domain, position, skip, distinct=distinct)
        visit(position, skip)
        code.label(skip)

    positions = domain.positions
    if positions is not None and (unroll or len(positions) <= 1):
        for position in _in_use(domain, positions):
            one(position)
    elif isinstance(domain.shape.type, Set) and isinstance(domain.held, (int, str)):
        run_bits(frame, domain.held, visit)
    else:
        code.counted(domain.start, domain.stop, one)


def _in_use(domain: Domain, positions: range) -> Iterable[int]:
    """Return the positions that may be there: codes that no value has never are."""
    if isinstance(domain.shape.type, (Sequence, Bag)) or is_dense(domain.item.type):
        return positions
    return (code for code in codes_in_use(domain.item.type) if code in positions)


def run_bits(frame: Frame, mask: Operand, visit: Visit) -> None:
    """Call `visit` for every bit of a mask, from the lowest on."""
    code = frame.code
    rest = code.scratch(1)
    head, inside, end = code.new_label(), code.new_label(), code.new_label()
    code.store(mask, rest)
    code.loop_label(head)
    now = code.load(rest)
    code.fork(code.compare("ne", now, 0), inside, end)
    code.label(inside)
    code.store(code.bits("and", now, code.sub(now, 1)), rest)
    visit(code.lowest_one(now), head)
    code.jump(head)
    code.label(end)


def _skip_repetition(
    frame: Frame, domain: Domain, position: Operand, skip: str, *, distinct: bool
) -> None:
    """Jump to `skip` where the same item stands earlier in a bag, or a distinct sequence."""
    code, shape = frame.code, domain.shape
    if not isinstance(shape.type, (Sequence, Bag)) or position == 0:
        return
    if not isinstance(shape.type, Bag) and not distinct:
        return
    assert isinstance(domain.held, Ref)
    held = domain.held
    here = cells.element(frame, held, shape, position)

    def compare(earlier: Operand) -> None:
        there = cells.element(frame, held, shape, earlier)
        code.leave_if(cells.same_cells(frame, here, there, shape.stride), skip)

    if isinstance(shape.type, Sequence):
        if position != domain.start:
            code.counted(domain.start, position, compare)
    elif isinstance(position, int):
        compare(position - 1)
    else:
        following = code.new_label()
        code.leave_if(code.compare("eq", position, 0), following)
        compare(code.sub(position, 1))
        code.label(following)
