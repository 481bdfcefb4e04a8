"""Comprehensions as code: generators nested left to right, reduced to one value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from checker.llvm import cells, collections, loops, rows
from checker.llvm.code import Flag, Operand, Ref
from checker.llvm.fit import convert
from checker.llvm.frame import Bound, Frame, Value
from checker.machine import terms
from checker.machine.order import decides_by_name
from checker.machine.terms import Generator, Term
from checker.machine.types import Bool, Sequence, Set
from checker.passes.analysis import UNROLLED_DOMAIN

UNROLLED_COST = 240
"""Comprehensions are written value by value while they stay below this many operations."""

BRANCHLESS_COST = 12
"""Bodies that cost at most this much, and cannot fail, are computed for absent elements too."""


def fold(frame: Frame, term: terms.Fold) -> Value:
    """Write a comprehension."""
    if _branchless(frame, term):
        return _fold_without_jumps(frame, term)
    match term.operator:
        case "all" | "any":
            return _quantifier(frame, term)
        case "sum":
            return _sum(frame, term)
        case "min" | "max":
            return _extreme(frame, term)
        case "set":
            return _set(frame, term)
        case "map":
            return _map(frame, term)
        case "sequence":
            return _sequence(frame, term)


def each(
    frame: Frame,
    generators: tuple[Generator, ...],
    visit: Callable[[], None],
    failed: Ref | None = None,
) -> None:
    """Call `visit` with the names of every combination bound, the last varying fastest.

    Where there is `failed`, an error is noted there and the next combination is tried.
    """
    if not generators:
        visit()
        return
    first, rest = generators[0], generators[1:]
    if _fuses(frame, first.domain):
        _each_fused(frame, first, rest, visit, failed)
        return
    domain = loops.domain_of(frame, first.domain)

    def one(position: Operand, skip: str) -> None:
        value = loops.value_at(frame, domain, position)
        with frame.bound(first.name, Bound(value, domain.item)), _forgiving(frame, failed, skip):
            if first.condition is not None:
                frame.code.leave_unless(frame.flag(first.condition), skip)
                frame.learn(first.condition)
            each(frame, rest, visit, failed)

    unroll = domain.shape.count <= UNROLLED_DOMAIN and frame.unrolling
    loops.run(frame, domain, one, distinct=False, unroll=unroll)


def _fuses(frame: Frame, domain: Term) -> bool:
    """Whether a domain is a sequence that is only made to be run over, and cannot fail."""
    return (
        isinstance(domain, terms.Fold)
        and domain.operator == "sequence"
        and isinstance(domain.type, Sequence)
        and all(generator.name not in frame.locals for generator in domain.generators)
        and not frame.analysis.may_fail(domain)
    )


def _each_fused(
    frame: Frame,
    first: Generator,
    rest: tuple[Generator, ...],
    visit: Callable[[], None],
    failed: Ref | None,
) -> None:
    """As `each` over a comprehension, item by item, without making the sequence."""
    inner = first.domain
    assert isinstance(inner, terms.Fold)
    assert isinstance(inner.type, Sequence)
    item = frame.shapes[inner.type.item]

    def one() -> None:
        value = convert(frame, frame.value(inner.body), frame.shapes[inner.body.type], item)
        skip = frame.code.new_label()
        with frame.bound(first.name, Bound(value, item)), _forgiving(frame, failed, skip):
            if first.condition is not None:
                frame.code.leave_unless(frame.flag(first.condition), skip)
                frame.learn(first.condition)
            each(frame, rest, visit, failed)
        frame.code.label(skip)

    each(frame, inner.generators, one)


@contextmanager
def _forgiving(frame: Frame, failed: Ref | None, skip: str) -> Iterator[None]:
    """Let errors inside be noted in `failed`, if there is that, and go to `skip`."""
    if failed is None:
        yield
        return
    code = frame.code
    before, frame.error = frame.error, code.new_label()
    yield
    error, frame.error = frame.error, before
    code.jump(skip)
    code.label(error)
    code.store(1, failed)
    code.jump(skip)


def _unrolls(frame: Frame, term: terms.Fold) -> bool:
    return frame.analysis.cost(term) <= UNROLLED_COST


def _nested(
    frame: Frame, term: terms.Fold, visit: Callable[[], None], failed: Ref | None = None
) -> None:
    before = frame.unrolling
    frame.unrolling = before and _unrolls(frame, term)
    try:
        each(frame, term.generators, visit, failed)
    finally:
        frame.unrolling = before


# ----------------------------------------------------------------------------- without any jump


def _branchless(frame: Frame, term: terms.Fold) -> bool:
    """Whether all of a comprehension can be computed, whatever is in its sets, and combined."""
    if term.operator not in {"all", "any", "sum", "set"} or not frame.unrolling:
        return False
    if not frame.shapes[term.type].scalar or not _unrolls(frame, term):
        return False
    parts = [term.body]
    for generator in term.generators:
        kind = generator.domain.type
        if not isinstance(kind, Set) or frame.shapes[kind].count > UNROLLED_DOMAIN:
            return False
        if isinstance(generator.domain, terms.Interval):
            return False
        parts += [generator.condition] if generator.condition is not None else []
        if generator is not term.generators[0]:
            parts.append(generator.domain)
    return all(
        frame.analysis.cost(part) <= BRANCHLESS_COST and not frame.analysis.may_fail(part)
        for part in parts
    )


def _fold_without_jumps(frame: Frame, term: terms.Fold) -> Value:
    code = frame.code
    shape = frame.shapes[term.type]
    flag: Flag = term.operator == "all"
    number: Operand = 0

    def visit(present: Flag) -> None:
        nonlocal flag, number
        match term.operator:
            case "all":
                flag = code.both(flag, code.either(code.negate(present), frame.flag(term.body)))
            case "any":
                flag = code.either(flag, code.both(present, frame.flag(term.body)))
            case "sum":
                number = code.add(number, code.select(present, frame.number(term.body), 0))
            case _:
                index = _element_code(frame, term)
                bit = code.bits("shl", code.number(present), index)
                number = code.bits("or", number, bit)

    _each_known(frame, term.generators, True, visit)
    return flag if isinstance(shape.type, Bool) else number


def _each_known(
    frame: Frame,
    generators: tuple[Generator, ...],
    present: Flag,
    visit: Callable[[Flag], None],
) -> None:
    if not generators:
        visit(present)
        return
    first, rest = generators[0], generators[1:]
    domain = loops.domain_of(frame, first.domain)
    assert domain.positions is not None
    for position in domain.positions:
        here = frame.code.both(present, loops.present(frame, domain, position))
        if here is False:
            continue
        value = loops.value_at(frame, domain, position)
        with frame.bound(first.name, Bound(value, domain.item)):
            if first.condition is not None:
                here = frame.code.both(here, frame.flag(first.condition))
            if here is not False:
                _each_known(frame, rest, here, visit)


# ------------------------------------------------------------------------------- with jumps


def _quantifier(frame: Frame, term: terms.Fold) -> Flag:
    code, hit, end = frame.code, frame.code.new_label(), frame.code.new_label()
    every = term.operator == "all"
    failed = None
    if decides_by_name(term) and frame.analysis.may_fail(term):
        failed = code.scratch(1)
        code.store(0, failed)

    def visit() -> None:
        value = frame.flag(term.body)
        code.leave_if(code.negate(value) if every else value, hit)

    _nested(frame, term, visit, failed)
    if failed is not None and code.open:
        frame.fail_if(code.compare("ne", code.load(failed), 0))
    incoming: list[tuple[Any, str]] = []
    if code.open:
        incoming.append(code.arriving(every))
    code.jump(end)
    code.label(hit)
    if code.open:
        incoming.append(code.arriving(not every))
    code.jump(end)
    code.label(end)
    return code.phi_flag(incoming)


def _sum(frame: Frame, term: terms.Fold) -> Operand:
    code, total = frame.code, frame.code.scratch(1)
    code.store(0, total)

    def visit() -> None:
        code.store(code.add(code.load(total), frame.number(term.body)), total)

    _nested(frame, term, visit)
    return code.load(total)


def _extreme(frame: Frame, term: terms.Fold) -> Value:
    code, best, some = frame.code, frame.code.scratch(1), frame.code.scratch(1)
    shape = frame.shapes[term.type]
    code.store(0, best)
    code.store(0, some)
    relation = "slt" if term.operator == "min" else "sgt"

    def visit() -> None:
        value = convert(frame, frame.value(term.body), frame.shapes[term.body.type], shape)
        number = cells.code_of(frame, value, shape)
        old = code.load(best)
        first = code.compare("eq", code.load(some), 0)
        better = code.either(first, code.compare(relation, number, old))
        code.store(code.select(better, number, old), best)
        code.store(1, some)

    _nested(frame, term, visit)
    frame.fail_if(code.compare("eq", code.load(some), 0))
    return cells.value_of(frame, code.load(best), shape)


def _element_code(frame: Frame, term: terms.Fold) -> Operand:
    shape = frame.shapes[term.type]
    assert shape.item is not None
    value = convert(frame, frame.value(term.body), frame.shapes[term.body.type], shape.item)
    return cells.code_of(frame, value, shape.item)


def _set(frame: Frame, term: terms.Fold) -> Value:
    code, shape = frame.code, frame.shapes[term.type]
    result = cells.empty_set(frame, shape)
    mask = code.scratch(1)
    code.store(0, mask)

    def visit() -> None:
        index = _element_code(frame, term)
        if isinstance(result, Ref):
            cells.add_element(frame, result, shape, index)
        else:
            more = cells.add_element(frame, code.load(mask), shape, index)
            assert not isinstance(more, Ref)
            code.store(more, mask)

    _nested(frame, term, visit)
    return result if isinstance(result, Ref) else code.load(mask)


def _map(frame: Frame, term: terms.Fold) -> Ref:
    shape = frame.shapes[term.type]
    assert term.key is not None
    assert shape.key is not None
    assert shape.item is not None
    key, key_shape, item = term.key, shape.key, shape.item
    result = cells.collection(frame, shape)
    seen = collections.KeysSeen(frame, shape)

    def visit() -> None:
        name = convert(frame, frame.value(key), frame.shapes[key.type], key_shape)
        index = cells.code_of(frame, name, key_shape)
        value = convert(frame, frame.value(term.body), frame.shapes[term.body.type], item)
        cells.store_element(frame, cells.element(frame, result, shape, index), shape, value)
        seen.add(index)

    _nested(frame, term, visit)
    seen.require_all()
    return result


def _sequence(frame: Frame, term: terms.Fold) -> Ref:
    code, shape = frame.code, frame.shapes[term.type]
    assert shape.item is not None
    item = shape.item
    result, at = cells.collection(frame, shape), code.scratch(1)
    code.store(0, at)

    def visit() -> None:
        value = convert(frame, frame.value(term.body), frame.shapes[term.body.type], item)
        now = code.load(at)
        rows.append(frame, result, shape, now, value)
        code.store(code.add(now, 1), at)

    _nested(frame, term, visit)
    return result
