"""The specifications that come with the checker: where they are and how they are named."""

from __future__ import annotations

import difflib
import os
import re
from functools import cache
from pathlib import Path
from typing import Literal

from checker.errors import UsageError
from checker.frozen import frozen
from checker.links import real

Kind = Literal["system", "example", "table"]


@frozen()
class Shipped:
    """One shipped specification: the name users may write instead of a path."""

    name: str
    kind: Kind
    path: Path


def shipped_folder() -> Path:
    """Return the folder of shipped specifications: the wheel's, or the source checkout's."""
    return _folder("spec", "spec")


def installed() -> bool:
    """Tell whether the checker is an installed package, with all that is shipped inside of it."""
    return _packed().is_dir()


def refuse_to_change(path: Path) -> None:
    """Raise UsageError where a file to be written is a part of the installed checker."""
    if installed() and real(path).is_relative_to(_packed()):
        raise UsageError(
            f"{path} is a part of the installed checker, which the next installation replaces: "
            f"copy the folder {path.parent}, and name the copy"
        )


def shipped() -> tuple[Shipped, ...]:
    """Return systems, examples and tables, each kind sorted by name; missing folders are empty."""
    root = shipped_folder()
    return (
        *_systems(root / "systems", "system"),
        *_systems(root / "examples", "example"),
        *(Shipped(path.stem, "table", path) for path in sorted((root / "tables").glob("*.yaml"))),
    )


def find(name_or_path: str) -> Path:
    """Return the file that a user means by a file, a folder with system.yaml, or a shipped name.

    Raises UsageError, which suggests the nearest name.
    """
    path = Path(name_or_path)
    try:
        if path.is_file():
            return path
        if (path / "system.yaml").is_file():
            return path / "system.yaml"
        folder = path.is_dir()
    except (OSError, ValueError) as failure:
        raise UsageError(f"{name_or_path!r} is no path: {failure}") from failure
    known = {entry.name: entry.path for entry in reversed(shipped()) if entry.kind != "table"}
    if name_or_path in known:
        return known[name_or_path]
    if folder:
        raise UsageError(f"the folder {name_or_path or '.'} holds no system.yaml")
    if path.suffix in {".yaml", ".yml"} or path.name != name_or_path:
        what = "is no ordinary file" if os.path.lexists(path) else "does not exist"
        raise UsageError(f"the file {name_or_path} {what}")
    near = difflib.get_close_matches(name_or_path, known, n=3, cutoff=0.6)
    if near:
        advice = f"did you mean {' or '.join(near)}?"
    elif known:
        advice = f"the shipped ones are {', '.join(sorted(known))}"
    else:
        advice = "name a file, or a folder that holds system.yaml"
    raise UsageError(f"there is no specification {name_or_path!r}; {advice}")


def place_of(path: Path) -> Path:
    """Return where a specification's file is, whatever way leads to its folder.

    The file itself may be a link to another's: its parts are looked for in the folder of the link,
    so that it is another specification.
    """
    return real(path.absolute().parent) / path.name


def name_of(path: Path) -> str:
    """Return what the specification in a file is called while it cannot be read."""
    return place_of(path).parent.name if path.name == "system.yaml" else path.stem


def explanation(code: str) -> str | None:
    """Return the page (Markdown) that explains a diagnostic's code, or None where there is none."""
    if re.fullmatch(r"[A-Z][0-9]{3}", code) is None:
        return None
    page = _folder("errors", "docs/errors") / f"{code}.md"
    return page.read_text(encoding="utf-8") if page.is_file() else None


def _systems(folder: Path, kind: Kind) -> tuple[Shipped, ...]:
    """Return the systems of a folder: NAME/system.yaml or NAME.yaml."""
    found = {path.stem: path for path in folder.glob("*.yaml")}
    found |= {path.parent.name: path for path in folder.glob("*/system.yaml")}
    return tuple(Shipped(name, kind, path) for name, path in sorted(found.items()))


def _packed() -> Path:
    """Return the folder of a wheel that holds what is shipped; in a checkout there is none."""
    return Path(__file__).resolve().parent / "shipped"


@cache
def _folder(shipped_as: str, source_at: str) -> Path:
    """Return a folder of the wheel or, in a checkout, of the project."""
    packed = _packed() / shipped_as
    return packed if packed.is_dir() else _packed().parents[1] / source_at
