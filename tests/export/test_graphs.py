"""Goal: a state graph on file has every state and step, called as the interpreter does."""

import re
from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from checker import flow
from checker.cli.main import run
from checker.export.graphs import aldebaran, graphml, graphviz
from checker.graph.labelled import CUT_OFF, FAILED, LabelledGraph, labelled_graph
from checker.semantics.successors import successors
from checker.semantics.values import format_value

SYSTEM = """
system: lamps
about: Lamps that are lit, one picked after the other.
constants:
  Lamp: {ids: 3}
variables:
  lit: {type: set of Lamp, initial: empty}
  last: {type: optional Lamp, initial: none}
  n: {type: 0..3, initial: "0"}
bounds:
  - n < 3
rows:
  - row: lights
    for: {k: Lamp}
    when: k not in lit
    do: |
      lit |= {k}
      last = k
  - row: picks
    when: len(lit) > 1
    do: |
      last = pick(k for k in lit)
      again = pick(k for k in lit)
      if last == again:
          n += 1
  - row: picks_twice
    when: len(lit) == 1
    do: |
      for k in lit:
          last = pick(m for m in Lamp if m != k)
  - row: fails
    when: len(lit) == 3 and n == 2
    do: n = n - 3
"""


def graph_of(spec: str, instance: str = "default") -> LabelledGraph:
    machine = flow.machine_of(spec, instance, {})
    graph = labelled_graph(replace(machine, symmetry=False))
    assert graph is not None
    return graph


@pytest.fixture(scope="module")
def lamps(tmp_path_factory: pytest.TempPathFactory) -> LabelledGraph:
    path = tmp_path_factory.mktemp("lamps") / "system.yaml"
    path.write_text(SYSTEM)
    return graph_of(str(path))


def texts(items: tuple[tuple[str, object], ...]) -> tuple[tuple[str, str], ...]:
    return tuple((name, format_value(value)) for name, value in items)


def held_to_the_interpreter(graph: LabelledGraph, every: int) -> None:
    bare = replace(graph.machine, properties=(), deadlock=False)
    numbers = {state: i for i, state in enumerate(graph.values(np.arange(graph.states)))}
    for state in range(0, graph.states, every):
        expected = [
            (
                step.action,
                texts(step.bindings),
                texts(step.picks),
                FAILED if step.error else CUT_OFF if step.cut else numbers[step.state],
            )
            for step in successors(bare, graph.state(state))
        ]
        steps = slice(graph.offsets[state], graph.offsets[state + 1])
        labels = [graph.labels[name] for name in graph.names[steps]]
        found = [
            (label.row, label.bindings, label.picks, target)
            for label, target in zip(labels, graph.targets[steps].tolist(), strict=True)
        ]
        assert found == expected


def test_every_step_is_called_as_the_interpreter_calls_it(lamps: LabelledGraph) -> None:
    held_to_the_interpreter(lamps, 1)
    rows = {label.row for label in lamps.labels}
    assert rows == {"lights", "picks", "picks_twice", "fails"}
    assert {CUT_OFF, FAILED} < set(lamps.targets.tolist())
    assert "lights(lamp1)" in {label.text for label in lamps.labels}
    assert "picks pick lamp1, lamp2" in {label.text for label in lamps.labels}
    assert "picks_twice pick lamp2" in {label.text for label in lamps.labels}


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["group_small", "share_partition"])
def test_steps_of_shipped_systems_are_called_so_too(spec: str) -> None:
    held_to_the_interpreter(graph_of(spec), 97)


def test_states_and_depths_are_those_of_the_search(lamps: LabelledGraph) -> None:
    result = flow.check(
        flow.Request(lamps.machine.path, engine="reference", properties=()), flow.Silent()
    )
    counted = np.bincount(lamps.depths).tolist()
    # The search ends at the level in which a step fails; all levels before are whole.
    assert counted[: len(result.exploration.levels)] == list(result.exploration.levels)


def test_aldebaran_has_all_steps(lamps: LabelledGraph) -> None:
    head, *lines = aldebaran(lamps)
    match = re.fullmatch(r"des \((\d+), (\d+), (\d+)\)", head)
    assert match
    assert [int(part) for part in match.groups()] == [0, len(lines), lamps.states]
    assert len(lines) == int(np.count_nonzero(lamps.targets >= 0))
    assert all(re.fullmatch(r'\(\d+, "[^"]+", \d+\)', line) for line in lines)


def test_several_initial_states_have_one_before_them() -> None:
    graph = graph_of("missionaries")
    many = replace(graph, initial=np.array([0, 3]))
    lines = list(aldebaran(many))
    assert lines[0].startswith(f"des ({graph.states}, ")
    assert lines[1:3] == [f'({graph.states}, "initially", {n})' for n in (0, 3)]


def test_graphml_can_be_read(lamps: LabelledGraph, tmp_path: Path) -> None:
    path = tmp_path / "lamps.graphml"
    path.write_text("\n".join(graphml(lamps)))
    read = nx.read_graphml(path, force_multigraph=True)
    assert read.number_of_nodes() == lamps.states
    assert read.number_of_edges() == int(np.count_nonzero(lamps.targets >= 0))
    assert read.nodes["n0"] == {
        "depth": 0, "initial": True, "lit": "{}", "last": "none", "n": "0"
    }  # fmt: skip
    assert {data["row"] for *_, data in read.edges(data=True)} <= {"lights", "picks", "picks_twice"}


def test_graphviz_has_a_line_a_state_and_a_step(lamps: LabelledGraph) -> None:
    lines = list(graphviz(lamps))
    assert sum("->" in line for line in lines) == int(np.count_nonzero(lamps.targets >= 0))
    assert sum("tooltip" in line for line in lines) == lamps.states


def test_the_command_writes_a_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["export", "die_hard", "--to", "aut", "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("16 states and 96 steps: die_hard.aut")
    assert (tmp_path / "die_hard.aut").read_text().startswith("des (0, 96, 16)\n")
    assert run(["export", "die_hard", "--to", "tla", "--symmetry", "on", "--out", "x"]) == 2
