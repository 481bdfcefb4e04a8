"""The files of a level as the driver makes and reads them itself: Parquet, as Spark writes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from checker.spark.tasks import DamagedError, Row

_SCHEMA = pa.schema(
    [
        ("shard", pa.int32()),
        ("count", pa.int64()),
        ("states", pa.binary()),
        ("checksum", pa.int64()),
        ("counts", pa.string()),
    ]
)
_GROUP_BYTES = 1 << 24
_FILE_BYTES = 1 << 26
"""Bytes of states in a file, so that several executors can read a level, and little is on disk here
at a time."""


def written(rows: Iterable[Row], folder: Path) -> Iterator[Path]:
    """Write rows to files in `folder`; yield each file when it is whole."""
    source = iter(rows)
    group = _group(source)
    number = 0
    while group:
        file = folder / f"{number}.parquet"
        left = _FILE_BYTES
        # As Spark writes it: no two blobs are the same.
        with pq.ParquetWriter(
            file, _SCHEMA, compression="zstd", compression_level=1, use_dictionary=False
        ) as writer:
            while group and left > 0:
                columns = zip(*group, strict=True)
                arrays = [
                    pa.array(column, field.type)
                    for column, field in zip(columns, _SCHEMA, strict=True)
                ]
                writer.write_table(pa.table(arrays, _SCHEMA))
                left -= _GROUP_BYTES
                group = _group(source)
        yield file
        number += 1


def _group(rows: Iterator[Row]) -> list[Row]:
    """Take as many rows as are written together."""
    taken: list[Row] = []
    size = 0
    while size < _GROUP_BYTES and (row := next(rows, None)) is not None:
        taken.append(row)
        size += len(row[2] or b"")
    return taken


def stored_in(file: Path, name: str) -> Iterator[tuple[int, int, bytes, int]]:
    """Yield the rows of states in a file that is called `name` where it was stored.

    DamagedError where it is no such file.
    """
    columns = ["shard", "count", "states", "checksum"]
    try:
        with pq.ParquetFile(file) as opened:
            for batch in opened.iter_batches(batch_size=16, columns=columns):
                rows: Iterator[Any] = zip(*(c.to_pylist() for c in batch.columns), strict=True)
                yield from (row for row in rows if row[2] is not None)
    except (pa.ArrowException, OSError, KeyError) as error:
        raise DamagedError(f"{name}: {error}") from None
