"""What an instance declares of its own run, compared with what the run found.

An instance that declares nothing is expected to hold: a gate that lets an undeclared violation
pass would be none.
"""

from __future__ import annotations

from checker.frozen import frozen
from checker.machine.machine import Expectation
from checker.search.exploration import Exploration
from checker.verdict.judge import Verdict


@frozen()
class Difference:
    """One thing that is not as declared; `what` names the key of `expect:`."""

    what: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{self.what}: expected {self.expected}, found {self.found}"


def differences(
    expectation: Expectation | None, verdict: Verdict, exploration: Exploration
) -> tuple[Difference, ...]:
    """Return everything in which the run is not as declared; empty when it is met."""
    found: list[Difference] = []
    if verdict.error is not None:
        found.append(Difference("verdict", "no evaluation error", "an evaluation error"))
    found += _of_verdict(expectation, verdict)
    if expectation is not None:
        found += _of_figures(expectation, verdict, exploration)
    return tuple(found)


def expected_verdict(expectation: Expectation | None) -> str:
    """Return the verdict that is expected, `holds` where nothing is declared."""
    if expectation is None:
        return "holds"
    return expectation.verdict or ("holds" if expectation.property is None else "violated")


def _of_verdict(expectation: Expectation | None, verdict: Verdict) -> list[Difference]:
    expected = expected_verdict(expectation)
    if expected == "violated" and expectation is not None and verdict.overall == "violated":
        return _of_violation(expectation, verdict)
    if expected == verdict.overall:
        return []
    what = ", ".join(item.name for item in verdict.broken)
    if not what and verdict.safety_holds:
        what = "; ".join(f"{item.name}: {item.reason}" for item in verdict.unknown_liveness)
    what = what or verdict.why_undecided
    return [Difference("verdict", expected, verdict.overall + (f" ({what})" if what else ""))]


def _of_violation(expectation: Expectation, verdict: Verdict) -> list[Difference]:
    """The declared property must break, and no undeclared one at a smaller depth."""
    if expectation.property is None:
        return []
    broken = {item.name: item for item in verdict.broken}
    declared = next(
        (item for item in verdict.broken if expectation.property in (item.name, item.declared)),
        None,
    )
    if declared is None:
        names = ", ".join(broken) or "nothing"
        return [Difference("property", expectation.property, f"violated: {names}")]
    earlier = [
        item.name
        for item in broken.values()
        if not expectation.allows(item.name, item.declared)
        and item.length is not None
        and (declared.length is None or item.length < declared.length)
    ]
    return [
        Difference("property", f"{expectation.property} to break first", f"{name} breaks earlier")
        for name in earlier
    ]


def figures_of(
    expectation: Expectation | None, verdict: Verdict, exploration: Exploration
) -> dict[str, int | dict[str, int]]:
    """Return what was found of every figure that `expect:` has a key for."""
    broken = verdict.broken
    declared = broken[0].name if broken else None
    if expectation is not None and expectation.property is not None:
        declared = expectation.property
    judged = (*broken, *verdict.properties)
    shown = [item for item in judged if declared in (item.name, item.declared)]
    length = shown[0].length if shown else None
    return {
        "distinct": exploration.distinct,
        "generated": exploration.generated,
        "depth": exploration.depth,
        **({} if length is None else {"length": length}),
        "rows": {row.row: row.fired for row in exploration.rows},
    }


def _of_figures(
    expectation: Expectation, verdict: Verdict, exploration: Exploration
) -> list[Difference]:
    found = figures_of(expectation, verdict, exploration)
    fired = found.pop("rows")
    assert isinstance(fired, dict)
    declared = (
        ("distinct", expectation.distinct),
        ("generated", expectation.generated),
        ("depth", expectation.depth),
        ("length", expectation.length),
    )
    figures = ((what, expected, found.get(what)) for what, expected in declared)
    rows = ((f"rows: {name}", times, fired.get(name, 0)) for name, times in expectation.rows)
    return [
        Difference(what, f"{expected:,}", "none" if value is None else f"{value:,}")
        for what, expected, value in (*figures, *rows)
        if expected is not None and expected != value
    ]
