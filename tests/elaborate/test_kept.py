"""Goal: an instance is the same machine whatever other instances were elaborated before it.

What is kept of others is told by identity: a row that means the same is the same object, and one
that a constant, a size or another row changes is not.
"""

from pathlib import Path

import pytest

from checker import library
from checker.elaborate import elaborate, kept
from checker.elaborate.elaborate import instances
from checker.kernel.build import fingerprint
from checker.machine.machine import Action, Machine
from checker.table import Document, read

SPECIFICATION = """
system: lamps
about: Lamps that go on and off.
constants:
  Lamp: {ids: 2}
  highest: 2
  eager: true
  breaks: 0
types:
  Level: 0..highest
messages:
  Press: {level: Level}
components:
  house:
    variables:
      level: {type: Level, initial: "0"}
      lit: {type: set of Lamp, initial: empty}
channels:
  button: {carries: [Press], order: fifo, capacity: "1"}
faults:
  burn: {budget: breaks}
definitions:
  dark: len(house.lit) == 0
  bright: not dark and eager
procedures:
  raise_level(): |
    if house.level < highest:
      house.level = house.level + 1
rows:
  - row: light
    for: {l: Lamp}
    when: l not in house.lit
    do: "house.lit = house.lit | {l}"
  - row: lift
    when: bright
    do: raise_level()
  - row: press
    when: len(button) == 0
    send: Press(0)
  - row: pressed
    on: Press(level)
    do: house.level = level
  - row: burn
    for: {l: Lamp}
    fault: burn
    when: l in house.lit
    do: "house.lit = house.lit - {l}"
  - row: wait
    when: not enabled(lift)
    do: house.lit = house.lit
properties:
  low:
    always: house.level <= highest
    why: it ends there.
  by_lift:
    step: implies(next(house.level) > house.level, ran(lift) or ran(pressed))
    why: nothing else does.
instances:
  default: {}
  again: {}
  lazy: {set: {eager: false}}
  high: {set: {highest: 3}}
  many: {set: {Lamp: 3}}
  breaking: {set: {breaks: 1}}
  breaking_more: {set: {breaks: 2}}
"""


@pytest.fixture
def document(tmp_path: Path) -> Document:
    file = tmp_path / "lamps.yaml"
    file.write_text(SPECIFICATION.lstrip())
    return read(file)


def rows(machine: Machine) -> dict[str, Action]:
    return {action.name: action for action in machine.actions}


def shared(document: Document, one: str, other: str) -> set[str]:
    """Return the rows that two instances have as the same object."""
    first, second = rows(elaborate(document, one)), rows(elaborate(document, other))
    return {name for name in first if first[name] is second.get(name)}


@pytest.mark.parametrize(
    ("other", "changed"),
    [
        ("again", set()),
        ("lazy", {"lift", "wait"}),
        ("high", {"lift", "wait", "press", "pressed"}),
        ("many", {"light", "burn", "wait", "lift"}),
    ],
)
def test_rows_are_the_same_where_their_words_mean_the_same(
    document: Document, other: str, changed: set[str]
) -> None:
    every = set(rows(elaborate(document, "default")))
    assert shared(document, "default", other) == every - changed


def test_budgets_change_the_rows_that_spend_them_only(document: Document) -> None:
    assert "burn" not in rows(elaborate(document, "default"))
    every = set(rows(elaborate(document, "breaking")))
    assert shared(document, "breaking", "breaking_more") == every - {"burn"}


def test_a_property_that_names_a_row_is_that_of_its_row(document: Document) -> None:
    one, other = elaborate(document, "default"), elaborate(document, "lazy")
    pairs = zip(one.properties, other.properties, strict=True)
    same_in_both = {item.name for item, same in pairs if item is same}
    assert same_in_both == {"low"}


def test_warnings_are_given_by_each_instance(tmp_path: Path) -> None:
    text = SPECIFICATION.lstrip().replace("when: bright", 'when: "false"')
    file = tmp_path / "warned.yaml"
    file.write_text(text)
    warned = read(file)
    first, again = elaborate(warned, "default"), elaborate(warned, "again")
    assert first.warnings
    assert first.warnings == again.warnings


@pytest.mark.parametrize("system", [it.name for it in library.shipped() if it.kind != "table"])
def test_an_instance_is_what_it_is_when_elaborated_alone(system: str) -> None:
    place = library.find(system)
    together = read(place)
    names = [entry.name.text for entry in instances(together)]
    if not together.coarse:
        names = names[::3]
    found = {name: elaborate(together, name) for name in names}
    for name in names[::4]:
        alone = elaborate(read(place), name)
        assert alone == found[name], name
        assert fingerprint(alone) == fingerprint(found[name]), (
            name
        )  # or kernels are not found again


@pytest.fixture(scope="module")
def alone() -> dict[str, Machine]:
    """Instances of a system that refines another, each elaborated as the only one."""
    place = library.find("composed")
    names = [entry.name.text for entry in instances(read(place))[::2]]
    return {name: elaborate(read(place), name) for name in names}


@pytest.mark.parametrize("most", [1, 2, 8])
def test_a_document_may_be_forgotten_while_it_is_elaborated(
    most: int, alone: dict[str, Machine], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each system that is refined is a document of its own, and only so many are remembered."""
    monkeypatch.setattr(kept, "_DOCUMENTS_MAX", most)
    for order in (list(alone), list(alone)[::-1], sorted(alone)):
        together = read(library.find("composed"))
        for name in order:
            assert elaborate(together, name) == alone[name], (name, order)
