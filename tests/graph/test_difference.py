"""Goal: what `compare` says of two machines is what their runs, listed one by one, say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from checker import flow
from checker.errors import Interruption
from checker.graph import inclusion
from checker.graph.difference import compare, renamed, run_labels
from checker.graph.labelled import CUT_OFF, FAILED, LabelledGraph, labelled_graph
from checker.machine.machine import Machine
from checker.semantics.successors import initial_states, successors
from checker.semantics.values import format_value

SYSTEM = """
system: pump
about: A pump that fills a tank.
variables:
  level: {type: 0..4, initial: "0"}
  on: {type: bool, initial: "false"}
%(variables)s
rows:
  - row: switch
    when: %(switch)s
    do: |
      on = not on
%(switched)s
  - row: %(fills)s
    for: {amount: 1..2}
    when: on and level + amount <= %(most)s
    do: |
      level += amount
  - row: drains
    when: level > 0
    do: |
      level = pick(k for k in range(0, level)%(which)s)
"""
PLAIN = {
    "variables": "",
    "switch": "level < 4",
    "switched": "",
    "fills": "fills",
    "most": "4",
    "which": "",
}


def machine(folder: Path, name: str, **changes: str) -> Machine:
    path = folder / f"{name}.yaml"
    path.write_text(SYSTEM % {**PLAIN, **changes})
    return replace(flow.machine_of(str(path), "default", {}), properties=(), deadlock=False)


def graph_of(given: Machine) -> LabelledGraph:
    graph = labelled_graph(given)
    assert graph is not None
    return graph


COUNTED = {
    "variables": '  count: {type: 0..1, initial: "0"}',
    "switched": "      if on:\n          count = 1 - count",
}  # fmt: skip
CHANGES = {
    "nothing": {},
    "a guard written otherwise": {"switch": "not level == 4"},
    "a guard": {"switch": "level < 3"},
    "a bound": {"most": "3"},
    "a choice": {"which": " if k != 1"},
    "a further variable": COUNTED,
    "a further variable that matters": {**COUNTED, "switch": "level < 4 and (count == 0 or on)"},
    "one that matters later": {**COUNTED, "switch": "level < 4 - count"},
}


def runs(given: Machine, shared: tuple[str, ...], length: int) -> set[tuple[object, ...]]:
    """All runs of up to so many steps, as they are seen: by the interpreter, one by one."""
    places = [i for i, variable in enumerate(given.variables) if variable.name in shared]

    def seen(state: tuple[object, ...]) -> tuple[str, ...]:
        return tuple(format_value(state[place]) for place in places)

    now = {(step.state, (seen(step.state),)) for step in initial_states(given) if step.state}
    found = {run for _, run in now}
    for _ in range(length):
        after = set()
        for state, run in now:
            for step in successors(given, state):
                assert step.state is not None
                name = (step.action, str(step.bindings), str(step.picks))
                after.add((step.state, (*run, name, seen(step.state))))
        now = after
        found |= {run for _, run in now}
    return found


def least(mine: set[tuple[object, ...]], theirs: set[tuple[object, ...]]) -> int | None:
    return min((len(run) // 2 for run in mine - theirs), default=None)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("backwards", [False, True])
def test_shortest_runs_are_those_of_all_runs(
    tmp_path: Path, change: str, *, backwards: bool
) -> None:
    pair = [machine(tmp_path, "old"), machine(tmp_path, "new", **CHANGES[change])]
    if backwards:
        pair.reverse()
    graphs = [graph_of(given) for given in pair]
    found = compare(*graphs)
    all_runs = [runs(given, found.shared, 5) for given in pair]
    lost, gained = least(*all_runs), least(all_runs[1], all_runs[0])
    for side, graph, wanted in ((found.lost, graphs[0], lost), (found.gained, graphs[1], gained)):
        assert (None if side.shorter is None else len(side.shorter[1])) == wanted
        if side.shorter is not None:
            assert len(run_labels(graph, side.shorter)) == wanted
    assert found.equal is (lost is None and gained is None)


def test_what_only_one_side_has_is_counted_and_shown(tmp_path: Path) -> None:
    old = graph_of(machine(tmp_path, "old"))
    new = graph_of(machine(tmp_path, "new", most="3", fills="pours"))
    found = compare(old, new, most=1)
    assert (found.lost.counts["rows"], found.gained.counts["rows"]) == (1, 1)
    assert [item.what for item in found.gained.shown["rows"]] == ["pours"]
    (state,) = found.lost.shown["states"]
    assert "level=4" in state.what
    assert len(state.run[1]) == 3
    same = compare(renamed(old, {"fills": "pours"}), new)
    assert (same.lost.counts["rows"], same.gained.counts["rows"]) == (0, 0)
    assert same.equal is False


def test_a_comparison_ends_soon_after_an_interrupt(tmp_path: Path) -> None:
    """Before each piece of states, and before each value of a variable kept in two ways."""
    wider = SYSTEM.replace("0..4", "0..5")
    (tmp_path / "wider.yaml").write_text(wider % PLAIN)
    new = replace(flow.machine_of(str(tmp_path / "wider.yaml"), "default", {}), properties=())
    old, new = graph_of(machine(tmp_path, "old")), graph_of(new)
    for goes_on in range(2 + 5 + 5):
        answers = iter([False] * goes_on + [True])
        with pytest.raises(Interruption, match="which states look alike"):
            compare(old, new, interrupt=lambda answers=answers: next(answers))
    assert compare(old, new).equal


def test_sets_of_states_are_walked_until_an_interrupt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = CHANGES["a further variable that matters"]
    old, new = graph_of(machine(tmp_path, "old")), graph_of(machine(tmp_path, "new", **changed))
    walking: list[bool] = []

    def chooses(*_: object) -> bool:
        walking.append(True)
        return True

    monkeypatch.setattr(inclusion, "_chooses", chooses)
    with pytest.raises(Interruption, match="pairs of sets of states were found"):
        compare(old, new, interrupt=lambda: bool(walking))


BEGINS = """
system: begins
about: It begins in some state, perhaps in one that lies outside or that has no value.
constants: {third: 0}
variables: {n: {type: 0..3, initial: "0"}}
initial:
  do: |
    k = pick({0, 1, 3})
    require(k < 3 or third > 0)
    n = k + third - 1 if k == 3 else k
bounds: [n < 3]
rows:
  - {row: sinks, when: n > 0, do: n -= 1}
deadlock: false
properties:
  small: {always: n < 4, why: it is.}
instances:
  default: {}
"""


def test_initial_states_beyond_the_bounds_and_those_that_fail_are_runs(tmp_path: Path) -> None:
    (tmp_path / "begins.yaml").write_text(BEGINS)
    plain, beyond, failing = (
        graph_of(flow.machine_of(str(tmp_path / "begins.yaml"), "default", {"third": third}))
        for third in range(3)
    )
    for old, new, apart in (
        (plain, beyond, (None, (CUT_OFF, ()))),
        (failing, plain, ((FAILED, ()), None)),
        (beyond, failing, ((CUT_OFF, ()), (FAILED, ()))),
    ):
        found = compare(old, new)
        assert (found.equal, (found.lost.shorter, found.gained.shorter)) == (False, apart)
    assert compare(beyond, beyond).equal
