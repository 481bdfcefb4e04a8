"""Goal: what users write for a specification is found, and what is not found is explained."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from checker import library
from checker.errors import UsageError
from checker.library import Shipped, explanation, find, shipped


@pytest.fixture
def packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A library as a wheel holds it, in the place of the source checkout's."""
    root = tmp_path / "package" / "shipped"
    for name in (
        "spec/systems/house",
        "spec/systems/empty",
        "spec/examples/clock",
        "spec/tables",
        "errors",
    ):
        (root / name).mkdir(parents=True)
    for name in (
        "systems/house/system.yaml",
        "examples/clock/system.yaml",
        "examples/counter.yaml",
        "tables/lamp.yaml",
    ):
        (root / "spec" / name).write_text("")
    (root / "errors" / "T100.md").write_text("# T100\n")
    monkeypatch.setattr(library, "__file__", str(tmp_path / "package" / "library.py"))
    library._folder.cache_clear()
    monkeypatch.chdir(tmp_path)
    yield root
    library._folder.cache_clear()


def test_a_checkout_has_its_tables() -> None:
    assert (
        Shipped("group", "table", library.shipped_folder() / "tables" / "group.yaml") in shipped()
    )


def test_a_wheel_ships_specifications_and_pages(packed: Path) -> None:
    assert [(entry.name, entry.kind) for entry in shipped()] == [
        ("house", "system"),
        ("clock", "example"),
        ("counter", "example"),
        ("lamp", "table"),
    ]
    assert all(entry.path.is_relative_to(packed.resolve()) for entry in shipped())
    assert explanation("T100") == "# T100\n"


def test_what_is_installed_is_not_changed(packed: Path, tmp_path: Path) -> None:
    assert library.installed()
    folder = packed / "spec" / "systems" / "house"
    for path in (folder / "system.yaml", folder / "README.md"):
        with pytest.raises(UsageError, match=r"is a part of the installed checker.* copy the fold"):
            library.refuse_to_change(path)
    (tmp_path / "mine").symlink_to(folder)
    with pytest.raises(UsageError):
        library.refuse_to_change(tmp_path / "mine" / "system.yaml")
    library.refuse_to_change(tmp_path / "system.yaml")


def test_what_is_in_a_checkout_may_be_changed() -> None:
    assert not library.installed()
    library.refuse_to_change(library.shipped_folder() / "tables" / "group.yaml")


def test_specifications_are_found(packed: Path, tmp_path: Path) -> None:
    assert find("house").name == "system.yaml"
    assert find("counter").name == "counter.yaml"
    folder = packed / "spec" / "systems" / "house"
    assert find(str(folder)) == folder / "system.yaml"
    assert find(str(folder / "system.yaml")) == folder / "system.yaml"
    (tmp_path / "house").write_text("a file of the user comes before a shipped name")
    assert find("house") == Path("house")


@pytest.mark.usefixtures("packed")
def test_a_folder_without_a_system_does_not_hide_a_shipped_name(tmp_path: Path) -> None:
    (tmp_path / "house").mkdir()
    assert find("house").name == "system.yaml"


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("hause", "did you mean house?"),
        ("zzzzzz", "the shipped ones are clock, counter, house"),
        ("lamp", "there is no specification"),
        ("package", "holds no system.yaml"),
        ("a\0b", "there is no specification"),
        ("x" * 5000, "is no path"),
        ("", "the folder . holds no system.yaml"),
        ("hause.yaml", "the file hause.yaml does not exist"),
        ("specs/house", "the file specs/house does not exist"),
        ("/dev/null", "the file /dev/null is no ordinary file"),
    ],
)
@pytest.mark.usefixtures("packed")
def test_what_is_not_found_is_explained(name: str, advice: str) -> None:
    with pytest.raises(UsageError) as raised:
        find(name)
    assert advice in str(raised.value)


@pytest.mark.parametrize("code", ["T999", "../T100", "T100.md", "t100", "", "T1\n"])
@pytest.mark.usefixtures("packed")
def test_unknown_codes_have_no_page(code: str) -> None:
    assert explanation(code) is None
