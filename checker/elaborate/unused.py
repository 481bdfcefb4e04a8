"""Lints on what is written for nothing: definitions nobody uses, fairness of faults."""

from __future__ import annotations

from checker.elaborate.world import World
from checker.table.document import Definition, Procedure


def warn_of_unused(world: World) -> None:
    """Report definitions and procedures that nothing uses (L421): nobody checks their types."""
    entries: dict[str, Definition | Procedure] = {**world.definitions, **world.procedures}
    for entry in entries.values():
        if entry.name.text not in world.document.names and world.document.is_own(entry.name.span):
            world.warn(
                "L421",
                f"`{entry.name.text}` is never used, so its body was not checked",
                entry.name.span,
                "use it or remove it",
            )


def warn_of_fair_faults(world: World) -> None:
    """Report `fair:` at rows with a fault, which are never fair (L460)."""
    for row in world.document.rows:
        if row.fault is not None and row.fair is not None:
            span = row.fair.span
            world.warn(
                "L460",
                f"`{row.name.text}` is a fault, and faults are never fair",
                span,
                "remove `fair:`; nothing may rely on a fault to happen",
            )
