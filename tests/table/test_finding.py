"""Goal: tables are found where the language says, and never read from anywhere else."""

import os
from pathlib import Path

import pytest

from checker.errors import SpecificationError
from checker.table import read

SYSTEM = "system: s\nabout: a\nmachines: {{m: {{table: {name}}}}}\n{more}"


def codes(path: Path) -> list[str]:
    """Return the codes of the errors of a system, in order."""
    try:
        read(path)
    except SpecificationError as failure:
        return [error.code for error in failure.diagnostics]
    return []


@pytest.fixture
def system(tmp_path: Path) -> Path:
    """A place for a system two folders below the root of a project."""
    folder = tmp_path / "project" / "systems" / "house"
    folder.mkdir(parents=True)
    path = folder / "system.yaml"
    path.write_text(SYSTEM.format(name="lamp", more=""))
    return path


def named(lamp: str, name: str) -> str:
    return lamp.replace("table: lamp", f"table: {name}")


@pytest.mark.parametrize("place", [".", "tables", "../tables", "../../tables"])
def test_places_where_tables_are_found(system: Path, lamp: str, place: str) -> None:
    folder = system.parent / place
    folder.mkdir(exist_ok=True)
    (folder / "lamp.yaml").write_text(lamp)
    assert set(read(system).tables) == {"lamp"}


def test_the_nearest_place_wins(system: Path, lamp: str) -> None:
    for place in ("tables", "../tables"):
        (system.parent / place).mkdir()
        (system.parent / place / "lamp.yaml").write_text(lamp.replace("A lamp", place))
    assert read(system).tables["lamp"].about.startswith("tables ")


def test_shipped_tables_are_found(system: Path) -> None:
    system.write_text(SYSTEM.format(name="group", more=""))
    assert set(read(system).tables) == {"group"}


def test_listed_paths_are_relative_to_the_system(system: Path, lamp: str) -> None:
    (system.parent / "parts").mkdir()
    (system.parent / "parts" / "light.yaml").write_text(lamp)
    system.write_text(SYSTEM.format(name="lamp", more="tables: [parts/light.yaml]\n"))
    assert set(read(system).tables) == {"lamp"}
    system.write_text(SYSTEM.format(name="lamp", more="tables: [parts/lamp.yaml]\n"))
    assert codes(system) == ["T140", "T140"]


def test_a_missing_table_suggests_the_nearest(system: Path, lamp: str) -> None:
    (system.parent / "lamp.yaml").write_text(lamp)
    system.write_text(SYSTEM.format(name="lmap", more=""))
    with pytest.raises(SpecificationError) as raised:
        read(system)
    (error,) = raised.value.diagnostics
    assert (error.code, error.help) == ("T140", "did you mean `lamp`?")


def test_file_and_table_have_one_name(system: Path, lamp: str) -> None:
    (system.parent / "lamp.yaml").write_text(named(lamp, "torch"))
    assert codes(system) == ["T142"]


def test_two_tables_of_one_name(system: Path, lamp: str) -> None:
    for name in ("a", "b"):
        (system.parent / f"{name}.yaml").write_text(lamp)
    system.write_text(SYSTEM.format(name="lamp", more="tables: [./a.yaml, ./b.yaml]\n"))
    assert codes(system) == ["T142"]


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "/lamp.yaml",
        "../lamp.yaml",
        "../../../lamp.yaml",
        "a/../../lamp.yaml",
        "lamp.txt",
    ],
)
def test_paths_that_lead_outside(system: Path, lamp: str, path: str) -> None:
    (system.parent.parent / "lamp.yaml").write_text(lamp)
    system.write_text(f'system: s\nabout: a\ntables: ["{path}"]\n')
    assert codes(system) == ["T141"]


def test_links_that_lead_outside(system: Path, lamp: str, tmp_path: Path) -> None:
    (tmp_path / "secret.yaml").write_text(lamp)
    (system.parent / "lamp.yaml").symlink_to(tmp_path / "secret.yaml")
    assert codes(system) == ["T141"]
    system.write_text('system: s\nabout: a\ntables: ["./lamp.yaml"]\n')
    assert codes(system) == ["T141"]


def test_links_that_lead_nowhere(system: Path) -> None:
    (system.parent / "lamp.yaml").symlink_to(system.parent / "lamp.yaml")
    assert codes(system) == ["T140"]


def test_a_pipe_is_no_table(system: Path) -> None:
    os.mkfifo(system.parent / "lamp.yaml")
    system.write_text('system: s\nabout: a\ntables: ["./lamp.yaml"]\n')
    with pytest.raises(SpecificationError) as caught:
        read(system)
    (error,) = caught.value.diagnostics
    assert (error.code, error.message) == ("T140", "./lamp.yaml is no ordinary file")
    assert error.found == "a pipe or a device"


def test_names_too_long_for_files_are_missing_tables(system: Path) -> None:
    system.write_text(SYSTEM.format(name="n" * 5000, more=f"tables: [./{'n' * 5000}.yaml]\n"))
    assert codes(system) == ["T140", "T140"]


def test_a_system_of_the_same_name_is_no_table(system: Path, lamp: str) -> None:
    beside = system.parent / "lamp.yaml"
    beside.write_text(SYSTEM.format(name="lamp", more=""))
    (system.parent / "tables").mkdir()
    (system.parent / "tables" / "lamp.yaml").write_text(lamp)
    assert set(read(beside).tables) == {"lamp"}


FORMS = (
    (
        '{"table": "lamp", "about": "{a}: , x", "source": "s", "states": {"Off": {"about": "o", '
        '"initial": true}}, "transitions": [{"from": "Off", "event": "e", "to": "Off"}]}'
    ),
    (
        '{\n  "about": "a", "source": "s",\n  "states": {"Off": {"about": "o", "initial": true}},\n'
        '  "transitions": [{"from": "Off", "event": "e", "to": "Off"}],\n  "table": "lamp"\n}'
    ),
    (
        '"table": lamp\nabout: a\nsource: s\nstates: {Off: {about: o, initial: true}}\n'
        "transitions: [{from: Off, event: e, to: Off}]\n"
    ),
)


@pytest.mark.parametrize("text", FORMS)
def test_a_table_beside_the_system_may_have_any_form(system: Path, text: str) -> None:
    (system.parent / "lamp.yaml").write_text(text)
    assert set(read(system).tables) == {"lamp"}


def test_a_system_in_json_form_is_no_table(system: Path) -> None:
    (system.parent / "lamp.yaml").write_text(
        '{"system": "lamp", "about": "a", "machines": {"m": {"table": "lamp"}}}'
    )
    assert codes(system) == ["T140"]
