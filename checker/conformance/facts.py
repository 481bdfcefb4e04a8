"""Takes the lines of a log in order, says which of them contradicts a fact.

A fact has one value at a time, and lines alone tell of it, such as which broker is coordinator:
some say that it has a value at some time between a request and its answer, others that it has
another one then, and it changes only where a line lets it. All histories of a fact that the lines
leave open are kept; a line that none of them agrees with contradicts it. Who a line is of may hear
of a change late, but does not go back: of what it says itself there are histories, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from checker.conformance.paths import plain
from checker.conformance.recording import Fact
from checker.frozen import frozen

HISTORIES = 1_000
"""Histories that are kept; where more are open nothing is judged any more."""

STRETCHES = 8
"""Stretches of a history that are remembered, the latest ones."""

EVER = float("inf")


@frozen()
class _Said:
    """What a line says: that a fact has, or has not, a value at some time from `begun` to `at`."""

    line: int
    value: str
    holds: bool
    begun: float
    at: float


@frozen()
class _Stretch:
    """A time in which a fact has one value, or any where it is `open`: from when to when it begins.

    `value` is what it has, by a `line`, None as long as that is not known, but what it has `not`.
    """

    earliest: float
    latest: float
    value: str | None = None
    line: int = 0
    wrong: frozenset[str] = frozenset()
    open: bool = False

    def told(self, said: _Said) -> _Stretch | None:
        """Return it with what a line says of its value; None where it has another one."""
        if self.open:
            return self
        if not said.holds:
            if self.value is None:
                return replace(self, wrong=self.wrong | {said.value})
            return None if self.value == said.value else self
        if self.value is None and said.value not in self.wrong:
            return replace(self, value=said.value, line=said.line)
        return self if self.value == said.value else None


_History = tuple[_Stretch, ...]


class Facts:
    """What the lines so far leave open of each fact: by all lines, and by those of one value."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self.facts = tuple(facts)
        self.changes: dict[Fact, list[tuple[int, float, int, str | None]]] = {}
        self.histories: dict[tuple[Fact, str | None], list[_History]] = {}

    def contradicted(
        self, forms: Iterable[str], line: int, said: dict[str, Any], begun: float, at: float
    ) -> str | None:
        """Take a line of some forms that ends what has begun at a time; say what it contradicts."""
        found = None
        for form in forms:
            for fact in self.facts:
                if form in fact.changes:
                    self._change(fact, line, said, form, at)
                value = plain(fact.value.at(said))
                if value is not None and form in fact.holds | fact.fails:
                    holds = form in fact.holds
                    own = _Said(line, value, holds, begun, at)
                    late = replace(own, begun=begun - fact.known_within)
                    found = found or self._told(fact, None, late) or self._told(fact, value, own)
        return found

    def _change(self, fact: Fact, line: int, said: dict[str, Any], form: str, at: float) -> None:
        change = fact.changes[form]
        to = None if change.to is None else plain(change.to.at(said))
        changed = line, at, change.within, to
        self.changes.setdefault(fact, []).append(changed)
        for which, histories in self.histories.items():
            if which[0] is fact:
                self.histories[which] = _kept(_changed(histories, *changed))

    def _told(self, fact: Fact, whose: str | None, said: _Said) -> str | None:
        """Take what is said of a fact, by all or by lines of one value; say what it contradicts."""
        histories = self.histories.get((fact, whose))
        if histories is None:
            histories = [(_Stretch(-EVER, -EVER),)]
            for changed in self.changes.get(fact, ()):
                histories = _kept(_changed(histories, *changed))
        agreed = [after for history in histories for after in _agreed(history, said)]
        self.histories[fact, whose] = _kept(agreed)
        return _contradiction(fact, histories, said) if histories and not agreed else None


def _kept(histories: Iterable[_History]) -> list[_History]:
    """Return each history once; of too many none, so that nothing is judged any more."""
    kept = list(dict.fromkeys(_latest(history) for history in histories))
    return kept if len(kept) <= HISTORIES else []


def _latest(history: _History) -> _History:
    """Return the latest stretches of a history; what was before is open."""
    if len(history) <= STRETCHES:
        return history
    first, *rest = history[-STRETCHES:]
    return (replace(first, open=True), *rest)


def _changed(
    histories: list[_History], line: int, at: float, within: int, to: str | None
) -> Iterator[_History]:
    """Yield what histories become where a fact may change.

    It changes to a value once or not at all; without a value to any, as often as it likes.
    """
    until = at + within
    for history in histories:
        if to is None:
            begun = tuple(one for one in history if one.earliest < at)
            yield (*begun, _Stretch(at, at, open=True), _Stretch(until, until))
            continue
        yield history
        if history[-1].value != to:
            yield (*history, _Stretch(at, until, to, line))


def _agreed(history: _History, said: _Said) -> Iterator[_History]:
    """Yield a history with each of its stretches as the one in which a line is true."""
    for number, stretch in enumerate(history):
        told = stretch.told(said)
        if told is None:
            continue
        # It has begun by then, and the next one had not begun before.
        told = replace(told, latest=min(told.latest, said.at))
        rest = history[number + 1 :]
        if rest:
            rest = (replace(rest[0], earliest=max(rest[0].earliest, said.begun)), *rest[1:])
        found = _ordered((*history[:number], told, *rest))
        if found is not None:
            yield found


def _ordered(history: _History) -> _History | None:
    """Return a history whose stretches begin one after the other; None where they cannot."""
    found, earliest, latest = list(history), -EVER, EVER
    for number, stretch in enumerate(found):
        earliest = max(earliest, stretch.earliest)
        found[number] = replace(stretch, earliest=earliest)
    for number in reversed(range(len(found))):
        latest = min(latest, found[number].latest)
        found[number] = replace(found[number], latest=latest)
    return tuple(found) if all(one.earliest <= one.latest for one in found) else None


def _contradiction(fact: Fact, histories: list[_History], said: _Said) -> str:
    last = histories[0][-1]
    says = "is" if said.holds else "is not"
    known = "" if last.value is None else f" is {last.value} since line {last.line:,} and"
    return (
        f"the line says that `{fact.name.text}` {says} {said.value}, but it{known} cannot have "
        "changed"
    )
