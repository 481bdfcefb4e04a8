"""Goal: a bound that speaks of the next state cuts steps, whatever other steps lead there."""

from pathlib import Path

import pytest
from systems import outcomes, run

from checker.errors import SpecificationError

JUMPING = """\
variables:
  n: {type: "0..6", initial: "0"}
rows:
  - row: walk
    when: n < 6
    do: n += 1
  - row: jump
    when: n < 4
    do: n += 3
  - row: rest
    when: n == 6
    do: pass
bounds:
  - BOUND
properties:
  slow: {step: next(n) <= n + 1, why: checked also where a step is cut.}
"""


def test_steps_are_cut_and_their_states_found_in_other_ways(tmp_path: Path) -> None:
    result = run(tmp_path, JUMPING.replace("BOUND", "next(n) - n <= 1"), keep_going=True)
    exploration = result.exploration
    assert (exploration.distinct, exploration.depth, exploration.cuts) == (7, 6, 4)
    assert exploration.generated == 1 + 6 + 4 + 1
    assert outcomes(result) == {"slow": "violated", "deadlock": "holds"}
    (trace,) = result.failures
    assert (trace.length, trace.steps[-1].row, trace.steps[-1].outside_bounds) == (1, "jump", True)


def test_without_the_bound_the_same_states_are_nearer(tmp_path: Path) -> None:
    result = run(tmp_path, JUMPING.replace("BOUND", "n <= 6"), keep_going=True)
    assert (result.exploration.distinct, result.exploration.depth) == (7, 3)


def test_bounds_cannot_ask_for_rows(tmp_path: Path) -> None:
    with pytest.raises(SpecificationError) as raised:
        run(tmp_path, JUMPING.replace("BOUND", "not ran(jump)"))
    assert [item.code for item in raised.value.diagnostics] == ["Y309"]


@pytest.mark.parametrize(
    "bound", ["false and next(n) == n", "all(false for x in {next(n)})", "forward(n) and false"]
)
def test_what_a_constant_decides_is_a_bound_of_steps_all_the_same(
    tmp_path: Path, bound: str
) -> None:
    text = JUMPING.replace("BOUND", bound) + 'definitions:\n  forward(k): "next(n) > k"\n'
    exploration = run(tmp_path, text, keep_going=True).exploration
    assert (exploration.distinct, exploration.generated, exploration.cuts) == (1, 3, 2)


STANDING = """\
constants:
  Worker: {ids: 2KIND}
variables:
  c: {type: "0..1", initial: "0"}
  seen: {type: 0..LARGEST, per: Worker, initial: "0"}
rows:
  - row: idle
    for: {w: Worker}
    fair: weak
    do: seen[w] = seen[w]
  - row: go
    when: c == 0
    do: c = 1
bounds:
  - next(c) != c
deadlock: false
properties:
  goes: {eventually: c == 1, within_bounds: true, why: nobody has to.}
  goes_anyhow: {eventually: c == 1, why: nobody has to.}
"""


@pytest.mark.parametrize(
    "text",
    [
        STANDING.replace("KIND", "").replace("LARGEST", "8589934591"),
        STANDING.replace("KIND", ", symmetric: true").replace("LARGEST", "1"),
        STANDING.replace("KIND", "").replace("LARGEST", "1"),
    ],
    ids=["several words", "orbits", "one word"],
)
def test_a_step_that_changes_nothing_enables_nothing_where_it_is_cut_either(
    tmp_path: Path, text: str
) -> None:
    result = run(tmp_path, text, keep_going=True)
    assert result.exploration.cuts == 4
    assert outcomes(result) == {"goes": "violated", "goes_anyhow": "violated"}
    # One that changes something else keeps a run going, to where nobody looks.
    counting = text.replace("= seen[w]", "= min(seen[w] + 1, 1)")
    result = run(tmp_path, counting, keep_going=True)
    assert outcomes(result) == {"goes": "holds", "goes_anyhow": "unknown"}
