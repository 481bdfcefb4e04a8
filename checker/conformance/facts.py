"""Takes the lines of a log in order, says which of them contradicts a fact.

A fact has one value at a time, and lines alone tell of it, such as which broker is coordinator:
some say that it has a value at some time between a request and its answer, others that it has
another one then, and it changes only where a line lets it. All histories of a fact that the lines
leave open are kept; a line that none of them agrees with contradicts it. Who a line is of may hear
of a change late, but does not go back: of what it says itself there are histories, too. A fact may
be somebody's, such as which broker a client asks: then each has its own.
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

    `value` is what it has, by a `line`, None as long as that is not known, but what is `wrong`.
    Until `stale` somebody may go by the value before.
    """

    earliest: float
    latest: float
    value: str | None = None
    line: int = 0
    wrong: frozenset[str] = frozenset()
    open: bool = False
    stale: float = -EVER

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


@frozen()
class _Changed:
    """A line after which a fact may change: once `to` a value or from one to another, or freely."""

    line: int
    at: float
    until: float
    to: str | None = None
    away: str | None = None
    stale: float = -EVER


_Of = tuple[Fact, str | None]
"""A fact, and whose it is, where each has its own."""


class Facts:
    """What the lines so far leave open of each fact: by all lines, and by those of one value."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self.facts = tuple(facts)
        self.changes: dict[_Of, list[_Changed]] = {}
        self.histories: dict[_Of, dict[str | None, list[_History]]] = {}

    @property
    def look_ahead(self) -> bool:
        """Whether it matters when a line is answered."""
        return any(fact.unanswered is not None for fact in self.facts)

    def contradicted(
        self,
        forms: Iterable[str],
        line: int,
        said: dict[str, Any],
        times: tuple[float, float],
        answered: float | None = None,
        takes: float = 0,
    ) -> str | None:
        """Take a line of some forms, say what it contradicts.

        The times are when what it ends has begun, and its own; it may be `answered` at another.
        What it tells of `takes` some milliseconds.
        """
        found = None
        for form in forms:
            for fact in self.facts:
                whose = None if fact.of is None else plain(fact.of.at(said))
                if fact.of is None or whose is not None:
                    of = fact, whose
                    if form in fact.changes:
                        self._change(of, _change(fact, form, line, said, times[1], takes))
                    found = self._taken(of, form, line, said, times) or found
                    self._waits(of, form, line, times[1], answered)
        return found

    def settled(self) -> dict[str, float]:
        """Return of forms that let a fact change when what they let happen was over at the latest.

        That is known once every history that the lines leave open has ended with it.
        """
        found: dict[str, float] = {}
        for of in {**self.histories, **self.changes}:  # of what nothing was told all is open
            fact, told = of[0], self.histories.get(of, {})
            latest = max((history[-1].latest for history in told.get(None, ())), default=EVER)
            found |= {form: max(found.get(form, -EVER), latest) for form in fact.changes}
        return found

    def _taken(
        self, of: _Of, form: str, line: int, said: dict[str, Any], times: tuple[float, float]
    ) -> str | None:
        """Take a line of one form for one fact."""
        fact, whose = of
        begun, at = times
        if whose is not None:  # what it says of itself it says of now
            begun = at
        value = plain(fact.value.at(said))
        if value is None or form not in fact.holds | fact.fails:
            return None
        if form in fact.fails and None not in self.histories.get(of, {}):
            return None  # it may have had no value at all so far
        own = _Said(line, value, form in fact.holds, begun, at)
        late = replace(own, begun=begun - fact.known_within)
        return self._told(of, None, late) or self._told(of, value, own)

    def _waits(self, of: _Of, form: str, line: int, at: float, answered: float | None) -> None:
        """Let a fact change while what a line of some form asks waits for an answer for long."""
        fact, _ = of
        if fact.unanswered is None or form not in fact.holds:
            return
        after, within = fact.unanswered
        until = at + within if answered is None else answered
        if until > at + after:
            self._change(of, _Changed(line, at, until))

    def _change(self, of: _Of, changed: _Changed) -> None:
        self.changes.setdefault(of, []).append(changed)
        told = self.histories.get(of, {})
        for value, histories in told.items():
            told[value] = _kept(_changed(histories, changed, alone=value is not None))

    def _told(self, of: _Of, value: str | None, said: _Said) -> str | None:
        """Take what is said of a fact, by all or by lines of one value; say what it contradicts."""
        told = self.histories.setdefault(of, {})
        histories = told.get(value)
        if histories is None:
            histories = [(_Stretch(-EVER, -EVER),)]
            for changed in self.changes.get(of, ()):
                histories = _kept(_changed(histories, changed, alone=value is not None))
        agreed = [after for history in histories for after in _agreed(history, said)]
        told[value] = _kept(agreed)
        return _contradiction(of[0], histories, said) if histories and not agreed else None


def _change(
    fact: Fact, form: str, line: int, said: dict[str, Any], at: float, takes: float
) -> _Changed:
    change, over = fact.changes[form], at + takes
    to = None if change.to is None else plain(change.to.at(said))
    away = None if change.away is None else plain(change.away.at(said))
    return _Changed(line, at, over + change.within, to, away, over + change.known_within)


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


def _changed(histories: list[_History], changed: _Changed, *, alone: bool) -> Iterator[_History]:
    """Yield what histories become where a fact may change.

    It changes to a value, or from one to another, once or not at all; else to any, as often as it
    likes. What lines of one value say `alone` is never stale.
    """
    at, until = changed.at, changed.until
    stale = -EVER if alone else changed.stale
    for history in histories:
        last = history[-1].value
        if changed.to is None and changed.away is None:
            begun = tuple(one for one in history if one.earliest < at)
            yield (*begun, _Stretch(at, at, open=True), _Stretch(until, until))
            continue
        yield history
        if changed.to is not None and last != changed.to:
            yield (*history, _Stretch(at, until, changed.to, changed.line, stale=stale))
        if changed.away is not None and last in (None, changed.away):
            wrong = frozenset({changed.away})
            yield (*history, _Stretch(at, until, wrong=wrong, stale=stale))


def _agreed(history: _History, said: _Said) -> Iterator[_History]:
    """Yield a history with each of its stretches as the one in which a line is true."""
    for number, stretch in enumerate(history):
        told = stretch.told(said)
        if told is None:
            continue
        # It has begun by then, and the next one had not begun before.
        told = replace(told, latest=min(told.latest, said.at))
        rest = history[number + 1 :]
        if rest and said.begun > rest[0].stale:
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
