"""State tables to work with: what happens in each state, and tables under one's own objects."""

from checker.tables.machines import attach, cover, dominators, graph, load, moves, reachable, states
from checker.tables.matrix import (
    Cell,
    Effect,
    Line,
    StateMatrix,
    machines_with_every_row,
    matrices_of,
    state_matrices,
)

__all__ = [
    "Cell",
    "Effect",
    "Line",
    "StateMatrix",
    "attach",
    "cover",
    "dominators",
    "graph",
    "load",
    "machines_with_every_row",
    "matrices_of",
    "moves",
    "reachable",
    "state_matrices",
    "states",
]
