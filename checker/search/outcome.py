"""The Outcome of judging liveness: what can be said of each property, and why where nothing can."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from checker.frozen import frozen
from checker.machine.machine import LIVENESS, Machine, Property
from checker.search.finding import Finding

CUT_OFF = "a step that was cut can come before what is owed"
WITHIN_BOUNDS = "of the runs that stay within the bounds"
NOT_EXHAUSTIVE = "the search was not exhaustive"
STOPPED: Mapping[str | None, str] = {
    "violation": "the search stopped at a violation",
    "evaluation_error": "the search stopped at an evaluation error",
    "depth": "the search stopped at the depth limit",
    "states": "the search stopped at the limit of states",
    "steps": "the search looked at some runs only",
    "seconds": "the search stopped at the time limit",
    "memory": "the search stopped at the memory limit",
    "memory_of_one_state": "the search stopped where one state has more steps than fit the memory",
    "interrupt": "the search was interrupted",
}
"""Why what a search did not decide is unknown, by what stopped it."""
NOT_KEPT = "the states are not in memory any more"
NO_MEMORY = "the graph of all steps does not fit the memory"
INTERRUPTED = "interrupted before it was judged"
OF_MEMORY = frozenset({NOT_KEPT, NO_MEMORY})
"""The reasons that more memory would mend."""


@frozen()
class Outcome:
    """What can be said of one property.

    `reason` says why nothing can; or, where it holds of some runs only, of which.
    """

    verdict: Literal["holds", "violated", "unknown"]
    reason: str = ""


@frozen()
class Liveness:
    """The outcome of each liveness property, and a lasso for each that is violated."""

    outcomes: Mapping[str, Outcome]
    findings: tuple[Finding, ...] = ()

    @property
    def interrupted(self) -> bool:
        """Whether judging was interrupted."""
        return any(outcome.reason == INTERRUPTED for outcome in self.outcomes.values())

    @property
    def stopped_by(self) -> Literal["interrupt", "memory"] | None:
        """What kept from judging all that the search has found; None where nothing did."""
        if self.interrupted:
            return "interrupt"
        short = any(outcome.reason in OF_MEMORY for outcome in self.outcomes.values())
        return "memory" if short else None


def liveness_of(machine: Machine) -> list[Property]:
    """Return the liveness properties of a machine, as declared."""
    return [item for item in machine.properties if item.kind in LIVENESS]


def unknown(machine: Machine, reason: str) -> Liveness:
    """Return that nothing can be said of any liveness property."""
    return Liveness({item.name: Outcome("unknown", reason) for item in liveness_of(machine)})
