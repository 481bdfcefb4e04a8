"""Ctrl-C, SIGTERM and SIGHUP: the first ends a search with what was found, a second ends all.

A signal that is ignored when the checker starts (`nohup`, a background job) stays ignored.
Python runs its own signal handlers between two instructions of the main thread, which may be in
native code for as long as one guard takes. So a thread of ours hears of the signal instead.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from types import FrameType

from checker.process import ENDING
from checker.verdict.exits import INTERRUPTED

_TWICE = (signal.SIGINT, signal.SIGTERM)  # a closed terminal may say so more than once


class Ending(KeyboardInterrupt):
    """SIGTERM or SIGHUP: as Ctrl-C, but whoever would go on after that ends."""


def end_like_interrupts() -> None:
    """Let every signal of ENDING raise KeyboardInterrupt, as Ctrl-C does."""
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else _end)


def _end(number: int, _frame: FrameType | None) -> None:
    raise Ending(signal.Signals(number).name)


def ignore_interrupts() -> None:
    """Ignore every signal of ENDING from now on: the exit code is known, and the process ends.

    Python gives handlers of its own back to the system before it ends, and a second signal would
    then kill the process in place of its exit code. One that is ignored stays ignored.
    """
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def interruptible(engine: str) -> Iterator[Event]:
    """Yield an event that the first signal of ENDING sets.

    The reference engine ends on KeyboardInterrupt by itself, so its handlers stay Python's.
    """
    interrupt = Event()
    if engine == "reference":
        yield interrupt
        return
    heard, told = socket.socketpair()
    told.setblocking(False)
    listener = Thread(target=_listen, args=(heard, interrupt), daemon=True)
    before = {number: signal.getsignal(number) for number in ENDING}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, lambda _number, _frame: None)
    descriptor = signal.set_wakeup_fd(told.fileno(), warn_on_full_buffer=False)
    listener.start()
    try:
        yield interrupt
    finally:
        signal.set_wakeup_fd(descriptor)
        for number, handler in before.items():
            signal.signal(number, handler)
        told.close()
        listener.join()
        heard.close()


def _listen(heard: socket.socket, interrupt: Event) -> None:
    """Set the event at the first signal, end the process at a second; end when nobody tells."""
    met: set[int] = set()
    while numbers := heard.recv(64):
        for number in numbers:
            if number not in ENDING:
                continue
            if number in met and number in _TWICE:
                with suppress(OSError, ValueError):
                    sys.stderr.write("interrupted twice: ended at once, without a result\n")
                    sys.stderr.flush()
                os._exit(INTERRUPTED)
            met.add(number)
            interrupt.set()
