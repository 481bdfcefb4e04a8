"""The part of a mapping that only recorded runs need: clocks, timers, windows, forms of lines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final, Literal

from checker.conformance import forms
from checker.conformance.forms import (
    Lines,
    Value,
    path_at,
    path_of,
    read_lines,
)
from checker.conformance.paths import Path, filled
from checker.digits import natural
from checker.frozen import frozen
from checker.table.cells import read_expression
from checker.table.document import Cell, Word
from checker.table.fields import Fields
from checker.table.nodes import Node
from checker.table.problems import Problems, nearest
from checker.table.refinement import Settings, read_settings
from checker.table.words import read_integer, read_names, read_word

Unit = Literal["us", "ms", "s"]
UNITS: Final[dict[str, float]] = {"us": 0.001, "ms": 1.0, "s": 1000.0}
"""Milliseconds in a unit of time."""

_DIGITS = 9
"""Digits that a number after a path may have."""

RECORDING_KEYS: Final[dict[str, tuple[str, ...]]] = {
    "clock": ("unit", "error", "errors"),
    "timer": (
        *("armed", "sets", "fires", "least", "least_of"),
        *("greatest", "greatest_of", "anew", "or_never", "usual"),
    ),
    "window": ("values", "when", "do"),
    "rows that go together": ("rows", "before", "all"),
    "fact": (
        *("value", "of", "is", "is_not", "changes", "known_within"),
        *("unanswered", "only_with"),
    ),
    "change of a fact": ("to", "away", "within", "known_within"),
    "what is not answered": ("after", "within"),
    **forms.KEYS,
}
"""The keys of each part, as docs/conformance.md lists them."""


@frozen()
class Clock:
    """In what a log counts time, and how far an observer's clock may be off, in milliseconds."""

    unit: Unit = "ms"
    error: int = 0
    errors: tuple[tuple[str, int], ...] = ()

    @property
    def widest(self) -> int:
        """How far any clock may be off."""
        return max([self.error, *(error for _, error in self.errors)])

    def error_of(self, stream: str) -> int:
        """Return how far the clock of an observer may be off."""
        return dict(self.errors).get(stream, self.error)

    def milliseconds(self, at: float) -> float:
        """Return a time of the log in milliseconds."""
        return at * UNITS[self.unit]


@frozen(eq=False, slots=False)
class MappedTimer:
    """A timer: which are armed in a state, which rows set one anew, which are one firing.

    It fires `least` to `greatest` milliseconds after it was set; None: there is no limit.
    `least_of` and `greatest_of` say where the log has these times, and by what they are multiplied:
    the least number there, and the greatest one. After a line of a form in `anew` all of them may
    be set anew, within so many milliseconds. `or_never`: where it does not fire in time it never
    does, and nothing waits for it. `usual`: these times are what was seen, not what is promised.
    """

    name: Word
    armed: Cell
    sets: tuple[tuple[Word, Cell], ...]
    fires: tuple[tuple[Word, Cell], ...]
    least: int
    greatest: int | None
    least_of: tuple[Path, int] | None = None
    greatest_of: tuple[Path, int] | None = None
    anew: tuple[tuple[Word, int], ...] = ()
    or_never: bool = False
    usual: bool = False


@frozen(eq=False, slots=False)
class MappedWindow:
    """Numbers of an endless log in a finite model: `do` makes all that the model has one less."""

    name: Word
    values: tuple[Word, ...]
    when: Cell
    do: Cell


@frozen(eq=False, slots=False)
class Together:
    """Rows that are taken one after the other, with nothing in between, for the same ids.

    That is before a line that names the ids, of one of the forms `before` where there are some.
    `all`: each row as often as it can be, whatever it is for, in any one order.
    """

    rows: tuple[Word, ...]
    before: tuple[Word, ...]
    all: bool


@frozen(eq=False, slots=False)
class Told:
    """A hidden row that answers a request: forms of the answers that tell of it."""

    row: Word
    forms: tuple[Word, ...]


@frozen(eq=False, slots=False)
class Change:
    """A fact may change within some milliseconds: `to` what stands there, or to anything.

    Or `away` from what stands there to something else, once. For `known_within` milliseconds after
    the line somebody may still go by the value before.
    """

    to: Path | None
    away: Path | None
    within: int
    known_within: int


@frozen(eq=False, slots=False)
class Fact:
    """What has one value at a time, of which lines alone tell: those of some forms.

    A line of a form in `holds` says that it has the value that stands there, one of a form in
    `fails` that it has another one. It changes only where a line of a form in `changes` lets it;
    nobody goes by the old value longer than for `known_within` milliseconds. It may be `of` what
    stands there: each has its own. A line of a form in `holds` that is not answered within the
    first number of `unanswered` lets it change until it is, or within the second number. In a log
    without a line of a form in `only_with` it is not looked at.
    """

    name: Word
    value: Path
    holds: frozenset[str]
    fails: frozenset[str]
    changes: dict[str, Change]
    known_within: int
    of: Path | None = None
    unanswered: tuple[int, int] | None = None
    only_with: frozenset[str] = frozenset()


@frozen()
class Size:
    """A constant that a log decides: what stands at a path in it, and how much is added.

    Of texts it is how many different ones there are, of numbers the greatest and one. Several of
    one constant are added up.
    """

    constant: Word
    path: Path
    more: int


@frozen()
class Variant:
    """Constants of other runs, such as those of another release: a log may be of them, too."""

    name: str
    settings: Settings

    @property
    def constants(self) -> tuple[tuple[str, int | bool | str], ...]:
        """What it sets, without the places of that."""
        return _values(self.settings)


@frozen(eq=False, slots=False)
class Recording:
    """What a mapping says of recorded runs.

    `settings` are constants of the instance that explains them, where nobody says otherwise, and
    `variants` have others; `sizes` are constants that the log decides. `unlimited` are faults
    without a budget in them; `alike` are types of ids that the model tells apart, and not with
    these constants; `assume` is true in each state of them.
    """

    settings: Settings = ()
    variants: tuple[Variant, ...] = ()
    sizes: tuple[Size, ...] = ()
    unlimited: tuple[Word, ...] = ()
    alike: tuple[Word, ...] = ()
    assume: tuple[Cell, ...] = ()
    clock: Clock = Clock()
    timers: tuple[MappedTimer, ...] = ()
    windows: tuple[MappedWindow, ...] = ()
    lines: Lines | None = None
    together: tuple[Together, ...] = ()
    told: tuple[Told, ...] = ()
    facts: tuple[Fact, ...] = ()

    @property
    def constants(self) -> tuple[tuple[str, int | bool | str], ...]:
        """What it sets, without the places of that."""
        return _values(self.settings)

    @property
    def decides(self) -> object:
        """What a log is asked for by which it decides the model."""
        times = tuple((one.name.text, one.least_of, one.greatest_of) for one in self.timers)
        return self.constants, self.sizes, times

    def of(self, value: Value) -> Recording:
        """Return it with values in place of names in braces."""
        if self.lines is None:
            return self
        lines, parts = self.lines, (self.sizes, self.timers, self.facts)
        for name, text in value:
            forms = tuple(form.of(name, text) for form in lines.forms)
            lines = filled(replace(lines, forms=forms), name, text)
            parts = filled(parts, name, text)
        sizes, timers, facts = parts
        return replace(self, lines=lines, sizes=sizes, timers=timers, facts=facts)

    def varied(self, variant: Variant) -> Recording:
        """Return it with a variant's constants."""
        named = {word.text: (word, value, span) for word, value, span in self.settings}
        named |= {word.text: (word, value, span) for word, value, span in variant.settings}
        return replace(self, settings=tuple(named.values()))

    def timed(self, least: dict[str, int], greatest: dict[str, int]) -> Recording:
        """Return it with the least and the greatest times of some timers."""
        timers = tuple(
            replace(
                timer,
                least=least.get(timer.name.text, timer.least),
                greatest=greatest.get(timer.name.text, timer.greatest),
            )
            for timer in self.timers
        )
        return replace(self, timers=timers)


def read_recording(fields: Fields) -> Recording:
    """Return what a mapping says of recorded runs."""
    problems = fields.problems
    time, written = fields.get("time"), fields.get("lines")
    lines = None if written is None else read_lines(written, problems)
    return Recording(
        settings=read_settings(fields.get("constants"), "constants", problems),
        variants=tuple(_variant(word, node, problems) for word, node in fields.named("variants")),
        sizes=tuple(
            size for word, node in fields.named("sizes") for size in _sizes(word, node, problems)
        ),
        unlimited=fields.names("unlimited"),
        alike=fields.names("alike"),
        assume=fields.expressions("assume"),
        clock=Clock() if time is None else _clock(time, problems),
        timers=tuple(_timer(word, node, lines, problems) for word, node in fields.named("timers")),
        windows=tuple(_window(word, node, problems) for word, node in fields.named("windows")),
        lines=lines,
        together=tuple(_together(node, problems) for _, node in fields.named("together")),
        told=tuple(_told(word, node, lines, problems) for word, node in fields.named("told")),
        facts=tuple(_fact(word, node, lines, problems) for word, node in fields.named("facts")),
    )


def _variant(word: Word, node: Node, problems: Problems) -> Variant:
    return Variant(word.text, read_settings(node, word.text, problems))


def _values(settings: Settings) -> tuple[tuple[str, int | bool | str], ...]:
    return tuple((word.text, value) for word, value, _ in settings)


def _told(word: Word, node: Node, lines: Lines | None, problems: Problems) -> Told:
    forms = read_names(node, word.text, problems)
    _forms_exist(forms, lines, problems)
    return Told(word, forms)


def _fact(word: Word, node: Node, lines: Lines | None, problems: Problems) -> Fact:
    fields = Fields(node, "fact", problems, RECORDING_KEYS["fact"])
    holds, fails = fields.names("is", required=True), fields.names("is_not")
    fields.need("value")
    changes = {}
    for form, entry in fields.named("changes"):
        inside = Fields(entry, "change of a fact", problems, RECORDING_KEYS["change of a fact"])
        inside.need("within")
        times = inside.integer("within") or 0, inside.integer("known_within") or 0
        changes[form] = Change(path_at(inside, "to"), path_at(inside, "away"), *times)
    only_with, unanswered = fields.names("only_with"), fields.get("unanswered")
    _forms_exist((*holds, *fails, *changes, *only_with), lines, problems)
    return Fact(
        word,
        path_at(fields, "value") or Path(()),
        frozenset(form.text for form in holds),
        frozenset(form.text for form in fails),
        {form.text: change for form, change in changes.items()},
        fields.integer("known_within") or 0,
        path_at(fields, "of"),
        None if unanswered is None else _unanswered(unanswered, problems),
        frozenset(form.text for form in only_with),
    )


def _unanswered(node: Node, problems: Problems) -> tuple[int, int]:
    fields = Fields(node, "what is not answered", problems, RECORDING_KEYS["what is not answered"])
    fields.need("within")
    return fields.integer("after") or 0, fields.integer("within") or 0


def _forms_exist(forms: Iterable[Word], lines: Lines | None, problems: Problems) -> None:
    """Note names of forms of lines that there are not."""
    known = set() if lines is None else {form.name for form in lines.forms}
    for form in forms:
        if form.text not in known:
            close = nearest(form.text, known)
            problems.add(
                "N206",
                f"no form of lines is called `{form.text}`",
                form.span,
                help=f"did you mean `{close}`?" if close else None,
            )


def _together(node: Node, problems: Problems) -> Together:
    fields = Fields(
        node, "rows that go together", problems, RECORDING_KEYS["rows that go together"]
    )
    return Together(
        fields.names("rows", required=True),
        fields.names("before"),
        fields.boolean("all", default=False),
    )


def _sizes(word: Word, node: Node, problems: Problems) -> list[Size]:
    text = read_word(node, word.text, problems).text
    *paths, last = text.split(" + ")
    more = natural(last, _DIGITS) if paths else None
    if more is None:  # what only looks like a number leaves a text that is no path
        paths, more = [text] if paths and last.isdigit() else [*paths, last], 0
    return [
        Size(word, path_of(path, node.span, problems), 0 if number else more)
        for number, path in enumerate(paths)
    ]


def _clock(node: Node, problems: Problems) -> Clock:
    fields = Fields(node, "clock", problems, RECORDING_KEYS["clock"])
    unit = fields.choice("unit", tuple(UNITS), "ms")
    errors = tuple(
        (word.text, read_integer(value, word.text, problems, 0))
        for word, value in fields.named("errors")
    )
    # `choice` returns one of those that it is given.
    return Clock(unit, fields.integer("error") or 0, errors)  # type: ignore[arg-type]


def _timer(word: Word, node: Node, lines: Lines | None, problems: Problems) -> MappedTimer:
    fields = Fields(node, "timer", problems, RECORDING_KEYS["timer"])
    _forms_exist((form for form, _ in fields.named("anew")), lines, problems)
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
        least_of=_time_of(fields, "least_of"),
        greatest_of=_time_of(fields, "greatest_of"),
        anew=tuple(
            (form, read_integer(value, form.text, problems, 0))
            for form, value in fields.named("anew")
        ),
        or_never=fields.boolean("or_never", default=False),
        usual=fields.boolean("usual", default=False),
    )


def _time_of(fields: Fields, key: str) -> tuple[Path, int] | None:
    node = fields.get(key)
    if node is None:
        return None
    text = read_word(node, key, fields.problems).text
    path, star, number = text.partition(" * ")
    times = natural(number, _DIGITS) if star else 1
    if times is None:
        path, times = text, 1
    return path_of(path, node.span, fields.problems), times


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
