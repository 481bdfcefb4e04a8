"""Words on disk that are used like words in memory.

Each array is a file without a name, mapped: the system keeps of it in memory what fits, and when
the process ends, however it ends, nothing of it is left. Blocks are reserved before they are
used, because writing to a mapped file on a full disk kills a process.
"""

from __future__ import annotations

import mmap
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from checker.kernel.calls import HaltedError
from checker.memory import share_of_space

SHARE = 0.9
"""The part of the free disk that a search may use."""

IN_MEMORY = 1 << 20
"""Bytes up to which an array is not worth a file."""

_ZEROS = bytes(1 << 20)


def heard(
    pieces: Iterable[NDArray[np.int64]], at_once: int, asked: Callable[[], bool]
) -> Iterator[NDArray[np.int64]]:
    """Give the rows of some arrays, so many at a time; HaltedError where it is `asked` to stop."""
    for piece in pieces:
        for first in range(0, len(piece), at_once):
            if asked():
                raise HaltedError("the queue was not moved to disk")
            yield piece[first : first + at_once]


class Disk:
    """The room in `directory`; every array that is made of it counts until it is dropped."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def free(self) -> int:
        """Return the bytes that may still be taken; 0 where the directory cannot be used."""
        try:
            return int(SHARE * shutil.disk_usage(self.directory).free)
        except OSError:
            return 0

    def share(self) -> int:
        """Return the bytes that one array that grows may take of what is free."""
        return min(self.free() // 2, share_of_space())

    def array(self, words: int) -> NDArray[np.int64] | None:
        """Return so many words, in memory where they are few; None where the disk is short."""
        if 8 * words <= IN_MEMORY:
            return np.zeros(words, np.int64)
        file = self.growing(8 * words)
        return file.words if file is not None and file.ensure(8 * words) else None

    def growing(self, most: int) -> DiskFile | None:
        """Return an array that can grow up to `most` bytes; None where the disk refuses it."""
        if most > self.free():
            return None
        try:
            return DiskFile(self.directory, most)
        except (OSError, ValueError):
            return None


class DiskFile:
    """A mapped file without a name: `words` are all it can hold, `ensure` says which are usable."""

    def __init__(self, directory: Path, most: int) -> None:
        # Closed at once: the mapping keeps a file open of its own.
        with tempfile.TemporaryFile(dir=directory) as file:
            os.ftruncate(file.fileno(), most)
            self._space = mmap.mmap(file.fileno(), most, flags=mmap.MAP_SHARED)
            self._descriptor = os.dup(file.fileno())
        whole = most - most % 8
        self.words: NDArray[np.int64] = np.frombuffer(self._space, np.int64, whole // 8)
        self.ensured = 0
        self.most = most

    def __del__(self) -> None:
        descriptor = getattr(self, "_descriptor", None)
        if descriptor is not None:
            os.close(descriptor)

    def ensure(self, size: int) -> bool:
        """Make the first `size` bytes usable; False where the disk has no room for them."""
        if size <= self.ensured:
            return True
        if size > self.most:
            return False
        try:
            self._allocate(self.ensured, size - self.ensured)
        except OSError:
            return False
        self.ensured = size
        return True

    def _allocate(self, start: int, size: int) -> None:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(self._descriptor, start, size)
            return
        for offset in range(start, start + size, len(_ZEROS)):
            piece = _ZEROS[: start + size - offset]
            os.pwrite(self._descriptor, piece, offset)

    def forget(self, size: int) -> None:
        """Let the system take the memory of the first `size` bytes; they stay in the file."""
        advice = getattr(mmap, "MADV_DONTNEED", None)
        whole = size // mmap.PAGESIZE * mmap.PAGESIZE
        if advice is not None and whole:
            self._space.madvise(advice, 0, whole)
