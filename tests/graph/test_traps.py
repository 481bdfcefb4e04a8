"""Goal: no known mistake of judging endless runs is made: fairness, stuttering, joins, bounds, ids.

Each system is as small as the mistake allows; both engines judge it, and must say the same.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from checker.flow import Request, Silent, check
from checker.report.result import Result
from checker.search.limits import Limits

Judging = Callable[..., Result]

HEAD = "system: trap\nabout: A trap.\ndeadlock: false\n"


@pytest.fixture
def judge(tmp_path: Path) -> Judging:
    """Run the text of a system with both engines; their results are the same but for figures."""
    return judging(tmp_path, "reference")


def judging(tmp_path: Path, other: str) -> Judging:
    """Return what runs a text with the local engine and with another."""

    def run(text: str, head: str = HEAD, **options: object) -> Result:
        path = tmp_path / "trap.yaml"
        path.write_text(head + text)
        local, again = (
            check(Request(str(path), engine=engine, **options), Silent())  # type: ignore[arg-type]
            for engine in ("local", other)
        )
        assert local.verdict == again.verdict
        assert local.traces == again.traces
        return local

    return run


def outcome(result: Result, name: str = "live") -> str:
    return next(item.outcome for item in result.verdict.properties if item.name == name)


def walk(result: Result, name: str = "live") -> tuple[list[str], int | None]:
    """Return the steps of a counterexample, and after which of them its loop begins."""
    trace = next(trace for trace in result.traces if trace.property_name == name)
    assert trace.loop is not None
    return [step.row for step in trace.steps[1:]], trace.loop.start


# ---------------------------------------------------------------------------------- stuttering

STEP = """
variables:
  n: {type: 0..2, initial: "0"}
rows:
  - {row: go, when: n < 2, do: n += 1, fair: FAIR}
properties:
  live: {eventually: n == 2, why: it must go on}
"""


def test_without_fairness_nothing_has_to_happen(judge: Judging) -> None:
    result = judge(STEP.replace("FAIR", "none"))
    assert (outcome(result), result.verdict.exit_code) == ("violated", 13)
    assert walk(result) == ([], 0)
    assert outcome(judge(STEP.replace("FAIR", "weak"))) == "holds"


def test_a_stuck_state_is_an_endless_run(judge: Judging) -> None:
    result = judge(STEP.replace("FAIR", "weak").replace("n < 2", "n < 1"))
    assert walk(result) == (["go"], 1)


def test_a_self_loop_neither_takes_nor_enables_a_fair_row(judge: Judging) -> None:
    standing = 'when: "true", do: "n = min(n + 1, 1)"'
    text = STEP.replace("FAIR", "weak").replace("when: n < 2, do: n += 1", standing)
    assert walk(judge(text)) == (["go"], 1)
    idle = "rows:\n  - {row: idle, do: pass, fair: strong}\n"
    assert outcome(judge(STEP.replace("FAIR", "weak").replace("rows:\n", idle))) == "holds"


def test_an_unfair_idle_row_does_not_excuse_a_fair_one(judge: Judging) -> None:
    idle = "rows:\n  - {row: idle, do: pass}\n"
    assert outcome(judge(STEP.replace("FAIR", "weak").replace("rows:\n", idle))) == "holds"


def test_a_fault_is_never_fair(judge: Judging) -> None:
    fault = "faults:\n  crash: {budget: unlimited}\nfairness: strong\nrows:"
    text = STEP.replace("fair: FAIR", "fault: crash").replace("rows:", fault)
    assert walk(judge(text)) == ([], 0)


# ------------------------------------------------------------------------------ fair components

EXIT = """
variables:
  n: {type: 0..3, initial: "0"}
rows:
  - {row: a, when: n == 0, do: n = 1}
  - {row: b, when: n == 1, do: n = 0}
  - {row: out, when: n == WHERE, do: n = 3, fair: FAIR}
properties:
  live: {eventually: n == 3, why: it must get out}
"""


def test_a_weakly_fair_row_must_stay_enabled(judge: Judging) -> None:
    everywhere = EXIT.replace("n == WHERE", "n < 3")
    assert outcome(judge(everywhere.replace("FAIR", "weak"))) == "holds"
    sometimes = EXIT.replace("WHERE", "0")
    result = judge(sometimes.replace("FAIR", "weak"))
    assert walk(result) == (["a"], 1)
    assert "b" not in [step.row for step in result.traces[0].steps]
    moving = sometimes.replace("n == 1, do: n = 0}", "n == 1, do: n = 0, fair: weak}")
    result = judge(moving.replace("FAIR", "weak"))
    assert walk(result) == (["a", "b"], 0)
    assert result.traces[0].loop is not None
    kept = {promise.instance: promise.taken for promise in result.traces[0].loop.promises}
    assert kept == {"b": True, "out": False}
    assert outcome(judge(moving.replace("FAIR", "strong"))) == "holds"


def test_fairness_is_judged_in_the_part_that_violates_not_around_it(judge: Judging) -> None:
    # 0 <-> 1 and 1 -> 2 -> 0; `c` is enabled in 1 and leads through 2, where the property is met.
    # Inside {0, 1} nobody takes `c`; the whole component does.
    text = """
variables:
  n: {type: 0..2, initial: "0"}
rows:
  - {row: a, when: n == 0, do: n = 1, fair: weak}
  - {row: b, when: n == 1, do: n = 0, fair: weak}
  - {row: c, when: n == 1, do: n = 2, fair: strong}
  - {row: d, when: n == 2, do: n = 0, fair: weak}
properties:
  live: {leads_to: {from: "true", to: n == 2}, why: two comes again and again}
"""
    assert outcome(judge(text)) == "holds"
    result = judge(text.replace("fair: strong", "fair: weak"))
    assert walk(result) == (["a", "b"], 0)


def test_a_component_may_hold_a_smaller_fair_loop(judge: Judging) -> None:
    # From the big component {0, 1, 2} strong `out` must be avoided: only {1, 2} never enables it.
    text = """
variables:
  n: {type: 0..3, initial: "0"}
rows:
  - {row: a, when: n == 0, do: n = 1, fair: weak}
  - {row: b, when: n == 1, do: n = 2, fair: weak}
  - {row: c, when: n == 2, do: n = 1, fair: weak}
  - {row: d, when: n == 2, do: n = 0}
  - {row: out, when: n == 0, do: n = 3, fair: strong}
properties:
  live: {eventually: n == 3, why: it must get out}
"""
    assert walk(judge(text)) == (["a", "b", "c"], 1)


def test_one_state_without_a_step_to_itself_is_no_cycle(judge: Judging) -> None:
    text = EXIT.replace("n == WHERE", "n == 1").replace("FAIR", "weak")
    text = text.replace("do: n = 1}", "do: n = 1, fair: weak}")
    text = text.replace("n == 1, do: n = 0", "n == 2, do: n = 0")
    assert outcome(judge(text)) == "holds"


def test_a_loop_is_shown_as_steps_that_exist(judge: Judging) -> None:
    # A component of four states with a chord: its states in any order are no run.
    text = """
variables:
  n: {type: 0..4, initial: "0"}
rows:
  - {row: around, when: n < 4, do: n = (n + 1) % 4, fair: weak}
  - {row: chord, when: n == 2, do: n = 0}
properties:
  live: {eventually: n == 4, why: it never is}
"""
    steps, loop = walk(judge(text))
    assert (steps, loop) == (["around", "around", "chord"], 0)


# -------------------------------------------------------------------------------- obligations


def test_ways_that_join_keep_what_each_owes(judge: Judging) -> None:
    text = """
variables:
  n: {type: 0..3, initial: "0"}
rows:
  - {row: by_one, when: n == 0, do: n = 1, fair: weak}
  - {row: by_two, when: n == 0, do: n = 2, fair: weak}
  - {row: join, when: n == 1 or n == 2, do: n = 3, fair: weak}
properties:
  live: {eventually: n == 1, why: only one way meets it}
  reply: {leads_to: {from: n == 2, to: n == 1}, why: asked on one way}
  joined: {leads_to: {from: n == 0, to: n == 3}, why: both ways lead there}
"""
    result = judge(text)
    assert walk(result) == (["by_two", "join"], 2)
    assert walk(result, "reply") == (["by_two", "join"], 2)
    assert outcome(result, "joined") == "holds"


def test_what_was_met_before_it_was_asked_for_does_not_count(judge: Judging) -> None:
    text = STEP.replace("FAIR", "weak").replace(
        "eventually: n == 2", "leads_to: {from: n == 1, to: n == 0}"
    )
    assert walk(judge(text)) == (["go", "go"], 2)


def test_a_state_may_ask_and_meet_at_once(judge: Judging) -> None:
    text = STEP.replace("FAIR", "none").replace(
        "eventually: n == 2", "leads_to: {from: n == 1, to: n == 1}"
    )
    assert outcome(judge(text)) == "holds"


def test_every_initial_state_owes(judge: Judging) -> None:
    text = STEP.replace("FAIR", "weak").replace("n < 2", "n == 0 or n == 2")
    text = text.replace("do: n += 1", 'do: "n = min(n + 2, 2)"')
    result = judge(text + "initial:\n  for:\n    m: 0..2\n  do: n = m\n")
    assert walk(result) == ([], 0)
    assert result.traces[0].states[0] == (1,)


# ---------------------------------------------------------------------------------- instances

WORKERS = """
constants:
  Worker: {ids: 2}
variables:
  turns: {type: 0..1, initial: "0", per: Worker}
  other: {type: 0..1, initial: "0"}
rows:
  - row: work
    for: {w: Worker}
    do: turns[w] = 1 - turns[w]
    fair: weak
properties:
  live:
    eventually: turns[worker2] == 1
    why: nobody starves
"""


def test_fairness_is_that_of_an_instance_not_of_the_row(judge: Judging) -> None:
    assert outcome(judge(WORKERS)) == "holds"
    one = WORKERS.replace("    do:", "    when: w == worker1 or turns[worker1] == 1\n    do:")
    assert walk(judge(one)) == (["work", "work"], 0)


def test_picks_do_not_split_an_instance(judge: Judging) -> None:
    text = WORKERS.replace(
        "    for: {w: Worker}\n    do:", "    do: |\n      w = pick(Worker)\n     "
    )
    result = judge(text)
    assert walk(result) == (["work", "work"], 0)
    assert {step.picks for step in result.traces[0].steps[1:]} == {(("w", "worker1"),)}


def test_a_message_does_not_split_an_instance_but_its_channel_does(judge: Judging) -> None:
    bag = """
messages:
  Ask: {n: 0..1}
channels:
  wire: {carries: [Ask], order: bag, capacity: "2"}
variables:
  got: {type: bool, initial: "false"}
rows:
  - row: ask
    for:
      k: 0..1
    when: not any(x.n == k for x in wire)
    do: send(wire, Ask(n=k))
    fair: weak
  - {row: take, on: "wire.Ask(n)", do: got = n == 1, fair: weak}
properties:
  live: {eventually: got, why: one of the messages may be passed over for ever}
"""
    assert outcome(judge(bag)) == "violated"
    lanes = bag.replace("order: bag,", "order: bag, per: 0..1,")
    lanes = lanes.replace("in wire", "in wire[k]").replace("send(wire", "send(wire[k]")
    lanes = lanes.replace("wire.Ask(n)", "wire[k].Ask(n)")
    assert outcome(judge(lanes)) == "holds"


# ------------------------------------------------------------------------------- what is cut

BOUND = """
variables:
  n: {type: 0..9, initial: "0"}
bounds:
  - n <= 2
rows:
  - {row: up, when: n < 9, do: n += 1, fair: weak}
  - {row: stay, when: n == 1, do: n = 1}
properties:
  live: {eventually: n == MET, why: it must come}
  early: {leads_to: {from: n == 0, to: n == 1}, why: met within the bounds}
"""


def test_a_cut_step_is_enabled_and_leads_nobody_knows_where(judge: Judging) -> None:
    # In 2 the only step is cut; to stay there would not be fair, so nothing is violated.
    result = judge(BOUND.replace("MET", "7"))
    assert (outcome(result), outcome(result, "early")) == ("unknown", "holds")
    assert result.verdict.overall == "inconclusive"
    assert result.verdict.exit_code == 20
    assert "cut" in result.verdict.unknown_liveness[0].reason


def test_a_state_beyond_the_bounds_may_meet_what_is_owed(judge: Judging) -> None:
    assert outcome(judge(BOUND.replace("MET", "3"))) == "holds"


def test_a_state_beyond_the_bounds_may_ask(judge: Judging) -> None:
    asks = BOUND.replace("eventually: n == MET", "leads_to: {from: n == 3, to: n == 0}")
    assert outcome(judge(asks)) == "unknown"


def test_a_violation_within_the_bounds_stands(judge: Judging) -> None:
    unfair = BOUND.replace("MET", "7").replace(", fair: weak", "")
    assert outcome(judge(unfair)) == "violated"


def test_running_out_of_ids_is_a_cut(judge: Judging) -> None:
    text = """
constants:
  Ticket: {ids: 2}
variables:
  used: {type: set of Ticket, initial: empty}
rows:
  - {row: draw, do: "used.add(fresh(Ticket))", fair: weak}
properties:
  live: {leads_to: {from: len(used) == 1, to: len(used) == 2}, why: two are drawn}
  more: {leads_to: {from: len(used) == 2, to: len(used) == 0}, why: nobody knows}
"""
    result = judge(text)
    assert (outcome(result), outcome(result, "more")) == ("unknown", "unknown")
    result = judge(text.replace("why: two", "within_bounds: true, why: two"))
    assert (outcome(result), outcome(result, "more")) == ("holds", "unknown")


def test_initial_states_may_be_cut(judge: Judging) -> None:
    start = "initial:\n  for:\n    m: 0..3\n  do: n = m\n"
    result = judge(BOUND.replace("MET", "0") + start)
    assert outcome(result, "early") == "holds"
    assert outcome(result) == "unknown"


# ------------------------------------------------------------------- when nothing can be judged


def test_a_search_that_stopped_leaves_liveness_unknown(judge: Judging) -> None:
    text = STEP.replace("FAIR", "weak")
    assert outcome(judge(text, limits=Limits(depth=1))) == "unknown"
    broken = text.replace("properties:", "properties:\n  low: {always: n < 1, why: it is not}")
    result = judge(broken)
    assert (outcome(result), result.verdict.exit_code) == ("unknown", 12)
    on = Limits(keep_going=True)
    result = judge(broken, limits=on)
    assert (outcome(result), result.verdict.exit_code) == ("holds", 12)
    result = judge(broken.replace("weak", "none"), limits=on)
    assert (outcome(result), result.verdict.exit_code) == ("violated", 12)


@pytest.mark.parametrize("side", ["from", "to"])
def test_a_property_without_a_value_is_an_evaluation_error(judge: Judging, side: str) -> None:
    other = "to" if side == "from" else "from"
    text = STEP.replace("FAIR", "weak").replace(
        "eventually: n == 2", f"leads_to: {{{side}: 1 // (1 - n) == 1, {other}: n == 2}}"
    )
    text += "  fine: {eventually: n == 2, why: the search ends before it is judged}\n"
    result = judge(text)
    assert (outcome(result), outcome(result, "fine")) == ("unknown", "unknown")
    assert (result.verdict.overall, result.verdict.exit_code) == ("inconclusive", 75)
    failure = result.traces[0].failure
    assert failure is not None
    assert (failure.code, failure.property, result.traces[0].length) == ("E503", "live", 1)


def test_an_error_beyond_the_bounds_is_one_too(judge: Judging) -> None:
    text = BOUND.replace("eventually: n == MET", "eventually: 1 // (3 - n) == 1")
    result = judge(text)
    assert result.verdict.exit_code == 75
    assert result.traces[0].length == 3
    assert outcome(result, "early") == "unknown"


def test_symmetric_ids_are_told_apart(judge: Judging, tmp_path: Path) -> None:
    # With symmetry worker1 and worker2 would be one worker, who works again and again.
    text = WORKERS.replace("{ids: 2}", "{ids: 2, symmetric: true}").replace(
        "turns[worker2] == 1", "all(turns[w] == 1 for w in Worker)"
    )
    result = judge(text)
    assert result.exploration.distinct == 4
    assert walk(result) == (["work"] * 4, 0)
    loop = result.traces[0].loop
    assert loop is not None
    assert {item.instance for item in loop.promises} == {"work(worker1)", "work(worker2)"}
    file = tmp_path / "trap.yaml"
    file.write_text(HEAD + text)
    reduced = check(Request(str(file), symmetry=True), Silent())
    assert reduced.exploration.distinct == 3
    assert walk(reduced) == (["work"] * 4, 0)
    loop = reduced.traces[0].loop
    assert loop is not None
    assert {item.instance for item in loop.promises} == {"work(worker1)", "work(worker2)"}


def test_deadlock_goes_before_liveness(judge: Judging) -> None:
    text = "deadlock: true\n" + STEP.replace("FAIR", "weak").replace("n < 2", "n < 1")
    result = judge(text, head=HEAD.replace("deadlock: false\n", ""), limits=Limits(keep_going=True))
    assert (outcome(result), result.verdict.exit_code) == ("violated", 11)
