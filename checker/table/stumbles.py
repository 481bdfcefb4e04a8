"""What the YAML parser stumbled over, and the edit that most often mends it."""

from __future__ import annotations

import re

from ruamel.yaml.error import MarkedYAMLError

from checker.errors import Diagnostic
from checker.source import Source, Span
from checker.table.nodes import shorten
from checker.table.text import span_at

_CELL_BEGINNING = re.compile(r"^\s*(?:- )?(?:[\w.\[\], ()]+:\s+)?(?P<cell>[\[{].*|[\"'].*)$")
_DASH = re.compile(r"^\s*-(?P<key>[^\W\d]\w*):")
_EQUALS = re.compile(r"^\s*(?P<key>[^\W\d]\w*)\s*=\s*(?P<value>[^=\s].*)$")
_KEY = re.compile(r"^\s*[^\W\d]\w*:(\s|$)")
_BEHIND = (
    "mapping values are not allowed",
    "could not find expected ':'",
    "found '<block mapping start>'",
)
"""What YAML says at a line that may be right: of the one before it made a part of this one."""


def stumbled(source: Source, failure: MarkedYAMLError) -> Diagnostic:
    """Return the message on a text that is not YAML (T103)."""
    before = _line_before(source, failure)
    if before is not None:
        return before
    length = len(source.text.rstrip())
    mark = failure.problem_mark or failure.context_mark
    at = min(mark.index, len(source.text)) if mark is not None else 0
    ended = at >= length
    if ended and failure.context_mark is not None:
        at = failure.context_mark.index
    span = span_at(source, at, at + 1)
    context = str(failure.context or "")
    problem = str(failure.problem or "it is incomplete")
    if ended:
        message = f"the file ends before this is complete ({problem})"
        help_ = "close what begins here, or restore the end of the file"
    elif "mapping values are not allowed" in problem:
        message = "a `: ` stands inside a plain cell"
        help_ = "quote the whole cell, or check the indentation of this line"
    elif "flow" in context or "flow" in problem:
        message = f"YAML cannot read this list or mapping ({problem})"
        help_ = "quote every expression inside { } and [ ] that holds a comma, bracket or brace"
    elif _CELL_BEGINNING.match(source.line(span.line)):
        message = f"YAML ends the value before the line ends ({problem})"
        help_ = "quote the whole cell: one that begins with {, [ or a quote belongs to YAML"
    else:
        message = f"this is not YAML: {problem}"
        help_ = "check the indentation, and quote cells that hold special characters"
    return Diagnostic("T103", message, span, help=help_)


def _line_before(source: Source, failure: MarkedYAMLError) -> Diagnostic | None:
    """Return the message on the line before the one that YAML names, where that one is wrong.

    A line without a key is the beginning of the next one's, or the value that the next one goes on
    with.
    """
    mark = failure.problem_mark
    if mark is None or not any(words in str(failure.problem) for words in _BEHIND):
        return None
    number = mark.line
    while number > 0 and not source.line(number).partition("#")[0].strip():
        number -= 1
    if number == 0:
        return None
    line, here = source.line(number).partition(" #")[0], source.line(mark.line + 1)
    indent = len(line) - len(line.lstrip())
    span = Span(source, number, indent + 1, number, len(line.rstrip()) + 1)
    dash, equals = _DASH.match(line), _EQUALS.match(line)
    if dash is not None:
        message, help_ = "a `-` with no space behind it begins no item", f"write - {dash['key']}:"
    elif equals is not None:
        value = equals["value"].rstrip()
        message, help_ = "a key has no `:`", f"write {equals['key']}: {shorten(value)}"
    elif "not allowed" in str(failure.problem) and _KEY.match(line) and _deeper(here, indent):
        message = f"the next line, `{shorten(here.strip())}`, is indented as a part of this value"
        help_ = "let both begin in one column, or quote the whole cell"
    else:
        return None
    return Diagnostic("T103", message, span, help=help_)


def _deeper(line: str, indent: int) -> bool:
    """Whether a line has a key that begins behind a column."""
    return _KEY.match(line) is not None and len(line) - len(line.lstrip()) > indent
