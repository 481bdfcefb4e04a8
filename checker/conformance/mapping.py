"""A file of YAML becomes a Mapping: which call a row is, and what an implementation shows.

Cells hold expressions of the specification's language. Nothing here is resolved or typed: `bind`
does that against a machine.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal

from checker.conformance.recording import RECORDING_KEYS, Recording, read_recording
from checker.frozen import frozen
from checker.source import Span
from checker.table.behaviour import read_definitions
from checker.table.cells import read_expression
from checker.table.document import Cell, Definition, Word
from checker.table.fields import Fields, entries_of, read_key
from checker.table.nodes import Node
from checker.table.problems import Problems
from checker.table.tables import read_fields
from checker.table.words import read_name, read_word, report_twice

Kind = Literal["call", "fire", "complete", "silent", "skip"]
KINDS: Final[tuple[Kind, ...]] = ("call", "fire", "complete", "silent", "skip")
"""What a row is for an implementation; exactly one of these keys stands in each row."""

KEYS: Final[dict[str, tuple[str, ...]]] = {
    "conformance": (
        "conformance",
        "about",
        "source",
        "names",
        "reset",
        "definitions",
        "rows",
        "rest",
        "hidden",
        "soon",
        "late",
        "together",
        "told",
        "facts",
        "observe",
        "known",
        "constants",
        "variants",
        "sizes",
        "unlimited",
        "alike",
        "assume",
        "time",
        "timers",
        "windows",
        "lines",
    ),
    "row of a mapping": (*KINDS, "outcome", "with", "answer", "refused", "about"),
    "refusal": ("when", "answer"),
    "known difference": ("row", "refused", "differs", "when", "reason", "ticket"),
    **RECORDING_KEYS,
}
"""The keys of each part, as docs/conformance.md lists them."""

Arguments = tuple[tuple[Word, Cell], ...]


@frozen(eq=False, slots=False)
class Refusal:
    """What a call is answered in states in which its row is not enabled."""

    when: Cell | None
    answer: Cell | None
    span: Span


@frozen(eq=False, slots=False)
class MappedRow:
    """What a row of the specification is for the implementation.

    `target` is the name of the call, timer or operation, or the reason of `silent` and `skip`.
    """

    row: Word
    kind: Kind
    target: Word
    outcome: Word | None
    arguments: Arguments
    answer: Cell | None
    refused: Refusal | None


@frozen(eq=False, slots=False)
class KnownDifference:
    """A difference that is expected: where, in what, why, and who was told."""

    name: Word
    row: Word
    refused: bool
    differs: tuple[Word, ...]
    when: Cell | None
    reason: str
    ticket: str


@frozen(eq=False, slots=False)
class Mapping:
    """All that a mapping file says. `names` are pairs of an id and its name outside, by type.

    `rest` is why rows that `rows` does not list are silent, None where each must be listed.
    """

    path: str
    system: Word
    about: str
    names: tuple[tuple[Word, tuple[tuple[Word, Word], ...]], ...]
    reset: Arguments
    definitions: tuple[Definition, ...]
    rows: tuple[MappedRow, ...]
    rest: Word | None
    hidden: tuple[Word, ...]
    soon: tuple[Word, ...]
    late: tuple[Word, ...]
    observe: Arguments
    known: tuple[KnownDifference, ...]
    recording: Recording
    span: Span

    def decided(self, numbers: dict[str, int | bool | str]) -> Mapping:
        """Return it with the numbers that a log decides in place of what defines their names."""
        definitions = tuple(
            replace(one, body=_literal(one.body, numbers[one.name.text]))
            if one.name.text in numbers
            else one
            for one in self.definitions
        )
        return replace(self, definitions=definitions)


def _literal(cell: Cell, value: int | bool | str) -> Cell:
    """Return a cell with a number in it."""
    text = str(value)
    tree = ast.Constant(
        value, lineno=1, col_offset=0, end_lineno=1, end_col_offset=len(text.encode())
    )
    return replace(cell, text=text, tree=tree)


def read_mapping(path: Path) -> Mapping:
    """Return what a mapping file says.

    Raises SpecificationError with every error of the file (T1xx), in their order.
    """
    fields = read_fields(path, "conformance", KEYS["conformance"])
    problems = fields.problems
    fields.prose("source")
    mapping = Mapping(
        path=str(path),
        system=fields.needed_name("conformance"),
        about=fields.prose("about"),
        names=_names(fields),
        reset=_arguments(fields, "reset"),
        definitions=read_definitions(fields),
        rows=tuple(_row(word, entry, problems) for word, entry in _rows(fields)),
        rest=_rest(fields),
        hidden=fields.names("hidden"),
        soon=fields.names("soon"),
        late=fields.names("late"),
        observe=_observed(fields),
        known=tuple(_known(word, entry, problems) for word, entry in fields.named("known")),
        recording=read_recording(fields),
        span=fields.head(),
    )
    problems.raise_any()
    return mapping


def _rows(fields: Fields) -> tuple[tuple[Word, Node], ...]:
    return tuple(fields.named("rows", required=True))


def _rest(fields: Fields) -> Word | None:
    node = fields.get("rest")
    return None if node is None else read_word(node, "rest", fields.problems)


def _observed(fields: Fields) -> Arguments:
    fields.need("observe")
    return _arguments(fields, "observe")


def _arguments(fields: Fields, key: str) -> Arguments:
    """Return names with an expression each."""
    return tuple(
        (word, read_expression(node, word.text, fields.problems))
        for word, node in fields.named(key)
    )


def _names(fields: Fields) -> tuple[tuple[Word, tuple[tuple[Word, Word], ...]], ...]:
    """Return the ids of each type with what the implementation calls them."""
    problems = fields.problems
    found = []
    for word, node in fields.named("names"):
        pairs = tuple(
            (read_key(key, problems), read_word(name, key.text, problems))
            for key, name in entries_of(node, word.text, problems)
        )
        report_twice((name for _, name in pairs), problems)
        found.append((word, pairs))
    return tuple(found)


def _row(word: Word, node: Node, problems: Problems) -> MappedRow:
    fields = Fields(node, "row of a mapping", problems, KEYS["row of a mapping"])
    fields.prose("about")
    kind = _kind(word, fields)
    there = fields.get(kind)
    text = kind in ("silent", "skip")
    target = Word("", word.span)
    if there is not None:
        read = read_word if text else read_name
        target = read(there, kind, problems)
    outcome = fields.name("outcome")
    if kind == "complete" and outcome is None:
        fields.need("outcome")
    if kind != "complete" and outcome is not None:
        _excluded("outcome", kind, outcome.span, problems)
    if text:
        for key in ("with", "answer", "refused"):
            extra = fields.get(key)
            if extra is not None:
                _excluded(key, kind, extra.span, problems)
    refused = fields.get("refused")
    return MappedRow(
        row=word,
        kind=kind,
        target=target,
        outcome=outcome,
        arguments=_arguments(fields, "with"),
        answer=fields.expression("answer"),
        refused=_refusal(refused, problems) if refused is not None else None,
    )


def _kind(word: Word, fields: Fields) -> Kind:
    """Return the one kind that a row has (T114, T117)."""
    there = [kind for kind in KINDS if fields.has(kind)]
    if len(there) > 1:
        second = fields.get(there[1])
        assert second is not None
        _excluded(there[1], there[0], second.span, fields.problems)
    if not there:
        fields.problems.add(
            "T114",
            f"`{word.text}` does not say what it is for the implementation",
            word.span,
            expected=f"one of the keys {', '.join(KINDS)}",
            help="write `call: NAME`, or `skip: why it is not driven`",
        )
    return there[0] if there else "skip"


def _excluded(key: str, other: str, span: Span, problems: Problems) -> None:
    problems.add("T117", f"`{key}` does not go with `{other}`", span, help="keep one of them")


def _refusal(node: Node, problems: Problems) -> Refusal:
    fields = Fields(node, "refusal", problems, KEYS["refusal"])
    return Refusal(fields.expression("when"), fields.expression("answer"), node.span)


def _known(word: Word, node: Node, problems: Problems) -> KnownDifference:
    fields = Fields(node, "known difference", problems, KEYS["known difference"])
    return KnownDifference(
        name=word,
        row=fields.needed_name("row"),
        refused=fields.boolean("refused", default=False),
        differs=fields.names("differs", required=True, single=True),
        when=fields.expression("when"),
        reason=fields.prose("reason", required=True),
        ticket=fields.prose("ticket", required=True),
    )
