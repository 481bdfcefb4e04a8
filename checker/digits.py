"""Numbers that somebody wrote, told from what only looks like one to Python.

`str.isdigit` is true of `²`, which `int` refuses, and `int` refuses more than 4,300 digits.
"""

from __future__ import annotations


def natural(text: str, most: int = 18) -> int | None:
    """Return the number that is written as 1..`most` decimal digits of ASCII; None for other text.

    By default as many digits as 64 bits hold in any case.
    """
    written = text.isascii() and text.isdecimal() and len(text) <= most
    return int(text) if written else None
