"""Goal: every engine finds just the steps that are none of a coarser machine, on random machines.

The oracle compares with all successors of the coarse machine; the engines look for one that fits.
"""

import pytest
from refining_machines import (
    CLAIM,
    least_wrong,
    refining_machine,
    symmetric_refining_machine,
)

from checker.elaborate.alike import unlike
from checker.kernel.build import build
from checker.layout.layout import pack
from checker.machine.machine import Machine
from checker.search.exploration import Exploration
from checker.search.explore import explore
from checker.search.limits import Limits
from checker.search.reference import explore_reference
from checker.trace.rebuild import rebuild

SEEDS = range(40)
DEPTH = 4


def found_at(exploration: Exploration) -> int | None:
    return next((item.depth for item in exploration.findings if item.property == CLAIM), None)


def native(machine: Machine, limits: Limits) -> Exploration:
    layout = pack(machine)
    return explore(machine, layout, build(machine, layout), limits, 1)


def failed(exploration: Exploration) -> bool:
    """Whether something could not be evaluated: then it depends on the order what is found."""
    return any(item.kind == "error" for item in exploration.findings)


@pytest.mark.parametrize("seed", SEEDS)
def test_engines_find_what_the_oracle_finds(seed: int) -> None:
    machine = refining_machine(seed, errors=seed % 3 == 0)
    limits = Limits(keep_going=True, depth=DEPTH)
    slow, fast = explore_reference(machine, limits), native(machine, limits)
    assert fast.findings == slow.findings
    assert (fast.distinct, fast.generated, fast.levels) == (
        slow.distinct, slow.generated, slow.levels,
    )  # fmt: skip
    if not failed(slow):
        assert found_at(slow) == least_wrong(machine, DEPTH)
    for finding in fast.findings:
        trace = rebuild(machine, finding)
        assert finding.property != CLAIM or trace.notes


def test_both_answers_are_drawn_often() -> None:
    answers = [least_wrong(refining_machine(seed, errors=False), 2) for seed in SEEDS]
    assert sum(answer is None for answer in answers) >= 10
    assert sum(answer is not None and answer > 0 for answer in answers) >= 5
    assert 0 in answers


@pytest.mark.parametrize("seed", range(12))
def test_the_reduction_finds_what_the_whole_search_finds(seed: int) -> None:
    machine = symmetric_refining_machine(seed)
    if unlike(machine):
        pytest.skip("ids are not used alike")
    limits = Limits(keep_going=True, depth=3)
    reduced, slow = native(machine, limits), explore_reference(machine, limits)
    assert (found_at(reduced), reduced.distinct) == (found_at(slow), slow.distinct)
    assert found_at(slow) == least_wrong(machine, 3)
