"""State tables to work with: what happens in each state, and tables as machines of one's own."""

from checker.tables.matrix import (
    Cell,
    Effect,
    Line,
    StateMatrix,
    machines_with_every_row,
    state_matrices,
)

__all__ = ["Cell", "Effect", "Line", "StateMatrix", "machines_with_every_row", "state_matrices"]
