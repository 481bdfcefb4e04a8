"""Goal: kernels of the shipped specifications agree with the reference semantics, too.

Elaborated machines have forms that random ones lack: calls, operations, channels with faults.
"""

from pathlib import Path

import pytest
from agreement import require_agreement

from checker.elaborate import elaborate
from checker.table import read

SPEC = Path(__file__).parents[2] / "spec"
SPECIFICATIONS = sorted(SPEC.glob("examples/*/system.yaml")) + sorted(
    SPEC.glob("systems/*/system.yaml")
)


@pytest.mark.parametrize("path", SPECIFICATIONS, ids=lambda path: path.parent.name)
def test_specification(path: Path) -> None:
    machine = elaborate(read(path), "default", {})
    large = path.parents[1].name == "systems"  # optimising such a one takes many seconds
    assert require_agreement(machine, states=30, prompt=large) > 1


def test_there_are_specifications() -> None:
    assert len(SPECIFICATIONS) > 10


TOLD = """
system: told
about: Who is told counts it; what is told stays in the channel, beside messages of another kind.
constants:
  Node: {ids: 3}
messages:
  Told: {node: Node}
  Done: {}
variables:
  heard: {type: "0..2", initial: "0", per: Node}
channels:
  wire: {carries: [Told, Done], order: retained}
rows:
  - {row: tell, for: {n: Node}, send: "wire, Told(n)"}
  - {row: end, send: "wire, Done()"}
  - {row: hear, on: wire.Told(n), when: "heard[n] < 2", do: "heard[n] += 1"}
"""


def test_a_field_names_a_place_and_other_kinds_are_there(tmp_path: Path) -> None:
    """The loop over all messages is unrolled, also where the kind is not the one asked for."""
    path = tmp_path / "told.yaml"
    path.write_text(TOLD)
    assert require_agreement(elaborate(read(path), "default", {}), states=60) == 60


MOVED = """
system: moved
about: Where a machine moves to is a field that not all of the values at hand have.
types:
  Move: {fields: {to: group}}
  Wait: {fields: {turns: 0..2}}
machines:
  state: {table: group}
rows:
  - row: moves
    do: |
      for order in {Move(Stable), Wait(2)}:
          state = order.to
"""


def test_a_state_read_of_a_value_that_is_known_and_has_none(tmp_path: Path) -> None:
    """It is an evaluation error; what is written behind that looks states up all the same."""
    place = tmp_path / "system.yaml"
    place.write_text(MOVED)
    assert require_agreement(elaborate(read(place), "default", {}), states=3) == 1


HELD = """
system: held
about: Each shelf holds what was put there; items are drawn that lie on no shelf.
constants:
  Shelf: {ids: 2}
  Item: {ids: 3}
variables:
  shelves: {type: map of Shelf to sequence of Item up to 2, initial: empty}
rows:
  - {row: opens, for: {s: Shelf}, when: s not in shelves, do: "shelves[s] = empty"}
  - row: puts
    for: {s: Shelf}
    when: s in shelves and len(shelves[s]) < 2
    do: |
      i = fresh(Item)
      shelves[s].append(i)
"""


def test_what_is_drawn_is_held_under_no_key(tmp_path: Path) -> None:
    """Few keys of a map are looked at one by one: not as codes of what it holds, which has gaps."""
    place = tmp_path / "system.yaml"
    place.write_text(HELD)
    assert require_agreement(elaborate(read(place), "default", {}), states=40, prompt=True) == 20


WIDE = """
system: wide
about: A record that has too many values for a code is one of the kinds of something else.
types:
  Wide: {fields: {level: 0..3, noted: set of 0..70}}
  Small: {fields: {level: 0..3}}
  Any: Wide or Small
variables:
  one: {type: Wide, initial: "Wide(0, empty)"}
  kept: {type: Any, initial: Small(0)}
  maybe: {type: optional Any, initial: none}
rows:
  - {row: grows, when: one.level < 3, do: "one.level += 1; one.noted.add(one.level * 20)"}
  - {row: keeps, do: kept = one}
  - {row: may_keep, do: maybe = one}
  - {row: returns, when: kept is Wide, do: one = kept}
"""


def test_a_wide_record_is_any_kind_of_value(tmp_path: Path) -> None:
    """Its first cell is no tag, whatever it holds."""
    place = tmp_path / "system.yaml"
    place.write_text(WIDE)
    assert require_agreement(elaborate(read(place), "default", {}), states=60, prompt=True) > 30
