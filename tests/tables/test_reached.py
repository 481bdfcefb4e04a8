"""Goal: brackets stand round what no step of an instance does, and round nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from table_walks import parts, walked

from checker import flow
from checker.cli.main import checker
from checker.graph.labelled import labelled_graph
from checker.library import find
from checker.table import read
from checker.tables import state_matrices
from checker.tables.reached import marked, reached


@pytest.mark.parametrize(
    ("spec", "instance"), [("group_small", "default"), ("classic_group", "tiny")]
)
def test_moves_are_those_of_all_steps(spec: str, instance: str) -> None:
    machine = flow.machine_of(spec, instance, {})
    graph = labelled_graph(machine, 20_000)
    assert graph is not None
    moves = reached(graph).moves
    names = {item.name for item in machine.variables if item.table is not None}
    single = {name for name in names if () in parts(machine, graph.state(0), name)}
    wanted = set()
    for before, row, after in walked(machine, graph.states):
        for name in names:
            old, new = parts(machine, before, name), parts(machine, after, name)
            wanted |= {
                (name, row, state, new[key])
                for key, state in old.items()
                if new[key] != state or name in single
            }
    told = {move for move in moves if move[2] != move[3] or move[0] in single}
    assert told == wanted
    for name, row, state, target in moves - told:
        assert state == target
        assert name not in single
        assert row


def test_a_table_says_what_never_happens() -> None:
    machine = flow.machine_of("group_small", "default", {})
    graph = labelled_graph(machine)
    assert graph is not None
    found = reached(graph)
    matrices = state_matrices(read(find("group_small")), ["default"])
    for matrix in matrices:
        for line in marked(matrix, found).lines:
            for cell in line.cells:
                for effect in cell.effects:
                    done = {t for t in effect.targets if t not in effect.never}
                    assert done == {
                        target
                        for target in effect.targets
                        if (matrix.machine, effect.row, cell.state, target) in found.moves
                        or (not effect.named and target == cell.state)
                    }
    (client,) = [item for item in matrices if item.machine == "client.state"]
    (refused,) = [line for line in marked(client, found).lines if line.trigger == "refused"]
    assert [effect.never for cell in refused.cells[:2] for effect in cell.effects] == [("Out",), ()]


def test_the_command_shows_brackets() -> None:
    shown = CliRunner().invoke(checker, ["show", "group_small", "--reached"])
    assert shown.exit_code == 0
    assert "in brackets" in " ".join(shown.output.replace("what stands", "").split())
    assert "(Joini)" in shown.output
    plain = CliRunner().invoke(checker, ["show", "group_small", "--tables"])
    assert "(Joini)" not in plain.output
    refused = CliRunner().invoke(checker, ["show", "group_small", "--reached", "--row", "leave"])
    assert refused.exception is not None or refused.exit_code == 2


LAMP = """\
table: lamp
about: A lamp.
source: a test
states:
  OFF: {about: dark, initial: true}
  ON: {about: bright}
  BROKEN: {about: for good}
transitions:
  - {from: [OFF, ON], event: light, to: ON}
  - {from: [OFF, ON], event: fail, to: BROKEN}
"""
ROOMS = """\
system: rooms
about: A lamp for each room, and one that fails beyond the bound.
constants:
  Room: {ids: [r1, r2]}
machines:
  lamp: {table: lamp, per: Room}
  master: {table: lamp}
variables:
  last: {type: Room, initial: r1}
  n: {type: 0..3, initial: "0"}
bounds:
  - n < 3
rows:
  - row: lights
    for: {r: Room}
    do: |
      lamp[r] = ON
      last = r
  - row: lights_again
    when: lamp[last] == ON
    do: lamp[last] = ON
  - row: fails
    do: |
      n += 1
      if n == 3:
          master = BROKEN
"""


def test_no_brackets_stand_round_what_some_step_does(tmp_path: Path) -> None:
    (tmp_path / "lamp.yaml").write_text(LAMP)
    (tmp_path / "rooms.yaml").write_text(ROOMS)
    document = read(tmp_path / "rooms.yaml")
    machine = flow.machine_of(str(tmp_path / "rooms.yaml"), "default", {})
    graph = labelled_graph(machine)
    assert graph is not None
    found = reached(graph)
    never = {
        (effect.row, effect.state): effect.never
        for matrix in state_matrices(document, ["default"])
        for line in marked(matrix, found).lines
        for cell in line.cells
        for effect in cell.effects
    }
    assert never["lights_again", "ON"] == (), "the lamp that stays is one that the step only finds"
    assert never["fails", "OFF"] == (), "one of its steps leaves the bounds"
    assert never["fails", "ON"] == ("ON", "BROKEN")
    assert never["lights", "BROKEN"] == ("ON",)
