"""A piece of a file's text whose lines know where they stand in the file."""

from __future__ import annotations

from checker.frozen import frozen
from checker.source import Source, Span


@frozen()
class Passage:
    """Text of a cell, free of YAML's indentation and quotes.

    `starts` holds of each line of `text` the file's line and column (1-based) where it begins;
    within a line, characters of `text` and of the file correspond one to one.
    """

    source: Source
    text: str
    starts: tuple[tuple[int, int], ...]

    @classmethod
    def alone(cls, name: str, text: str) -> Passage:
        """Return a text that stands in no file; `name` is said where one's name would be."""
        return cls(Source(name, text), text, tuple((n, 1) for n in range(1, text.count("\n") + 2)))

    def position(self, offset: int) -> tuple[int, int]:
        """Return line and column in the file of `text[offset]`."""
        before = self.text[:offset]
        number = before.count("\n")
        line, column = self.starts[number]
        return line, column + offset - (before.rfind("\n") + 1)

    def span(self, begin: int, end: int) -> Span:
        """Return the place of `text[begin:end]` in the file."""
        return Span(self.source, *self.position(begin), *self.position(max(begin, end)))

    def whole(self) -> Span:
        """Return the place of the whole text."""
        return self.span(0, len(self.text))

    def cut(self, begin: int, end: int) -> Passage:
        """Return `text[begin:end]` without the spaces around it, with its places."""
        piece = self.text[begin:end]
        begin += len(piece) - len(piece.lstrip())
        piece = piece.strip()
        first = self.text.count("\n", 0, begin)
        more = self.starts[first + 1 : first + 1 + piece.count("\n")]
        return Passage(self.source, piece, (self.position(begin), *more))
