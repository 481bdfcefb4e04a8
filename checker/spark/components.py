"""Terminal components of a graph of numbered states, by joins: where a system ends up for good.

A strongly connected component that no edge leaves. First those that are seen at once: states
without an edge to another state. Whatever reaches one of them belongs to no terminal component and
is removed, backwards from them: this is the trimming that parallel decompositions begin with (W.
McLendon et al., Finding strongly connected components in distributed graphs, J. Parallel Distrib.
Comput. 65, 2005, after the forward-backward algorithm of L. Fleischer, B. Hendrickson, A. Pinar,
On identifying strongly connected components in parallel, IPDPS 2000).

What is left is coloured (S. Orzan, On distributed verification and verified distribution, 2004;
among the methods compared by J. Barnat, P. Moravec, Parallel algorithms for finding SCCs in
implicitly given graphs, PDMC 2006): each state takes the greatest number that it reaches. The
states of a terminal component reach each other and nothing else, so the one whose number is its
own colour, the root, reaches its component and no other colour. So all are found in one pass:
forward from the roots inside their colours; a root from which an edge leaves its colour is none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import functions as f

from checker.graph.components import components
from checker.graph.state_graph import steps_into
from checker.spark.drafts import Drafts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ENOUGH = 2_000_000
"""Edges from which on the driver decides on what is left, rather than going on in rounds."""

MEMBERS = "id bigint, component bigint"

Tell = Callable[[str, int], None]
"""Told what a round does, and how many states or edges it goes on with."""


def tell_nobody(_doing: str, _left: int) -> None:
    """Ignore a round."""


def terminal_members(
    drafts: Drafts,
    states: DataFrame,
    edges: DataFrame,
    enough: int = ENOUGH,
    tell: Tell = tell_nobody,
) -> DataFrame:
    """Return the states of all terminal components: id, component (the id of one of its states).

    `states` has `id`; `edges` `source` and `target`, any number of times each. As soon as there
    are at most `enough` edges the driver does the rest. Rounds: at most as many as the longest of
    all shortest ways has steps, in each of backward removal, colouring and the way forward.
    """
    steps = edges.where("source != target").distinct().select("source", "target")
    steps = drafts.keep("steps", steps)
    ends = states.select("id").join(steps, f.col("id") == f.col("source"), "left_anti")
    ends = drafts.add("members", ends.select("id", f.col("id").alias("component")))
    left = _without_what_reaches(drafts, ends.select("id"), steps, enough, tell)
    count = left.count()
    if 0 < count <= enough:
        drafts.add("members", _by_driver(left))
    elif count:
        _by_colours(drafts, left, tell)
    return drafts.all("members", MEMBERS)


def _without_what_reaches(
    drafts: Drafts, found: DataFrame, steps: DataFrame, enough: int, tell: Tell
) -> DataFrame:
    """Return the steps out of states that do not reach any of `found`.

    Sooner where there are few enough: those states then still lead to some of `found`, whose own
    steps are not there, and the driver has to see that.
    """
    while found.take(1):
        into = steps.join(found.withColumnRenamed("id", "target"), "target", "left_semi")
        found = drafts.keep("found", into.select(f.col("source").alias("id")).distinct())
        away = found.withColumnRenamed("id", "source")
        steps = drafts.keep("steps", steps.join(away, "source", "left_anti"))
        count = steps.count()
        tell("removing what reaches an end", count)
        if count <= enough:
            return steps
    return steps


def _by_driver(steps: DataFrame) -> DataFrame:
    """Return the members of the terminal components of a graph that fits the driver.

    A target without steps is one that was found before, or leads to one.
    """
    pairs = steps.toArrow()
    sources, targets = (pairs.column(name).to_numpy() for name in ("source", "target"))
    states, found = terminal_of(sources, targets)
    members = pa.table({"id": pa.array(states), "component": pa.array(found)})
    return steps.sparkSession.createDataFrame(members)


def terminal_of(
    sources: NDArray[np.int64], targets: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the members, and the least state, of each terminal component of more than one state.

    Edges go from `sources` to `targets`, numbers of any kind.
    """
    names, places = np.unique(np.concatenate((sources, targets)), return_inverse=True)
    begin, end = places[: len(sources)], places[len(sources) :]
    order = np.argsort(begin, kind="stable")
    offsets = np.concatenate(
        (np.zeros(1, np.int64), np.cumsum(np.bincount(begin, minlength=len(names))))
    )
    whole = np.ones(len(names), np.bool_)
    ends: NDArray[np.int32] = end[order].astype(np.int32)
    found, count = components(offsets, ends, steps_into(offsets, ends), whole)
    leaves = np.bincount(found, minlength=count) == 1
    leaves[found[begin[found[begin] != found[end]]]] = True
    members = np.flatnonzero(~leaves[found])
    least = np.full(count, len(names), np.int64)
    np.minimum.at(least, found[members], members)
    return names[members], names[least[found[members]]]


# ------------------------------------------------------------------------------------- colours


def _by_colours(drafts: Drafts, steps: DataFrame, tell: Tell) -> None:
    """Add the terminal components of a graph in which every state has a step."""
    colours = _coloured(drafts, steps, tell)
    own, other = (
        colours.select(f.col("id").alias(end), f.col("colour").alias(colour))
        for end, colour in (("source", "colour"), ("target", "reached"))
    )
    painted = steps.join(own, "source").join(other, "target")
    leavers = painted.where("colour != reached").select(f.col("source").alias("id")).distinct()
    leavers = drafts.keep("leavers", leavers)
    inner = drafts.keep(
        "inner", painted.where("colour = reached").select("source", "target", "colour")
    )
    roots = colours.where("id = colour").select("id", "colour")
    _forward(drafts, roots, inner, leavers, tell)


def _coloured(drafts: Drafts, steps: DataFrame, tell: Tell) -> DataFrame:
    """Return id, colour: the greatest number that each state reaches, its own included."""
    start = steps.select(f.col("source").alias("id")).distinct()
    colours = start.select("id", f.col("id").alias("colour"), f.lit(True).alias("changed"))
    colours = drafts.keep("colours", colours)
    while changing := colours.where("changed").count():
        tell("colouring", changing)
        reached = colours.select(f.col("id").alias("target"), f.col("colour").alias("there"))
        seen = steps.join(reached, "target").groupBy("source").agg(f.max("there").alias("seen"))
        # A state also reaches what the state that gave it its colour reaches: ways are halved.
        further = colours.select(f.col("id").alias("colour"), f.col("colour").alias("further"))
        both = colours.join(seen, colours["id"] == seen["source"]).join(further, "colour")
        greatest = f.greatest("colour", "seen", "further")
        colours = drafts.keep(
            "colours",
            both.select(
                "id", greatest.alias("colour"), (greatest != f.col("colour")).alias("changed")
            ),
        )
    return colours


def _forward(
    drafts: Drafts, roots: DataFrame, inner: DataFrame, leavers: DataFrame, tell: Tell
) -> None:
    """Add what `roots` reach inside their colours, but for colours that are left on the way."""
    found = drafts.add("reached", roots)
    while count := found.count():
        tell("going forward", count)
        drafts.add("left", found.join(leavers, "id", "left_semi").select("colour").distinct())
        left = drafts.all("left", "colour bigint").distinct()
        frontier = found.join(left, "colour", "left_anti")
        leading = inner.join(frontier.select(f.col("id").alias("source")), "source", "left_semi")
        seen = drafts.all("reached", "id bigint, colour bigint")
        new = leading.select(f.col("target").alias("id"), "colour").distinct()
        found = drafts.add("reached", new.join(seen, "id", "left_anti"))
    left = drafts.all("left", "colour bigint").distinct()
    whole = drafts.all("reached", "id bigint, colour bigint").join(left, "colour", "left_anti")
    drafts.add("members", whole.select("id", f.col("colour").alias("component")))
