"""The texts in a part of a document that count: what is written there but for prose and places."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import fields, is_dataclass

from checker.source import Span
from checker.table.document import Cell
from checker.table.state_table import StateTable

_PROSE = frozenset({"about", "source", "why"})


def written(part: object) -> tuple[str, ...]:
    """Return the texts of a part in their order, each with single blanks.

    They tell nothing of where the part stands, nor of what the names in it mean.
    """
    match part:
        case str():
            return (" ".join(part.split()),)
        case bool() | int():
            return (str(part),)
        case Cell():
            return (*written(part.text), *(edit[-1] for edit in part.edits))
        case Span() | StateTable() | ast.AST() | None:
            return ()
        case tuple() | list():
            return tuple(text for item in part for text in written(item))
        case Mapping():
            return tuple(text for entry in part.items() for text in written(entry))
    if not is_dataclass(part):
        return ()
    told = (field.name for field in fields(part) if field.name not in _PROSE)
    return tuple(text for name in told for text in written(getattr(part, name)))
