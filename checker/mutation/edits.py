"""Edits of a system's text: some words of a row, procedure, definition or file become others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from checker.frozen import frozen
from checker.source import Source
from checker.table.document import Document, Word
from checker.table.fields import Fields
from checker.table.nodes import Scalar
from checker.table.problems import Problems, nearest
from checker.table.words import read_word


@frozen()
class Edit:
    """In a file, what stands from `begin` to `end` becomes `text`.

    `entry` is the row, procedure or definition that it is in; empty where that is not said.
    """

    file: Path
    entry: str
    begin: int
    end: int
    text: str


def edited(document: Document, edits: Iterable[Edit]) -> dict[Path, str]:
    """Return the files of a system that edits change, with the texts that they hold then.

    No two of the edits may meet.
    """
    texts = {Path(item.source.name): item.source.text for item in document.files}
    changed: dict[Path, str] = {}
    for item in sorted(edits, key=lambda item: -item.begin):  # what stands before keeps its place
        text = changed.get(item.file, texts[item.file])
        changed[item.file] = text[: item.begin] + item.text + text[item.end :]
    return changed


def read_edit(fields: Fields, document: Document) -> Edit | None:
    """Return the edit that a mapping says by `in`, `replace` and `by`; None after reporting."""
    problems = fields.problems
    place, old, new = needed_word(fields, "in"), needed_word(fields, "replace"), fields.get("by")
    gone = new is None or (isinstance(new, Scalar) and new.kind == "string" and not new.text)
    by = "" if new is None or gone else read_word(new, "by", problems).text
    if not (place.text and old.text):
        return None
    return edit(document, place, old, by, problems)


def needed_word(fields: Fields, key: str) -> Word:
    """Return the text of a required key."""
    node = fields.need(key)
    return Word("", fields.head()) if node is None else read_word(node, key, fields.problems)


def edit(document: Document, place: Word, old: Word, new: str, problems: Problems) -> Edit | None:
    """Return the edit that replaces `old` by `new` in a place; None where it cannot be made.

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
    if not new:
        start, stop = _with_empty_line(text, start, stop)
    entry = "" if place.text in {item.name for item in document.files} else place.text
    return Edit(Path(source.name), entry, start, stop, _shifted(new, pad))


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


def _with_empty_line(text: str, start: int, stop: int) -> tuple[int, int]:
    """Return what to take out with a text: its whole lines, where they have nothing else."""
    begin = text.rfind("\n", 0, start) + 1
    end = text.find("\n", stop)
    end = len(text) if end < 0 else end + 1
    empty = not (text[begin:start] + text[stop:end]).strip()
    return (begin, end) if empty else (start, stop)
