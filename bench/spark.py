"""The Spark engine on `local[2]` against the local engine on two threads, in one session of Spark.

Three searches of `turns`: one of 2,500 states in 99 levels, which is nothing but rounds; one of a
million states in 125 levels; one of 10^N states, which are cheap. Then a specification of 120
million states, as people run it. The large ones as a user runs them, so that the driver finds what
it can, and by executors alone. What is measured of memory is that of Java, of all Python processes
below this one, and of the files that owners share; sampled while it searches.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event, Thread
from typing import Any, Self

from process import ROOT, check, settings

MODEL = str(Path(__file__).parent / "models" / "turns.yaml")
HEAP = 2 << 30
OVERHEAD = 15 << 30
"""Bytes beside Java's heap."""
KEPT = 11 << 30
"""How many of them are for what owners keep in memory."""

SHIPPED = (
    str(Path(__file__).parent / "models" / "controller_basics"),
    {"crashes": 2, "failovers": 1, "lost_replies": 1},
)

CONFIGURATION = (
    ("spark.driver.memory", f"{HEAP >> 20}m"),
    ("spark.executor.memoryOverhead", f"{OVERHEAD >> 20}m"),
    ("spark.checker.tables.memory", f"{KEPT >> 20}m"),
    ("spark.default.parallelism", "2"),
    ("spark.ui.enabled", "false"),
)
_PERIOD = 0.25


@dataclass(slots=True)
class Peak:
    """The most bytes, each for itself and together, and the processor seconds so far."""

    java: int = 0
    python: int = 0
    kept: int = 0
    together: int = 0
    processor: float = 0.0


class Sampler:
    """Looks at the processes below this one."""

    def __init__(self) -> None:
        self.peak = Peak()
        self._own = os.getpid()
        self._used: dict[int, float] = {}
        self._stop = Event()
        self._thread = Thread(target=self._sample_on, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def take(self) -> Peak:
        """Return what was seen, and begin anew; processor seconds run on."""
        self.sample()
        peak, self.peak = self.peak, Peak()
        return replace(peak, processor=sum(self._used.values()))

    def _sample_on(self) -> None:
        while not self._stop.wait(_PERIOD):
            self.sample()

    def sample(self) -> None:
        """Look once."""
        java = python = 0
        for process in self._below():
            with suppress(OSError, ValueError, KeyError, IndexError):
                status = dict(
                    line.split(":", 1)
                    for line in Path(f"/proc/{process}/status").read_text().splitlines()
                )
                # Shared memory is counted by its files.
                size = 1024 * sum(int(status[key].split()[0]) for key in ("RssAnon", "RssFile"))
                fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
                self._used[process] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
                if status["Name"].strip() == "java":
                    java += size
                else:
                    python += size
        kept = 0
        for file in Path("/dev/shm").glob("checker-*/*"):  # noqa: S108 (looked at only)
            with suppress(OSError):
                kept += 512 * file.lstat().st_blocks  # what is a link is on a disk
        peak = self.peak
        peak.java, peak.python = max(peak.java, java), max(peak.python, python)
        peak.kept = max(peak.kept, kept)
        peak.together = max(peak.together, java + python + kept)

    def _below(self) -> list[int]:
        parents: dict[int, int] = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with suppress(OSError, IndexError, ValueError):
                    fields = (entry / "stat").read_text().rpartition(")")[2].split()
                    parents[int(entry.name)] = int(fields[1])
        found = []
        for process in parents:
            above = process
            while above in parents and above != self._own:
                above = parents[above]
            if above == self._own:
                found.append(process)
        return found


@dataclass(frozen=True, slots=True)
class Searched:
    """A search on Spark: its result, what it took, and what it sent."""

    distinct: int
    levels: int
    seconds: float
    processor: float
    peak: Peak
    candidates: int
    shuffled: int
    packed: int


def _turns(workers: int, last: int) -> Any:
    """Return the machine of `turns`, of which nothing is judged."""
    from checker.flow import machine_of  # noqa: PLC0415 (Spark's packages are an extra)

    constants = {"Worker": workers, "last": last, "lively": False}
    return replace(machine_of(MODEL, "default", constants), properties=())


def _search(session: Any, sampler: Sampler, machine: Any, *, alone: bool = True) -> Searched:
    """Search a machine in the session that is there; `alone`: executors without the driver."""
    from checker.kernel.build import build  # noqa: PLC0415 (Spark's packages are an extra)
    from checker.layout.layout import pack  # noqa: PLC0415
    from checker.search.identity import identity_of  # noqa: PLC0415
    from checker.search.limits import Limits  # noqa: PLC0415
    from checker.search.options import Options  # noqa: PLC0415
    from checker.spark.explore import explore_spark  # noqa: PLC0415
    from checker.spark.room import Room  # noqa: PLC0415
    from checker.spark.session import Cluster  # noqa: PLC0415

    layout = pack(machine)
    kernel = build(machine, layout)
    options = Options(identity=identity_of(machine, kernel), notice=print)
    before = sampler.take().processor
    with tempfile.TemporaryDirectory() as checkpoint:
        cluster = Cluster(checkpoint=checkpoint)
        room = Room(level=0) if alone else None
        found = explore_spark(machine, layout, kernel, Limits(), cluster, None, None, options, room)
        peak = sampler.take()
        rows = session.read.parquet(f"{checkpoint}/levels").where("counts is not null")
        counts = [json.loads(row[0]) for row in rows.select("counts").collect()]
    return Searched(
        distinct=found.distinct,
        levels=len(found.levels),
        seconds=found.seconds,
        processor=peak.processor - before,
        peak=peak,
        candidates=sum(part["candidates"] for part in counts),
        shuffled=sum(part["shuffled"] for part in counts),
        packed=8 * kernel.words,
    )


def _gib(size: int) -> str:
    return f"{size / 2**30:.2f} GiB"


def spark(exponent: int) -> list[str]:
    """Measure, with 10^exponent states at last; return the lines of a table."""
    sys.path.insert(0, str(ROOT))  # the checker of this tree, whichever is installed
    from checker.flow import machine_of  # noqa: PLC0415 (an extra)
    from checker.spark.session import Cluster, spark_session  # noqa: PLC0415

    with Sampler() as sampler:
        started = time.perf_counter()
        with spark_session(Cluster(workers=2, conf=CONFIGURATION), "bench", print) as session:
            start = time.perf_counter() - started
            first = _search(session, sampler, _turns(2, 4))
            rounds = _search(session, sampler, _turns(2, 49))
            deep = _search(session, sampler, _turns(4, 31))
            dear = machine_of(SHIPPED[0], "default", SHIPPED[1])
            large = _search(session, sampler, _turns(exponent, 9), alone=False)
            spread = _search(session, sampler, _turns(exponent, 9))
            shipped = _search(session, sampler, dear, alone=False)
            apart = _search(session, sampler, dear)
            # What a round costs falls while Java compiles itself: the least is taken off.
            later = _search(session, sampler, _turns(2, 49))
    fixed = [run.seconds / run.levels for run in (rounds, later)]
    turns = settings(Worker=exponent, last=9, lively="false")
    alone, _ = check(MODEL, *turns, "--property", "deadlock", "--workers", "2")
    also, _ = check(SHIPPED[0], *settings(**SHIPPED[1]), "--workers", "2")
    return [
        "| what | bar | measured |",
        "| --- | --- | --- |",
        f"| start of the session | | {start:.1f} s |",
        (
            f"| first search of a session ({first.levels} levels, {first.distinct} states) | |"
            f" {first.seconds:.1f} s |"
        ),
        (
            f"| a round, its durable write included ({rounds.levels} of some"
            f" {rounds.distinct // rounds.levels} states) | 1 s |"
            f" {fixed[0]:.2f} s ({rounds.processor / rounds.levels:.2f} s of processors) |"
        ),
        (
            f"| the same after all other searches | 1 s |"
            f" {fixed[1]:.2f} s ({later.processor / later.levels:.2f} s of processors) |"
        ),
        f"| {deep.distinct:,} states in {deep.levels} levels | 120 s | {deep.seconds:.1f} s |",
        *_compared("turns", large, alone),
        *_compared("turns, executors alone", spread, alone),
        *_compared("controller_basics", shipped, also),
        *_compared("controller_basics, executors alone", apart, also),
    ]


def _compared(name: str, found: Searched, local: Mapping[str, Any]) -> list[str]:
    """Return the rows of a large search beside the local engine's."""
    assert local["distinct"] == found.distinct
    own = local["distinct"] / local["seconds"]
    whole = found.distinct / found.seconds
    peak = found.peak
    return [
        (
            f"| **{name}**, {found.distinct:,} states of {found.packed} bytes in {found.levels}"
            f" levels: local engine, 2 threads | | {local['seconds']:.1f} s,"
            f" {own / 1e6:.2f} M distinct/s |"
        ),
        (
            f"| local[2], everything | 0.3 of local | {found.seconds:.1f} s, {whole / 1e6:.2f} M"
            f" distinct/s, {whole / own:.2f} of local |"
        ),
        (
            f"| processor time of all processes, a state | |"
            f" {found.processor / found.distinct * 1e6:.2f} us |"
        ),
        (
            f"| peak memory: Java, Python processes, kept files | |"
            f" {_gib(peak.java)}, {_gib(peak.python)}, {_gib(peak.kept)} |"
        ),
        f"| peak memory together | {_gib(HEAP + OVERHEAD)} configured | {_gib(peak.together)} |",
        f"| kept files, bytes a state | | {peak.kept / found.distinct:.1f} |",
        *(_sent(found) if found.candidates else ()),
    ]


def _sent(found: Searched) -> list[str]:
    """Return a row of what went through the shuffle, of a search in which anything did."""
    return [
        (
            f"| shuffled bytes a candidate | {2 * found.packed} |"
            f" {found.shuffled / found.candidates:.1f}"
            f" ({found.candidates / found.distinct:.1f} candidates a state) |"
        )
    ]
