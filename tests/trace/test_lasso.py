"""Goal: a lasso is believed only if it goes round, owes something all the while, and is fair."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from machines import (
    NOWHERE,
    TRUE,
    action,
    equal,
    hop,
    machine,
    number,
    read,
    variable,
)

from checker.errors import InternalError
from checker.machine import terms as t
from checker.machine.machine import Action, Machine, Property
from checker.machine.types import Range
from checker.report.telling import grouped
from checker.report.terminal import console, print_trace
from checker.search.finding import Finding
from checker.trace import lasso as lasso_module
from checker.trace.itf import dump
from checker.trace.lasso import NoLasso, Promise, loop_of
from checker.trace.rebuild import rebuild
from checker.trace.recorded import read_recorded, replay
from checker.trace.trace import Provenance

PLACE = Range(0, 3)
HERE = read("n", PLACE)


go = partial(hop, kind=PLACE)


def ring(*rows: Action) -> Machine:
    return machine("ring", [variable("n", PLACE, 0)], rows, properties=[REPLY, ARRIVE])


def within(*places: int) -> t.Term:
    return t.Or(tuple(equal(HERE, number(n)) for n in places), NOWHERE)


REPLY = Property("reply", "leads_to", within(3), within(1), "because", "", NOWHERE)
ARRIVE = Property("arrive", "eventually", within(3), None, "because", "", NOWHERE)
TURN = (go("up", 0, 1), go("over", 1, 2), go("back", 2, 1))


def path(*places: int) -> tuple[tuple[object, ...], ...]:
    return tuple((n,) for n in places)


def test_a_loop_tells_since_when_it_owes() -> None:
    assert loop_of(ring(*TURN), REPLY, path(0, 1, 2, 1), 1).raised == 1
    assert loop_of(ring(*TURN), ARRIVE, path(0, 1, 2, 1), 1).raised == 0
    assert loop_of(ring(*TURN), REPLY, path(0, 1, 2, 1, 2, 1), 3).raised == 3
    assert loop_of(ring(*TURN), REPLY, path(0, 1, 2), 2).promises == ()


@pytest.mark.parametrize(
    ("places", "start"), [((0, 1, 2, 1), 0), ((0, 1, 2), 1), ((0, 1), 2), ((0, 1), -1)]
)
def test_the_end_must_be_where_the_loop_begins(places: tuple[int, ...], start: int) -> None:
    with pytest.raises(NoLasso, match="where its loop begins"):
        loop_of(ring(*TURN), ARRIVE, path(*places), start)


def test_what_was_met_is_owed_no_more() -> None:
    around = ring(go("a", 0, 1), go("b", 1, 3), go("c", 3, 2), go("d", 2, 0))
    with pytest.raises(NoLasso, match="nothing is owed"):
        loop_of(around, ARRIVE, path(0, 1, 3, 2), 3)
    with pytest.raises(NoLasso, match="nothing is owed"):
        loop_of(around, REPLY, path(0, 1, 3, 2), 3)
    with pytest.raises(NoLasso, match="nothing is owed"):
        loop_of(around, REPLY, path(0), 0)


def test_weak_fairness_asks_for_what_is_enabled_all_the_time() -> None:
    out = go("out", 1, 3, "weak")
    assert loop_of(ring(*TURN, out), ARRIVE, path(0, 1, 2, 1), 1).promises == (
        Promise("out", strong=False, taken=False, step=2),
    )
    with pytest.raises(NoLasso, match="never takes out, a weakly fair row"):
        loop_of(ring(*TURN, out), ARRIVE, path(0, 1), 1)
    taken = (TURN[0], go("over", 1, 2, "weak"), TURN[2])
    assert loop_of(ring(*taken), ARRIVE, path(0, 1, 2, 1), 1).promises == (
        Promise("over", strong=False, taken=True, step=2),
    )


def test_strong_fairness_asks_for_what_is_enabled_at_times() -> None:
    with pytest.raises(NoLasso, match="never takes out, a strongly fair row"):
        loop_of(ring(*TURN, go("out", 1, 3, "strong")), ARRIVE, path(0, 1, 2, 1), 1)
    assert loop_of(ring(*TURN, go("out", 0, 3, "strong")), ARRIVE, path(0, 1, 2, 1), 1)


def test_a_row_that_changes_nothing_asks_for_nothing() -> None:
    idle = replace(action("idle", guard=TRUE), fair="strong")
    assert loop_of(ring(*TURN, idle), ARRIVE, path(0, 1, 2, 1), 1).promises == ()


def test_what_an_engine_claims_falsely_is_not_shown() -> None:
    unfair = Finding("arrive", "eventually", 1, path(0, 1), loop=1)
    with pytest.raises(InternalError, match="strongly fair"):
        rebuild(ring(*TURN, go("out", 1, 3, "strong")), unfair)
    with pytest.raises(InternalError):
        rebuild(ring(*TURN), Finding("arrive", "eventually", 1, path(0, 1), loop=None))


def test_how_a_loop_keeps_its_promises_is_found_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # All row instances are interpreted in each of its states.
    asked, real = [], lasso_module._promises

    def promises(*given: Any) -> tuple[Promise, ...]:
        asked.append(given)
        return real(*given)

    monkeypatch.setattr(lasso_module, "_promises", promises)
    rebuild(ring(*TURN), Finding("arrive", "eventually", 3, path(0, 1, 2, 1), loop=1))
    assert len(asked) == 1


def test_a_run_that_breaks_two_properties_goes_round_alike_for_both() -> None:
    # From 0 either to 1, 2, 3 and back to 1, where 3 is what one of them waits for, or to 4, 5, 6.
    steps = ((0, 1), (1, 2), (2, 3), (3, 1), (0, 4), (4, 5), (5, 6), (6, 5))
    rows = [hop(f"r{a}{b}", a, b, "weak", kind=Range(0, 9)) for a, b in steps]
    there = read("n", Range(0, 9))
    three, nine = (equal(there, t.Cast(number(n), Range(0, 9), NOWHERE)) for n in (3, 9))
    claims = [
        replace(ARRIVE, name=name, condition=term) for name, term in (("a", three), ("b", nine))
    ]
    made = machine("two", [variable("n", Range(0, 9), 0)], rows, properties=claims)
    one = rebuild(made, Finding("a", "eventually", 4, path(0, 4, 5, 6, 5), loop=2))
    other = rebuild(made, Finding("b", "eventually", 4, path(0, 1, 2, 3, 1), loop=1))
    ((_, told),) = grouped([one, other])
    assert told.steps == one.steps
    assert told.loop == one.loop != other.loop


def test_the_terminal_shows_where_a_run_goes_round(capsys: pytest.CaptureFixture[str]) -> None:
    made = ring(*TURN, go("out", 1, 3, "weak"))
    trace = rebuild(made, Finding("reply", "leads_to", 3, path(0, 1, 2, 1), loop=1))
    assert trace.length == 3
    print_trace(console(), trace)
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert lines.index("1  up") < lines.index("the loop:") < lines.index("2  over")
    assert "and again from step 2 on, for ever" in lines
    assert "due after step 1, and it never comes" in lines
    assert "weakly fair out: not enabled after step 2" in lines
    standing = rebuild(made, Finding("arrive", "eventually", 2, path(0, 1, 2), loop=2))
    print_trace(console(), standing)
    text = capsys.readouterr().out
    assert "nothing happens any more, for ever" in text
    assert "no row that must run sooner or later can run" in text


def test_a_lasso_is_recorded_and_replayed(tmp_path: Path) -> None:
    made = ring(*TURN, go("out", 1, 3, "weak"))
    trace = rebuild(made, Finding("reply", "leads_to", 3, path(0, 1, 2, 1), loop=1))
    file = tmp_path / "reply.itf.json"
    file.write_text(dump(trace, Provenance("ring", "checker check ring")))
    recorded = read_recorded(file)
    assert recorded.loop == 1
    assert recorded.data["states"][recorded.loop]["n"] == recorded.data["states"][-1]["n"]
    assert replay(made, recorded) is None
    stronger = ring(*TURN, go("out", 1, 3, "strong"))
    assert "never takes out" in str(replay(stronger, recorded))
    del recorded.data["loop"]
    assert "where its loop begins" in str(replay(made, recorded))
