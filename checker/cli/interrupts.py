"""Ctrl-C: the first one ends a search with what was found so far, the second one ends all.

Python runs its own signal handlers between two instructions of the main thread, which may be in
native code for as long as one guard takes. So a thread of ours hears of the signal instead.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from checker.verdict.exits import INTERRUPTED


@contextmanager
def interruptible(engine: str) -> Iterator[Event]:
    """Yield an event that the first Ctrl-C sets.

    The reference engine ends on KeyboardInterrupt by itself, so its handler stays Python's.
    """
    interrupt = Event()
    if engine == "reference":
        yield interrupt
        return
    heard, told = socket.socketpair()
    told.setblocking(False)
    listener = Thread(target=_listen, args=(heard, interrupt), daemon=True)
    before = signal.signal(signal.SIGINT, lambda _number, _frame: None)
    descriptor = signal.set_wakeup_fd(told.fileno(), warn_on_full_buffer=False)
    listener.start()
    try:
        yield interrupt
    finally:
        signal.set_wakeup_fd(descriptor)
        signal.signal(signal.SIGINT, before)
        told.close()
        listener.join()
        heard.close()


def _listen(heard: socket.socket, interrupt: Event) -> None:
    """Set the event at the first SIGINT, end the process at the second; end when nobody tells."""
    while numbers := heard.recv(64):
        for number in numbers:
            if number != signal.SIGINT:
                continue
            if interrupt.is_set():
                sys.stderr.write("interrupted twice: ended at once, without a result\n")
                sys.stderr.flush()
                os._exit(INTERRUPTED)
            interrupt.set()
