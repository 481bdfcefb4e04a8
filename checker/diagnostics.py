"""Diagnostics as text: place, message, excerpt with carets, and what to change; and all codes."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Callable, Iterable
from typing import Final

from checker.errors import Diagnostic
from checker.source import NOWHERE, Span

WIDTH = 100
"""Columns that a rendered diagnostic keeps to, except for long file names."""

CODES: Final[dict[str, str]] = {
    "T100": "a file that cannot be read",
    "T101": "a file that is not UTF-8",
    "T102": "a forbidden character",
    "T103": "text that is not YAML",
    "T104": "a key that stands twice",
    "T105": "a YAML feature that specifications do not have",
    "T106": "something too large or nested too deeply",
    "T107": "a file that is empty, or of the other kind",
    "T110": "a cell that YAML took for a number, a boolean or nothing",
    "T111": "a cell that YAML tore apart or took for a list or mapping",
    "T112": "a value of the wrong kind",
    "T113": "an unknown key",
    "T114": "a missing key",
    "T115": "a value that is not among those allowed",
    "T116": "a name that is no name",
    "T117": "keys that exclude each other",
    "T118": "something listed twice",
    "T120": "a cell that cannot be parsed",
    "T121": "a string in a cell",
    "T122": "an operator that the language does not have",
    "T123": "a name that begins with an underscore",
    "T124": "a number that is no small integer",
    "T125": "an expression that the language does not have",
    "T126": "a statement that the language does not have",
    "T127": "something that is no place",
    "T128": "unpacking with a star",
    "T130": "a cell that is no type",
    "T131": "a key that is no signature",
    "T140": "a table that cannot be found",
    "T141": "a table outside the folders for tables",
    "T142": "a table under another name",
    "T143": "a file of a system that cannot be read from its folder",
    "T144": "a system to use or refine that cannot be found",
    "T145": "a part that a used system does not have",
    "T146": "a replacement with another interface",
    "T147": "systems that use each other",
    "T150": "an unknown state in a table",
    "T151": "a move listed twice",
    "T152": "a table without an initial state",
    "N201": "a name that nothing declares",
    "N203": "a name with two meanings",
    "N204": "a name that several types have",
    "N205": "a name used as what it is not",
    "N206": "a reference to something that is not declared",
    "N207": "a message that several channels carry",
    "N208": "wrong arguments, keys or fields",
    "N209": "a setting without a constant",
    "N220": "a definition or procedure that uses itself",
    "N221": "a variable of a refined system that nothing is mapped to",
    "Y301": "types that do not fit",
    "Y302": "a local of which nothing says the type",
    "Y303": "operands that do not go together",
    "Y304": "a constant is needed",
    "Y305": "an empty range or a size out of bounds",
    "Y306": "a type that is too large",
    "Y307": "numbers that grow too large",
    "Y308": "a local that grows with every round of a loop",
    "Y309": "something that stands in the wrong place",
    "Y310": "a form that means nothing here",
    "Y311": "a specification that is too large",
    "Y320": "something that cannot be assigned",
    "Y330": "symmetric ids used asymmetrically",
    "L401": "a state that no way leads to",
    "L402": "a state that no way leads out of",
    "L410": "a transition that the table lacks",
    "L411": "an event that is not the table's",
    "L420": "a variable that is never read",
    "L421": "a definition that is never used",
    "L430": "an outcome or expiry that no row handles",
    "L431": "a call that nobody can answer",
    "L432": "a value that is a name where it stands",
    "L440": "a message that no row handles in some states",
    "L450": "two rows that take the same message under the same guard",
    "L451": "a row that can never fire",
    "L460": "fairness of a fault",
    "E501": "a value outside its declared range",
    "E502": "none where a value is needed",
    "E503": "division by zero",
    "E504": "a field that the message's kind does not have",
    "E505": "a key or item that is not there",
    "E506": "a position that a sequence does not have",
    "E507": "the least or greatest of nothing",
    "E508": "a pick from nothing",
    "E509": "a channel or bag without room",
    "E510": "an assertion that is false",
    "R601": "an assumption about constants that is false",
    "R610": "a state that cannot be laid out",
    "R611": "more than a kernel can hold",
    "X701": "an integer that TLC does not have",
    "X702": "an order that is not written in TLA+",
    "X703": "a claim or a promise that is not written in TLA+",
}
"""Every diagnostic code and its one-line title; `docs/errors/CODE.md` says more."""

_RED, _YELLOW, _BLUE, _BOLD, _PLAIN = "\x1b[31m", "\x1b[33m", "\x1b[34m", "\x1b[1m", "\x1b[0m"
_Paint = Callable[[str, str], str]


def render(diagnostic: Diagnostic, *, color: bool = False) -> str:
    """Return a diagnostic as lines of text without a final line break.

    The excerpt shows the first line of the place, cut around the carets where it is long; control
    characters of the source never reach the terminal.
    """
    paint = _painter(color=color)
    accent = _RED if diagnostic.severity == "error" else _YELLOW
    where = "" if diagnostic.span == NOWHERE else f"{_visible(str(diagnostic.span))}: "
    title = paint(f"{diagnostic.severity}[{diagnostic.code}]", accent + _BOLD)
    lines = [f"{where}{title}: {paint(_visible(diagnostic.message), _BOLD)}"]
    excerpt = _excerpt(diagnostic.span)
    margin = " " * (len(str(diagnostic.span.line)) + 1)
    bar = paint("|", _BLUE)
    if excerpt is not None:
        text, carets = excerpt
        number = paint(str(diagnostic.span.line).rjust(len(margin)), _BLUE)
        lines += [
            f"{margin} {bar}",
            f"{number} {bar} {text}",
            f"{margin} {bar} {paint(carets, accent)}",
        ]
    for label, prose in (
        ("section", diagnostic.section),
        ("expected", diagnostic.expected),
        ("found", diagnostic.found),
        ("help", diagnostic.help),
    ):
        if prose:
            lines += _labelled(label, prose, margin, paint)
    for use in diagnostic.uses:
        lines += _labelled("used", f"{use.what} at {use.span}", margin, paint)
    return "\n".join(lines)


def in_a_line(diagnostic: Diagnostic) -> str:
    """Return what is wrong with a line that its writer still sees, and what mends it."""
    told = f"{diagnostic.message} (column {diagnostic.span.column})"
    return f"{told}; {diagnostic.help}" if diagnostic.help else told


def render_all(diagnostics: Iterable[Diagnostic], *, color: bool = False) -> str:
    """Return diagnostics one after the other, with a blank line between."""
    return "\n\n".join(render(diagnostic, color=color) for diagnostic in diagnostics)


def _painter(*, color: bool) -> _Paint:
    """Return the function that gives text a style, or leaves it plain."""

    def paint(text: str, style: str) -> str:
        return f"{style}{text}{_PLAIN}" if color and text else text

    return paint


def _labelled(label: str, prose: str, margin: str, paint: _Paint) -> list[str]:
    """Return `= label: prose`, wrapped below its beginning."""
    head = f"{margin} = {label}: "
    wrapped = textwrap.wrap(
        _visible(prose), WIDTH - len(head), break_long_words=True, break_on_hyphens=False
    )
    first = f"{margin} {paint('=', _BLUE)} {paint(label, _BOLD)}: {wrapped[0] if wrapped else ''}"
    return [first, *(" " * len(head) + line for line in wrapped[1:])]


def _excerpt(span: Span) -> tuple[str, str] | None:
    """Return the first line of the span, and carets below it; None where there is no text."""
    line = span.source.line(span.line)
    if not line.strip():
        return None
    begin = min(span.column - 1, len(line))
    end = span.end_column - 1 if span.end_line == span.line else len(line)
    end = min(max(end, begin + 1), max(len(line), begin + 1))
    room = WIDTH - len(str(span.line)) - 10
    shift = 0
    before = after = ""
    if len(line) > room:
        shift = max(0, min(begin - room // 3, len(line) - room))
        before = "..." if shift else ""
        after = "..." if shift + room < len(line) else ""
        line = line[shift : shift + room]
        begin, end = begin - shift, min(end - shift, len(line))
    text = _visible(line)
    blank = " " * (len(before) + _cells(line[:begin]))
    carets = "^" * max(1, _cells(line[begin:end]))
    return before + text + after, blank + carets


def _cells(text: str) -> int:
    """Return how many terminal columns `text` takes."""
    return sum(
        0 if unicodedata.combining(letter) else 1 + (unicodedata.east_asian_width(letter) in "WF")
        for letter in text
    )


def _visible(text: str) -> str:
    """Return `text` without what a terminal would act on or hide."""
    return "".join(
        "\ufffd" if unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp") else letter
        for letter in text
    )
