"""Terms made simpler: what is certain beforehand is left out, as far as nothing is that can fail.

A simpler term has the same value, or the same evaluation error, in every state and step.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from checker.machine import terms
from checker.machine.terms import Term
from checker.machine.types import Bool, Range
from checker.machine.walk import rebuild
from checker.passes.analysis import Analysis
from checker.passes.rewriting import alike
from checker.source import Span

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class Simplifier:
    """Makes terms simpler. `members` are the names at hand, each with the domain it runs over.

    What it made of a part it knows, and so do those it makes for what stands inside: terms that
    differ in a few places share all others.
    """

    def __init__(self, analysis: Analysis, members: tuple[tuple[str, Term], ...] = ()) -> None:
        self._analysis = analysis
        self.members = members
        self._made: dict[int, tuple[Term, Term]] = {}
        self._inside: dict[tuple[str, int], Simplifier] = {}

    def simple(self, term: Term) -> Term:
        """Return a simpler term, or the term."""
        if isinstance(term, terms.Literal | terms.Read | terms.Local):
            return term
        known = self._made.get(id(term))
        if known is None:
            known = self._made[id(term)] = (term, self._simpler(term))
        return known[1]

    def _simpler(self, term: Term) -> Term:
        match term:
            case terms.Fold():
                return self._fold(term)
            case terms.Let(name, value, body, _, _):
                inside = self._without(name)
                return self._itself(
                    replace(term, value=self.simple(value), body=inside.simple(body))
                )
        return self._itself(rebuild(term, self.simple))

    def _itself(self, term: Term) -> Term:
        """Return a term whose parts are simple, simpler."""
        match term:
            case terms.And(items, _):
                return self._chain(items, term, ends=False)
            case terms.Or(items, _):
                return self._chain(items, term, ends=True)
            case terms.Not(terms.Literal(value, _, _), span):
                return _known(not value, span)
            case terms.Implies(left, right, span):
                if is_known(left, False) or (is_known(right, True) and self._safe(left)):
                    return _known(True, span)
                return right if is_known(left, True) else term
            case terms.Choose(terms.Literal(value, _, _), then, otherwise, kind, _):
                chosen = then if value else otherwise
                return chosen if chosen.type == kind else term
            case terms.Let(_, value, terms.Literal(bool()) as body) if self._safe(value):
                return body
            case terms.Equal(left, right, span) if self._same(left, right):
                return _known(True, span)
            case terms.Compare(operator, left, right, span) if self._same(left, right):
                return _known(operator in {"<=", ">="}, span)
            case terms.Subset(left, right, strict, span) if self._same(left, right):
                return _known(not strict, span)
            case terms.Contains(terms.Local(name, _, _), collection, span):
                domains = (domain for known, domain in self.members if known == name)
                if any(self._same(domain, collection) for domain in domains):
                    return _known(True, span)
        return term

    def _chain(self, items: Iterable[Term], term: terms.And | terms.Or, *, ends: bool) -> Term:
        kept: list[Term] = []
        for item in items:
            if is_known(item, not ends):
                continue
            kept.append(item)
            if is_known(item, ends):
                break
        if not kept:
            return _known(not ends, term.span)
        shorter = kept[0] if len(kept) == 1 else replace(term, items=tuple(kept))
        certain = is_known(kept[-1], ends) or (not ends and _contradict(kept))
        return _known(ends, term.span) if certain and self._safe(shorter) else shorter

    def _fold(self, term: terms.Fold) -> Term:
        inside = self
        generators = []
        for generator in term.generators:
            domain = inside.simple(generator.domain)
            inside = inside._within(generator.name, domain)
            condition = generator.condition
            if condition is not None:
                condition = inside.simple(condition)
                condition = None if is_known(condition, True) else condition
            generators.append(replace(generator, domain=domain, condition=condition))
        key = None if term.key is None else inside.simple(term.key)
        body = inside.simple(term.body)
        whole = replace(term, generators=tuple(generators), body=body, key=key)
        every = term.operator == "all"
        if term.operator in {"all", "any"} and is_known(body, every) and self._safe(whole):
            return _known(every, term.span)
        return whole

    def _within(self, name: str, domain: Term) -> Simplifier:
        """Return this where `name` runs over a domain."""
        key = (name, id(domain))
        found = self._inside.get(key)
        if found is None:
            found = self._without(name)
            if name not in self._analysis.names(domain):
                found = Simplifier(self._analysis, (*found.members, (name, domain)))
            self._inside[key] = found
        return found

    def _without(self, name: str) -> Simplifier:
        """Return this where `name` means something else: without what mentions it."""
        kept = tuple(
            (known, domain)
            for known, domain in self.members
            if known != name and name not in self._analysis.names(domain)
        )
        return self if len(kept) == len(self.members) else Simplifier(self._analysis, kept)

    def _same(self, left: Term, right: Term) -> bool:
        """Whether two terms have the same value, and always one."""
        return alike(left, right) and self._safe(left)

    def _safe(self, term: Term) -> bool:
        return not self._analysis.may_fail(term)


def is_known(term: Term, value: bool) -> bool:
    """Whether a term is the literal `value`."""
    return isinstance(term, terms.Literal) and term.value is value


def _known(value: bool, span: Span) -> terms.Literal:
    return terms.Literal(value, Bool(), span)


# ------------------------------------------------------------------------------ contradictions


def _contradict(items: list[Term]) -> bool:
    """Whether terms cannot all be true: one negates another, or nothing is left for an item."""
    denied = [item.item for item in items if isinstance(item, terms.Not)]
    if any(alike(item, other) for item in denied for other in items):
        return True
    said = [one for one in map(_values_said, items) if one is not None]
    if any(
        _exclude(one, other) and alike(one[0], other[0])
        for place, one in enumerate(said)
        for other in said[:place]
    ):
        return True
    limits = [limit for limit in map(_limit, items) if limit is not None]
    return any(
        max(low, least) > min(high, most) and alike(one, other)
        for place, (one, low, high) in enumerate(limits)
        for other, least, most in limits[:place]
    )


def _values_said(term: Term) -> tuple[Term, frozenset[object], bool] | None:
    """Return (item, values, whether it is one of them) where a term says that of an item."""
    match term:
        case terms.Equal(terms.Literal(value), item, _) | terms.Equal(
            item, terms.Literal(value), _
        ):
            return item, frozenset({value}), True
        case terms.Contains(item, terms.Literal(frozenset() as values), _, _):
            return item, values, True
        case terms.Not(item, _):
            inner = _values_said(item)
            return None if inner is None else (inner[0], inner[1], not inner[2])
    return None


def _exclude(
    one: tuple[Term, frozenset[object], bool], other: tuple[Term, frozenset[object], bool]
) -> bool:
    """Whether what is said of one item cannot both be true."""
    match one, other:
        case (_, values, True), (_, others, True):
            return values.isdisjoint(others)
        case (_, inside, True), (_, outside, False):
            return inside <= outside
        case (_, outside, False), (_, inside, True):
            return inside <= outside
    return False


_FAR = 1 << 80


def _limit(term: Term) -> tuple[Term, int, int] | None:
    """Return (item, low, high) where a term says that an integer lies between two constants."""
    match term:
        case terms.Equal(item, terms.Literal(int(value), Range(), _), _):
            return item, value, value
        case terms.Compare(_, terms.Literal(), terms.Literal(), _):
            return None
        case terms.Compare(operator, terms.Literal(int(value), Range(), _), item, _):
            return (item, *_between(_MIRRORED[operator], value))
        case terms.Compare(operator, item, terms.Literal(int(value), Range(), _), _):
            return (item, *_between(operator, value))
    return None


def _between(operator: str, value: int) -> tuple[int, int]:
    match operator:
        case "<":
            return -_FAR, value - 1
        case "<=":
            return -_FAR, value
        case ">":
            return value + 1, _FAR
    return value, _FAR
