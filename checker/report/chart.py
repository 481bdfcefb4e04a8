"""A message-sequence chart, laid out: lanes, steps and arrows with their places, in pixels.

Time runs down. A message is an arrow from the step that sent it to the step that received it, so
that a late one is slanted and one that overtakes crosses another; one that nobody has received at
the end is the beginning of an arrow. Nothing is drawn here: the page's template makes SVG of these
numbers.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from operator import add

from checker.frozen import frozen
from checker.report.headline import fault_mark, plural
from checker.report.lanes import FIRED, TIMERS, Lanes
from checker.report.travels import Fate, Journey, Travel, Wait, journey
from checker.semantics.values import RecordValue, format_value
from checker.trace.naming import step_name
from checker.trace.trace import Step, Trace

LETTER = 8.2
"""Pixels that most letters of the chart's text (13 px) need, in the widest of its typefaces."""

CAPITAL = 8.9
_OTHERS = (
    ("ijlIJ.,:;'| ", 4.0),
    ("frt()[]-", 5.1),
    ("_sczL", 6.9),
    ("DGOQ→=+", 10.4),
    ("mwMW@…", 12.4),
)
WIDTHS = {letter: width for letters, width in _OTHERS for letter in letters}
"""The letters that need more or less."""

BOLD = 1.11
"""How much wider bold text is."""

NOTE_SIZE = 12.5 / 13

LINE = 16
TOP = 44
FIRST_LANE = 52
GAP_MIN = 120
NOTES_MAX = 3
RADIUS = 11
HEADS_AGAIN = 12
"""Charts of more steps have the names of the lanes at the bottom too."""

OF_OPERATIONS = frozenset(("started", "completed", "timed out"))
TIMED_OUT = "timed out"
TIMER = re.compile(r"(^|_)(timeouts?|times?_out|timed_out|expires?|expired)(_|$)")


FITS = 924
"""Pixels that a chart may be wide before its texts are made shorter and its lanes closer.

So much is left of a window of 960.
"""

STUB = 44
"""Pixels that the arrow of a message goes on that is still under way at the end."""


@frozen()
class Room:
    """How many letters a label may have, and a line below one, which is smaller.

    The whole text is shown on demand. `own`: a step in the lane of a client is called without the
    `client_` that its row's name begins with. `apart`: pixels that lanes are apart at most; longer
    texts run over the lines of the lanes beside them, where nothing else is at that height.
    """

    label: int
    note: int
    own: bool = False
    apart: float = math.inf


ROOMS = (
    Room(34, 42),
    Room(34, 36, own=True),
    Room(28, 31, own=True),
    Room(28, 31, own=True, apart=200),
    Room(28, 31, own=True, apart=170),
    Room(28, 31, own=True, apart=145),
    Room(24, 27, own=True, apart=120),
)
"""What is tried in turn until a chart fits."""


@frozen()
class Label:
    """A line of text: as it fits, and whole."""

    x: float
    y: float
    text: str
    whole: str
    anchor: str = "start"


@frozen()
class Mark:
    """A step on its lane; `kind` is `step`, `fault`, `timer`, or `breaks` for the last one."""

    number: int
    lane: str
    x: float
    y: float
    bottom: float
    kind: str
    label: Label
    notes: tuple[Label, ...]

    @property
    def radius(self) -> int:
        """How large the dot is that its number fits."""
        return _radius(self.number)


@frozen()
class Arrow:
    """A message: its line as an SVG path, its end as another, and the steps at its ends."""

    path: str
    head: str
    label: Label
    fate: Fate
    sent: int | None
    ended: int | None
    top: float
    bottom: float


@frozen()
class Waiting:
    """A lane that waits: for an answer, for an operation to end."""

    x: float
    top: float
    bottom: float
    text: str


@frozen()
class Line:
    """A lane: where it begins and ends within the run, and its name."""

    x: float
    top: float
    bottom: float
    name: str


@frozen()
class Loop:
    """The steps that are repeated for ever."""

    top: float
    bottom: float
    text: str


@frozen()
class Chart:
    """Everything that is drawn, with the size of the whole; `ends` is where each step ends."""

    width: int
    height: int
    top: int
    bottom: int
    lanes: tuple[Line, ...]
    marks: tuple[Mark, ...]
    arrows: tuple[Arrow, ...]
    waits: tuple[Waiting, ...]
    loop: Loop | None
    heads_again: bool
    ends: tuple[float, ...]

    @property
    def described(self) -> str:
        """Who takes part and how much there is, for those who do not see it."""
        names = "; ".join(line.name for line in self.lanes)
        lost = sum(arrow.fate == "lost" for arrow in self.arrows)
        messages = sum(arrow.fate not in OF_OPERATIONS for arrow in self.arrows)
        text = (
            f"{plural(len(self.marks), 'step')} and {plural(messages, 'message')} between {names}"
        )
        return text + (f"; {lost} lost" if lost else "")

    def part(self, first: int, last: int) -> Chart:
        """Return what is drawn of some of the steps; what goes on before or after is cut off."""
        top = self.ends[first - 1] if first > 1 else self.top - 12
        whole = last == len(self.ends) - 1
        bottom = self.bottom if whole else self.ends[last]

        def touches(low: float, high: float) -> bool:
            return low < bottom and high > top

        return replace(
            self,
            top=math.floor(top) + 12,
            bottom=math.ceil(bottom),
            height=self.height if whole else math.ceil(bottom),
            lanes=tuple(
                replace(line, top=max(line.top, top), bottom=min(line.bottom, bottom))
                for line in self.lanes
            ),
            marks=tuple(mark for mark in self.marks if first <= mark.number <= last),
            arrows=tuple(item for item in self.arrows if touches(item.top, item.bottom)),
            waits=tuple(item for item in self.waits if touches(item.top, item.bottom)),
            loop=self.loop if self.loop and touches(self.loop.top, self.loop.bottom) else None,
            heads_again=whole and self.heads_again,
        )


@frozen()
class _Row:
    """The lines of one step: where its dot, its texts and its sendings are, and where it ends."""

    dot: float
    label: float
    sends: Mapping[int, float]
    bottom: float


@frozen()
class _Plan:
    """What is drawn, and in which lane: all but the numbers.

    `travels` have the numbers by which `messages` says what is written on them.
    """

    trace: Trace
    way: Journey
    names: list[str]
    notes: Mapping[int, list[str]]
    messages: list[str]
    steps: tuple[Step, ...]
    travels: tuple[tuple[int, Travel], ...]
    waits: tuple[Wait, ...]
    room: Room = ROOMS[0]

    def column(self, name: str) -> int:
        return self.names.index(name)


def chart(trace: Trace, parties: Lanes) -> Chart | None:
    """Return the chart of a trace; None where nothing happens in it."""
    if not trace.length:
        return None
    plan = _plan(trace, parties)
    return _drawn(_fitting(plan), _rows(plan))


def charts(trace: Trace, parties: Lanes, spans: Iterable[tuple[int, int]]) -> list[Chart]:
    """Return charts of parts of a trace, from step to step, each with who takes part in it."""
    plan = _plan(trace, parties)
    rows = _rows(plan)
    return [_drawn(_fitting(_within(plan, *span)), rows).part(*span) for span in spans]


def _plan(trace: Trace, parties: Lanes) -> _Plan:
    steps = trace.steps[1:]
    way = journey(trace, parties)
    notes = {step.number: _notes(trace, step, way.actors[step.number]) for step in steps}
    names = _in_order(parties, way)
    messages = _short_messages(way.travels, ROOMS[0])
    travels = tuple(enumerate(way.travels))
    return _Plan(trace, way, names, notes, messages, steps, travels, tuple(way.waits))


def _within(plan: _Plan, first: int, last: int) -> _Plan:
    """Return what is drawn of some steps: these, what passes by, and the lanes of all that."""

    def passes(begin: int | None, end: int | None) -> bool:
        return (begin or 0) <= last and (end is None or end >= first)

    def touches(travel: Travel) -> bool:
        return passes(travel.sent, travel.sent if travel.ended is None else travel.ended)

    steps = plan.steps[first - 1 : last]
    travels = tuple(item for item in plan.travels if touches(item[1]))
    waits = tuple(wait for wait in plan.waits if passes(wait.since, wait.until))
    met = {plan.way.actors[step.number] for step in steps} | {wait.lane for wait in waits}
    met |= {name for _, item in travels for name in _met(item)}
    names = [name for name in plan.names if name in met]
    return replace(plan, names=names, steps=steps, travels=travels, waits=waits)


def _fitting(plan: _Plan) -> _Plan:
    """Return a plan with texts so short that its chart fits, or as short as they may be."""
    travels = plan.way.travels
    for room in ROOMS:
        plan = replace(plan, room=room, messages=_short_messages(travels, room))
        if _places(plan)[-1] <= FITS:
            break
    return plan


def _drawn(plan: _Plan, rows: Mapping[int, _Row]) -> Chart:
    trace, names = plan.trace, plan.names
    places = _places(plan)
    bottom = rows[trace.length].bottom
    again = trace.length > HEADS_AGAIN
    loop = _loop(trace, rows)
    return Chart(
        width=math.ceil(max(places[len(names)], 46 + _width(loop.text) * BOLD if loop else 0)),
        height=math.ceil(bottom + LINE * (2 if again else 0)),
        top=TOP,
        bottom=math.ceil(bottom),
        lanes=tuple(_lane(plan, name, places[column], rows) for column, name in enumerate(names)),
        marks=tuple(_mark(plan, step, places, rows[step.number]) for step in plan.steps),
        arrows=tuple(_arrow(plan, number, travel, places, rows) for number, travel in plan.travels),
        waits=tuple(_waiting(plan, wait, places, rows) for wait in plan.waits),
        loop=loop,
        heads_again=again,
        ends=tuple(rows[number].bottom for number in range(trace.length + 1)),
    )


def _in_order(parties: Lanes, way: Journey) -> list[str]:
    """Return the lanes: kinds of party as they come to take part, members in their order."""
    travels = way.travels
    names = list(dict.fromkeys(way.actors.values()))
    names += [name for item in travels for name in _met(item)]
    names += [wait.lane for wait in way.waits]
    storage = dict.fromkeys(
        item.target if item.fate == "started" else item.origin
        for item in travels
        if item.fate in OF_OPERATIONS
    )
    words = [name.partition(" ")[0].rstrip(",") for name in names if name not in storage]
    words = list(dict.fromkeys([*words, *storage]))

    def place(name: str) -> tuple[int, int, str]:
        word, _, member = name.partition(", ")[0].partition(" ")
        members = parties.members.get(word, ())
        return words.index(word), members.index(member) if member in members else -1, name

    return sorted(set(names), key=place)


def _met(travel: Travel) -> tuple[str, ...]:
    """Return the lanes that a message is drawn between; it may never have come to the second."""
    return (travel.origin,) if travel.ended is None else (travel.origin, travel.target)


def _lane(plan: _Plan, name: str, x: float, rows: Mapping[int, _Row]) -> Line:
    """Return a lane: one that died, or came to be, within the run is that much shorter."""
    way = plan.way
    top = rows[way.begins[name]].dot if name in way.begins else TOP - 12
    end = rows[plan.trace.length].bottom
    return Line(x, top, rows[way.ends[name]].bottom if name in way.ends else end, name)


def _waiting(plan: _Plan, wait: Wait, places: list[float], rows: Mapping[int, _Row]) -> Waiting:
    """Return where a lane waits: who has died waits no more."""
    over = [number for number in (wait.until, plan.way.ends.get(wait.lane)) if number is not None]
    end = rows[min(over)].dot if over else rows[plan.trace.length].bottom
    still = "" if over else ", still at the end"
    text = f"waits for the answer to {wait.what}{still}"
    if wait.lane == wait.what.partition("(")[0] or wait.lane not in plan.way.actors.values():
        text = f"{wait.what} is under way{still}"
    return Waiting(places[plan.column(wait.lane)], rows[wait.since].dot, end, text)


def _short_messages(travels: Iterable[Travel], room: Room) -> list[str]:
    """Return a short text for each message: its kind, and first the fields that tell it apart."""
    found = [travel.message for travel in travels]
    values: dict[tuple[str, str], set[object]] = defaultdict(set)
    for message in found:
        if isinstance(message, RecordValue):
            for name, value in message.fields:
                values[message.name, name].add(value)
    return [_short_message(message, values, room) for message in found]


def _short_message(
    message: object, values: Mapping[tuple[str, str], set[object]], room: Room
) -> str:
    if not isinstance(message, RecordValue) or not message.fields:
        return _fitted(format_value(message), room.label)
    texts = {name: f"{name}={format_value(value)}" for name, value in message.fields}
    telling = sorted(texts, key=lambda name: len(values[message.name, name]) == 1)
    kept: set[str] = set()
    used = len(message.name) + 2
    for name in telling:
        more = len(texts[name]) + 2
        # One field is always worth a longer label: without it the message says nothing.
        if used + more <= (room.label if kept else room.note):
            kept.add(name)
            used += more
    shown = [text for name, text in texts.items() if name in kept]
    shown += ["…"] if len(kept) < len(texts) else []
    return f"{message.name}({', '.join(shown)})"


def _fitted(text: str, most: int) -> str:
    """Return a text that is no longer than a label may be."""
    return text if len(text) <= most else text[: most - 1] + "…"


def _called(plan: _Plan, step: Step) -> str:
    """Return a step's name, without some of its values where it is long."""
    most = plan.room.label
    whole = step_name(step)
    if plan.room.own:
        party = plan.way.actors[step.number].partition(", ")[0].partition(" ")[0]
        whole = whole.removeprefix(f"{party}_") or whole
    row, _, values = whole.partition("(")
    while len(whole) > most and ", " in values:
        values = values.removesuffix(", …)").rpartition(", ")[0]
        whole = f"{row}({values}, …)" if values else f"{row}(…)"
    return whole if values == "" and len(row) <= most else _fitted(whole, most)


def _notes(trace: Trace, step: Step, lane: str) -> list[str]:
    """Return what is said below a step's name, the most telling first."""
    last = step.number == trace.length
    lines = []
    if last and trace.loop is None and trace.kind != "sometimes" and step.error is None:
        broken = {
            "deadlock": "nothing can happen now",
            "legal": "no such move in the table",
            "error": "the evaluation ends with an error",
        }
        lines.append(broken.get(trace.kind, f"breaks {trace.property_name}"))
    lines += [f"illegal: {move.origin} → {move.target}" for move in step.illegal]
    lines += ["an error ends the run"] if step.error is not None else []
    lines += [fault_mark(step)] if step.fault is not None else []
    lines += [
        f"{event.label}: {event.variable}" for event in step.events if event.label == TIMED_OUT
    ]
    lines += [f"{event.label}: {event.channel}" for event in step.events if event.label in TIMERS]
    if trace.loop is not None and step.number == trace.loop.raised:
        lines.append("false again here" if trace.kind == "eventually_always" else "due from here")
    if step.moves:
        moved = [f"{move.machine}: {move.origin} → {move.target}" for move in step.moves]
    else:
        # How often a fault may still happen is told beside its name.
        plain = (item for item in step.changes if not item.place.startswith("budget."))
        quiet = tuple(plain) if not step.events else ()
        moved = [str(change).replace(" -> ", " → ") for change in quiet[:2]]
    # In the lane of client c1 `client[c1].state` is the state.
    word, _, member = lane.partition(", ")[0].partition(" ")
    own = f"{word}[{member}]." if member else f"{word}."
    return [*lines, *(text.removeprefix(own) for text in moved)][:NOTES_MAX]


def _radius(number: int) -> int:
    return RADIUS if number <= 99 else 14 if number <= 999 else 18


def _kind(trace: Trace, step: Step) -> str:
    if step.number == trace.length and trace.loop is None and trace.kind != "sometimes":
        return "breaks"
    if step.fault is not None:
        return "fault"
    timed = any(event.label == TIMED_OUT or event.label in FIRED for event in step.events)
    return "timer" if timed or TIMER.search(step.row) else "step"


def _places(plan: _Plan) -> list[float]:
    """Return the middle of each lane, and last the width of the chart."""
    right = [GAP_MIN / 2] * len(plan.names)
    left = [0.0] * len(plan.names)
    for step in plan.steps:
        column = plan.column(plan.way.actors[step.number])
        wide = [_width(_called(plan, step)) * BOLD]
        told = [_width(_fitted(note, plan.room.note)) for note in plan.notes[step.number]]
        # What is wrong, the first note, is bold.
        wide += [width * NOTE_SIZE * (1 if place else BOLD) for place, width in enumerate(told)]
        right[column] = max(right[column], *(width + 20 for width in wide))
    begun = {step.number for step in plan.steps}
    for number, travel in plan.travels:
        if travel.sent is not None and {travel.sent, travel.ended}.isdisjoint(begun):
            continue  # it only passes by
        origin = plan.column(travel.origin)
        side = left if _leftwards(plan, travel) else right
        side[origin] = max(side[origin], _width(_written(plan, number, travel)) + 24)
    halves = [_width(name) * BOLD / 2 + 8 for name in plan.names]
    right = list(map(max, right, halves))
    left = list(map(max, left, halves))
    places = [max(float(FIRST_LANE), left[0] + 24)]
    for column in range(1, len(plan.names)):
        wanted = max(right[column - 1], left[column], right[column - 1] * 0.5 + 90)
        heads = halves[column - 1] + halves[column]
        gap = max(GAP_MIN, heads, min(wanted, plan.room.apart))
        # What is written to the left of a lane needs room before it, whatever lies between.
        places.append(max(places[-1] + gap, left[column] + 24))
    return [*places, max(map(add, places, right)) + 16]


def _leftwards(plan: _Plan, travel: Travel) -> bool:
    """Whether a message goes to the left; one to nobody who is drawn goes to the right."""
    names = plan.names
    return travel.target in names and names.index(travel.target) < names.index(travel.origin)


def _written(plan: _Plan, number: int, travel: Travel) -> str:
    """Return what is written on a message, with whom it is for where that has no lane."""
    text = plan.messages[number]
    return text if travel.target in plan.names else f"{text} to {travel.target}"


def _width(text: str) -> float:
    return sum(_letter(letter) for letter in text)


def _letter(letter: str) -> float:
    return WIDTHS.get(letter, CAPITAL if letter.isupper() else LETTER)


def _rows(plan: _Plan) -> dict[int, _Row]:
    """Return the heights of each step; 0 is the initial state, where the lanes begin."""
    begun = [
        number
        for number, travel in enumerate(plan.way.travels)
        if travel.sent is None and travel.fate not in OF_OPERATIONS
    ]
    sent = {number: TOP + 8.0 + LINE * place for place, number in enumerate(begun)}
    rows = {0: _Row(TOP, TOP, sent, max([TOP, *sent.values()]) + 4)}
    for step in plan.trace.steps[1:]:
        column = plan.column(plan.way.actors[step.number])
        dot = rows[step.number - 1].bottom + 15
        heard = any(
            travel.ended == step.number
            and plan.column(travel.target) == column <= plan.column(travel.origin)
            for travel in plan.way.travels
        )
        # What comes from the right ends where the text would be.
        label = dot + (19 if heard else 0)
        last = label + LINE * len(plan.notes[step.number])
        sends = {}
        for number, travel in enumerate(plan.way.travels):
            if travel.sent == step.number:
                last += LINE + 9
                sends[number] = last
        if any(
            travel.ended == step.number == travel.sent and travel.fate != "started"
            for travel in plan.way.travels
        ):
            last += LINE
        rows[step.number] = _Row(dot, label, sends, last + 10)
    number = plan.trace.length
    loop = plan.trace.loop
    if loop is not None:
        end = rows[number]
        rows[number] = replace(end, bottom=end.bottom + 24)
    return rows


def _mark(plan: _Plan, step: Step, places: list[float], row: _Row) -> Mark:
    name = plan.way.actors[step.number]
    x = places[plan.column(name)]
    beside = x + 6 + _radius(step.number)
    notes = tuple(
        Label(beside, row.label + 4.5 + LINE * (number + 1), _fitted(note, plan.room.note), note)
        for number, note in enumerate(plan.notes[step.number])
    )
    return Mark(
        number=step.number,
        lane=name,
        x=x,
        y=row.dot,
        bottom=max([row.dot, *row.sends.values()]),
        kind=_kind(plan.trace, step),
        label=Label(beside, row.label + 4.5, _called(plan, step), step_name(step)),
        notes=notes,
    )


def _arrow(
    plan: _Plan, number: int, travel: Travel, places: list[float], rows: Mapping[int, _Row]
) -> Arrow:
    x1, y1, x2, y2 = _points(plan, number, travel, places, rows)
    forward = not _leftwards(plan, travel)
    said = {"received": "", "read": ""}.get(travel.fate, f" to {travel.target} is {travel.fate}")
    if travel.fate in OF_OPERATIONS:
        said = f" is {travel.fate}"
    label = Label(
        x1 + 9 if forward else x1 - 9,
        y1 - 5,
        _written(plan, number, travel),
        format_value(travel.message) + said,
        "start" if forward else "end",
    )
    turns = travel.origin == travel.target and travel.fate not in {"lost", "under way"}
    line, head = _line(x1, y1, x2, y2, travel, turns=turns)
    return Arrow(
        line, head, label, travel.fate, travel.sent, travel.ended, min(y1, y2) - LINE, max(y1, y2)
    )


def _points(
    plan: _Plan, number: int, travel: Travel, places: list[float], rows: Mapping[int, _Row]
) -> tuple[float, float, float, float]:
    """Return where the arrow of a message begins and ends."""
    x1 = places[plan.column(travel.origin)]
    y1 = rows[travel.sent or 0].sends.get(number, rows[0].dot)
    if travel.ended is None:
        return x1, y1, x1 + (-STUB if _leftwards(plan, travel) else STUB), y1 + STUB / 9
    x2 = places[plan.column(travel.target)]
    if travel.fate == "lost":
        x2 = (x1 + x2) / 2 if travel.origin != travel.target else x1 + GAP_MIN / 3
    if travel.fate == "started":
        return x1, y1, x2, y1
    end = rows[travel.ended].dot
    if travel.fate in OF_OPERATIONS:
        return x1, end, x2, end
    return x1, y1, x2, y1 + LINE if travel.ended == travel.sent else end


def _line(
    x1: float, y1: float, x2: float, y2: float, travel: Travel, *, turns: bool
) -> tuple[str, str]:
    """Return the path of a message, and that of the head or cross at its end."""
    cross = f"M{x2 - 6:.1f} {y2 - 6:.1f}l12 12m0 -12l-12 12"
    if turns:
        x2 = x1 + RADIUS + 1
        out = x1 + GAP_MIN / 2
        path = f"M{x1:.1f} {y1:.1f}C{out:.1f} {y1:.1f} {out:.1f} {y2:.1f} {x2:.1f} {y2:.1f}"
        return path, _head(x2, y2, math.pi)
    angle = math.atan2(y2 - y1, x2 - x1)
    if travel.fate in {"received", "read", "completed", "timed out"}:
        # The head touches the dot of the step that receives.
        x2 -= (RADIUS + 1) * math.cos(angle)
        y2 -= (RADIUS + 1) * math.sin(angle)
    path = f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"
    if travel.fate == "lost":
        return path, cross
    return path, _head(x2, y2, angle)


def _head(x: float, y: float, angle: float) -> str:
    turned = (angle - 0.4, angle + 0.4)
    points = [(x, y), *((x - 11 * math.cos(turn), y - 11 * math.sin(turn)) for turn in turned)]
    return "M" + "L".join(f"{px:.1f} {py:.1f}" for px, py in points) + "Z"


def _loop(trace: Trace, rows: Mapping[int, _Row]) -> Loop | None:
    if trace.loop is None:
        return None
    if trace.loop.start == trace.length:
        end = rows[trace.length].bottom
        return Loop(end - 14, end - 4, "nothing happens any more, for ever")
    top = rows[trace.loop.start].bottom + 2
    return Loop(top, rows[trace.length].bottom - 4, "again and again")
