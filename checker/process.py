"""What a process that runs a command asks of Python and of numpy."""

from __future__ import annotations

import gc
import os
import resource
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""What asks a process to end: Ctrl-C, a system that shuts down, a terminal that is closed."""

_MADE = 100_000
"""Objects made before it looks among the youngest; Python's own number is 700."""

_NESTING = 20_000
"""Python frames inside each other, which a specification within the limits stays below."""

STACK = 8 << 20
"""Bytes of stack that native code may count on (`FRAME_CELLS_MAX`)."""


def nest_deeply() -> None:
    """Let Python nest deeply: definitions and procedures are put in where they are used."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _NESTING))


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Let Python nest deeply for a while."""
    before = sys.getrecursionlimit()
    nest_deeply()
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let what asks this process to end wait until something is put in order.

    What it would interrupt half way, such as ending other processes, nobody would finish.
    """
    if current_thread() is not main_thread():
        yield  # only the main thread hears of signals
        return
    pending: list[int] = []
    before = {number: signal.getsignal(number) for number in ENDING}
    heard = [number for number in ENDING if before[number] not in (None, signal.SIG_IGN)]
    for number in heard:
        signal.signal(number, lambda number, _frame: pending.append(number))
    try:
        yield
    finally:
        for number in heard:
            signal.signal(number, before[number])
        for came in pending:
            signal.raise_signal(came)


def collect_rarely() -> None:
    """Look rarely for objects that refer to each other in circles and to nothing else.

    A specification is a million small objects that stay, and few circles. Looking as often as
    Python does by itself is 8 % of the time of elaborating and writing code.
    """
    gc.set_threshold(_MADE, 50, 100)


def stack_deeply() -> None:
    """Let every thread have the stack that native code may take, if the system allows it.

    By default the system has as much for a thread as for the process (`ulimit -s`), but only two
    MiB where that may have as much as it likes.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    if soft not in (resource.RLIM_INFINITY, hard) and soft < STACK:
        most = STACK if hard == resource.RLIM_INFINITY else min(STACK, hard)
        resource.setrlimit(resource.RLIMIT_STACK, (most, hard))
    threading.stack_size(STACK)


def prepare() -> None:
    """Ask of Python what every process that works on specifications asks of it."""
    collect_rarely()
    nest_deeply()
    stack_deeply()


def do_without_threads_of_numpy() -> None:
    """Keep the linear algebra in numpy, which nobody uses here, from starting threads.

    They wait busily for something to do: a tenth of a second of the other processors each time.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
