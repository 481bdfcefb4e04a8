"""Goal: what is written for a search that is soon over finds the same as what is written for long.

Such code has no loops unrolled, and every successor is looked up; who declares how many states
there are gets it. `tests/kernel/test_agreement.py` holds it to the reference, step by step.
"""

from dataclasses import replace
from pathlib import Path

import pytest
from machines import KNOWN, Known, two_phase
from random_machines import lively_machine
from random_teams import random_team, random_team_alike
from test_engines_agree import comparable

from checker import flow
from checker.kernel.build import build
from checker.layout import pack
from checker.machine.machine import Expectation, Machine
from checker.search.explore import explore
from checker.search.limits import Limits
from checker.source import NOWHERE

SEEDS = range(25)


def require_the_same(machine: Machine, workers: int = 1) -> None:
    layout = pack(machine)
    found = [
        comparable(explore(machine, layout, build(machine, layout, brief=brief), limits, workers))
        for brief in (False, True)
        for limits in (Limits(), Limits(keep_going=True, depth=7))
    ]
    assert found[:2] == found[2:]


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.machine.name)
def test_known_machines(known: Known) -> None:
    require_the_same(known.machine)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_machines(seed: int) -> None:
    require_the_same(lively_machine(seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_workers_whose_steps_commute(seed: int) -> None:
    require_the_same(random_team(seed), workers=2)


@pytest.mark.parametrize("seed", SEEDS)
def test_workers_who_are_alike(seed: int) -> None:
    require_the_same(random_team_alike(seed))


def test_it_is_shorter_and_looks_everything_up() -> None:
    machine = two_phase(5)
    usual, brief = (build(machine, pack(machine), brief=brief) for brief in (False, True))
    assert len(brief.ir) < len(usual.ir)
    assert usual.explore_address != 0
    assert brief.explore_address == 0


def test_both_are_kept_each_by_itself() -> None:
    machine = two_phase(4)
    for prompt in (True, False):
        texts = [
            build(machine, pack(machine), prompt=prompt, brief=brief).ir
            for brief in (False, True, False, True)
        ]
        assert texts[0] == texts[2]
        assert texts[1] == texts[3]
        assert texts[0] != texts[1]


def expecting(machine: Machine, distinct: int | None) -> Machine:
    expectation = Expectation("holds", None, distinct, None, None, None, (), NOWHERE)
    return replace(machine, expectation=expectation)


def test_who_declares_few_states_gets_it() -> None:
    machine = two_phase(2)
    assert not flow.soon_over(replace(machine, expectation=None))
    assert not flow.soon_over(expecting(machine, None))
    assert flow.soon_over(expecting(machine, flow.BRIEF_STATES))
    assert not flow.soon_over(expecting(machine, flow.BRIEF_STATES + 1))


@pytest.mark.parametrize("kept", [False, True])
def test_a_search_that_another_may_go_on_with_has_the_usual_code(
    *, kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []

    def noted(*given: object, brief: bool = False, **named: object) -> object:
        asked.append(brief)
        return build(*given, brief=brief, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(flow, "build", noted)
    request = flow.Request("hour_clock", checkpoint=tmp_path / "kept" if kept else None)
    result = flow.check(request, flow.Silent())
    assert result.verdict.overall == "holds"
    assert asked == [not kept]
