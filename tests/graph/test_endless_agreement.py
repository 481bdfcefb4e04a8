"""Goal: both engines judge endless runs alike, to the lasso, and every lasso is a real fair one.

Machines are random, with fair rows, bounds, faults and properties that hold, break or stay unknown.
"""

from collections import Counter

import pytest
from machines import widened
from random_machines import grouped_machine, lively_machine, temporal_machine

from checker.graph.endless import judge_endless
from checker.kernel.build import build
from checker.layout import pack
from checker.machine.machine import Machine
from checker.search.explore import explore
from checker.search.limits import Limits
from checker.search.outcome import Liveness
from checker.search.reference import explore_reference
from checker.trace.rebuild import rebuild

SEEDS = range(60)
LIMITS = Limits(keep_going=True)


def by_reference(machine: Machine) -> Liveness:
    return judge_endless(machine, explore_reference(machine, LIMITS), LIMITS)


def by_kernel(machine: Machine, workers: int) -> Liveness:
    layout = pack(machine)
    kernel = build(machine, layout)
    found = explore(machine, layout, kernel, LIMITS, workers)
    return judge_endless(machine, found, LIMITS, (layout, kernel), workers)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_machines(seed: int) -> None:
    require_agreement(lively_machine(seed, errors=seed % 4 == 0), seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_machines_whose_steps_are_recorded(seed: int) -> None:
    require_agreement(widened(lively_machine(seed, errors=seed % 4 == 0)), seed)


@pytest.mark.parametrize("seed", range(40))
def test_groups_of_rows(seed: int) -> None:
    require_agreement(grouped_machine(seed), seed)


@pytest.mark.parametrize("seed", range(40))
def test_temporal_properties(seed: int) -> None:
    require_agreement(temporal_machine(seed), seed)


def require_agreement(machine: Machine, seed: int) -> None:
    wanted = by_reference(machine)
    assert by_kernel(machine, 1 + seed % 2) == wanted
    for finding in wanted.findings:
        trace = rebuild(machine, finding)
        assert (trace.loop is None) == (finding.kind == "error")


def test_the_machines_show_every_outcome() -> None:
    seen: Counter[str] = Counter()
    for seed in range(50):
        if seed == 29:  # which takes longest, and holds
            continue
        machine = lively_machine(seed, errors=seed % 4 == 0)
        judged = by_reference(machine)
        seen.update(outcome.verdict for outcome in judged.outcomes.values())
        for trace in (rebuild(machine, item) for item in judged.findings):
            assert trace.loop is not None
            seen["stays" if trace.loop.start == trace.length else "goes round"] += 1
            seen.update("keeps a promise" for _ in trace.loop.promises)
    assert len(seen) == 6
    assert min(seen.values()) >= 5, seen
