"""Which terms always have a value, so that leaving them out loses no evaluation error."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from checker.machine import terms as t
from checker.machine.relations import always_fits, bound, variants_of
from checker.machine.types import Bool, Map, Range, Record
from checker.machine.walk import walk

Term = t.Term


def certain(term: Term) -> bool:
    """Return whether evaluating `term` never ends in an evaluation error."""
    return not any(fails_alone(node) for node in walk(term))


def fails_alone(term: object) -> bool:
    """Return whether evaluating `term` may fail although everything inside it has a value."""
    match term:
        case t.Cast(item, kind, _):
            return not always_fits(item.type, kind)
        case t.Arithmetic(operator, _, right, _, _) if operator in {"//", "%"}:
            return not isinstance(right.type, Range) or right.type.low <= 0 <= right.type.high
        case t.Field(item) | t.With(item):
            return fails_in(term, variants_of(item.type))
        case t.At(item, key, _, _):
            kind = item.type
            total = isinstance(kind, Map) and kind.total and always_fits(key.type, kind.key)
            return not total
        case t.MapOf(_, kind, _):
            return isinstance(kind, Map) and kind.total
        case t.SequenceOf(items, kind, _):
            return len(items) > bound(kind)
        case t.Concatenate(left, right, kind, _):
            return bound(left.type) + bound(right.type) > bound(kind)
        case t.Slice(_, start, stop, _, _):
            return any(_may_be_negative(end) for end in (start, stop))
        case t.Fold(operator, generators, _, _, kind, _):
            total = isinstance(kind, Map) and kind.total
            most = prod(bound(generator.domain.type) for generator in generators)
            full = operator == "sequence" and most > bound(kind)
            lacking = operator == "map" and total and not _runs_over_all_keys(term)
            return operator in {"min", "max"} or full or lacking
    return False


def any_up_to(generators: tuple[t.Generator, ...], side: Term, end: Term) -> Term:
    """Return whether `side` holds of any value that an `all` or `any` looks at.

    It looks no further than the first value of which `end` holds, and what is behind that may fail.
    So where something may fail that value ends the question as well, with yes.
    """
    plain = t.Fold("any", generators, side, None, Bool(), side.span)
    if certain(plain):
        return plain
    return t.Fold("any", generators, t.Or((side, end), side.span), None, Bool(), side.span)


def _runs_over_all_keys(term: t.Fold) -> bool:
    """Whether a comprehension of a map is `{k: ... for k in K}` with all values of the key type."""
    match term.generators, term.key, term.type:
        case (t.Generator(name, t.Everything(kind), None),), t.Local(key), Map(wanted):
            return name == key and kind.item == wanted
    return False


def fails_in(term: t.Field | t.With, variants: Sequence[Record]) -> bool:
    """Return whether taking or replacing a field may fail in a value of one of `variants`.

    A variant may lack the field, or have one of its own type by that name.
    """
    kinds = [dict(variant.fields).get(term.name) for variant in variants]
    if isinstance(term, t.Field):
        return not kinds or any(kind is None or not always_fits(kind, term.type) for kind in kinds)
    given = term.value.type
    return not kinds or any(kind is None or not always_fits(given, kind) for kind in kinds)


def _may_be_negative(end: Term | None) -> bool:
    return end is not None and (not isinstance(end.type, Range) or end.type.low < 0)
