"""Source text and places in it: what every located message points at."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from checker.frozen import frozen

SIZE_MAX = 1 << 20
"""Bytes that a file of a user's may have."""


@frozen()
class Source:
    """One file of a specification: the name shown to the user and its text."""

    name: str
    text: str

    @classmethod
    def read(cls, path: Path) -> Source:
        """Read `path` as UTF-8; the name is the path as the user wrote it."""
        return cls(str(path), path.read_text(encoding="utf-8"))

    def line(self, number: int) -> str:
        """Return line `number` (1-based) without its line break; empty beyond the end."""
        lines = _lines(self.text)
        return lines[number - 1] if 1 <= number <= len(lines) else ""


@lru_cache(maxsize=8)
def _lines(text: str) -> list[str]:
    return text.splitlines()


@frozen()
class Span:
    """A piece of a source: 1-based lines and columns, the end column exclusive."""

    source: Source
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.source.name}:{self.line}:{self.column}"

    def __repr__(self) -> str:
        return f"Span({self})"


def covers(outer: Span, inner: Span) -> bool:
    """Whether a piece of a source lies in another one."""
    begin, end = (inner.line, inner.column), (inner.end_line, inner.end_column)
    return (
        outer.source is inner.source
        and (outer.line, outer.column) <= begin
        and end <= (outer.end_line, outer.end_column)
    )


def covering(first: Span, last: Span) -> Span:
    """Return the piece of a source from the beginning of one piece to the end of a later one."""
    return Span(first.source, first.line, first.column, last.end_line, last.end_column)


NOWHERE = Span(Source("<generated>", ""), 1, 1, 1, 1)
"""The place of what no user wrote: generated rows, hand-built machines in tests."""


@frozen()
class Heading:
    """A heading that an author wrote over some lines of a file, `line` to `last`.

    `part` is the section of the specification that it divides, such as `rows`.
    """

    part: str
    title: str
    about: str
    source: Source
    line: int
    last: int


def heading_over(headings: Iterable[Heading], span: Span) -> Heading | None:
    """Return the heading that `span` stands under, or None."""
    for heading in headings:
        if heading.source is span.source and heading.line <= span.line <= heading.last:
            return heading
    return None
