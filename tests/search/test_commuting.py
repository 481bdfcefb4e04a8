"""Goal: a search that leaves look-ups out finds what one that makes them all finds, with fewer.

Random machines whose rows mostly commute, held to the reference; a bound that would lose states if
it were not thought of; checkpoints and spilling, after which nobody knows how states were found.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from machines import (
    action,
    assign,
    at,
    binding,
    both,
    cast,
    equal,
    everything,
    less,
    local,
    machine,
    negated,
    number,
    place,
    plus,
    read,
    two_phase,
    variable,
)
from random_teams import random_team
from test_engines_agree import assert_agreement, comparable

import checker.search.local as local_module
from checker.elaborate import elaborate
from checker.kernel.build import build
from checker.kernel.kernel import Kernel
from checker.layout import Layout, pack
from checker.machine.machine import Action, Machine
from checker.machine.types import Id, Map, Range
from checker.search import board as places
from checker.search.crew import Crew
from checker.search.exploration import Exploration
from checker.search.explore import explore
from checker.search.limits import Limits
from checker.search.options import Options
from checker.semantics.values import map_value
from checker.table import read as read_file

SEEDS = range(40)
PHASE = Range(0, 4)


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many successors each search looks up."""
    counts: list[int] = []

    class Counting(Crew):
        def __exit__(self, *reason: object) -> None:
            counts.append(self.total(places.LOOKED_UP))
            super().__exit__(None, None, None)

    monkeypatch.setattr(local_module, "Crew", Counting)
    return counts


def built(subject: Machine) -> tuple[Layout, Kernel]:
    layout = pack(subject)
    return layout, build(subject, layout)


def counter(title: str, most: int) -> Action:
    value = read(title, PHASE)
    return action(
        f"{title}_rises",
        assign(place(title, PHASE), cast(plus(value, 1), PHASE)),
        guard=less(value, number(most)),
    )


def workers(count: int) -> Machine:
    """Workers that each go through the phases by themselves."""
    kind = Id("Worker", tuple(f"w{index}" for index in range(count)), symmetric=False)
    phases = Map(kind, PHASE, total=True)
    phase = at(read("phase", phases), local("w", kind))
    go_on = action(
        "go_on",
        assign(place("phase", PHASE, local("w", kind)), cast(plus(phase, 1), PHASE)),
        bindings=[binding("w", everything(kind))],
        guard=less(phase, number(4)),
    )
    start = map_value(phases, dict.fromkeys(kind.members, 0))
    return machine("workers", [variable("phase", phases, start)], [go_on], deadlock=False)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_machines_whose_rows_commute(seed: int) -> None:
    assert_agreement(random_team(seed), Limits(keep_going=True, depth=5))


def test_a_bound_that_cuts_one_way_to_a_state_off() -> None:
    one, two = read("one", PHASE), read("two", PHASE)
    # (0, 1) is cut, so (1, 1) is come upon by way of (1, 0) only: the step with the lower number.
    bound = negated(both(equal(one, number(0)), equal(two, number(1))))
    for rows in (("one", "two"), ("two", "one")):
        subject = machine(
            "cut",
            [variable("one", PHASE, 0), variable("two", PHASE, 0)],
            [counter(title, 1) for title in rows],
            bounds=[bound],
            deadlock=False,
        )
        found = explore(subject, *built(subject), Limits(), 1)
        assert (found.distinct, found.cuts, found.levels) == (3, 1, (1, 1, 1))
        assert_agreement(subject, Limits())


@pytest.mark.parametrize("threads", [1, 2])
def test_workers_by_themselves_are_looked_up_little_more_than_once(
    looked_up: list[int], threads: int
) -> None:
    subject = workers(6)
    found = explore(subject, *built(subject), Limits(), threads)
    assert (found.distinct, found.generated) == (5**6, 1 + 6 * 4 * 5**5)
    assert looked_up[0] < 1.5 * found.distinct  # of 4.8 a state
    layout, kernel = built(subject)
    without = explore(subject, layout, replace(kernel, explore_address=0), Limits(), threads)
    assert looked_up[1] == found.generated - 1
    assert _same_but_new(without) == _same_but_new(found)


def test_two_phase_commit_is_looked_up_little(looked_up: list[int]) -> None:
    subject = two_phase(5)
    found = explore(subject, *built(subject), Limits(), 1)
    assert found.distinct == 8832
    assert looked_up[0] < 2 * found.distinct
    assert found.generated > 6 * found.distinct


def _same_but_new(exploration: Exploration) -> Exploration:
    rows = tuple(replace(row, new=0) for row in exploration.rows)
    return replace(comparable(exploration), rows=rows)


def test_on_from_a_checkpoint(looked_up: list[int], tmp_path: Path) -> None:
    subject = workers(6)
    layout, kernel = built(subject)
    whole = explore(subject, layout, kernel, Limits(), 1)
    options = Options(checkpoint=tmp_path)
    explore(subject, layout, kernel, Limits(depth=9), 1, options=options)
    found = explore(subject, layout, kernel, Limits(), 1, options=Options(resume=tmp_path))
    assert _same_but_new(found) == _same_but_new(whole)
    # The level that was written was found nobody knows how; the next ones are known about.
    assert looked_up[1] + looked_up[2] < 2.5 * whole.distinct


@pytest.mark.parametrize(
    ("megabytes", "said_last"), [(5, "levels are kept on disk"), (3, "set is kept on disk")]
)
def test_on_from_where_memory_ends(tmp_path: Path, megabytes: int, said_last: str) -> None:
    subject = workers(8)
    layout, kernel = built(subject)
    whole = explore(subject, layout, kernel, Limits(), 2)
    said: list[str] = []
    options = Options(checkpoint=tmp_path, notice=said.append)
    small = Limits(memory_bytes=megabytes * 1_000_000)
    found = explore(subject, layout, kernel, small, 2, options=options)
    assert said_last in said[-1]
    assert _same_but_new(replace(found, checkpoint=None)) == _same_but_new(whole)


WIDE = """\
system: wide
about: Once it goes, one state has 30 steps that commute with what led there, and 40 others.
variables:
  x: {type: 0..30, initial: "0"}
  go: {type: bool, initial: "false"}
  y: {type: 0..40, initial: "0"}
deadlock: false
rows:
  - {row: b, for: {v: 1..30}, when: x == 0, do: x = v}
  - {row: a, when: not go, do: go = true}
  - {row: c, for: {v: 1..40}, when: go and y == 0, do: y = v}
properties:
  p: {always: y != 5, why: It comes to it.}
"""


def test_a_path_leads_past_a_state_of_which_the_search_made_few_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wide.yaml").write_text(WIDE)
    subject = elaborate(read_file(tmp_path / "wide.yaml"))
    monkeypatch.setattr(local_module, "Crew", partial(Crew, out_capacity=48))
    layout, kernel = built(subject)
    assert kernel.explore_address
    (found,) = explore(subject, layout, kernel, Limits(), 1).findings
    assert (found.property, found.depth) == ("p", 2)
