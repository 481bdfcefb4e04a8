"""Step properties as what is left of them on a step that changes little.

Most steps leave alone what a `step` property looks at, and then it is true without being
evaluated: `next(x) >= x` where x stays. Which variables these are is found by simplifying the
property as if they stayed. What is left is in a `Delta`: properties that are asked on the same
steps, and for the same new items.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from checker.frozen import frozen
from checker.machine import terms
from checker.machine.machine import Action, Property
from checker.machine.once import once
from checker.machine.terms import Generator, Term
from checker.machine.walk import names_given, terms_inside, walk
from checker.passes.analysis import Analysis, shared_analysis
from checker.passes.rewriting import (
    NO_ROW,
    Ahead,
    advanced,
    ahead,
    alike,
    conjunction,
    names_rows,
    naming_rows,
    of_row,
    read_ahead,
)
from checker.passes.simplify import Simplifier, is_known
from checker.passes.writes import written_variables

Triggers = tuple[frozenset[str], ...]
"""Sets of variables. A step that leaves all variables of one of them alone is not asked."""


@frozen()
class Delta:
    """What is asked of steps that change some variable of each of `triggers`.

    For every combination of `generators` (there is one if there are none), every condition must
    be true; they stand with the numbers of their properties. A property whose number stands in
    several deltas is violated by the first that is not true, and nothing more is asked for it.
    Steps of `rows` are not asked: what these owe is said by `asked_of`.
    """

    triggers: Triggers
    generators: tuple[Generator, ...]
    conditions: tuple[tuple[int, Term], ...]
    rows: frozenset[str] = frozenset()

    @property
    def fails(self) -> bool:
        """Whether something of it may have no value."""
        analysis = shared_analysis()
        return any(analysis.may_fail(term) for _, term in self.conditions) or any(
            analysis.may_fail(item.domain) for item in self.generators
        )


def deltas(conditions: Iterable[Term], *, shared: bool = False) -> list[Delta]:
    """Return what is left of step properties, whose places are their numbers.

    Those that name rows are left out: they are judged where each row is written. If `shared`, only
    the rows that they name do that, and what is left for all others is here: text that comes once,
    where a machine has a hundred rows, and takes longer to run. Then properties are not taken
    apart either: parts that are passed over on most steps are more text.
    """
    found: list[Delta] = []
    for number, condition in enumerate(conditions):
        if shared or not names_rows(condition):
            _add(found, number, once(_left_whole if shared else _left, condition))
    return found


def _left(condition: Term) -> tuple[Delta, ...]:
    """Return what is left of a step property that names no rows, part by part."""
    simplifier = Simplifier(shared_analysis())
    parts = _by_triggers(simplifier.simple(advanced(condition)), simplifier)
    return tuple(_looping(triggers, part, frozenset()) for triggers, part in parts)


def _left_whole(condition: Term) -> tuple[Delta, ...]:
    """Return what is left of a step property for rows that it does not name."""
    naming = once(_naming, condition)
    simplifier = Simplifier(shared_analysis())
    term = simplifier.simple(advanced(condition)) if naming is None else naming.others
    if is_known(term, True):
        return ()
    rows = frozenset[str]() if naming is None else naming.rows
    return (_looping(_triggers(term, simplifier), term, rows),)


def _looping(triggers: Triggers, term: Term, rows: frozenset[str]) -> Delta:
    """Return what is asked by a term; one that says something of all items runs over these."""
    analysis = shared_analysis()
    generators, rest = _split(_without_old_items(term, analysis), analysis)
    return Delta(triggers, generators, ((0, rest),), rows)


def asked_of(
    actions: Sequence[Action], properties: Sequence[Property], *, shared: bool = False
) -> dict[str, tuple[Delta, ...]]:
    """Return what the steps of each action owe to the step properties that name rows.

    What is true of all steps of the action is left out, and so is what looks at nothing that it
    writes. If `shared`, so is what those that a property does not name owe to it, which is among
    the `deltas` then.
    """
    owed: dict[str, list[Delta]] = {action.name: [] for action in actions}
    written = {action.name: once(_written, action) for action in actions}
    for number, item in enumerate(properties):
        naming = once(_naming, item.condition)
        if naming is None:
            continue
        for action in actions:
            named = action.name in naming.rows
            if shared and not named:
                continue
            term = naming.of(action) if named else naming.others
            parts = once(_owed_whole if shared else _owed, term)
            _add(owed[action.name], number, parts, written[action.name])
    return {name: tuple(items) for name, items in owed.items()}


def _written(action: Action) -> frozenset[str]:
    return frozenset(written_variables(action.body))


def _owed(term: Term) -> tuple[Delta, ...]:
    """Return the parts of what the steps of an action owe."""
    parts = _by_triggers(term, Simplifier(shared_analysis()))
    return tuple(Delta(triggers, (), ((0, part),)) for triggers, part in parts)


def _owed_whole(term: Term) -> tuple[Delta, ...]:
    return () if is_known(term, True) else (Delta((), (), ((0, term),)),)


class _Naming:
    """A condition that names rows, and what each row owes to it.

    `rows` are those that it names, `others` is what all others owe.
    """

    def __init__(self, condition: Term) -> None:
        self._condition = advanced(condition)
        self._parts = naming_rows(self._condition)
        self._owed: dict[int, tuple[Action, Term]] = {}
        found = (node.row for node in walk(self._condition) if isinstance(node, terms.Ran))
        self.rows = frozenset(found)
        others = of_row(self._condition, NO_ROW, {}, self._parts)
        self.others = Simplifier(shared_analysis()).simple(others)

    def of(self, action: Action) -> Term:
        """Return what the steps of an action that is named must make true."""
        known = self._owed.get(id(action))
        if known is None:
            here = of_row(self._condition, action.name, action.shown, self._parts)
            simple = Simplifier(shared_analysis()).simple(here)
            known = self._owed[id(action)] = (action, simple)
        return known[1]


def _naming(condition: Term) -> _Naming | None:
    """Return what a step property says of rows, None if it names none."""
    return _Naming(condition) if names_rows(condition) else None


def _add(
    found: list[Delta],
    number: int,
    parts: Sequence[Delta],
    written: frozenset[str] | None = None,
) -> None:
    """Add the parts of property `number` that look at something that is `written`.

    Each to one that is asked on the same steps for the same items if there is one, unless that
    could let an error come before what violates the property, or behind it.
    """
    asked = [
        replace(part, conditions=tuple((number, term) for _, term in part.conditions))
        for part in parts
        if written is None or not any(written.isdisjoint(stay) for stay in part.triggers)
    ]
    movable = len(asked) == 1 or not any(part.fails for part in asked)
    for part in asked:
        place = next((at for at, known in enumerate(found) if _joins(known, part)), None)
        if place is None or not movable:
            found.append(part)
        else:
            known = found[place]
            found[place] = replace(known, conditions=(*known.conditions, *part.conditions))


def _joins(known: Delta, new: Delta) -> bool:
    same = known.triggers == new.triggers and known.rows == new.rows
    return same and _same_generators(known.generators, new.generators)


def _same_generators(left: tuple[Generator, ...], right: tuple[Generator, ...]) -> bool:
    return [item.name for item in left] == [item.name for item in right] and all(
        alike(one.domain, two.domain) for one, two in zip(left, right, strict=True)
    )


# ----------------------------------------------------------------------------------- parts


def _by_triggers(term: Term, simplifier: Simplifier) -> Iterator[tuple[Triggers, Term]]:
    """Yield parts that are all true where `term` is, in the order in which they are evaluated.

    What is said of all items is taken apart only where no part of it could fail by itself: an error
    of the first item comes before what a later one violates, and what an earlier part rules out is
    no error of a later one. Parts with the same triggers stay together.
    """
    match term:
        case terms.And(items, _):
            for item in items:
                yield from _by_triggers(item, simplifier)
            return
        case terms.Fold("all", _, body, None, _, _):
            parts = [(part, replace(term, body=part)) for part in _conjuncts(body)]
            if not any(shared_analysis().may_fail(whole) for _, whole in parts):
                yield from _together(term, parts, simplifier)
                return
    simple = simplifier.simple(term)
    if not is_known(simple, True):
        yield _triggers(simple, simplifier), simple


def _together(
    term: terms.Fold, parts: Sequence[tuple[Term, Term]], simplifier: Simplifier
) -> Iterator[tuple[Triggers, Term]]:
    """Yield what is said of all items by triggers; each part is what is said of one, and of all."""
    found: dict[Triggers, list[Term]] = {}
    for part, whole in parts:
        simple = simplifier.simple(whole)
        if not is_known(simple, True):
            found.setdefault(_triggers(simple, simplifier), []).append(part)
    for triggers, some in found.items():
        yield triggers, simplifier.simple(replace(term, body=_joined(some)))


def _conjuncts(term: Term) -> Iterator[Term]:
    """Yield terms that are all true where `term` is."""
    match term:
        case terms.And(items, _):
            for item in items:
                yield from _conjuncts(item)
        case terms.Implies(left, terms.And(items, _), span):
            for part in items:
                yield terms.Implies(left, part, span)
        case _:
            yield term


def _joined(parts: Sequence[Term]) -> Term:
    """Return that all of these hold; what follows from one premise is said of it once."""
    found: list[Term] = []
    for part in parts:
        last = found[-1] if found else None
        match last, part:
            case terms.Implies(left, before, span), terms.Implies(same, right, _) if left is same:
                both = before.items if isinstance(before, terms.And) else (before,)
                found[-1] = terms.Implies(left, terms.And((*both, right), span), span)
            case _:
                found.append(part)
    return conjunction(tuple(found))


def _triggers(term: Term, simplifier: Simplifier) -> Triggers:
    """Return the sets of variables that make the property true by staying as they are."""
    ahead = Ahead()
    names = ahead.reads(term)
    single = [frozenset({name}) for name in sorted(names)]
    premise = _premise(term)
    some = ahead.reads(premise) if premise is not None else names
    for candidates in (single, [some] if len(some) > 1 else [], [names] if len(names) > 1 else []):
        found = tuple(
            stay
            for stay in candidates
            if is_known(simplifier.simple(ahead.staying(term, stay)), True)
        )
        if found:
            return found
    return ()


def _premise(term: Term) -> Term | None:
    """Return what a term of the form "if this, then that, of all items" begins with."""
    match term:
        case terms.Fold("all", _, body, None, _, _):
            return _premise(body)
        case terms.Implies(left, _, _):
            return left
    return None


# -------------------------------------------------------------------------------- new items


def _split(term: Term, analysis: Analysis) -> tuple[tuple[Generator, ...], Term]:
    """Return the generators of an `all` without the last one's condition, and what is left."""
    match term:
        case terms.Fold("all", generators, body, None, _, span) if not any(
            analysis.may_fail(generator.domain) for generator in generators
        ):
            *others, last = generators
            if any(generator.condition is not None for generator in others):
                return (), term
            if last.condition is not None:
                body = terms.Implies(last.condition, body, span)
            return (*others, replace(last, condition=None)), body
    return (), term


def _without_old_items(term: Term, analysis: Analysis) -> Term:
    """Return an `all` over the next state's items without those that were there already.

    It must say something of new items only: `all(implies(r not in D, ...) for r in next(D))`,
    where D lists what stands at some positions. An item whose position did not change is in D.
    """
    match term:
        case terms.Fold("all", (*others, last), terms.Implies(left, _, _), None, _, _):
            old = _list_left_out(left, last.name)
            harmless = last.condition is None or not analysis.may_fail(last.condition)
            outside = last.name not in analysis.names(last.domain)
            if old is not None and harmless and outside and alike(ahead(old), last.domain):
                domain = _only_changed(last.domain, old, analysis)
                return replace(term, generators=(*others, replace(last, domain=domain)))
    return term


def _list_left_out(premise: Term, name: str) -> terms.Fold | None:
    """Return D where a premise is false, before anything else, for `name` in D."""
    first = premise.items[0] if isinstance(premise, terms.And) else premise
    match first:
        case terms.Not(terms.Contains(terms.Local(item, _, _), terms.Fold() as old, _), _):
            return old if item == name and old.operator == "sequence" else None
    return None


def _only_changed(domain: Term, old: terms.Fold, analysis: Analysis) -> Term:
    """Return the list `domain`, which is `old` in the next state, where positions changed."""
    assert isinstance(domain, terms.Fold)
    last = domain.generators[-1]
    parts = _state_parts((last.condition, domain.body), analysis)
    simple = all(generator.condition is None for generator in domain.generators[:-1]) and not any(
        read_ahead(generator.domain) for generator in domain.generators
    )
    if parts is None or not simple or analysis.may_fail(old):
        return domain
    unequal: list[Term] = [
        terms.Not(terms.Equal(part, _now(part), part.span), part.span) for part in parts
    ]
    changed = unequal[0] if len(unequal) == 1 else terms.Or(tuple(unequal), domain.span)
    given = [] if last.condition is None else [last.condition]
    condition = terms.And((*given, changed), domain.span)
    generators = (*domain.generators[:-1], replace(last, condition=condition))
    return replace(domain, generators=generators)


_PARTS_MAX = 2
"""Parts of the state that are compared to see whether a position changed."""


def _state_parts(items: Iterable[Term | None], analysis: Analysis) -> list[Term] | None:
    """Return the parts of the next state that terms look at; None if these are many or can fail."""
    found: list[Term] = []
    for item in items:
        for part in _paths(item, frozenset(names_given(item))) if item is not None else ():
            if not any(alike(part, known) for known in found):
                found.append(part)
    sound = 0 < len(found) <= _PARTS_MAX and not any(map(analysis.may_fail, found))
    return found if sound else None


def _paths(term: Term, inner: frozenset[str]) -> Iterator[Term]:
    """Yield the largest parts of the next state, by keys that no state changes, in a term.

    `inner` are the names that the term itself gives to values, which mean nothing outside of it:
    such keys are many, so there what holds all of these is one part.
    """
    if _is_path(term, inner):
        yield term
        return
    for part in terms_inside(term):
        yield from _paths(part, inner)


def _is_path(term: Term, inner: frozenset[str]) -> bool:
    match term:
        case terms.Next(terms.Read(), _, _):
            return True
        case terms.At(item, terms.Local(name), _, _):
            return name not in inner and _is_path(item, inner)
        case terms.At(item, terms.Literal(), _, _):
            return _is_path(item, inner)
    return False


def _now(term: Term) -> Term:
    """Return a part of the next state as it is now."""
    parts = Ahead()
    return parts.staying(term, parts.reads(term))
