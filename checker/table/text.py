"""Path to Source: reads a file as text and refuses what no specification needs to hold."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from typing import NoReturn

from checker.errors import Diagnostic, SpecificationError, told
from checker.source import SIZE_MAX, Source, Span
from checker.table.looks import content
from checker.visible import UNSEEN

# Line breaks other than CR and LF would count lines otherwise than editors do; direction marks
# would show reviewers another text than the one that is checked.
_FORBIDDEN = re.compile(f"[{UNSEEN}]")


def read_text(path: Path, text: str | None = None) -> Source:
    """Return the text of `path`, a byte order mark left out; `text` where it shall be another one.

    Raises SpecificationError: T100 unreadable, T101 not UTF-8, T102 forbidden characters,
    T105 tabs, T106 too large.
    """
    source = Source(str(path), _decode(path, _read_bytes(path)) if text is None else text)
    tab = source.text.find("\t")
    if tab >= 0:
        _fail(
            "T105",
            "a tab; specifications are indented with spaces",
            span_at(source, tab, tab + 1),
            help_="replace every tab by spaces",
        )
    found = forbidden_character(source.text)
    if found is not None:
        at, name = found
        _fail(
            "T102",
            f"the character {name} may not stand in a specification",
            span_at(source, at, at + 1),
            help_="remove it; it is invisible in most editors",
        )
    return source


def forbidden_character(text: str) -> tuple[int, str] | None:
    """Return place and name of the first character that specifications may not hold, or None."""
    match = _FORBIDDEN.search(text)
    if match is None:
        return None
    character = match.group()
    name = unicodedata.name(character, "control character")
    return match.start(), f"U+{ord(character):04X} ({name.lower()})"


def span_at(source: Source, begin: int, end: int) -> Span:
    """Return the span of `source.text[begin:end]`."""
    line, column = _position(source.text, begin)
    end_line, end_column = _position(source.text, max(begin, end))
    return Span(source, line, column, end_line, end_column)


def _position(text: str, offset: int) -> tuple[int, int]:
    before = text[:offset].replace("\r\n", " \n").replace("\r", "\n")
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


def _read_bytes(path: Path) -> bytes:
    """Return the bytes of a regular file; never more than one beyond the limit."""
    nowhere = Span(Source(str(path), ""), 1, 1, 1, 1)
    try:
        if path.is_dir():
            _fail(
                "T100",
                "this is a folder, not a file",
                nowhere,
                help_="name a file in it, such as system.yaml",
            )
        if not path.exists():
            _fail("T100", "there is no such file", nowhere, help_="check the path")
        if not path.is_file():
            _fail("T100", "this is not a regular file", nowhere)
        data = content(path)
    except (OSError, ValueError) as failure:
        _fail(
            "T100",
            f"the file cannot be read: {told(failure)}",
            nowhere,
            help_="check the path and its permissions",
        )
    if len(data) > SIZE_MAX:
        _fail("T106", "the file is larger than 1 MiB", nowhere, help_="split it, or generate less")
    return data


def _decode(path: Path, data: bytes) -> str:
    """Return the text, without a byte order mark."""
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as failure:
        text = data[: failure.start].decode("utf-8")
        shown = data.decode("utf-8", errors="replace")
        line, column = _position(text, len(text))
        _fail(
            "T101",
            f"the file is not UTF-8: byte 0x{data[failure.start]:02X}",
            Span(Source(str(path), shown), line, column, line, column + 1),
            help_="save it as UTF-8",
        )


def _fail(code: str, message: str, span: Span, *, help_: str | None = None) -> NoReturn:
    raise SpecificationError((Diagnostic(code, message, span, help=help_),))
