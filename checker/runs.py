"""Many independent runs: in processes of this machine, or wherever a spread does them.

`checker verify` and `checker mutate` are many searches that know nothing of each other. What does
them is told what to do with each item, and yields each that is done, in whatever order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from signal import SIG_IGN, SIGHUP, SIGINT, SIGTERM, signal
from typing import Protocol, TypeVar

from checker.frozen import frozen
from checker.search.memory import default_limit

Item = TypeVar("Item")
Made = TypeVar("Made")


@frozen()
class Lost:
    """A run that ended without a result: why, in a sentence."""

    reason: str


class Spread(Protocol):
    """What does many runs, `parallel` of them at once, each within `memory` bytes."""

    @property
    def parallel(self) -> int:
        """How many runs are done at once."""

    @property
    def memory(self) -> int:
        """Bytes that one run may take."""

    def each(
        self, work: Callable[[Item], Made], items: Sequence[Item]
    ) -> Iterator[tuple[Item, Made | Lost]]:
        """Yield each item with what `work`, a function that can be pickled, made of it.

        Items begin in their order. What `work` raises is raised here. Whoever stops early ends the
        runs that are left.
        """


@frozen()
class Processes:
    """Runs in so many processes of this machine, which share its memory."""

    parallel: int

    @property
    def memory(self) -> int:
        """Bytes that one run may take."""
        return default_limit() // self.parallel

    def each(
        self, work: Callable[[Item], Made], items: Sequence[Item]
    ) -> Iterator[tuple[Item, Made | Lost]]:
        """Yield each item with what `work` made of it; see `Spread`."""
        processes = min(self.parallel, len(items))
        if processes <= 1:
            for item in items:
                yield item, work(item)
            return
        # Spawned, not forked: compiled code and threads do not survive a fork everywhere.
        pool = ProcessPoolExecutor(
            processes, mp_context=get_context("spawn"), initializer=leave_endings_to_the_parent
        )
        try:
            futures = {pool.submit(work, item): item for item in items}
            for future in as_completed(futures):
                try:
                    yield futures[future], future.result()
                except BrokenProcessPool:
                    yield (
                        futures[future],
                        Lost("a process was killed while it ran (by the system, for memory?)"),
                    )
        finally:
            # What runs still does so because the caller leaves early: nobody waits for it.
            workers = list(getattr(pool, "_processes", {}).values())
            pool.shutdown(wait=False, cancel_futures=True)
            for process in workers:
                process.kill()


def leave_endings_to_the_parent() -> None:
    """Ignore Ctrl-C and what else asks to end: the process that started this one ends it."""
    for number in (SIGINT, SIGTERM, SIGHUP):
        signal(number, SIG_IGN)
