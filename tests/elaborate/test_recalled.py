"""Goal: a machine from the cache is the one that elaborating makes, down to its places and code;
it is taken for nothing else, and what is wrong is told of each time.
"""

import pickle
import shutil
from pathlib import Path

import pytest

from checker.diagnostics import render
from checker.elaborate import elaborate, instances
from checker.elaborate import recalled as module
from checker.elaborate.recalled import MACHINES, recalled
from checker.errors import Diagnostic, SpecificationError
from checker.kernel.build import behaviour
from checker.library import shipped
from checker.machine.machine import Machine
from checker.source import NOWHERE
from checker.table import read
from checker.table.document import Document

COUNTER = """\
system: counter
about: A number that grows.
constants:
  most: {value: 3, about: where it ends}
variables:
  n: {type: 0..most, initial: "0"}
rows:
  - row: grow
    when: n < most
    do: n = n + 1
instances:
  default: {}
  small: {set: {most: 2}}
"""
SYSTEMS = [entry.path for entry in shipped() if entry.kind == "system"]


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep everything, in a place of this test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "_WORTH_KEEPING", 0.0)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """The instances that were elaborated, one after the other."""
    found: list[str | None] = []

    def noting(document: Document, instance: str | None, overrides: object) -> Machine:
        found.append(instance)
        return elaborate(document, instance, overrides)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "elaborate", noting)
    return found


@pytest.mark.parametrize("path", SYSTEMS, ids=lambda path: path.parent.name)
def test_every_system_comes_back_as_it_was(path: Path, made: list[str | None]) -> None:
    document = read(path)
    name = instances(document)[-1].name.text
    machine = recalled(document, name, {})
    again = recalled(document, name, {})
    assert made == [name]
    assert again is not machine
    assert again == machine
    assert behaviour(again) == behaviour(machine)
    assert again.warnings == machine.warnings


def test_what_differs_is_elaborated(tmp_path: Path, made: list[str | None]) -> None:
    path = tmp_path / "counter.yaml"
    path.write_text(COUNTER)
    recalled(read(path), None, {})
    recalled(read(path), "small", {})
    recalled(read(path), None, {"most": 1})
    other = tmp_path / "other" / "counter.yaml"
    other.parent.mkdir()
    shutil.copy(path, other)
    # What it says of places is of another file.
    assert recalled(read(other), None, {}).actions[0].span.source.name == str(other)
    path.write_text(COUNTER + "# a comment\n")
    recalled(read(path), None, {})
    assert made == [None, "small", None, None, None]
    path.write_text(COUNTER)
    assert recalled(read(path), None, {"most": 1}).actions[0].span.source.text == COUNTER
    assert len(made) == 5


def test_what_is_damaged_or_costs_little_is_not_taken(
    tmp_path: Path, made: list[str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "counter.yaml"
    path.write_text(COUNTER)
    recalled(read(path), None, {})
    [blob] = (tmp_path / "cache").rglob("machines/*.blob")
    blob.write_bytes(blob.read_bytes()[:-1] + b"x")
    recalled(read(path), None, {})
    assert made == [None, None]
    MACHINES.clear()
    monkeypatch.setattr(module, "_WORTH_KEEPING", 1e9)
    recalled(read(path), None, {})
    recalled(read(path), None, {})
    assert len(made) == 4


def test_what_is_wrong_is_told_each_time(tmp_path: Path, made: list[str | None]) -> None:
    path = tmp_path / "counter.yaml"
    path.write_text(COUNTER.replace("n + 1", "m + 1"))
    for _ in range(2):
        with pytest.raises(SpecificationError, match="error"):
            recalled(read(path), None, {})
    assert made == [None, None]


def test_what_is_too_deep_to_be_written_is_elaborated_each_time(
    tmp_path: Path, made: list[str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_deep(*_given: object) -> bytes:
        raise RecursionError

    monkeypatch.setattr(module.pickle, "dumps", too_deep)
    path = tmp_path / "counter.yaml"
    path.write_text(COUNTER)
    for _ in range(2):
        assert recalled(read(path), None, {}).actions
    assert made == [None, None]


def test_what_nobody_wrote_stays_nowhere() -> None:
    again = pickle.loads(pickle.dumps(NOWHERE))  # noqa: S301
    assert render(Diagnostic("L420", "it is idle", again)) == render(
        Diagnostic("L420", "it is idle", NOWHERE)
    )
