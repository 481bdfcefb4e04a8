"""Waiting for threads that can be asked to give up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from typing import TypeVar

_POLL_SECONDS = 0.05

T = TypeVar("T")


def results_of(
    running: Sequence[Future[T]], asked: Callable[[], bool], halt: Callable[[], None]
) -> list[T]:
    """Return what the tasks return, in their order.

    `asked` is called several times a second: whether to give up. `halt` tells the tasks to; what
    they return then is theirs to say.
    """
    try:
        while wait(running, _POLL_SECONDS).not_done:
            if asked():
                halt()
    finally:
        # Also when the user interrupts: threads must not outlive the memory they work on.
        if any(not task.done() for task in running):
            halt()
            wait(running)
    return [task.result() for task in running]
