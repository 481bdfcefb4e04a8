"""Many independent runs on Spark: each is a job of one task, wherever a core is free.

A task that fails, or whose executor is lost, is run again as Spark does that; results come as they
are done. What a run reads, a specification's files, is read where it runs: under the same path.
"""

from __future__ import annotations

import os
import queue
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count
from threading import Event
from typing import TYPE_CHECKING, TypeVar

from checker.errors import CheckerError
from checker.memory import default_limit
from checker.process import prepare
from checker.runs import Lost
from checker.spark.session import Cluster, reason_of, spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Item = TypeVar("Item")
Made = TypeVar("Made")

_POLL_SECONDS = 0.2
_numbers = count()


@contextmanager
def runs_on_spark(cluster: Cluster, tell: Callable[[str], None]) -> Iterator[SparkRuns]:
    """Yield what spreads runs over the executors of `cluster`.

    UsageError, EnvironmentFailure: as `spark_session`.
    """
    with spark_session(cluster, "checker", tell) as session:
        yield SparkRuns(session)


class SparkRuns:
    """Runs in tasks of Spark, one for each core of the executors at once; a `Spread`."""

    def __init__(self, session: SparkSession) -> None:
        self._context = session.sparkContext
        cores = self._context.getConf().get("spark.executor.cores")
        local = self._context.master.startswith("local")
        # Executors of unknown size are taken to be machines like this one.
        self._sharing = int(cores) if cores and not local else os.cpu_count() or 1

    @property
    def parallel(self) -> int:
        """How many runs are done at once."""
        return int(self._context.defaultParallelism)

    @property
    def memory(self) -> int:
        """Bytes that one run may take: those of this machine, shared by the cores of a host."""
        return default_limit() // self._sharing

    def each(
        self,
        work: Callable[[Item], Made],
        items: Sequence[Item],
        family: Callable[[Item], Hashable] = id,
    ) -> Iterator[tuple[Item, Made | Lost]]:
        """Yield each item with what `work` made of it; see `Spread`.

        Spark says which process does a task, so families are not kept together.
        """
        del family
        from pyspark import InheritableThread  # noqa: PLC0415 (an extra)

        group = f"checker runs {next(_numbers)}"
        waiting: queue.SimpleQueue[Item] = queue.SimpleQueue()
        done: queue.SimpleQueue[tuple[Item, object]] = queue.SimpleQueue()
        over = Event()
        for item in items:
            waiting.put(item)

        def submit() -> None:
            self._context.setJobGroup(group, "checker runs", interruptOnCancel=True)
            while not over.is_set():
                try:
                    item = waiting.get_nowait()
                except queue.Empty:
                    return
                done.put((item, self._run(work, item)))

        # One more than there are cores, so that none waits for the driver.
        threads = [
            InheritableThread(target=submit, daemon=True)
            for _ in range(min(self.parallel + 1, len(items)))
        ]
        for thread in threads:
            thread.start()
        try:
            for _ in items:
                item, made = _next(done)
                if isinstance(made, CheckerError):
                    raise made
                yield item, made  # type: ignore[misc]
        finally:
            over.set()
            if any(thread.is_alive() for thread in threads):
                with suppress(Exception):  # Spark may be gone; that is told elsewhere
                    self._context.cancelJobGroup(group)

    def _run(self, work: Callable[[Item], Made], item: Item) -> object:
        """Return what `work` made, what it raised, or why nothing came."""
        try:
            (made,) = self._context.parallelize([item], 1).map(partial(_done, work)).collect()
        except Exception as error:  # noqa: BLE001 (whatever Spark raises is about this run only)
            return Lost(f"Spark lost it: {reason_of(error)}")
        return made


def _next(done: queue.SimpleQueue[tuple[Item, object]]) -> tuple[Item, object]:
    """Wait for a result, in short pieces so that Ctrl-C is heard."""
    while True:
        with suppress(queue.Empty):
            return done.get(timeout=_POLL_SECONDS)


def _done(work: Callable[[Item], Made], item: Item) -> object:
    """Run one item, in a Python worker; an error of ours is a result that the driver raises."""
    prepare()
    try:
        return work(item)
    except CheckerError as error:
        return error
