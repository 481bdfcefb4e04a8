"""`refines:` of a property: which system is the coarse one, and how states map to its states."""

from __future__ import annotations

import re

from checker.source import Span
from checker.table.cells import read_expression
from checker.table.document import MappedEntry, RefinesEntry, Word
from checker.table.fields import Fields, entries_of, read_key
from checker.table.nodes import Node, Scalar, shorten
from checker.table.problems import Problems
from checker.table.words import INTEGER_MAX, read_boolean, read_integer, read_name, read_word

_PLACE = re.compile(
    r"(?P<first>[A-Za-z]\w*)(?P<keys>(?:\[\w+\])*)(?:\.(?P<member>\w+)(?P<more>(?:\[\w+\])*))?"
)
_KEY = re.compile(r"\w+")

Settings = tuple[tuple[Word, int | bool | str, Span], ...]


def read_settings(node: Node | None, key: str, problems: Problems) -> Settings:
    """Return the constants under a key, each with its value and the place of that."""
    if node is None:
        return ()
    return tuple(
        (read_key(name, problems), _setting(name.text, value, problems), value.span)
        for name, value in entries_of(node, key, problems)
    )


def _setting(label: str, node: Node, problems: Problems) -> int | bool | str:
    if isinstance(node, Scalar) and node.kind == "boolean":
        return read_boolean(node, label, problems)
    if isinstance(node, Scalar) and node.kind == "string":
        return read_word(node, label, problems).text
    return read_integer(node, label, problems, -INTEGER_MAX)


def read_refines(node: Node, problems: Problems) -> RefinesEntry:
    """Return what stands under `refines:`; a word alone is a system that needs no mapping."""
    if isinstance(node, Scalar) and node.kind == "string":
        return RefinesEntry(read_word(node, "refines", problems), None, (), (), (), node.span)
    fields = Fields(node, "refinement", problems)
    system = fields.need("system")
    return RefinesEntry(
        Word("", fields.head()) if system is None else read_word(system, "system", problems),
        fields.name("instance"),
        read_settings(fields.get("set"), "set", problems),
        tuple((key, read_name(value, key.text, problems)) for key, value in fields.named("ids")),
        tuple(_mapped(key, value, problems) for key, value in fields.entries("mapping")),
        fields.span,
    )


def _mapped(key: Scalar, node: Node, problems: Problems) -> MappedEntry:
    """Read `value`, `owner[p]`, `client[c].state` and what it is."""
    match = _PLACE.fullmatch(key.text.replace(" ", ""))
    cell = read_expression(node, key.text, problems)
    if match is None or key.kind != "string":
        problems.add(
            "T116",
            f"`{shorten(key.text, 40)}` is no variable of a system",
            key.span,
            expected="a variable or machine of the coarse system: value, owner[p], client[c].state",
            help="name it as its own rows do",
        )
        return MappedEntry(Word("", key.span), (), cell, key.text)
    keys = _KEY.findall(match["keys"] + (match["more"] or ""))
    name = match["first"] + (f".{match['member']}" if match["member"] else "")
    words = tuple(Word(item, key.span) for item in keys)
    return MappedEntry(Word(name, key.span), words, cell, key.text)
