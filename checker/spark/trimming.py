"""Trimming: drops, by joins, the states that no fair endless run can use; what is left is judged.

A run that breaks a property stays, from some state that raises it, among states that still owe it,
and goes on there for ever: it stands still where no fair instance is enabled, or goes round and
satisfies fairness. Dropped, again and again until nothing changes, is

* a state in which a run cannot stand still and from which no step leads to a state that is left;
* a state from which on some fair instance is enabled in every state that is left, and nobody takes
  it among them: no run from there is fair to it, whether weakly or strongly.

What is left holds every state of every fair run of that kind, and every way to one. So where
nothing is left the property holds. This is the greatest fixed point of E. A. Emerson and C.-L.
Lei (Modalities for model checking, Sci. Comput. Program. 8, 1987), computed as by One Way Catch
Them Young (I. Cerna, R. Pelanek, Distributed explicit fair cycle detection, SPIN 2003). Strong
fairness asks for more than that; whoever judges what is left asks for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from checker.spark.components import Tell
from checker.spark.drafts import Drafts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROUNDS = 1000
"""Rounds after which trimming ends with what is left then."""

TABLES = ("owing", "alive", "inner", "quiet", "dead", "stuck")


def owing(
    drafts: Drafts, sources: DataFrame, edges: DataFrame, tell: Tell
) -> tuple[DataFrame, DataFrame]:
    """Return the states (id) that `sources` (id) reach by `edges`, and the edges between them.

    As many rounds as the longest of all shortest ways has steps.
    """
    found = drafts.add("owing", sources)
    while count := found.count():
        tell("going forward", count)
        begin = found.select(f.col("id").alias("source"))
        ahead = edges.join(begin, "source", "left_semi").select(f.col("target").alias("id"))
        seen = drafts.all("owing", "id bigint")
        found = drafts.add("owing", ahead.distinct().join(seen, "id", "left_anti"))
    alive = drafts.keep("alive", drafts.all("owing", "id bigint"))
    begin = alive.select(f.col("id").alias("source"))
    return alive, drafts.keep("inner", edges.join(begin, "source", "left_semi"))


class Trimming:
    """What is left of a region: `alive` (id), and `inner`, the edges between them.

    `enabled` (id, label) are the fair instances that are enabled, also where they lead out.
    """

    def __init__(
        self, drafts: Drafts, alive: DataFrame, inner: DataFrame, enabled: DataFrame, tell: Tell
    ) -> None:
        self._scratch = drafts
        self._tell = tell
        self._rounds = 0
        self.alive = alive
        self.inner = inner
        self.enabled = enabled
        busy = enabled.select("id").distinct()
        self._quiet = drafts.keep("quiet", alive.join(busy, "id", "left_anti"))

    def run(self, enough: int) -> int:
        """Trim until nothing changes, or states and edges are no more than `enough`.

        Return how many states and edges are left.
        """
        while True:
            while self._drop(self._without_a_way()):
                if (left := self._size()) <= enough:
                    return left
            if (left := self._size()) <= enough or not self._drop(self._without_justice()):
                return left

    def _size(self) -> int:
        return int(self.alive.count() + self.inner.count())

    def _drop(self, states: DataFrame) -> bool:
        """Drop states (id); False where there are none, or were rounds enough."""
        dead = self._scratch.keep("dead", states)
        count = dead.count()
        self._rounds += 1
        self._tell("dropping", count)
        if not count or self._rounds > ROUNDS:
            return False
        self.alive = self._scratch.keep("alive", self.alive.join(dead, "id", "left_anti"))
        left = self.inner
        for end in ("source", "target"):
            left = left.join(dead.select(f.col("id").alias(end)), end, "left_anti")
        edges = left.select("source", "ordinal", "target", "label")
        self.inner = self._scratch.keep("inner", edges)
        return True

    def _without_a_way(self) -> DataFrame:
        """Return the states in which no run can stand still, and from which no step goes on."""
        going = self.inner.select(f.col("source").alias("id")).distinct()
        return self.alive.join(self._quiet, "id", "left_anti").join(going, "id", "left_anti")

    def _without_justice(self) -> DataFrame:
        """Return the states from which on some instance is always enabled and never taken."""
        taken = self.inner.select(f.col("source").alias("id"), "label").distinct()
        asked = self.enabled.join(self.alive, "id", "left_semi")
        stuck = self._scratch.keep("stuck", asked.join(taken, ["id", "label"], "left_anti"))
        count = stuck.count()
        steps = self.inner.select(f.col("source").alias("id"), "target").distinct()
        while count:
            self._tell("looking for what is never taken", count)
            there = stuck.select(f.col("id").alias("target"), "label")
            # Whoever has a step to where the instance is not enabled, or is taken, is not stuck.
            freed = stuck.join(steps, "id").join(there, ["target", "label"], "left_anti")
            freed = freed.select("id", "label").distinct()
            left = self._scratch.keep("stuck", stuck.join(freed, ["id", "label"], "left_anti"))
            before, count = count, left.count()
            stuck = left
            if count == before:
                break
        return stuck.select("id").distinct()
