"""Constants and conversions: what turns a term into one of another type, or refuses to."""

from __future__ import annotations

from checker.elaborate.wrong import Wrong
from checker.machine import terms as t
from checker.machine.relations import INTEGER_LIMIT, NEVER, excess, fits, join, show, variants_of
from checker.machine.types import Bag, Bool, Map, Option, Range, Record, Sequence, Set, Type, Union
from checker.source import Span

Term = t.Term
BOOL = Bool()


# ------------------------------------------------------------------------------- constants


def truth(value: bool, span: Span) -> t.Literal:
    """Return a boolean constant."""
    return t.Literal(value, BOOL, span)


def integer(value: int, span: Span) -> t.Literal:
    """Return an integer constant; its range is itself."""
    if abs(value) > INTEGER_LIMIT:
        raise Wrong(
            "Y307",
            "this number is too large",
            span,
            expected="an integer between -2**62 and 2**62",
            found=f"a number of {value.bit_length()} bits",
        )
    return t.Literal(value, Range(value, value), span)


def exact(term: Term) -> Term:
    """Return an integer constant with the range of itself alone; other terms as they are.

    A conversion gives a constant the range of its place. Whoever computes with the constant must
    not take that range for its value.
    """
    match term:
        case t.Literal(int(value), Range(low, high), span) if low < high:
            return integer(value, span)
        case _:
            return term


def nothing(span: Span) -> t.Literal:
    """Return `none` before its place says of which type."""
    return t.Literal(None, Option(NEVER), span)


def empty(kind: Type, span: Span) -> Term:
    """Return the empty set, map, sequence or bag of `kind`."""
    match kind:
        case Set():
            return t.SetOf((), kind, span)
        case Map(_, _, False):
            return t.MapOf((), kind, span)
        case Sequence() | Bag():
            return t.SequenceOf((), kind, span)
        case Option(item):
            return t.Cast(empty(item, span), kind, span)
        case _:
            raise Wrong("Y301", f"`empty` is no {show(kind)}", span, expected=show(kind))


def is_bare_empty(term: Term) -> bool:
    """Return whether `term` is an `empty` of which nothing is known yet."""
    return isinstance(term, t.SetOf) and term.type == Set(NEVER)


def is_atomic(term: Term) -> bool:
    """Return whether evaluating `term` twice costs nothing and means the same."""
    return isinstance(term, t.Literal | t.Local | t.Read) or is_bare_empty(term)


# ------------------------------------------------------------------------------- coercions


def coerce(term: Term, target: Type) -> Term:
    """Return `term` as a `target`: itself, a folded constant, or under checks (`Cast`)."""
    kind = term.type
    if kind == target:
        return term
    if is_bare_empty(term):
        return empty(target, term.span)
    if not fits(kind, target):
        raise _unfit(term, target)
    if isinstance(kind, Option) and isinstance(term, t.Literal) and term.value is not None:
        return coerce(t.Literal(term.value, kind.item, term.span), target)
    if isinstance(target, Option):
        if not isinstance(kind, Option):
            return _lift(coerce(term, target.item), target)
        if isinstance(term, t.Literal):
            return t.Literal(None, target, term.span)
    elif isinstance(kind, Option):
        return coerce(t.Cast(term, kind.item, term.span), target)
    return _inside(term, target)


def _lift(term: Term, target: Option) -> Term:
    if isinstance(term, t.Literal):
        return t.Literal(term.value, target, term.span)
    return t.Cast(term, target, term.span)


def _inside(term: Term, target: Type) -> Term:
    """Push the coercion into what builds the value, where that is visible."""
    match term, target:
        case t.Literal(value, _, span), Range(low, high) if isinstance(value, int):
            if not low <= value <= high:
                raise _unfit(term, target)
            return t.Literal(value, target, span)
        case t.Choose(condition, then, otherwise, _, span), _:
            return t.Choose(
                condition, coerce(then, target), coerce(otherwise, target), target, span
            )
        case t.Let(name, value, body, _, span), _:
            return t.Let(name, value, coerce(body, target), target, span)
        case t.RecordOf(name, _, _, _), Record() | Union():
            return _record(term, name, target)
        case t.SetOf(items, _, span), Set(item):
            return t.SetOf(tuple(coerce(part, item) for part in items), target, span)
        case t.SequenceOf(items, _, span), Sequence(item, capacity) | Bag(item, capacity) if (
            len(items) <= capacity
        ):
            return t.SequenceOf(tuple(coerce(part, item) for part in items), target, span)
        case t.MapOf(pairs, Map(_, _, total), span), Map(key, value, wanted) if total == wanted:
            cast = tuple((coerce(k, key), coerce(v, value)) for k, v in pairs)
            return t.MapOf(cast, target, span)
        case t.Fold("set", generators, body, _, _, span), Set(item):
            return t.Fold("set", generators, coerce(body, item), None, target, span)
        case _, Union(_, variants) if isinstance(term.type, Record):
            variant = next(one for one in variants if one.name == term.type.name)
            inner = term if term.type == variant else t.Cast(term, variant, term.span)
            return t.Cast(inner, target, term.span)
        case _:
            return t.Cast(term, target, term.span)


def _record(term: t.RecordOf, name: str, target: Record | Union) -> Term:
    variant = next((one for one in variants_of(target) if one.name == name), None)
    if variant is None:
        raise _unfit(term, target)
    kinds = dict(variant.fields)
    fields = tuple((field, coerce(value, kinds[field])) for field, value in term.fields)
    return t.RecordOf(name, fields, target, term.span)


def _unfit(term: Term, target: Type) -> Wrong:
    found = show(term.type)
    if isinstance(term, t.Literal):
        found = "none" if term.value is None else show_literal(term)
    kind = kind_named(term)
    return Wrong(
        "Y301",
        f"a value of {show(term.type)} can never be one of {show(target)}",
        term.span,
        expected=show(target),
        found=found,
        help=None if kind is None or not fits(kind, target) else _message(kind),
    )


def kind_named(term: Term) -> Record | None:
    """Return the kind of message or record whose name alone `term` is, None of other terms."""
    if isinstance(term, t.Everything) and isinstance(term.type, Set):
        item = term.type.item
        return item if isinstance(item, Record) else None
    return None


def _message(kind: Record) -> str:
    """Return the help on the name of a kind that stands for one message or record of it."""
    shape = f"{kind.name}({', '.join(name for name, _ in kind.fields)})"
    return f"`{kind.name}` alone is the set of its values: write {shape}"


def show_literal(term: t.Literal) -> str:
    """Return a constant as the language writes it."""
    if isinstance(term.value, bool):
        return "true" if term.value else "false"
    return "none" if term.value is None else str(term.value)


def common(left: Term, right: Term, span: Span, what: str, advice: str | None = None) -> Type:
    """Return the type both terms convert to without a check."""
    kind = join(left.type, right.type)
    if kind is None:
        raise Wrong(
            "Y303",
            f"{what} {show(left.type)} and {show(right.type)}: they have no values in common",
            span,
            expected=show(left.type),
            found=show(right.type),
            help=advice,
        )
    return kind


def limited(kind: Type, span: Span, advice: str = "make the type smaller") -> Type:
    """Return `kind` where it keeps the limits of the language (Y306)."""
    found = excess(kind)
    if found is not None:
        raise Wrong("Y306", found, span, help=advice)
    return kind


def unwrapped(term: Term) -> Term:
    """Return a term of an optional type as one of its item (E502 if none)."""
    if isinstance(term.type, Option):
        if term.type.item == NEVER:
            raise Wrong("Y301", "a value is needed here", term.span, found="none")
        return exact(coerce(term, term.type.item))
    return exact(term)
