"""Recorded runs: JSON objects a line, in the words of a mapping or in a form that it describes."""

from __future__ import annotations

import hashlib
import heapq
import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path as File
from typing import Any, TypeVar

from checker.conformance.facts import Facts
from checker.conformance.forms import Each, LineForm, Lines, Value
from checker.conformance.paths import NOTHING, Path, first_number
from checker.conformance.recording import Clock, MappedTimer, Recording, Size
from checker.conformance.turns import Connections
from checker.conformance.wire import NumberError, decoded
from checker.errors import UsageError

LINE_MAX = 1 << 20
"""Characters that a line may have."""

VALUES_MAX = 10_000
"""Values of all names of `each` together for which a log is judged."""

AHEAD = 1_000
"""Lines that are read ahead to see how a request is answered."""

PAIRS_MAX = 100_000
"""Lines that are remembered until another one is paired with them."""

Said = TypeVar("Said")
"""What a line is read as."""

DOES = frozenset({"call", "fire", "complete", "reset"})


@dataclass(slots=True)
class Event:
    """A line of a log: what was asked, as far as it is known, and what was seen after it.

    Without `do` it only says what was seen. `answered` is whether an answer is known. A request
    that is an interval has an `id`: one line begins it, another one `ends` it; `lost`: it ends
    without anybody knowing whether it was done; `refused`: it was not done. What is `ready` could
    be done then, and is not yet.
    What was asked is done `within` milliseconds, or never, once what the line tells of, which
    `takes` some, is over. `at` is in milliseconds, `form` the mapping's, where it has forms of
    lines.
    """

    line: int
    text: str
    do: str | None
    name: str | None
    outcome: str | None
    arguments: dict[str, Any]
    answered: bool
    answer: Any
    fields: dict[str, Any]
    at: float | None = None
    stream: str = ""
    id: str | None = None
    ends: bool = False
    lost: bool = False
    refused: bool = False
    ready: bool = False
    form: str = ""
    within: int | None = None
    takes: int = 0
    ended_in: int = 0
    """Of a request of one log the line that is paired with it, if that stands not far ahead."""
    pair: str | None = None
    """What pairs a request with its answer, where the mapping says."""
    promised: str | None = None
    """Of a request the form of its answer, if that stands not far ahead."""
    contradicts: str | None = None
    """What the line says that contradicts one of the mapping's facts, or its place is wrong."""
    settled: dict[str, float] = field(default_factory=dict)
    """Of forms of lines before when what they let happen was over, where lines say that."""

    @property
    def lasts(self) -> bool:
        """Whether it begins or ends a request, or says what is ready."""
        return self.id is not None or self.ends or self.ready

    def asked(self) -> tuple[object, ...]:
        """Return the same for lines that ask the same."""
        return (self.do, self.name, self.outcome, repr(self.arguments), self.within)


@dataclass
class Log:
    """Several observers' lines, in the order of their times; `left_out` counts lines not read.

    One that begins `midway` may have answers to what was asked before.
    """

    files: tuple[File, ...]
    recording: Recording = field(default_factory=Recording)
    left_out: int = 0
    midway: bool = False

    def events(self) -> Iterator[Event]:
        """Yield the events; UsageError for a line that is none."""
        if len(self.files) == 1:
            yield from self._in_time(self._read(self.files[0], ""))
            return
        names = [file.name for file in self.files]
        streams = [
            self._numbered(n, file, file.name if names.count(file.name) == 1 else str(file))
            for n, file in enumerate(self.files)
        ]
        for _, _, _, event in heapq.merge(*streams, key=lambda item: item[:3]):
            yield event

    def _in_time(self, events: Iterable[Event]) -> Iterator[Event]:
        """Yield the lines of a log in the order of their times, those of an observer as they stand.

        Where clocks are off, those of several observers go back by as much as two clocks are.
        """
        back = 2 * self.recording.clock.widest
        if not back:
            yield from events
            return
        waiting: list[tuple[float, int, Event]] = []
        latest: dict[str, float] = {}
        newest = float("-inf")
        for number, event in enumerate(events):
            if event.at is None:
                yield event  # who takes the lines says that it has to have a time
                continue
            own = latest[event.stream] = max(latest.get(event.stream, event.at), event.at)
            heapq.heappush(waiting, (own, number, event))
            newest = max(newest, event.at)
            while waiting[0][0] <= newest - back:
                yield heapq.heappop(waiting)[2]
        while waiting:
            yield heapq.heappop(waiting)[2]

    def digest(self) -> str:
        """Return the same for logs of which the same events are read, and for no others."""
        found = hashlib.sha256()
        for event in self.events():
            found.update(repr(replace(event, text="")).encode())
        return found.hexdigest()

    def _numbered(
        self, number: int, file: File, stream: str
    ) -> Iterator[tuple[float, int, int, Event]]:
        latest = float("-inf")
        for event in self._in_time(self._read(file, stream)):
            if event.at is None:
                raise _wrong(file, event.line, "of several logs each line has a time (`at`)")
            # What goes back in time stays where it stands in its own log.
            latest = max(latest, event.at)
            yield latest, number, event.line, event

    def _read(self, file: File, stream: str) -> Iterator[Event]:
        lines = self.recording.lines
        reader = None if lines is None else _Reader(file, stream, lines, self.recording.clock)
        if reader is None:
            for number, text, said in _objects(file):
                yield _event(file, stream, number, text, said, self.recording.clock)
            return
        lines_read = self._forms(reader, file)
        for events in _promised(lines_read) if self.recording.told else lines_read:
            yield from events

    def _forms(self, reader: _Reader, file: File) -> Iterator[list[Event]]:
        facts, turns = self._facts(file, reader), reader.lines.turns
        connections = None
        if turns is not None and self._in_order(reader):
            connections = Connections(turns, midway=self.midway)
        ahead = reader.lines.look_ahead or (facts is not None and facts.look_ahead)
        for line in _answered(_objects(file), reader.lines, ahead=ahead):
            begun = float("-inf") if facts is None else reader.begun(line)
            events = reader.read(line)
            for event in events if len(self.files) == 1 else ():
                event.ended_in = line.answered_in
            self.left_out += not events
            wrong = None
            if connections is not None:
                wrong = connections.contradicted(line.number, line.said, line.pair)
            if facts is not None and events:
                _look_at(facts, events, line.said, begun, reader.time_of(line.answer, line.number))
            if wrong is not None:
                for event in events:
                    event.contradicts = wrong
            yield events

    def _in_order(self, reader: _Reader) -> bool:
        """Whether the lines stand in the order in which they happened."""
        return len(self.files) == 1 and not reader.clock.widest

    def _facts(self, file: File, reader: _Reader) -> Facts | None:
        """Return what is known of facts, if this log lets one change and its clock is right."""
        asked = {fact: fact.only_with or frozenset(fact.changes) for fact in self.recording.facts}
        if not asked or not self._in_order(reader):
            return None
        found: set[str] = set()
        sought = frozenset().union(*asked.values())
        forms = [form for form in reader.lines.forms if form.name in sought]
        for _, _, said in _objects(file) if forms else ():
            found |= {form.name for form in forms if _fits(form, said, {}, {}, {})}
            if not any(found.isdisjoint(some) for some in asked.values()):
                break
        judged = [fact for fact, some in asked.items() if not found.isdisjoint(some)]
        return Facts(judged) if judged else None


@dataclass(slots=True)
class _Line:
    """A line as it stands in a log, and the line that answers it, if that is not far ahead.

    `pair` is what pairs it with another one.
    """

    number: int
    text: str
    said: dict[str, Any]
    pair: str | None
    answer: dict[str, Any] = field(default_factory=dict)
    answered_in: int = 0

    def pairs(self) -> set[str]:
        """Return what pairs it, if anything does."""
        return set() if self.pair is None else {self.pair}

    def take(self, answer: _Line) -> None:
        """Note what answers it."""
        self.answer, self.answered_in = answer.said, answer.number


def _answered(
    objects: Iterable[tuple[int, str, dict[str, Any]]], lines: Lines, *, ahead: bool
) -> Iterator[_Line]:
    """Yield lines, each with its answer where that is asked for."""
    found = (_Line(number, text, said, _pair(lines, said)) for number, text, said in objects)
    return _looking_ahead(found, _Line.pairs, _Line.take) if ahead else found


def _look_at(
    facts: Facts, events: list[Event], said: dict[str, Any], begun: float, answered: float | None
) -> None:
    """Note at the events of a line which fact it contradicts, and what is known since."""
    first = events[0]
    if first.at is not None:
        forms = [event.form for event in events]
        times = min(begun, first.at), first.at
        takes = max(event.takes for event in events)
        found = facts.contradicted(forms, first.line, said, times, answered, takes)
        settled = facts.settled()
        for event in events:
            event.contradicts, event.settled = found, settled


def _pair(lines: Lines, said: dict[str, Any]) -> str | None:
    """Return what pairs a line with another one."""
    identity = None if lines.pairs is None else lines.pairs.at(said, {})
    return None if identity in (None, NOTHING) else json.dumps(identity)


def _promised(lines: Iterable[list[Event]]) -> Iterator[list[Event]]:
    """Yield lines, each request with the form of its answer."""

    def pairs(events: list[Event]) -> set[str]:
        return {event.pair for event in events if event.pair is not None}

    def take(requests: list[Event], answer: list[Event]) -> None:
        for request in requests:
            request.promised = answer[0].form

    return _looking_ahead(lines, pairs, take)


def _looking_ahead(
    lines: Iterable[Said], pairs: Callable[[Said], set[str]], take: Callable[[Said, Said], None]
) -> Iterator[Said]:
    """Yield lines in order; `take` is told of each two of one pair, unless they are far apart."""
    waiting: deque[Said] = deque()
    asked: dict[str, Said] = {}
    for line in lines:
        waiting.append(line)
        for pair in pairs(line):
            request = asked.pop(pair, None)
            if request is None:
                asked[pair] = line
            else:
                take(request, line)
        if len(waiting) > AHEAD:
            first = waiting.popleft()
            for pair in pairs(first):
                if asked.get(pair) is first:
                    del asked[pair]
            yield first
    yield from waiting


def _objects(file: File) -> Iterator[tuple[int, str, dict[str, Any]]]:
    try:
        with file.open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(iter(lambda: lines.readline(LINE_MAX + 1), ""), start=1):
                if len(line) > LINE_MAX:
                    raise _wrong(file, number, f"has more than {LINE_MAX:,} characters")
                text = line.strip()
                if text:
                    yield number, text, _object(file, number, text)
    except UnicodeDecodeError as failure:
        raise UsageError(f"{file} is not UTF-8: {failure.reason}") from failure


def sized(
    files: Iterable[File], sizes: Iterable[Size], lines: Lines | None = None
) -> dict[str, int]:
    """Return the constants that a log decides, those of which it says something.

    Where there are forms of `lines` that is only asked of what has one.
    """
    texts: dict[Size, set[str]] = {size: set() for size in sizes}
    numbers: dict[Size, int] = {}
    asked: dict[Size, int] = {}
    for said in _said(files if texts else ()):
        if lines is not None and not any(_may_fit(form, said) for form in lines.forms):
            continue
        for size, found in texts.items():
            if size.path.asks:
                asked[size] = asked.get(size, 0) + (size.path.at(said, {}) is True)
                continue
            for one in _leaves(size.path.at(said, {})):
                if isinstance(one, str):
                    found.add(one)
                else:
                    numbers[size] = max(numbers.get(size, 0), one + 1)
    sums: dict[str, int] = {}
    for size, found in texts.items():
        if found or size in numbers or size in asked:
            number = len(found) + numbers.get(size, 0) + asked.get(size, 0) + size.more
            name = size.constant.text
            sums[name] = sums.get(name, 0) + number
    return sums


def least_times(files: Iterable[File], timers: Iterable[MappedTimer]) -> dict[str, int]:
    """Return the least time of each timer that a log says something of, in milliseconds."""
    sought = {one.name.text: one.least_of for one in timers if one.least_of is not None}
    return {name: min(times) for name, times in _times(files, sought).items()}


def greatest_times(files: Iterable[File], timers: Iterable[MappedTimer]) -> dict[str, int]:
    """Return the greatest time of each timer that a log says something of, in milliseconds."""
    sought = {one.name.text: one.greatest_of for one in timers if one.greatest_of is not None}
    return {name: max(times) for name, times in _times(files, sought).items()}


def _times(files: Iterable[File], sought: dict[str, tuple[Path, int]]) -> dict[str, set[int]]:
    """Return what stands at paths, each multiplied, where it is a time."""
    found: dict[str, set[int]] = {}
    for said in _said(files if sought else ()):
        for name, (path, times) in sought.items():
            for one in _leaves(path.at(said, {})):
                if isinstance(one, int) and one > 0:
                    found.setdefault(name, set()).add(one * times)
    return found


def judged_values(files: tuple[File, ...], each: Iterable[Each]) -> list[Value]:
    """Return for what a log is judged: the values of all names together; once without a name.

    UsageError where they are more than anybody waits for.
    """
    values: list[Value] = [()]
    for one in each:
        longer: list[Value] = []
        for value in values:
            here = one.of(value)
            texts = (*here.values, *map(str, _told_apart(files, here.ranges)))
            longer += [(*value, (here.name, text)) for text in texts]
            if len(longer) > VALUES_MAX:
                raise UsageError(
                    f"`each` of the mapping has more than {VALUES_MAX:,} values of its names "
                    "together, and the log is judged for each of them; give fewer"
                )
        values = longer
    return values


def _told_apart(files: Iterable[File], paths: tuple[Path, ...]) -> list[int]:
    """Return the least of all numbers that lie in the same ranges of a log, and in one at least."""
    ranges = {found for said in _said(files if paths else ()) for found in _ranges(said, paths)}
    changes: dict[int, int] = {}
    for first, last in ranges:
        changes[first] = changes.get(first, 0) + 1
        changes[last + 1] = changes.get(last + 1, 0) - 1
    found, around = [], 0
    for number in sorted(changes):
        around += changes[number]
        if around:
            found.append(number)
    return found


def _ranges(said: dict[str, Any], paths: tuple[Path, ...]) -> Iterator[tuple[int, int]]:
    for path in paths:
        value = path.at(said, {})
        for one in value if isinstance(value, list) else ():
            match one:
                case [int(first), int(last), *_] if 0 <= first <= last:
                    yield first, last


def _said(files: Iterable[File]) -> Iterator[dict[str, Any]]:
    return (said for file in files for _, _, said in _objects(file))


def _leaves(value: Any) -> Iterator[str | int]:
    """Yield the texts that are not empty, and the numbers that are not negative, in data."""
    match value:
        case str() if value:
            yield value
        case int() if not isinstance(value, bool) and value >= 0:
            yield value
        case list():
            for one in value:
                yield from _leaves(one)


def _object(file: File, number: int, text: str) -> dict[str, Any]:
    try:
        said = decoded(text)
    except NumberError as error:
        what = f"has the number {error}, which JSON does not have; write another, a text or null"
        raise _wrong(file, number, what) from error
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise _wrong(file, number, f"is no JSON object: {text[:80]}")
    return said


def _event(
    file: File, stream: str, number: int, text: str, said: dict[str, Any], clock: Clock
) -> Event:
    """Return what a line in the words of the mapping says."""
    do, name = said.get("do"), said.get("name")
    if do is not None and (not isinstance(do, str) or do not in DOES):
        raise _wrong(file, number, f"`do` is {do!r}, not one of {', '.join(sorted(DOES))}")
    if do not in (None, "reset") and not isinstance(name, str):
        raise _wrong(file, number, f"a {do} has a `name`")
    for key in ("name", "outcome"):
        if not isinstance(said.get(key), str | None):
            raise _wrong(file, number, f"`{key}` is {json.dumps(said[key])[:40]}, not a text")
    arguments, fields = said.get("with", {}), said.get("fields", {})
    if not isinstance(arguments, dict) or not isinstance(fields, dict):
        raise _wrong(file, number, "`with` and `fields` are objects")
    identity, lost = said.get("id"), said.get("lost") is True
    if do is None and not fields and identity is None:
        raise _wrong(file, number, "says neither what was done (`do`) nor what was seen (`fields`)")
    if do is not None and identity is not None and (lost or "answer" in said or fields):
        raise _wrong(file, number, "begins a request (`id`), whose end is a line of its own")
    if lost and ("answer" in said or fields):
        raise _wrong(file, number, "a lost request has neither `answer` nor `fields`")
    ready = said.get("ready") is True
    if ready and (do in (None, "reset") or identity is not None):
        what = "is `ready`, which is of what a whole step does (`do` without `id`, no reset)"
        raise _wrong(file, number, what)
    return Event(
        line=number,
        text=text,
        do=do,
        name=name,
        outcome=said.get("outcome"),
        arguments=arguments,
        answered="answer" in said,
        answer=said.get("answer"),
        fields=fields,
        at=_time(file, number, said.get("at"), clock),
        stream=_text(said.get("stream", stream)) or "",
        id=None if identity is None else json.dumps(identity),
        ends=do is None and identity is not None,
        lost=lost,
        ready=ready,
    )


def _time(file: File, number: int, said: object, clock: Clock) -> float | None:
    if said is None:
        return None
    if isinstance(said, bool) or not isinstance(said, int | float) or abs(said) > 1e18:
        raise _wrong(file, number, f"the time is {json.dumps(said)[:40]}, no number")
    return clock.milliseconds(said)


class _Reader:
    """Reads lines in another form, by what the mapping says of them."""

    def __init__(self, file: File, stream: str, lines: Lines, clock: Clock) -> None:
        self.file, self.stream, self.lines, self.clock = file, stream, lines, clock
        self.pairs: dict[str, dict[str, Any]] = {}
        self.last: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
        """Of each the line before, and the last one that asks something."""

    def read(self, line: _Line) -> list[Event]:
        """Return what a line says: nothing where no form fits."""
        key, said = line.pair, line.said
        request = {} if key is None else self.pairs.get(key, {})
        previous, asked = self._before(said)
        known = (said, request, previous, line.answer, asked)
        if key is not None:
            self._remember(key, said)
        found = []
        for form in self.lines.forms:
            if _fits(form, *known):
                found.append(self._event(form, line.number, line.text, key, *known))
                if not form.also:
                    break
        return found

    def begun(self, line: _Line) -> float:
        """Return when what a line ends has begun; long ago where nobody saw that."""
        request = {} if line.pair is None else self.pairs.get(line.pair, {})
        time = self.time_of(request, line.number)
        return float("-inf") if time is None else time

    def time_of(self, said: dict[str, Any], number: int) -> float | None:
        """Return when a line was that has to do with that of a number."""
        at = NOTHING if self.lines.at is None else self.lines.at.at(said)
        return _time(self.file, number, None if at is NOTHING else at, self.clock)

    def _event(
        self, form: LineForm, number: int, text: str, key: str | None, *known: dict[str, Any]
    ) -> Event:
        lines = self.lines
        answer = NOTHING if form.answer is None else form.answer.at(*known)
        stream = self.stream if lines.stream is None else lines.stream.at(*known)
        at = None if lines.at is None else lines.at.at(*known)
        lasts, pair = form.begins or form.ends or form.lost or form.refused, key
        if form.do is not None and form.lost:
            key = f"{form.name} in line {number} of {self.file}"  # nobody will see its end
        elif key is not None and form.request is not None:
            key = f"{form.request} {key}"
        return Event(
            line=number,
            text=text,
            do=form.do,
            name=form.target,
            outcome=form.outcome,
            arguments=_taken(form.arguments, *known),
            answered=answer is not NOTHING,
            answer=None if answer is NOTHING else answer,
            fields=_taken(form.fields, *known),
            at=_time(self.file, number, None if at is NOTHING else at, self.clock),
            stream=_text(stream) or "",
            id=key if lasts else None,
            ends=form.do is None and lasts,
            lost=form.lost,
            refused=form.refused,
            ready=form.ready,
            form=form.name,
            within=form.within,
            takes=0 if form.takes is None else self._takes(form.takes.at(*known), number),
            pair=pair,
        )

    def _takes(self, said: object, number: int) -> int:
        takes = first_number(said)
        if takes is None:
            raise _wrong(self.file, number, "the time that it takes has more than 18 digits")
        return takes

    def _before(self, said: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the line before of the same and what it asked last, and remember this one."""
        who = NOTHING if self.lines.of is None else self.lines.of.at(said)
        if not isinstance(who, str) or not who:
            return {}, {}
        previous, asked = self.last.pop(who, ({}, {}))
        turns = self.lines.turns
        self.last[who] = said, said if turns is not None and turns.asks(said) else asked
        if len(self.last) > PAIRS_MAX:
            del self.last[next(iter(self.last))]
        return previous, asked

    def _remember(self, key: str, said: dict[str, Any]) -> None:
        if key in self.pairs:
            del self.pairs[key]
        else:
            self.pairs[key] = said
            if len(self.pairs) > PAIRS_MAX:
                del self.pairs[next(iter(self.pairs))]


def _fits(form: LineForm, *known: dict[str, Any]) -> bool:
    return all(_text(path.at(*known)) == text for path, text in form.where)


def _may_fit(form: LineForm, said: dict[str, Any]) -> bool:
    """Whether a line may have a form, for some value of names in braces and some other lines."""
    return all(
        "{" in text or path.is_open or path.within != "line" or _text(path.at(said)) == text
        for path, text in form.where
    )


def _text(value: object) -> str | None:
    if value is NOTHING:
        return None
    return value if isinstance(value, str) else json.dumps(value)


def _taken(paths: Iterable[tuple[str, Path]], *known: dict[str, Any]) -> dict[str, Any]:
    """Return what stands at some paths, without what is not there."""
    found = ((name, path.at(*known)) for name, path in paths)
    return {name: value for name, value in found if value is not NOTHING}


def _wrong(file: File, number: int, what: str) -> UsageError:
    return UsageError(f"{file}:{number}: {what}")
