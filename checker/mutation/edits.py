"""Edits of a system's text: some words of a row, procedure, definition or file become others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from checker.frozen import frozen
from checker.source import Source, Span
from checker.table.document import Definition, Document, Procedure, Row, Word
from checker.table.fields import Fields
from checker.table.nodes import Scalar
from checker.table.problems import Problems, nearest
from checker.table.words import read_word

ENTRIES: Final = {"rows": "row", "procedures": "procedure", "definitions": "definition"}
"""The sections whose entries are edited, each with what one of them is."""


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

    `place` names a row, procedure or definition of the system (`rows.name` where several are called
    so), or one of its files. Lines after
    the first stand as far to the right of it as in `old` and `new`. Where nothing but spaces is
    left of a line, the line goes. Reported are a place that is none (N206) or several (N203), and
    a text that does not stand there once (T115).
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
    whole = place.text in {item.name for item in document.files}
    entry = "" if whole else place.text.rpartition(".")[2]
    return Edit(Path(source.name), entry, start, stop, _shifted(new, pad))


def _lines_of(
    document: Document, place: Word, problems: Problems
) -> tuple[Source, int, int] | None:
    """Return a source, and where in its text the place begins and ends."""
    own = {item.name: item.source for item in document.files if not item.of}
    if place.text in own:
        return own[place.text], 0, len(own[place.text].text)
    found = entry_named(document, place, problems, own)
    if found is None:
        return None
    section, span = found
    starts = [_start(item) for name in ENTRIES for item in getattr(document, name)]
    lines = [start.line for start in starts if start.source is span.source]
    entry = next(item for item in getattr(document, section) if item.name.span is span)
    first, last = _entry(span.source.text, _start(entry).line)
    if sum(first <= line <= last for line in lines) > 1:
        problems.add(
            "T115",
            f"`{place.text}` shares its lines with others",
            place.span,
            expected="a row, procedure or definition whose lines are its own",
            help="give it lines of its own, or name the file",
        )
        return None
    whole = span.source.text.splitlines(keepends=True)
    return span.source, sum(map(len, whole[: first - 1])), sum(map(len, whole[:last]))


def _start(entry: Row | Procedure | Definition) -> Span:
    """Return where an entry begins: a row's name need not stand first in it."""
    return entry.span if isinstance(entry, Row) else entry.name.span


def entry_named(
    document: Document, place: Word, problems: Problems, files: Mapping[str, Source] | None = None
) -> tuple[str, Span] | None:
    """Return the section and the place of the entry that `place` names, in one of `files`.

    Where these are None, it may be of a system that is used. None after reporting that nothing is
    called so (N206), or several things are (N203).
    """
    section, dot, name = place.text.partition(".")
    only = (section,) if dot and section in ENTRIES else tuple(ENTRIES)
    texts = None if files is None else {source.name for source in files.values()}
    there = {
        each: {item.name.text: item.name.span for item in getattr(document, each)} for each in only
    }
    wanted = name if len(only) == 1 else place.text
    found = [(each, spans[wanted]) for each, spans in there.items() if wanted in spans]
    found = [(each, span) for each, span in found if texts is None or span.source.name in texts]
    if len(found) == 1:
        return found[0]
    if found:
        problems.add(
            "N203",
            f"`{wanted}` is {' and '.join(f'a {ENTRIES[each]}' for each, _ in found)}",
            place.span,
            help=f"write {' or '.join(f'{each}.{wanted}' for each, _ in found)}",
        )
        return None
    close = nearest(
        wanted, (*(known for spans in there.values() for known in spans), *(files or ()))
    )
    what = (
        "row, procedure, definition or file"
        if files is not None
        else "row, procedure or definition"
    )
    problems.add(
        "N206",
        f"the system has no {what} `{place.text}`",
        place.span,
        help=f"did you mean `{close}`?" if close else None,
    )
    return None


def _entry(text: str, line: int) -> tuple[int, int]:
    """Return the first and last line of the entry that begins in a line.

    It ends before what is not deeper; a comment ends nothing that goes on after it.
    """
    lines = text.splitlines(keepends=True)
    depth, last = _depth(lines[line - 1]), line
    for number, item in enumerate(lines[line:], line + 1):
        if _depth(item) > depth and item.strip():
            last = number
        elif item.strip() and not item.lstrip().startswith("#"):
            break
    return line, last


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
