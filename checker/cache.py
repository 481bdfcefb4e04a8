"""What is kept between runs for this user alone: signed blobs by digest, in a bounded folder.

Native code from the cache runs as the user, and a verdict from it is believed. So each file is
signed with a key that only the user can read, and a folder or a file that somebody else owns or
may write is not used; `refusal` says which one and what to change. Nothing needs the cache: where
it cannot be read or written, `get` finds nothing and `put` does nothing.
"""

from __future__ import annotations

import errno
import hashlib
import hmac
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from checker.frozen import frozen

FOLDER = "kafka-checker"
"""The folder of ours in the user's cache directory; a folder in it for each kind of blob."""

KEY_FILE = "key"
_KEY_BYTES = 32
_MAC_BYTES = 32
_MAGIC = b"kafka-checker cache 2\n"
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OTHERS_TOUCH = stat.S_IRWXG | stat.S_IRWXO
_OURS = re.compile(r"[0-9A-Za-z-]+\.blob(\.[0-9a-f]{16})?")
"""The names of blobs, and of those that are being written."""
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


class _Refused(Exception):  # noqa: N818 (nothing went wrong: the cache does without)
    """A folder or file that others could have put something into."""


@frozen()
class Cache:
    """Blobs of one kind, each under the digest of all it depends on; `capacity` in bytes."""

    kind: str
    capacity: int

    def get(self, digest: str) -> bytes | None:
        """Return what this user kept under `digest`, None if there is nothing that is sound."""
        try:
            with _folder(self.kind) as (folder, key):
                data = _read(folder, _name(digest), self.capacity, touch=True)
        except (OSError, _Refused):
            return None
        start = len(_MAGIC) + _MAC_BYTES
        given, blob = data[:start], data[start:]
        sound = hmac.compare_digest(given, _MAGIC + self._mac(key, digest, blob))
        return blob if sound else None

    def put(self, digest: str, blob: bytes) -> None:
        """Keep `blob` under `digest`, if possible, and forget what was not used for longest."""
        with suppress(OSError, _Refused), _folder(self.kind) as (folder, key):
            _write(folder, _name(digest), _MAGIC + self._mac(key, digest, blob) + blob)
            self._prune(folder)

    def clear(self) -> None:
        """Forget everything of this kind."""
        with suppress(OSError, _Refused), _folder(self.kind) as (folder, _):
            for name, _status in _files(folder):
                _remove(folder, name)

    def size(self) -> tuple[int, int]:
        """Return how many blobs are kept, and how many bytes they take."""
        with suppress(OSError, _Refused), _folder(self.kind) as (folder, _):
            files = _files(folder)
            return len(files), sum(status.st_size for _name, status in files)
        return 0, 0

    def _mac(self, key: bytes, digest: str, blob: bytes) -> bytes:
        """Return the signature: a blob is good for its own kind and digest only."""
        return hmac.digest(key, f"{self.kind}/{digest}\n".encode() + blob, "sha256")

    def _prune(self, folder: int) -> None:
        room = self.capacity
        for name, status in sorted(_files(folder), key=lambda file: -file[1].st_mtime_ns):
            room -= status.st_size
            if room < 0:
                _remove(folder, name)


def code_of(*rooms: str) -> bytes:
    """Return a digest of Python and of our modules in some rooms (folders of the package).

    `.` are the modules beside them; of a room also what is in its folders; without one of all.
    """
    root = Path(__file__).parent
    digest = hashlib.blake2b(sys.version.encode())
    for room in rooms or ("",):
        for path in sorted(root.glob("*.py") if room == "." else (root / room).rglob("*.py")):
            digest.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes())
    return digest.digest()


def place() -> Path | None:
    """Return the folder in which everything is kept; None where the user has no home."""
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        above = Path(base) if base and Path(base).is_absolute() else Path.home() / ".cache"
    except RuntimeError:
        return None
    return above / FOLDER


def refusal() -> str | None:
    """Return why the cache is not used though it is there, and what to change; else None."""
    root = place()
    if root is None or not root.exists():
        return None
    try:
        with _folder(None):
            return None
    except _Refused as why:
        return f"the cache {root} is not used: {why}"
    except OSError:
        return None  # it cannot be read or written: a matter of speed only


def repair() -> None:
    """Remove a key of the user's own that is damaged, or that others may read.

    The next one who keeps something makes another; what the old one signed is nothing from then on.
    A link, a folder, and what belongs to another user stay.
    """
    root = place()
    if root is None:
        return
    with suppress(OSError, _Refused):
        top = _open_folder(root, None)
        try:
            status = os.stat(KEY_FILE, dir_fd=top, follow_symlinks=False)
            if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid():
                _remove_unsound_key(top)
        finally:
            os.close(top)


def _remove_unsound_key(top: int) -> None:
    try:
        _key(top)
    except (OSError, _Refused):
        _remove(top, KEY_FILE)


def private_folder(name: str) -> Path | None:
    """Return a folder in the cache that only this user may write; None where there is none.

    For files that are not blobs. They are not signed.
    """
    root = place()
    if root is None:
        return None
    try:
        with _folder(name):
            return root / name
    except (OSError, _Refused):
        return None


@contextmanager
def _folder(kind: str | None) -> Iterator[tuple[int, bytes]]:
    """Open the folder of a kind (None: that of all), and say the user's key.

    Files are opened relative to the folder that was looked at, so that nobody can put another one
    in its place in between.
    """
    root = place()
    if root is None:
        raise FileNotFoundError
    root.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        root.mkdir(mode=0o700)
    top = _open_folder(root, None)
    try:
        key = _key(top)
        if kind is None:
            yield top, key
            return
        with suppress(FileExistsError):
            os.mkdir(kind, 0o700, dir_fd=top)
        folder = _open_folder(root / kind, top)
        try:
            yield folder, key
        finally:
            os.close(folder)
    finally:
        os.close(top)


def _open_folder(path: Path, above: int | None) -> int:
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    if above is not None:  # only the whole may be kept elsewhere, through a link
        if stat.S_ISLNK(os.stat(path.name, dir_fd=above, follow_symlinks=False).st_mode):
            raise _Refused(f"{path} is a link; remove it")
        flags |= os.O_NOFOLLOW
    folder = os.open(path if above is None else path.name, flags, dir_fd=above)
    try:
        _require_own(os.fstat(folder), str(path), _OTHERS_WRITE)
    except _Refused:
        os.close(folder)
        raise
    return folder


def _require_own(status: os.stat_result, what: str, forbidden: int) -> None:
    """Refuse what somebody else owns, or has a permission to that only the user may have."""
    if status.st_uid != os.geteuid():
        raise _Refused(f"{what} belongs to another user (number {status.st_uid}); remove it")
    if status.st_mode & forbidden:
        allowed = "write it" if forbidden == _OTHERS_WRITE else "read it"
        change = "go-w" if forbidden == _OTHERS_WRITE else "600"
        raise _Refused(f"{what}: other users may {allowed}; chmod {change} it, or remove it")


def _key(top: int) -> bytes:
    """Return the user's key, made when there is none."""
    try:
        key = _read(top, KEY_FILE, _KEY_BYTES, forbidden=_OTHERS_TOUCH)
    except FileNotFoundError:
        _write(top, KEY_FILE, secrets.token_bytes(_KEY_BYTES), replace=False)
        key = _read(top, KEY_FILE, _KEY_BYTES, forbidden=_OTHERS_TOUCH)
    if len(key) != _KEY_BYTES:
        raise _Refused(f"{KEY_FILE} is damaged; remove it")
    return key


def _read(
    folder: int, name: str, most: int, *, forbidden: int = _OTHERS_WRITE, touch: bool = False
) -> bytes:
    """Return the content of a file of the user's own; `touch`: for `_prune`, it was used now."""
    try:
        handle = os.open(name, _READ, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _Refused(f"{name} is a link; remove it") from None
        raise
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):  # Python opens no folder, and closes none then
        os.close(handle)
        raise _Refused(f"{name} is no file; remove it")
    with os.fdopen(handle, "rb") as file:
        _require_own(status, name, forbidden)
        if touch:
            with suppress(OSError):
                os.utime(handle)
        return file.read(most + len(_MAGIC) + _MAC_BYTES)


def _write(folder: int, name: str, data: bytes, *, replace: bool = True) -> None:
    """Write a file in one step; without `replace` what another process wrote first stays."""
    beside = f"{name}.{secrets.token_hex(8)}"
    handle = os.open(beside, _MAKE, 0o600, dir_fd=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        if replace or not _linked(folder, beside, name):
            os.replace(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        _remove(folder, beside)
        raise


def _linked(folder: int, beside: str, name: str) -> bool:
    """Give a file its name unless that is taken; False where the file system has no links."""
    try:
        os.link(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except FileExistsError:
        pass
    except OSError:
        return False
    _remove(folder, beside)
    return True


def _remove(folder: int, name: str) -> None:
    with suppress(OSError):
        os.unlink(name, dir_fd=folder)


def _files(folder: int) -> list[tuple[str, os.stat_result]]:
    """Return the names of our files in a folder, with what is known of them.

    Whatever else lies there is somebody's: it is neither counted nor removed.
    """
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):  # another process may have removed it
                if _OURS.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                    found.append((entry.name, entry.stat(follow_symlinks=False)))
    return found


def _name(digest: str) -> str:
    """Return the name of a blob's file; a digest is written in letters, digits and dashes."""
    assert re.fullmatch(r"[0-9A-Za-z-]+", digest), digest
    return f"{digest}.blob"
