"""Goal: what the kernel tells of a step the interpreter says of it, picks in loops included."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from machines import lamp

from checker import flow
from checker.errors import UsageError
from checker.graph import labelled, labels
from checker.graph.labelled import FAILED, LabelledGraph, labelled_graph
from checker.machine.machine import Machine

LOOPS = """
system: loops
about: Picks of two kinds, in loops in each other, in branches, before a break.
constants:
  Ball: {ids: 3, prefix: b}
  Bin: {ids: 2, prefix: k, symmetric: true}
variables:
  lies: {type: map of Ball to Bin, initial: empty}
  swapped: {type: set of Ball, initial: empty}
  turns: {type: "0..2", initial: "0"}
rows:
  - row: throw
    about: Each ball is thrown into some bin; now and then another is taken out on the way.
    when: turns < 2
    do: |
      turns += 1
      for b in Ball:
          lies[b] = pick(k for k in Bin)
          if len(lies) > 1 and turns == 2:
              out = pick(o for o in lies if o != b)
              del lies[out]
          if len(lies) == 2 and b not in swapped:
              break
  - row: swap
    about: Of the balls of each bin one is marked, or the row gives up.
    when: len(lies) > 0
    do: |
      first = pick(x for x in {false, true})
      for k in {lies[b] for b in lies}:
          for turn in range(0, 1):
              marked = pick(b for b in lies if lies[b] == k)
              swapped.add(marked)
      require(not first or len(swapped) < 3)
properties:
  fewer:
    always: turns <= 2
    why: it is counted
instances:
  default: {expect: {verdict: holds}}
"""


def graph_of(machine: Machine) -> LabelledGraph:
    graph = labelled_graph(replace(machine, symmetry=False))
    assert graph is not None
    return graph


def same_names(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> LabelledGraph:
    """Hold the names that the kernel tells to those of the interpreter; return the graph."""
    told = graph_of(machine)
    assert not labels.telling(machine).silent
    monkeypatch.setattr(labels, "_TOLD_MAX", 0)
    assert labels.telling(machine).silent
    monkeypatch.setattr(labelled, "_STEPS", 1)
    said = graph_of(machine)
    assert (told.targets == said.targets).all()
    for step in np.flatnonzero(told.targets != FAILED).tolist():
        assert told.labels[told.names[step]] == said.labels[said.names[step]]
    return told


def test_picks_in_loops_are_told_in_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "loops.yaml").write_text(LOOPS)
    _, machine = flow.prepare(flow.Request(str(tmp_path / "loops.yaml")), flow.Silent())
    graph = same_names(machine, monkeypatch)
    kinds = {label.row: set[tuple[str, ...]]() for label in graph.labels}
    for label in graph.labels:
        kinds[label.row].add(tuple(name for name, _ in label.picks))
    assert len(kinds["throw"]) > 1
    assert max(len(names) for names in kinds["throw"]) > 3
    assert len(kinds["swap"]) > 1


def test_shipped_rows_are_called_as_the_interpreter_does(monkeypatch: pytest.MonkeyPatch) -> None:
    _, machine = flow.prepare(flow.Request("consumer_group_848", "hanging_alone"), flow.Silent())
    same_names(machine, monkeypatch)


ALIKE = """
system: alike
about: Picks of interchangeable ids that come to the same, or not.
constants:
  C: {ids: 3, symmetric: true}
messages:
  Note: {urgent: bool, of: C}
channels:
  board: {carries: [Note], order: retained}
variables:
  sent: {type: 0..1, initial: "0"}
  seen: {type: set of C, initial: empty}
rows:
  - row: write
    for: {urgent: bool}
    when: sent < 1
    do: |
      c = pick(c for c in C)
      send(board, Note(urgent=urgent, of=c))
      sent += 1
  - row: look
    on: board.Note
    do: |
      c = pick(c for c in C)
      if c in seen:
          seen = empty
  - row: note
    do: |
      for turn in range(0, 2):
          c = pick(c for c in C)
          if turn == 1:
              seen.add(c)
"""


@pytest.mark.parametrize("told", [24, 0])
def test_what_comes_to_the_same_under_symmetry_is_one_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: int
) -> None:
    monkeypatch.setattr(labels, "_TOLD_MAX", told)
    (tmp_path / "alike.yaml").write_text(ALIKE)
    result = flow.check(flow.Request(str(tmp_path / "alike.yaml")), flow.Silent())
    graph = labelled_graph(result.machine)
    assert graph is not None
    assert graph.states == result.exploration.distinct
    counted = Counter(graph.labels[name].row for name in graph.names.tolist())
    assert counted == {row.row: row.fired for row in result.exploration.rows}


@pytest.mark.parametrize("bound", ["default_limit", "available"])
def test_a_graph_that_does_not_fit_the_memory_is_refused(
    bound: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither what a search may use nor what is free."""
    monkeypatch.setattr(labelled, bound, lambda: 1 << 10)
    with pytest.raises(UsageError, match="does not fit the memory: 2 states and 1 steps"):
        labelled_graph(lamp())
