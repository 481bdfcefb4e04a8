"""The reference engine: breadth-first search with the interpreter, one state after another.

Slow, and meant to be obviously right: every count and every finding of the other engines is held
to this one. docs/semantics.md says in words what stands here.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from checker.errors import EvaluationError, UsageError
from checker.machine.machine import Machine
from checker.memory import peak_rss
from checker.search.concrete import concrete
from checker.search.exploration import Exploration, RowCoverage, StoppedBy
from checker.search.finding import Finding, FindingKind
from checker.search.limits import Limits
from checker.search.progress import Interrupt, OnProgress, Progress
from checker.search.stopping import Clock, why_last
from checker.semantics.successor import State, Successor
from checker.semantics.successors import (
    deadlocked,
    failing,
    initial_states,
    step_violations,
    successors,
    unjudged,
    witnessed,
)
from checker.semantics.symmetry import (
    reduces,
    renamings_of,
    representative,
    symmetric_ids,
)

ORDERS_MAX = 40_320
"""Orders of symmetric ids that are tried of a state: those of eight take a second."""


def explore_reference(
    machine: Machine,
    limits: Limits,
    progress: OnProgress | None = None,
    interrupt: Interrupt | None = None,
) -> Exploration:
    """Search all reachable states of `machine` with the reference interpreter.

    With `Machine.symmetry`, one state of each orbit is stored and expanded; paths are real runs.
    `limits.memory_bytes` is compared with the peak resident size of the process.
    `interrupt`, or Ctrl-C, ends the search with what was found until then. UsageError where
    symmetric ids have more orders than can be tried of each state.
    """
    orders = renamings_of(symmetric_ids(machine)) if reduces(machine) else 1
    if orders > ORDERS_MAX:
        raise UsageError(
            f"the reference interpreter tries all orders of symmetric ids of each state, here "
            f"{orders:,}, and at most {ORDERS_MAX:,}; search with the local engine, or with "
            "--symmetry off"
        )
    search = _Search(machine, limits, Clock(limits, progress, interrupt))
    search.run()
    return search.exploration()


class _Stopped(Exception):  # noqa: N818 - a limit is no error
    """A limit ends the search within a level."""

    def __init__(self, reason: StoppedBy) -> None:
        super().__init__(reason)
        self.reason: StoppedBy = reason


@dataclass
class _Search:
    """One search: the states found so far with how each was found first, and the counts."""

    machine: Machine
    limits: Limits
    clock: Clock
    parents: dict[State, State | None] = field(default_factory=dict)
    representatives: dict[State, State] = field(default_factory=dict)
    by_level: list[list[State]] = field(default_factory=list)
    frontier: list[State] = field(default_factory=list)
    found: list[State] = field(default_factory=list)
    levels: list[int] = field(default_factory=list)
    findings: dict[tuple[str, FindingKind], Finding] = field(default_factory=dict)
    in_source: set[tuple[str, FindingKind]] = field(default_factory=set)
    """Those that were seen in a state that was expanded."""
    generated: int = 0
    cuts: int = 0
    deadlocks: int = 0
    enabled: Counter[str] = field(default_factory=Counter)
    fired: Counter[str] = field(default_factory=Counter)
    new: Counter[str] = field(default_factory=Counter)
    depth_complete: int = -1
    stopped_by: StoppedBy | None = None
    begun: bool = True
    """False where an execution of the initial action failed."""
    reduced: bool = field(init=False)

    def __post_init__(self) -> None:
        self.reduced = reduces(self.machine)

    def run(self) -> None:
        """Search level by level until everything was seen or something ends it."""
        try:
            for step in initial_states(self.machine, once=self.reduced):
                self.take(None, step)
            self.next_level()
            while self.stopped_by is None and self.frontier:
                for state in self.frontier:
                    self.expand(state)
                    self.watch()
                self.depth_complete += 1
                self.next_level()
        except _Stopped as stop:
            if self.found:
                self.levels.append(len(self.found))
            self.stopped_by = stop.reason
        except KeyboardInterrupt:
            if self.found:
                self.levels.append(len(self.found))
            self.stopped_by = "interrupt"

    @property
    def kinds(self) -> dict[str, FindingKind]:
        """Of each property its kind."""
        return {item.name: item.kind for item in self.machine.properties}

    @property
    def depth(self) -> int:
        """Steps to the states that are being found; 0 while the initial ones are."""
        return len(self.levels)

    def next_level(self) -> None:
        """What was found becomes the level to expand, unless the search ends here."""
        self.frontier, self.found = self.found, []
        if self.frontier:
            self.levels.append(len(self.frontier))
            self.by_level.append(self.frontier)
        self.stopped_by = self.reason_to_stop()

    def reason_to_stop(self) -> StoppedBy | None:
        """Why a finished level is the last one; None to go on, or when nothing is left."""
        return why_last(
            self.machine,
            self.limits,
            self.findings,
            self.depth - 1,
            nothing_left=not self.frontier,
        )

    def expand(self, state: State) -> None:
        """Take all steps out of one state, and see whether it is a deadlock."""
        steps = successors(self.machine, state, once=self.reduced)
        ran = [step for step in steps if step.error is None]
        self.enabled.update({step.action for step in ran})
        self.fired.update(step.action for step in ran)
        self.new.update(step.action for step in ran if step.state not in (None, state))
        for step in steps:
            self.take(state, step)
        depth = self.depth - 1
        try:
            if deadlocked(self.machine, state, steps):
                self.deadlocks += 1
                if self.machine.deadlock:
                    self.report("deadlock", "deadlock", depth, (state,))
        except EvaluationError:
            self.report("error", "error", depth, (state,))

    def take(self, source: State | None, step: Successor) -> None:
        """Count one step from `source` (None: an initial one), judge it and keep its state."""
        if step.error is not None:
            self.report_failure(source, step)
            return
        self.generated += 1
        self.cuts += step.cut is not None
        if step.state is None:
            return
        edge = (source, step.state)
        if step.illegal:
            self.report("legal", "legal", self.depth, edge)
        for name in step_violations(self.machine, source, step):
            self.report(name, self.kinds[name], self.depth, edge)
        if step.cut is not None:
            self.check(edge)
        elif (state := self.canonical(step.state)) not in self.parents:
            self.keep(source, state)
            self.check(edge)

    def canonical(self, state: State) -> State:
        """Return the state that stands for `state`: itself, or the representative of its orbit."""
        if not self.reduced:
            return state
        if state not in self.representatives:
            self.representatives[state] = representative(self.machine, state)
        return self.representatives[state]

    def keep(self, source: State | None, state: State) -> None:
        """Store a new state; the search stops instead where no more may be stored."""
        if self.limits.states is not None and len(self.parents) >= self.limits.states:
            raise _Stopped("states")
        self.parents[state] = source
        self.found.append(state)

    def check(self, edge: tuple[State | None, State]) -> None:
        """Judge the properties of the state that an edge leads to."""
        broken, seen = failing(self.machine, edge[1]), witnessed(self.machine, edge[1])
        for name, error in broken:
            if error is None:
                self.report(name, "always", self.depth, edge)
        for name, error in seen:
            if error is None:
                self.report(name, "sometimes", self.depth, edge)
        unclear = unjudged(self.machine, edge[1])
        if unclear or any(error is not None for _, error in broken + seen):
            self.report("error", "error", self.depth, edge)

    def report_failure(self, source: State | None, step: Successor) -> None:
        """Report a step that could not be evaluated: its path ends where it began.

        As deep in a search, it comes before a state of which something cannot be evaluated.
        """
        if source is None:
            if self.begun:
                self.findings.pop(("error", "error"), None)
                self.begun = False
            self.report("error", "error", 0, (None,))
        else:
            self.report("error", "error", self.depth - 1, (source,), step.action)

    def report(
        self,
        name: str,
        kind: FindingKind,
        depth: int,
        end: tuple[State | None, ...],
        action: str | None = None,
    ) -> None:
        """Keep the first finding of each name and kind at its least depth.

        `end` is a state, or an edge: then what it leads to need not be stored.
        """
        known = self.findings.get((name, kind))
        if known is None or depth < known.depth:
            self.findings[name, kind] = Finding(name, kind, depth, self.path(end), action)
            if len(end) == 1:
                self.in_source.add((name, kind))

    def path(self, end: tuple[State | None, ...]) -> tuple[State, ...]:
        """Return the states from an initial one to `end`, each found first from the one before.

        States are found in the order of their least paths, so this is the least shortest path.
        """
        before, states = end[0], [state for state in reversed(end[1:]) if state is not None]
        while before is not None:
            states.append(before)
            before = self.parents.get(before)
        return tuple(reversed(states))

    def watch(self) -> None:
        """Stop at a limit of time or memory; report how the search goes, now and then."""
        reason = self.clock.reason()
        if reason is not None:
            raise _Stopped(reason)
        if self.limits.memory_bytes is not None and peak_rss() > self.limits.memory_bytes:
            raise _Stopped("memory")
        self.clock.tell(len(self.parents), self.progress)

    def progress(self, seconds: float, rate: float) -> Progress:
        """Return how the search goes."""
        return Progress(
            depth=self.depth,
            distinct=len(self.parents),
            generated=self.generated,
            frontier=len(self.frontier),
            seconds=seconds,
            rate=rate,
            memory_bytes=peak_rss(),
            table_bytes=0,
        )

    def exploration(self) -> Exploration:
        """Return what was found. States are not packed, so their size is not told."""
        keeps = self.stopped_by is None and self.machine.judges_runs
        return Exploration(
            engine="reference",
            workers=1,
            distinct=len(self.parents),
            generated=self.generated,
            levels=tuple(self.levels),
            depth_complete=self.depth_complete,
            exhaustive=self.stopped_by is None,
            stopped_by=self.stopped_by,
            cuts=self.cuts,
            deadlocks=self.deadlocks,
            findings=self.sorted_findings(),
            rows=tuple(
                RowCoverage(
                    action.name,
                    self.enabled[action.name],
                    self.fired[action.name],
                    self.new[action.name],
                )
                for action in self.machine.actions
            ),
            seconds=self.clock.seconds,
            state_bits=0,
            bytes_per_state=0.0,
            states=tuple(self.parents) if keeps else None,
        )

    def sorted_findings(self) -> tuple[Finding, ...]:
        """Return the findings by the level whose expansion showed them.

        Within a level: what failed in the states expanded, deadlock, legal, `step` properties and
        properties of states as declared, properties that could not be evaluated.
        """
        order = [item.name for item in self.machine.properties]

        def key(finding: Finding) -> tuple[int, int, int]:
            in_source = (finding.property, finding.kind) in self.in_source
            level = finding.depth if in_source and self.begun else finding.depth - 1
            ranks = {"deadlock": 1, "legal": 2, "step": 3, "refines": 3, "error": 5}
            rank = 0 if in_source and finding.kind == "error" else ranks.get(finding.kind, 4)
            place = order.index(finding.property) if finding.property in order else 0
            return level, rank, place

        return tuple(sorted(map(self.real, self.findings.values()), key=key))

    def real(self, finding: Finding) -> Finding:
        """Return `finding` with a real run; under symmetry its path leads from orbit to orbit."""
        if not self.reduced or (finding.kind == "error" and not self.begun):
            return finding
        in_source = (finding.property, finding.kind) in self.in_source
        return concrete(self.machine, finding, self.by_level, self.canonical, in_source=in_source)
