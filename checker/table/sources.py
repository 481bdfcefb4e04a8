"""The files that a specification was read from, and a digest of all their texts."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass

from checker.source import Source, Span
from checker.table.document import Document

NAMES = "surrogatepass"
"""How names of files are encoded, which need not be UTF-8."""


def texts_of(document: Document) -> str:
    """Return a digest of every file that a specification is read from."""
    digest = hashlib.blake2b(digest_size=20)
    for source in sorted(_sources(document), key=lambda item: item.name):
        digest.update(f"{source.name}\0{len(source.text)}\0{source.text}".encode(errors=NAMES))
    return digest.hexdigest()


def _sources(document: Document) -> set[Source]:
    """Return the files that anything in a specification comes from."""
    found: dict[int, Source] = {}
    seen: set[int] = set()
    left: list[object] = [document]
    while left:
        value = left.pop()
        if isinstance(value, Span):
            found[id(value.source)] = value.source
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
