"""Checkpoints: a search between two levels, in a directory, and back.

A directory holds `manifest.json` and files of packed states, little-endian words, in the order of
the queue. Each checkpoint adds one file, with the levels found since the one before, and then
replaces the manifest in one step: whatever happens, the directory holds a whole checkpoint, the
new one or the one before. Manifest and files are checksummed; nothing of them is trusted.
The file `lock` says nothing: who writes in the directory, or goes on from it, holds a lock on it.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict
from io import BufferedReader
from pathlib import Path
from typing import Any, get_args

import numpy as np

from checker.errors import CheckerError, UsageError, failure_of
from checker.frozen import frozen
from checker.kernel.kernel import Words
from checker.links import real
from checker.search.aims import Aim
from checker.search.finding import FindingKind
from checker.search.identity import difference
from checker.search.locks import holding, in_use, locked
from checker.search.snapshot import Counters, Snapshot

FORMAT = 1
MANIFEST = "manifest.json"
LOCK = "lock"

_PART = re.compile(r"states-\d{6,}\.bin")
_CHUNK = 1 << 24
_WORD = np.dtype("<i8")

States = Callable[[int, int], Words]
"""The states number start to end of a queue, one a row."""
Pieces = Callable[[int, int], Iterable[Words]]
"""The same, piece by piece."""


@frozen()
class Part:
    """One file of states: its name, how many states it holds, the digest of its bytes."""

    file: str
    states: int
    sha256: str


@frozen()
class Saved:
    """A checkpoint as its manifest describes it; the states stay in their files."""

    directory: Path
    words: int
    snapshot: Snapshot
    parts: tuple[Part, ...]

    def load(self, states: States) -> None:
        """Read all states into the places that `states` gives; UsageError where one is damaged."""
        first = 0
        for part in self.parts:
            room = states(first, first + part.states)
            _read_part(self.directory / part.file, part, room)
            first += part.states


@contextmanager
def held(kept: Path | None, resumed: Path | None) -> Iterator[None]:
    """Hold the directories of a search: `kept` alone, `resumed` with others that only read it.

    Everything that is read or written in them has to happen inside. UsageError where another
    process holds one of them, or where nothing can be kept; EnvironmentFailure where that is the
    system's doing.
    """
    alone = nullcontext() if kept is None else _written(kept)
    same = kept is not None and resumed is not None and real(kept) == real(resumed)
    together = nullcontext() if resumed is None or same else _read(resumed)
    with alone, together:
        yield


@contextmanager
def _written(directory: Path) -> Iterator[None]:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        descriptor = locked(directory / LOCK, os.O_RDWR | os.O_CREAT, fcntl.LOCK_EX)
    except BlockingIOError:
        raise in_use(
            directory,
            "who keeps checkpoints there has to be alone; wait for its end, end it, or name "
            "another directory with --checkpoint",
        ) from None
    except OSError as error:
        raise _unusable(directory, error) from None
    try:
        yield
    finally:
        os.close(descriptor)


def _read(directory: Path) -> AbstractContextManager[bool]:
    """Hold a directory against who would keep checkpoints there.

    Not where there is no checkpoint, or one of an older checker, or a file system without locks.
    Nothing that a manifest names is ever changed, so reading goes well all the same.
    """
    more = "it keeps checkpoints there; wait for its end, end it, or go on from a copy"
    return holding(directory / LOCK, os.O_RDONLY, fcntl.LOCK_SH, in_use(directory, more))


def _unusable(directory: Path, error: OSError) -> CheckerError:
    return failure_of(error, f"{directory}: no checkpoint can be kept here: {error}")


class Keeper:
    """Writes the checkpoints of one search into `directory`, which is `held`.

    UsageError where it cannot be written to, or holds a checkpoint that is not `resumed`.
    """

    def __init__(
        self, directory: Path, identity: Mapping[str, object], words: int, resumed: Saved | None
    ) -> None:
        self.directory = directory
        self.identity = identity
        self.words = words
        self.parts: tuple[Part, ...] = ()
        self.saved: Snapshot | None = None
        self._prepare(resumed)

    def _prepare(self, resumed: Saved | None) -> None:
        try:
            _write(self.directory / "probe", ())
            (self.directory / "probe").unlink()
        except OSError as error:
            raise _unusable(self.directory, error) from None
        if resumed is not None and real(resumed.directory) == real(self.directory):
            self.parts, self.saved = resumed.parts, resumed.snapshot
        elif (self.directory / MANIFEST).exists():
            raise UsageError(
                f"{self.directory} holds a checkpoint already; go on from it with --resume "
                f"{self.directory}, or name another directory"
            )

    def save(self, snapshot: Snapshot, pieces: Pieces) -> None:
        """Write a checkpoint of `snapshot`, unless that was done; OSError where it fails."""
        if self.saved is not None and snapshot.level == self.saved.level:
            return
        parts = self.parts
        first = sum(part.states for part in parts)
        if first < snapshot.distinct:
            name = f"states-{len(parts):06}.bin"
            content = (
                _bytes_of(np.ascontiguousarray(piece).astype(_WORD, copy=False))
                for piece in pieces(first, snapshot.distinct)
            )
            digest = _write(self.directory / name, content)
            parts = (*parts, Part(name, snapshot.distinct - first, digest))
        body = {
            "format": FORMAT,
            "identity": dict(self.identity),
            "words": self.words,
            "distinct": snapshot.distinct,
            "snapshot": asdict(snapshot),
            "parts": [asdict(part) for part in parts],
        }
        text = json.dumps({**body, "sha256": _digest(body)}, indent=1)
        _write(self.directory / MANIFEST, (memoryview(text.encode()),))
        self.parts, self.saved = parts, snapshot


def find(directory: Path, identity: Mapping[str, object]) -> Saved:
    """Return the checkpoint in `directory`.

    UsageError where there is none, where it is damaged, or of another search than `identity`.
    """
    path = directory / MANIFEST
    try:
        with _open(path) as file:
            body = json.loads(file.read())
        written = body.pop("sha256")
        found = body["format"]
    except FileNotFoundError:
        raise UsageError(f"{directory} holds no checkpoint: {path} is missing") from None
    except OSError as error:
        raise failure_of(error, f"{path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise UsageError(f"{path}: this is not the manifest of a checkpoint, or damaged") from None
    if found != FORMAT:
        raise UsageError(f"{path}: written in format {found}; this checker reads format {FORMAT}")
    if written != _digest(body):
        raise UsageError(f"{path}: damaged: its content does not have the checksum it names")
    differs = difference(body["identity"], identity)
    if differs is not None:
        raise UsageError(f"{path}: a checkpoint of another search: {differs}")
    try:
        return _saved(directory, body)
    except (ValueError, KeyError, TypeError):
        raise UsageError(f"{path}: not a manifest that this checker writes") from None


def _saved(directory: Path, body: dict[str, Any]) -> Saved:
    """Return what a manifest says; KeyError, TypeError or ValueError where it is no such thing."""
    fields = body["snapshot"]
    counters = fields["counters"]
    snapshot = Snapshot(
        level=int(fields["level"]),
        levels=tuple(map(int, fields["levels"])),
        counters=Counters(
            **{
                **counters,
                "tallies": tuple((int(seen), int(made)) for seen, made in counters["tallies"]),
                "new": tuple(map(int, counters["new"])),
            }
        ),
        aims=tuple(Aim(**aim) for aim in fields["aims"]),
        seconds=float(fields["seconds"]),
    )
    parts = tuple(Part(**part) for part in body["parts"])
    kinds = get_args(FindingKind)
    if (
        sum(part.states for part in parts) != snapshot.distinct
        or not 0 <= snapshot.level <= len(snapshot.levels)
        or not all(_PART.fullmatch(part.file) for part in parts)
        or not all(aim.kind in kinds for aim in snapshot.aims)
    ):
        raise ValueError
    return Saved(directory, int(body["words"]), snapshot, parts)


def _digest(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _bytes_of(states: Words) -> memoryview:
    return states.reshape(-1).view(np.uint8).data


def _write(path: Path, content: Iterable[memoryview]) -> str:
    """Put the pieces of `content` at `path` in one step, whatever was there; return their digest.

    A link at `path` is replaced, not followed.
    """
    beside = path.with_name(path.name + ".tmp")
    beside.unlink(missing_ok=True)
    digest = hashlib.sha256()
    try:
        with beside.open("xb") as file:
            for view in content:
                for start in range(0, len(view), _CHUNK):
                    digest.update(view[start : start + _CHUNK])
                    file.write(view[start : start + _CHUNK])
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    return digest.hexdigest()


def _open(path: Path) -> BufferedReader:
    """Open an ordinary file to read it; UsageError for a device or a pipe, which have no end."""
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb")
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return file
    file.close()
    raise UsageError(f"{path}: this is no ordinary file")


def _read_part(path: Path, part: Part, room: Words) -> None:
    """Read a file of states into `room`; UsageError where it is not what was written."""
    view = _bytes_of(room)
    digest = hashlib.sha256()
    try:
        with _open(path) as file:
            size = os.fstat(file.fileno()).st_size
            if size != len(view):
                raise UsageError(f"{path}: {size:,} bytes where {len(view):,} were written")
            for start in range(0, len(view), _CHUNK):
                piece = view[start : start + _CHUNK]
                if file.readinto(piece) != len(piece):
                    raise UsageError(f"{path}: ends before its end")
                digest.update(piece)
    except OSError as error:
        said = f"{path}: {error.strerror}; the checkpoint needs this file"
        raise failure_of(error, said) from None
    if digest.hexdigest() != part.sha256:
        raise UsageError(f"{path}: damaged: its content does not have the checksum on record")
    if room.dtype != _WORD:
        room.byteswap(inplace=True)
