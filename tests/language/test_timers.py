"""Goal: a timer remembers what it was armed with, and an expiry that runs may come too late."""

from pathlib import Path

import pytest
from systems import outcomes, run

from checker import flow
from checker.errors import SpecificationError
from checker.report.chart import chart
from checker.report.lanes import lanes
from checker.report.result import Result
from checker.tables.matrix import state_matrices
from checker.trace.trace import Trace

LOCKS = """\
constants:
  Member: {ids: 2, symmetric: true}
  Slot: {ids: 2}
  late: 0
  looks: false
types:
  Reason: one of taken, renewed
timers:
  lock:
    about: Gives a record back that its owner does not acknowledge.
    per: Slot
    captures: {member: Member, reason: Reason}
    late_cancels: late
    fair: weak
variables:
  owner: {type: optional Member, per: Slot, initial: none}
  robbed: {type: bool, initial: "false"}
rows:
  - row: acquire
    for: {s: Slot, m: Member}
    when: owner[s] is none
    do: |
      owner[s] = m
      arm(lock[s](member=m, reason=taken))
  - row: renew
    for: {s: Slot}
    when: owner[s] is not none and armed(lock[s](reason=taken))
    do: arm(lock[s](owner[s], renewed))
  - row: acknowledge
    for: {s: Slot}
    when: owner[s] is not none
    do: |
      owner[s] = none
      cancel(lock[s])
  - row: lock_expires
    on: lock[s].expired(member, cancelled=too_late)
    do: |
      if not (looks and too_late):
          robbed = robbed or owner[s] is not none and owner[s] != member
          cancel(lock[s])
          owner[s] = none
properties:
  only_its_own_lock_ends:
    always: not robbed
    why: the next holder's lock is not this timer's.
  an_owner_has_a_timer:
    always: |
      all(armed(lock[s]) == (owner[s] is not none)
          and implies(owner[s] is not none, armed(lock[s](member=owner[s]))
              and all(x.member == owner[s] for x in lock[s]) and len(lock[s]) == 1) for s in Slot)
    why: a lock without a timer is held for ever.
  few_run_late:
    always: sum(len(lock.late[s]) for s in Slot) <= late
    why: it is a budget.
  something_is_renewed:
    sometimes: any(armed(lock[s](reason=renewed)) for s in Slot)
    why: or nothing is shown.
"""
ENDS = """\
  locks_end:
    for: {s: Slot}
    leads_to: {from: "owner[s] is not none", to: "owner[s] is none"}
    why: nobody waits for ever.
"""


def the_trace(result: Result, name: str) -> Trace:
    return next(trace for trace in result.traces if trace.property_name == name)


def test_in_time_nothing_is_robbed(tmp_path: Path) -> None:
    result = run(tmp_path, LOCKS)
    assert result.verdict.overall == "holds"
    # Each slot: free, or held by one of two, taken or renewed; up to the names of members.
    assert result.exploration.distinct == 13


def test_a_cancel_that_comes_too_late_lets_the_expiry_run(tmp_path: Path) -> None:
    result = run(tmp_path, LOCKS, late=1)
    trace = the_trace(result, "only_its_own_lock_ends")
    rows = [step.row for step in trace.steps[1:]]
    assert rows == ["acquire", "acknowledge", "acquire", "lock_expires"]
    assert [[event.label for event in step.events] for step in trace.steps[1:]] == [
        ["armed"],
        ["cancelled too late"],
        ["armed"],
        ["ran after cancel", "cancelled"],
    ]
    assert [value for _, value in trace.steps[2].picks] == ["too_late"]
    assert result.machine.budgets == (("late_cancel_lock", 1),)


@pytest.mark.parametrize("late", [1, 2])
def test_code_that_looks_whether_it_was_cancelled_robs_nobody(tmp_path: Path, late: int) -> None:
    result = run(tmp_path, LOCKS, late=late, looks=True)
    assert result.verdict.overall == "holds"
    fired = {row.row: row.fired for row in result.exploration.rows}
    assert fired["lock_expires"] > 0


def test_the_fairness_of_a_timer_is_that_of_the_rows_of_its_expiry(tmp_path: Path) -> None:
    text = LOCKS.replace("Member: {ids: 2, symmetric: true}", "Member: {ids: 2}") + ENDS
    assert outcomes(run(tmp_path, text))["locks_end(slot1)"] == "holds"
    assert outcomes(run(tmp_path, text, looks=True, late=1))["locks_end(slot1)"] == "holds"
    unfair = text.replace("    fair: weak\n", "")
    assert outcomes(run(tmp_path, unfair))["locks_end(slot1)"] == "violated"
    said = unfair.replace("  - row: lock_expires\n", "  - row: lock_expires\n    fair: weak\n")
    assert outcomes(run(tmp_path, said))["locks_end(slot1)"] == "holds"


SEVERAL = """\
timers:
  alarm:
    captures: {hour: 0..2}
    when_armed: add
    capacity: "3"
    late_cancels: "2"
variables:
  rung: {type: "0..9", initial: "0"}
  stage: {type: 0..3, initial: "0"}
rows:
  - row: set_them
    when: stage == 0
    do: |
      for hour in [1, 2, 1]:
          arm(alarm(hour))
      stage = 1
  - row: clear_some
    when: stage == 1
    do: |
      cancel(alarm(hour=1))
      stage = 2
  - {row: rings, on: "alarm.expired(hour, cancelled)", when: stage == 2, do: "rung += 1"}
terminal: ["stage == 2 and len(alarm) + len(alarm.late) == 0"]
properties:
  the_other_stays:
    step: implies(stage == 1, next(len(alarm)) == 1 and next(armed(alarm(2))))
    why: only what remembers hour 1 is cancelled.
  both_too_late:
    sometimes: len(alarm.late) == 2
    why: each of equal ones is cancelled by itself.
  all_ring:
    sometimes: rung == 3
    why: two late ones and the one that was left.
"""


ASKED = """\
  none_runs_late:
    step: not ran(lock_expires, cancelled=true)
    why: it is the same property whether cancels can be late or not.
  none_can_run_late:
    always: not enabled(lock_expires, cancelled=true)
    why: as none_runs_late, of what could happen.
  some_run_in_time:
    always: not enabled(lock_expires, cancelled=false)
    why: it is violated.
"""


@pytest.mark.parametrize(("late", "verdict"), [(0, "holds"), (1, "violated")])
def test_properties_may_ask_for_late_ones_where_all_are_in_time(
    tmp_path: Path, late: int, verdict: str
) -> None:
    found = outcomes(run(tmp_path, LOCKS + ASKED, keep_going=True, late=late))
    assert found["none_runs_late"] == found["none_can_run_late"] == verdict
    assert found["some_run_in_time"] == "violated"


FORGETS = """\
  - row: crash
    for: {s: Slot}
    do: |
      lock[s].clear()
      lock.late[s].clear()
      owner[s] = none
properties:
  nothing_is_left:
    step: all(implies(ran(crash, s=s), next(len(lock[s]) + len(lock.late[s])) == 0) for s in Slot)
    why: a process that dies runs no tasks.
  it_is_no_cancel:
    step: implies(ran(crash), budget.late_cancel_lock == next(budget.late_cancel_lock))
    why: nobody looked whether the task ran already.
  one_runs_late:
    sometimes: any(len(lock.late[s]) > 0 for s in Slot)
    why: or nothing is shown.
"""


def test_what_a_crash_clears_is_forgotten_and_not_cancelled(tmp_path: Path) -> None:
    text = f"system: probe\nabout: It dies.\n{LOCKS.partition('properties:')[0]}{FORGETS}"
    (tmp_path / "system.yaml").write_text(text)
    request = flow.Request(
        str(tmp_path / "system.yaml"), overrides={"late": 1, "Member": 1}, engine="reference"
    )
    found = outcomes(flow.check(request, flow.Silent()))
    assert set(found.values()) == {"holds", "witnessed"}


def test_several_of_one_key_are_cancelled_by_what_they_remember(tmp_path: Path) -> None:
    result = run(tmp_path, SEVERAL)
    assert result.verdict.overall == "holds"
    assert set(outcomes(result).values()) == {"holds", "witnessed"}


def test_arming_more_than_fit_is_an_error(tmp_path: Path) -> None:
    result = run(tmp_path, SEVERAL.replace('"3"', '"2"'))
    assert result.verdict.error is not None
    assert result.traces[0].failure is not None
    assert result.traces[0].failure.code == "E509"


def test_a_chart_marks_what_a_timer_did(tmp_path: Path) -> None:
    result = run(tmp_path, LOCKS.replace("lock_expires", "gives_back"), late=1)
    trace = the_trace(result, "only_its_own_lock_ends")
    drawn = chart(trace, lanes(result.document, result.machine))
    assert drawn is not None
    notes = {mark.number: [note.text for note in mark.notes] for mark in drawn.marks}
    assert notes[2][0] == "cancelled too late: lock[slot1]"
    assert notes[4][:2] == ["breaks only_its_own_lock_ends", "ran after cancel: lock[slot1]"]
    assert not drawn.arrows


LAMP = """machines:
  lamp: {table: lamp}
timers:
  sleep: {}
rows:
  - row: on
    when: not armed(sleep)
    do: arm(sleep)
    to: {lamp: On}
  - {row: off, on: sleep.expired, in: {lamp: On}, to: {lamp: Off}}
"""
TABLE = """table: lamp
about: A lamp.
source: this test
states:
  Off: {about: dark, initial: true}
  On: {about: light}
transitions:
  - {from: [Off, On], event: on, to: On}
  - {from: On, event: off, to: Off}
"""


def test_a_state_table_has_a_line_for_an_expiry(tmp_path: Path) -> None:
    (tmp_path / "lamp.yaml").write_text(TABLE)
    result = run(tmp_path, LAMP)
    assert result.exploration.distinct == 2
    (matrix,) = state_matrices(result.document)
    assert [(line.trigger, line.kind) for line in matrix.lines] == [
        ("sleep expired", "timer"),
        ("on", "step"),
    ]


def test_a_timer_that_no_row_handles_never_fires(tmp_path: Path) -> None:
    text = SEVERAL.replace('on: "alarm.expired(hour, cancelled)", ', "")
    found = run(tmp_path, text).machine.warnings
    assert [item.code for item in found if "alarm" in item.message] == ["L430"]


@pytest.mark.parametrize(
    ("old", "new", "code", "says"),
    [
        ("arm(alarm(hour))", "arm(alarm)", "N208", "remembers something"),
        ("arm(alarm(hour))", "arm(alarm(hour, 2))", "N208", "1 field"),
        ("arm(alarm(hour))", "arm(clock(hour))", "N206", "no timer"),
        ("cancel(alarm(hour=1))", "cancel(alarm[1])", "N205", "needs 0 key"),
        ("cancel(alarm(hour=1))", "cancel(alarm(minute=1))", "N208", "no `minute`"),
        ("cancel(alarm(hour=1))", "cancel(alarm(1, 2))", "N208", "1 thing"),
        ("alarm.expired(hour, cancelled)", "alarm.rings(hour)", "N206", "no `rings`"),
        ("armed(alarm(2))", "armed(rung)", "N206", "no timer"),
        ("captures: {hour: 0..2}", "captures: {cancelled: 0..2}", "N203", "cancelled"),
        ('capacity: "3"', 'capacity: "0"', "Y305", "capacity"),
        ('late_cancels: "2"', 'late_cancels: "-1"', "Y305", "budget"),
        ("    when_armed: add\n", "", "T117", "replaces"),
        ("    when_armed: add\n", "    when_armed: keep\n", "T115", "when_armed"),
    ],
)
def test_what_is_wrong_with_a_timer_is_said_where_it_stands(
    tmp_path: Path, old: str, new: str, code: str, says: str
) -> None:
    assert old in SEVERAL
    path = tmp_path / "system.yaml"
    path.write_text("system: probe\nabout: A system of a test.\n" + SEVERAL.replace(old, new))
    with pytest.raises(SpecificationError) as caught:
        flow.machine_of(str(path), "default", {})
    first = caught.value.diagnostics[0]
    assert first.code == code
    assert says in first.message
