"""What the YAML parser stumbled over, and the edit that most often mends it.

YAML reads on for as long as it can, so that the line it names is often the one below the mistake.
"""

from __future__ import annotations

import re
from keyword import iskeyword

from ruamel.yaml.error import MarkedYAMLError

from checker.errors import Diagnostic
from checker.source import Source, Span
from checker.table.keys import KEYS
from checker.table.nodes import shorten
from checker.table.text import span_at
from checker.table.torn import unbalanced

_CELL_BEGINNING = re.compile(r"^\s*(?:- )?(?:[\w.\[\], ()]+:\s+)?(?P<cell>[\[{].*|[\"'].*)$")
_DASH = re.compile(r"^\s*-(?P<key>[^\W\d]\w*):")
_NAME = r"^\s*(?:- )?(?P<key>[^\W\d]\w*(?:\([^()]*\))?)"
_EQUALS = re.compile(_NAME + r"\s*=\s*(?P<value>[^=\s].*)$")
_NO_SPACE = re.compile(_NAME + r":(?!//)(?P<value>[^\s:].*)$")
_NO_COLON = re.compile(_NAME + r"(?:\s+(?P<value>[\w\"'({\[].*|[|>][-+\d]*))?$")
_UNFINISHED = re.compile(r"(?:\b(?:and|or|not|in|is|if|else)|[-+*/%<>=,|&(\[{])$")
_KEY = re.compile(r"^\s*[^\W\d]\w*:(\s|$)")
_ENTRY = re.compile(r"^\s*(?:- |(?:- )?[^\W\d]\w*(?:\([^()]*\))?:(\s|$))")
_INDENTED = re.compile(r"expected (?:<block end>|'<document start>')")
_STATEMENT = re.compile(r"^\s*(?:(?:if|elif|for|while)\s.*|else):$")
_OF_A_CELL = re.compile(r"^\s*(?:- )?(?P<key>[^\s:][^:]*):(?P<value>.*)$")
_EFFECTS = re.compile(r"do|\w+\s*\(.*\)")
_BLOCK = re.compile(r":\s+[|>][-+\d]*$")
_LIST_OF_EFFECTS = re.compile(r"^\s*(?:- )?do:\s*[\[{]")
_BEHIND = (
    "mapping values are not allowed",
    "could not find expected ':'",
    "found '<block mapping start>'",
)
"""What YAML says at a line that may be right: of the one before it made a part of this one."""
_WORDS = frozenset(key for keys in KEYS.values() for key in keys)
_PROSE = frozenset({"about", "why", "source"})


def stumbled(source: Source, failure: MarkedYAMLError) -> Diagnostic:
    """Return the message on a text that is not YAML (T103)."""
    for look in (_no_key, _statement, _line_before, _not_closed):
        found = look(source, failure)
        if found is not None:
            return found
    return _as_yaml_says(source, failure)


def _as_yaml_says(source: Source, failure: MarkedYAMLError) -> Diagnostic:
    """Return the message at the place that YAML names."""
    length = len(source.text.rstrip())
    mark = failure.problem_mark or failure.context_mark
    at = min(mark.index, len(source.text)) if mark is not None else 0
    ended = at >= length
    if ended and failure.context_mark is not None:
        at = failure.context_mark.index
    span = span_at(source, at, at + 1)
    line = source.line(span.line)
    context = str(failure.context or "")
    problem = str(failure.problem or "it is incomplete")
    if ended:
        message = f"the file ends before this is complete ({problem})"
        help_ = "close what begins here, or restore the end of the file"
    elif "mapping values are not allowed" in problem:
        message = "a `: ` stands inside a plain cell"
        help_ = "quote the whole cell, or check the indentation of this line"
        if ": " not in line[: span.column - 1]:
            help_ = "quote the whole cell, begin it with |, or check the indentation of this line"
        elif "?" in line[: span.column - 1]:
            help_ = "write a choice as a if p else b, or quote the whole cell"
    elif ("flow" in context or "flow" in problem) and _LIST_OF_EFFECTS.match(line):
        message = f"YAML cannot read this list or mapping ({problem})"
        help_ = "write do: | and below it a statement a line, indented, without brackets"
    elif "flow" in context or "flow" in problem:
        key = re.search(r"\s(\w+)$", line[: span.column - 1])
        message = f"YAML cannot read this list or mapping ({problem})"
        comma = f"write a comma before `{key[1]}`, or " if "got ':'" in problem and key else ""
        help_ = (
            comma + "quote every expression inside { } and [ ] that holds a comma, bracket or brace"
        )
    elif "found '?'" in problem:
        message = "this is no item of the list above it"
        help_ = "begin it with `- `, or indent it as the lines above"
    elif _INDENTED.search(problem) and not line[: span.column - 1].strip():
        above = _above(source, span.line)
        column = _indent(source.line(above)) + 1
        message = "this line is not indented as those that it belongs to"
        help_ = (
            f"let what belongs together begin in one column: line {above} begins in column "
            f"{column}, this one in column {span.column}"
        )
    elif _CELL_BEGINNING.match(line):
        message = f"YAML ends the value before the line ends ({problem})"
        help_ = "quote the whole cell: one that begins with {, [ or a quote belongs to YAML"
    else:
        message = f"this is not YAML: {problem}"
        help_ = "check the indentation, and quote cells that hold special characters"
    return Diagnostic("T103", message, span, help=help_)


def _no_key(source: Source, failure: MarkedYAMLError) -> Diagnostic | None:
    """Return the message on a line that should begin with a key, and has none."""
    mark = failure.context_mark
    if mark is None or "could not find expected ':'" not in str(failure.problem):
        return None
    number: int = mark.line + 1
    above = _above(source, number)
    line, before = _code(source, number), _code(source, above)
    mended = _mended(line, before)
    if _BLOCK.search(before):
        head = before.strip()
        message = f"this line is no part of the block `{shorten(head)}` above it"
        mended = message, f"indent the lines of a block deeper than its key, under `{head}`"
    elif not _known(line):
        block = _without_block(source, number)
        if block is not None:
            return block
    message, help_ = mended or (
        "this line has no key and no `: `",
        "write `key: value`, or indent it deeper as a part of the line above",
    )
    return Diagnostic("T103", message, _whole(source, number), help=help_)


def _known(line: str) -> bool:
    """Whether a line begins with a key of the language that lacks its colon or space."""
    match = _NO_SPACE.match(line) or _NO_COLON.match(line)
    return match is not None and match["key"] in _WORDS


def _mended(line: str, before: str) -> tuple[str, str] | None:
    """Return message and help on a line whose key lacks something; `before` is above it."""
    item = "- " if line.lstrip().startswith("- ") else ""
    dash, space = _DASH.match(line), _NO_SPACE.match(line)
    equals, colon = _EQUALS.match(line), _NO_COLON.match(line)
    if dash is not None:
        return "a `-` with no space behind it begins no item", f"write - {dash['key']}:"
    if space is not None:
        text = f"{item}{space['key']}: {shorten(space['value'])}"
        return "the `:` of a key has no space behind it", f"write {text}"
    if equals is not None:
        return "a key has no `:`", f"write {item}{equals['key']}: {shorten(equals['value'])}"
    if colon is not None and not (iskeyword(colon["key"]) or _UNFINISHED.search(before)):
        value = shorten(colon["value"] or "")
        return "a key has no `:`", f"write {item}{colon['key']}: {value}".rstrip()
    return None


def _statement(source: Source, failure: MarkedYAMLError) -> Diagnostic | None:
    """Return the message on effects without `|` in which an `if` or `for` stands."""
    mark = failure.problem_mark
    if mark is None or "mapping values are not allowed" not in str(failure.problem):
        return None
    if not _STATEMENT.match(_code(source, mark.line + 1)):
        return None
    return _without_block(source, mark.line + 1)


def _without_block(source: Source, number: int) -> Diagnostic | None:
    """Return the message on the key of effects of several lines that are no block, else None."""
    line = source.line(number)
    over = _above(source, number)
    while over and _indent(source.line(over)) >= _indent(line):
        over = _above(source, over)
    owner = _OF_A_CELL.match(_code(source, over))
    if owner is None or not _EFFECTS.fullmatch(owner["key"]) or _BLOCK.search(owner[0]):
        return None
    return Diagnostic(
        "T103",
        f"what stands below this key is no block, so that YAML reads line {number} as a key",
        _whole(source, over),
        help=f"write {shorten(owner['key'])}: | and the rest on the lines below, indented",
    )


def _line_before(source: Source, failure: MarkedYAMLError) -> Diagnostic | None:
    """Return the message on the line before the one that YAML names, where that one is wrong.

    A line without a key is the beginning of the next one's, or the value that the next one goes on
    with.
    """
    mark = failure.problem_mark
    problem = str(failure.problem)
    if mark is None or not any(words in problem for words in _BEHIND):
        return None
    here = source.line(mark.line + 1)
    inside = "not allowed" in problem
    number = _above(source, mark.line + 1)
    while number and _indent(source.line(number)) > _indent(here):
        number = _above(source, number)
    if number == 0 or (inside and ": " in here[: mark.column]):
        return None
    line = _code(source, number)
    before = _code(source, _above(source, number))
    mended = _mended(line, before)
    if mended is not None and _NO_COLON.match(line) and not _begins(source, number, here):
        mended = None
    if mended is None and inside and _KEY.match(line) and _deeper(here, _indent(line)):
        message = f"the next line, `{shorten(here.strip())}`, is indented as a part of this value"
        mended = message, "let both begin in one column, or quote the whole cell"
    if mended is None:
        return None
    return Diagnostic("T103", mended[0], _whole(source, number), help=mended[1])


def _begins(source: Source, number: int, here: str) -> bool:
    """Whether a line without a colon begins an item or is the first below a key not of prose."""
    item = re.match(r"\s*- (\w+)", source.line(number))
    if item is not None:
        return item[1] in _WORDS
    line, over = source.line(number), _above(source, number)
    owner = _OF_A_CELL.match(_code(source, over))
    if over == 0:
        return True
    if owner is None or owner["value"].strip() or owner["key"].strip() in _PROSE:
        return False
    return _indent(line) == _indent(here)


def _not_closed(source: Source, failure: MarkedYAMLError) -> Diagnostic | None:
    """Return the message on a `{` or `[` that a key below shows to be open, else None."""
    begin, mark = failure.context_mark, failure.problem_mark
    if begin is None or mark is None or "expected ',' or" not in str(failure.problem):
        return None
    opened = _code(source, begin.line + 1)[begin.column :]
    if begin.line == mark.line or unbalanced(opened) <= 0:
        return None
    if _ENTRY.match(source.line(mark.line + 1)) is None:
        return None
    bracket = opened[:1]
    return Diagnostic(
        "T103",
        f"this `{bracket}` is not closed where the line ends",
        span_at(source, begin.index, begin.index + 1),
        help=f"close it with {'}' if bracket == '{' else ']'}, or end the line with a comma",
    )


# ----------------------------------------------------------------------------------- lines


def _code(source: Source, number: int) -> str:
    """Return a line without its comment; empty for line 0."""
    return source.line(number).partition(" #")[0].rstrip()


def _above(source: Source, number: int) -> int:
    """Return the number of the nearest line above that is not blank or a comment, or 0."""
    number -= 1
    while number > 0 and not source.line(number).partition("#")[0].strip():
        number -= 1
    return number


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _whole(source: Source, number: int) -> Span:
    """Return the place of a line without its indentation and comment."""
    line = _code(source, number)
    return Span(source, number, _indent(line) + 1, number, len(line) + 1)


def _deeper(line: str, indent: int) -> bool:
    """Whether a line has a key that begins behind a column."""
    return _KEY.match(line) is not None and _indent(line) > indent
