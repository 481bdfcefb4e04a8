"""Mutants of a shipped specification: one textual change each, run until something differs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from checker.flow import Request, Silent, check
from checker.library import shipped_folder
from checker.verdict.expectation import differences

FIGURES = re.compile(r"(, also: \[[^\]]*\])?(, length: \d+)?, distinct: \d+, depth: \d+")
"""What an instance declares beside its verdict: a mutant is caught by more than a number."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """`old` becomes `new`, and `instance` is one whose verdict is then another."""

    instance: str
    old: str
    new: str


def is_caught(system: Path, mutant: Mutant, folder: Path) -> bool:
    """Whether the mutated specification, written to `folder`, is not as its instance declares."""
    text = system.read_text()
    assert mutant.old in text
    (folder / "tables").symlink_to(shipped_folder() / "tables")
    changed = folder / "system.yaml"
    changed.write_text(FIGURES.sub("", text.replace(mutant.old, mutant.new, 1)))
    result = check(Request(str(changed), mutant.instance), Silent())
    return bool(differences(result.machine.expectation, result.verdict, result.exploration))
