"""What was worked out of a part of a machine, kept for other machines that have the same part.

Instances of a specification share their rows and properties where these mean the same
(`elaborate.kept`), as objects.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Part = TypeVar("Part")
T = TypeVar("T")

_KNOWN: dict[tuple[Callable[[Any], Any], int], tuple[object, Any]] = {}
"""By function and identity of the part; each holds the part, so that it keeps its identity."""
_KNOWN_MAX = 4_000


def once(work: Callable[[Part], T], part: Part) -> T:
    """Return `work(part)`, worked out before or now. Both must never change."""
    key = (work, id(part))
    known = _KNOWN.get(key)
    if known is None:
        if len(_KNOWN) >= _KNOWN_MAX:
            _KNOWN.clear()
        known = _KNOWN[key] = (part, work(part))
    found: T = known[1]
    return found
