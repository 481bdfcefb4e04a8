"""Goal: the gate passes what is as declared, and nothing else."""

from dataclasses import replace

from machines import TRUE, counter, prop
from test_judge import NOTHING, found, with_properties

from checker.machine.machine import Expectation
from checker.search.exploration import Exploration, RowCoverage
from checker.source import NOWHERE
from checker.verdict.expectation import differences
from checker.verdict.judge import judge

MACHINE = with_properties(a="always", b="always", live="eventually")
SAFE = replace(MACHINE, properties=MACHINE.properties[:2])


def declared(**keys: object) -> Expectation:
    names = ("verdict", "property", "distinct", "generated", "depth", "length")
    values = {name: keys.get(name) for name in names}
    return Expectation(**values, also=keys.get("also", ()), span=NOWHERE)  # type: ignore[arg-type]


def violated(**steps: int) -> Exploration:
    findings = tuple(found(name, "always", length) for name, length in steps.items())
    return replace(NOTHING, exhaustive=False, stopped_by="violation", findings=findings)


def wrong(expectation: Expectation | None, exploration: Exploration, machine=SAFE) -> list[str]:  # type: ignore[no-untyped-def]  # noqa: ANN001
    verdict = judge(machine, exploration)
    return [item.what for item in differences(expectation, verdict, exploration)]


def test_what_declares_nothing_must_hold() -> None:
    assert wrong(None, NOTHING) == []
    assert wrong(None, violated(a=2)) == ["verdict"]


def test_holds_is_not_met_while_liveness_is_unknown() -> None:
    assert wrong(declared(verdict="holds"), NOTHING, MACHINE) == ["verdict"]
    assert wrong(declared(verdict="inconclusive"), NOTHING, MACHINE) == []
    stopped = replace(NOTHING, exhaustive=False, stopped_by="states")
    assert wrong(declared(verdict="holds"), stopped, MACHINE) == ["verdict"]
    (told,) = differences(None, judge(SAFE, stopped), stopped)
    assert told.found == "inconclusive (the search stopped at the limit of states)"


def test_figures_must_be_equal() -> None:
    assert wrong(declared(verdict="holds", distinct=10, generated=20, depth=1), NOTHING) == []
    found = wrong(declared(verdict="holds", distinct=11, generated=21, depth=2), NOTHING)
    assert found == ["distinct", "generated", "depth"]


def test_the_declared_property_must_break() -> None:
    expected = declared(verdict="violated", property="a", length=3)
    assert wrong(expected, violated(a=3)) == []
    assert wrong(expected, violated(a=4)) == ["length"]
    assert wrong(expected, violated(b=3)) == ["property", "length"]
    assert wrong(expected, NOTHING) == ["verdict", "length"]


def test_another_property_may_break_as_deep_but_not_earlier_unless_listed() -> None:
    expected = declared(verdict="violated", property="a")
    assert wrong(expected, violated(a=3, b=3)) == []
    assert wrong(expected, violated(a=3, b=4)) == []
    assert wrong(expected, violated(a=3, b=2)) == ["property"]
    assert wrong(declared(verdict="violated", property="a", also=("b",)), violated(a=3, b=2)) == []


def test_an_evaluation_error_is_never_as_declared() -> None:
    machine = replace(counter(), properties=(prop("a", "always", TRUE),))
    failed = replace(
        NOTHING, exhaustive=False, stopped_by="evaluation_error", findings=(found("x", "error", 1),)
    )
    assert "verdict" in wrong(declared(verdict="inconclusive"), failed, machine)


def test_how_often_rows_fire_can_be_declared() -> None:
    fired = replace(NOTHING, rows=(RowCoverage("up", 3, 4, 2), RowCoverage("down", 1, 1, 0)))
    expected = replace(declared(verdict="holds"), rows=(("up", 4), ("down", 1)))
    assert wrong(expected, fired) == []
    other = replace(expected, rows=(("up", 5), ("gone", 0), ("down", 1)))
    assert wrong(other, fired) == ["rows: up"]
