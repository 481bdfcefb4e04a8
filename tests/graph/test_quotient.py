"""Goal: endless runs are judged alike on one state of each orbit and on all states.

On random machines that treat ids alike, with promises and properties of each id by itself: both
engines say the same of the quotient as of the whole graph, and every lasso is a real fair one.
"""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from random_teams import restless_team
from symmetric_machines import symmetric_runs

from checker.elaborate import elaborate
from checker.errors import SpecificationError, UsageError
from checker.flow import reduced, select
from checker.graph.build import bytes_needed
from checker.graph.endless import judge_endless
from checker.kernel.build import build
from checker.layout import pack
from checker.machine.machine import Machine
from checker.search.explore import explore
from checker.search.limits import Limits
from checker.search.outcome import NO_MEMORY, Liveness, Outcome
from checker.search.reference import explore_reference
from checker.semantics.renamings import bytes_of_renamings
from checker.semantics.symmetry import reduces
from checker.table import read
from checker.trace.rebuild import rebuild

LIMITS = Limits(keep_going=True)
SEEDS = (14, 21, 26, 28, 29, 36, 42, 45, 46, 56, 59, 63, 71, 80, 84, 86, 89, 123, 130, 136)
"""Teams with few states, and fewer than half of them representatives."""


def by_reference(machine: Machine) -> tuple[int, Liveness]:
    found = explore_reference(machine, LIMITS)
    return found.distinct, judge_endless(machine, found, LIMITS)


def by_kernel(machine: Machine, workers: int) -> tuple[int, Liveness]:
    layout = pack(machine)
    kernel = build(machine, layout, prompt=True, brief=True)
    found = explore(machine, layout, kernel, LIMITS, workers)
    return found.distinct, judge_endless(machine, found, LIMITS, (layout, kernel), workers)


def require_real(machine: Machine, judged: Liveness) -> None:
    """Every lasso is one that the interpreter takes, closed and fair."""
    for finding in judged.findings:
        assert rebuild(machine, finding).loop is not None


def test_random_machines() -> None:
    seen: Counter[str] = Counter()
    for machine in (symmetric_runs(13), symmetric_runs(32), *map(restless_team, SEEDS)):
        orbits = explore_reference(machine, LIMITS)
        every = explore_reference(replace(machine, symmetry=False), LIMITS)
        whole = judge_endless(replace(machine, symmetry=False), every, LIMITS)
        judged = judge_endless(machine, orbits, LIMITS)
        assert judged.outcomes == whole.outcomes, machine.name
        require_real(machine, judged)
        if 2 * orbits.distinct < every.distinct:
            seen.update(outcome.verdict for outcome in judged.outcomes.values())
            seen.update("goes round" for item in judged.findings if item.loop != item.depth)
    assert min(seen[what] for what in ("holds", "violated", "goes round")) > 3, seen


@pytest.mark.parametrize("seed", [14, 46, 86])
def test_native_code(seed: int) -> None:
    machine = restless_team(seed)
    orbits, judged = by_reference(machine)
    alone, together = by_kernel(machine, 1), by_kernel(machine, 2)
    assert alone == together
    assert (alone[0], alone[1].outcomes) == (orbits, judged.outcomes)
    require_real(machine, alone[1])


QUEUE = """
system: queue
about: Guests ask for the one seat; whoever is called sits down, and gets up again.
constants:
  Guest: {ids: 4, symmetric: true, prefix: g}
  in_turn: {value: true, about: whether who asked first is called first}
variables:
  asking: {type: sequence of Guest up to 4, initial: empty}
  seated: {type: optional Guest, initial: none}
rows:
  - row: asks
    for: {g: Guest}
    when: g not in asking and seated != g
    do: asking.append(g)
  - row: sits
    for: {g: Guest}
    when: seated is none and g in asking and (not in_turn or asking[0] == g)
    do: |
      seated = g
      asking = [x for x in asking if x != g]
    fair: weak
  - row: gets_up
    when: seated is not none
    do: seated = none
    fair: weak
properties:
  served:
    for: {g: Guest}
    leads_to: {from: g in asking, to: seated == g}
    why: who asks is called in the end.
  free_again:
    always_eventually: seated is none
    why: nobody keeps the seat.
instances:
  default: {expect: {verdict: holds}}
  any_turn: {set: {in_turn: false}, expect: {verdict: violated, property: served}}
"""


@pytest.fixture
def queue(tmp_path: Path) -> Path:
    file = tmp_path / "system.yaml"
    file.write_text(QUEUE)
    return file


@pytest.mark.parametrize("instance", ["default", "any_turn"])
def test_a_promise_to_each_is_no_promise_to_somebody(queue: Path, instance: str) -> None:
    machine = elaborate(read(queue), instance)
    states, whole = by_kernel(machine, 1)
    asked = reduced(machine, symmetry=True)
    orbits, judged = by_kernel(asked, 2)
    assert judged.outcomes == whole.outcomes
    assert orbits * 10 < states
    require_real(asked, judged)
    verdicts = [judged.outcomes[f"served(g{n})"].verdict for n in range(1, 5)]
    assert verdicts == ["holds" if instance == "default" else "violated"] * 4
    assert by_reference(asked)[1].outcomes == judged.outcomes
    shortest = {finding.property: finding.depth for finding in whole.findings}
    for finding in judged.findings:
        assert finding.depth >= shortest[finding.property]
        assert finding.property[-3:-1] in str(finding.path[finding.loop or 0])


def test_what_is_claimed_of_each_needs_memory_for_all(
    queue: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = reduced(elaborate(read(queue)), symmetry=True)
    monkeypatch.setattr("checker.graph.quotient.available", lambda: 0)
    outcomes = by_kernel(machine, 1)[1].outcomes
    each = [outcomes[f"served(g{n})"] for n in range(1, 5)]
    assert each == [Outcome("unknown", NO_MEMORY)] * 4
    assert outcomes["free_again"].verdict == "holds"


def test_what_is_claimed_of_some_tells_them_apart(queue: Path) -> None:
    machine = reduced(elaborate(read(queue), "any_turn"), symmetry=True)
    assert reduces(machine)
    assert not reduces(select(machine, ("served(g2)",)))
    with pytest.raises(SpecificationError):
        reduced(select(elaborate(read(queue)), ("served(g2)",)), symmetry=True)


def test_too_many_orders_are_refused(queue: Path) -> None:
    with pytest.raises(UsageError, match=r"served \(leads_to\)"):
        reduced(elaborate(read(queue), "default", {"Guest": 7}), symmetry=True)


def test_what_becomes_of_promises_is_held_against_the_memory(queue: Path) -> None:
    machine = reduced(elaborate(read(queue)), symmetry=True)
    layout = pack(machine)
    native = layout, build(machine, layout, prompt=True, brief=True)
    found = explore(machine, *native, LIMITS, 1)
    assert isinstance(found.states, np.ndarray)
    graph = bytes_needed(len(found.states), found.generated, orbits=True) + found.states.nbytes
    for more, reason in ((0, NO_MEMORY), (bytes_of_renamings(machine), "")):
        judged = judge_endless(machine, found, Limits(memory_bytes=graph + more), native, 1)
        assert judged.outcomes["free_again"].reason == reason
