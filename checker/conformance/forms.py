"""How lines of a log in another form are read: the forms that a mapping gives for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from checker.conformance.paths import Path, filled, parsed, plain, put
from checker.frozen import frozen
from checker.source import Span
from checker.table.document import Word
from checker.table.fields import Fields
from checker.table.nodes import Node
from checker.table.problems import Problems
from checker.table.words import read_items, read_word

ASKS: Final = ("call", "fire", "complete")

KEYS: Final[dict[str, tuple[str, ...]]] = {
    "form of lines": ("at", "stream", "pairs", "turns", "of", "each", "read"),
    "turns": ("of", "answers", "same"),
    "each": ("values", "ranges"),
    "line": (
        *ASKS,
        *("where", "outcome", "with", "answer", "fields"),
        *("request", "begins", "within", "ends", "lost", "refused", "ready", "also", "takes"),
    ),
}
"""The keys of each part, as docs/conformance.md lists them."""


@frozen(eq=False, slots=False)
class LineForm:
    """Which lines it is for, and what they say in the words of the mapping.

    Of several requests that a line begins, `request` is the one that the form is of. What it begins
    is done `within` some milliseconds or never. A line may be of other forms `also`, later ones.
    Where it says how long what it tells of `takes`, all these times count from its end.
    """

    name: str
    where: tuple[tuple[Path, str], ...]
    do: str | None
    target: str | None
    outcome: str | None
    arguments: tuple[tuple[str, Path], ...]
    answer: Path | None
    fields: tuple[tuple[str, Path], ...]
    request: str | None
    begins: bool
    within: int | None
    ends: bool
    lost: bool
    refused: bool
    ready: bool
    also: bool
    takes: Path | None

    def paths(self) -> Iterator[Path]:
        """Yield the paths that the form reads."""
        yield from (path for path, _ in self.where)
        yield from (path for _, path in (*self.arguments, *self.fields))
        yield from (path for path in (self.answer, self.takes) if path is not None)

    def of(self, name: str, value: str) -> LineForm:
        """Return the form with a value in place of a name in braces."""
        where = tuple((path, put(text, name, value)) for path, text in self.where)
        return filled(replace(self, where=where), name, value)


Value = tuple[tuple[str, str], ...]
"""What a log is judged for: names in braces, and a value for each."""


@frozen()
class Each:
    """A name whose values a log is judged for, one after the other.

    They are `values`, or numbers of the log: of those that lie in the same of the `ranges` there,
    arrays that begin with a first and a last number, the least one.
    """

    name: str
    values: tuple[str, ...] = ()
    ranges: tuple[Path, ...] = ()

    def of(self, value: Value) -> Each:
        """Return it with values in place of names in braces."""
        ranges = self.ranges
        for name, text in value:
            ranges = tuple(path.of(name, text) for path in ranges)
        return replace(self, ranges=ranges)


@frozen(eq=False, slots=False)
class Turns:
    """Requests that are answered one after the other: those of one connection, what stands at `of`.

    Which lines are `answers`, by what stands where; `same` is what a request and its answer share.
    """

    of: Path
    answers: tuple[tuple[Path, str], ...]
    same: tuple[Path, ...]

    def answered(self, said: dict[str, Any]) -> bool:
        """Whether a line is an answer."""
        return all(plain(path.at(said)) == text for path, text in self.answers)

    def asks(self, said: dict[str, Any]) -> bool:
        """Whether a line of some connection asks something."""
        return plain(self.of.at(said)) is not None and not self.answered(said)


@frozen(eq=False, slots=False)
class Lines:
    """How the lines of a log in another form are read; lines without a form are left out.

    `of` is whose a line is: the one before of the same is its previous one. A log is judged once
    for each value of `each`; where these are several, for each of them together.
    """

    at: Path | None
    stream: Path | None
    pairs: Path | None
    of: Path | None
    each: tuple[Each, ...]
    forms: tuple[LineForm, ...]
    turns: Turns | None = None

    @property
    def look_ahead(self) -> bool:
        """Whether a form asks how a line is answered, or begins what may be over before that."""
        return any(
            form.within is not None or any(path.within == "answer" for path in form.paths())
            for form in self.forms
        )


def read_lines(node: Node, problems: Problems) -> Lines:
    """Return how lines are read."""
    fields = Fields(node, "form of lines", problems, KEYS["form of lines"])
    forms = tuple(
        _form(word, entry, problems) for word, entry in fields.named("read", required=True)
    )
    if not fields.has("pairs"):
        _read_by_themselves(fields, forms)
    return Lines(
        at=path_at(fields, "at"),
        stream=path_at(fields, "stream"),
        pairs=path_at(fields, "pairs"),
        of=path_at(fields, "of"),
        each=_each(fields, problems),
        forms=forms,
        turns=_turns(fields, problems),
    )


def _turns(fields: Fields, problems: Problems) -> Turns | None:
    node = fields.get("turns")
    if node is None:
        return None
    inside = Fields(node, "turns", problems, KEYS["turns"])
    inside.need("of")
    return Turns(
        path_at(inside, "of") or Path(()),
        conditions_at(inside, "answers", problems),
        tuple(path_of(one.text, one.span, problems) for one in _texts(inside, "same")),
    )


def conditions_at(fields: Fields, key: str, problems: Problems) -> tuple[tuple[Path, str], ...]:
    """Return which text is to stand at which paths, as a part says below a key."""
    return tuple(
        (path_of(word.text, word.span, problems), read_word(value, word.text, problems).text)
        for word, value in fields.entries(key, required=True)
    )


def _read_by_themselves(fields: Fields, forms: tuple[LineForm, ...]) -> None:
    """Note forms that read the other line of a pair, where nothing pairs lines."""
    for (word, _), form in zip(fields.named("read"), forms, strict=True):
        others = {path.within for path in form.paths()} & {"request", "answer"}
        for other in sorted(others):
            fields.problems.add(
                "T117",
                f"`{word.text}` reads the `{other}` of a line, and nothing pairs lines",
                word.span,
                help="say by `pairs` what a request and its answer have in common",
            )


def _each(fields: Fields, problems: Problems) -> tuple[Each, ...]:
    found = []
    for word, node in fields.named("each"):
        inside = Fields(node, "each", problems, KEYS["each"])
        if inside.has("values") == inside.has("ranges"):
            problems.add(
                "T117",
                f"`{word.text}` has either `values` or `ranges`",
                word.span,
                help="write its values, or where the log has the ranges that its values come from",
            )
        found.append(
            Each(
                word.text,
                tuple(text.text for text in _texts(inside, "values")),
                tuple(path_of(one.text, one.span, problems) for one in _texts(inside, "ranges")),
            )
        )
    return tuple(found)


def _texts(fields: Fields, key: str) -> list[Word]:
    node, problems = fields.get(key), fields.problems
    items = () if node is None else read_items(node, key, problems)
    return [read_word(item, key, problems) for item in items]


def _form(word: Word, node: Node, problems: Problems) -> LineForm:
    fields = Fields(node, "line", problems, KEYS["line"])
    asks = [key for key in ASKS if fields.has(key)]
    if len(asks) > 1:
        problems.add(
            "T117", f"`{asks[1]}` does not go with `{asks[0]}`", word.span, help="keep one of them"
        )
    for key, other in _contradictions(fields, asked=bool(asks)):
        problems.add(
            "T117",
            f"`{key}` {other}",
            word.span,
            help=f"say by `call`, `fire` or `complete` what it is, or leave out `{key}`",
        )
    target = fields.name(asks[0]) if asks else None
    outcome, request = fields.name("outcome"), fields.name("request")
    return LineForm(
        name=word.text,
        where=conditions_at(fields, "where", problems),
        do=asks[0] if asks else None,
        target=None if target is None else target.text,
        outcome=None if outcome is None else outcome.text,
        arguments=_paths(fields, "with"),
        answer=path_at(fields, "answer"),
        fields=_paths(fields, "fields"),
        request=None if request is None else request.text,
        begins=fields.boolean("begins", default=False),
        within=fields.integer("within"),
        ends=fields.boolean("ends", default=False),
        lost=fields.boolean("lost", default=False),
        refused=fields.boolean("refused", default=False),
        ready=fields.boolean("ready", default=False),
        also=fields.boolean("also", default=False),
        takes=path_at(fields, "takes"),
    )


def _contradictions(fields: Fields, *, asked: bool) -> Iterator[tuple[str, str]]:
    """Yield keys of a form with why they say nothing, where nothing is asked or something is."""
    said = [key for key in ("begins", "ends", "refused", "lost", "ready") if fields.has(key)]
    told = {key for key in said if fields.boolean(key, default=False)}
    for key in ("begins", "ready"):
        if key in told and not asked:
            yield key, "is of a line that asks something"
    for key in ("ends", "refused"):
        if key in told and asked:
            yield key, "is of a line that only answers what another one asks"
    if "ready" in told and len(told) > 1:
        yield "ready", "is of a line whose step another line does, as a whole"


def _paths(fields: Fields, key: str) -> tuple[tuple[str, Path], ...]:
    problems = fields.problems
    return tuple(
        (word.text, path_of(read_word(node, word.text, problems).text, node.span, problems))
        for word, node in fields.named(key)
    )


def path_at(fields: Fields, key: str) -> Path | None:
    """Return the path below a key; None without one."""
    node = fields.get(key)
    if node is None:
        return None
    return path_of(read_word(node, key, fields.problems).text, node.span, fields.problems)


def path_of(text: str, span: Span, problems: Problems) -> Path:
    """Return the path that a text says; noted as a problem where it says none."""
    found = parsed(text)
    if found is None:
        problems.add(
            "T112",
            f"`{text}` is no path",
            span,
            expected="keys joined by dots, as `value.epoch`, `parts[p=0].acquired`, `members.0`",
            found=text,
            help="end it with `?`, `!`, ` count`, ` to .`, ` has X`, ` begins X`, or with nothing",
        )
    return found or Path(())
