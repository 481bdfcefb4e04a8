"""Goal: a document from the cache is the one that reading makes, down to its places; whatever
reading asked of the file system may have another answer, and then it is read anew.
"""

import ast
import os
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from checker.errors import SpecificationError
from checker.library import shipped
from checker.table import reading, recalled
from checker.table.document import Document

LAMP = """\
system: lamp
about: A lamp that is switched.
files: [rows.yaml]
variables:
  state: {type: Light, initial: "off"}
instances:
  default: {}
"""
ROWS = """\
about: What may happen.
rows:
  - row: switch
    when: state == off
    do: state = on
"""
TABLE = """\
table: Light
about: A lamp.
source: nobody
states:
  dark: {about: switched off, initial: true}
  bright: {about: switched on}
transitions:
  - {from: dark, event: switch, to: bright, about: Somebody comes., source: nobody}
"""
SHIPPED = [entry for entry in shipped() if entry.kind != "table"]


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that were read, one after the other."""
    found: list[Path] = []
    read = reading.read

    def noting(path: Path, edited: Mapping[Path, str] | None = None) -> Document:
        found.append(path)
        return read(path, edited)

    monkeypatch.setattr(reading, "read", noting)
    return found


@pytest.fixture
def lamp(tmp_path: Path) -> Path:
    """The file of a system with two files, whose type has the name that a table could have."""
    path = tmp_path / "home" / "lamps" / "lamp.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(LAMP)
    (path.parent / "rows.yaml").write_text(ROWS)
    return path


def plain(value: object) -> object:
    """Return a part of a document as what can be compared, places included."""
    if isinstance(value, ast.AST):
        return ast.dump(value, include_attributes=True)
    if is_dataclass(value) and not isinstance(value, type):
        return type(value), [plain(getattr(value, item.name)) for item in fields(value)]
    if isinstance(value, Mapping):
        return type(value), [(plain(key), plain(item)) for key, item in value.items()]
    if isinstance(value, tuple | list):
        return type(value), [plain(item) for item in value]
    return value


@pytest.mark.parametrize("entry", SHIPPED, ids=lambda entry: entry.name)
def test_every_system_comes_back_as_it_was(entry: object, made: list[Path]) -> None:
    path = entry.path  # type: ignore[attr-defined]
    document = recalled.read(path)
    again = recalled.read(path)
    assert made == [path]
    assert again is not document
    assert plain(again) == plain(document)


def change_rows(lamp: Path) -> None:
    (lamp.parent / "rows.yaml").write_text(ROWS.replace("state = on", "state = off"))


def change_system(lamp: Path) -> None:
    lamp.write_text(LAMP + "# a comment\n")


def link_rows(lamp: Path) -> None:
    rows = lamp.parent / "rows.yaml"
    rows.rename(lamp.parent / "others.yaml")
    rows.symlink_to("others.yaml")


@pytest.mark.parametrize("change", [change_rows, change_system, link_rows])
def test_what_changed_is_read(change: Callable[[Path], None], lamp: Path, made: list[Path]) -> None:
    recalled.read(lamp)
    change(lamp)
    document = recalled.read(lamp)
    assert made == [lamp, lamp]
    assert plain(document) == plain(reading.read(lamp))


def test_a_table_that_was_not_there_is_seen(lamp: Path, made: list[Path]) -> None:
    assert not recalled.read(lamp).tables
    for folder in (lamp.parent / "tables", lamp.parent.parent / "tables", lamp.parent):
        folder.mkdir(exist_ok=True)
        table = folder / "Light.yaml"
        table.write_text(TABLE)
        assert list(recalled.read(lamp).tables) == ["Light"]
        table.unlink()
        assert not recalled.read(lamp).tables
    assert len(made) == 7


def test_a_file_that_leads_out_of_its_folder_is_refused(lamp: Path, tmp_path: Path) -> None:
    recalled.read(lamp)
    rows = lamp.parent / "rows.yaml"
    rows.rename(tmp_path / "rows.yaml")
    rows.symlink_to(tmp_path / "rows.yaml")
    with pytest.raises(SpecificationError):
        recalled.read(lamp)


def test_places_are_those_of_the_file_read(
    lamp: Path, made: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(lamp.parent)
    whole = recalled.read(lamp)
    short = recalled.read(Path("lamp.yaml"))
    assert (whole.path, short.path) == (str(lamp), "lamp.yaml")
    other = lamp.parent.parent
    (other / "lamp.yaml").write_text(LAMP)
    (other / "rows.yaml").write_text(ROWS + "# another one\n")
    monkeypatch.chdir(other)
    assert recalled.read(Path("lamp.yaml")).rows[0].span.source.text.endswith("another one\n")
    assert made == [lamp, Path("lamp.yaml"), Path("lamp.yaml")]


def test_errors_and_edits_are_not_kept(lamp: Path, made: list[Path]) -> None:
    changed = recalled.read(lamp, {lamp: LAMP.replace("A lamp", "Another lamp")})
    assert changed.about.startswith("Another")
    lamp.write_text(LAMP.replace("variables", "variable"))
    for _ in range(2):
        with pytest.raises(SpecificationError):
            recalled.read(lamp)
    assert len(made) == 3
    assert recalled.DOCUMENTS.size() == (0, 0)


def test_what_is_damaged_is_read_again(lamp: Path, made: list[Path], tmp_path: Path) -> None:
    recalled.read(lamp)
    (blob,) = (tmp_path / "cache").rglob("documents/*.blob")
    blob.write_bytes(blob.read_bytes()[:-1] + b"x")
    assert recalled.read(lamp).name.text == "lamp"
    assert made == [lamp, lamp]


def test_a_folder_that_is_gone_is_no_obstacle(lamp: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    here = Path.cwd()
    os.chdir(gone)
    try:
        gone.rmdir()
        assert recalled.read(lamp).name.text == "lamp"
    finally:
        os.chdir(here)
