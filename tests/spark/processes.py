"""The processes below one of ours, as /proc tells, to end one of them by its number."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path


def below(parent: int, word: str) -> list[int]:
    """Return the descendants of a process whose command line holds `word`."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                # pid (name) state parent ...; a name may hold blanks and brackets
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                parents[int(entry.name)] = int(fields[1])
    found = []
    for process in parents:
        above = process
        while above in parents and above != parent:
            above = parents[above]
        if above == parent and process != parent:
            with contextlib.suppress(OSError):
                if word in Path(f"/proc/{process}/cmdline").read_bytes().decode(errors="replace"):
                    found.append(process)
    return sorted(found)


def end(process: int) -> None:
    """End one process at once."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def running(process: int) -> bool:
    """Return whether a process runs; one that ended and was not waited for does not."""
    try:
        text = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] != "Z"


def eventually(condition: Callable[[], object], seconds: float = 120) -> bool:
    """Wait until a condition is true; False where it does not become true in time."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.05)
    return False
