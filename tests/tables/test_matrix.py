"""Goal: a state table holds all that can happen, says no more than guards allow, and is shown."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from table_walks import parts, walked
from verified import SYSTEMS, document

from checker.cli import remembered
from checker.elaborate import elaborate
from checker.flow import spec_name
from checker.library import find
from checker.machine.types import Map
from checker.report.matrix import cell_text, matrix_sections, readme_part, short_names, with_part
from checker.table import read
from checker.tables import Effect, StateMatrix, state_matrices

RUNS = [
    ("classic_group", "tiny", 30),
    ("classic_group", "kafka_7824", 150),
    ("classic_group", "kafka_9801", 60),
    ("classic_group", "commits_and_a_failover", 60),
    ("controller", "default", 150),
    ("share_group", "default", 40),
    ("share_partition", "default", 100),
    ("share_partition", "dead_letters", 60),
    ("group_small", "default", 150),
    ("two_phase", "default", 80),
    ("dining_philosophers", "default", 80),
    ("write_through_cache", "default", 60),
]
LIGHT = """
system: lights
about: Lights that a person and the night switch.
constants:
  Light: {ids: 2}
messages:
  Press: {light: Light}
  Ask: {}
machines:
  light: {table: lamp, per: Light}
channels:
  presses: {carries: [Press, Ask], order: bag, capacity: "1"}
rows:
  - row: somebody_presses
    for: {l: Light}
    do: send(presses, Press(light=l))
  - row: somebody_asks
    do: send(presses, Ask())
  - row: press
    on: presses.Press(l)
    in:
      light[l]: Dark
    to:
      light[l]: Lit
  - row: morning
    do: |
      for l in Light:
          if light[l] == Lit:
              light[l] = Dark
  - row: repair
    for: {l: Light}
    when: light[l] == Dark and light[l] != Dark
    do: light[l] = Lit
  - row: answer
    on: presses.Ask()
    when: light[Light1] == Lit
unhandled:
  - {message: presses.Press(l), in: {"light[l]": Lit}, is: ignored, why: it is on already}
"""
LAMP = """
table: lamp
about: A lamp.
source: the manual
states:
  Dark: {about: off, initial: true}
  Lit: {about: on}
transitions:
  - {from: Dark, event: on, to: Lit}
  - {from: Lit, event: off, to: Dark}
"""


@cache
def every_row(name: str) -> tuple[StateMatrix, ...]:
    return remembered.matrices(document(name))


def effects(matrix: StateMatrix) -> dict[tuple[str, str], list[Effect]]:
    found: dict[tuple[str, str], list[Effect]] = {}
    for line in matrix.lines:
        for cell in line.cells:
            for effect in cell.effects:
                found.setdefault((effect.row, cell.state), []).append(effect)
    return found


@pytest.mark.parametrize(("name", "instance", "count"), RUNS)
def test_what_happens_is_in_the_table(name: str, instance: str, count: int) -> None:
    """Every step of a run, for every machine: its state changed only as the table says."""
    machine = elaborate(document(name), instance)
    matrices = state_matrices(document(name), [instance])
    assert matrices
    steps = walked(machine, count)
    assert len(steps) > 10
    for matrix in matrices:
        known = effects(matrix)
        single = not isinstance(machine.variable(matrix.machine).type, Map)
        shown = {row for row, _ in known}
        for before, row, after in steps:
            old, new = (parts(machine, state, matrix.machine) for state in (before, after))
            for key, state in old.items():
                here = known.get((row, state), [])
                if new[key] != state:
                    assert any(new[key] in effect.targets for effect in here), (row, state)
                if single and row in shown:
                    assert here, (row, state)


@pytest.mark.parametrize("system", SYSTEMS)
def test_what_is_written_is_what_is_computed(system: str) -> None:
    """Where a row writes `in:` and `to:`, its computed states and targets are among them."""
    rows = {row.name.text: row for row in document(system).rows}
    for matrix in every_row(system):
        for (name, state), found in effects(matrix).items():
            row = rows[name]
            inside = [
                {word.text for word in item.states}
                for item in row.inside
                if _names(item.place.text, matrix.machine)
            ]
            if len(inside) == 1 and all(not effect.which for effect in found):
                assert state in inside[0], (name, state)
            for item in row.to:
                if _names(item.place.text, matrix.machine) and len(found) == 1:
                    assert item.states[0].text in found[0].targets


def _names(place: str, machine: str) -> bool:
    return re.sub(r"\[.*\]", "", place) == machine


def test_cells_are_marked(tmp_path: Path) -> None:
    (tmp_path / "lamp.yaml").write_text(LAMP)
    system = tmp_path / "system.yaml"
    system.write_text(LIGHT.replace("light[Light1]", "light[light1]"))
    (matrix,) = state_matrices(read(system))
    lines = {line.trigger: line for line in matrix.lines}
    marks = {name: [cell.mark for cell in line.cells] for name, line in lines.items()}
    assert matrix.per == "Light"
    assert marks["Press"] == ["rows", "ignored"]
    assert lines["Press"].cells[1].why == "it is on already"
    assert marks["Ask"] == ["unhandled", "rows"]
    assert "repair" not in marks
    morning = {cell.state: cell.effects[0].targets for cell in lines["morning"].cells}
    assert morning == {"Dark": ("Dark",), "Lit": ("Dark", "Lit")}
    press = lines["Press"].cells[0].effects[0]
    assert (press.targets, press.moves, press.sends) == (("Lit",), True, ())
    assert ("Dark", "press", "Lit") in matrix.moves()
    assert ("Dark", "answer", "Dark") not in matrix.moves()


def test_a_known_row_of_the_classic_group() -> None:
    matrices = {matrix.machine: matrix for matrix in every_row("classic_group")}
    group = effects(matrices["coordinator.group"])
    assert ("coordinator_join_follower_unchanged_in_stable", "Stable") in group
    assert ("coordinator_join_follower_unchanged_in_stable", "Empty") not in group
    (waits,) = group["coordinator_join_known_in_preparing", "PreparingRebalance"]
    assert waits.targets == ("Empty", "PreparingRebalance", "CompletingRebalance")
    (written,) = group["coordinator_append_assignment_ok", "CompletingRebalance"]
    assert written.targets == ("CompletingRebalance", "Stable")
    assert written.sends == ("SyncResponse(NONE)",)


@pytest.mark.parametrize("system", SYSTEMS)
def test_readmes_hold_the_state_tables_of_today(system: str) -> None:
    """Regenerate with `checker show NAME --tables --write`, all of them with `make tables`."""
    path = find(system)
    readme = (path.parent / "README.md").read_text(encoding="utf-8")
    name = spec_name(str(path))
    part = readme_part(name, every_row(system))
    assert with_part(readme, name, part) == readme


def test_short_names_differ() -> None:
    assert short_names(("Empty", "PreparingRebalance", "Stable")) == {
        "Empty": "E",
        "PreparingRebalance": "PR",
        "Stable": "S",
    }
    assert len(set(short_names(("ACKNOWLEDGED", "ACQUIRED", "ARCHIVED")).values())) == 3


def test_a_part_replaces_the_one_before() -> None:
    part = readme_part("s", ())
    once = with_part("# s\n\nProse.\n", "s", part)
    assert once.startswith("# s\n\nProse.\n\n<!-- state tables")
    assert with_part(once, "s", part) == once
    assert with_part(once + "After.\n", "s", part) == once + "After.\n"


TWO = """\
system: two
about: Two lamps, and a message of which one says in which states nobody heeds it.
types:
  Said: Ask or Tell
messages:
  Ask: {}
  Tell: {}
channels:
  said: {carries: [Ask], order: bag, capacity: "1"}
  heard: {carries: [Ask, Tell], order: bag, capacity: "1"}
machines:
  left: {table: lamp}
  right: {table: lamp}
variables:
  held: {type: optional Said, initial: none}
rows:
  - row: hears
    on: said.Ask
    in: {left: Dark, right: Dark}
    do: right = Lit
  - row: passes
    in: {left: Dark}
    when: held is not none
    do: |
      left = Lit
      send(heard, held)
unhandled:
  - {message: said.Ask, in: {left: Lit}, is: ignored, why: nobody listens.}
"""


def test_what_is_ignored_from_one_channel_is_not_ignored_from_all(tmp_path: Path) -> None:
    hears = "  - {row: overhears, on: heard.Ask, in: {left: Dark}, to: {left: Lit}}\n"
    also = "  - {message: heard.Ask, in: {left: Lit}, is: impossible, why: it is too late.}\n"
    (tmp_path / "lamp.yaml").write_text(LAMP)

    def marks(text: str) -> list[str]:
        (tmp_path / "two.yaml").write_text(text)
        left = next(
            it for it in state_matrices(read(tmp_path / "two.yaml")) if it.machine == "left"
        )
        return [c.mark for line in left.lines if line.trigger == "Ask" for c in line.cells]

    both = TWO.replace("unhandled:\n", hears + "unhandled:\n")
    assert marks(both) == ["rows", "unhandled"]
    assert marks(both + also) == ["rows", "ignored"]


@pytest.mark.parametrize(
    ("message", "only"),
    [
        ("Ask", ()),
        ("said[k].Ask(_, of=other)", ()),
        ("said[_].Ask(one)", ()),
        ("Ask(none)", ("Ask(none)",)),
        ("said.Ask(_, two)", ("said.Ask(_, two)",)),
        ("said[two].Ask(a)", ("said[two].Ask(a)",)),
        ("Ask(a, a)", ("Ask(a, a)",)),
    ],
)
def test_what_is_said_of_some_messages_is_not_said_of_all(
    tmp_path: Path, message: str, only: tuple[str, ...]
) -> None:
    """`one` is no value of the field, so that it is bound."""
    (tmp_path / "lamp.yaml").write_text(LAMP)
    text = (
        TWO.replace("  Ask: {}", "  Ask: {by: optional Who, of: Who}")
        .replace("types:\n", "types:\n  Who: one of two, three\n  Other: one of one, none_of_it\n")
        .replace("{carries: [Ask], order", "{carries: [Ask], per: Who, order")
        .replace("heard: {carries: [Ask, Tell]", "heard: {carries: [Tell]")
        .replace("      send(heard, held)\n", "")
        .replace("message: said.Ask", f'message: "{message}"')
    )
    (tmp_path / "two.yaml").write_text(text)
    (left,) = (it for it in state_matrices(read(tmp_path / "two.yaml")) if it.machine == "left")
    (cells,) = (line.cells for line in left.lines if line.trigger == "Ask")
    assert [(cell.mark, cell.only) for cell in cells] == [("rows", ()), ("ignored", only)]
    assert cell_text(cells[1], {}) == " ".join(("ignored", *only))


def test_what_is_ignored_in_states_of_another_machine_is_not_ignored_in_all(tmp_path: Path) -> None:
    (tmp_path / "lamp.yaml").write_text(LAMP)
    (tmp_path / "two.yaml").write_text(TWO)
    found = {
        matrix.machine: {line.trigger: line.cells for line in matrix.lines}
        for matrix in state_matrices(read(tmp_path / "two.yaml"))
    }
    assert [cell.mark for cell in found["left"]["Ask"]] == ["rows", "ignored"]
    assert [cell.mark for cell in found["right"]["Ask"]] == ["rows", "unhandled"]
    assert found["left"]["passes"][0].effects[0].sends == ("Ask", "Tell")


SOME = """\
system: some
about: Lamps of two that are asked.
types:
  Who: one of one, two
messages:
  Ask: {}
channels:
  said: {carries: [Ask], order: bag, per: Who, capacity: "1"}
machines:
  left: {table: lamp, per: Who}
faults:
  burns: {budget: "0"}
rows:
  - {row: hears, on: "said[who].Ask()", in: {"left[who]": Dark}, do: pass}
  - {row: never, fault: burns, for: {w: Who}, to: {"left[w]": Dark}}
unhandled:
  - {message: "said[who].Ask()", in: {"PLACE": Lit}, is: ignored, why: nobody listens.}
"""


def test_what_is_ignored_for_one_machine_is_not_ignored_for_each(tmp_path: Path) -> None:
    (tmp_path / "lamp.yaml").write_text(LAMP)
    one = "ignored said[who].Ask() in left[one]"
    for place, told in (("left[who]", "ignored"), ("left[one]", one)):
        (tmp_path / "some.yaml").write_text(SOME.replace("PLACE", place))
        (left,) = state_matrices(read(tmp_path / "some.yaml"))
        (cells,) = (line.cells for line in left.lines if line.trigger == "Ask")
        assert [cell_text(cell, {}) for cell in cells if cell.state == "Lit"] == [told]
        assert left.absent == ("never",)
        (table, _) = matrix_sections([left])
        assert table.prose[1] == "Constants as in default. Rows that do not exist there: never."
