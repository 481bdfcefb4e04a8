"""Many independent runs: in processes of this machine, or wherever a spread does them.

`checker verify` and `checker mutate` are many searches that know nothing of each other. What does
them is told what to do with each item, and yields each that is done, in whatever order.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from multiprocessing.process import BaseProcess
from signal import SIG_BLOCK, SIG_IGN, SIG_SETMASK, SIG_UNBLOCK, pthread_sigmask, signal
from threading import Thread
from typing import Generic, Protocol, TypeVar

from checker.frozen import frozen
from checker.memory import default_limit
from checker.process import ENDING, prepare, undisturbed

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
        self,
        work: Callable[[Item], Made],
        items: Sequence[Item],
        family: Callable[[Item], Hashable] = id,
    ) -> Iterator[tuple[Item, Made | Lost]]:
        """Yield each item with what `work`, a function that can be pickled, made of it.

        Items begin in their order, but where it can be had a process stays with a `family`, whose
        items it does faster one after another; by default each item is alone. What `work` raises
        is raised here. Whoever stops early ends the runs that are left.
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
        self,
        work: Callable[[Item], Made],
        items: Sequence[Item],
        family: Callable[[Item], Hashable] = id,
    ) -> Iterator[tuple[Item, Made | Lost]]:
        """Yield each item with what `work` made of it; see `Spread`."""
        processes = min(self.parallel, len(items))
        if processes <= 1:
            for item in items:
                yield item, work(item)
            return
        families = _Families(items, family)
        pools = {place: _one_process() for place in range(processes)}
        running: dict[Future[Made], tuple[int, Item]] = {}

        def begin(place: int) -> None:
            if families.left:
                item = families.take(place)
                with _starting_deaf():
                    running[pools[place].submit(work, item)] = place, item

        try:
            for place in pools:
                begin(place)
            while running:
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    place, item = running.pop(future)
                    made: Made | Lost
                    try:
                        made = future.result()
                    except BrokenProcessPool:
                        made = Lost(
                            "the process was killed while it ran (by the system, for memory?)"
                        )
                        pools[place] = _one_process()
                    begin(place)  # first: it works while the caller looks at this result
                    yield item, made
        finally:
            with undisturbed():
                for pool in pools.values():
                    _end(pool)


class _Families(Generic[Item]):
    """Items that are left, by family: each process takes its own before it turns to another."""

    def __init__(self, items: Sequence[Item], family: Callable[[Item], Hashable]) -> None:
        self.left: dict[Hashable, deque[Item]] = {}
        for item in items:
            self.left.setdefault(family(item), deque()).append(item)
        self._at: dict[int, Hashable] = {}

    def take(self, place: int) -> Item:
        """Return what the process at `place` does next; something is left."""
        if self._at.get(place) not in self.left:
            taken = set(self._at.values())
            largest = max(self.left, key=lambda name: len(self.left[name]))
            self._at[place] = next((name for name in self.left if name not in taken), largest)
        mine = self.left[self._at[place]]
        item = mine.popleft()
        if not mine:
            del self.left[self._at[place]]
        return item


def _one_process() -> ProcessPoolExecutor:
    # Spawned, not forked: compiled code and threads do not survive a fork everywhere.
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_begin)


@contextmanager
def _starting_deaf() -> Iterator[None]:
    """Let processes that are started hear of nothing that asks to end until they begin.

    A terminal tells Ctrl-C to all of them, also to one in which Python is just starting.
    """
    before = pthread_sigmask(SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        pthread_sigmask(SIG_SETMASK, before)


def _begin() -> None:
    """Prepare a process that was just started."""
    leave_endings_to_the_parent()
    pthread_sigmask(SIG_UNBLOCK, ENDING)
    prepare()


def _end(pool: ProcessPoolExecutor) -> None:
    """End a process whatever it does: where the caller leaves early nobody waits for it."""
    for process in list((getattr(pool, "_processes", None) or {}).values()):
        process.kill()
    # Its thread has nothing left to wait for. Where it ends later than this process it is woken
    # through pipes that are closed, and Python says so.
    pool.shutdown(cancel_futures=True)


def leave_endings_to_the_parent() -> None:
    """Ignore Ctrl-C and what else asks to end: the process that started this one ends it.

    It does so also by ending itself, however that happens: nobody would be left to ask this one.
    """
    for number in ENDING:
        signal(number, SIG_IGN)
    parent = parent_process()
    assert parent is not None
    Thread(target=_end_after, args=(parent,), daemon=True).start()


def _end_after(parent: BaseProcess) -> None:
    """Wait until the parent is gone and end this process, whatever its other threads do.

    They may be in native code, which leaves the interpreter to others for as long as it takes.
    """
    parent.join()
    os._exit(1)
