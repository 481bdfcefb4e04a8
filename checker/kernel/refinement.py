"""The second quality of code: optimised beside a search that goes on, taken up when it is there.

Most searches are over before optimising their code would be. So a search begins with code that
LLVM translates as it stands, and once it has lasted about as long as optimising takes, the same IR
is optimised in a process of its own. Which code ran when is not to be seen in any result.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from checker.kernel.kernel import Kernel
    from checker.llvm.beside import Beside

_SECONDS_A_LINE = 16e-6
"""A search that lasts so long for each line of IR would have been over sooner with better code.

Optimising takes 36 microseconds a line, and code at hand is half as fast at worst.
"""

_LEAST_SECONDS = 0.25


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
        self._beside: Beside | None = None
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

    @property
    def under_way(self) -> bool:
        """Whether it is being optimised."""
        return self._beside is not None

    def stop(self) -> None:
        """Optimise no further, whoever asks."""
        with self._asked:
            self._give_up()

    def _look(self, seconds: float) -> None:
        if self._beside is None:
            if seconds >= self.pays_after:
                self._begin()
        elif self._beside.over:
            code = self._beside.code()
            self._give_up()
            if code is not None:
                self.kernel = self._finish(code)

    def _begin(self) -> None:
        from checker.llvm.beside import Beside  # noqa: PLC0415 (few searches last so long)

        self._given_up = True
        with suppress(OSError):
            self._beside = Beside(self._text)
            self._given_up = False

    def _give_up(self) -> None:
        self._given_up = True
        beside, self._beside = self._beside, None
        if beside is not None:
            beside.stop()
