"""The part of a mapping that only recorded runs need: clocks, timers, windows, forms of lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from checker.table.cells import read_expression
from checker.table.document import Cell, Word
from checker.table.fields import Fields
from checker.table.nodes import Node
from checker.table.problems import Problems
from checker.table.refinement import read_settings
from checker.table.words import read_integer, read_word

Unit = Literal["us", "ms", "s"]
UNITS: Final[dict[str, float]] = {"us": 0.001, "ms": 1.0, "s": 1000.0}
"""Milliseconds in a unit of time."""

ASKS: Final = ("call", "fire", "complete")

RECORDING_KEYS: Final[dict[str, tuple[str, ...]]] = {
    "clock": ("unit", "error", "errors"),
    "timer": ("armed", "sets", "fires", "least", "greatest"),
    "window": ("values", "when", "do"),
    "form of lines": ("at", "stream", "pairs", "read"),
    "line": (*ASKS, "where", "outcome", "with", "answer", "fields", "begins", "ends", "lost"),
}
"""The keys of each part, as docs/conformance.md lists them."""


@dataclass(frozen=True, slots=True)
class Clock:
    """In what a log counts time, and how far an observer's clock may be off, in milliseconds."""

    unit: Unit = "ms"
    error: int = 0
    errors: tuple[tuple[str, int], ...] = ()

    def error_of(self, stream: str) -> int:
        """Return how far the clock of an observer may be off."""
        return dict(self.errors).get(stream, self.error)

    def milliseconds(self, at: float) -> float:
        """Return a time of the log in milliseconds."""
        return at * UNITS[self.unit]


@dataclass(frozen=True, eq=False)
class MappedTimer:
    """A timer: which are armed in a state, which rows set one anew, which are one firing.

    It fires `least` to `greatest` milliseconds after it was set; None: there is no limit.
    """

    name: Word
    armed: Cell
    sets: tuple[tuple[Word, Cell], ...]
    fires: tuple[tuple[Word, Cell], ...]
    least: int
    greatest: int | None


@dataclass(frozen=True, eq=False)
class MappedWindow:
    """Numbers of an endless log in a finite model: `do` makes all that the model has one less."""

    name: Word
    values: tuple[Word, ...]
    when: Cell
    do: Cell


@dataclass(frozen=True, slots=True)
class Path:
    """Where something stands in a line, key by key; `optional`: null where it is not there."""

    keys: tuple[str, ...]
    optional: bool
    request: bool
    """Whether it stands in the line that the line at hand is paired with."""


@dataclass(frozen=True, eq=False)
class LineForm:
    """Which lines it is for, and what they say in the words of the mapping."""

    name: str
    where: tuple[tuple[Path, str], ...]
    do: str | None
    target: str | None
    outcome: str | None
    arguments: tuple[tuple[str, Path], ...]
    answer: Path | None
    fields: tuple[tuple[str, Path], ...]
    begins: bool
    ends: bool
    lost: bool


@dataclass(frozen=True, eq=False)
class Lines:
    """How the lines of a log in another form are read; lines without a form are left out."""

    at: Path | None
    stream: Path | None
    pairs: Path | None
    forms: tuple[LineForm, ...]


@dataclass(frozen=True, eq=False)
class Recording:
    """What a mapping says of recorded runs.

    `constants` are those of the instance that explains them, where nobody says otherwise;
    `unlimited` are faults without a budget in them; `assume` is true in each state of them.
    """

    constants: tuple[tuple[str, int | bool | str], ...] = ()
    unlimited: tuple[Word, ...] = ()
    assume: tuple[Cell, ...] = ()
    clock: Clock = Clock()
    timers: tuple[MappedTimer, ...] = ()
    windows: tuple[MappedWindow, ...] = ()
    lines: Lines | None = None


def read_recording(fields: Fields) -> Recording:
    """Return what a mapping says of recorded runs."""
    problems = fields.problems
    time, lines = fields.get("time"), fields.get("lines")
    return Recording(
        constants=tuple(
            (word.text, value)
            for word, value, _ in read_settings(fields.get("constants"), problems)
        ),
        unlimited=fields.names("unlimited"),
        assume=fields.expressions("assume"),
        clock=Clock() if time is None else _clock(time, problems),
        timers=tuple(_timer(word, node, problems) for word, node in fields.named("timers")),
        windows=tuple(_window(word, node, problems) for word, node in fields.named("windows")),
        lines=None if lines is None else _lines(lines, problems),
    )


def _clock(node: Node, problems: Problems) -> Clock:
    fields = Fields(node, "clock", problems, RECORDING_KEYS["clock"])
    unit = fields.choice("unit", tuple(UNITS), "ms")
    errors = tuple(
        (word.text, read_integer(value, word.text, problems, 0))
        for word, value in fields.named("errors")
    )
    # `choice` returns one of those that it is given.
    return Clock(unit, fields.integer("error") or 0, errors)  # type: ignore[arg-type]


def _timer(word: Word, node: Node, problems: Problems) -> MappedTimer:
    fields = Fields(node, "timer", problems, RECORDING_KEYS["timer"])
    least, greatest = fields.integer("least"), fields.integer("greatest")
    fields.need("fires")
    if least is not None and greatest is not None and greatest < least:
        problems.add(
            "T112",
            f"the greatest time of `{word.text}` is less than the least",
            word.span,
            expected=f"at least {least}",
            found=str(greatest),
            help="write the times in milliseconds after the timer was set",
        )
    return MappedTimer(
        name=word,
        armed=fields.needed_expression("armed"),
        sets=_cells(fields, "sets"),
        fires=_cells(fields, "fires"),
        least=least or 0,
        greatest=greatest,
    )


def _window(word: Word, node: Node, problems: Problems) -> MappedWindow:
    fields = Fields(node, "window", problems, RECORDING_KEYS["window"])
    fields.need("do")
    when = fields.needed_expression("when")
    return MappedWindow(
        name=word,
        values=fields.names("values", required=True, single=True),
        when=when,
        do=fields.effects("do") or when,
    )


def _cells(fields: Fields, key: str) -> tuple[tuple[Word, Cell], ...]:
    return tuple(
        (word, read_expression(node, word.text, fields.problems))
        for word, node in fields.named(key)
    )


def _lines(node: Node, problems: Problems) -> Lines:
    fields = Fields(node, "form of lines", problems, RECORDING_KEYS["form of lines"])
    return Lines(
        at=_path(fields, "at"),
        stream=_path(fields, "stream"),
        pairs=_path(fields, "pairs"),
        forms=tuple(
            _form(word, entry, problems) for word, entry in fields.named("read", required=True)
        ),
    )


def _form(word: Word, node: Node, problems: Problems) -> LineForm:
    fields = Fields(node, "line", problems, RECORDING_KEYS["line"])
    asks = [key for key in ASKS if fields.has(key)]
    if len(asks) > 1:
        problems.add(
            "T117", f"`{asks[1]}` does not go with `{asks[0]}`", word.span, help="keep one of them"
        )
    target = fields.name(asks[0]) if asks else None
    outcome = fields.name("outcome")
    return LineForm(
        name=word.text,
        where=tuple(
            (_parsed(key.text), read_word(value, key.text, problems).text)
            for key, value in fields.entries("where", required=True)
        ),
        do=asks[0] if asks else None,
        target=None if target is None else target.text,
        outcome=None if outcome is None else outcome.text,
        arguments=_paths(fields, "with"),
        answer=_path(fields, "answer"),
        fields=_paths(fields, "fields"),
        begins=fields.boolean("begins", default=False),
        ends=fields.boolean("ends", default=False),
        lost=fields.boolean("lost", default=False),
    )


def _paths(fields: Fields, key: str) -> tuple[tuple[str, Path], ...]:
    return tuple(
        (word.text, _parsed(read_word(node, word.text, fields.problems).text))
        for word, node in fields.named(key)
    )


def _path(fields: Fields, key: str) -> Path | None:
    node = fields.get(key)
    return None if node is None else _parsed(read_word(node, key, fields.problems).text)


def _parsed(text: str) -> Path:
    """Return the path that `request.value.epoch?` says."""
    keys = text.removesuffix("?").split(".")
    request = keys[0] == "request" and len(keys) > 1
    return Path(tuple(keys[request:]), text.endswith("?"), request)
