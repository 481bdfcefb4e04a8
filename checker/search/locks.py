"""Locks on files and folders, of which the system takes care: who dies gives them back."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from checker.errors import UsageError
from checker.links import real


def locked(path: Path, flags: int, kind: int) -> int:
    """Return the descriptor of a lock; BlockingIOError where another process has it, or OSError.

    `flags` are those to open the file, or folder, with; `kind` is LOCK_EX or LOCK_SH. Who closes
    it, or dies however it dies, gives the lock back.
    """
    descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


@contextmanager
def holding(path: Path, flags: int, kind: int, error: UsageError) -> Iterator[bool]:
    """Hold a lock if there is such a file or folder, and its file system has locks; say whether.

    `error` is raised where another process, or another search of this one, holds it.
    """
    descriptor = None
    try:
        descriptor = locked(path, flags, kind)
    except BlockingIOError:
        raise error from None
    except OSError:
        pass
    try:
        yield descriptor is not None
    finally:
        if descriptor is not None:
            os.close(descriptor)


def alone(folder: Path, more: str) -> AbstractContextManager[bool]:
    """Hold a folder alone, if it can be held; say whether. UsageError where another does.

    `more`: what helps then.
    """
    flags = os.O_RDONLY | os.O_DIRECTORY
    return holding(real(folder), flags, fcntl.LOCK_EX, in_use(folder, more))


def in_use(directory: Path, more: str) -> UsageError:
    """Return the error of a directory that another process holds; `more`: what helps."""
    return UsageError(f"{directory} is in use by another checker: {more}")
