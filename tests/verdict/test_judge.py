"""Goal: a verdict never claims more than was explored, and the exit code follows the contract."""

from dataclasses import replace
from typing import get_args

import pytest
from machines import KNOWN, TRUE, bounded_counter, counter, lamp, overflow, prop

from checker.machine.machine import Machine
from checker.search.exploration import Exploration, StoppedBy
from checker.search.finding import Finding
from checker.search.limits import Limits
from checker.search.outcome import NOT_EXHAUSTIVE, STOPPED, Outcome
from checker.search.reference import explore_reference
from checker.verdict.judge import Verdict, judge

NOTHING = Exploration(
    engine="reference",
    workers=1,
    distinct=10,
    generated=20,
    levels=(1, 9),
    depth_complete=1,
    exhaustive=True,
    stopped_by=None,
    cuts=0,
    deadlocks=0,
    findings=(),
    rows=(),
    seconds=0.0,
    state_bits=4,
    bytes_per_state=8.0,
)


def with_properties(**kinds: str) -> Machine:
    properties = tuple(prop(name, kind, TRUE) for name, kind in kinds.items())
    return replace(counter(), properties=properties, deadlock=False)


def outcomes(verdict: Verdict) -> dict[str, str]:
    return {item.name: item.outcome for item in verdict.properties}


def found(name: str, kind: str, steps: int) -> Finding:
    return Finding(name, kind, steps, ((0,),) * (steps + 1))  # type: ignore[arg-type]


def test_all_holds_after_an_exhaustive_search() -> None:
    verdict = judge(with_properties(a="always", s="step"), NOTHING)
    assert (verdict.overall, verdict.exit_code) == ("holds", 0)
    assert outcomes(verdict) == {"a": "holds", "s": "holds"}


def test_a_sometimes_that_is_never_reached_is_a_failure() -> None:
    verdict = judge(with_properties(seen="sometimes"), NOTHING)
    assert (verdict.overall, verdict.exit_code) == ("violated", 16)
    assert outcomes(verdict) == {"seen": "unwitnessed"}
    assert verdict.broken[0].length is None


def test_nothing_holds_and_nothing_is_unwitnessed_before_exhaustion() -> None:
    stopped = replace(NOTHING, exhaustive=False, stopped_by="states")
    verdict = judge(with_properties(a="always", seen="sometimes"), stopped)
    assert (verdict.overall, verdict.exit_code) == ("inconclusive", 20)
    assert outcomes(verdict) == {"a": "unknown", "seen": "unknown"}
    assert {item.reason for item in verdict.properties} == {verdict.why_undecided}


@pytest.mark.parametrize("stopped_by", get_args(StoppedBy))
def test_what_is_unknown_says_what_stopped_the_search(stopped_by: StoppedBy) -> None:
    stopped = replace(NOTHING, exhaustive=False, stopped_by=stopped_by)
    machine = with_properties(a="always", s="step", live="eventually")
    verdict = judge(machine, stopped, {"live": Outcome("unknown", NOT_EXHAUSTIVE)})
    assert {item.reason for item in verdict.properties} == {STOPPED[stopped_by]}
    whole = judge(machine, NOTHING)
    assert [item.reason for item in whole.properties] == ["", "", ""]
    assert whole.why_undecided == ""


@pytest.mark.parametrize("limit", ["states", "depth", "seconds", "memory", "interrupt"])
def test_safety_holds_only_of_what_was_explored_whole(limit: str) -> None:
    """Also where there is nothing but liveness and what was seen already."""
    machine = with_properties(ends="eventually", seen="sometimes")
    whole = replace(NOTHING, findings=(found("seen", "sometimes", 1),))
    assert judge(machine, whole).safety_holds
    stopped = replace(whole, exhaustive=False, stopped_by=limit)  # type: ignore[arg-type]
    assert not judge(machine, stopped).safety_holds


def test_a_depth_limit_is_bounded_and_any_other_limit_inconclusive() -> None:
    machine = with_properties(a="always")
    verdicts = {
        limit: judge(machine, replace(NOTHING, exhaustive=False, stopped_by=limit))  # type: ignore[arg-type]
        for limit in ("depth", "seconds", "memory", "interrupt")
    }
    assert {limit: (v.overall, v.exit_code) for limit, v in verdicts.items()} == {
        "depth": ("bounded", 20),
        "seconds": ("inconclusive", 20),
        "memory": ("inconclusive", 20),
        "interrupt": ("inconclusive", 130),
    }


def test_with_a_violation_the_others_are_unknown() -> None:
    stopped = replace(
        NOTHING,
        exhaustive=False,
        stopped_by="violation",
        findings=(found("a", "always", 2), found("seen", "sometimes", 1)),
    )
    verdict = judge(with_properties(a="always", b="always", seen="sometimes"), stopped)
    assert (verdict.overall, verdict.exit_code) == ("violated", 12)
    assert outcomes(verdict) == {"a": "violated", "b": "unknown", "seen": "witnessed"}
    assert [(item.name, item.length) for item in verdict.broken] == [("a", 2)]


def test_liveness_that_nothing_judged_leaves_the_verdict_open() -> None:
    verdict = judge(with_properties(a="always", live="eventually"), NOTHING)
    assert (verdict.overall, verdict.exit_code) == ("inconclusive", 20)
    assert verdict.safety_holds
    assert [item.name for item in verdict.unknown_liveness] == ["live"]


@pytest.mark.parametrize(
    ("findings", "code"),
    [
        ((("x", "error"), ("a", "always"), ("deadlock", "deadlock")), 75),
        ((("a", "always"), ("deadlock", "deadlock")), 12),
        ((("s", "step"),), 12),
        ((("legal", "legal"),), 12),
        ((("deadlock", "deadlock"),), 11),
    ],
)
def test_the_gravest_finding_decides_the_exit_code(
    findings: tuple[tuple[str, str], ...], code: int
) -> None:
    machine = replace(
        lamp(), properties=(prop("a", "always", TRUE), prop("s", "step", TRUE)), deadlock=True
    )
    stopped = replace(
        NOTHING,
        exhaustive=False,
        stopped_by="interrupt",
        findings=tuple(found(name, kind, 1) for name, kind in findings),
    )
    assert judge(machine, stopped).exit_code == code


def test_an_evaluation_error_is_no_violation() -> None:
    machine = overflow()
    verdict = judge(machine, explore_reference(machine, Limits()))
    assert (verdict.overall, verdict.exit_code) == ("inconclusive", 75)
    assert verdict.error is not None


def test_cuts_at_bounds_do_not_weaken_safety() -> None:
    machine = bounded_counter()
    exploration = explore_reference(machine, Limits())
    verdict = judge(machine, exploration)
    assert exploration.cuts == 1
    assert (verdict.overall, outcomes(verdict)["reaches_three"]) == ("holds", "witnessed")


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.machine.name)
def test_machines_with_known_deadlocks_are_judged_so(known: object) -> None:
    machine = known.machine  # type: ignore[attr-defined]
    verdict = judge(machine, explore_reference(machine, Limits(keep_going=True)))
    expected = "violated" if known.deadlocks else "holds"  # type: ignore[attr-defined]
    assert outcomes(verdict)["deadlock"] == expected
