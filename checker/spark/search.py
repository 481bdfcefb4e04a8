"""The driver's side of the Spark engine: one job a level, and when to stop.

As long as executors would not be faster the driver finds levels itself (`driver.py`).

Everything that decides a count is in the stored levels and their manifests. What owners keep on
their hosts can be made from them again: a shard that misses it says so, and the job of the level is
run again with the stored states of that shard.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from checker.errors import InternalError, UsageError
from checker.frozen import frozen
from checker.graph.build import fits
from checker.kernel.kernel import Kernel, Words
from checker.layout.codec import decode_all
from checker.layout.layout import Layout
from checker.llvm.meta import CHECK_ERROR
from checker.machine.machine import Machine
from checker.memory import peak_rss
from checker.search.aims import INITIAL, Aim, newly_found, sought
from checker.search.exploration import Exploration, Kept, RowCoverage, StoppedBy
from checker.search.explore import cores
from checker.search.finding import Finding
from checker.search.limits import Limits
from checker.search.options import Options
from checker.search.outcome import INTERRUPTED, NO_MEMORY, Liveness, unknown
from checker.search.paths import Path, least_paths, mark_states
from checker.search.progress import Interrupt, OnProgress, Progress
from checker.search.stopping import Clock, why_last
from checker.spark import tasks
from checker.spark.counts import (
    Counts,
    Telling,
    Told,
    as_counters,
    from_counters,
    parse,
    total,
)
from checker.spark.driver import Driver, Level, turn
from checker.spark.graph import flagged, level_rows
from checker.spark.jobs import GRAPH_AGAIN, Jobs, Stopped
from checker.spark.properties import place_of, require_parallelism
from checker.spark.room import Room
from checker.spark.scratch import remove
from checker.spark.session import Cluster, waiting
from checker.spark.shipped import Shipped
from checker.spark.store import Manifest, Place, Store, row_type
from checker.spark.table import dealt_out, shares

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import SparkSession

_FEW = 10_000_000
"""States up to which shards move to every executor that joins; later only when there are twice as
many executors, for what moves is made again."""
HEAVY = 2.0
"""Skew from which a level is told of, unless it is too small to matter."""
_SMALL = 100_000
_REMOVAL_SECONDS = 30.0
"""How long to wait for executors, of which there may be none left, to remove what they keep."""
_STORE_SECONDS = 5.0
"""How long levels that the driver found may wait until they are stored, where they are kept."""
_TASKS_SECONDS = 2.0


@frozen(eq=False)
class Answer:
    """How many of all `states` match, and of how many it cannot be said: a value is not there.

    `path` is a shortest one (packed states, one a row) to a state that matches, or where none does
    to one of which it cannot be said; None where there is neither.
    """

    matching: int
    failing: int
    states: int
    path: Words | None


class Search:
    """One search: its finished levels, what was found in them, and why it stopped."""

    def __init__(
        self,
        session: SparkSession,
        machine: Machine,
        kernel: Kernel,
        shipped: Shipped,
        limits: Limits,
        progress: OnProgress | None,
        interrupt: Interrupt | None,
        options: Options,
        room: Room | None = None,
    ) -> None:
        self.session = session
        self.context = session.sparkContext
        self.machine = machine
        self.kernel = kernel
        self.limits = limits
        self.clock = Clock(limits, progress, interrupt)
        self.options = options
        self.local = self.context.master.startswith("local")
        properties = dict(self.context.getConf().getAll())
        require_parallelism(properties)
        self.place = place_of(properties, self.context.applicationId, local=self.local)
        self.room = room or Room()
        self.turn = turn(properties, self.room.level, min(self.context.defaultParallelism, cores()))
        self.driver: Driver | None = None
        self.held: dict[int, Level] = {}
        self.unwritten: list[int] = []
        self.written = 0.0
        self.shipped = self.context.broadcast(shipped)
        self.shards: int = self.context.defaultParallelism
        self.manifests: list[Manifest] = []
        self.counts = Counts()
        self.aims: list[Aim] = []
        self.serials = itertools.count()
        self.serial = ""
        self.anchor: RDD[tasks.Pair] | None = None
        self.executors = 0
        self.index_bytes = 0
        self.stopped_by: StoppedBy | None = None
        self.unstored = 0
        self.seconds = 0.0
        self.warned = False
        self.told_of_disk = False
        self.last_told: Progress | None = None
        self.shuffled = 0
        self._goals = sought(machine, kernel)

    def run(self, cluster: Cluster, layout: Layout) -> Exploration:
        """Search, keep the levels where `cluster` says, and return what was found."""
        kept = cluster.resume or cluster.checkpoint
        with Place(kept, local=self.local) as place, ExitStack() as leaving:
            self.store = Store(self.session, place.root, self.options.identity)
            leaving.callback(self.store.leave)
            self.jobs = Jobs(self.context, place.root, self._watch)
            with waiting(self.options.notice, f"{place.root}: until it answers"):
                if cluster.resume is not None:
                    self.store.hold()
                    self._resume()
                resumed, resumable = cluster.resume is not None, not self.limits.only_states
                self.store.prepare(resumed=resumed, resumable=resumable)
            self.clock = Clock(self.limits, self.clock.progress, self.clock.interrupt)
            try:
                self._search(kept=kept is not None)
            except Stopped as stop:
                self.stopped_by = stop.reason
            finally:
                self._leave_driver()
                self._remove_kept()
            if kept is not None:
                self._write_held(self._unwatched)
            self.seconds += self.clock.seconds
            self.clock.limits = replace(self.limits, seconds=None)  # the time of the search is over
            return self._exploration(layout, kept)

    def ask(self, root: str, flag: int) -> Answer:
        """Return which states, of the finished search at `root`, a check of them flags."""
        self.store = Store(self.session, root, self.options.identity)
        self.jobs = Jobs(self.context, root, self._watch, GRAPH_AGAIN)
        with waiting(self.options.notice, f"{root}: until it answers"):
            self.manifests = self.store.manifests()
        if self.manifests[-1].count:
            raise UsageError(f"{root}: the search was stopped before it found all states")
        flags = (flag, CHECK_ERROR)

        def job() -> list[tuple[int, int, int]]:
            match = partial(flagged, self.shipped, flags)
            schema = "depth int, flag bigint, states bigint"
            rows = level_rows(self.session, root).mapInArrow(match, schema)
            summed = rows.groupBy("depth", "flag").sum("states").collect()
            return [(row[0], row[1], row[2]) for row in summed]

        found = self.jobs.run(f"{self.machine.name}: query", job)
        judged = {depth: count for depth, of, count in found if of == 0}
        for manifest in self.manifests:
            there = judged.get(manifest.level, 0)
            if there != manifest.count:
                raise self.damaged(there, manifest.count, f" (level {manifest.level})")
        matching, failing = (sum(count for _, of, count in found if of == one) for one in flags)
        if not matching and not failing:
            return Answer(0, 0, self.distinct, None)
        sought = flag if matching else CHECK_ERROR
        least = min(depth for depth, of, _ in found if of == sought)
        # Seen first when the level before its own was expanded.
        self.aims = [Aim(self.kernel.checks[0], "sometimes", least - 1, check=sought)]
        return Answer(matching, failing, self.distinct, self._paths()[0].states)

    # ------------------------------------------------------------------------------- levels

    @property
    def level(self) -> int:
        """The last finished level, the one to expand."""
        return len(self.manifests) - 1

    @property
    def distinct(self) -> int:
        """States of all finished levels."""
        return sum(manifest.count for manifest in self.manifests)

    def _search(self, *, kept: bool) -> None:
        if reason := self._watch():
            raise Stopped(reason)
        if not self.manifests:
            self._begin()
        self.stopped_by = self.stopped_by or self._reason_to_stop()
        while self.stopped_by is None and self.manifests[-1].count:
            if reason := self._watch():
                raise Stopped(reason)
            if self.driver is not None and self._is_its_turn():
                self._expand_here(self.driver)
                if kept and time.perf_counter() - self.written > _STORE_SECONDS:
                    self._write_held(self.jobs)
            else:
                self._leave_driver()
                self._write_held(self.jobs)
                self.held.clear()  # they are stored, and executors here may want the memory
                self._expand(self.level)
            self.stopped_by = self.stopped_by or self._reason_to_stop()

    def _is_its_turn(self) -> bool:
        """Whether the driver finds the next level itself."""
        times = [manifest.seconds for manifest in self.manifests[-2:]]
        return self.turn.takes(
            self.manifests[-1].count, self.distinct, times[-1] - times[0], self._cores_of_executors
        )

    def _cores_of_executors(self) -> int:
        """Return how many tasks of this search can run at a time."""
        context = self.context._jsc.sc()  # noqa: SLF001 (Python has no other way to them)
        profile = context.resourceProfileManager().defaultResourceProfile()
        found = int(context.maxNumConcurrentTasks(profile))
        most = cores() if self.local else found
        return max(min(found, self.shards, most), 1)

    def _resume(self) -> None:
        """Take up a search after its last finished level."""
        self.manifests = self.store.manifests()
        last = self.manifests[-1]
        most = self.limits.states
        if most is not None and self.distinct > most:
            raise UsageError(
                f"{self.store.root} holds {self.distinct:,} states already, more than the limit "
                f"of {most:,}"
            )
        self.shards = len(last.shards)
        self.counts = from_counters(last.counters)
        self.aims = list(last.aims)
        self.seconds = last.seconds
        self.written = time.perf_counter()
        if self._is_its_turn():
            self.driver = self._new_driver()
            sizes = [manifest.count for manifest in self.manifests]
            found = self.driver.go_on(sizes, partial(self._read, range(self.level + 1)))
            if found is None:
                self._leave_driver()
            else:
                self.held = dict(enumerate(found))

    def _new_driver(self) -> Driver:
        return Driver(self.kernel, self.turn.cores, self.room.search)

    def _leave_driver(self) -> None:
        """From now on the executors find the levels; what was found stays."""
        if self.driver is not None:
            self.driver.close()
        self.driver = None

    def _begin(self) -> None:
        """Make the initial states the first level."""
        self.driver = self._new_driver()
        self.written = time.perf_counter()
        self._finish_here(0, self.driver.begin(self._watch))

    def _expand_here(self, driver: Driver) -> None:
        """Expand a level in this process; if memory is too short for that, leave it to others."""
        found = driver.expand(self._watch)
        self.index_bytes = driver.bytes
        if found in ("memory", "memory_of_one_state"):
            self._leave_driver()
        else:
            self._finish_here(self.level + 1, found)

    def _finish_here(self, level: int, found: Level | StoppedBy) -> None:
        """Hold a level that was found in this process, to be stored with others."""
        if not isinstance(found, Level):
            raise Stopped(found)
        manifest = self._counted(level, shares(found.states, self.shards), found.counts)
        if manifest is not None:
            self.held[level] = found
            self.unwritten.append(level)
            self._add(manifest)

    def _write_held(self, jobs: Jobs) -> None:
        """Store the levels that were found in this process since this was last done."""
        if self.unwritten:
            jobs.run(f"{self._title(self.unwritten[-1])}: stored", self._write_levels)
        self.written = time.perf_counter()

    def _write_levels(self) -> None:
        """Write the first of these levels, and the next, until none is left."""
        while self.unwritten:
            level = self.unwritten[0]
            found = self.held[level]
            shards = enumerate(dealt_out(found.states, self.shards))
            counts = itertools.chain([found.counts], itertools.repeat(Counts()))
            self.store.write_here(
                level,
                itertools.chain.from_iterable(
                    tasks.rows_of(shard, states, counted)
                    for (shard, states), counted in zip(shards, counts, strict=False)
                ),
            )
            self.store.commit(self.manifests[level])
            del self.unwritten[0]

    @property
    def _unwatched(self) -> Jobs:
        """Jobs that no limit stops: what was found is not lost."""
        return Jobs(self.context, self.store.root, lambda: None)

    def _expand(self, level: int) -> None:
        """Expand a level: what it leads to and is new becomes the next one."""
        every = frozenset(range(self.shards))
        cold = frozenset[int]() if self.serial else every
        while True:
            told, serial = self._try(level, cold)
            missing = frozenset(shard for report in told.values() for shard in report.missing)
            if not missing:
                break
            # Whoever is given its states is not cold, so a third try is the last.
            cold = every if cold else missing
        self.serial = serial
        self._finish(level + 1, told)

    def _try(self, level: int, cold: frozenset[int]) -> tuple[Told, str]:
        """Run the job of a level; return what the shards told and the job's serial."""
        told = self.context.accumulator({}, Telling())
        serial = f"{level + 1}-{next(self.serials)}"
        step = tasks.Step(
            level=level,
            serial=serial,
            before=self.serial,
            stored=tuple(map(sum, zip(*(m.shards for m in self.manifests), strict=True))),
            last=self.manifests[-1].shards,
            cold=cold,
            place=self.place,
        )

        def job() -> None:
            # All are owned alike, so Spark joins them where the anchor is; stored ones come first.
            anchor = self._anchored()
            frontier = [anchor]
            stored = [anchor]
            if cold:
                frontier.append(self._owned(range(level, level + 1), cold))
                stored.append(self._owned(range(level + 1), cold))
            candidates = (
                self.context.union(frontier)
                .mapPartitionsWithIndex(partial(tasks.expand, self.shipped, step, self.shards))
                .partitionBy(self.shards, tasks.owner)
            )
            new = self.context.union([*stored, candidates]).mapPartitionsWithIndex(
                partial(tasks.settle, self.shipped, step, told)
            )
            self.store.write(
                level + 1, self.session.createDataFrame(new, row_type(), verifySchema=False)
            )

        title = self._title(level + 1)
        self.jobs.run(f"{title}: {len(cold)} cold shards" if cold else title, job)
        return told.value, serial

    def _owned(self, levels: range, shards: frozenset[int]) -> RDD[tasks.Pair]:
        """Return the stored states of some levels and shards where they are owned."""
        pairs = self.store.states(levels, shards).rdd.mapPartitions(tasks.visited)
        return pairs.partitionBy(self.shards, tasks.owner)

    def _anchored(self) -> RDD[tasks.Pair]:
        """Return an item a shard that Spark keeps on the executor that is the shard's from then on.

        By it Spark knows where to run what belongs to a shard. Where an executor is lost, Spark
        makes its items again on another; where some have joined, we let it place all anew.
        """
        executors = self._count_executors()
        joined = executors > self.executors
        if self.anchor is None or (
            joined and (self.distinct < _FEW or executors >= 2 * self.executors)
        ):
            if self.anchor is not None:
                self.anchor.unpersist()
            self.executors = executors
            items = self.context.parallelize(range(self.shards), self.shards)
            self.anchor = items.map(tasks.anchor).partitionBy(self.shards, tasks.owner).persist()
        return self.anchor

    def _count_executors(self) -> int:
        context = self.context._jsc.sc()  # noqa: SLF001 (Python has no other way to them)
        return len(context.statusTracker().getExecutorInfos())

    def _remove_kept(self) -> None:
        """Remove what owners kept on their hosts; what is left there, a later search removes."""
        if self.local:
            remove(self.place)
        elif self.anchor is not None:
            until = time.perf_counter() + _REMOVAL_SECONDS
            anchor, clear = self.anchor, partial(tasks.clear, self.place)

            def late() -> StoppedBy | None:
                return "seconds" if time.perf_counter() > until else None

            with suppress(Exception):  # the answer is there already, or an error that says more
                Jobs(self.context, self.store.root, late).run(
                    f"{self.machine.name}: end", lambda: anchor.foreachPartition(clear)
                )

    def _finish(self, level: int, told: Told) -> None:
        """Note what the shards told of a written level, and declare it finished."""
        if sorted(told) != list(range(self.shards)):
            raise InternalError(f"of {self.shards} shards only {sorted(told)} told their counts")
        counts = total(parse(report.text) for report in told.values())
        self.index_bytes = sum(report.index_bytes for report in told.values())
        if any(report.on_disk for report in told.values()) and not self.told_of_disk:
            self.told_of_disk = True
            self.options.notice(
                f"level {level}: the index of the states has no room left in memory and goes on in "
                "files below spark.local.dir; the search stays right, but slows down"
            )
        shards = tuple(told[shard].states for shard in range(self.shards))
        manifest = self._counted(level, shards, counts)
        if manifest is not None:
            self.store.commit(manifest)
            self._add(manifest)

    def _counted(self, level: int, shards: tuple[int, ...], counts: Counts) -> Manifest | None:
        """Count a level; return what declares it finished, None where it is beyond the limit."""
        if level and counts.expanded != self.manifests[-1].count:
            raise InternalError(
                f"{counts.expanded:,} states were expanded of {self.manifests[-1].count:,}"
            )
        self.counts = total((self.counts, counts))
        if not self.limits.only_states:
            self.aims += newly_found(
                self._goals,
                self.aims,
                level - 1 if level else INITIAL,
                edges=self.counts.edges,
                checks=self.counts.checks,
                deadlocks=self.counts.deadlocks,
            )
        manifest = Manifest(
            level=level,
            shards=shards,
            counters=as_counters(self.counts, self.kernel),
            aims=tuple(self.aims),
            seconds=self.seconds + self.clock.seconds,
        )
        self.shuffled = counts.shuffled
        most = self.limits.states
        if most is not None and self.distinct + manifest.count > most:
            # As many as may be stored are told of; the level is found again on resuming.
            self.unstored = most - self.distinct
            self.stopped_by = "states"
            return None
        return manifest

    def _add(self, manifest: Manifest) -> None:
        """Take a finished level as the one to expand."""
        self.manifests.append(manifest)
        self._report(_skew(manifest.shards))

    def _title(self, level: int) -> str:
        return f"{self.machine.name} level {level}"

    def _reason_to_stop(self) -> StoppedBy | None:
        nothing_left = self.manifests[-1].count == 0
        found = [(aim.name, aim.kind) for aim in self.aims]
        return why_last(self.machine, self.limits, found, self.level, nothing_left=nothing_left)

    # ----------------------------------------------------------------------- limits, progress

    def _watch(self) -> StoppedBy | None:
        """Return why to stop now; None to go on."""
        reason = self.clock.reason()
        if reason is None:
            self._tell_of_tasks(self.clock.seconds)
        return reason

    def _tell_of_tasks(self, seconds: float) -> None:
        """Tell of a level that takes long how many of its tasks are done."""
        last = self.last_told
        if self.clock.progress is None or last is None or seconds - last.seconds < _TASKS_SECONDS:
            return
        tracker = self.context.statusTracker()
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        self.last_told = replace(
            last,
            seconds=seconds,
            tasks=sum(stage.numTasks for stage in stages if stage),
            tasks_done=sum(stage.numCompletedTasks for stage in stages if stage),
        )
        self.clock.progress(self.last_told)

    def _report(self, skew: float) -> None:
        """Tell how the search goes; warn where one shard has much more to do than the others."""
        if skew >= HEAVY and self.manifests[-1].count >= _SMALL and not self.warned:
            self.warned = True
            self.options.notice(
                f"level {self.level}: the fullest shard holds {skew:.1f} times the average; the "
                "search stays right, but waits for it"
            )

        def progress(seconds: float, rate: float) -> Progress:
            return Progress(
                depth=self.level,
                distinct=self.distinct,
                generated=self.counts.generated,
                frontier=self.manifests[-1].count,
                seconds=seconds,
                rate=rate,
                memory_bytes=peak_rss(),
                table_bytes=self.index_bytes,
                frontier_before=self.manifests[-2].count if self.level else 0,
                shuffle_bytes=self.shuffled,
                skew=skew,
            )

        self.last_told = self.clock.tell(self.distinct, progress) or self.last_told

    # ------------------------------------------------------------------------------- result

    def _exploration(self, layout: Layout, kept: str | None) -> Exploration:
        """Return what was found, with paths."""
        exhaustive = self.stopped_by is None
        lively = exhaustive and self.kernel.judges_runs
        states, endless = self._to_judge() if lively else (None, None)
        paths = self._paths()
        counters = as_counters(self.counts, self.kernel)
        levels = [manifest.count for manifest in self.manifests if manifest.count]
        if self.unstored:
            levels.append(self.unstored)
        rows = zip(self.kernel.actions, counters.tallies, counters.new, strict=True)
        return Exploration(
            engine="spark",
            workers=self.context.defaultParallelism,
            distinct=sum(levels),
            generated=counters.generated,
            levels=tuple(levels),
            depth_complete=max(self.level - 1, -1),
            exhaustive=exhaustive,
            stopped_by=self.stopped_by,
            cuts=counters.cuts,
            deadlocks=counters.deadlocks,
            findings=tuple(
                Finding(
                    property=aim.name,
                    kind=aim.kind,
                    depth=aim.depth,
                    path=tuple(decode_all(layout, path.states)),
                    action=path.action,
                )
                for aim, path in zip(self.aims, paths, strict=True)
            ),
            rows=tuple(
                RowCoverage(name, enabled, fired, new) for name, (enabled, fired), new in rows
            ),
            seconds=self.seconds,
            state_bits=ceil(layout.bits),
            bytes_per_state=8.0 * self.kernel.words,
            states=states,
            endless=endless,
            checkpoint=Kept(kept, self.level, self.distinct) if kept and self.manifests else None,
        )

    def _paths(self) -> list[Path]:
        """Return the least shortest path to each finding, marking level after level backwards."""
        self.clock.limits, self.clock.interrupt = (
            Limits(),
            None,
        )  # what was found is shown in any case
        return least_paths(self.kernel, self._mark, self.aims)

    def _mark(self, level: int, aims: Sequence[Aim], later: Words | None) -> Words:
        if level in self.held:
            return mark_states(self.kernel, self.held[level].states, level, aims, later)
        if self.turn.reads(self.manifests[level].count):
            return mark_states(self.kernel, self._stored(level), level, aims, later)
        marks = None if later is None else self.context.broadcast(later.tobytes())
        mark = partial(tasks.mark, self.shipped, level, list(aims), marks)
        found = self.jobs.run(
            f"{self._title(level)}: paths",
            lambda: self.store.states(range(level, level + 1)).rdd.mapPartitions(mark).collect(),
        )
        if marks is not None:
            marks.destroy()
        return _joined(found, self.kernel.words + 1)

    def _to_judge(self) -> tuple[Words | None, Liveness | None]:
        """Return all states where they fit the driver; else why nobody judges endless runs."""
        try:
            states = self._all_states()
        except Stopped:
            return None, unknown(self.machine, INTERRUPTED)
        return states, unknown(self.machine, NO_MEMORY) if states is None else None

    def _all_states(self) -> Words | None:
        """Return all states in the order of their depth; None where they do not fit the memory."""
        none = np.empty((0, self.kernel.words), np.int64)
        whole = np.lib.stride_tricks.as_strided(
            none, (self.distinct, self.kernel.words), (0, 0), writeable=False
        )
        if not fits(whole, self.counts.generated, self.room.whole or self.limits.memory_bytes):
            return None
        levels = [self._states_of(level) for level in range(self.level + 1)]
        return np.ascontiguousarray(np.concatenate(levels))

    def _states_of(self, level: int) -> Words:
        """Return the states of a level in the order of their words."""
        held = self.held.get(level)
        states = self._stored(level) if held is None else held.states
        ordered: Words = states[np.lexsort(states.T[::-1])]
        return ordered

    def _stored(self, level: int) -> Words:
        """Return the stored states of a level; UsageError where some are missing."""
        states = np.empty((self.manifests[level].count, self.kernel.words), np.int64)
        self._read(range(level, level + 1), states)
        return states

    def _read(self, levels: range, target: Words) -> None:
        """Fill `target` with the stored states of some levels; UsageError where they are others."""

        def job() -> int:
            done = 0
            for level in levels:
                for content in self.store.read_here(level):
                    states = tasks.states_of(content, self.kernel.words)
                    room = target[done : done + len(states)]
                    room[:] = states[: len(room)]
                    done += len(states)
            return done

        found = self.jobs.run(f"{self._title(levels[-1])}: states", job)
        if found != len(target):
            raise self.damaged(found, len(target))

    def damaged(self, found: int, written: int, of: str = "") -> UsageError:
        """Return the error of stored states that are not as many as were `written`."""
        return UsageError(
            f"{self.store.root}: damaged: {found:,} states are there where {written:,} "
            f"were written{of}; {self.jobs.again}"
        )


def _skew(shards: Sequence[int]) -> float:
    """Return the states of the fullest shard over those of the average one."""
    average = sum(shards) / len(shards)
    return max(shards) / average if average else 1.0


def _joined(contents: Sequence[bytes], words: int) -> Words:
    """Return packed rows of `words` words as one array."""
    whole = np.frombuffer(b"".join(contents), "<i8").astype(np.int64)
    return whole.reshape(-1, words)
