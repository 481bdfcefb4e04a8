"""Who is called by an id's own name in a log, where ids are alike.

Of ids that are alike, and that a state does not hold, one step stands for those of all. So one may
have been taken before a log names it: who that was is said by the name, and open until then.
"""

from __future__ import annotations

from typing import Any

from checker.conformance.log import Event
from checker.conformance.matching import Held, Matcher, Names


class Called:
    """Names by which a log may call ids that are alike as the model does."""

    def __init__(self, matcher: Matcher) -> None:
        self.matcher = matcher
        self.own = tuple(one for one in matcher.declared if one[0] in matcher.alike)
        self._last: tuple[Event, tuple[tuple[str, str], ...]] | None = None

    def by(self, event: Event) -> tuple[tuple[str, str], ...]:
        """Return the types and own names of ids that a line may call so."""
        if not self.own:
            return ()
        if self._last is None or self._last[0] is not event:
            words = words_of([event.arguments, event.answer, event.fields])
            self._last = event, tuple(one for one in self.own if one[1] in words)
        return self._last[1]

    def ways(self, names: Names, event: Event, held: Held) -> list[Names]:
        """Return what names may be once a line has called ids by their own names.

        Each may be one without a name that is held, or else one that the state does not hold.
        """
        known = {(kind, outside) for kind, outside, _ in names}
        ways = [names]
        for kind, word in self.by(event):
            if (kind, word) not in known:
                ways = [
                    tuple(sorted((*way, (kind, word, member)))) if member else way
                    for way in ways
                    for member in self._who(kind, word, way, held)
                ]
        return ways

    def _who(self, kind: str, word: str, names: Names, held: Held) -> list[str]:
        bound = {inside for name, _, inside in names if name == kind}
        known = sorted(one for name, one in held if name == kind and one not in bound)
        new = self.matcher.open(kind, names, held)
        return [*known, *([word] if word in new else new[:1])] or [""]

    def kept(self, names: Names, held: Held) -> frozenset[str]:
        """Return the types whose ids keep their own names, though the state does not hold them.

        As long as others without a name are held: who has been called by its own name is none of
        these.
        """
        kinds = {kind for kind, outside, _ in names if (kind, outside) in self.own}
        if not kinds:
            return frozenset()
        bound = {(kind, inside) for kind, _, inside in names}
        return frozenset(kind for kind, one in held if kind in kinds and (kind, one) not in bound)


def words_of(value: Any) -> set[str]:
    """Return the texts that stand in data."""
    match value:
        case str():
            return {value}
        case list():
            return {word for item in value for word in words_of(item)}
        case dict():
            return {word for key, item in value.items() for word in {key, *words_of(item)}}
    return set()
