"""The files that a specification was read from, and a digest of all their texts."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path

from checker.source import Source, Span
from checker.table.document import Document

NAMES = "surrogatepass"
"""How names of files are encoded, which need not be UTF-8."""


def texts_of(document: Document) -> str:
    """Return a digest of every file that a specification is read from.

    Files are named from the specification's folder, so the digest is the same wherever the checker
    is started and wherever the specification lies.
    """
    folder = Path(document.path).parent
    return _digest(document, lambda name: os.path.relpath(name, folder))


def texts_as_shown(document: Document) -> str:
    """Return the same with files named as they are shown, which depends on where one stands."""
    return _digest(document, str)


def _digest(document: Document, name_of: Callable[[str], str]) -> str:
    digest = hashlib.blake2b(digest_size=20)
    named = {name_of(source.name): source.text for source in _sources(document)}
    for name, text in sorted(named.items()):
        digest.update(f"{name}\0{len(text)}\0{text}".encode(errors=NAMES))
    return digest.hexdigest()


def _sources(document: Document) -> set[Source]:
    """Return the files that a specification lists, and those that anything in it comes from.

    Of one that holds nothing but prose nothing has a place.
    """
    found: dict[int, Source] = {}
    seen: set[int] = set()
    left: list[object] = [document]
    while left:
        value = left.pop()
        if isinstance(value, Span):
            found[id(value.source)] = value.source
        elif isinstance(value, Source):
            found[id(value)] = value
        elif isinstance(value, tuple | list):
            left += value
        elif isinstance(value, Mapping):
            left += value.values()
        elif id(value) not in seen:
            seen.add(id(value))
            left += [getattr(value, name) for name in _fields(type(value))]
    return set(found.values())


_FIELDS: dict[type, tuple[str, ...]] = {}


def _fields(kind: type) -> tuple[str, ...]:
    if kind not in _FIELDS:
        _FIELDS[kind] = tuple(it.name for it in fields(kind)) if is_dataclass(kind) else ()
    return _FIELDS[kind]
