"""The table of terminal components of a stored state graph: where the system ends up for good.

PATH/terminal/    states, kind, beyond, depth, state, example: a row a component
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as f

from checker.graph.tables import KINDS, Terminal
from checker.kernel.calls import Calls
from checker.search.board import DEADLOCK, UNCLEAR
from checker.spark.components import ENOUGH, Tell, terminal_members
from checker.spark.drafts import Drafts, sized_for
from checker.spark.graph import EDGES
from checker.spark.numbering import numbered
from checker.spark.session import parquet_at
from checker.spark.shipped import load
from checker.spark.tasks import Broadcast, states_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def write_terminal(
    session: SparkSession,
    root: str,
    steps: int,
    shipped: Broadcast,
    tell: Tell,
    enough: int = ENOUGH,
) -> Terminal:
    """Write the terminal components of the graph at `root`, which has so many steps; sum them up.

    At most `enough` steps are left to the driver.
    """
    columns = parquet_at(session, f"{root}/states").schema
    with sized_for(session, steps), Drafts(session, f"{root}/drafts") as drafts:
        example = f.struct(*(f.col(f"`{name}`") for name in columns.names[2:])).alias("example")
        rows = numbered(session, f"{root}/states", columns, "depth", "state", example)
        places = drafts.keep("places", rows.select("id", "depth", "state"))
        edges = drafts.keep("edges", _by_number(session, root, places))
        inside = edges.where("target is not null")
        members = terminal_members(drafts, places, inside, enough, tell)
        found = drafts.keep("components", _components(members, places, edges, shipped))
        table = found.join(rows, "id").select(
            "states", "kind", "beyond", "depth", "state", "example"
        )
        ordered = table.orderBy(f.desc("states"), "depth", "state")
        ordered.write.mode("overwrite").parquet(f"{root}/terminal")
        return _summed_up(parquet_at(session, f"{root}/terminal", schema=table.schema))


def _by_number(session: SparkSession, root: str, places: DataFrame) -> DataFrame:
    """Return source, target of every edge by number; no target where a step was cut or failed."""
    edges = parquet_at(session, f"{root}/edges", schema=EDGES).select("source", "target")
    begin = places.select(f.col("state").alias("source"), f.col("id").alias("from"))
    end = places.select(f.col("state").alias("target"), f.col("id").alias("to"))
    numbers = edges.join(begin, "source").join(end, "target", "left")
    return numbers.select(f.col("from").alias("source"), f.col("to").alias("target"))


def _components(
    members: DataFrame, places: DataFrame, edges: DataFrame, shipped: Broadcast
) -> DataFrame:
    """Return a row a component: id of its least state, states, kind, beyond."""
    least = f.min(f.struct("depth", "state", "id"))
    whole = (
        members.join(places, "id")
        .groupBy("component")
        .agg(f.count("*").alias("states"), least.alias("least"))
    )
    out = (
        edges.join(members, f.col("source") == f.col("id"))
        .groupBy("component")
        .agg(
            f.count_if(f.col("target").isNull()).alias("beyond"),
            f.count_if(f.col("target").isNotNull()).alias("inner"),
        )
    )
    counted = whole.join(out, "component", "left").na.fill(0, ["beyond", "inner"])
    single = counted.where("states = 1 and inner = 0").select("component", "least.state")
    status = single.mapInArrow(partial(_status, shipped), "component bigint, status bigint")
    kind = (
        f.when(f.col("states") > 1, "cycle")
        .when(f.col("inner") > 0, "loop")
        .when(f.col("status") == DEADLOCK, "deadlock")
        .when(f.col("status") == UNCLEAR, "error")
        .when(f.col("beyond") > 0, "bounds")
        .otherwise("terminal")
    )
    joined = counted.join(status, "component", "left")
    return joined.select(f.col("least.id").alias("id"), "states", kind.alias("kind"), "beyond")


def _status(shipped: Broadcast, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield of components of one state what `Kernel.expand` says of it."""
    kernel = load(shipped.value)
    calls = Calls(kernel)
    for batch in batches:
        states = states_of(b"".join(state.as_py() for state in batch.column(1)), kernel.words)
        status = np.asarray(calls.expand(states).status, np.int64)
        columns = [batch.column(0), pa.array(status)]
        yield pa.RecordBatch.from_arrays(columns, names=["component", "status"])


def _summed_up(table: DataFrame) -> Terminal:
    rows = (
        table.groupBy("kind")
        .agg(
            f.count("*").alias("components"),
            f.sum("states").alias("states"),
            f.max("states").alias("largest"),
            f.count_if(f.col("beyond") > 0).alias("beyond"),
        )
        .collect()
    )
    counted = {row["kind"]: int(row["components"]) for row in rows}
    return Terminal(
        components=sum(counted.values()),
        states=sum(int(row["states"]) for row in rows),
        largest=max((int(row["largest"]) for row in rows), default=0),
        beyond=sum(int(row["beyond"]) for row in rows),
        kinds={kind: counted[kind] for kind in KINDS if kind in counted},
    )
