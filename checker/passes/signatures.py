"""Signatures: a number for each kind of term that is the same but for where it stands.

Terms with the same number have the same value wherever what they read, and the locals that they
mention, are the same. Names that a term binds itself make no difference (de Bruijn's indices).
"""

from __future__ import annotations

from typing import Any

from checker.machine import terms
from checker.machine.terms import Term
from checker.machine.types import Type
from checker.machine.walk import plain, terms_inside
from checker.passes.analysis import Analysis, shared_analysis

_Bound = tuple[str, ...]
"""Names that are bound around a term, the nearest first."""


class Signatures:
    """The signatures of terms, each worked out once. Terms are told apart by identity."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._known: dict[int, tuple[Term, int]] = {}
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._types: dict[int, tuple[Type, int]] = {}
        self._kinds: dict[Type, int] = {}
        self._ahead: dict[int, tuple[Term, bool]] = {}

    @property
    def size(self) -> int:
        """How many answers are kept."""
        return len(self._known)

    def of(self, term: Term) -> int:
        """Return the number of a term."""
        return self._of(term, ())

    def looks_ahead(self, term: Term) -> bool:
        """Whether a term reads something of the next state."""
        known = self._ahead.get(id(term))
        if known is None:
            ahead = isinstance(term, terms.Next) or any(map(self.looks_ahead, terms_inside(term)))
            known = self._ahead[id(term)] = (term, ahead)
        return known[1]

    def _of(self, term: Term, bound: _Bound) -> int:
        by_itself = not bound or set(bound).isdisjoint(self._analysis.names(term))
        if by_itself:
            known = self._known.get(id(term))
            if known is not None:
                return known[1]
            bound = ()
        key = (type(term), self._type(term.type), *self._parts(term, bound))
        number = self._numbers.setdefault(key, len(self._numbers))
        if by_itself:
            self._known[id(term)] = (term, number)
        return number

    def _type(self, kind: Type) -> int:
        known = self._types.get(id(kind))
        if known is None:
            known = self._types[id(kind)] = (kind, self._kinds.setdefault(kind, len(self._kinds)))
        return known[1]

    def _parts(self, term: Term, bound: _Bound) -> tuple[Any, ...]:
        match term:
            case terms.Local(name, _, _):
                return (bound.index(name) if name in bound else name,)
            case terms.Let(name, value, body, _, _):
                return self._of(value, bound), self._of(body, (name, *bound))
            case terms.Fold(operator, generators, body, key, _, _):
                parts: list[Any] = [operator]
                for generator in generators:
                    parts.append(self._of(generator.domain, bound))
                    bound = (generator.name, *bound)
                    parts.append(self._maybe(generator.condition, bound))
                return (*parts, self._of(body, bound), self._maybe(key, bound))
            case terms.RecordOf(_, fields, _, _):
                names = tuple(name for name, _ in fields)
                return (term.name, names, *(self._of(value, bound) for _, value in fields))
            case terms.Slice(item, start, stop, _, _):
                return self._of(item, bound), self._maybe(start, bound), self._maybe(stop, bound)
            case terms.Leads() | terms.Ran():
                return (object(),)
        said = [getattr(term, name) for name in plain(type(term))]
        return (*said, *[self._of(part, bound) for part in terms_inside(term)])

    def _maybe(self, term: Term | None, bound: _Bound) -> int | None:
        return None if term is None else self._of(term, bound)


_SIZE_MAX = 400_000
_shared = Signatures(shared_analysis())


def shared_signatures() -> Signatures:
    """Return what other machines have asked for, too: machines share terms."""
    global _shared  # noqa: PLW0603 (a new one, so that no machine loses its own)
    if _shared.size > _SIZE_MAX:
        _shared = Signatures(shared_analysis())
    return _shared
