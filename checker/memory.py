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
_NO_RESERVE = 0x4000 if sys.platform.startswith("linux") else 0
HUGE_PAGE = 1 << 21
"""Bytes of a huge page."""


def default_limit() -> int:
    """Return the bytes a search may use by default: a share of the machine's or its cgroup's."""
    return int(DEFAULT_SHARE * min(_meminfo("MemTotal"), *(limit for limit, _ in _cgroups())))


def available() -> int:
    """Return the bytes that this process can still take before something is killed."""
    return min(_meminfo("MemAvailable"), *(limit - used for limit, used in _cgroups()))


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
    """Like `reserve`, but half as much, and half again, where the system refuses."""
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


def _cgroups() -> list[tuple[int, int]]:
    """Return limit and use, in bytes, of the control groups around this process; at least one."""
    found = [(_UNLIMITED, 0)]
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="ascii").splitlines()
    except OSError:
        return found
    for line in lines:
        _, controllers, group = line.split(":", 2)
        if controllers == "":
            root, limit, used = Path("/sys/fs/cgroup"), "memory.max", "memory.current"
        elif "memory" in controllers.split(","):
            root = Path("/sys/fs/cgroup/memory")
            limit, used = "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        # Inside a container the group's own path is often not there, only its root.
        for folder in {root / group.lstrip("/"), root}:
            try:
                pair = ((folder / limit).read_text().strip(), (folder / used).read_text().strip())
            except OSError:
                continue
            if pair[0].isdigit():
                found.append((int(pair[0]), int(pair[1])))
    return found
