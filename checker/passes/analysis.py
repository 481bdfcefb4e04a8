"""What can be said of a term beforehand: can it fail, how long is it, what does it read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from checker.machine import terms
from checker.machine.certain import fails_alone, fails_in
from checker.machine.relations import always_fits, bare, variants_of
from checker.machine.terms import Term
from checker.machine.types import (
    Bag,
    Id,
    Map,
    Record,
    Sequence,
    Set,
    Type,
    Union,
    cardinality,
)
from checker.machine.walk import terms_inside

Path = tuple[object, ...]
"""A part of a local or of the state, as what leads to it: names, keys, fields."""

Facts = frozenset[tuple[Path, str]]
"""Parts whose message kind is known: (path, variant); options known to hold something, keys known
to be in a map."""

NO_FACTS: Facts = frozenset()


def _scoped(term: Term, facts: Facts) -> Iterator[tuple[Term, Facts]]:
    """Yield the terms directly inside a term, each with what is known where it is evaluated."""
    match term:
        case terms.And(items, _):
            for item in items:
                yield item, facts
                facts |= learned(item)
        case terms.Implies(left, right, _):
            yield left, facts
            yield right, facts | learned(left)
        case terms.Choose(condition, then, otherwise, _, _):
            yield condition, facts
            yield then, facts | learned(condition)
            yield otherwise, facts
        case terms.Let(name, value, body, _, _):
            yield value, facts
            yield body, without(facts, name)
        case terms.Fold(_, generators, body, key, _, _):
            for generator in generators:
                yield generator.domain, facts
                name = generator.name
                facts = without(facts, name) | _key_of(generator.domain, (name,))
                if generator.condition is not None:
                    yield generator.condition, facts
                    facts |= learned(generator.condition)
            yield body, facts
            if key is not None:
                yield key, facts
        case terms.Next(item, _, _):
            yield item, without(facts, _STATE)
        case _:
            for child in terms_inside(term):
                yield child, facts


def learned(term: Term) -> Facts:
    """Return what the truth of a term says of kinds of messages, of options, of keys of maps."""
    match term:
        case terms.IsVariant(item, variant, _):
            path = path_of(item)
            return frozenset({(path, variant)}) if path is not None else NO_FACTS
        case terms.Not(terms.IsNone(item, _, _), _, _):
            path = path_of(item)
            return frozenset({((*path, _SOME), "")}) if path is not None else NO_FACTS
        case terms.Contains(item, collection, _, _):
            return _key_of(collection, path_of(item))
        case terms.And(items, _):
            return NO_FACTS.union(*(learned(item) for item in items))
    return NO_FACTS


def _key_of(collection: Term, place: Path | None) -> Facts:
    """Return that what has the path `place` is a key, where the collection is a map."""
    path = path_of(collection) if isinstance(collection.type, Map) else None
    if path is None or place is None:
        return NO_FACTS
    return frozenset({((*path, _AT, *place, _END, _THERE), "")})


def path_of(term: Term) -> Path | None:
    """Return the path of a part that two terms may mean alike, None for any other term."""
    match term:
        case terms.Local(name, _, _):
            return (name,)
        case terms.Read(variable, _, _):
            return (_STATE, variable)
        case terms.Next(terms.Read(variable, _, _), _, _):
            return (_NEXT, variable)
        case terms.Literal(value, _, _):
            return (_LITERAL, value)
        case terms.Field(item, name, _, _):
            path = path_of(item)
            return None if path is None else (*path, _FIELD, name)
        case terms.At(item, key, _, _):
            path, place = path_of(item), path_of(key)
            return None if path is None or place is None else (*path, _AT, *place, _END)
    return None


_STATE, _NEXT, _LITERAL, _FIELD, _AT, _END, _THERE, _SOME = (object() for _ in range(8))


def without(facts: Facts, name: object) -> Facts:
    """Return the facts whose paths do not mention a name that means something else now."""
    return frozenset(fact for fact in facts if name not in fact[0]) if facts else facts


class Analysis:
    """Answers about terms, each worked out once. Terms are told apart by identity."""

    def __init__(self) -> None:
        self._fails: dict[tuple[int, Facts], bool] = {}
        self._cost: dict[int, int] = {}
        self._names: dict[int, frozenset[str]] = {}
        self._reads: dict[int, frozenset[str]] = {}
        self._keep: list[Term] = []

    @property
    def size(self) -> int:
        """How many answers are kept."""
        return len(self._keep)

    def may_fail(self, term: Term, facts: Facts = NO_FACTS) -> bool:
        """Whether evaluating `term` may end in an evaluation error."""
        key = (id(term), facts)
        known = self._fails.get(key)
        if known is None:
            self._keep.append(term)
            known = _fails_itself(term, facts) or any(
                self.may_fail(child, known_there) for child, known_there in _scoped(term, facts)
            )
            self._fails[key] = known
        return known

    def cost(self, term: Term) -> int:
        """Return about how many operations evaluating `term` writes."""
        known = self._cost.get(id(term))
        if known is None:
            self._keep.append(term)
            inside = sum([self.cost(child) for child in terms_inside(term)])
            known = self._cost[id(term)] = 1 + inside * _repetitions(term) + _own_cost(term)
        return known

    def names(self, term: Term) -> frozenset[str]:
        """Return the locals mentioned in `term`, those it binds itself included."""
        known = self._names.get(id(term))
        if known is None:
            self._keep.append(term)
            if isinstance(term, terms.Local):
                known = frozenset({term.name})
            else:
                known = _union([self.names(child) for child in terms_inside(term)])
            self._names[id(term)] = known
        return known

    def reads(self, term: Term) -> frozenset[str]:
        """Return the state variables read in `term`, in the next state too."""
        known = self._reads.get(id(term))
        if known is None:
            self._keep.append(term)
            if isinstance(term, terms.Read):
                known = frozenset({term.variable})
            else:
                known = _union([self.reads(child) for child in terms_inside(term)])
            self._reads[id(term)] = known
        return known


def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    """Return the union of sets; one of them, where it holds all others."""
    found = frozenset[str]()
    for one in sets:
        if one and not one <= found:
            found = one | found if found else one
    return found


_SIZE_MAX = 300_000
_shared = Analysis()


def shared_analysis() -> Analysis:
    """Return answers that other machines have asked for, too: machines share terms."""
    global _shared  # noqa: PLW0603 (a new one, so that no machine loses its own)
    if _shared.size > _SIZE_MAX:
        _shared = Analysis()
    return _shared


UNROLLED_DOMAIN = 8
"""Domains of at most this many values are written value by value, where the body is short."""


def _repetitions(term: Term) -> int:
    if not isinstance(term, terms.Fold):
        return 1
    product = 1
    for generator in term.generators:
        count = domain_size(generator.domain.type)
        product *= count if count <= UNROLLED_DOMAIN else 1
    return product


def _own_cost(term: Term) -> int:
    match term:
        case terms.Cast(item, kind, _):
            return 0 if item.type == kind else 3
        case terms.Equal(left, _, _) if isinstance(left.type, (Map, Sequence, Bag)):
            return 8
        case terms.Field(item, _, _, _) if isinstance(item.type, Union):
            return 4 * len(item.type.variants)
        case terms.At() | terms.Contains() | terms.Length():
            return 3
        case terms.Fold():
            return 6
    return 0


def domain_size(kind: Type) -> int:
    """Return how many positions a collection of this type has."""
    match kind:
        case Set(item):
            return cardinality(item)
        case Map(key, _, _):
            return cardinality(key)
        case Sequence(_, capacity) | Bag(_, capacity):
            return capacity
    return 1


def _fails_itself(term: Term, facts: Facts) -> bool:
    match term:
        case terms.Cast(item, kind, _) if facts and _is_known(item, _SOME, facts):
            return not always_fits(bare(item.type), kind)
        case terms.Field(item) | terms.With(item) if facts:
            return fails_in(term, _possible(item, facts))
        case terms.At(item) if facts and isinstance(item.type, Map):
            # What was found to hold something is there; what is there may hold nothing.
            there = _is_known(term, _THERE, facts) or _is_known(term, _SOME, facts)
            return not there and fails_alone(term)
    return fails_alone(term)


def _is_known(item: Term, what: object, facts: Facts) -> bool:
    path = path_of(item)
    return path is not None and ((*path, what), "") in facts


def _possible(item: Term, facts: Facts) -> list[Record]:
    """Return the record shapes that a value may have, as far as is known."""
    path = path_of(item)
    known = None if path is None else dict(facts).get(path)
    return [one for one in variants_of(item.type) if known is None or one.name == known]


def mentions_id(kind: Type, wanted: Id) -> bool:
    """Whether ids of `wanted` may occur in a value of `kind`; keys of total maps do not count."""
    match kind:
        case Id(name, _, _):
            return name == wanted.name
        case Map(key, held, total):
            return (not total and mentions_id(key, wanted)) or mentions_id(held, wanted)
        case Record(_, parts):
            return any(mentions_id(part, wanted) for _, part in parts)
        case Union(_, variants):
            return any(mentions_id(variant, wanted) for variant in variants)
        case _:
            item = getattr(kind, "item", None)
            return item is not None and mentions_id(item, wanted)
