"""Instances of shipped systems as `checker verify` finds them, each searched once.

What the gate of CI has verified with this checker is remembered, and is not searched again here.
"""

from __future__ import annotations

from functools import cache

from checker.cli.gate import Outcome, Task, tasks_of, verify
from checker.cli.remembered import recall, remember
from checker.library import find, shipped
from checker.memory import default_limit
from checker.mutation.mistakes import Mistake, declared_mistakes
from checker.table import read
from checker.table.document import Document

SYSTEMS = sorted(entry.name for entry in shipped() if entry.kind == "system")


@cache
def document(system: str) -> Document:
    """Return a shipped system as it is written."""
    return read(find(system))


@cache
def mistakes_of(system: str) -> tuple[Mistake, ...]:
    """Return the mistakes that a system declares."""
    return declared_mistakes(document(system))


def quick(system: str) -> list[str]:
    """Return the instances of tier quick."""
    return [task.instance for task in tasks_of(document(system)) if task.tier == "quick"]


@cache
def outcome(system: str, instance: str) -> Outcome:
    """Return what became of an instance."""
    task: Task = next(item for item in tasks_of(document(system)) if item.instance == instance)
    found = recall(task)
    if found is None:
        found = verify(task, default_limit())
        remember(found)
    return found
