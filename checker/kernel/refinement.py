"""The second quality of code: optimised beside a search that goes on, taken up when it is there.

Most searches are over before optimising their code would be. So a search begins with code that
LLVM translates as it stands, and once it has lasted about as long as optimising takes, the same IR
is optimised in a process of its own. Which code ran when is not to be seen in any result.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess

    from checker.kernel.kernel import Kernel

_SECONDS_A_LINE = 16e-6
"""A search that lasts so long for each line of IR would have been over sooner with better code.

Optimising takes 36 microseconds a line, and code at hand is half as fast at worst.
"""

_LEAST_SECONDS = 0.25

_COMMAND = ("-P", "-m", "checker.llvm.compiler")
"""What Python is called with; without the working directory among the places of modules (-P)."""


class Refinement:
    """Optimising the IR of one kernel: `finish` makes the kernel of the object code.

    `kernel` is it once it is there. Where it cannot be had, for whatever reason, it never is: that
    is a matter of speed only.
    """

    def __init__(self, text: str, finish: Callable[[bytes], Kernel]) -> None:
        self.pays_after = max(_LEAST_SECONDS, text.count("\n") * _SECONDS_A_LINE)
        self.kernel: Kernel | None = None
        self._text = text
        self._finish = finish
        self._process: subprocess.Popen[bytes] | None = None
        self._out: IO[bytes] | None = None
        self._given_up = False
        self._asked = Lock()

    def advance(self, seconds: float) -> Kernel | None:
        """Say that a search has gone on for so long; return the kernel if it is there now.

        Begins to optimise when that pays. Threads may ask at once.
        """
        if self._asked.acquire(blocking=False):
            try:
                if self.kernel is None and not self._given_up:
                    self._look(seconds)
            finally:
                self._asked.release()
        return self.kernel

    def _look(self, seconds: float) -> None:
        if self._process is None:
            if seconds >= self.pays_after:
                self._begin()
        elif self._process.poll() is not None:
            self._take()

    @property
    def under_way(self) -> bool:
        """Whether it is being optimised."""
        return self._process is not None

    def stop(self) -> None:
        """Optimise no further, whoever asks."""
        with self._asked:
            self._given_up = True
            self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
        if self._out is not None:
            self._out.close()
            self._out = None

    def _begin(self) -> None:
        import subprocess  # noqa: PLC0415 (few searches last so long)

        places = os.pathsep.join(path for path in sys.path if path)
        try:
            self._out = tempfile.TemporaryFile()  # noqa: SIM115 (`stop` closes it)
            with tempfile.TemporaryFile() as given:
                given.write(self._text.encode())
                given.seek(0)
                # In a session of its own: Ctrl-C is for us, and `stop` ends it.
                self._process = subprocess.Popen(  # noqa: S603 (this Python, our module)
                    [sys.executable, *_COMMAND],
                    stdin=given,
                    stdout=self._out,
                    stderr=subprocess.DEVNULL,
                    env={**os.environ, "PYTHONPATH": places},
                    start_new_session=True,
                )
        except OSError:
            self._given_up = True

    def _take(self) -> None:
        assert self._process is not None
        assert self._out is not None
        good = self._process.returncode == 0
        with suppress(OSError):
            self._out.seek(0)
            code = self._out.read()
            if good and code:
                self.kernel = self._finish(code)
        self._given_up = True
        self._end()
