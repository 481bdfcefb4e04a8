"""Of mistakes that are edits of a text, what the specification is with each of them.

Reading a system takes longer than putting an edit into a machine. So edits of different entries
are read in one text, and told apart by the entries that are others then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from checker.errors import SpecificationError
from checker.mutation.edits import Edit, edited
from checker.mutation.merging import difference
from checker.mutation.mistakes import Mistake
from checker.table import Document, read

Edits = Sequence[tuple[str, Edit]]
"""Edits with the properties that they are to break."""


def versions(document: Document, mistakes: Sequence[Mistake]) -> dict[str, Document]:
    """Return, by property, in what a system with an edit differs from the system.

    Without those that cannot be read, or cannot be chosen while a machine runs.
    """
    rounds: list[dict[str, tuple[str, Edit]]] = []
    found: dict[str, Document] = {}
    for item in mistakes:
        if item.edit is None:
            continue
        one = item.property.text, item.edit
        if not item.edit.entry:  # of whichever entries, perhaps of those of others
            found |= _read(document, [one])
            continue
        place = next((some for some in rounds if item.edit.entry not in some), None)
        if place is None:
            rounds.append(place := {})
        place[item.edit.entry] = one
    for some in rounds:
        found |= _read(document, list(some.values()))
    return found


def _read(document: Document, edits: Edits) -> dict[str, Document]:
    """Return what `versions` does, of edits of different entries."""
    found = _together(document, edits)
    if found is None and len(edits) > 1:
        half = len(edits) // 2
        return _read(document, edits[:half]) | _read(document, edits[half:])
    return found or {}


def _together(document: Document, edits: Edits) -> dict[str, Document] | None:
    """Return the versions that one text with all of these edits says; None where it does not."""
    texts = edited(document, [item for _, item in edits])
    try:
        changed = difference(document, read(Path(document.path), texts))
    except SpecificationError:
        return None
    if changed is None:
        return None
    if len(edits) == 1:
        return {edits[0][0]: changed}
    names = {item.name.text for item in changed.definitions}
    names |= {item.name.text for item in changed.procedures}
    names |= {item.name.text for item in changed.rows}
    if changed.initial or not names <= {item.entry for _, item in edits}:
        return None
    return {name: _of(changed, item.entry) for name, item in edits}


def _of(changed: Document, entry: str) -> Document:
    """Return a difference in one entry alone."""
    return replace(
        changed,
        definitions=tuple(item for item in changed.definitions if item.name.text == entry),
        procedures=tuple(item for item in changed.procedures if item.name.text == entry),
        rows=tuple(item for item in changed.rows if item.name.text == entry),
    )
