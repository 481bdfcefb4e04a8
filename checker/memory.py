"""How much memory there is, how much we use, and address space to grow into.

The search never asks for more than its limit, and looks at what the machine has left before it
grows: running out must be a verdict, not a killed process.
"""

from __future__ import annotations

import mmap
import resource
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from checker.errors import EnvironmentFailure

DEFAULT_SHARE = 0.7
"""The part of the machine's memory that a search may use when no limit is given."""

_UNLIMITED = 1 << 60
_SMALLEST_RESERVATION = 1 << 24
_SHARE_OF_SPACE = 4
"""A reservation takes at most one of so many parts of the address space that is left.

Who limits that (`ulimit -v`, `-d`) limits all that is not there yet, too: stacks, code, buffers.
"""
_NO_RESERVE = 0x4000 if sys.platform.startswith("linux") else 0
HUGE_PAGE = 1 << 21
"""Bytes of a huge page."""


def default_limit() -> int:
    """Return the bytes a search may use by default: a share of what there is.

    That is the machine's memory, its control groups', or the address space that is allowed.
    """
    groups = (limit for limit, _ in _cgroups())
    return int(DEFAULT_SHARE * min(_meminfo("MemTotal"), *_allowed(), *groups))


def available() -> int:
    """Return the bytes that this process can still take before something is killed or refused."""
    groups = (limit - used for limit, used in _cgroups())
    return min(_meminfo("MemAvailable"), space_left(), *groups)


def space_left() -> int:
    """Return the bytes of address space that this process may still take."""
    return min(max(most - taken, 0) for most, taken in zip(_allowed(), _spaces(), strict=True))


def share_of_space() -> int:
    """Return the bytes of address space that one reservation may take."""
    return space_left() // _SHARE_OF_SPACE


def require_space(size: int, what: str) -> None:
    """Raise EnvironmentFailure where so many bytes of address space are not left for something.

    It is for what does not come back where it has none: LLVM ends the process.
    """
    left = space_left()
    if size > left:
        raise EnvironmentFailure(
            f"{what} may take {size >> 20:,} MiB, and this process may take {left >> 20:,} MiB "
            "more; allow it more (`ulimit -v`, `-d`)"
        )


def peak_rss() -> int:
    """Return the largest resident size of this process so far, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def reserve(size: int) -> NDArray[np.int64]:
    """Return zeroed words in `size` bytes of address space; only pages that are touched cost.

    The space is a whole number of huge pages and begins where one can; EnvironmentFailure where
    it is refused.
    """
    rounded = -(-size // HUGE_PAGE) * HUGE_PAGE
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE
    try:
        space = mmap.mmap(-1, rounded + HUGE_PAGE, flags=flags)
    except (OSError, ValueError, OverflowError) as error:
        message = f"the system refuses {rounded} bytes of address space: {error}"
        raise EnvironmentFailure(message) from error
    begin = -_address(space) % HUGE_PAGE
    return np.frombuffer(space, dtype=np.int64, count=rounded // 8, offset=begin)


def _address(space: mmap.mmap) -> int:
    return int(np.frombuffer(space, dtype=np.uint8).ctypes.data)


def reserve_up_to(size: int) -> NDArray[np.int64]:
    """Like `reserve`, but half as much, and half again, where the system refuses.

    Not more than a share of the address space that is left, where that is limited.
    """
    size = min(size, max(share_of_space(), _SMALLEST_RESERVATION))
    while True:
        try:
            return reserve(size)
        except EnvironmentFailure:
            if size <= _SMALLEST_RESERVATION:
                raise
            size //= 2


def advise_huge_pages(words: NDArray[np.int64]) -> None:
    """Ask for huge pages in what `reserve` returned.

    Random probes of gigabytes in small pages are several times slower. Advice only: systems
    without huge pages go on as they are. A huge page costs as soon as a word of it is written.
    """
    advice = getattr(mmap, "MADV_HUGEPAGE", None)
    space = _space_of(words)
    if advice is None or space is None:
        return
    with suppress(OSError):
        space.madvise(advice)


def give_back(words: NDArray[np.int64], start: int, end: int) -> None:
    """Let the system take the memory of the words `start` to `end` of what `reserve` returned.

    Whole pages of it; where they are read again they may be zero.
    """
    advice = getattr(mmap, "MADV_DONTNEED", None)
    space = _space_of(words)
    if advice is None or space is None:
        return
    origin = int(words.ctypes.data) - _address(space)
    first = -(-(origin + 8 * start) // mmap.PAGESIZE) * mmap.PAGESIZE
    last = (origin + 8 * end) // mmap.PAGESIZE * mmap.PAGESIZE
    if first < last:
        space.madvise(advice, first, last - first)


def _space_of(words: NDArray[np.int64]) -> mmap.mmap | None:
    """Return the space that words of `reserve` lie in; None where they are of something else."""
    space = words.base
    while isinstance(space, (np.ndarray, memoryview)):
        space = space.base if isinstance(space, np.ndarray) else space.obj
    return space if isinstance(space, mmap.mmap) else None


def _allowed() -> tuple[int, int]:
    """Return the bytes of address space, and of what of it may be written, that are allowed."""
    most = [resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    one, two = (_UNLIMITED if it == resource.RLIM_INFINITY else min(it, _UNLIMITED) for it in most)
    return one, two


def _spaces() -> tuple[int, int]:
    """Return the bytes that this process has of both; 0 where nobody says."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()
        return int(pages[0]) * mmap.PAGESIZE, int(pages[5]) * mmap.PAGESIZE
    except (OSError, ValueError, IndexError):
        return 0, 0


def _meminfo(field: str) -> int:
    """Return a field of the system's memory statistics in bytes; unlimited where unknown."""
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
    except OSError:
        return _UNLIMITED
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0]) * 1024
    return _UNLIMITED


_PROCESS = Path("/proc/self/cgroup")
_MOUNTED = Path("/sys/fs/cgroup")


def _cgroups(process: Path = _PROCESS, mounted: Path = _MOUNTED) -> list[tuple[int, int]]:
    """Return limit and use, in bytes, of the control groups around this process; at least one."""
    found = [(_UNLIMITED, 0)]
    try:
        lines = process.read_text(encoding="ascii").splitlines()
    except OSError:
        return found
    for line in lines:
        _, controllers, group = line.split(":", 2)
        if controllers == "":
            root, limit, used, files = mounted, "memory.max", "memory.current", "inactive_file"
        elif "memory" in controllers.split(","):
            root, files = mounted / "memory", "total_inactive_file"
            limit, used = "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        # Each group is within the limit of the one around it. Inside a container the group's own
        # path is often not there, only its root.
        own = root / group.lstrip("/")
        for folder in (own, *(it for it in own.parents if it.is_relative_to(root))):
            try:
                pair = ((folder / limit).read_text().strip(), (folder / used).read_text().strip())
            except OSError:
                continue
            if pair[0].isdigit():
                taken = max(int(pair[1]) - _cached_files(folder / "memory.stat", files), 0)
                found.append((int(pair[0]), taken))
    return found


def _cached_files(statistics: Path, field: str) -> int:
    """Return the bytes of files that a control group has in memory and can do without.

    What was read or written once is kept as long as nobody needs the memory.
    """
    try:
        lines = statistics.read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) for line in lines if line.split()[0] == field)
    except (OSError, ValueError, IndexError, StopIteration):
        return 0
