"""What liveness looks at, as tables: what each state owes, and how it goes on.

Of each state there are the fair instances that are enabled, and the steps to states that owe
something.

A state that owes nothing is left out, and so are steps to one: no run on which a property is broken
comes through it. Steps that leave a state as it is are no steps here, as in `graph.build`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import functions as f

from checker.errors import InternalError
from checker.graph.columns import packed
from checker.graph.edges import beyond
from checker.kernel.calls import Calls
from checker.kernel.kernel import Kernel, Words
from checker.llvm.meta import CONDITION, CUT, DROPPED, ERROR
from checker.spark.drafts import Drafts
from checker.spark.graph import level_rows, pieces
from checker.spark.numbering import numbered
from checker.spark.shipped import load
from checker.spark.tasks import Broadcast

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SCHEMA = (
    "depth int, state binary, flags bigint, outside bigint, "
    "enabled array<int>, targets array<binary>, labels array<int>"
)


@dataclass(frozen=True, slots=True)
class Outlook:
    """The tables of one search.

    `facts`: id, depth, state (packed), flags (`Kernel.observe`), outside (`Space.outside`), of
    every state that owes something, in which something fails, or which has a step that was cut.
    `edges`: source, ordinal, target, label: the steps between states that owe something; ordinal
    puts those of a state in order, label is the fair row instance or -1. `enabled`: id, label:
    the fair row instances that are enabled, wherever they lead.
    """

    facts: DataFrame
    edges: DataFrame
    enabled: DataFrame


def look_ahead(drafts: Drafts, search: str, shipped: Broadcast) -> Outlook:
    """Make the tables of the finished search at `search`.

    InternalError where a step leads to a state that the search has not stored.
    """
    levels = level_rows(drafts.session, search)
    path = drafts.write("outlook", levels.mapInArrow(partial(outlooks, shipped), SCHEMA))
    names = ("depth", "state", "flags", "outside", "enabled", "targets", "labels")
    rows = numbered(drafts.session, path, SCHEMA, *names)
    facts = drafts.add("facts", rows.select("id", "depth", "state", "flags", "outside"))
    steps = rows.select("id", f.posexplode(f.arrays_zip("targets", "labels")))
    steps = steps.select(
        f.col("id").alias("source"),
        f.col("pos").alias("ordinal"),
        f.col("col.targets").alias("state"),
        f.col("col.labels").alias("label"),
    )
    known = facts.select(f.col("id").alias("target"), "state")
    joined = steps.join(known, "state", "left").select("source", "ordinal", "target", "label")
    edges = drafts.add("edges", joined)
    if edges.where("target is null").take(1):
        raise InternalError("a step leads out of what the search found")
    enabled = drafts.add("enabled", rows.select("id", f.explode("enabled").alias("label")))
    return Outlook(facts, edges, enabled)


def outlooks(shipped: Broadcast, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield what is ahead of the stored states of level rows, as `SCHEMA` has it."""
    kernel = load(shipped.value)
    calls = Calls(kernel)
    for level, states in pieces(batches, kernel.words):
        yield _outlook(kernel, calls, level, states)


def _outlook(kernel: Kernel, calls: Calls, level: int, states: Words) -> pa.RecordBatch:
    steps = calls.expand(states)
    if (steps.meta & ERROR).any():
        raise InternalError("a step fails that did not fail in the search")
    source = np.repeat(np.arange(len(states)), np.diff(steps.ends, prepend=0))
    cut = (steps.meta & (CUT | DROPPED)) != 0
    moving = cut | (steps.words != states[source]).any(axis=1)
    labels = kernel.instances(steps.meta)
    flags, seen = calls.observe(states), calls.observe(steps.words)
    outside = np.zeros(len(states), np.int64)
    np.bitwise_or.at(outside, source[cut], _told(kernel, steps.meta[cut], seen[cut]))
    going_on = moving & ~cut & (_owed(kernel, seen) != 0)
    fair = np.unique(np.stack((source, labels), axis=1)[moving & (labels >= 0)], axis=0)
    kept = (_owed(kernel, flags) | outside) != 0
    going_on &= kept[source]
    fair = fair[kept[fair[:, 0]]]
    ends, fair_ends = _ends(source[going_on], kept), _ends(fair[:, 0], kept)
    return pa.RecordBatch.from_arrays(
        [
            pa.array(np.full(int(kept.sum()), level, np.int32)),
            packed(states[kept]),
            pa.array(flags[kept]),
            pa.array(outside[kept]),
            pa.ListArray.from_arrays(fair_ends, pa.array(fair[:, 1].astype(np.int32))),
            pa.ListArray.from_arrays(ends, packed(steps.words[going_on])),
            pa.ListArray.from_arrays(ends, pa.array(labels[going_on].astype(np.int32))),
        ],
        names=["depth", "state", "flags", "outside", "enabled", "targets", "labels"],
    )


def _owed(kernel: Kernel, flags: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return in bits which properties states still owe."""
    owed: NDArray[np.int64] = ~(flags >> CONDITION) & ((1 << len(kernel.observed)) - 1)
    return owed


def _told(kernel: Kernel, meta: NDArray[np.int64], flags: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return what steps that were cut tell of what lies behind them, in the bits of `Space`."""
    properties = len(kernel.observed)
    told = np.empty(len(flags), np.int64)
    for value in np.unique(flags):
        told[flags == value] = beyond(int(value), properties)
    told[(meta & DROPPED) != 0] = (1 << properties) - 1
    return told


def _ends(owners: NDArray[np.int64], kept: NDArray[np.bool_]) -> pa.Array:
    """Return the offsets of lists of which each item belongs to one of the `kept` states."""
    sizes = np.bincount(owners, minlength=len(kept))[kept]
    return pa.array(np.concatenate((np.zeros(1), np.cumsum(sizes))).astype(np.int32))
