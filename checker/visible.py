"""Text from outside as what a reader may see: nothing in it acts on a terminal or hides the rest.

A specification cannot hold such characters: its reader refuses them. Traces, logs, answers of an
implementation and names of files can.
"""

from __future__ import annotations

import re

UNSEEN = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff"
)
"""Within brackets of a pattern: control characters, line breaks and direction marks.

Not those that a text has on purpose: tab, line feed and carriage return.
"""

_ESCAPED = re.compile(f"[{UNSEEN}\r\ud800-\udfff]")  # halves of a pair are in no file of UTF-8


def visible(text: str) -> str:
    r"""Return a text with an escape such as `\x1b` for each character that is not to be seen.

    Line feeds and tabs stay.
    """
    return _ESCAPED.sub(_escape, text)


def visible_line(text: str) -> str:
    r"""Return a text on one line: as `visible` does, with `\n` for a line feed."""
    return visible(text).replace("\n", r"\n")


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
