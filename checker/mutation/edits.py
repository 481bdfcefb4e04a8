"""Edits of a system's text: some words of a row, procedure, definition or file become others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from checker.source import Source
from checker.table.document import Document, Word
from checker.table.problems import Problems, nearest


def edit(
    document: Document, place: Word, old: Word, new: str, problems: Problems
) -> tuple[Path, str] | None:
    """Return the file of a place, and its text with `old` replaced by `new`; None where it cannot.

    `place` names a row, procedure or definition of the system, or one of its files. Lines after
    the first stand as far to the right of it as in `old` and `new`. Where nothing but spaces is
    left of a line, the line goes. Reported are a place that is none (N206), and a text that does
    not stand there once (T115).
    """
    found = _lines_of(document, place, problems)
    if found is None:
        return None
    source, begin, end = found
    text = source.text
    matches = list(_matches(text, begin, end, old.text))
    if len(matches) != 1:
        problems.add(
            "T115",
            f"this text stands {len(matches)} times in `{place.text}`",
            old.span,
            expected="a text that stands there once, spaces and line breaks included",
            help="write more of what is around it" if matches else "copy it from there",
        )
        return None
    ((start, stop, pad),) = matches
    text = text[:start] + _shifted(new, pad) + text[stop:]
    if not new:
        text = _without_empty_line(text, start)
    return Path(source.name), text


def _lines_of(
    document: Document, place: Word, problems: Problems
) -> tuple[Source, int, int] | None:
    """Return a source, and where in its text the place begins and ends."""
    own = {item.name: item.source for item in document.files if not item.of}
    if place.text in own:
        return own[place.text], 0, len(own[place.text].text)
    names = [item.name for item in document.definitions]
    names += [item.name for item in document.procedures]
    names += [item.name for item in document.rows]
    spans = {word.text: word.span for word in names}
    span = spans.get(place.text)
    if span is None or span.source.name not in {source.name for source in own.values()}:
        close = nearest(place.text, (*spans, *own))
        problems.add(
            "N206",
            f"the system has no row, procedure, definition or file `{place.text}`",
            place.span,
            help=f"did you mean `{close}`?" if close else None,
        )
        return None
    return span.source, *_entry(span.source.text, span.line)


def _entry(text: str, line: int) -> tuple[int, int]:
    """Return where the entry that begins in a line begins and ends: before what is not deeper."""
    lines = text.splitlines(keepends=True)
    depth = _depth(lines[line - 1])
    last = line
    while last < len(lines) and (not lines[last].strip() or _depth(lines[last]) > depth):
        last += 1
    return sum(map(len, lines[: line - 1])), sum(map(len, lines[:last]))


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _matches(text: str, begin: int, end: int, wanted: str) -> Iterator[tuple[int, int, str]]:
    """Yield where a text stands, begin and end, with the spaces that its line begins with."""
    first = wanted.split("\n", 1)[0]
    start = text.find(first, begin, end)
    while start >= 0:
        line = text.rfind("\n", 0, start) + 1
        pad = " " * _depth(text[line:start] + "x")
        whole = _shifted(wanted, pad)
        if text.startswith(whole, start) and start + len(whole) <= end:
            yield start, start + len(whole), pad
        start = text.find(first, start + 1, end)


def _shifted(text: str, pad: str) -> str:
    """Return a text whose lines after the first begin with `pad`; empty ones stay empty."""
    first, *others = text.split("\n")
    return "\n".join([first, *(pad + line if line else "" for line in others)])


def _without_empty_line(text: str, place: int) -> str:
    """Return a text without the line at a place, where that has nothing but spaces."""
    begin = text.rfind("\n", 0, place) + 1
    end = text.find("\n", place)
    end = len(text) if end < 0 else end + 1
    return text[:begin] + text[end:] if not text[begin:end].strip() else text
