"""Takes a Machine and its Exploration, makes a Verdict: what may be claimed, and no more.

Nothing here is stronger than what was explored. A property that was not violated *holds* only
when every reachable state within the bounds was expanded; a `sometimes` is *unwitnessed* only then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from checker.frozen import frozen
from checker.machine.machine import LIVENESS, Machine
from checker.search.exploration import Exploration
from checker.search.finding import Finding
from checker.search.outcome import NOT_EXHAUSTIVE, STOPPED, WITHIN_BOUNDS, Outcome
from checker.table.document import PropertyKind
from checker.verdict import exits

Overall = Literal["holds", "bounded", "violated", "inconclusive"]
PropertyOutcome = Literal["holds", "violated", "witnessed", "unwitnessed", "unknown"]
Kind = Literal[PropertyKind, "deadlock", "legal"]

SAFETY: frozenset[Kind] = frozenset(("always", "step", "refines", "legal", "deadlock", "sometimes"))
"""What one finite path, or its absence, decides."""

WHY_DEADLOCK = "a system in which nothing but a fault can happen is stuck."
WHY_LEGAL = "a machine that makes a move its state table lacks is not that machine."


@frozen()
class PropertyVerdict:
    """One property: its outcome, and the counterexample or witness where there is one.

    `reason` says why it is unknown, or of which runs only it holds. `declared` is
    the name in the specification, which several have where `for:` makes them.
    """

    name: str
    kind: Kind
    outcome: PropertyOutcome
    why: str
    finding: Finding | None
    reason: str = ""
    declared: str = ""

    @property
    def length(self) -> int | None:
        """Steps of the counterexample or witness; None without one."""
        return None if self.finding is None else len(self.finding.path) - 1

    @property
    def within_bounds(self) -> bool:
        """Whether it holds of the runs that stay within the bounds, and of no others is known."""
        return self.outcome == "holds" and self.reason == WITHIN_BOUNDS

    @property
    def broken(self) -> bool:
        """Whether this outcome is a failure of the specification."""
        return self.outcome in {"violated", "unwitnessed"}


@frozen()
class Verdict:
    """The whole run: the overall verdict, each property's, an evaluation error, the exit code.

    `safety_holds`: everything was explored, nothing failed, and all but liveness holds or was
    witnessed.
    """

    overall: Overall
    properties: tuple[PropertyVerdict, ...]
    error: Finding | None
    exit_code: int
    safety_holds: bool

    @property
    def broken(self) -> tuple[PropertyVerdict, ...]:
        """The properties that failed, shortest counterexample first, then as declared."""
        failed = [verdict for verdict in self.properties if verdict.broken]
        return tuple(sorted(failed, key=lambda verdict: verdict.length or 0))

    @property
    def why_undecided(self) -> str:
        """Why something that finite paths decide is unknown; empty where nothing of that is."""
        unknown = (it for it in self.properties if it.outcome == "unknown" and it.kind in SAFETY)
        return next((item.reason for item in unknown), "")

    @property
    def unknown_liveness(self) -> tuple[PropertyVerdict, ...]:
        """The liveness properties of which nothing can be said."""
        return tuple(
            verdict
            for verdict in self.properties
            if verdict.kind in LIVENESS and verdict.outcome == "unknown"
        )


def judge(
    machine: Machine, exploration: Exploration, liveness: Mapping[str, Outcome] | None = None
) -> Verdict:
    """Return what `exploration` says about every property of `machine`.

    `liveness` has the outcome of each property that only infinite runs decide (its lasso is among
    the findings); nothing is known of one that is not in it.
    """
    found = {
        finding.property: finding
        for finding in reversed(exploration.findings)
        if finding.kind != "error"
    }
    error = next((item for item in exploration.findings if item.kind == "error"), None)
    outcomes = liveness or {}
    verdicts = tuple(
        _judge_property(item, found.get(item.name), exploration, outcomes.get(item.name))
        for item in _properties(machine)
    )
    overall = _overall(verdicts, exploration, error)
    exit_code = _exit_code(verdicts, exploration, error, overall)
    safe = all(item.outcome in {"holds", "witnessed"} for item in verdicts if item.kind in SAFETY)
    return Verdict(
        overall,
        verdicts,
        error,
        exit_code,
        safety_holds=exploration.exhaustive and error is None and safe,
    )


def _properties(machine: Machine) -> tuple[PropertyVerdict, ...]:
    """Everything that is judged, still unknown: declared properties, then the built-in ones."""

    def unknown(name: str, kind: Kind, why: str, declared: str = "") -> PropertyVerdict:
        return PropertyVerdict(name, kind, "unknown", why, None, declared=declared or name)

    declared = [
        unknown(item.name, item.kind, item.why, item.declared) for item in machine.properties
    ]
    if any(variable.table is not None for variable in machine.variables):
        declared.append(unknown("legal", "legal", WHY_LEGAL))
    if machine.deadlock:
        declared.append(unknown("deadlock", "deadlock", WHY_DEADLOCK))
    return tuple(declared)


def _judge_property(
    item: PropertyVerdict,
    finding: Finding | None,
    exploration: Exploration,
    endless: Outcome | None,
) -> PropertyVerdict:
    outcome: PropertyOutcome
    if item.kind == "sometimes":
        if finding is not None:
            outcome = "witnessed"
        else:
            outcome = "unwitnessed" if exploration.exhaustive else "unknown"
    elif finding is not None:
        outcome = "violated"
    elif item.kind in LIVENESS:
        outcome = "unknown" if endless is None else endless.verdict
    else:
        outcome = "holds" if exploration.exhaustive else "unknown"
    reason = "" if endless is None else endless.reason
    if outcome == "unknown" and not exploration.exhaustive and reason in {"", NOT_EXHAUSTIVE}:
        reason = STOPPED.get(exploration.stopped_by, NOT_EXHAUSTIVE)
    return replace(item, outcome=outcome, finding=finding, reason=reason)


def _overall(
    verdicts: tuple[PropertyVerdict, ...], exploration: Exploration, error: Finding | None
) -> Overall:
    if error is not None:
        return "inconclusive"
    if any(verdict.broken for verdict in verdicts):
        return "violated"
    unknown = [verdict for verdict in verdicts if verdict.outcome == "unknown"]
    if any(verdict.kind in LIVENESS for verdict in unknown):
        return "inconclusive"
    if exploration.exhaustive:
        return "inconclusive" if unknown else "holds"
    return "bounded" if exploration.stopped_by == "depth" else "inconclusive"


def _exit_code(
    verdicts: tuple[PropertyVerdict, ...],
    exploration: Exploration,
    error: Finding | None,
    overall: Overall,
) -> int:
    """The first code that applies, in the order of the contract."""
    violated = {verdict.kind for verdict in verdicts if verdict.outcome == "violated"}
    applies = (
        (error is not None, exits.EVALUATION),
        (bool(violated & {"always", "step", "refines", "legal"}), exits.SAFETY),
        ("deadlock" in violated, exits.DEADLOCK),
        (bool(violated & set(LIVENESS)), exits.LIVENESS),
        (any(verdict.outcome == "unwitnessed" for verdict in verdicts), exits.UNWITNESSED),
        (exploration.stopped_by == "interrupt", exits.INTERRUPTED),
        (overall in {"bounded", "inconclusive"}, exits.INCONCLUSIVE),
    )
    return next((code for holds, code in applies if holds), exits.HOLDS)
