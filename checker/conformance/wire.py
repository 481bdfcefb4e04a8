"""JSON of logs and adapters, as the standard has it.

Python's own reader takes NaN and Infinity, which no other one does, and makes an infinity of a
number that is too large; what was read so would be printed so.
"""

from __future__ import annotations

import json
import math
from typing import NoReturn


class NumberError(ValueError):
    """A number that JSON does not have, or that no float holds; its text is the message."""


def decoded(text: str) -> object:
    """Return what a text of JSON says; NumberError or another ValueError where it is none."""
    return _DECODER.decode(text)


def _refuse(text: str) -> NoReturn:
    raise NumberError(text)


def _float(text: str) -> float:
    value = float(text)
    return _refuse(text[:40]) if math.isinf(value) else value


_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_float=_float)
