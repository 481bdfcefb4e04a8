"""Many hunts that know nothing of each other: a spread makes them, one result comes out.

A hunt depends on the seed and its number alone. Of those that find something the first one counts,
by its number, so that the result is the same wherever they are made and in whatever order.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from threading import Event

from checker import flow
from checker.errors import EnvironmentFailure, UsageError
from checker.frozen import frozen
from checker.kernel import Kernel
from checker.machine.machine import LIVENESS, Machine
from checker.memory import peak_rss
from checker.report.headline import plural
from checker.report.result import Result
from checker.runs import Lost
from checker.search.exploration import Exploration, RowCoverage, StoppedBy
from checker.search.finding import Finding
from checker.search.guides import aims, guided
from checker.search.hunt import Hunt, hunt
from checker.search.progress import Interrupt
from checker.simulation import compiled_here
from checker.table import Document
from checker.trace.rebuild import rebuild
from checker.trace.shorten import shorten
from checker.trace.trace import Provenance, Trace
from checker.verdict import exits
from checker.verdict.judge import Verdict, judge


@frozen()
class Asked:
    """So many hunts of so many steps each, on ways of at most `depth`; `seconds`: when to end."""

    hunts: int
    steps: int
    depth: int
    seed: int
    seconds: float | None = None


@frozen()
class OneHunt:
    """A hunt that is to be made, wherever."""

    request: flow.Request
    asked: Asked
    number: int


Each = Iterator[tuple[OneHunt, Hunt | Lost]]


@frozen()
class Hunted:
    """What hunts found together: those that count, in order; the last one may have found something.

    `complete`: none is missing.
    """

    made: tuple[Hunt, ...]
    complete: bool
    seconds: float

    @property
    def steps(self) -> int:
        """Steps of all hunts that count."""
        return sum(one.steps for one in self.made)

    @property
    def finding(self) -> Finding | None:
        """What the last one found."""
        return self.made[-1].finding if self.made else None


def plan(request: flow.Request, asked: Asked) -> list[OneHunt]:
    """Return the hunts that are asked for."""
    return [OneHunt(request, asked, number) for number in range(asked.hunts)]


def make(item: OneHunt, stop: Interrupt | None = None) -> Hunt:
    """Make one hunt in this thread; `stop` ends it."""
    machine, layout, kernel = compiled_here(item.request, guided)
    asked = item.asked
    until = None if asked.seconds is None else time.perf_counter() + asked.seconds
    return hunt(
        machine, layout, kernel, item.number, asked.seed, asked.steps, asked.depth, stop, until
    )


def compiled(request: flow.Request, stop: Event) -> Kernel:
    """Compile what hunts of a request run on, once, before threads share it.

    Code that is there in a moment will do; hunts that last make it faster. Interruption where
    `stop` is set before it is there.
    """
    return compiled_here(request, guided, prompt=True, stop=stop.is_set)[2]


def on_threads(items: Sequence[OneHunt], workers: int, stop: Event) -> Each:
    """Yield each hunt as threads of this process have made it, until `stop` is set.

    What they hunt on is compiled already (`compiled`).
    """
    enough = Event()

    def asked() -> bool:
        return stop.is_set() or enough.is_set()

    with ThreadPoolExecutor(workers, thread_name_prefix="hunt") as pool:
        running = {pool.submit(make, item, asked): item for item in items}
        try:
            for done in as_completed(running):
                yield running[done], done.result()
        finally:
            enough.set()
            pool.shutdown(cancel_futures=True)


def together(
    items: Sequence[OneHunt], each: Each, stop: Event, tell: Callable[[str], None]
) -> Hunted:
    """Return what hunts found, those behind the first that found something left out.

    A KeyboardInterrupt, or `stop`, ends them: then those count that were made without a gap.
    EnvironmentFailure: one was lost.
    """
    began = time.perf_counter()
    seconds = items[0].asked.seconds if items else None
    made: dict[int, Hunt] = {}
    try:
        for item, found in each:
            if isinstance(found, Lost):
                raise EnvironmentFailure(f"hunt {item.number:,} was lost: {found.reason}")
            made[item.number] = found
            if found.finding is not None:
                tell(f"hunt {item.number:,} found something after {found.steps:,} steps")
            late = seconds is not None and time.perf_counter() - began >= seconds
            if stop.is_set() or late or any(one.finding for one in _first(made)):
                break
    except KeyboardInterrupt:
        stop.set()
    counted = _first(made)
    whole = bool(counted) and (counted[-1].finding is not None or len(counted) == len(items))
    complete = whole and all(one.complete for one in counted)
    return Hunted(counted, complete, time.perf_counter() - began)


def _first(made: dict[int, Hunt]) -> tuple[Hunt, ...]:
    """Return the hunts from number 0 on without a gap, up to the first that found something."""
    counted: list[Hunt] = []
    while len(counted) in made:
        counted.append(made[len(counted)])
        if counted[-1].finding is not None:
            break
    return tuple(counted)


def refuse(machine: Machine) -> None:
    """Raise UsageError where nothing is left that a hunt could find."""
    safety = [item for item in machine.properties if item.kind not in LIVENESS]
    tables = any(variable.table is not None for variable in machine.variables)
    if not safety and not tables and not machine.deadlock:
        raise UsageError(
            f"{machine.name}: hunts look for what is wrong with a state or a step, and no property "
            "of that kind is asked for"
        )


def result(
    request: flow.Request,
    document: Document,
    machine: Machine,
    asked: Asked,
    hunted: Hunted,
    workers: int,
    *,
    interrupted: bool,
    seconds_to_shorten: float,
) -> Result:
    """Return the result of hunts as that of any other run, what was found on a shortened way."""
    found = hunted.finding
    short = None if found is None else shorten(machine, found, seconds_to_shorten)
    exploration = Exploration(
        engine="hunt",
        workers=workers,
        distinct=0,
        generated=hunted.steps,
        levels=(),
        depth_complete=-1,
        exhaustive=False,
        stopped_by=_stopped_by(found, hunted, interrupted=interrupted),
        cuts=0,
        deadlocks=int(short is not None and short.kind == "deadlock"),
        findings=() if short is None else (short,),
        rows=_rows(hunted),
        seconds=hunted.seconds,
        state_bits=0,
        bytes_per_state=0.0,
        hunted=_told(asked, hunted),
    )
    return Result(
        origin=_origin(request, document, asked),
        document=document,
        machine=machine,
        exploration=exploration,
        verdict=_verdict(machine, exploration),
        traces=() if short is None or found is None else (_trace(machine, found, short, hunted),),
        compile_seconds=0.0,
        peak_rss_bytes=peak_rss(),
    )


def _verdict(machine: Machine, exploration: Exploration) -> Verdict:
    """Return the verdict of hunts: of one that was for one thing only and reached it, of that.

    Whether all moves are those of the state tables hunts do not show, and then nobody asked.
    """
    verdict = judge(machine, exploration)
    reached = tuple(item for item in verdict.properties if item.outcome == "witnessed")
    if {item.name for item in reached} != aims(machine) or not reached:
        return verdict
    return replace(verdict, overall="holds", exit_code=exits.HOLDS, properties=reached)


def _stopped_by(found: Finding | None, hunted: Hunted, *, interrupted: bool) -> StoppedBy:
    if found is not None:
        return "evaluation_error" if found.kind == "error" else "violation"
    if interrupted:
        return "interrupt"
    return "steps" if hunted.complete else "seconds"


def _trace(machine: Machine, found: Finding, short: Finding, hunted: Hunted) -> Trace:
    trace = rebuild(machine, short)
    number = hunted.made[-1].number
    left_out = found.depth - short.depth
    note = f"hunt {number:,} came upon this after {plural(found.depth, 'step')}"
    if left_out:
        note += f", of which {left_out:,} could be left out"
    note += "; a shorter run may exist" if short.depth else ""
    return replace(trace, notes=(*trace.notes, note))


def _rows(hunted: Hunted) -> tuple[RowCoverage, ...]:
    taken: dict[str, int] = {}
    for one in hunted.made:
        for row, count in one.rows:
            taken[row] = taken.get(row, 0) + count
    return tuple(RowCoverage(row, count, count, 0) for row, count in taken.items())


def _told(asked: Asked, hunted: Hunted) -> str:
    made = plural(len(hunted.made), "hunt")
    told = f"{made} of seed {asked.seed}, {hunted.steps:,} steps"
    if hunted.finding is not None and hunted.finding.kind == "sometimes":
        return f"{hunted.finding.property} is reached, {told}"
    if hunted.finding is not None:
        return told
    early = "" if hunted.complete else ", ended early"
    return f"nothing was found in {told}{early}; that does not show that it holds"


def _origin(request: flow.Request, document: Document, asked: Asked) -> Provenance:
    options = f"--hunts {asked.hunts} --steps {asked.steps} --depth {asked.depth}"
    return flow.provenance(request, document).by("hunt", f"{options} --seed {asked.seed}")
