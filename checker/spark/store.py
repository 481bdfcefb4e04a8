"""Where a search keeps its levels: Parquet and manifests below one path of any Hadoop file system.

    PATH/levels/level=00012/    the states found at depth 12, and what was counted finding them
    PATH/manifests/00012.json   written after them: from then on the level counts
    PATH/claimed                who is about to write the first of these, where there are no locks

A level without a manifest was not finished and is written again. docs/spark.md has the schema.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import shutil
import socket
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from checker.errors import EnvironmentFailure, UsageError
from checker.frozen import frozen
from checker.search.aims import Aim
from checker.search.identity import difference
from checker.search.locks import alone
from checker.search.snapshot import Counters
from checker.spark.files import Files
from checker.spark.parts import stored_in, written
from checker.spark.session import absolute, folder_of, parquet_at, reason_of
from checker.spark.tasks import Row, contents

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

FORMAT = 1
# No two blobs are the same, and states in the order of their hash compress alike at every level.
_PARQUET = {
    "parquet.enable.dictionary": "false",
    "parquet.compression.codec.zstd.level": "1",
    # A row is a blob of a mebibyte. Parquet would take a hundred of them before it first asks how
    # large they are: too many for Java's usual heap.
    "parquet.block.size": str(1 << 24),
    "parquet.block.size.row.check.min": "1",
    "parquet.page.size.row.check.min": "1",
}
SCHEMA = "shard int, count bigint, states binary, checksum bigint, counts string"


@functools.cache
def row_type() -> StructType:
    """Return the schema as Spark has it; reading the text would be a job for Java each time."""
    from pyspark.sql import types  # noqa: PLC0415 (an extra)

    kinds = {
        "int": types.IntegerType(),
        "bigint": types.LongType(),
        "binary": types.BinaryType(),
        "string": types.StringType(),
    }
    columns = (column.split() for column in SCHEMA.split(", "))
    return types.StructType([types.StructField(name, kinds[kind]) for name, kind in columns])


@frozen()
class Manifest:
    """A finished level: how many states each shard has of it, and the search up to it.

    `counters`, `aims` and `seconds` are those of all levels until this one was found.
    """

    level: int
    shards: tuple[int, ...]
    counters: Counters
    aims: tuple[Aim, ...]
    seconds: float

    @property
    def count(self) -> int:
        """States of the level."""
        return sum(self.shards)


class Store:
    """The levels of one search below `root`; `identity` says which search."""

    def __init__(self, session: SparkSession, root: str, identity: Mapping[str, object]) -> None:
        self.session = session
        self.root = root
        self.identity = identity
        self.files = Files(session, root)
        self._claimed = False
        self._held = ExitStack()

    # ------------------------------------------------------------------------------- levels

    def level_path(self, level: int) -> str:
        """Return where a level's data are."""
        return f"{self.root}/levels/level={level:05}"

    def write(self, level: int, rows: DataFrame) -> None:
        """Keep a level's rows; what an attempt that was not finished left is replaced."""
        rows.write.mode("overwrite").options(**_PARQUET).parquet(self.level_path(level))

    def write_here(self, level: int, rows: Iterable[Row]) -> None:
        """Keep a level's rows without a job of Spark: this process makes the files."""
        path = self.level_path(level)
        self.files.delete(path)
        with tempfile.TemporaryDirectory(prefix="checker-level-") as folder:
            for number, file in enumerate(written(rows, Path(folder))):
                self.files.send(file, f"{path}/part-{number:05}.zstd.parquet")
                file.unlink()

    def read_here(self, level: int) -> Iterator[bytes]:
        """Yield the stored states of a level, read by this process: one after another packed.

        DamagedError where they are not what was written.
        """
        with tempfile.TemporaryDirectory(prefix="checker-level-") as folder:
            file = Path(folder) / "part.parquet"
            for path in self.files.names(self.level_path(level)):
                if path.endswith(".parquet"):
                    self.files.fetch(path, file)
                    yield from contents(stored_in(file, path))

    def states(self, levels: range, shards: Iterable[int] | None = None) -> DataFrame:
        """Return the stored states of some levels: shard, count, states, checksum.

        Of all shards, or of some.
        """
        paths = [self.level_path(level) for level in levels]
        rows = parquet_at(self.session, *paths, schema=row_type())
        if shards is not None:
            rows = rows.where(rows["shard"].isin(sorted(shards)))
        return rows.where("states is not null").select("shard", "count", "states", "checksum")

    # ---------------------------------------------------------------------------- manifests

    def prepare(self, *, resumed: bool, resumable: bool = True) -> None:
        """Make sure that levels can be written; UsageError where they cannot.

        A path that holds another search already is not taken unless that is `resumed`, nor one
        that another search is about to write to. `leave` it in the end. `resumable`: whether who
        asks can resume.
        """
        if not resumed:
            self._make_folder()
            if not self.hold():
                self._claim()
            if self.files.exists(self._manifest_path(0)):
                other = f"go on from it with --resume {self.root}" if resumable else "remove it"
                raise UsageError(
                    f"{self.root} holds a checkpoint already; {other}, or name another path"
                )
        try:
            self.files.put(f"{self.root}/probe", "")
            self.files.delete(f"{self.root}/probe")
        except Exception as error:  # noqa: BLE001 (whatever a file system raises)
            raise self._unwritable(error) from None

    def _make_folder(self) -> None:
        """Make the folder, where it is one of this machine: there it can be held."""
        folder = folder_of(self.root)
        try:
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._unwritable(error) from None

    def hold(self) -> bool:
        """Keep others from a folder of this machine, as long as this search goes on: UsageError.

        A driver that is killed leaves nothing of it behind, as it would leave a claim. False where
        that is no folder, or one whose file system has no locks.
        """
        folder = folder_of(self.root)
        if folder is None:
            return False
        more = "wait for its end, end it, or name another path"
        return self._held.enter_context(alone(folder, more))

    def leave(self) -> None:
        """Let others take the path, or what was found."""
        self.release()
        self._held.close()

    def _claim(self) -> None:
        """Take a path that cannot be held for this search, until its first level says so."""
        who = f"process {os.getpid()} on {socket.gethostname()}"
        try:
            claimed = self.files.claim(self._claim_path, who)
        except UsageError:
            raise
        except Exception as error:  # noqa: BLE001 (whatever a file system raises)
            raise self._unwritable(error) from None
        if not claimed:
            other = self.files.get(self._claim_path)
            raise UsageError(
                f"{self.root}: another search is about to write here ({other}); name another path, "
                f"or remove {self._claim_path}, if it does not run any more"
            )
        self._claimed = True

    def _unwritable(self, error: Exception) -> UsageError:
        return UsageError(f"{self.root}: no levels can be kept here: {reason_of(error)}")

    def release(self) -> None:
        """Let others take the path; what is there already still keeps them from it."""
        if self._claimed:
            self._claimed = False
            with suppress(Exception):  # where Java has died, that is told already
                self.files.delete(self._claim_path)

    def commit(self, manifest: Manifest) -> None:
        """Declare a level finished."""
        body = {
            "format": FORMAT,
            "identity": dict(self.identity),
            **asdict(manifest),
        }
        body = json.loads(json.dumps(body))
        text = json.dumps({**body, "sha256": _digest(body)}, indent=1)
        try:
            self.files.put(self._manifest_path(manifest.level), text)
            self.release()
        except Exception as error:  # noqa: BLE001 (whatever a file system raises)
            raise EnvironmentFailure(f"{self.root}: {reason_of(error)}") from None

    def manifests(self) -> list[Manifest]:
        """Return the finished levels, the first to the last.

        UsageError where there is none, where one is damaged, or of another search.
        """
        found: list[Manifest] = []
        while self.files.exists(self._manifest_path(len(found))):
            found.append(self._manifest(len(found)))
        if not found:
            raise UsageError(
                f"{self.root} holds no checkpoint: {self._manifest_path(0)} is missing"
            )
        shards = {len(manifest.shards) for manifest in found}
        if len(shards) != 1:
            raise UsageError(f"{self.root}: its levels have different numbers of shards")
        return found

    def _manifest(self, level: int) -> Manifest:
        path = self._manifest_path(level)
        try:
            body = json.loads(self.files.get(path))
            written, form = body.pop("sha256"), body["format"]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise UsageError(f"{path}: this is no manifest of a level, or damaged") from None
        if form != FORMAT:
            raise UsageError(f"{path}: written in format {form}; this checker reads {FORMAT}")
        if written != _digest(body):
            raise UsageError(f"{path}: damaged: its content does not have the checksum it names")
        differs = difference(body["identity"], self.identity)
        if differs is not None:
            raise UsageError(f"{path}: a checkpoint of another search: {differs}")
        try:
            return _manifest_of(body)
        except (ValueError, KeyError, TypeError):
            raise UsageError(f"{path}: not a manifest that this checker writes") from None

    @property
    def _claim_path(self) -> str:
        return f"{self.root}/claimed"

    def _manifest_path(self, level: int) -> str:
        return f"{self.root}/manifests/{level:05}.json"


def _manifest_of(body: dict[str, Any]) -> Manifest:
    counters = body["counters"]
    return Manifest(
        level=int(body["level"]),
        shards=tuple(map(int, body["shards"])),
        counters=Counters(
            **{
                **counters,
                "tallies": tuple((int(seen), int(made)) for seen, made in counters["tallies"]),
                "new": tuple(map(int, counters["new"])),
            }
        ),
        aims=tuple(Aim(**aim) for aim in body["aims"]),
        seconds=float(body["seconds"]),
    )


def _digest(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


class Place:
    """The path of a store: the one that was asked for, or a temporary directory of this run."""

    def __init__(self, asked: str | None, *, local: bool) -> None:
        if asked is None and not local:
            raise UsageError(
                "a search on several machines needs --checkpoint: a path that all of them share, "
                "such as hdfs://..., s3a://... or a mounted directory"
            )
        if asked is not None and not asked.strip():
            raise UsageError("--checkpoint: a path is expected, not nothing")
        self._temporary = None if asked is not None else tempfile.mkdtemp(prefix="checker-spark-")
        self.root = absolute(asked or str(self._temporary), local=local)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)
