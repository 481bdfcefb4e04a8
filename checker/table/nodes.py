"""What a YAML file holds: nodes with the place, style and raw text of every scalar."""

from __future__ import annotations

from typing import Literal

from checker.frozen import frozen
from checker.source import Span

NESTING_MAX = 60
"""Levels of lists and mappings a file may have, and of brackets and operators a cell may have."""

ENTRIES_MAX = 2000
"""Entries of a list or mapping: reading and compiling a row takes about 3 ms."""

NAMES_MAX = 200
"""Names of a `let` or a `for`: each is the surroundings of those after it."""

Style = Literal["plain", "single", "double", "literal", "folded"]
Kind = Literal["string", "integer", "number", "boolean", "null", "torn"]


@frozen()
class Scalar:
    """A scalar: the value YAML makes of it, and what YAML takes it for (`kind`).

    `begin` and `end` are offsets into the text of `span.source`. A `torn` scalar was reported.
    """

    text: str
    style: Style
    kind: Kind
    span: Span
    begin: int
    end: int
    flow: bool


@frozen()
class Sequence:
    """A list."""

    items: tuple[Node, ...]
    span: Span
    begin: int
    end: int
    flow: bool


@frozen()
class Mapping:
    """A mapping; keys are scalars, each once."""

    entries: tuple[tuple[Scalar, Node], ...]
    span: Span
    begin: int
    end: int
    flow: bool


Node = Scalar | Sequence | Mapping


def raw(node: Node) -> str:
    """Return the text of `node` as it stands in the file."""
    return node.span.source.text[node.begin : node.end]


def shorten(text: str, width: int = 60) -> str:
    """Return `text` on one line, cut to `width` characters."""
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 3] + "..."
