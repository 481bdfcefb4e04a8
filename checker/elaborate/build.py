"""Constructors of terms that know their types: coercions, constant folding, computed ranges.

Every function raises `Wrong` where its operands cannot be combined.
"""

from __future__ import annotations

from typing import Literal as OneOf

from checker.elaborate import convert
from checker.elaborate.wrong import Wrong
from checker.machine import terms as t
from checker.machine.certain import certain
from checker.machine.relations import (
    INTEGER_LIMIT,
    VALUES_MAX,
    bare,
    item_of,
    join,
    lacking,
    show,
    size,
    variants_of,
)
from checker.machine.types import (
    Bag,
    Bool,
    Enum,
    Id,
    Map,
    Option,
    Range,
    Sequence,
    Set,
    Type,
)
from checker.semantics.values import coded_values
from checker.source import Span

Term = t.Term


# ------------------------------------------------------------------------------- arithmetic


def number(term: Term, what: str) -> Term:
    """Return `term` as an integer, unwrapped where it is optional."""
    kind = bare(term.type)
    if isinstance(kind, Id) and kind.symmetric:
        raise symmetric(kind, term.span, what)
    if not isinstance(kind, Range):
        raise Wrong(
            "Y303",
            f"{what} needs integers",
            term.span,
            expected="an integer",
            found=show(term.type),
        )
    return convert.exact(convert.coerce(term, kind))


def symmetric(kind: Type, span: Span, what: str) -> Wrong:
    """Return the message on an asymmetric use of interchangeable ids."""
    return Wrong(
        "Y330",
        f"{what} needs an order, but the ids of {show(kind)} are interchangeable",
        span,
        found=f"{show(kind)} is declared symmetric",
        help="use equality and sets only, or declare the type without `symmetric: true`",
    )


Operator = OneOf["+", "-", "*", "//", "%"]


def arithmetic(operator: Operator, left: Term, right: Term, span: Span) -> Term:
    """Return integer arithmetic with the range of its results; constants are folded."""
    left, right = number(left, f"`{operator}`"), number(right, f"`{operator}`")
    a, b = left.type, right.type
    assert isinstance(a, Range)
    assert isinstance(b, Range)
    if operator in ("//", "%") and b.low == b.high == 0:
        raise Wrong("Y303", "division by zero", span, expected="a divisor other than 0")
    results = _results(operator, a, b)
    if max(abs(results.low), abs(results.high)) > INTEGER_LIMIT:
        raise Wrong(
            "Y307",
            "the results of this can be too large",
            span,
            expected="integers between -2**62 and 2**62",
            found=f"{show(a)} {operator} {show(b)}",
        )
    if isinstance(left, t.Literal) and isinstance(right, t.Literal):
        return convert.integer(_compute(operator, left.value, right.value), span)
    return t.Arithmetic(operator, left, right, results, span)


def _compute(operator: Operator, left: object, right: object) -> int:
    assert isinstance(left, int)
    assert isinstance(right, int)
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "//":
            return left // right
        case "%":
            return left % right


def _results(operator: Operator, a: Range, b: Range) -> Range:
    match operator:
        case "+":
            return Range(a.low + b.low, a.high + b.high)
        case "-":
            return Range(a.low - b.high, a.high - b.low)
        case "*":
            corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
            return Range(min(corners), max(corners))
        case "//":
            divisors = [y for y in (b.low, b.high, -1, 1) if b.low <= y <= b.high and y != 0]
            corners = [x // y for x in (a.low, a.high) for y in divisors]
            return Range(min(corners), max(corners))
        case "%":
            if a.low >= 0 and b.low > a.high:
                return a
            return Range(min(0, b.low + 1), max(0, b.high - 1))


def compare(operator: str, left: Term, right: Term, span: Span) -> Term:
    """Return an order comparison: of integers, of sets (subset), of one ordered type."""
    left, right = convert.unwrapped(left), convert.unwrapped(right)
    if isinstance(left.type, Set) or isinstance(right.type, Set):
        return _subset(operator, left, right, span)
    kind = convert.common(left, right, span, f"`{operator}` compares")
    if isinstance(kind, Id) and kind.symmetric:
        raise symmetric(kind, span, f"`{operator}`")
    if not isinstance(kind, Range | Enum | Id):
        raise Wrong(
            "Y303",
            f"`{operator}` needs integers, enums, ids or sets",
            span,
            found=f"{show(left.type)} and {show(right.type)}",
        )
    assert operator in ("<", "<=", ">", ">=")
    if isinstance(left, t.Literal) and isinstance(right, t.Literal):
        return _order_of_constants(operator, left, right, kind, span)
    atomic = convert.is_atomic(left) and convert.is_atomic(right)
    if atomic and isinstance(left.type, Range) and isinstance(right.type, Range):
        decided = _decided(operator, left.type, right.type)
        if decided is not None:
            return convert.truth(decided, span)
    return t.Compare(operator, left, right, span)  # type: ignore[arg-type]


def _order_of_constants(
    operator: str, left: t.Literal, right: t.Literal, kind: Range | Enum | Id, span: Span
) -> Term:
    """Return the order of two constants."""
    places: list[int] = []
    for side in (left, right):
        value = side.value
        if isinstance(kind, Range):
            assert isinstance(value, int)
            places.append(value)
        else:
            places.append(kind.members.index(str(value)))
    a, b = (Range(place, place) for place in places)
    return convert.truth(bool(_decided(operator, a, b)), span)


def _decided(operator: str, a: Range, b: Range) -> bool | None:
    """Return what comparing any two values of the ranges gives, None where it depends."""
    if operator in (">", ">="):
        return _decided("<" if operator == ">" else "<=", b, a)
    strict = operator == "<"
    if a.high < b.low or (not strict and a.high == b.low):
        return True
    if a.low > b.high or (strict and a.low == b.high):
        return False
    return None


def _subset(operator: str, left: Term, right: Term, span: Span) -> Term:
    if operator in (">", ">="):
        left, right, operator = right, left, "<" if operator == ">" else "<="
    kind = convert.common(left, right, span, f"`{operator}` compares")
    return t.Subset(convert.coerce(left, kind), convert.coerce(right, kind), operator == "<", span)


# ------------------------------------------------------------------------------------ logic


def boolean(term: Term, what: str) -> Term:
    """Return `term` as a boolean."""
    if not isinstance(bare(term.type), Bool):
        raise Wrong(
            "Y303",
            f"{what} needs a condition",
            term.span,
            expected="bool",
            found=show(term.type),
            help=_for_kind(term, what),
        )
    return convert.coerce(term, convert.BOOL)


def _for_kind(term: Term, what: str) -> str | None:
    """Return the help on the name of a kind that stands for a condition; None of other terms."""
    if not isinstance(term, t.Everything) or not variants_of(term.type.item):
        return None
    name = show(term.type.item)
    asked = f"`{name}` alone is the set of its values: ask `m is {name}` of a message `m`"
    return f"{asked}, or name a union in `types:` and write its name" if what == "`or`" else asked


def is_true(term: Term) -> bool:
    """Return whether `term` is the constant true."""
    return isinstance(term, t.Literal) and term.value is True


def decided(constant: t.Literal, span: Span, *looked_at: Term) -> Term:
    """Return a constant that does not depend on the terms that are `looked_at`.

    Those that may fail are evaluated all the same: an error is never left out.
    """
    result: Term = constant
    for term in reversed(looked_at):
        if not certain(term):
            result = t.Let("unused", term, result, constant.type, span)
    return result


def is_false(term: Term) -> bool:
    """Return whether `term` is the constant false."""
    return isinstance(term, t.Literal) and term.value is False


def conjunction(items: list[Term], span: Span) -> Term:
    """Return the `and` of conditions, constants folded, in order."""
    kept: list[Term] = []
    for item in items:
        for part in item.items if isinstance(item, t.And) else (item,):
            if is_true(part):
                continue
            kept.append(part)
            if is_false(part):
                break
        if kept and is_false(kept[-1]):
            break
    if not kept:
        return convert.truth(True, span)
    return kept[0] if len(kept) == 1 else t.And(tuple(kept), span)


def disjunction(items: list[Term], span: Span) -> Term:
    """Return the `or` of conditions, constants folded, in order."""
    kept: list[Term] = []
    for item in items:
        for part in item.items if isinstance(item, t.Or) else (item,):
            if is_false(part):
                continue
            kept.append(part)
            if is_true(part):
                break
        if kept and is_true(kept[-1]):
            break
    if not kept:
        return convert.truth(False, span)
    return kept[0] if len(kept) == 1 else t.Or(tuple(kept), span)


def negation(item: Term, span: Span) -> Term:
    """Return `not item`."""
    if isinstance(item, t.Literal):
        return convert.truth(item.value is False, span)
    return item.item if isinstance(item, t.Not) else t.Not(item, span)


def choice(condition: Term, then: Term, otherwise: Term, span: Span) -> Term:
    """Return `then if condition else otherwise` in the type both share."""
    kind = convert.common(then, otherwise, span, "a choice between")
    if not convert.is_bare_empty(then) or not convert.is_bare_empty(otherwise):
        then, otherwise = convert.coerce(then, kind), convert.coerce(otherwise, kind)
    if is_true(condition):
        return convert.exact(then)
    if is_false(condition):
        return convert.exact(otherwise)
    return t.Choose(condition, then, otherwise, kind, span)


def equal(left: Term, right: Term, span: Span) -> Term:
    """Return equality; ranges compare as integers, options with none too."""
    kind = convert.common(left, right, span, "`==` compares", _of_kind(left, right))
    for one, other in ((left, right), (right, left)):
        if isinstance(one, t.Literal) and one.value is None:
            return is_none(other, span)
    if not (isinstance(left.type, Range) and isinstance(right.type, Range)):
        left, right = convert.coerce(left, kind), convert.coerce(right, kind)
    elif _apart(left, right):
        return convert.truth(False, span)
    if isinstance(left, t.Literal) and isinstance(right, t.Literal):
        return convert.truth(left.value == right.value, span)
    return t.Equal(left, right, span)


def _of_kind(left: Term, right: Term) -> str | None:
    """Return the help on a message that is compared with the name of a kind; else None."""
    kind = convert.kind_named(right)
    if kind is None or not variants_of(bare(left.type)):
        return None
    name = kind.name
    return f"`{name}` alone is the set of its values: write `is {name}`, or `is not {name}`"


def _apart(left: Term, right: Term) -> bool:
    """Return whether two integers that need no evaluation can never be equal."""
    if not (convert.is_atomic(left) and convert.is_atomic(right)):
        return False
    a, b = left.type, right.type
    return isinstance(a, Range) and isinstance(b, Range) and (a.high < b.low or b.high < a.low)


def is_none(item: Term, span: Span) -> Term:
    """Return `item is none`; a value that is not optional never is."""
    if isinstance(item, t.Literal):
        return convert.truth(item.value is None, span)
    some = isinstance(item, t.Cast) and not isinstance(item.item.type, Option)
    if some or not isinstance(item.type, Option):
        return decided(convert.truth(False, span), span, item)
    return t.IsNone(item, span)


def is_variant(item: Term, name: str, span: Span) -> Term:
    """Return `item is Name` of a record, a union, or an option of one (false for none)."""
    kind = bare(item.type)
    names = [variant.name for variant in variants_of(kind)]
    if not names:
        raise Wrong(
            "Y303",
            f"`is {name}` needs a message",
            span,
            expected="a message",
            found=show(item.type),
        )
    if name not in names:
        return decided(convert.truth(False, span), span, item)
    if len(names) == 1:
        return negation(is_none(item, span), span)
    return t.IsVariant(item, name, span)


# -------------------------------------------------------------------------- parts of values


def field_of(item: Term, name: str, span: Span) -> Term:
    """Return a field of a record or of a union (E504 where its variant lacks it)."""
    item = convert.unwrapped(item)
    if isinstance(item, t.RecordOf):
        for known, value in item.fields:
            if known == name:
                return convert.exact(value)
    kinds = [
        dict(variant.fields)[name]
        for variant in variants_of(item.type)
        if name in dict(variant.fields)
    ]
    if not kinds:
        names = sorted({field for variant in variants_of(item.type) for field, _ in variant.fields})
        raise Wrong(
            "N208",
            lacking(item.type, f"field `{name}`"),
            span,
            expected=", ".join(names) if names else "a record or message",
            found=name,
        )
    kind = kinds[0]
    for other in kinds[1:]:
        both = join(kind, other)
        if both is None:
            raise Wrong(
                "Y303",
                f"the messages of {show(item.type)} have different types of `{name}`",
                span,
                found=f"{show(kind)} and {show(other)}",
                help="take the message by a row of its own kind",
            )
        kind = both
    return t.Field(item, name, kind, span)


def at(item: Term, key: Term, span: Span) -> Term:
    """Return `item[key]` of a map or a sequence."""
    item = convert.unwrapped(item)
    match item.type:
        case Map(wanted, value, _):
            return t.At(item, convert.coerce(key, wanted), value, span)
        case Sequence(kind, _):
            return t.At(item, number(key, "a position"), kind, span)
        case _:
            raise Wrong(
                "Y303",
                "only maps and sequences have `[...]`",
                span,
                expected="a map or a sequence",
                found=show(item.type),
            )


def contains(item: Term, collection: Term, span: Span) -> Term:
    """Return `item in collection`; no check is made that could fail."""
    collection = convert.unwrapped(collection)
    if convert.is_bare_empty(collection):
        return decided(convert.truth(False, span), span, item)
    kind = collection.type
    match kind:
        case Set(inner) | Sequence(inner, _) | Bag(inner, _) | Map(inner, _, _):
            pass
        case _:
            raise Wrong(
                "Y303",
                "`in` needs a set, map, sequence or bag",
                span,
                expected="a collection",
                found=show(kind),
            )
    numbers = isinstance(item.type, Range) and isinstance(inner, Range)
    both = inner if numbers else _type_with(item, inner, kind, span)
    known = _known(collection)
    if isinstance(item, t.Literal) and known is not None:
        return convert.truth(item.value in known, span)
    if numbers:
        return t.Contains(item, collection, span)
    if isinstance(item.type, Option) and not isinstance(inner, Option):
        if isinstance(item, t.Literal) and item.value is None:
            return decided(convert.truth(False, span), span, collection)
        nothing, inside = is_none(item, span), contains(convert.unwrapped(item), collection, span)
        if certain(collection):
            return conjunction([negation(nothing, span), inside], span)
        # What is looked through is evaluated for none, too.
        return choice(nothing, decided(convert.truth(False, span), span, collection), inside, span)
    if isinstance(kind, Map) and both != inner:
        collection = t.Keys(collection, Set(inner), span)
    return t.Contains(convert.coerce(item, both), _widened(collection, both, span), span)


def count(item: Term, collection: Term, span: Span) -> Term:
    """Return how often `item` is in a bag or sequence; no check is made that could fail."""
    kind = collection.type
    assert isinstance(kind, Bag | Sequence)
    often = Range(0, kind.capacity)
    if isinstance(item.type, Range) and isinstance(kind.item, Range):
        return t.Count(item, collection, often, span)
    both = _type_with(item, kind.item, kind, span)
    return t.Count(convert.coerce(item, both), _widened(collection, both, span), often, span)


def _type_with(item: Term, inner: Type, kind: Type, span: Span) -> Type:
    """Return the type that an item is compared by with those of a collection of type `kind`."""
    both = join(item.type, inner)
    if both is None:
        raise Wrong(
            "Y303",
            f"{show(item.type)} is never in {show(kind)}",
            span,
            expected=show(inner),
            found=show(item.type),
            help=_of_kinds(item.type, inner),
        )
    return both


def _widened(collection: Term, item: Type, span: Span) -> Term:
    """Return a collection as one of items of a type that holds all that it may hold."""
    if item_of(collection.type) == item:
        return collection
    advice = "compare it with each of the items: any(x == item for item in items)"
    return convert.coerce(collection, convert.limited(_over(collection.type, item), span, advice))


def _of_kinds(item: Type, inner: Type) -> str | None:
    """Return the help on a message that is looked for among names of kinds; else None."""
    kinds = variants_of(inner.item) if isinstance(inner, Set) else ()
    if not kinds or not variants_of(bare(item)):
        return None
    asked = " or ".join(f"m is {kind.name}" for kind in kinds)
    return f"the name of a kind alone is the set of its values: write {asked}"


def _known(collection: Term) -> list[object] | None:
    """Return the values of a display of constants, None for other collections."""
    if not isinstance(collection, t.SetOf):
        return None
    if not all(isinstance(part, t.Literal) for part in collection.items):
        return None
    return [part.value for part in collection.items if isinstance(part, t.Literal)]


def _over(kind: Type, item: Type) -> Type:
    match kind:
        case Sequence(_, capacity):
            return Sequence(item, capacity)
        case Bag(_, capacity):
            return Bag(item, capacity)
        case _:
            return Set(item)


def length(item: Term, span: Span) -> Term:
    """Return `len(item)` with the range of its values."""
    item = convert.unwrapped(item)
    if convert.is_bare_empty(item):
        return convert.integer(0, span)
    match item:
        case t.Everything(Set(kind), _):
            return convert.integer(len(coded_values(kind)), span)
        case t.Literal(value, _, _) if isinstance(value, tuple | frozenset):
            return convert.integer(len(value), span)
    match item.type:
        case Set(kind):
            return t.Length(item, Range(0, min(VALUES_MAX, size(kind))), span)
        case Map(key, _, total):
            if total:
                return decided(convert.integer(len(coded_values(key)), span), span, item)
            return t.Length(item, Range(0, size(key)), span)
        case Sequence(_, capacity) | Bag(_, capacity):
            return t.Length(item, Range(0, capacity), span)
        case _:
            raise Wrong(
                "Y303",
                "`len` needs a set, map, sequence or bag",
                span,
                expected="a collection",
                found=show(item.type),
            )
