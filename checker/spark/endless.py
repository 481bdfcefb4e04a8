"""Judges endless runs on a graph that does not fit the driver: Spark trims, the driver decides.

For each property: which states owe it, by a way forward through the stored steps; which of them a
fair endless run can use, by trimming; and on what is left, if it fits, the code of the local
engine. Whatever is not trimmed away is judged exactly, so the answer is that of the local engine,
and so is the lasso.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from checker.graph.build import initially
from checker.graph.judge import lasso_finding, outcome_of, owed_beyond, placed
from checker.kernel.kernel import Kernel, Words
from checker.layout.codec import decode_all
from checker.layout.layout import Layout
from checker.llvm.meta import CONDITION, PREMISE
from checker.machine.machine import Machine, Property
from checker.search.exploration import Finding
from checker.search.outcome import (
    INTERRUPTED,
    ONE_MACHINE,
    REST,
    Liveness,
    Outcome,
    unknown,
)
from checker.search.paths import Mark, least_path_to
from checker.semantics.fairness import fair_rows, strengths
from checker.spark.drafts import Drafts, sized_for
from checker.spark.jobs import Jobs, Stopped
from checker.spark.outlook import Outlook, look_ahead
from checker.spark.rest import Rest, collect, fits_driver, judge_rest
from checker.spark.room import Room
from checker.spark.rounds import Rounds
from checker.spark.tasks import Broadcast
from checker.spark.trimming import TABLES, Trimming, owing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """A finished search: where its levels are, and what to ask them by.

    `mark` marks a level, `steps` is an upper bound of the number of steps.
    """

    session: SparkSession
    jobs: Jobs
    root: str
    shipped: Broadcast
    mark: Mark
    notice: Callable[[str], None]
    steps: int


def judge_on_spark(
    ground: Ground, machine: Machine, layout: Layout, kernel: Kernel, room: Room
) -> Liveness:
    """Judge each liveness property of `machine` by itself; `unknown` where it was interrupted."""
    ground.notice(
        f"{machine.name}: the graph of all steps does not fit the driver; Spark trims it for each "
        "liveness property"
    )
    drafts = Drafts(ground.session, f"{ground.root}/liveness")
    with sized_for(ground.session, ground.steps), drafts:
        try:
            return _Judge(ground, machine, layout, kernel, room, drafts).liveness()
        except Stopped:
            return unknown(machine, INTERRUPTED)


class _Judge:
    def __init__(
        self,
        ground: Ground,
        machine: Machine,
        layout: Layout,
        kernel: Kernel,
        room: Room,
        drafts: Drafts,
    ) -> None:
        self.ground = ground
        self.machine = machine
        self.layout = layout
        self.kernel = kernel
        self.room = room
        self.drafts = drafts
        self.strong = strengths(fair_rows(machine))
        _, self.initially = initially(machine, layout, kernel)

    def liveness(self) -> Liveness:
        """Judge all properties."""
        title = f"{self.machine.name}: what liveness looks at"
        self.outlook: Outlook = self.ground.jobs.run(
            title, lambda: look_ahead(self.drafts, self.ground.root, self.ground.shipped)
        )
        self.told = self.ground.jobs.run(title, self._seen)
        outcomes: dict[str, Outcome] = {}
        findings: list[Finding] = []
        for item, place in placed(self.machine):
            if item.formula is not None or item.initially is not None:
                outcomes[item.name] = Outcome("unknown", ONE_MACHINE)
                continue
            outcomes[item.name], finding = self._judge(item, place)
            findings += [] if finding is None else [finding]
        return Liveness(outcomes, tuple(findings))

    def _seen(self) -> int:
        """Return all that is told of what was cut, or-ed."""
        return int(self.outlook.facts.agg(f.bit_or("outside")).collect()[0][0] or 0)

    def _judge(self, item: Property, place: int) -> tuple[Outcome, Finding | None]:
        title = f"{self.machine.name}: {item.name}"
        rounds = Rounds(self.ground.notice, title)
        cut, rest = self.ground.jobs.run(title, lambda: self._trim(item, place, rounds))
        if rest is not None and len(rest.states):
            lasso = judge_rest(rest, self._least)
            if lasso is not None:
                path, loop = lasso
                states = decode_all(self.layout, path)
                return Outcome("violated"), lasso_finding(item, list(states), loop)
        if rest is None:
            return Outcome("unknown", REST), None
        if cut or owed_beyond(item, place, self.initially, self.told):
            return outcome_of(item, "unknown"), None
        return Outcome("holds"), None

    def _trim(self, item: Property, place: int, rounds: Rounds) -> tuple[bool, Rest | None]:
        """Return whether a step is cut where something is owed, and what trimming leaves.

        None where that does not fit the driver.
        """
        facts, drafts = self.outlook.facts, self.drafts
        region = facts.where((f.shiftright("flags", CONDITION + place) % 2) == 0)
        raised = f.col("depth") == 0
        if item.premise is not None:
            raised = (f.shiftright("flags", PREMISE + place) % 2) == 1
        owes = region.select("id")
        edges = self.outlook.edges
        for end in ("source", "target"):
            edges = edges.join(owes.withColumnRenamed("id", end), end, "left_semi")
        edges = edges.select("source", "ordinal", "target", "label")
        alive, inner = owing(drafts, region.where(raised).select("id"), edges, rounds.tell)
        lost = region.where((f.shiftright("outside", place) % 2) == 1)
        cut = bool(lost.join(alive, "id", "left_semi").take(1))
        trimming = Trimming(drafts, alive, inner, self.outlook.enabled, rounds.tell)
        steps = trimming.run(self.room.enough)
        rest = None
        if fits_driver(trimming.alive.count(), steps, self.kernel.words, self.room.rest):
            premise = place if item.premise is not None else None
            rest = collect(trimming, facts, self.kernel.words, self.strong, premise)
        drafts.forget(TABLES)
        return cut, rest

    def _least(self, states: Words, level: int) -> Words:
        """Return the least shortest path to one of `states`, all of `level`."""
        return least_path_to(self.kernel, self.ground.mark, states, level)
