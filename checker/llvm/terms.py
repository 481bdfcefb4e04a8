"""Terms as code: names, arithmetic, logic, choices.

Every function here writes the code of one kind of term and returns its value. Elements and fields
are in `parts`, sets and maps in `collections`, sequences and bags in `rows`, comprehensions in
`folds`; `evaluate` finds the function for a term.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from checker.layout.cells import cells_of
from checker.layout.shape import Shape
from checker.llvm import cells, collections, folds, functions, parts, rows
from checker.llvm.code import Flag, Operand, Ref
from checker.llvm.fit import anything, convert, fit
from checker.llvm.frame import Bound, Frame, Value
from checker.machine import terms
from checker.machine.terms import Term
from checker.machine.types import Bool, Range
from checker.semantics.values import code_of

CHEAP = 12
"""Terms that cost at most this much are computed rather than jumped around."""


def evaluate(frame: Frame, term: Term) -> Value:
    """Write the code of `term` and return its value; errors go to `frame.error`."""
    key = _key(frame, term) if type(term) in _REMEMBERED else None
    if key is None:
        return _WRITERS[type(term)](frame, term)
    known = frame.code.recalled(key)
    if known is not None:
        return known
    value = _WRITERS[type(term)](frame, term)
    if not isinstance(value, Ref):
        frame.code.note(key, value)
    return value


_REMEMBERED = frozenset({terms.Fold, terms.Choose})
"""Terms whose value is looked for among those that were written before."""

_SHORT = 12
"""Terms of fewer operations are not: what they are made of is found in any case."""


def _key(frame: Frame, term: Term) -> tuple[object, ...] | None:
    """Return what the value of a term depends on; None if that may change, or is not worth it."""
    signatures, analysis = frame.signatures, frame.analysis
    if signatures is None or analysis.cost(term) < _SHORT or not frame.shapes[term.type].scalar:
        return None
    places = [frame.variables]
    if signatures.looks_ahead(term) and frame.following is not None:
        places.append(frame.following)
    reads = sorted(analysis.reads(term))
    bases = tuple(held[name].base for held in places for name in reads if name in held)
    if not frame.code.frozen.issuperset(bases):
        return None
    locals_: list[object] = []
    for name in sorted(analysis.names(term) & frame.locals.keys()):
        local = frame.locals[name]
        if not isinstance(local, Bound) or isinstance(local.value, Ref):
            return None
        locals_ += [name, local.shape, type(local.value), local.value]
    return signatures.of(term), bases, *locals_


def safe(frame: Frame, term: Term) -> bool:
    """Whether a term can be evaluated where its value may not be wanted: cheap, never failing."""
    return frame.analysis.cost(term) <= CHEAP and not frame.analysis.may_fail(term)


# ---------------------------------------------------------------------------- names and literals


def _literal(frame: Frame, term: terms.Literal) -> Value:
    return literal(frame, term.value, frame.shapes[term.type])


def literal(frame: Frame, value: object, shape: Shape) -> Value:
    """Return a constant."""
    if isinstance(shape.type, Bool):
        return bool(value)
    if shape.scalar:
        return code_of(shape.type, value) + shape.low
    return frame.constants.array(cells_of(shape, value))


def _read(frame: Frame, term: terms.Read) -> Value:
    return cells.load(frame, frame.variables[term.variable], frame.shapes[term.type])


def _local(frame: Frame, term: terms.Local) -> Value:
    known = frame.locals.get(term.name)
    if known is None:  # no path assigns it
        frame.code.jump(frame.error)
        return anything(frame, frame.shapes[term.type])
    value: Value
    if isinstance(known, Bound):
        value = known.value
    elif known.shape.scalar:
        value = cells.value_of(frame, frame.code.load(known.place), known.shape)
    else:
        value = known.place
    return convert(frame, value, known.shape, frame.shapes[term.type])


def _next(frame: Frame, term: terms.Next) -> Value:
    assert frame.following is not None
    now = frame.variables
    frame.variables = frame.following
    try:
        return frame.value(term.item)
    finally:
        frame.variables = now


def _let(frame: Frame, term: terms.Let) -> Value:
    value = frame.value(term.value)
    with frame.bound(term.name, Bound(value, frame.shapes[term.value.type])):
        return frame.value(term.body)


def _cast(frame: Frame, term: terms.Cast) -> Value:
    source, target = frame.shapes[term.item.type], frame.shapes[term.type]
    return convert(frame, frame.value(term.item), source, target)


# --------------------------------------------------------------------------- arithmetic and logic


def _arithmetic(frame: Frame, term: terms.Arithmetic) -> Operand:
    code = frame.code
    left, right = frame.number(term.left), frame.number(term.right)
    match term.operator:
        case "+":
            return code.add(left, right)
        case "-":
            return code.sub(left, right)
        case "*":
            return code.mul(left, right)
    frame.fail_if(code.compare("eq", right, 0))
    quotient, remainder = _floor_division(frame, term, left, right)
    return quotient if term.operator == "//" else remainder


def _floor_division(
    frame: Frame, term: terms.Arithmetic, left: Operand, right: Operand
) -> tuple[Operand, Operand]:
    """Divide towards minus infinity, as Python does; `right` is not 0."""
    code = frame.code
    if right == 0:
        return 0, 0
    if isinstance(left, int) and isinstance(right, int):
        return left // right, left % right
    dividend, divisor = term.left.type, term.right.type
    positive = getattr(dividend, "low", -1) >= 0 and getattr(divisor, "low", -1) >= 0
    if positive and isinstance(right, int):
        return code.divide(left, right), code.remainder(left, right)
    quotient: Operand = code.value(f"sdiv i64 {left}, {right}")
    remainder: Operand = code.sub(left, code.op("mul", quotient, right))
    if positive:
        return quotient, remainder
    # sdiv truncates; one less where a remainder is left that has not the divisor's sign.
    signs = code.bits("xor", remainder, right)
    off = code.both(code.compare("ne", remainder, 0), code.compare("slt", signs, 0))
    return (
        code.sub(quotient, code.number(off)),
        code.add(remainder, code.select(off, right, 0)),
    )


_RELATIONS = {"<": "slt", "<=": "sle", ">": "sgt", ">=": "sge"}


def _compare(frame: Frame, term: terms.Compare) -> Flag:
    left = _rank(frame, term.left)
    return frame.code.compare(_RELATIONS[term.operator], left, _rank(frame, term.right))


def _rank(frame: Frame, term: Term) -> Operand:
    """Return what orders a value: an integer, or a code."""
    return frame.code.number(frame.flag(term)) if _is_bool(term) else frame.number(term)


def _is_bool(term: Term) -> bool:
    return isinstance(term.type, Bool)


def _equal(frame: Frame, term: terms.Equal) -> Flag:
    left, shape = frame.value(term.left), frame.shapes[term.left.type]
    right, other = frame.value(term.right), frame.shapes[term.right.type]
    if isinstance(shape.type, Range) and isinstance(other.type, Range):
        return cells.equal(frame, left, right, shape)
    right, fits = fit(frame, right, other, shape)
    return frame.code.both(fits, cells.equal(frame, left, right, shape))


def _not(frame: Frame, term: terms.Not) -> Flag:
    return frame.code.negate(frame.flag(term.item))


def _and(frame: Frame, term: terms.And) -> Flag:
    return _chain(frame, term.items, ends=False)


def _or(frame: Frame, term: terms.Or) -> Flag:
    return _chain(frame, term.items, ends=True)


def _chain(frame: Frame, items: tuple[Term, ...], *, ends: bool) -> Flag:
    """Write items left to right until one is `ends`; cheap ones that cannot fail without jumps."""
    code = frame.code
    known = dict(frame.facts)
    end = code.new_label()
    incoming: list[tuple[Any, str]] = []
    total: Flag = not ends
    done: list[Term] = []
    for item in items:
        if done and not safe(frame, item):
            total = code.decided(total)
            if total is ends:
                break
            if not isinstance(total, bool):
                incoming.append(code.arriving(ends))
                following = code.new_label()
                code.fork(total, *((end, following) if ends else (following, end)))
                code.label(following)
            for earlier in () if ends else done:
                frame.learn(earlier)
            total = not ends
        value = frame.flag(item)
        total = code.either(total, value) if ends else code.both(total, value)
        done.append(item)
    frame.facts = known
    if not incoming:
        return total
    if code.open:
        incoming.append(code.arriving(total))
    code.label(end)
    return code.phi_flag(incoming)


def _implies(frame: Frame, term: terms.Implies) -> Flag:
    code = frame.code
    left = frame.flag(term.left)
    if left is False:
        return True
    if left is True or safe(frame, term.right):
        return code.either(code.negate(left), frame.flag(term.right))
    return _branches(frame, left, term, term.right, None)  # type: ignore[return-value]


def _choose(frame: Frame, term: terms.Choose) -> Value:
    condition = frame.flag(term.condition)
    target = frame.shapes[term.type]
    if isinstance(condition, bool):
        chosen = term.then if condition else term.otherwise
        return convert(frame, frame.value(chosen), frame.shapes[chosen.type], target)
    if target.scalar and safe(frame, term.then) and safe(frame, term.otherwise):
        then, otherwise = (_branch(frame, part, target) for part in (term.then, term.otherwise))
        if isinstance(term.then.type, Bool):
            return frame.code.select_flag(condition, then, otherwise)  # type: ignore[arg-type]
        return frame.code.select(condition, then, otherwise)  # type: ignore[arg-type]
    return _branches(frame, condition, term, term.then, term.otherwise)


def _branch(frame: Frame, term: Term, target: Shape) -> Value:
    return convert(frame, frame.value(term), frame.shapes[term.type], target)


def _branches(
    frame: Frame,
    condition: Flag,
    term: terms.Choose | terms.Implies,
    then: Term,
    other: Term | None,
) -> Value:
    """Evaluate `then` or `other` (None: true) behind a jump, and join the values."""
    code, target = frame.code, frame.shapes[term.type]
    yes, no, end = code.new_label(), code.new_label(), code.new_label()
    code.fork(condition, yes, no)
    incoming: list[tuple[Any, str]] = []
    for label, part in ((yes, then), (no, other)):
        code.label(label)
        known = dict(frame.facts)
        if part is then:
            frame.learn(term.left if isinstance(term, terms.Implies) else term.condition)
        value = True if part is None else _branch(frame, part, target)
        frame.facts = known
        if isinstance(value, Ref):
            value = code.pointer(value)
        if code.open:
            incoming.append(code.arriving(value))
        code.jump(end)
    code.label(end)
    if not target.scalar:
        return Ref(code.phi_pointer(incoming) if incoming else code.reserve(1).base)
    if isinstance(target.type, Bool):
        return code.phi_flag(incoming)
    return code.phi(incoming)


def _extreme(frame: Frame, term: terms.Extreme) -> Value:
    relation = "slt" if term.operator == "min" else "sgt"
    best = frame.value(term.items[0])
    for item in term.items[1:]:
        value = frame.value(item)
        best = _better(frame, relation, value, best, frame.shapes[term.type])
    return best


def _better(frame: Frame, relation: str, value: Value, best: Value, shape: Shape) -> Value:
    code = frame.code
    if isinstance(shape.type, Bool):
        combine = code.both if relation == "slt" else code.either
        return combine(value, best)  # type: ignore[arg-type]
    assert not isinstance(value, Ref)
    assert not isinstance(best, Ref)
    return code.select(code.compare(relation, value, best), value, best)


_WRITERS: dict[type, Callable[[Frame, Any], Value]] = {
    terms.Literal: _literal,
    terms.Read: _read,
    terms.Local: _local,
    terms.Next: _next,
    terms.Cast: _cast,
    terms.Arithmetic: _arithmetic,
    terms.Compare: _compare,
    terms.Equal: _equal,
    terms.Not: _not,
    terms.And: _and,
    terms.Or: _or,
    terms.Implies: _implies,
    terms.Choose: _choose,
    terms.Let: _let,
    terms.Field: parts.field_of,
    terms.At: parts.at,
    terms.IsNone: parts.is_none,
    terms.IsVariant: parts.is_variant,
    terms.Contains: collections.contains,
    terms.SetOperation: collections.set_operation,
    terms.Subset: collections.subset,
    terms.SetOf: collections.set_of,
    terms.Everything: collections.everything,
    terms.Interval: collections.interval,
    terms.RecordOf: parts.record_of,
    terms.MapOf: collections.map_of,
    terms.SequenceOf: rows.sequence_of,
    terms.Length: collections.length,
    terms.Count: rows.count,
    terms.Keys: collections.keys,
    terms.Concatenate: rows.concatenate,
    terms.Slice: rows.cut,
    terms.With: parts.with_field,
    terms.Extreme: _extreme,
    terms.Apply: functions.apply,
    terms.Fold: folds.fold,
}
