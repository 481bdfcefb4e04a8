"""Lints on what is written for nothing: definitions nobody uses, fairness of faults."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

from checker.elaborate.world import World
from checker.source import Span
from checker.table.document import Cell, Definition, Procedure
from checker.table.state_table import StateTable


def warn_of_unused(world: World) -> None:
    """Report definitions and procedures that nothing uses (L421): nobody checks their types."""
    entries: dict[str, Definition | Procedure] = {**world.definitions, **world.procedures}
    used: set[str] = set()
    for cell in _cells(world.document):
        used |= _names(cell)
    for entry in entries.values():
        if entry.name.text not in used and world.document.is_own(entry.name.span):
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


def _cells(node: object) -> Iterator[Cell]:
    """Yield every cell with an expression or effects below a part of a document."""
    if isinstance(node, Cell):
        yield node
    elif isinstance(node, (StateTable, Span, ast.AST)):
        return
    elif is_dataclass(node):
        for item in fields(node):
            yield from _cells(getattr(node, item.name))
    elif isinstance(node, tuple | list):
        for part in node:
            yield from _cells(part)
    elif isinstance(node, Mapping):
        for part in node.values():
            yield from _cells(part)


def _names(cell: Cell) -> set[str]:
    return {node.id for node in cell.nodes() if isinstance(node, ast.Name)}
