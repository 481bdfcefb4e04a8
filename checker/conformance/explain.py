"""Takes a Space and a log, makes an Explanation: whether some run of the model shows all of it.

Line by line the places are kept at which the model may be. Between two lines any hidden steps may
have happened, and requests under way may have been done. A line keeps the places that one of its
steps leads to with the same answer and the same fields, as far as the line knows them.

Lines of observers whose clocks differ are taken in every order that the clocks leave open: a place
says which lines were taken `ahead` of earlier ones. How many can be is bounded by the clocks.

Where too many places fit, some are put aside: the log is gone on with from a part of them, and from
the next part when that one fails. So few are kept at a time, and none is forgotten.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field, fields, replace
from typing import Literal

from checker.conformance.called import words_of
from checker.conformance.log import Event
from checker.conformance.nearest import Nearest, TooEarly, nearest, too_early
from checker.conformance.ordered import Lines, StoppedError
from checker.conformance.places import LOST, WAITING, Coming, Place, Sooner, Steps, Taken
from checker.conformance.recording import Clock
from checker.conformance.space import Space
from checker.errors import UsageError
from checker.frozen import frozen
from checker.search.progress import Interrupt, interrupted

Verdict = Literal["explained", "diverges", "inconclusive"]

SHOWN = 3
"""States that are shown, and looked through for the nearest row, where no step fits."""

NOTHING_COMES = Coming(frozenset(), frozenset(), {})

_LAST = 8
"""Steps of the run up to there that are shown."""

_DEEPER = 25
"""By how much fewer places are gone on with where too many fit."""

_MORE = 5
"""How many times as many places as may be kept are looked at once some were put aside."""

_LONG = 5_000
"""Lines for which places are put aside."""

_TIDY = 32
"""Lines after which is looked whether much is remembered of states."""

_SWEEP = 1000
"""Lines after which what leads to nothing is forgotten."""


@frozen()
class Limits:
    """What may be kept at a time: places that fit, lines whose order is open.

    `drop`: beyond the places some are dropped, and a run may still be found; else it ends there.
    """

    places: int = 10_000
    lines: int = 1_000
    drop: bool = True


@frozen(eq=False)
class Came:
    """How a place was come to: the place after the line before, and the steps since."""

    before: Place | None
    steps: tuple[Taken, ...]


@dataclass
class Explanation:
    """The verdict on a log. `events` were explained; `event` is the first that was not.

    These are in so many `lines` of the log: what a line says may be several.

    `places` are some of those before it, `possible` how many there are; `last` are the last steps
    of a run to the first of them. `run` is one that explains the log in another space than the one
    that was asked for: that space, and the steps.
    """

    verdict: Verdict
    events: int = 0
    lines: int = 0
    event: Event | None = None
    places: tuple[Place, ...] = ()
    possible: int = 0
    allowed: tuple[str, ...] = ()
    nearest: Nearest | None = None
    early: tuple[TooEarly, ...] = ()
    why: str | None = None
    last: tuple[Taken, ...] = ()
    rows: dict[str, int] = field(default_factory=dict)
    steps: int = 0
    hidden: int = 0
    most: int = 0
    run: tuple[Space, tuple[Taken, ...]] | None = None


@dataclass
class _Known:
    """What is known at a line besides the places.

    `counted` are the steps of each row that were told of, `held` those that are told once nothing
    is put aside any more. `until` says of requests that are done within some time when that is
    over: then they are `overdue`, and `forgotten` where they may have been done. `promised` is the
    form of the answer to the request under way, by each text that the request names. `changes` are
    those of the steps' timers.
    """

    counted: list[int]
    changes: dict[tuple[int, str], float]
    history: list[dict[Place, Came]] = field(default_factory=list)
    last: deque[Taken] = field(default_factory=lambda: deque(maxlen=_LAST))
    hidden: int = 0
    held: list[Taken] = field(default_factory=list)
    open: dict[str, Event] = field(default_factory=dict)
    until: dict[str, float] = field(default_factory=dict)
    overdue: set[str] = field(default_factory=set)
    forgotten: set[str] = field(default_factory=set)
    promised: dict[str, str] = field(default_factory=dict)

    def copied(self) -> _Known:
        """Return a record that does not change with this one."""
        return _Known(**{one.name: copy(getattr(self, one.name)) for one in fields(self)})


@frozen(eq=False)
class _Aside:
    """Places before a line that were put aside, part by part, and what is known there."""

    number: int
    parts: list[dict[Place, Came]]
    known: _Known


class _TooManyError(Exception):
    """More places fit before a line than may be kept."""


def explain(
    space: Space,
    events: Iterable[Event],
    clock: Clock | None = None,
    limits: Limits | None = None,
    interrupt: Interrupt | None = None,
    sink: Callable[[Taken], None] | None = None,
    *,
    beginnings: int = 0,
) -> Explanation:
    """Return whether the model explains a log; `sink` gets the steps of a run that does so.

    Where nothing explains all of it, they are a run that explains what comes before. Where there
    are `beginnings` the log begins after any steps, in one of so many states.
    """
    explainer = _Explainer(space, clock or Clock(), limits or Limits(), interrupt, sink)
    explainer.steps.blind = beginnings > 0
    explainer.beginnings = beginnings
    return explainer.explained(events)


class _Explainer:
    def __init__(
        self,
        space: Space,
        clock: Clock,
        limits: Limits,
        interrupt: Interrupt | None,
        sink: Callable[[Taken], None] | None,
    ) -> None:
        self.space, self.clock, self.limits, self.interrupt = space, clock, limits, interrupt
        self.steps = Steps(space)
        self.lines = Lines((), clock, limits.lines)
        self.sink = sink
        self.cut = False
        self.beginnings = 0
        self.found = Explanation("explained")
        self.known = _Known([0] * len(space.bound.rows), self.steps.changes)
        self.ways: dict[Place, tuple[Place, tuple[Taken, ...]]] = {}
        self.aside: list[_Aside] = []
        self.deepest: tuple[int, dict[Place, Came], _Known] | None = None
        """Where what failed came farthest."""
        self.looked_at = 0
        """Places that were looked at since some were put aside."""
        self.apart = False
        """Whether places can be put aside: lines have one order."""

    def explained(self, events: Iterable[Event]) -> Explanation:
        lines = self.lines = Lines(events, self.clock, self.limits.lines)
        places = self._begun([(place, Came(None, ())) for place in self.steps.initial()])
        number = 0
        self.apart = self.limits.drop and not lines.widest
        try:
            while (event := lines.line(number)) is not None:
                if interrupted(self.interrupt):
                    return self._ended("inconclusive", number, places, why="an interrupt")
                try:
                    found = self._line(number, event, places, lines)
                except _TooManyError:
                    places = self._part(number, places)
                    continue
                if not found:
                    if not self.aside:
                        return self._unexplained(*self._farthest(number, places), lines)
                    number, places = self._back(number, places)
                    continue
                places = self._kept(found)
                if self.cut and not self.limits.drop:
                    why = f"more than {self.limits.places:,} states fitted"
                    return self._ended("inconclusive", number, places, why=why)
                self.steps.see()
                if self.steps.told and not lines.widest:
                    self._promise(event)
                if len(places) > 1 and not lines.widest:
                    places = self._fewest(places, self._times(event)[1])
                self._remember(places)
                number += 1
                self._forget(number, places, lines)
                if number % _SWEEP == 0:
                    self._sweep()
        except StoppedError as stop:
            return self._ended("inconclusive", number, places, why=str(stop))
        if not places:
            return self._ended("diverges", number, places, why="the model has no initial state")
        return self._ended("explained", number, places)

    def _forget(self, number: int, places: dict[Place, Came], lines: Lines) -> None:
        """Forget the lines before one that nothing goes back to."""
        if self.aside and number - self.aside[0].number > _LONG:
            self._give_up()
        first = number - _most_ahead(places) if lines.widest else number
        lines.forget(self.aside[0].number if self.aside else first)

    # ------------------------------------------------------------------- what is put aside

    def _part(self, number: int, places: dict[Place, Came]) -> dict[Place, Came]:
        """Return a part of the places before a line, and put the other parts aside.

        Each has some of all that are near each other, as those that one step leads to are.
        """
        several = max(2, -(-len(places) * _DEEPER // self.limits.places))
        parts = [dict(list(places.items())[n::several]) for n in range(several)]
        first, *rest = [part for part in parts if part]
        self.aside.append(_Aside(number, rest, self.known.copied()))
        return first

    def _back(self, number: int, places: dict[Place, Came]) -> tuple[int, dict[Place, Came]]:
        """Return the line before which places were put aside last, and the next part of them."""
        if self.deepest is None or number > self.deepest[0]:
            self.deepest = number, places, self.known.copied()
        last = self.aside[-1]
        part = last.parts.pop(0)
        if not last.parts:
            self.aside.pop()
        self._recall(last.known)
        return last.number, part

    def _farthest(self, number: int, places: dict[Place, Came]) -> tuple[int, dict[Place, Came]]:
        """Return the line, and the places before it, at which the last of all that failed did."""
        if self.deepest is None or number >= self.deepest[0]:
            return number, places
        number, places, known = self.deepest
        self._recall(known)
        return number, places

    def _give_up(self) -> None:
        """Forget what is put aside: only a run can be found from now on, no divergence."""
        self.aside.clear()
        self.cut = True

    def _recall(self, known: _Known) -> None:
        self.known = known.copied()
        self.steps.recall(self.known.changes)

    def _begun(self, found: Iterable[tuple[Place, Came]]) -> dict[Place, Came]:
        places = dict(found)
        self.known.history = [places]
        return places

    def _promise(self, event: Event) -> None:
        """Note how the request of a line will be answered; who asks anew has no other one."""
        if event.pair is None:
            return
        words = {word for one in event.arguments.values() for word in words_of(one)}
        for word in words:
            if event.promised is None:
                self.known.promised.pop(word, None)
            else:
                self.known.promised[word] = event.promised

    # --------------------------------------------------------------------------- one line

    def _line(
        self, number: int, first: Event, places: dict[Place, Came], lines: Lines
    ) -> dict[Place, Came]:
        """Return where the lines that may be next lead; without errors of clocks the first."""
        if first.contradicts is not None:
            return {}
        orders: dict[tuple[int, ...], list[tuple[Event, tuple[int, ...]]]] = {}
        if not lines.widest:
            orders[()] = [(first, ())]
        else:
            for place in places:
                if place.ahead not in orders:
                    orders[place.ahead] = list(_orders(number, place.ahead, lines))
        nexts = [event for order in orders.values() for event, _ in order]
        for event in nexts:
            self.steps.hear(event, self._times(event)[1])
            if event.do is not None and event.id is not None:
                self.known.open[event.id] = event
                if event.within is not None:
                    self.known.until[event.id] = self._times(event)[1] + event.takes + event.within
        until = max([self._times(event)[1] for event in nexts], default=float("inf"))
        wide = self._closed(places, until, nexts)
        found: dict[Place, Came] = {}
        if self.cut and not self.limits.drop:
            return dict(places)  # nothing is decided any more
        for place in wide:
            for event, ahead in orders[place.ahead]:
                self._taken(place, event, ahead, found)
        if number % _TIDY == 0:
            self.steps.forget()
        return found

    def _taken(
        self, place: Place, event: Event, ahead: tuple[int, ...], found: dict[Place, Came]
    ) -> None:
        if event.do == "reset":
            self._reset(place, event, ahead, found)
            return
        if not event.lasts and not place.requests and not self.steps.timers:
            for kept, edge in self.steps.at_once(place, event, ahead):
                if kept not in found:
                    step = None if edge is None else (event, place.key, edge)
                    found[kept] = self._came(place, step)
            return
        known = any(name == event.id for name, _ in place.requests)
        if event.ends and event.id in self.known.overdue and not known:
            if event.answered and event.id not in self.known.forgotten:
                return  # it was never done
            event = replace(event, lost=True)
        for after, edge in self.steps.taking(place, event, *self._times(event)):
            kept = self.steps.released(self._in_time(after, event), self.known.open)
            if kept.ahead != ahead:
                kept = kept._replace(ahead=ahead)
            if kept not in found:
                step = None if edge is None else (event, place.key, edge)
                found[kept] = self._came(place, step)

    def _in_time(self, place: Place, event: Event) -> Place:
        """Return a place without the requests that would have been done before a line.

        One that was done stays where its end is known to come: it says what was done.
        """
        earliest, _ = self._times(event)
        until = self.known.until
        if not until:
            return place
        over: set[str] = set()
        for name, status in place.requests:
            done = status not in (WAITING, LOST)
            if until.get(name, earliest) < earliest and not (
                done and self.known.open[name].ended_in > event.line
            ):
                over.add(name)
                if done:
                    self.known.forgotten.add(name)
        if not over:
            return place
        self.known.overdue |= over
        rest = tuple(one for one in place.requests if one[0] not in over)
        return place._replace(requests=rest)

    def _reset(
        self, place: Place, event: Event, ahead: tuple[int, ...], found: dict[Place, Came]
    ) -> None:
        earliest, _ = self._times(event)
        for begun in self.steps.initial():
            at = self.steps.at(begun.key, begun.binding, earliest)
            seen = self.steps.seen(at._replace(ahead=ahead), event)
            if seen is not None and seen not in found:
                found[seen] = self._came(place, None)

    def _times(self, event: Event) -> tuple[float, float]:
        """Return when a line was at the earliest, and at the latest."""
        if event.at is None:
            if self.steps.timers:
                raise UsageError(
                    f"line {event.line} has no time (`at`), and the mapping has timers"
                )
            return float("-inf"), float("inf")
        error = self.clock.error_of(event.stream)
        return event.at - error, event.at + error

    def _closed(
        self, places: dict[Place, Came], until: float, nexts: Iterable[Event]
    ) -> list[Place]:
        """Return the places and all that hidden steps lead to from them before some lines."""
        coming = _coming(nexts, self.known.promised) if self.steps.awaits else NOTHING_COMES
        self.steps.early.steps.clear()
        self.ways = {}
        sooner = Sooner() if self.steps.timers else None
        found = [place for place in places if sooner is None or not sooner.has(place)]
        if len(found) == 1 and self.steps.is_still(found[0]):
            self._count(found)
            return found
        known = set(found)
        passed: set[Place] = set()
        limit = self.beginnings if self.steps.blind else self.limits.places
        for place in found:
            if len(found) >= limit:
                if self.apart and not (self.cut or self.steps.blind) and len(places) > 1:
                    raise _TooManyError
                self.cut = True
                break
            hurried = self.steps.hurried(place, until, coming)
            if hurried:
                passed.add(place)
            for steps, after in hurried or self.steps.unseen(place, until, self.known.open, coming):
                kept = self.steps.released(after, self.known.open)
                if kept not in known and not (sooner is not None and sooner.has(kept)):
                    known.add(kept)
                    found.append(kept)
                    self.ways[kept] = (place, steps)
        self._count(found)
        return [place for place in found if place not in passed] if passed else found

    def _count(self, found: list[Place]) -> None:
        """Note how many places fit at a time; with too many of the parts it is given up."""
        self.found.most = max(self.found.most, len(found))
        self.looked_at += len(found) if self.aside else 0
        if self.looked_at > _MORE * self.limits.places:
            self._give_up()

    def _came(self, place: Place, step: Taken | None) -> Came:
        """Return how a place of this line was come to, by the way to the one before it."""
        steps = [] if step is None else [step]
        while place in self.ways:
            place, hidden = self.ways[place]
            steps.extend(reversed(hidden))
        return Came(place, tuple(reversed(steps)))

    def _kept(self, found: dict[Place, Came]) -> dict[Place, Came]:
        """Return the places to go on with.

        Once some were dropped only a run can be found, no divergence: then fewer are kept, those
        with the fewest hidden steps, so that more steps can be looked at from each.
        """
        if self.apart and not self.cut:
            return found  # the next line puts some aside
        limit = self.limits.places
        if self.cut:
            limit = max(1, limit // _DEEPER)
        if len(found) <= limit:
            return found
        self.cut = True
        return dict(list(found.items())[:limit])

    # ------------------------------------------------------------------------ what is kept

    def _fewest(self, places: dict[Place, Came], until: float) -> dict[Place, Came]:
        """Return places from which the others come by hidden steps that can be taken later, too."""
        coming = Coming(frozenset(), frozenset(), self.known.promised)
        gone: set[Place] = set()
        for place in places:
            waiting = [] if place in gone else [place]
            while waiting:
                for after in self.steps.at_any_time(waiting.pop(), until, coming):
                    kept = self.steps.released(after, self.known.open)
                    if kept in places and kept not in gone and kept is not place and kept != place:
                        gone.add(kept)
                        waiting.append(kept)
        return {place: came for place, came in places.items() if place not in gone}

    def _remember(self, places: dict[Place, Came]) -> None:
        """Keep how places were come to; where there is one only, its run is certain."""
        known = self.known
        known.history.append(places)
        if len(places) == 1:
            ((place, came),) = places.items()
            if len(known.history) == 2:
                self._told(came.steps)
            else:
                self._tell(place)
            places[place] = Came(None, ())
            known.history = [places]
            if known.open:
                waiting = {name for name, _ in place.requests}
                known.open = {name: known.open[name] for name in waiting if name in known.open}
                known.until = {name: known.until[name] for name in waiting if name in known.until}

    def _sweep(self) -> None:
        """Forget what leads to no place that is left, and tell what is certain."""
        known = self.known
        alive = set(known.history[-1])
        for number in range(len(known.history) - 1, 0, -1):
            before = {came.before for p, came in known.history[number].items() if p in alive}
            alive = {place for place in before if place is not None}
            earlier = known.history[number - 1]
            known.history[number - 1] = {p: came for p, came in earlier.items() if p in alive}
            if len(alive) == 1:
                (place,) = alive
                rest = known.history[number:]
                known.history = known.history[:number]
                self._tell(place)
                known.history = [{place: Came(None, ())}, *rest]
                return

    def _tell(self, place: Place) -> None:
        """Hand the run to a place of the last line on."""
        segments = []
        at: Place | None = place
        for level in reversed(self.known.history):
            if at is None or at not in level:
                break
            came = level[at]
            segments.append(came.steps)
            at = came.before
        for steps in reversed(segments):
            self._told(steps)

    def _told(self, steps: tuple[Taken, ...]) -> None:
        for taken in steps:
            self.known.counted[taken[2].row] += 1
            self.known.hidden += taken[0] is None
            self.known.last.append(taken)
        if self.sink is not None:
            self.known.held.extend(steps)
            if not self.aside:
                self._hand_on()

    def _hand_on(self) -> None:
        """Hand on the steps that are certain by now."""
        if self.sink is not None:
            for taken in self.known.held:
                self.sink(taken)
        self.known.held.clear()

    # ------------------------------------------------------------------------- the verdict

    def _ended(
        self,
        verdict: Verdict,
        number: int,
        places: dict[Place, Came],
        event: Event | None = None,
        why: str | None = None,
    ) -> Explanation:
        if places:
            self._tell(next(iter(places)))
        self._hand_on()
        found = self.found
        found.hidden = self.known.hidden
        found.steps = sum(self.known.counted)
        found.rows = {
            row.action.name: count
            for row, count in zip(self.space.bound.rows, self.known.counted, strict=True)
            if count
        }
        found.verdict, found.events, found.event, found.why = verdict, number, event, why
        found.lines = self.lines.before(number)
        found.last = tuple(self.known.last)
        return found

    def _unexplained(self, number: int, places: dict[Place, Came], lines: Lines) -> Explanation:
        """Return what is known where no place explains the next line."""
        place = max(places, key=lambda one: number - len(one.ahead))
        event = lines.line(number - len(place.ahead))
        assert event is not None
        wide = self._closed(places, self._times(event)[1], [event])
        shown = wide[:SHOWN]
        verdict, why = self._why(event, wide)
        whole = _merged(event, self.known.open)
        found = self._ended(verdict, number, places, event, why)
        found.places, found.possible = tuple(shown), len(wide)
        found.allowed = tuple(
            sorted(
                {
                    choice.request
                    for key in dict.fromkeys(one.key for one in wide)
                    for choice in self.space.node(key).choices
                    if choice.request is not None
                    and whole.name in (None, self.steps.fitting.request(choice)["name"])
                }
            )
        )
        found.nearest = nearest(self.steps, shown, whole)
        found.early = too_early(self.steps)
        return found

    def _why(self, event: Event, places: Iterable[Place]) -> tuple[Verdict, str | None]:
        """Return the verdict where no place explains a line, and why, if that can be said."""
        if event.contradicts is not None:
            return "diverges", event.contradicts
        if self.cut:
            limit = min(self.limits.places, self.beginnings or self.limits.places)
            return "inconclusive", f"more than {limit:,} states fitted, and some were dropped"
        if event.at is not None and all(one.now > self._times(event)[1] for one in places):
            return "diverges", (
                "the line lies before the one that it follows, by more than the clock's error"
            )
        return "diverges", None


def _orders(
    number: int, ahead: tuple[int, ...], lines: Lines
) -> Iterator[tuple[Event, tuple[int, ...]]]:
    """Yield the lines that may be the next one with what is taken ahead of others then."""
    base = number - len(ahead)
    for taken in lines.next(base, ahead):
        event = lines.line(taken)
        assert event is not None
        if taken != base:
            yield event, tuple(sorted((*ahead, taken)))
            continue
        left, first = ahead, base + 1
        while left and left[0] == first:
            left, first = left[1:], first + 1
        yield event, left


def _coming(events: Iterable[Event], promised: Mapping[str, str]) -> Coming:
    """Return what lines name, and which forms they have."""
    lines = list(events)
    words = {word for line in lines for one in line.arguments.values() for word in words_of(one)}
    return Coming(frozenset(words), frozenset(line.form for line in lines), promised)


def _most_ahead(places: Iterable[Place]) -> int:
    return max((len(place.ahead) for place in places), default=0)


def _merged(event: Event, open_: dict[str, Event]) -> Event:
    """Return an end of a request together with its beginning."""
    begun = open_.get(event.id) if event.ends and event.id is not None else None
    if begun is None:
        return event
    return replace(
        event, do=begun.do, name=begun.name, outcome=begun.outcome, arguments=begun.arguments
    )
