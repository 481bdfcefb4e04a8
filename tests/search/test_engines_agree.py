"""Goal: the local engine and the reference say the same of every machine: counts, findings, paths.

Machines with known counts, faulty ones, and random ones with every kind of term and statement.
"""

from dataclasses import replace
from pathlib import Path

import pytest
from machines import KNOWN, Known, lamp, overflow, two_phase
from random_machines import seeded_machine

from checker.elaborate import elaborate
from checker.kernel.build import build
from checker.layout.layout import pack
from checker.machine.machine import Machine
from checker.search.exploration import Exploration
from checker.search.explore import explore
from checker.search.limits import Limits
from checker.search.reference import explore_reference
from checker.search.simulate import simulate
from checker.table import read

SEEDS = range(30)


def local(machine: Machine, limits: Limits, workers: int = 1) -> Exploration:
    layout = pack(machine)
    return explore(machine, layout, build(machine, layout), limits, workers)


def comparable(exploration: Exploration) -> Exploration:
    """Leave out what engines may differ in: names, times and sizes."""
    return replace(
        exploration, engine="", workers=0, seconds=0.0, state_bits=0, bytes_per_state=0.0
    )


def assert_agreement(machine: Machine, limits: Limits) -> None:
    wanted = comparable(explore_reference(machine, limits))
    assert comparable(local(machine, limits)) == wanted
    threads = comparable(local(machine, limits, workers=2))
    assert replace(threads, rows=()) == replace(wanted, rows=())
    assert [(row.row, row.enabled, row.fired) for row in threads.rows] == [
        (row.row, row.enabled, row.fired) for row in wanted.rows
    ]


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.machine.name)
def test_machines_with_known_counts(known: Known) -> None:
    found = local(known.machine, Limits(keep_going=True))
    assert (found.distinct, found.generated, found.depth) == (
        known.distinct,
        known.generated,
        known.depth,
    )
    for limits in (Limits(), Limits(keep_going=True), Limits(depth=1)):
        assert_agreement(known.machine, limits)


@pytest.mark.parametrize("machine", [overflow(), lamp()], ids=lambda machine: machine.name)
def test_machines_that_fail(machine: Machine) -> None:
    assert_agreement(machine, Limits())


@pytest.mark.parametrize("seed", SEEDS)
def test_random_machines(seed: int) -> None:
    machine = seeded_machine(seed, states=300)
    assert_agreement(machine, Limits(keep_going=True, depth=6))


def test_a_published_count_on_all_cores() -> None:
    found = local(two_phase(6), Limits(), workers=2)
    assert (found.distinct, found.depth, found.exhaustive) == (50816, 19, True)


def test_walks_of_a_machine_keep_to_its_states() -> None:
    machine = two_phase(3)
    layout = pack(machine)
    found = simulate(machine, layout, build(machine, layout), walks=200, depth=30, seed=1)
    assert found.finding is None
    assert found.steps == 200 * 30
    assert all(row.enabled > 0 for row in found.rows)


HOLED = [
    "sequence of bool up to 2",
    "bag of bool up to 2",
    "Holder",
    "optional (sequence of bool up to 2)",
    "optional (bag of bool up to 2)",
    "set of (bag of Only up to 2)",
    "sequence of (bag of Only up to 2) up to 1",
]
"""Types with codes that no value has."""

AS_KEYS = """
system: keys
about: Maps by what has codes that no value has, alone and in a sequence.
types:
  Only: 0..0
  Holder: {{fields: {{row: sequence of bool up to 2, flag: bool}}}}
variables:
  held: {{type: map of {kind} to bool, initial: empty}}
  rows: {{type: sequence of (map of {kind} to 0..1) up to 2, initial: empty}}
rows:
  - {{row: put, for: {{b: {kind}}}, do: "held[b] = true"}}
  - {{row: drop, for: {{b: held}}, do: "del held[b]"}}
  - {{row: push, for: {{b: held}}, do: "rows.append({{b: 1}})"}}
properties:
  few: {{always: "len(held) < 3", why: tried}}
  apart: {{always: "all(k not in r for r in rows for k in held)", why: tried}}
"""

AS_ELEMENTS = """
system: elements
about: Bindings over what holds values of a type with codes that no value has.
types:
  Only: 0..0
  Holder: {{fields: {{row: sequence of bool up to 2, flag: bool}}}}
variables:
  chosen: {{type: set of {kind}, initial: empty}}
  sent: {{type: bag of {kind} up to 2, initial: empty}}
  maps: {{type: set of (map of Only to {kind}), initial: empty}}
rows:
  - {{row: choose, for: {{b: {kind}}}, do: "chosen.add(b)"}}
  - {{row: send, for: {{b: chosen}}, when: "len(sent) < 2", do: "sent.add(b)"}}
  - {{row: take, for: {{b: chosen, c: sent}}, do: "chosen.remove(b); sent.remove(c)"}}
  - {{row: map_, for: {{b: sent}}, do: "maps.add({{0: b}})"}}
  - {{row: unmap, for: {{b: maps}}, do: "maps.remove(b)"}}
properties:
  few: {{always: "len(sent) < 2", why: tried}}
  none: {{always: "len(maps) == 0 or len(sent) < 2", why: tried}}
"""

TOTAL = """
system: total
about: A total map has a value for each key that there is, not for each code of one.
types:
  Only: 0..0
  Holder: {fields: {row: sequence of bool up to 2}}
  Other: {fields: {row: sequence of bool up to 3}}
variables:
  held: {type: total map of Holder to 0..1, initial: "{k: 0 for k in Holder}"}
  part: {type: map of Other to 0..1, initial: empty}
  few: {type: set of Holder, initial: empty}
rows:
  - {row: raise_, for: {b: Holder}, do: "held[b] = 1"}
  - {row: turn, do: "held = {k: 1 - held[k] for k in held}"}
  - {row: all_, do: "few = {k for k in held if held[k] == 0}"}
properties:
  counted: {always: "len({k for k in held}) == 7", why: tried}
  some: {always: "any(held[k] == 0 for k in held)", why: tried}
"""


def elaborated(text: str, folder: Path) -> Machine:
    path = folder / "system.yaml"
    path.write_text(text)
    return elaborate(read(path), "default", {})


@pytest.mark.parametrize("kind", HOLED)
@pytest.mark.parametrize("text", [AS_KEYS, AS_ELEMENTS], ids=["keys", "elements"])
def test_codes_that_no_value_has(text: str, kind: str, tmp_path: Path) -> None:
    machine = elaborated(text.format(kind=kind), tmp_path)
    assert_agreement(machine, Limits())
    assert_agreement(machine, Limits(keep_going=True, depth=3))


def test_a_total_map_by_what_has_codes_that_no_value_has(tmp_path: Path) -> None:
    machine = elaborated(TOTAL, tmp_path)
    assert_agreement(machine, Limits())
    assert_agreement(machine, Limits(keep_going=True, depth=4))


def test_a_walk_by_codes_that_no_value_has(tmp_path: Path) -> None:
    machine = elaborated(AS_KEYS.format(kind=HOLED[0]), tmp_path)
    layout = pack(machine)
    found = simulate(machine, layout, build(machine, layout), walks=50, depth=20, seed=1)
    assert found.finding is not None
    assert found.finding.property in {"few", "apart"}
