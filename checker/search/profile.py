"""Where a search spends its time and its states: measured on a sample when it is over."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from checker.frozen import frozen
from checker.kernel.kernel import Kernel, Words
from checker.layout.layout import Layout
from checker.machine.machine import Machine
from checker.search.progress import Interrupt, interrupted

SAMPLE = 20_000
"""Expanded states that are looked at, at most; evenly spread over all levels."""


@frozen()
class Degrees:
    """The successors of one state: least, mean, what 95 % do not exceed, most."""

    least: int
    mean: float
    high: int
    most: int


@frozen()
class Profile:
    """What measuring `sampled` expanded states on one thread showed.

    `expand_nanoseconds` and `check_nanoseconds` are for one state. `shares` has of each action its
    part of the time that all actions take; None where the processor has no tick counter. `bits`
    has of each variable the information in it. `seconds` is what measuring took, compiling
    included; the search itself is not measured, and so not slowed down.
    """

    sampled: int
    degrees: Degrees
    expand_nanoseconds: float
    check_nanoseconds: float
    shares: tuple[float, ...] | None
    bits: tuple[tuple[str, float], ...]
    seconds: float


def profile_of(
    machine: Machine,
    layout: Layout,
    kernel: Kernel,
    count: int,
    states: Callable[[NDArray[np.int64]], Words],
    interrupt: Interrupt | None = None,
) -> Profile | None:
    """Measure a sample of the `count` expanded states; None where there are none.

    None, too, where `interrupt` says to stop before the code for that is compiled.

    `states` gives those of ascending numbers, one a row.
    """
    if count == 0:
        return None
    started = time.perf_counter()
    chosen = np.unique(np.linspace(0, count - 1, min(count, SAMPLE)).astype(np.int64))
    sample = states(chosen)
    from checker.kernel.timing import measure  # noqa: PLC0415 (what writes kernels)

    timing = measure(machine, layout, kernel, sample, partial(interrupted, interrupt))
    if timing is None:
        return None
    degrees = np.sort(timing.degrees)
    high = degrees[-(-95 * len(degrees) // 100) - 1]
    return Profile(
        sampled=len(sample),
        degrees=Degrees(int(degrees[0]), float(degrees.mean()), int(high), int(degrees[-1])),
        expand_nanoseconds=1e9 * timing.expand_seconds / len(sample),
        check_nanoseconds=1e9 * timing.check_seconds / len(sample),
        shares=tuple(map(float, timing.shares)) if timing.shares.any() else None,
        bits=tuple(
            (name, layout.variable_bits(index)) for index, name in enumerate(layout.variables)
        ),
        seconds=time.perf_counter() - started,
    )
