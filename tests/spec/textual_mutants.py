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

FIGURES = re.compile(r"(, also: \[[^\]]*\])?(, length: \d+)?, distinct: \d+, depth: \d+")
"""What an instance declares beside its verdict: a mutant is caught by more than a number."""


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
    """Whether the mutated specification, written to `folder`, is not as its instance declares."""
    text = text_of(system)
    assert mutant.old in text
    changed = write(FIGURES.sub("", text.replace(mutant.old, mutant.new, 1)), folder)
    result = check(Request(str(changed), mutant.instance), Silent())
    return bool(differences(result.machine.expectation, result.verdict, result.exploration))
