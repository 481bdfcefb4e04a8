"""The first arrow of the flow, taken before: documents kept between runs.

With each are kept the questions that reading it asked of the file system. A document is taken from
the cache where all of them have the answers that they had, so that it is what reading would make.
What has errors is not kept.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Mapping
from copyreg import dispatch_table
from functools import cache, lru_cache
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import Any

from checker.cache import Cache, code_of
from checker.errors import UsageError
from checker.library import find, shipped_folder
from checker.table import looks
from checker.table.document import Document
from checker.table.parsed import parser
from checker.table.sources import NAMES, texts_of

DOCUMENTS = Cache("documents", 64 << 20)
"""Documents, each behind the questions that it depends on."""


def read(path: Path, edited: Mapping[Path, str] | None = None) -> Document:
    """Return what `reading.read` makes of a system, made before or now."""
    key = None if edited else _key(path)
    blob = None if key is None else DOCUMENTS.get(key)
    known = None if blob is None else _taken(blob)
    if known is not None:
        return known
    from checker.table import reading  # noqa: PLC0415 (not needed for what was read before)

    if key is None:
        return reading.read(path, edited)
    with looks.noting() as noted:
        document = reading.read(path)
    _keep(key, noted, document)
    return document


@lru_cache(maxsize=64)
def read_same(path: str, texts: str) -> Document:
    """Return a system that another process has read: `texts` is what `texts_of` said of it there.

    It is read once a process. UsageError where its files were changed since: what is found would
    be of another text than that under whose name it is told and kept.
    """
    document = read(find(path))
    if texts_of(document) != texts:
        raise UsageError(f"{path} was changed while it was being checked; check it again")
    return document


def _taken(blob: bytes) -> Document | None:
    """Return a document from the cache; None where something that it depends on has changed."""
    stream = BytesIO(blob)
    noted = pickle.load(stream)  # noqa: S301 (signed by this user, as code in the cache)
    if not looks.same(noted):
        return None
    document: Document = pickle.load(stream)  # noqa: S301
    return document


def _keep(key: str, noted: Mapping[looks.Question, str], document: Document) -> None:
    stream = BytesIO()
    pickle.dump(dict(noted), stream, pickle.HIGHEST_PROTOCOL)
    pickler = pickle.Pickler(stream, pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = dispatch_table | {MappingProxyType: _plain}
    try:
        pickler.dump(document)
    except RecursionError:
        return  # cells as deep as a text can be
    DOCUMENTS.put(key, stream.getvalue())


def _plain(mapping: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    return _proxy, (dict(mapping),)


def _proxy(content: dict[Any, Any]) -> Mapping[Any, Any]:
    return MappingProxyType(content)


def _key(path: Path) -> str | None:
    try:
        here = Path.cwd()
    except OSError:
        return None  # the folder is gone
    # As shown, and from where: a document says in which files its parts stand.
    asked = f"{path}\0{here}\0{shipped_folder()}"
    return hashlib.blake2b(asked.encode(errors=NAMES), key=_reader(), digest_size=20).hexdigest()


@cache
def _reader() -> bytes:
    """Return a digest of what decides, the parser included, what document a file becomes."""
    return hashlib.blake2b(code_of(".", "table") + parser(), digest_size=32).digest()
