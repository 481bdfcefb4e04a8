"""Of edits of a text, what the specification is with each of them.

Reading a system takes longer than putting an edit into a machine. So edits of different entries
are read in one text, and told apart by the entries that are others then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path

from checker.errors import SpecificationError
from checker.mutation.edits import Edit, edited
from checker.mutation.merging import difference
from checker.table import Document, read

Edits = tuple[Edit, ...]
"""What is changed together."""


def versions(document: Document, changes: Mapping[str, Edits]) -> dict[str, Document]:
    """Return, by name, in what a system with these edits differs from the system.

    Without those that cannot be read, or cannot be chosen while a machine runs.
    """
    rounds: list[dict[str, Edits]] = []
    found: dict[str, Document] = {}
    for name, edits in changes.items():
        entries = {item.entry for item in edits}
        if "" in entries:  # of whichever entries, perhaps of those of others
            found |= _read(document, [(name, edits)])
            continue
        place = next((some for some in rounds if not entries & _entries(some.values())), None)
        if place is None:
            rounds.append(place := {})
        place[name] = edits
    for some in rounds:
        found |= _read(document, list(some.items()))
    return found


def _entries(changes: Iterable[Edits]) -> set[str]:
    return {item.entry for edits in changes for item in edits}


def _read(document: Document, changes: Sequence[tuple[str, Edits]]) -> dict[str, Document]:
    """Return what `versions` does, of edits of different entries."""
    found = _together(document, changes)
    if found is None and len(changes) > 1:
        half = len(changes) // 2
        return _read(document, changes[:half]) | _read(document, changes[half:])
    return found or {}


def _together(
    document: Document, changes: Sequence[tuple[str, Edits]]
) -> dict[str, Document] | None:
    """Return the versions that one text with all of these edits says; None where it does not."""
    texts = edited(document, [item for _, edits in changes for item in edits])
    try:
        changed = difference(document, read(Path(document.path), texts))
    except SpecificationError:
        return None
    if changed is None:
        return None
    if len(changes) == 1:
        return {changes[0][0]: changed}
    names = {item.name.text for item in changed.definitions}
    names |= {item.name.text for item in changed.procedures}
    names |= {item.name.text for item in changed.rows}
    if changed.initial or not names <= _entries(edits for _, edits in changes):
        return None
    return {name: _of(changed, _entries([edits])) for name, edits in changes}


def _of(changed: Document, entries: AbstractSet[str]) -> Document:
    """Return a difference in these entries alone."""
    return replace(
        changed,
        definitions=tuple(item for item in changed.definitions if item.name.text in entries),
        procedures=tuple(item for item in changed.procedures if item.name.text in entries),
        rows=tuple(item for item in changed.rows if item.name.text in entries),
    )
