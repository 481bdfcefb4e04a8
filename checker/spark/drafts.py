"""Tables that an analysis makes on its way: written and read again, so that no plan grows.

An analysis goes round after round. If a round only described what to do with the round before, the
last one would describe all of them; and what Spark keeps in memory is lost with an executor. So a
round writes Parquet, like the search.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

from checker.spark.session import parquet_at

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS_OF_A_PARTITION = 2_000_000
"""Rows that one task of a shuffle is given, more or less."""

_BROADCAST_BYTES = "1MB"
"""Compressed size up to which a table is sent to all executors: some million numbers."""
_PARTITIONS = "spark.sql.shuffle.partitions"
_BROADCAST = "spark.sql.autoBroadcastJoinThreshold"


class Drafts:
    """A directory, on any file system that Spark knows, that is gone when it is left."""

    def __init__(self, session: SparkSession, root: str) -> None:
        self.session = session
        self.root = root
        self._made: dict[str, int] = {}

    def __enter__(self) -> Self:
        remove(self.session, self.root)
        return self

    def __exit__(self, *_: object) -> None:
        remove(self.session, self.root)

    def keep(self, name: str, data: DataFrame) -> DataFrame:
        """Write a table and return it as read; of a name the last two are kept.

        So a table may be made of the one of the same name before it.
        """
        kept = self.add(name, data)
        number = self._made[name]
        if number > 2:
            remove(self.session, self._path(name, number - 2))
        return kept

    def add(self, name: str, data: DataFrame) -> DataFrame:
        """Write a piece of a table of which all pieces are kept; return the piece as read."""
        path = self.write(name, data)
        return parquet_at(self.session, path, schema=data.schema)

    def write(self, name: str, data: DataFrame) -> str:
        """Write a piece of a table; return where it is."""
        number = self._made[name] = self._made.get(name, 0) + 1
        path = self._path(name, number)
        data.write.mode("overwrite").parquet(path)
        return path

    def all(self, name: str, schema: str) -> DataFrame:
        """Return all pieces of a table, of which there may be none."""
        numbers = range(1, self._made.get(name, 0) + 1)
        if not numbers:
            return self.session.createDataFrame([], schema)
        paths = [self._path(name, number) for number in numbers]
        return parquet_at(self.session, *paths, schema=schema)

    def forget(self, names: Sequence[str]) -> None:
        """Remove tables, whatever there is of them."""
        for name in names:
            for number in range(1, self._made.pop(name, 0) + 1):
                remove(self.session, self._path(name, number))

    def _path(self, name: str, number: int) -> str:
        return f"{self.root}/{name}-{number:05}"


def remove(session: SparkSession, path: str) -> None:
    """Remove a directory with all that is in it, if it is there."""
    context: Any = session.sparkContext
    place = context._jvm.org.apache.hadoop.fs.Path(path)  # noqa: SLF001 (the only way there)
    place.getFileSystem(context._jsc.hadoopConfiguration()).delete(place, True)  # noqa: SLF001


@contextmanager
def sized_for(session: SparkSession, rows: int) -> Iterator[None]:
    """Shuffle, for now, in as many parts as tables of so many rows want; the user's word counts."""
    context = session.sparkContext
    settings = {
        _PARTITIONS: str(max(context.defaultParallelism, -(-rows // ROWS_OF_A_PARTITION))),
        _BROADCAST: _BROADCAST_BYTES,
    }
    wanted = {key: value for key, value in settings.items() if not context.getConf().contains(key)}
    before = {key: session.conf.get(key) for key in wanted}
    for key, value in wanted.items():
        session.conf.set(key, value)
    try:
        yield
    finally:
        for key, old in before.items():
            session.conf.set(key, str(old))
