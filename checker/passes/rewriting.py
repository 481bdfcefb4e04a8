"""Terms made from terms: rebuilt part by part, compared, and with `next` moved to what is read."""

from __future__ import annotations

from collections.abc import Mapping

from checker.machine import terms
from checker.machine.terms import Term
from checker.machine.types import Bool, Type
from checker.machine.walk import plain, rebuild, terms_inside, walk


def advanced(term: Term) -> Term:
    """Return the term of the same meaning in which only what is read stands under `next`."""
    return ahead(term.item) if isinstance(term, terms.Next) else rebuild(term, advanced)


def ahead(term: Term) -> Term:
    """Return what `next(term)` means, as `advanced` does."""
    match term:
        case terms.Read():
            return terms.Next(term, term.type, term.span)
        case terms.Next(item, _, _):
            return ahead(item)
    return rebuild(term, ahead)


class Ahead:
    """What advanced terms read in the next state; of each part it is worked out once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Term, frozenset[str]]] = {}

    def reads(self, term: Term) -> frozenset[str]:
        """Return the variables that a term reads in the next state."""
        known = self._known.get(id(term))
        if known is None:
            known = self._known[id(term)] = (term, self._reads(term))
        return known[1]

    def _reads(self, term: Term) -> frozenset[str]:
        match term:
            case terms.Next(terms.Read(variable, _, _), _, _):
                return frozenset({variable})
        return frozenset[str]().union(*map(self.reads, terms_inside(term)))

    def staying(self, term: Term, variables: frozenset[str]) -> Term:
        """Return a term as it is on steps that leave these variables as they are."""
        if variables.isdisjoint(self.reads(term)):
            return term
        match term:
            case terms.Next(terms.Read() as read, _, _):
                return read
        return rebuild(term, lambda part: self.staying(part, variables))


def read_ahead(term: Term) -> frozenset[str]:
    """Return the variables that an advanced term reads in the next state."""
    return Ahead().reads(term)


def conjunction(items: tuple[Term, ...]) -> Term:
    """Return that all of some conditions hold, left to right."""
    return items[0] if len(items) == 1 else terms.And(items, items[0].span)


def names_rows(term: Term) -> bool:
    """Whether a term asks which row made a step."""
    return any(isinstance(node, terms.Ran) for node in walk(term))


def naming_rows(term: Term) -> frozenset[int]:
    """Return the identities of the parts of a term, itself included, that name rows."""
    found: set[int] = set()
    _note_naming(term, found)
    return frozenset(found)


def _note_naming(term: Term, found: set[int]) -> bool:
    names = [_note_naming(part, found) for part in terms_inside(term)]
    if isinstance(term, terms.Ran) or any(names):
        found.add(id(term))
        return True
    return False


BOUND_BY_ROW = "ran "
"""What the names of a row's bindings begin with in `of_row`: no other name holds a space."""

NO_ROW = ""
"""No row's name: `of_row` of it is what a term is on steps of rows that it does not name."""


def of_row(term: Term, row: str, kinds: Mapping[str, Type], naming: frozenset[int]) -> Term:
    """Return an advanced term as it is on steps of a row.

    `kinds` has the types of the row's bindings, which the term then names with BOUND_BY_ROW;
    `naming` are the parts of the term that name rows (`naming_rows`): all others stay.
    """
    if id(term) not in naming:
        return term
    match term:
        case terms.Ran(name, _, span) if name != row:
            return terms.Literal(False, Bool(), span)
        case terms.Ran(_, arguments, span):
            parts = tuple(
                terms.Equal(
                    terms.Local(BOUND_BY_ROW + name, kinds[name], span),
                    of_row(value, row, kinds, naming),
                    span,
                )
                for name, value in arguments
            )
            return terms.And(parts, span) if parts else terms.Literal(True, Bool(), span)
    return rebuild(term, lambda part: of_row(part, row, kinds, naming))


Names = Mapping[str, int]
"""Names bound inside the term at hand, each with a number of its own."""


def alike(left: Term, right: Term) -> bool:
    """Whether two terms are the same but for where they stand and the names they bind."""
    return _alike(left, right, {}, {})


def _alike(left: Term, right: Term, ours: Names, theirs: Names) -> bool:
    if type(left) is not type(right) or left.type != right.type:
        return False
    match left, right:
        case terms.Local(name, _, _), terms.Local(other, _, _):
            known = ours.get(name)
            return known == theirs.get(other) and (known is not None or name == other)
        case terms.Let(name, value, body, _, _), terms.Let(other, given, inside, _, _):
            names = _bound(name, other, ours, theirs)
            return _alike(value, given, ours, theirs) and _alike(body, inside, *names)
        case terms.Fold(), terms.Fold():
            return _alike_folds(left, right, ours, theirs)
        case terms.RecordOf(), terms.RecordOf():
            if [name for name, _ in left.fields] != [name for name, _ in right.fields]:
                return False
        case terms.Ran(), terms.Ran():
            if [name for name, _ in left.arguments] != [name for name, _ in right.arguments]:
                return False
        case terms.Slice(_, start, stop, _, _), terms.Slice(_, begin, end, _, _):
            if (start is None, stop is None) != (begin is None, end is None):
                return False
    if any(getattr(left, name) != getattr(right, name) for name in plain(type(left))):
        return False
    parts, others = list(terms_inside(left)), list(terms_inside(right))
    return len(parts) == len(others) and all(
        _alike(part, other, ours, theirs) for part, other in zip(parts, others, strict=True)
    )


def _alike_folds(left: terms.Fold, right: terms.Fold, ours: Names, theirs: Names) -> bool:
    same = left.operator == right.operator and len(left.generators) == len(right.generators)
    if not same:
        return False
    for one, two in zip(left.generators, right.generators, strict=True):
        if not _alike(one.domain, two.domain, ours, theirs):
            return False
        ours, theirs = _bound(one.name, two.name, ours, theirs)
        if not _both_alike(one.condition, two.condition, ours, theirs):
            return False
    return _alike(left.body, right.body, ours, theirs) and _both_alike(
        left.key, right.key, ours, theirs
    )


def _both_alike(left: Term | None, right: Term | None, ours: Names, theirs: Names) -> bool:
    if left is None or right is None:
        return left is right
    return _alike(left, right, ours, theirs)


def _bound(name: str, other: str, ours: Names, theirs: Names) -> tuple[Names, Names]:
    number = max([*ours.values(), *theirs.values()], default=0) + 1
    return {**ours, name: number}, {**theirs, other: number}
