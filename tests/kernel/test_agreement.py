"""Goal: a kernel does exactly what the reference semantics says, for any machine.

Same initial states; of every reachable state the same successors in the same order with the same
actions, errors, cuts, illegal moves and broken step properties; the same deadlocks, tallies and
state properties. The machines are random, and some by hand for what random ones do not reach.
"""

from collections.abc import Iterator

import pytest
from agreement import require_agreement
from hypothesis import HealthCheck, given, settings
from machines import KNOWN, Known
from random_machines import machines, seeded_machine

from checker.kernel import actions, functions
from checker.layout import cells as layout_cells
from checker.layout import shape
from checker.llvm import cells, choices, collections, folds, slots, statements, states
from checker.machine.machine import Machine

SEEDS = range(48)

WAYS: dict[str, dict[object, dict[str, int]]] = {
    "as it is": {},
    "nothing unrolled": {
        actions: {"UNROLLED_ACTION": 0},
        folds: {"UNROLLED_COST": 0},
        statements: {"UNROLLED_STATEMENTS": 0},
        slots: {"SHORT": 0},
    },
    "everything unrolled": {
        actions: {"UNROLLED_ACTION": 10**6},
        folds: {"UNROLLED_COST": 3000},
        statements: {"UNROLLED_STATEMENTS": 5000},
    },
    "cells in loops": {
        cells: {"UNROLLED_CELLS": 2},
        choices: {"MASK_POSITIONS": 1},
        states: {"CELLS_LISTED": 1, "WORDS_HELD": 0},
        slots: {"SHORT": 0},
    },
    "in pieces": {functions: {"PIECE_LINES": 1}},
    # What else only types with more than 2**62 values do: sets in chunks, options, unions and
    # slots in several cells. Keys and items of sets must keep their codes.
    "wide": {
        shape: {"CODE_LIMIT": 64, "CHUNK": 3},
        cells: {"CHUNK": 3},
        collections: {"CHUNK": 3},
        layout_cells: {"CHUNK": 3, "_MASK": 7},
    },
}
"""The same machines, written in all the ways the kernel has."""


@pytest.fixture
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    shape.shape_of.cache_clear()
    for module, settings_ in WAYS[request.param].items():
        for name, value in settings_.items():
            monkeypatch.setattr(module, name, value)
    yield
    monkeypatch.undo()
    shape.shape_of.cache_clear()


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.machine.name)
def test_known_machines(known: Known) -> None:
    assert require_agreement(known.machine, states=60) > 0


@pytest.mark.parametrize("way", WAYS, indirect=True)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.usefixtures("way")
def test_seeded_machines(seed: int) -> None:
    require_agreement(seeded_machine(seed), states=12)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_written_in_brief(seed: int) -> None:
    require_agreement(seeded_machine(seed), states=12, brief=True)


@given(machine=machines())
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
def test_random_machines(machine: Machine) -> None:
    require_agreement(machine, states=25)
