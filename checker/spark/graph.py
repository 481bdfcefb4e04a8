"""The state graph as tables: from a finished search to states, edges and statistics in Parquet.

PATH/search/        the levels of the search, which `query` goes back to
PATH/states/        depth, state, and a column for each variable
PATH/edges/         depth, source, target, row, kind
PATH/statistics/    levels, rows, machines
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from checker.graph.columns import column, column_names, machines_of, packed, state_columns
from checker.kernel.calls import Calls
from checker.kernel.kernel import Words
from checker.layout.codec import decode_all
from checker.layout.layout import Layout
from checker.llvm.meta import ACTION_MASK, CUT, DROPPED, ERROR
from checker.machine.machine import Machine
from checker.spark.session import parquet_at
from checker.spark.shipped import load
from checker.spark.store import SCHEMA
from checker.spark.tasks import Broadcast, DamagedError, states_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

EDGES = "depth int, source binary, target binary, row string, kind string"
_KINDS = ("step", "cut", "error")
_DECODED = 4096
"""States that are decoded at a time."""


def write_tables(
    session: SparkSession, root: str, machine: Machine, layout: Layout, shipped: Broadcast
) -> tuple[int, int]:
    """Write the tables of the search in `root`/search; what stood in their place is replaced.

    Return the number of states and of edges.
    """
    levels = level_rows(session, f"{root}/search")
    states = levels.mapInArrow(partial(decoded, layout), states_schema(machine))
    states.write.mode("overwrite").parquet(f"{root}/states")
    names = tuple(action.name for action in machine.actions)
    edges = levels.mapInArrow(partial(stepped, shipped, names), EDGES)
    edges.write.mode("overwrite").parquet(f"{root}/edges")
    return _statistics(session, root, machine, layout, levels)


def level_rows(session: SparkSession, search: str) -> DataFrame:
    """Return all stored states of a search with their level: level, states, checksum."""
    rows = parquet_at(session, f"{search}/levels", schema=f"{SCHEMA}, level int")
    return rows.where("states is not null").select("level", "states", "checksum")


def _statistics(
    session: SparkSession, root: str, machine: Machine, layout: Layout, levels: DataFrame
) -> tuple[int, int]:
    """Write what is counted of each level, row and machine state; return the sizes."""
    states, edges = (parquet_at(session, f"{root}/{name}") for name in ("states", "edges"))
    stored = states.groupBy("depth").count().withColumnRenamed("count", "states")
    made = edges.groupBy("depth").count().withColumnRenamed("count", "edges")
    whole = stored.join(made, "depth", "left").na.fill(0).orderBy("depth")
    whole.coalesce(1).write.mode("overwrite").parquet(f"{root}/statistics/levels")
    rows = edges.groupBy("row", "kind").count().orderBy("row", "kind")
    rows.coalesce(1).write.mode("overwrite").parquet(f"{root}/statistics/rows")
    tables = tuple(
        (place, variable.name)
        for place, variable in enumerate(machine.variables)
        if variable.table is not None
    )
    counted = levels.mapInArrow(
        partial(machine_states, layout, tables), "machine string, state string, count bigint"
    )
    machines = counted.groupBy("machine", "state").sum("count").orderBy("machine", "state")
    machines = machines.withColumnRenamed("sum(count)", "states")
    machines.coalesce(1).write.mode("overwrite").parquet(f"{root}/statistics/machines")
    sizes = parquet_at(session, f"{root}/statistics/levels").groupBy().sum("states", "edges")
    found = sizes.collect()[0]
    return int(found[0] or 0), int(found[1] or 0)


# ----------------------------------------------------------------------------------- columns


def states_schema(machine: Machine) -> StructType:
    """Return the columns of the states: depth, the packed words, and the variables, decoded."""
    from pyspark.sql.pandas.types import from_arrow_schema  # noqa: PLC0415 (a driver's matter)

    return from_arrow_schema(state_columns(machine))


def pieces(batches: Iterable[pa.RecordBatch], words: int) -> Iterator[tuple[int, Words]]:
    """Yield the states of level rows, a moderate number at a time, with their level.

    DamagedError where they are not what was written.
    """
    for batch in batches:
        for level, content, checksum in zip(*batch.columns, strict=True):
            packed_states = content.as_py()
            if zlib.crc32(packed_states) != checksum.as_py():
                raise DamagedError(f"states of level {level} do not have their checksum")
            states = states_of(packed_states, words)
            for start in range(0, len(states), _DECODED):
                yield level.as_py(), states[start : start + _DECODED]


def decoded(layout: Layout, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield stored states with a column for each variable."""
    names = ["depth", "state", *column_names(layout.variables)]
    for level, states in pieces(batches, layout.words):
        columns = zip(*decode_all(layout, states), strict=True)
        yield pa.RecordBatch.from_arrays(
            [
                pa.array(np.full(len(states), level, np.int32)),
                packed(states),
                *(
                    column(shape.type, values)
                    for shape, values in zip(layout.shapes, columns, strict=True)
                ),
            ],
            names=names,
        )


def stepped(
    shipped: Broadcast, rows: tuple[str, ...], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield every step out of the stored states; the target of a cut or an error is null.

    Under symmetry both ends are representatives.
    """
    kernel = load(shipped.value)
    calls = Calls(kernel)
    named = pa.array(rows, pa.string())
    for level, states in pieces(batches, kernel.words):
        steps = calls.expand(states)
        counts = np.diff(steps.ends, prepend=0)
        kinds = np.zeros(len(steps.meta), np.int64)
        kinds[(steps.meta & (CUT | DROPPED)) != 0] = 1
        kinds[(steps.meta & ERROR) != 0] = 2
        targets = packed(calls.canonical(steps.words))
        inside = pa.array(kinds == 0)
        nothing = pa.scalar(None, pa.binary())
        yield pa.RecordBatch.from_arrays(
            [
                pa.array(np.full(len(kinds), level, np.int32)),
                packed(np.repeat(states, counts, axis=0)),
                pc.if_else(inside, targets, nothing),
                named.take(pa.array(steps.meta & ACTION_MASK)),
                pa.array(_KINDS, pa.string()).take(pa.array(kinds)),
            ],
            names=["depth", "source", "target", "row", "kind"],
        )


def machine_states(
    layout: Layout, tables: tuple[tuple[int, str], ...], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield in how many of the stored states each machine is in each state of its table."""
    for _, states in pieces(batches, layout.words):
        counts: dict[tuple[str, str], int] = {}
        for state in decode_all(layout, states):
            for place, name in tables:
                for machine, value in machines_of(name, state[place]):
                    counts[machine, value] = counts.get((machine, value), 0) + 1
        yield pa.RecordBatch.from_arrays(
            [
                pa.array([machine for machine, _ in counts], pa.string()),
                pa.array([value for _, value in counts], pa.string()),
                pa.array(list(counts.values()), pa.int64()),
            ],
            names=["machine", "state", "count"],
        )


# ------------------------------------------------------------------------------------- query


def flagged(
    shipped: Broadcast, flags: Sequence[int], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield how many of the stored states, of which levels, show each of `flags` when checked.

    Flag 0 are all of them.
    """
    kernel = load(shipped.value)
    calls = Calls(kernel)
    for level, states in pieces(batches, kernel.words):
        shown = calls.check(states)
        counts = [(flag, int(np.count_nonzero(shown & flag))) for flag in flags]
        found = [(level, flag, count) for flag, count in [(0, len(states)), *counts] if count]
        types = {"depth": pa.int32(), "flag": pa.int64(), "states": pa.int64()}
        columns = map(pa.array, zip(*found, strict=True), types.values())
        yield pa.RecordBatch.from_arrays(list(columns), names=list(types))
