"""Mutants of a shipped specification: one textual change each, run until something differs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from checker.flow import Request, Silent, check
from checker.library import shipped_folder
from checker.table import read
from checker.verdict.expectation import differences

BEGINNING = "#### "
"""What the name of each file stands behind where the texts of a system are one."""

ALSO = re.compile(r", also: \[[^\]]*\]")
"""What else an instance lets break: of a mutant it must not."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """`old` becomes `new`, and `instance` is one whose verdict is then another."""

    instance: str
    old: str
    new: str


def text_of(system: Path) -> str:
    """Return the texts of all files of a system one after the other, each below its name."""
    names = ("system.yaml", *(file.name for file in read(system).files[1:]))
    return "".join(f"{BEGINNING}{name}\n{(system.parent / name).read_text()}" for name in names)


def write(text: str, folder: Path) -> Path:
    """Write the files of `text` to `folder`, beside the shipped tables; return the first."""
    (folder / "tables").symlink_to(shipped_folder() / "tables")
    for file in text.split(BEGINNING)[1:]:
        name, _, content = file.partition("\n")
        (folder / name).write_text(content)
    return folder / "system.yaml"


def is_caught(system: Path, mutant: Mutant, folder: Path) -> bool:
    """Whether the verdict of the mutated specification, written to `folder`, is another one.

    Figures that differ, too, catch no mutant: nobody can read what they say.
    """
    text = text_of(system)
    assert mutant.old in text
    changed = write(ALSO.sub("", text.replace(mutant.old, mutant.new, 1)), folder)
    result = check(Request(str(changed), mutant.instance), Silent())
    found = differences(result.machine.expectation, result.verdict, result.exploration)
    return any(item.what in {"verdict", "property"} for item in found)
