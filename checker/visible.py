"""Text from outside as what a reader may see: nothing in it acts on a terminal or hides the rest.

A specification cannot hold such characters: its reader refuses them. Traces, logs, answers of an
implementation and names of files can.
"""

from __future__ import annotations

import json
import re

UNSEEN = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff"
)
"""Within brackets of a pattern: control characters, line breaks and direction marks.

Not those that a text has on purpose: tab, line feed and carriage return.
"""

_HALVES = "\ud800-\udfff"
"""Halves of pairs, which are in no file of UTF-8: bytes of names that are none become them."""

_ESCAPED = re.compile(f"[{UNSEEN}\r{_HALVES}]")
_HALF = re.compile(f"[{_HALVES}]")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")


def visible(text: str) -> str:
    r"""Return a text with an escape such as `\x1b` for each character that is not to be seen.

    Line feeds and tabs stay.
    """
    return _ESCAPED.sub(_escape, text)


def visible_line(text: str) -> str:
    r"""Return a text on one line: as `visible` does, with `\n` for a line feed."""
    return visible(text).replace("\n", r"\n")


def json_text(
    data: object, *, indent: int | None = None, dense: bool = False, plain: bool = False
) -> str:
    r"""Return data as JSON that every reader takes; `dense`: without blanks, `plain`: in ASCII.

    Few take halves of pairs: those of names that are no UTF-8 are escaped as in text, `\\udcff`.
    """
    separators = (",", ":") if dense else None
    text = json.dumps(data, ensure_ascii=False, indent=indent, separators=separators)
    whole = _HALF.sub(lambda half: f"\\{_escape(half)}", text)
    return _BEYOND_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], whole) if plain else whole


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
