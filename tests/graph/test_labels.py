"""Goal: what the kernel tells of a step the interpreter says of it, picks in loops included."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from checker import flow
from checker.graph import labels
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
