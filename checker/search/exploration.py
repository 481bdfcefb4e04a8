"""The Exploration: what a search found, the same whichever engine ran it."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from checker.frozen import frozen
from checker.kernel.kernel import Words
from checker.search.finding import Finding
from checker.search.outcome import Liveness
from checker.search.profile import Profile
from checker.search.recording import Steps
from checker.semantics.successor import State

StoppedBy = Literal[
    "violation",
    "evaluation_error",
    "depth",
    "states",
    "steps",
    "seconds",
    "memory",
    "memory_of_one_state",
    "interrupt",
]
"""Why a search ended early; `memory_of_one_state`: the steps of one state do not fit, however much
room there is on a disk."""


@frozen()
class RowCoverage:
    """Of one action: states in which it was enabled, successors, those that are another state."""

    row: str
    enabled: int
    fired: int
    new: int


@frozen()
class Kept:
    """The checkpoint that a search left: where, and how much of the search it holds.

    `expanded` levels were expanded when it was written, and `distinct` states known.
    """

    directory: str
    expanded: int
    distinct: int


@frozen()
class Exploration:
    """Counts as defined in docs/semantics.md, findings, and how far the search came.

    `levels[d]` is the number of distinct states at depth d; `depth_complete` is the last depth
    whose states were all expanded (-1: none).
    `exhaustive`: every reachable state within the bounds was expanded and checked. `states` are
    all distinct states, as long as something is to be judged on them: those of an exhaustive
    search of a machine with liveness properties, packed (one a row) or as values, in the order of
    their depth, and `steps` all of theirs, where the search recorded them; where they were too many
    for that, `endless` is what the engine itself judged.
    `seconds` are those of searching, before a checkpoint it went on from included.
    `checkpoint` is the last one it wrote; `profile` is there where it was asked for.

    `hunted`: it was no search but hunts, and this says how many; there are no distinct states then,
    `generated` are their steps, and no path is known to be a shortest one.
    """

    engine: str
    workers: int
    distinct: int
    generated: int
    levels: tuple[int, ...]
    depth_complete: int
    exhaustive: bool
    stopped_by: StoppedBy | None
    cuts: int
    deadlocks: int
    findings: tuple[Finding, ...]
    rows: tuple[RowCoverage, ...]
    seconds: float
    state_bits: int
    bytes_per_state: float
    states: Words | tuple[State, ...] | None = field(default=None, repr=False, compare=False)
    steps: Steps | None = field(default=None, repr=False, compare=False)
    endless: Liveness | None = field(default=None, repr=False, compare=False)
    checkpoint: Kept | None = None
    profile: Profile | None = field(default=None, compare=False)
    hunted: str = ""

    @property
    def depth(self) -> int:
        """Steps of the longest shortest path found."""
        return max(len(self.levels) - 1, 0)
