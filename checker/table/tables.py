"""Table files to StateTable."""

from __future__ import annotations

from pathlib import Path

from checker.source import Source, Span
from checker.table.document import Word
from checker.table.fields import Fields
from checker.table.nodes import Mapping, Node
from checker.table.parsed import parse_yaml
from checker.table.problems import Problems, nearest
from checker.table.state_table import StateTable, TableTransition
from checker.table.text import read_text, span_at
from checker.table.torn import mend_torn
from checker.table.words import wrong_kind


def read_table(path: Path) -> StateTable:
    """Return the state table of a file.

    Raises SpecificationError with every error of the file (T1xx).
    """
    source = read_text(path)
    problems = Problems()
    node = read_root(source, "table", problems)
    table = _table(Fields(node, "table", problems)) if node is not None else None
    problems.raise_any()
    assert table is not None
    return table


def read_fields(path: Path, part: str, keys: tuple[str, ...]) -> Fields:
    """Return the keys of a file that stands beside a system, such as a mapping.

    Further errors of the file go to the `problems` of what is returned. SpecificationError (T1xx)
    for a file that holds no such part.
    """
    problems = Problems()
    node = read_root(read_text(path), part, problems)
    if node is None:
        problems.raise_any()
    assert node is not None
    return Fields(node, part, problems, keys)


def read_root(source: Source, part: str, problems: Problems) -> Node | None:
    """Return the mapping a file holds, torn cells mended, or None after reporting (T107)."""
    node = parse_yaml(source)
    other = "system" if part == "table" else "table"
    if node is None:
        problems.add(
            "T107",
            "the file is empty",
            span_at(source, 0, 0),
            expected=f"a {part}",
            help=f"begin with `{part}: name`",
        )
        return None
    node = mend_torn(node, problems)
    if not isinstance(node, Mapping):
        wrong_kind(node, part, "a mapping", problems, f"begin with `{part}: name`")
        return None
    keys = {key.text: key for key, _ in node.entries}
    if part not in keys and other in keys:
        problems.add(
            "T107",
            f"this file is a {other}, not a {part}",
            keys[other].span,
            expected=f"the key `{part}`",
            help=f"name a file that begins with `{part}:`",
        )
        return None
    return node


def _table(fields: Fields) -> StateTable:
    name = fields.needed_name("table")
    about, source = fields.prose("about", required=True), fields.prose("source", required=True)
    states, spans, marks = _states(fields)
    known = {word.text for word in states}
    created = fields.names("created")
    for word in created:
        _known(word, known, fields.problems)
    initial = tuple(word.text for word in states if "initial" in marks[word.text])
    if not initial and fields.has("states"):
        fields.problems.add(
            "T152",
            f"the table `{name.text}` has no initial state",
            fields.head(),
            expected="`initial: true` at one state or more",
            help="mark the state in which a machine starts",
        )
    return StateTable(
        name=name.text,
        about=about,
        source=source,
        states=tuple((word.text, spans[word.text]) for word in states),
        initial=initial,
        final=tuple(word.text for word in states if "final" in marks[word.text]),
        created=tuple(word.text for word in created),
        transitions=_transitions(fields, known),
        restores=_restores(fields, known),
        span=name.span,
        state_spans=tuple(word.span for word in states),
    )


def _states(
    table: Fields,
) -> tuple[tuple[Word, ...], dict[str, str], dict[str, frozenset[str]]]:
    """Return the states, the prose of each, and whether each is initial or final."""
    words: list[Word] = []
    prose: dict[str, str] = {}
    marks: dict[str, frozenset[str]] = {}
    for word, node in table.named("states", required=True):
        fields = Fields(node, "state", table.problems)
        words.append(word)
        prose[word.text] = fields.prose("about", required=True)
        fields.prose("source")
        marks[word.text] = frozenset(
            mark for mark in ("initial", "final") if fields.boolean(mark, default=False)
        )
    return tuple(words), prose, marks


def _transitions(table: Fields, known: set[str]) -> tuple[TableTransition, ...]:
    moves: list[TableTransition] = []
    seen: set[tuple[str, ...]] = set()
    for node in table.items("transitions"):
        fields = Fields(node, "transition", table.problems)
        origins = fields.names("from", required=True, single=True)
        event, target = fields.needed_name("event"), fields.needed_name("to")
        about, source = fields.prose("about"), fields.prose("source")
        _known(target, known, table.problems)
        for origin in origins:
            _known(origin, known, table.problems)
            _once((origin.text, event.text, target.text), seen, origin.span, table.problems)
            moves.append(
                TableTransition(origin.text, event.text, target.text, about, source, origin.span)
            )
    return tuple(moves)


def _restores(table: Fields, known: set[str]) -> tuple[tuple[str, str], ...]:
    moves: list[tuple[str, str]] = []
    seen: set[tuple[str, ...]] = set()
    for node in table.items("restores"):
        fields = Fields(node, "restore", table.problems)
        origins, target = fields.names("from", required=True, single=True), fields.needed_name("to")
        fields.prose("about")
        fields.prose("source")
        _known(target, known, table.problems)
        for origin in origins:
            _known(origin, known, table.problems)
            _once((origin.text, target.text), seen, origin.span, table.problems)
            moves.append((origin.text, target.text))
    return tuple(moves)


def _known(word: Word, known: set[str], problems: Problems) -> None:
    if word.text and word.text not in known:
        near = nearest(word.text, sorted(known))
        problems.add(
            "T150",
            f"the table has no state `{word.text}`",
            word.span,
            expected=", ".join(sorted(known)) or "a state of `states:`",
            help=f"did you mean `{near}`?" if near else "add it to `states:`",
        )


def _once(
    move: tuple[str, ...], seen: set[tuple[str, ...]], span: Span, problems: Problems
) -> None:
    if move in seen:
        problems.add("T151", f"the move {' -> '.join(move)} is listed twice", span, help="keep one")
    seen.add(move)
