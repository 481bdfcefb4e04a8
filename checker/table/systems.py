"""Finds the systems that a system names, to use or to refine them; never outside where it may."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from checker.library import shipped_folder
from checker.source import Source
from checker.table.document import Word
from checker.table.finding import shown_path
from checker.table.looks import is_file, lies_inside, real
from checker.table.nodes import shorten
from checker.table.problems import Problems, nearest
from checker.table.text import read_text

USES_MAX = 20
"""Systems that a system may use, those that they use included."""


@dataclass(slots=True)
class Trail:
    """The way from the system that a user named to one that is read because of it.

    `folders` are where that first system may look: whatever those on the way name lies there, or
    is shipped. `count` counts the systems that were used on all ways. `edited` are files that are
    read as if they held another text.
    """

    folders: tuple[Path, ...]
    files: tuple[Path, ...]
    count: list[int] = field(default_factory=lambda: [0])
    edited: Mapping[Path, str] = field(default_factory=dict)

    @classmethod
    def beginning(cls, system: Path, edited: Mapping[Path, str]) -> Trail:
        """Return the trail of a system that the user named."""
        texts = {real(path): text for path, text in edited.items()}
        return cls(_reach(system), (real(system),), edited=texts)

    def to(self, system: Path) -> Trail:
        """Return the trail that goes on to another system."""
        return Trail(self.folders, (*self.files, real(system)), self.count, self.edited)

    def source(self, path: Path) -> Source:
        """Return the text of a file; see `read_text` for what it raises."""
        return read_text(path, self.edited.get(real(path)))

    def holds(self, system: Path) -> bool:
        """Return whether a system lies on the way, and so would use itself."""
        return real(system) in self.files


def find_system(
    word: Word, system: Path, trail: Trail, problems: Problems, purpose: str
) -> Path | None:
    """Return the file of the system that a word in `system` names, or None after reporting (T144).

    A name means a system in the folder of this one, beside it, or among the shipped ones. A path
    is relative to this folder and leads no further than beside it.
    """
    home = system.absolute().parent
    shipped = (shipped_folder() / "systems", shipped_folder() / "examples")
    if word.text.isidentifier():
        folders = (*_reach(system), *shipped)
        places = [path for folder in folders for path in _called(folder, word.text)]
    else:
        path = home / word.text
        plain = not Path(word.text).is_absolute() and "\\" not in word.text
        folders = _reach(system) if plain else ()
        places = [path, path / "system.yaml"]
    for path in places:
        allowed = lies_inside(path, folders) and lies_inside(path, (*trail.folders, *shipped))
        if allowed and is_file(path):
            return shown_path(path)
    near = nearest(word.text, _names(system, (*_reach(system), *shipped)))
    problems.add(
        "T144",
        f"there is no system `{shorten(word.text)}` to {purpose}",
        word.span,
        expected="a system in this folder, in a folder beside it, or a shipped one",
        help=f"did you mean `{near}`?" if near else "write its name, or a relative path to it",
    )
    return None


def _reach(system: Path) -> tuple[Path, ...]:
    """Return the folders in which a system may name others: its own, and the one around it."""
    home = system.absolute().parent
    return (home, home.parent) if system.name == "system.yaml" else (home,)


def _called(folder: Path, name: str) -> tuple[Path, Path]:
    return folder / f"{name}.yaml", folder / name / "system.yaml"


def _names(system: Path, folders: tuple[Path, ...]) -> set[str]:
    beside = {path.stem for path in system.absolute().parent.glob("*.yaml")} - {system.stem}
    return beside | {path.parent.name for one in folders for path in one.glob("*/system.yaml")}
