"""Goal: of a run that stands still it is told which rows come nearest to going on, and why not."""

from pathlib import Path

import pytest

from checker import flow
from checker.report import files
from checker.report.terminal import console, print_trace

LOCKS = """
system: locks
about: Two threads take two locks, each in its own order.
constants:
  Thread: {ids: [ann, bob]}
types:
  Lock: "0..1"
  Place: one of FIRST, SECOND, DONE
variables:
  step: {type: total map of Thread to Place, initial: "{t: FIRST for t in Thread}"}
  owner: {type: total map of Lock to optional Thread, initial: "{k: none for k in Lock}"}
  crashes: {type: "0..1", initial: "0"}
faults:
  crash: {budget: "1"}
definitions:
  first(t): 0 if t == ann else 1
  held(k): owner[k] is not none
rows:
  - row: take_first
    about: A thread takes the lock that it wants first.
    for: {t: Thread}
    when: step[t] == FIRST and owner[first(t)] is none
    do: |
      owner[first(t)] = t
      step[t] = SECOND
  - row: take_second
    about: It waits for the other one.
    for: {t: Thread}
    when: step[t] == SECOND and not held(1 - first(t))
    do: |
      owner[1 - first(t)] = t
      step[t] = DONE
  - row: release
    for: {t: Thread}
    when: step[t] == DONE
    do: |
      owner[0] = none
      owner[1] = none
      step[t] = FIRST
  - row: break_down
    when: step[ann] == SECOND and crashes == 1
    fault: crash
    do: crashes = 0
properties:
  done:
    always_eventually: step[ann] == DONE
    why: somebody waits for it.
instances:
  default: {expect: {verdict: violated, property: deadlock}}
"""


@pytest.fixture
def locks(tmp_path: Path) -> str:
    file = tmp_path / "locks.yaml"
    file.write_text(LOCKS)
    return str(file)


def test_a_deadlock_says_who_waits_for_what(locks: str, capsys: pytest.CaptureFixture[str]) -> None:
    request = flow.Request(locks, engine="reference", properties=("deadlock",))
    result = flow.check(request, flow.Silent())
    (trace,) = result.traces
    assert trace.length == 2
    told = [(item.name, item.lacks, dict(item.values)) for item in trace.waiting]
    assert told == [
        (
            "take_second(ann)",
            "owner[k] is not none is true",
            {"1 - first(t)": "1", "owner[k]": "bob"},
        ),
        (
            "take_second(bob)",
            "owner[k] is not none is true",
            {"1 - first(t)": "0", "owner[k]": "ann"},
        ),
    ]
    print_trace(console(), trace)
    assert "take_second(ann) cannot happen: owner[k] is not none is true" in capsys.readouterr().out
    page = files.rendered(result, committed=False)[files.HTML]
    assert "What could go on, and what it waits for" in page
    assert "It waits for the other one." in page
    assert "What happened: deadlock" in page


def test_so_does_a_run_that_may_stay_where_it_is_for_ever(locks: str) -> None:
    file = Path(locks)
    text = file.read_text()
    for place in ("FIRST", "SECOND"):
        guard = f"when: step[t] == {place}"
        text = text.replace(guard, f"fair: weak\n    {guard}")
    file.write_text(text)
    request = flow.Request(locks, engine="reference", properties=("done",))
    traces = flow.check(request, flow.Silent()).traces
    (trace,) = [item for item in traces if item.loop is not None]
    assert trace.loop is not None
    assert trace.loop.start == trace.length
    assert [item.name for item in trace.waiting] == ["take_second(ann)", "take_second(bob)"]


CHOICE = """\
system: choice
about: What a row waits for depends on a flag.
variables:
  x: {type: "0..3", initial: "0"}
  y: {type: "0..3", initial: "0"}
  flag: {type: bool, initial: "true"}
rows:
  - row: begins
    when: x == 0
    do: x = 1
  - row: waits
    when: x == 1 and ((y == 3) if flag else (y == 2))
    do: y = 1
"""


def test_what_decides_which_part_counts_is_not_what_is_lacking(tmp_path: Path) -> None:
    (tmp_path / "choice.yaml").write_text(CHOICE)
    result = flow.check(
        flow.Request(str(tmp_path / "choice.yaml"), engine="reference"), flow.Silent()
    )
    (waiting,) = result.traces[0].waiting
    assert str(waiting) == "waits cannot happen: y == 3 is false, where y is 0"
