"""Says how an analysis that goes round after round gets on: now and then, of long ones only."""

from __future__ import annotations

import time
from collections.abc import Callable

_SECONDS = 10.0


class Rounds:
    """The rounds of one analysis, called `title`; `notice` is told one sentence every 10 s."""

    def __init__(self, notice: Callable[[str], None], title: str) -> None:
        self._notice = notice
        self._title = title
        self._said = time.perf_counter()
        self._number = 0

    def tell(self, doing: str, left: int) -> None:
        """Take note of a round: what it does, and how much it goes on with."""
        self._number += 1
        if time.perf_counter() - self._said >= _SECONDS:
            self._said = time.perf_counter()
            self._notice(f"{self._title}: round {self._number}, {doing}, {left:,} left")
