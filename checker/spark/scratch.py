"""Where the workers of a host keep files that they share: in memory if there is room, or on disk.

    FOLDER/checker-RUN/                  one search on this host
    FOLDER/checker-RUN/alive-PID-START   an executor that uses it, and when that was started
    FOLDER/checker-RUN/NAME              a file, or a link to one below Spark's local directories

FOLDER is in memory (/dev/shm). Files are made under another name and renamed when they are whole.
Nothing here is durable: whoever misses a file makes it again from the stored levels.
"""

from __future__ import annotations

import errno
import fcntl
import functools
import mmap
import os
import shutil
import socket
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from checker.frozen import frozen
from checker.memory import available

PREFIX = "checker-"
_ALIVE = "alive-"
_MEMORY = Path("/dev/shm")  # noqa: S108 (a folder of our own in it, of which the owner is checked)
_SHARE = 0.5
"""The part of the memory left that one new file may take where no limit is given."""


@frozen()
class Place:
    """Which files: those of search `run`, below `folder` (None: /dev/shm).

    `limit` is how many bytes of memory they may take on a host; None leaves it to what is free.
    """

    run: str
    folder: str | None = None
    limit: int | None = None


class PlaceError(Exception):
    """No files can be kept on this host in the folder that was named, or was taken."""


class Scratch:
    """The files of one search on this host; PlaceError where there can be none."""

    def __init__(self, place: Place) -> None:
        self.limit = place.limit
        above = _above(place.folder)
        self.folder = above / f"{PREFIX}{place.run}"
        with _told_of(above):
            if not self.folder.is_dir():
                remove_stale(above)
                above.mkdir(parents=True, exist_ok=True)
                self.folder.mkdir(mode=0o700, exist_ok=True)
            if self.folder.stat().st_uid != os.geteuid():
                raise PermissionError(errno.EPERM, "belongs to somebody else", str(self.folder))
            (self.folder / _mark_of(_executor())).touch()

    def path(self, name: str) -> Path:
        """Return where the file of a name is, or would be."""
        return self.folder / name

    @contextmanager
    def locked(self, name: str, *, alone: bool) -> Iterator[None]:
        """Hold a lock, alone or together with others; who dies gives it back."""
        with (self.folder / f"{name}.lock").open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
            yield

    def used(self) -> int:
        """Return the bytes of memory that all files take."""
        total = 0
        for file in self.folder.iterdir():
            with suppress(OSError):
                total += 512 * file.lstat().st_blocks
        return total

    def create(self, name: str, size: int) -> tuple[Path, NDArray[np.int64]]:
        """Return a new file of `size` zeroed bytes, and its words; `keep` gives it its name.

        OSError where neither memory nor disk has room.
        """
        own = self.folder / f"{name}.{uuid.uuid4().hex[:12]}.tmp"
        with self.locked("memory", alone=True):  # two that fit may not fit together
            if self._fits(size):
                with suppress(OSError):
                    return own, _allocated(own, size)
                own.unlink(missing_ok=True)
        folder = Path(os.environ.get("SPARK_LOCAL_DIRS", tempfile.gettempdir()).split(",")[0])
        beside = folder / self.folder.name
        beside.mkdir(mode=0o700, parents=True, exist_ok=True)
        target = beside / own.name
        try:
            words = _allocated(target, size)
        except OSError:
            target.unlink(missing_ok=True)
            raise
        own.symlink_to(target)
        return own, words

    def keep(self, own: Path, name: str) -> None:
        """Give a file that `create` made its name; one that had it is removed."""
        path = self.path(name)
        before = path.readlink() if path.is_symlink() else None
        own.replace(path)
        if before is not None:
            before.unlink(missing_ok=True)

    def forget(self, path: Path) -> None:
        """Remove a file, also from the disk."""
        if path.is_symlink():
            path.readlink().unlink(missing_ok=True)
        path.unlink(missing_ok=True)

    def on_disk(self, name: str) -> bool:
        """Return whether a file had no room in memory."""
        return self.path(name).is_symlink()

    def _fits(self, size: int) -> bool:
        room = os.statvfs(self.folder)
        if size > room.f_bavail * room.f_frsize:
            return False
        if self.limit is not None:
            return self.used() + size <= self.limit
        return size <= _SHARE * available()


def mapped(path: Path) -> NDArray[np.int64]:
    """Return the words of a file, shared with all who map it. OSError or ValueError: none."""
    with path.open("r+b") as file:
        return np.frombuffer(mmap.mmap(file.fileno(), 0), np.int64)


def _allocated(path: Path, size: int) -> NDArray[np.int64]:
    """Make a file whose bytes are really there: a mapped hole that cannot be filled kills."""
    with path.open("w+b") as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
        else:
            file.truncate(size)
        return np.frombuffer(mmap.mmap(file.fileno(), size), np.int64)


def require(folder: str | None) -> None:
    """Raise PlaceError where searches on this host cannot keep files below a folder."""
    above = _above(folder)
    with _told_of(above):
        above.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=above):
            pass


@contextmanager
def _told_of(above: Path) -> Iterator[None]:
    """Say of what fails which folder it is, where, and who names another one."""
    try:
        yield
    except OSError as error:
        raise PlaceError(
            f"{above} on {socket.gethostname()}: no files can be kept here: {error.strerror}; "
            "--conf spark.checker.tables=PATH names another directory"
        ) from None


def _above(folder: str | None) -> Path:
    if folder is not None:
        return Path(folder)
    return _MEMORY if os.access(_MEMORY, os.W_OK) else Path(tempfile.gettempdir())


# ------------------------------------------------------------------------------------- removing


def remove(place: Place) -> None:
    """Remove the files of a search from this host."""
    _remove(_above(place.folder) / f"{PREFIX}{place.run}")


def remove_stale(above: Path) -> None:
    """Remove our files of searches none of whose executors on this host lives."""
    for folder in above.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if folder.stat().st_uid != os.geteuid():
                continue
            marks = [mark.name for mark in folder.glob(f"{_ALIVE}*")]
            if marks and not any(mark == _mark_of(_process_of(mark)) for mark in marks):
                _remove(folder)


def _remove(folder: Path) -> None:
    beside = set()
    for file in folder.glob("*"):
        with suppress(OSError):
            beside.add(file.readlink().parent)
    for found in (*beside, folder):
        shutil.rmtree(found, ignore_errors=True)


def _process_of(mark: str) -> int:
    return int(mark.split("-")[1])


def _mark_of(process: int) -> str:
    return f"{_ALIVE}{process}-{_status(process)[1]}"


def _status(process: int) -> tuple[int, str]:
    """Return the parent of a process and when it started; (0, "0") where it does not run."""
    try:
        text = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return 0, "0"
    # pid (name) state parent ...; a name may hold blanks and brackets
    fields = text.rpartition(")")[2].split()
    return (0, "0") if fields[0] == "Z" else (int(fields[1]), fields[19])


@functools.cache
def _executor() -> int:
    """Return the Java process that this one works for; this one where there is none."""
    process = os.getpid()
    while process > 1:
        with suppress(OSError):
            if Path(f"/proc/{process}/comm").read_text().strip() == "java":
                return process
        process = _status(process)[0]
    return os.getpid()
