"""What a process that runs a command asks of Python and of numpy."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_MADE = 100_000
"""Objects made before it looks among the youngest; Python's own number is 700."""

_NESTING = 20_000
"""Python frames inside each other, which a specification within the limits stays below."""


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


def collect_rarely() -> None:
    """Look rarely for objects that refer to each other in circles and to nothing else.

    A specification is a million small objects that stay, and few circles. Looking as often as
    Python does by itself is 8 % of the time of elaborating and writing code.
    """
    gc.set_threshold(_MADE, 50, 100)


def do_without_threads_of_numpy() -> None:
    """Keep the linear algebra in numpy, which nobody uses here, from starting threads.

    They wait busily for something to do: a tenth of a second of the other processors each time.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
