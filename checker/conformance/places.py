"""Where the model may be after some lines of a log, and where one step of it leads from there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from checker.conformance.called import Called, words_of
from checker.conformance.fitting import Fitting
from checker.conformance.holding import Holding
from checker.conformance.log import Event
from checker.conformance.matching import Binding, Held, Matcher
from checker.conformance.space import Edge, Expected, Key, Space
from checker.frozen import frozen
from checker.semantics.symmetry import drawn_ids

Taken = tuple[Event | None, Key, Edge]
"""A step of a run: the line that it explains, the state before, the step."""

WAITING, LOST = -2, -3
"""Of a request: it has not been done yet; nobody waits for it, and it may still be done."""

_TOLERANCE = 1e-3
"""Milliseconds by which computed times may differ."""

_KEPT = 200_000

_KEPT_LINES = 20_000
"""Lines of which is remembered where they lead, each with its text."""

_OFTEN = 1_000
"""Steps that rows which go together make at most."""


class Armed(NamedTuple):
    """A timer that runs: which, whose, and from when to when it may have been set.

    Without a greatest time nothing depends on when it was set at the latest; nor, once its least
    time is over, on when at the earliest. Then these are infinite, so that places are the same.
    """

    timer: int
    whose: str
    earliest: float
    latest: float


class Place(NamedTuple):
    """A state that the model may be in, and what else is to be known to go on.

    `now` is when its last step was at the earliest; `requests` are those under way, each with the
    number of its answer or whether it waits; `ahead` are lines taken before earlier ones.
    """

    key: Key
    binding: Binding
    armed: tuple[Armed, ...] = ()
    now: float = float("-inf")
    requests: tuple[tuple[str, int], ...] = ()
    ahead: tuple[int, ...] = ()


class Sooner:
    """Knows places, and of another one whether one of them can do all that it can, as soon."""

    def __init__(self, places: Iterable[Place] = ()) -> None:
        self.alike: dict[Place, list[Place]] = {}
        for place in places:
            self.has(place)

    def has(self, place: Place) -> bool:
        """Whether a known place is like this one and was never later; else it is known now."""
        waited = tuple(one for one in place.requests if one[1] != LOST)
        known = self.alike.setdefault(place._replace(armed=(), now=0.0, requests=waited), [])
        if any(_is_sooner(one, place) for one in known):
            return True
        known.append(place)
        return False


def _is_sooner(one: Place, other: Place) -> bool:
    """Whether timers of one place were set no later than another's, nor less late at the latest.

    What nobody waits for, and may still be done or not, must be there at the one place, too.
    """
    return (
        one.now <= other.now
        and (one.requests == other.requests or set(one.requests) >= set(other.requests))
        and len(one.armed) == len(other.armed)
        and all(
            (a.timer, a.whose) == (b.timer, b.whose)
            and a.earliest <= b.earliest
            and a.latest >= b.latest
            for a, b in zip(one.armed, other.armed, strict=True)
        )
    )


@dataclass
class Early:
    """Steps that would have come before or after their time: of each the least difference."""

    steps: dict[tuple[int, int, str], float] = field(default_factory=dict)

    def note(self, row: int, armed: Armed, missing: float) -> None:
        """Keep by how many milliseconds a step came too early."""
        key = (row, armed.timer, armed.whose)
        self.steps[key] = min(missing, self.steps.get(key, missing))


@frozen()
class Coming:
    """The texts that the next lines name, and the forms that they have.

    `promised` has, by a text that it names, the form of the answer to the request under way.
    """

    words: frozenset[str]
    forms: frozenset[str]
    promised: Mapping[str, str]


class Steps:
    """Makes steps of places."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.holding = Holding(space)
        self.matcher = Matcher(space.bound, self.holding.alike)
        self.fitting = Fitting(space, self.matcher)
        self.called = Called(self.matcher)
        self.lasting = self.holding.alike & space.bound.enough - drawn_ids(space.bound.machine)
        """Types whose names keep their ids: there is one for each, and no step draws a free one."""
        self.timers = space.bound.timers
        self.anew = [float("-inf")] * len(self.timers)
        """Until when each timer may have been set anew, whoever it is of."""
        self.changes: dict[tuple[int, str], float] = {}
        """The same, by the timer's number and the form of the line that lets it."""
        named = space.bound.hidden | space.bound.soon | space.bound.late
        self.hidden = frozenset(
            number
            for number, row in enumerate(space.bound.rows)
            if row.action.name in named
            or (
                row.kind == "silent"
                and not any(row.action.name in one.rows for one in space.bound.together)
            )
        )
        rows = space.bound.rows
        self.soon = frozenset(
            n for n, row in enumerate(rows) if row.action.name in space.bound.soon
        )
        self.late = frozenset(
            n for n, row in enumerate(rows) if row.action.name in space.bound.late
        )
        numbers = {row.action.name: n for n, row in enumerate(rows)}
        self.together = tuple(
            (one, tuple(numbers[name] for name in one.rows))
            for one in space.bound.together
            if all(name in numbers for name in one.rows)
        )
        told = dict(space.bound.told)
        self.told = {n: told[r.action.name] for n, r in enumerate(rows) if r.action.name in told}
        self.own = {
            (kind, one): text
            for (kind, text), one in self.matcher.declared.items()
            if kind not in self.matcher.alike
        }
        """What a log calls ids that it calls by the model's names, and nobody else."""
        self.awaits = bool(self.late or self.together or self.told)
        """Whether hidden steps depend on what the next lines say."""
        self.blind = False
        """Whether any step may be hidden, as before the first line of a log."""
        self.early = Early()
        self.answers: list[Expected | None] = []
        self._in_answers: list[Held] = []
        self._numbers: dict[str, int] = {}
        self._silent: dict[Key, tuple[Edge, ...]] = {}
        self._settled: dict[Key, tuple[Key, tuple[int, ...]]] = {}
        self._once: dict[
            tuple[Key, Binding, tuple[int, ...], tuple[bytes, bytes]],
            tuple[tuple[Place, Edge | None], ...],
        ] = {}

    def hear(self, event: Event, latest: float) -> None:
        """Note which timers may be set anew after a line, and which no longer."""
        for number, timer in enumerate(self.timers):
            for form, within in timer.anew:
                until = self.changes.setdefault((number, form), float("-inf"))
                if form == event.form:
                    until = max(until, latest + event.takes + within)
                until = min(until, event.settled.get(form, until))
                self.changes[number, form] = until
        self._renew()

    def recall(self, changes: dict[tuple[int, str], float]) -> None:
        """Go back to what lines had said of timers before."""
        self.changes = changes
        self._renew()

    def _renew(self) -> None:
        for number, timer in enumerate(self.timers):
            untils = [self.changes.get((number, form)) for form, _ in timer.anew]
            self.anew[number] = max(
                [until for until in untils if until is not None], default=float("-inf")
            )

    def initial(self) -> list[Place]:
        """Return the places to begin at."""
        empty = Binding((), tuple(None for _ in self.space.bound.windows))
        return [self.at(key, empty) for key in self.space.initial()]

    def at(self, key: Key, binding: Binding, now: float = float("-inf")) -> Place:
        """Return the place of a state in which nothing is under way."""
        place = Place(key, binding)
        if self.timers:
            armed = self.space.node(key).armed
            return place._replace(
                now=now, armed=tuple(Armed(n, who, now, float("inf")) for n, who in armed)
            )
        return place

    def forget(self) -> None:
        """Forget what is known of states where there are many."""
        self.space.forget()
        self.fitting.forget()
        if len(self._once) > _KEPT_LINES:
            self._once.clear()
        for kept in (self._silent, self._settled):
            if len(kept) > _KEPT:
                kept.clear()

    # ------------------------------------------------------------------------------- steps

    def is_still(self, place: Place) -> bool:
        """Whether nothing unseen can happen at a place, whatever comes."""
        return not (place.requests or self.together or self._hidden_edges(place.key))

    def unseen(
        self, place: Place, until: float, open_: dict[str, Event], coming: Coming
    ) -> Iterator[tuple[tuple[Taken, ...], Place]]:
        """Yield what may happen at a place before the next line: the steps, and where they lead.

        `coming` is what is known of the line, or of the lines that may be the next one.
        """
        words = coming.words
        for edge in self._hidden_here(place, coming):
            after = self._stepped(place, edge, place.binding, place.now, until)
            if after is not None:
                yield ((None, place.key, edge),), after
        for one, rows in self.together:
            if one.before and not one.before & coming.forms:
                continue
            if one.all:
                yield from self._as_often_as_can_be(place, rows, until)
                continue
            yield from self._one_after_the_other(place, rows, until, words)
        lost: set[tuple[object, ...]] = set()
        for number, (name, status) in enumerate(place.requests):
            if status in (WAITING, LOST):
                event = open_[name]
                if status == LOST:
                    # Of several that ask the same the first is done: the others may be done later.
                    if event.asked() in lost:
                        continue
                    lost.add(event.asked())
                for edge, binding in self._fitting(place, event):
                    after = self._stepped(place, edge, binding, place.now, until)
                    if after is not None:
                        rest = list(place.requests)
                        if status == LOST:
                            del rest[number]
                        else:
                            rest[number] = (name, self._answer_number(edge.answer))
                        yield ((event, place.key, edge),), after._replace(requests=tuple(rest))

    def hurried(
        self, place: Place, until: float, coming: Coming
    ) -> list[tuple[tuple[Taken, ...], Place]]:
        """Return the steps of the first row that is taken as soon as it can be; none without one.

        Where there are some, nothing else is done at the place, and no line is taken there.
        """
        found: list[tuple[tuple[Taken, ...], Place]] = []
        first: Edge | None = None
        for edge in self._hidden_edges(place.key) if self.soon else ():
            if edge.row not in self.soon or (
                first is not None and (edge.row, edge.timed.ids) != (first.row, first.timed.ids)
            ):
                continue
            if edge.row in self.told and not self._is_told(place, edge, coming.promised):
                continue
            after = self._stepped(place, edge, place.binding, place.now, until)
            if after is not None:
                first = edge
                found.append((((None, place.key, edge),), after))
        return found

    def at_any_time(self, place: Place, until: float, coming: Coming) -> Iterator[Place]:
        """Yield where hidden steps lead that do not depend on which line is next.

        None is taken later where another row is taken as soon as it can be.
        """
        if self.hurried(place, until, coming):
            return
        for edge in self._hidden_here(place, coming):
            if edge.row not in self.late:
                after = self._stepped(place, edge, place.binding, place.now, until)
                if after is not None:
                    yield after

    def _hidden_here(self, place: Place, coming: Coming) -> Iterator[Edge]:
        """Yield the hidden steps for ids that have a name or may have the next one."""
        held: Held | None = None
        for edge in self._hidden_edges(place.key):
            if edge.timed.ids:
                held = self._held(place) if held is None else held
                if not self.matcher.in_order(edge.timed.ids, place.binding.names, held):
                    continue
                if edge.row in self.late and not self._named(place, edge, coming.words):
                    continue
                if edge.row in self.told and not self._is_told(place, edge, coming.promised):
                    continue
            yield edge

    def _one_after_the_other(
        self, place: Place, rows: tuple[int, ...], until: float, words: frozenset[str]
    ) -> Iterator[tuple[tuple[Taken, ...], Place]]:
        """Yield where steps of some rows lead that are for the same ids, which a line names."""
        ways: list[tuple[tuple[Taken, ...], Place]] = [((), place)]
        for row in rows:
            longer: dict[Place, tuple[Taken, ...]] = {}
            for steps, at in ways:
                for edge in self._edges_of(at.key, row):
                    same = not steps or steps[0][2].timed.ids == edge.timed.ids
                    if same and (steps or self._named(at, edge, words)):
                        after = self._stepped(at, edge, at.binding, at.now, until)
                        if after is not None:
                            longer.setdefault(after, (*steps, (None, at.key, edge)))
            ways = [(steps, at) for at, steps in longer.items()]
        yield from ways

    def _as_often_as_can_be(
        self, place: Place, rows: tuple[int, ...], until: float
    ) -> Iterator[tuple[tuple[Taken, ...], Place]]:
        """Yield where some rows lead, each taken until it no longer can be."""
        steps: list[Taken] = []
        for row in rows:
            edges = self._edges_of(place.key, row)
            while edges:
                at = self._stepped(place, edges[0], place.binding, place.now, until)
                if at is None or len(steps) > _OFTEN:
                    return
                steps.append((None, place.key, edges[0]))
                place = at
                edges = self._edges_of(place.key, row)
        if steps:
            yield tuple(steps), place

    def _edges_of(self, key: Key, row: int) -> list[Edge]:
        return [
            edge
            for choice in self.space.node(key).choices
            for edge in choice.edges
            if edge.row == row
        ]

    def taking(
        self, place: Place, event: Event, earliest: float, until: float
    ) -> Iterator[tuple[Place, Edge | None]]:
        """Yield where a line leads from a place."""
        if place.now > until + _TOLERANCE:
            return
        for named in self.named(place, event):
            yield from self._taking(named, event, earliest, until)

    def _taking(
        self, place: Place, event: Event, earliest: float, until: float
    ) -> Iterator[tuple[Place, Edge | None]]:
        if event.ready:
            yield from self._ready(place, event, earliest)
            return
        if event.do is not None and event.id is None:
            for edge, binding in self._fitting(place, event):
                after = self._stepped(place, edge, binding, max(earliest, place.now), until)
                seen = None if after is None else self.seen(after, event)
                if seen is not None:
                    yield seen, edge
            return
        waited = self._waited(place, earliest)
        if waited is None:
            return
        if event.do is not None:
            assert event.id is not None
            status = LOST if event.lost else WAITING
            yield waited._replace(requests=(*waited.requests, (event.id, status))), None
        elif event.ends:
            ended = self._ended(waited, event)
            if ended is not None:
                yield ended, None
        else:
            seen = self.seen(waited, event)
            if seen is not None:
                yield seen, None

    def at_once(
        self, place: Place, event: Event, ahead: tuple[int, ...]
    ) -> Iterable[tuple[Place, Edge | None]]:
        """Return where a line leads, without timers and with nothing under way, names released.

        It is remembered for what lines say again: nothing else decides it.
        """
        text = self.fitting.text(event)
        which = None if text is None else (place.key, place.binding, ahead, text)
        found = None if which is None else self._once.get(which)
        if found is None:
            found = tuple(
                (self.released(after, {})._replace(ahead=ahead), edge)
                for after, edge in self.taking(place, event, place.now, float("inf"))
            )
            if which is not None:
                self._once[which] = found
        return found

    def _ready(
        self, place: Place, event: Event, earliest: float
    ) -> Iterator[tuple[Place, Edge | None]]:
        """Yield a place once for each way to name ids with which a line's step is possible."""
        waited = self._waited(place, earliest)
        for binding in {binding: None for _, binding in self._fitting(place, event)}:
            seen = None if waited is None else self.seen(waited._replace(binding=binding), event)
            if seen is not None:
                yield seen, None

    def _ended(self, place: Place, event: Event) -> Place | None:
        """Return the place after a request's end; None if it was not done, or done otherwise."""
        number = next((n for n, (name, _) in enumerate(place.requests) if name == event.id), None)
        if number is None:
            return place if event.lost or event.refused else None
        rest = list(place.requests)
        name, status = rest.pop(number)
        if event.refused:
            return place._replace(requests=tuple(rest)) if status in (WAITING, LOST) else None
        if event.lost:
            if status == WAITING:
                rest.insert(number, (name, LOST))
            return place._replace(requests=tuple(rest))
        if status in (WAITING, LOST):
            return None
        binding = self.fitting.answered(self.answers[status], event, place.binding)
        if binding is None:
            return None
        return self.seen(place._replace(requests=tuple(rest), binding=binding), event)

    def _named(self, place: Place, edge: Edge, words: frozenset[str]) -> bool:
        """Whether a line may name one of the ids that a step is for.

        An id without a name is one that a new name may stand for: of those as many as the line has.
        """
        for kind, member in edge.timed.ids:
            known = {
                self.matcher.declared[kind, inside]: outside
                for name, outside, inside in place.binding.names
                if name == kind
            }
            if member in known:
                if known[member] in words:
                    return True
                continue
            held = self.holding.held(place.key)
            begun = {one for name, one in held if name == kind and one not in known}
            if member in begun or len(begun) < len(words.difference(known.values())):
                return True
        return False

    def _is_told(self, place: Place, edge: Edge, promised: Mapping[str, str]) -> bool:
        """Whether no answer to a request of the ids that a step is for says otherwise."""
        forms, declared = self.told[edge.row], self.matcher.declared
        names = {(kind, declared[kind, inside]): out for kind, out, inside in place.binding.names}
        found = (promised.get(names.get(one, self.own.get(one, ""))) for one in edge.timed.ids)
        return all(form is None or form in forms for form in found)

    def _hidden_edges(self, key: Key) -> tuple[Edge, ...]:
        found = self._silent.get(key)
        if found is None:
            found = self._silent[key] = tuple(
                edge
                for choice in self.space.node(key).choices
                for edge in choice.edges
                if self.blind or edge.row in self.hidden
            )
        return found

    def see(self) -> None:
        """From now on only hidden steps are hidden."""
        if self.blind:
            self.blind = False
            self._silent.clear()

    def _fitting(self, place: Place, event: Event) -> Iterable[tuple[Edge, Binding]]:
        """Return the steps that are what was asked, with what names then are."""
        held = self._held(place) if self.holding.alike else None
        return self.fitting.edges(place.key, event, place.binding, held)

    def _stepped(
        self, place: Place, edge: Edge, binding: Binding, earliest: float, until: float
    ) -> Place | None:
        """Return the place after a step between two times; None where a timer says otherwise."""
        armed: tuple[Armed, ...] = ()
        now = place.now
        if self.timers:
            times = self._timed(place, edge, earliest, until)
            if times is None:
                return None
            armed, now = times
        key, bases = self._slid(edge.target, binding.bases)
        if bases is not binding.bases:
            binding = Binding(binding.names, bases)
        return Place(key, binding, armed, now, place.requests, place.ahead)

    def _timed(
        self, place: Place, edge: Edge, earliest: float, until: float
    ) -> tuple[tuple[Armed, ...], float] | None:
        low, high = max(earliest, place.now), until
        running = {(one.timer, one.whose): one for one in place.armed}
        for fired in edge.timed.fires:
            one = running.get(fired)
            if one is None:
                return None
            timer = self.timers[one.timer]
            low = max(low, one.earliest + timer.least)
            if timer.greatest is not None:
                high = min(high, self._set_by(one) + timer.greatest)
            if low > high + _TOLERANCE:
                self.early.note(edge.row, one, low - high)
                return None
        if self._overdue(place.armed, low):
            return None
        high = max(low, high)
        anew = edge.timed.sets
        found = []
        for which in self.space.node(edge.target).armed:
            kept = running.get(which) if which not in anew else None
            found.append(self._as_far_as_it_matters(kept or Armed(*which, low, high), low))
        return tuple(found), low

    def _as_far_as_it_matters(self, armed: Armed, now: float) -> Armed:
        """Return a timer without times on which nothing depends any more."""
        timer = self.timers[armed.timer]
        over = armed.earliest + timer.least <= now
        return armed._replace(
            earliest=float("-inf") if over else armed.earliest,
            latest=float("inf") if timer.greatest is None else armed.latest,
        )

    def _waited(self, place: Place, earliest: float) -> Place | None:
        """Return a place at a later time; None if a timer must have fired meanwhile."""
        if not self.timers or earliest <= place.now:
            return place
        if self._overdue(place.armed, earliest):
            return None
        return place._replace(now=earliest)

    def _overdue(self, armed: tuple[Armed, ...], now: float) -> bool:
        for one in armed:
            timer = self.timers[one.timer]
            greatest = None if timer.or_never else timer.greatest
            if greatest is not None and self._set_by(one) + greatest < now - _TOLERANCE:
                return True
        return False

    def _set_by(self, armed: Armed) -> float:
        """Return when a timer was set at the latest."""
        return max(armed.latest, self.anew[armed.timer])

    def _slid(self, key: Key, bases: tuple[int | None, ...]) -> tuple[Key, tuple[int | None, ...]]:
        """Return a state with the least numbers of each window, and what the bases then are."""
        if not bases:
            return key, bases
        settled = self._settled.get(key)
        if settled is None:
            settled = self._settled[key] = self._least(key)
        key, counts = settled
        if not any(counts):
            return key, bases
        return key, tuple(
            None if base is None else base + count
            for base, count in zip(bases, counts, strict=True)
        )

    def _least(self, key: Key) -> tuple[Key, tuple[int, ...]]:
        counts = [0] * len(self.space.bound.windows)
        while True:
            slides = self.space.node(key).slides
            window = next((n for n, to in enumerate(slides) if to not in (None, key)), None)
            if window is None:
                return key, tuple(counts)
            to = slides[window]
            assert to is not None
            key = to
            counts[window] += 1

    # ------------------------------------------------------------------------------ what fits

    def seen(self, place: Place, event: Event) -> Place | None:
        """Return a place if its state shows what a line says was seen."""
        if not event.fields:
            return place
        found = self.fitting.seen(place.key, event, place.binding)
        if found is None or found is place.binding:
            return None if found is None else place
        return place._replace(binding=found)

    def released(self, place: Place, open_: dict[str, Event]) -> Place:
        """Return a place without names of what its state holds no more."""
        names = place.binding.names
        if not names:
            return place
        held = self._held(place)
        declared, lasting = self.matcher.declared, self.lasting
        if all(
            kind in lasting or (kind, declared[kind, inside]) in held for kind, _, inside in names
        ):
            return place
        words: set[str] = set()
        for name, _ in place.requests:
            words |= words_of(open_[name].arguments)
        apart = self.called.kept(names, held)
        kept = tuple(
            (kind, outside, inside)
            for kind, outside, inside in names
            if kind in lasting
            or (kind, declared[kind, inside]) in held
            or outside in words
            or (kind in apart and (kind, outside) in declared)
        )
        if len(kept) == len(names):
            return place
        return place._replace(binding=Binding(kept, place.binding.bases))

    def _held(self, place: Place) -> Held:
        """Return the ids that the state holds, or an answer that is still to come."""
        held = self.holding.held(place.key)
        for _, status in place.requests:
            if status >= 0:
                held |= self._in_answers[status]
        return held

    def named(self, place: Place, event: Event) -> Iterable[Place]:
        """Return a place once for each way to say who is called by an id's own name in a line."""
        if not self.called.by(event):
            return (place,)
        ways = self.called.ways(place.binding.names, event, self._held(place))
        return [place._replace(binding=Binding(way, place.binding.bases)) for way in ways]

    def _answer_number(self, expected: Expected | None) -> int:
        text = "" if expected is None else expected.text
        kind = "" if expected is None else repr(expected.type)
        number = self._numbers.setdefault(f"{kind} {text}", len(self.answers))
        if number == len(self.answers):
            self.answers.append(expected)
            ids = () if expected is None else self.matcher.ids(expected.type, expected.value)
            self._in_answers.append(frozenset(ids))
        return number
