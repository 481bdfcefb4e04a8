"""Stdout and stderr that never fail in the middle of a command, whoever reads them.

A reader that went away (`checker ... | head`), a stream that was closed before the start (`>&-`)
and a terminal that is gone lose only what nobody reads: the exit code is the verdict's all the
same. What cannot be written for another reason, such as a full disk, is said at the end.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys
from typing import TextIO

_NOBODY_READS = {errno.EPIPE, errno.EIO, errno.EBADF}


class Outlet(io.FileIO):
    """A descriptor to write to; after it failed, everything goes nowhere."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self.failure: OSError | None = None

    def write(self, data: object, /) -> int:
        """Write `data`; where that fails, remember why, and write nothing from then on."""
        try:
            return super().write(data)  # type: ignore[arg-type]
        except OSError as error:
            if error.errno not in _NOBODY_READS:
                self.failure = error
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return super().write(data)  # type: ignore[arg-type]


def open_streams() -> Outlet:
    """Put outlets below sys.stdout and sys.stderr, and return that of the results."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            # Else the next file that is opened would get its number, and what is printed.
            os.open(os.devnull, os.O_RDWR)
    if sys.stdin is None:  # as Python has it where there was none
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 (until the end)
    stdout, stderr = Outlet(1), Outlet(2)
    sys.stdout = _text(stdout, sys.stdout)
    sys.stderr = _text(stderr, sys.stderr)
    return stdout


def _text(outlet: Outlet, before: TextIO | None) -> TextIO:
    """Return a text stream with the encoding of the one before; it writes any text.

    What its encoding lacks, such as the name of a file that is not UTF-8, is written escaped.
    """
    if before is not None:
        before.flush()
    # ASCII is what Python takes where nobody chose; click would replace letters by `?` in it.
    chosen = before is not None and codecs.lookup(before.encoding).name != "ascii"
    return io.TextIOWrapper(
        io.BufferedWriter(outlet),
        encoding=before.encoding if before is not None and chosen else "utf-8",
        errors="backslashreplace",
        line_buffering=True,
    )


def failure(results: Outlet) -> OSError | None:
    """Flush both streams; return why results could not be written, if it is worth saying."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    return results.failure
