"""Numbers for the rows of a stored table: exact, dense, and the same whenever they are asked for.

A row's number is where it stands: rows of the files before its own, and rows before it. A file that
was written does not change, so a task that runs again gives the same numbers; a hash could give
two rows one number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from checker.spark.session import parquet_at

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

_FILE, _ROW, _FIRST = "_file", "_row", "_first"


def numbered(
    session: SparkSession, path: str, schema: StructType | str, *columns: Column | str
) -> DataFrame:
    """Return `columns` of the Parquet table at `path`, and `id`, the number of each row."""
    rows = parquet_at(session, path, schema=schema)
    placed = rows.select(
        "*",
        f.col("_metadata.file_path").alias(_FILE),
        f.col("_metadata.row_index").alias(_ROW),
    )
    first = 0
    files = []
    for name, count in sorted(map(tuple, placed.groupBy(_FILE).count().collect())):
        files.append((name, first))
        first += count
    firsts = session.createDataFrame(files, f"{_FILE} string, {_FIRST} bigint")
    located = placed.join(f.broadcast(firsts), _FILE)
    number = (f.col(_FIRST) + f.col(_ROW)).alias("id")
    return located.select(number, *columns)
