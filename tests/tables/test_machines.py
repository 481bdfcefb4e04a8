"""Goal: an object under a table makes its moves and no others; covers are of them all."""

import re
from pathlib import Path

import pytest
from transitions import MachineError

from checker import tables
from checker.errors import UsageError
from checker.library import find, shipped
from checker.table import read

PAGE = Path(__file__).parents[2] / "docs" / "testing.md"
TABLES = [entry.name for entry in shipped() if entry.kind == "table"]


class Thing:
    """An object of somebody else."""

    state: str


@pytest.mark.parametrize("name", TABLES)
def test_an_object_makes_legal_moves_and_no_others(name: str) -> None:
    table = tables.load(name)
    known = tables.states(table)
    legal = {(origin, target) for origin, _, target in tables.moves(table)}
    for origin in known:
        for target in known:
            thing = Thing()
            tables.attach(table, thing, origin)
            trigger = getattr(thing, f"to_{target}", None)
            if (origin, target) in legal:
                assert trigger is not None
                trigger()
                assert thing.state == target
            elif trigger is not None:
                with pytest.raises(MachineError):
                    trigger()
                assert thing.state == origin


def test_events_are_methods() -> None:
    table = tables.load("group")
    origin, event, target = tables.moves(table)[0]
    thing = Thing()
    tables.attach(table, thing, origin)
    getattr(thing, event)()
    assert thing.state == target


@pytest.mark.parametrize("name", TABLES)
def test_a_cover_makes_every_move_that_can_be_made(name: str) -> None:
    table = tables.load(name)
    start = table.initial[0]
    walks = tables.cover(table, start)
    for walk in walks:
        here = start
        for origin, _, target in walk:
            assert origin == here
            here = target
    within = tables.reachable(table, start)
    wanted = {move for move in tables.moves(table) if move[0] in within}
    assert {move for walk in walks for move in walk} == wanted


def test_what_every_way_goes_through() -> None:
    group = tables.load("group")
    assert tables.dominators(group, "Empty")["CompletingRebalance"] == "PreparingRebalance"
    assert "Empty" not in tables.dominators(group, "Empty")
    assert tables.graph(group).number_of_nodes() == 5


def test_what_rows_make_of_a_machine_can_be_attached() -> None:
    document = read(find("group_small"))
    (matrix, *_) = tables.state_matrices(document)
    origin, _, target = tables.moves(matrix)[0]
    thing = Thing()
    tables.attach(matrix, thing, origin)
    getattr(thing, f"to_{target}")()
    assert thing.state == target


def test_what_is_not_there_is_said() -> None:
    with pytest.raises(UsageError, match="share_record"):
        tables.load("groop")
    with pytest.raises(UsageError, match="no state"):
        tables.attach(tables.load("group"), Thing(), "Stabel")


def test_the_example_of_the_manual_runs(capsys: pytest.CaptureFixture[str]) -> None:
    text = PAGE.read_text(encoding="utf-8")
    section = text.split("## State tables under your own objects")[1]
    (code,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    exec(compile(code, str(PAGE), "exec"), {})  # noqa: S102 - our own page
    first, second = capsys.readouterr().out.splitlines()
    assert first == "stable"
    assert "Can't trigger event to_CompletingRebalance from state Stable" in second
