"""Random walks in parts that know nothing of each other: a spread does them, one answer comes out.

A walk depends on the seed and its number alone, so that parts, made anywhere and in any order, are
together what one run would have made.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from threading import Event

from checker import flow
from checker.errors import EnvironmentFailure
from checker.frozen import frozen
from checker.kernel import Kernel, build
from checker.layout import pack
from checker.layout.layout import Layout
from checker.machine.machine import Machine
from checker.runs import Lost, Spread
from checker.search.simulate import Simulation, batch_of, simulate, together

PARTS_OF_A_CORE = 8
"""Parts for each core: small ones, so that a slow core is not waited for at the end."""


@frozen()
class Asked:
    """So many walks of at most `depth` steps; `seconds` is when to stop, if ever."""

    walks: int
    depth: int
    seed: int
    seconds: float | None = None


@frozen()
class Walks:
    """A part of what was asked for: the walks number `begin` to `end` - 1."""

    request: flow.Request
    asked: Asked
    begin: int
    end: int


def parts(request: flow.Request, asked: Asked, parallel: int) -> Iterator[Walks]:
    """Yield all walks in parts of whole batches, for `parallel` cores."""
    batch = batch_of(asked.depth)
    size = batch * max(math.ceil(asked.walks / (batch * parallel * PARTS_OF_A_CORE)), 1)
    for begin in range(0, asked.walks, size):
        yield Walks(request, asked, begin, min(begin + size, asked.walks))


def walk(part: Walks) -> Simulation:
    """Make the walks of one part, on one core."""
    machine, layout, kernel = compiled_here(part.request)
    return simulate(
        machine,
        layout,
        kernel,
        part.end,
        part.asked.depth,
        part.asked.seed,
        workers=1,
        seconds=part.asked.seconds,
        begin=part.begin,
    )


def walk_everywhere(
    asked: list[Walks], spread: Spread, interrupt: Event, seconds: float | None = None
) -> Simulation | None:
    """Return what all parts found together, or those that were made until somebody interrupted.

    A KeyboardInterrupt sets `interrupt`; `seconds` is when to stop, if ever.

    What comes after the first violation counts for nothing, as in one run. None: nothing was made.
    EnvironmentFailure: a part was lost.
    """
    made: dict[int, Simulation] = {}
    began = time.perf_counter()
    try:
        for part, found in spread.each(walk, asked):
            if isinstance(found, Lost):
                reason = found.reason
                raise EnvironmentFailure(f"walks {part.begin:,} to {part.end - 1:,}: {reason}")
            made[part.begin] = found
            late = seconds is not None and time.perf_counter() - began >= seconds
            if late or _decided(asked, made):
                break
    except KeyboardInterrupt:
        interrupt.set()
    counted: list[Simulation] = []
    for begin in sorted(made):
        counted.append(made[begin])
        if made[begin].finding is not None:
            break
    if not counted:
        return None
    found = together(counted)
    every = found.finding is not None or len(counted) == len(asked)
    return replace(found, workers=spread.parallel, complete=found.complete and every)


_Compiled = tuple[Machine, Layout, Kernel]

_kept: list[tuple[flow.Request, _Compiled]] = []
"""What was compiled last, for the runs that the same process makes next."""


def compiled_here(
    request: flow.Request,
    change: Callable[[Machine], Machine] | None = None,
    *,
    prompt: bool = False,
    stop: Callable[[], bool] | None = None,
) -> _Compiled:
    """Return the machine of a request, as changed, compiled by this process or by an earlier run.

    A process makes runs of one kind only, so that `change` is the same each time. `prompt` and
    `stop` are those of `build`.
    """
    if not _kept or _kept[0][0] != request:
        _, machine = flow.prepare(request, flow.Silent())
        machine = machine if change is None else change(machine)
        layout = pack(machine)
        kernel = build(machine, layout, prompt=prompt, stop=stop)
        _kept[:] = [(request, (machine, layout, kernel))]
    return _kept[0][1]


def _decided(asked: list[Walks], made: dict[int, Simulation]) -> bool:
    """Whether a part found a violation and all before it are made."""
    for part in asked:
        if part.begin not in made:
            return False
        if made[part.begin].finding is not None:
            return True
    return False
