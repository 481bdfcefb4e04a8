"""Choices of those who draw specifications, each one of Hypothesis's, so that it can shrink them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st


class Choices:
    """Draws numbers, chances and one of several; `draw` is Hypothesis's."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self._draw = draw

    def number(self, low: int, high: int) -> int:
        return int(self._draw(st.integers(low, high)))

    def chance(self, one_in: int = 2) -> bool:
        """Return true once in so many times; false is the simpler choice."""
        return self.number(0, one_in - 1) == one_in - 1

    def one(self, options: Sequence[Any]) -> Any:
        return options[self.number(0, len(options) - 1)]
