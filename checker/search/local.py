"""The local engine: runs a Crew level by level, notes what it finds, decides when to stop."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from math import ceil
from pathlib import Path

from checker.errors import EnvironmentFailure, UsageError
from checker.kernel.calls import HaltedError
from checker.kernel.kernel import Kernel
from checker.layout.codec import Decoder
from checker.layout.layout import Layout
from checker.machine.machine import Machine
from checker.memory import default_limit, peak_rss
from checker.search.aims import INITIAL, Aim, newly_found, sought
from checker.search.backup import Backup
from checker.search.checkpoint import Keeper, Saved, find
from checker.search.compact import Compaction
from checker.search.crew import Crew
from checker.search.disk import Disk
from checker.search.exploration import Exploration, RowCoverage, StoppedBy
from checker.search.finding import Finding
from checker.search.limits import Limits
from checker.search.options import Options
from checker.search.paths import rebuild
from checker.search.profile import profile_of
from checker.search.progress import Interrupt, OnProgress, Progress
from checker.search.snapshot import Snapshot
from checker.search.splitting import Piece, pieces_of, signed
from checker.search.stopping import Clock, why_last


def search(
    machine: Machine,
    layout: Layout,
    kernel: Kernel,
    limits: Limits,
    workers: int,
    progress: OnProgress | None,
    interrupt: Interrupt | None,
    options: Options,
) -> Exploration:
    """Do what `explore` promises."""
    memory = limits.memory_bytes or default_limit()
    saved = find(options.resume, options.identity) if options.resume is not None else None
    keeper = None
    if options.checkpoint is not None:
        keeper = Keeper(options.checkpoint, options.identity, kernel.words, saved)
    # Where the table is an index, it knows by their numbers what states lead to. What a checkpoint
    # gives back was expanded before.
    indexed = kernel.words > 1 and not kernel.canonical_address
    records = kernel.judges_runs and indexed and saved is None
    with Crew(kernel, workers, memory, limits.states, records=records) as crew:
        crew.disk = Disk(options.checkpoint or Path(tempfile.gettempdir()))
        crew.notice = options.notice
        crew.compaction = Compaction(options.compact, _pieces(layout) or pieces_of(kernel.words))
        crew.load_code()
        clock = Clock(limits, progress, interrupt)
        levels = _Levels(machine, kernel, limits, crew, clock)
        levels.backup = None if keeper is None else Backup(keeper, crew, options)
        levels.search(saved)
        profile = None
        if options.profile:
            expanded = sum(levels.levels[: levels.depth_complete + 1])
            profile = profile_of(machine, layout, kernel.best, expanded, crew.chosen, interrupt)
        found = replace(levels.exploration(layout), profile=profile)
        if found.states is not None and crew.recording is not None:
            found = replace(found, steps=crew.recording.taken(len(found.states)))
        if options.keep:
            expanded = sum(levels.levels[: levels.depth_complete + 1])
            found = replace(found, states=crew.states(0, expanded))
        return found


def _pieces(layout: Layout) -> list[Piece]:
    """Return the bits of a state that are one number, or a few."""
    fields = {(leaf.word, ((1 << leaf.width) - 1) << leaf.shift) for leaf in layout.leaves}
    return sorted((word, signed(mask)) for word, mask in fields if mask)


class _Levels:
    """One search: its levels, what was found in them, and why it stopped."""

    def __init__(
        self, machine: Machine, kernel: Kernel, limits: Limits, crew: Crew, clock: Clock
    ) -> None:
        self.machine = machine
        self.kernel = kernel
        self.limits = limits
        self.crew = crew
        self.clock = clock
        self.levels: list[int] = []
        self.depth_complete = -1
        self.exhaustive = False
        self.stopped_by: StoppedBy | None = None
        self.aims: list[Aim] = []
        self.seconds = 0.0
        self.level = 0
        self.frontier = 0
        self.before = 0
        self.seconds_before = 0.0
        self.backup: Backup | None = None
        self.sought = sought(machine, kernel)

    def search(self, saved: Saved | None) -> None:
        """Search until everything was seen or something stops it."""
        start = self._begin() if saved is None else self._go_on(saved)
        end = self.crew.tail
        while start < end and self.stopped_by is None:
            self.before, self.frontier = self.frontier, end - start
            stopped = self.crew.expand_level(start, end, self._watch)
            start, end = end, self.crew.tail
            self._note_level(self.level, start, end)
            if stopped is None:
                self.depth_complete = self.level
            self.level += 1
            if stopped is None:
                self._offer()
            self.stopped_by = stopped or self._reason_to_stop(start == end)
        self.exhaustive = self.stopped_by is None
        self.seconds = self.seconds_before + self.clock.seconds
        if self.backup is not None:
            self.backup.save()

    def _begin(self) -> int:
        """Find the initial states; return where the level to expand begins."""
        stopped = self.crew.begin(self._watch)
        self._note_level(INITIAL, 0, self.crew.tail)
        if stopped is None:
            self._offer()
        self.stopped_by = stopped or self._reason_to_stop(self.crew.tail == 0)
        return 0

    def _go_on(self, saved: Saved) -> int:
        """Take up a search where a checkpoint left it; return where the level to expand begins."""
        snapshot = saved.snapshot
        most = self.limits.states
        if most is not None and snapshot.distinct > most:
            raise UsageError(
                f"{saved.directory} holds {snapshot.distinct:,} states already, more than the "
                f"limit of {most:,}"
            )
        halted = False
        try:
            fits = self.crew.adopt(snapshot.distinct, snapshot.levels, saved.load, self._watch)
        except HaltedError:
            fits = halted = True
        if not fits:
            raise EnvironmentFailure(
                f"the {snapshot.distinct:,} states in {saved.directory} do not fit the memory "
                "that the search may use; give it more with --memory"
            )
        self.crew.restore(snapshot.counters, snapshot.distinct)
        self.levels = list(snapshot.levels)
        self.aims = list(snapshot.aims)
        self.level = snapshot.level
        self.depth_complete = snapshot.level - 1
        self.seconds_before = snapshot.seconds
        self.frontier = self.levels[self.level - 1] if self.level else 0
        self._offer()
        self.stopped_by = self._reason_to_stop(snapshot.expanded == snapshot.distinct)
        if halted and self.stopped_by is None:
            self.stopped_by = self.clock.reason() or "interrupt"
        return snapshot.expanded

    def _offer(self) -> None:
        """Let a checkpoint be written of what was finished."""
        if self.backup is not None:
            self.backup.offer(
                Snapshot(
                    level=self.level,
                    levels=tuple(self.levels),
                    counters=self.crew.counters(),
                    aims=tuple(self.aims),
                    seconds=self.seconds_before + self.clock.seconds,
                )
            )

    def exploration(self, layout: Layout) -> Exploration:
        """Return what was found, with paths."""
        crew = self.crew
        distinct = crew.tail
        keeps = self.exhaustive and self.kernel.judges_runs
        paths = rebuild(crew, self.levels, self.aims)
        decoder = Decoder(layout)
        findings = tuple(
            Finding(
                property=aim.name,
                kind=aim.kind,
                depth=aim.depth,
                path=tuple(decoder.states(path.states)),
                action=path.action,
            )
            for aim, path in zip(self.aims, paths, strict=True)
        )
        counters = crew.counters()
        rows = zip(self.kernel.actions, counters.tallies, counters.new, strict=True)
        return Exploration(
            engine="local",
            workers=len(crew.desks),
            distinct=distinct,
            generated=counters.generated,
            levels=tuple(self.levels),
            depth_complete=self.depth_complete,
            exhaustive=self.exhaustive,
            stopped_by=self.stopped_by,
            cuts=counters.cuts,
            deadlocks=counters.deadlocks,
            findings=findings,
            rows=tuple(
                RowCoverage(name, enabled, fired, new) for name, (enabled, fired), new in rows
            ),
            seconds=self.seconds,
            state_bits=ceil(layout.bits),
            bytes_per_state=crew.store.visited_bytes(distinct) / max(distinct, 1),
            states=crew.states(0, distinct) if keeps and crew.has_room_for_states else None,
            checkpoint=None if self.backup is None else self.backup.kept,
        )

    def _progress(self, seconds: float, rate: float) -> Progress:
        return Progress(
            depth=self.level + 1,
            distinct=self.crew.distinct,
            generated=self.crew.counters().generated,
            frontier=self.frontier,
            seconds=seconds,
            rate=rate,
            memory_bytes=peak_rss(),
            table_bytes=self.crew.store.visited_bytes(self.crew.tail),
            frontier_before=self.before,
        )

    def _watch(self) -> StoppedBy | None:
        """Report how the search goes; return why to stop, None to go on."""
        self.clock.tell(self.crew.distinct, self._progress)
        self.crew.advance(self.clock.seconds)
        if self.backup is not None:
            self.backup.maybe_save()
        return self.clock.reason()

    def _note_level(self, level: int, start: int, end: int) -> None:
        """Note what the expansion of `level` found: states `start` to `end`, and flags.

        A thing is noted when it is seen first, so at the least depth it occurs at.
        """
        if end > start:
            self.levels.append(end - start)
        counters = self.crew.counters()
        self.aims += newly_found(
            self.sought,
            self.aims,
            level,
            edges=counters.edges_seen,
            checks=counters.checks_seen,
            deadlocks=counters.deadlocks,
        )

    def _reason_to_stop(self, nothing_left: bool) -> StoppedBy | None:
        """Return why a finished level is the last; None to go on, or when nothing is left."""
        found = [(aim.name, aim.kind) for aim in self.aims]
        reason = why_last(self.machine, self.limits, found, self.level, nothing_left=nothing_left)
        return reason if reason is not None or nothing_left else self._watch()
