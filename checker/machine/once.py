"""What was worked out of a part of a machine, kept for whoever asks again, in other machines too.

Instances of a specification share their rows and properties where these mean the same
(`elaborate.kept`), as objects. Parts are told apart by identity: types and terms are large, and
hashed slowly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Part = TypeVar("Part")
T = TypeVar("T")

_KNOWN: dict[Callable[[Any], Any], dict[int, tuple[object, Any]]] = {}
"""By function, and by identity of the part; each holds the part, so that it keeps its identity."""
_KNOWN_MAX = 1 << 14


def once(work: Callable[[Part], T], part: Part) -> T:
    """Return `work(part)`, worked out before or now. Both must never change."""
    try:
        found: T = _KNOWN[work][id(part)][1]
    except KeyError:
        results = _KNOWN.setdefault(work, {})
        if len(results) >= _KNOWN_MAX:
            results.clear()
        found = work(part)
        results[id(part)] = (part, found)
    return found
