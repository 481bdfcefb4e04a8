"""Takes a Machine with its Layout and Kernel, makes an Exploration: the door to the local engine.

Breadth first, level by level, on all cores. Every distinct state is kept whole, so nothing is
ever missed; what stopped the search, and how far it came, is part of the result.
"""

from __future__ import annotations

import os

from checker.kernel.kernel import Kernel
from checker.layout.layout import Layout
from checker.machine.machine import Machine
from checker.search.checkpoint import held
from checker.search.exploration import Exploration
from checker.search.limits import Limits
from checker.search.local import search
from checker.search.options import Options
from checker.search.progress import Interrupt, OnProgress


def explore(
    machine: Machine,
    layout: Layout,
    kernel: Kernel,
    limits: Limits,
    workers: int | None = None,
    progress: OnProgress | None = None,
    interrupt: Interrupt | None = None,
    options: Options | None = None,
) -> Exploration:
    """Search all reachable states of `machine`; see `Exploration` for what comes back.

    `workers` threads (by default one a core) share the work. Nothing in the result depends on
    them or on timing, but `seconds`, and what was found when `limits.states`, `seconds`,
    `memory_bytes` or `interrupt` stopped the search within a level.

    `limits.states` is never exceeded; `limits.memory_bytes` covers visited set, queue and buffers
    and is by default a share of what the machine has. `interrupt` stops the search within a
    fraction of a second; the paths of what it found until then are still rebuilt. `progress` is
    called about twice a second, in the calling thread. EnvironmentFailure: the system refuses
    even a little memory. UsageError: `options` name a directory that cannot hold a checkpoint or
    that another process uses, or a checkpoint that this search cannot go on from.
    """
    threads, asked = workers or cores(), options or Options()
    with held(asked.checkpoint, asked.resume):
        return search(machine, layout, kernel, limits, threads, progress, interrupt, asked)


def cores() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
