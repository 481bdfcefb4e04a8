"""Goal: what fails before there is a state is told as that, by every engine, in walks and hunts."""

from pathlib import Path

from systems import run

from checker.kernel import build
from checker.layout import pack
from checker.report.headline import title
from checker.search.simulate import simulate
from checker.trace.rebuild import rebuild

VALUE = """
definitions:
  few(): "{1, 2, 3}"
variables:
  x: {type: "0..3", initial: "min(k for k in few() if k > 5)"}
rows:
  - {row: inc, do: x = 0}
"""

ACTION = """
variables:
  m: {type: map of 0..3 to bool, initial: "{0: true}"}
  x: {type: "0..3", initial: "1"}
initial:
  for: {k: 0..1}
  do: x = 1 if k == 0 or m[2] else 2
rows:
  - {row: inc, do: x = 0}
properties:
  p: {always: "m[x]", why: x}
"""


def test_an_initial_value_that_fails_leaves_no_state(tmp_path: Path) -> None:
    result = run(tmp_path, VALUE)
    (finding,) = result.exploration.findings
    assert finding.path == ()
    assert title(result.traces[0]) == "evaluation error in the initial state (0 steps)"


def test_a_walk_tells_what_failed_in_it_not_what_may_fail_besides(tmp_path: Path) -> None:
    machine = run(tmp_path, ACTION).machine
    layout = pack(machine)
    kernel = build(machine, layout, prompt=True)
    told = set()
    for seed in range(4):
        finding = simulate(machine, layout, kernel, 1, 5, seed, 1).finding
        assert finding is not None
        told.add(title(rebuild(machine, finding)))
    assert told == {
        "evaluation error in p (0 steps)",
        "evaluation error in the initial state (0 steps)",
    }
