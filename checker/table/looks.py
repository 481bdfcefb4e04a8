"""What reading asks of the file system, noted so that the same can be asked again.

A specification is what its files say and which files there are: a table that nobody has written
yet is one of the answers. So every question on the way goes through here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from stat import S_ISDIR

from checker.errors import UsageError
from checker.source import SIZE_MAX

Question = tuple[str, str]
"""What is asked (a key of `_ANSWERS`), and of which path."""

_noted: ContextVar[dict[Question, str] | None] = ContextVar("noted", default=None)


@contextmanager
def noting() -> Iterator[dict[Question, str]]:
    """Note the questions that are asked in here, each with its first answer."""
    found: dict[Question, str] = {}
    token = _noted.set(found)
    try:
        yield found
    finally:
        _noted.reset(token)


def same(noted: Mapping[Question, str]) -> bool:
    """Whether every question has the answer that it had."""
    return all(_ANSWERS[kind](Path(path)) == answer for (kind, path), answer in noted.items())


def is_file(path: Path) -> bool:
    """Return whether a file is there; a name too long for the system, or forbidden, names none."""
    return bool(_asked("file", path))


def lies_inside(path: Path, folders: Iterable[Path]) -> bool:
    """Return whether the file itself, symbolic links followed, lies below one of `folders`."""
    place = _asked("real", path)
    homes = (_asked("real", folder) for folder in folders) if place else ()
    return any(home and Path(place).is_relative_to(home) for home in homes)


def real(path: Path) -> Path:
    """Return where a file really is; that of a name which can name none is itself."""
    return Path(_asked("real", path) or path)


def text_of(path: Path, most: int = SIZE_MAX) -> str:
    """Return the text of a file that is no part of a specification; UsageError for none in UTF-8.

    Also where it is no file, for a device or a pipe may never end, or has more than `most` bytes.
    """
    if not path.is_file():
        raise UsageError(f"{path} is no file")
    data = content(path, most)
    if len(data) > most:
        raise UsageError(f"{path} is larger than {most >> 20} MiB")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is no text in UTF-8: {error}") from error


def content(path: Path, most: int = SIZE_MAX) -> bytes:
    """Return what a file holds, of a large one a byte more than `most`; OSError, ValueError."""
    with path.open("rb") as stream:
        data = stream.read(most + 1)
    noted = _noted.get()
    if noted is not None:
        noted.setdefault(("content", str(path)), _digest(data))
    return data


def _asked(kind: str, path: Path) -> str:
    """Return the answer to a question; while they are noted each is asked once."""
    noted = _noted.get()
    if noted is None:
        return _ANSWERS[kind](path)
    question = kind, str(path)
    if question not in noted:
        noted[question] = _ANSWERS[kind](path)
    return noted[question]


def _is_file(path: Path) -> str:
    try:
        return "yes" if path.is_file() else ""
    except (OSError, ValueError):
        return ""


def _real(path: Path) -> str:
    try:
        return str(path.resolve())
    except (OSError, RuntimeError, ValueError):
        return ""


def _content(path: Path) -> str:
    try:
        return _digest(content(path)) if path.is_file() else ""
    except (OSError, ValueError):
        return ""


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=20).hexdigest()


_ANSWERS = {"file": _is_file, "real": _real, "content": _content}


def instead_of_file(path: Path) -> str | None:
    """Return what is there where no file is; None where nothing is."""
    try:
        kind = path.stat().st_mode
    except (OSError, ValueError):
        return None
    return "a folder" if S_ISDIR(kind) else "a pipe or a device"
