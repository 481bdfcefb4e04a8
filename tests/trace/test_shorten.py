"""Goal: a long way to what is wrong becomes one of which no step can be left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker import flow
from checker.machine.machine import Machine
from checker.search.finding import Finding
from checker.semantics.successor import State
from checker.semantics.successors import initial_states, successors
from checker.trace.claim import contradiction
from checker.trace.rebuild import rebuild
from checker.trace.shorten import shorten

JARS = """
system: jars
about: Two jars are filled and emptied; one of them breaks when it is full.
variables:
  left:  {type: "0..4", initial: "0"}
  right: {type: "0..4", initial: "0"}
  broken: {type: bool, initial: "false"}
rows:
  - row: fill_left
    when: left < 4 and not broken
    do: left += 1
  - row: empty_left
    when: left > 0 and not broken
    do: left = 0
  - row: fill_right
    when: right < 4 and not broken
    do: right += 1
  - row: burst
    when: left == 4
    do: broken = true
  - row: overflow
    when: right == 4 and left == 0
    do: right += 1
properties:
  whole: {always: "not broken", why: a broken jar holds nothing.}
  calm: {step: "next(left) - left < 1 or left < 3", why: the last cup is too much.}
"""


@pytest.fixture
def jars(tmp_path: Path) -> Machine:
    path = tmp_path / "jars.yaml"
    path.write_text(JARS)
    _, machine = flow.prepare(flow.Request(str(path)), flow.Silent())
    return machine


def way(machine: Machine, *rows: str) -> tuple[State, ...]:
    state = initial_states(machine)[0].state
    assert state is not None
    states = [state]
    for row in rows:
        steps = successors(machine, states[-1])
        after = next(step.state for step in steps if step.action == row)
        assert after is not None
        states.append(after)
    return tuple(states)


def rows(machine: Machine, finding: Finding) -> list[str]:
    return [step.row for step in rebuild(machine, finding).steps[1:]]


LONG = ("fill_right", "fill_left", "fill_left", "empty_left", "fill_right", "fill_left")


def test_what_does_not_matter_is_left_out(jars: Machine) -> None:
    path = way(jars, *LONG, *["fill_left"] * 3, "fill_right", "burst")
    short = shorten(jars, Finding("whole", "always", len(path) - 1, path))
    assert rows(jars, short) == ["fill_left"] * 4 + ["burst"]


def test_a_step_that_is_wrong_stays_the_last_one(jars: Machine) -> None:
    path = way(jars, *LONG, *["fill_left"] * 3)
    short = shorten(jars, Finding("calm", "step", len(path) - 1, path))
    assert rows(jars, short) == ["fill_left"] * 4


def test_a_row_that_fails_still_fails(jars: Machine) -> None:
    path = way(jars, *LONG, "empty_left", *["fill_right"] * 2)
    short = shorten(jars, Finding("error", "error", len(path) - 1, path, "overflow"))
    assert rows(jars, short)[:4] == ["fill_right"] * 4
    assert short.depth == 4


def test_a_deadlock_stays_one(jars: Machine) -> None:
    stuck = Path(jars.path).with_name("stuck.yaml")
    stuck.write_text(JARS.replace("    when: left == 4\n", "    when: left == 4 and not broken\n"))
    _, machine = flow.prepare(flow.Request(str(stuck)), flow.Silent())
    path = way(machine, *LONG, *["fill_left"] * 3, "burst")
    short = shorten(machine, Finding("deadlock", "deadlock", len(path) - 1, path))
    assert rows(machine, short) == ["fill_left"] * 4 + ["burst"]


def test_where_nobody_knows_whether_it_is_a_deadlock_it_is_none(jars: Machine) -> None:
    unclear = Path(jars.path).with_name("unclear.yaml")
    unclear.write_text(
        JARS.replace("    when: left == 4\n", "    when: left == 4 and not broken\n").replace(
            "rows:", "terminal: [4 // right > 4]\nrows:", 1
        )
    )
    _, machine = flow.prepare(flow.Request(str(unclear)), flow.Silent())
    path = way(machine, *LONG, *["fill_left"] * 3, "burst")
    short = shorten(machine, Finding("deadlock", "deadlock", len(path) - 1, path))
    assert sorted(rows(machine, short)) == ["burst", *["fill_left"] * 4, "fill_right"]
    dry = way(machine, *["fill_left"] * 4, "burst")
    said = contradiction(machine, "deadlock", "deadlock", dry)
    assert said is not None
    assert said.startswith("a terminal condition cannot be evaluated")


def test_without_time_it_stays_as_it_is(jars: Machine) -> None:
    path = way(jars, *LONG, *["fill_left"] * 3, "burst")
    finding = Finding("whole", "always", len(path) - 1, path)
    assert shorten(jars, finding, seconds=0.0) == finding
