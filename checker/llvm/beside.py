"""Optimising in a process of its own: something else goes on meanwhile, and it can be broken off.

LLVM cannot be interrupted where it runs (`compiler.py` says why a thread would not do).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress

from checker.errors import EnvironmentFailure
from checker.llvm.native import compile_object

_COMMAND = ("-P", "-m", "checker.llvm.compiler")
"""What Python is called with; without the working directory among the places of modules (-P)."""

_POLL_SECONDS = 0.02


class Beside:
    """A module that is being optimised elsewhere. OSError where no process can be started."""

    def __init__(self, text: str) -> None:
        places = os.pathsep.join(path for path in sys.path if path)
        with tempfile.TemporaryFile() as given, ExitStack() as opened:
            given.write(text.encode())
            given.seek(0)
            self._out = opened.enter_context(tempfile.TemporaryFile())
            # In a session of its own: Ctrl-C is for us, and `stop` ends it.
            self._process = subprocess.Popen(  # noqa: S603 (this Python, our module)
                [sys.executable, *_COMMAND],
                stdin=given,
                stdout=self._out,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": places},
                start_new_session=True,
            )
            opened.pop_all()  # `stop` closes it

    @property
    def over(self) -> bool:
        """Whether it is done, or never will be."""
        return self._process.poll() is not None

    def code(self) -> bytes | None:
        """Return the object code; None where there is none, for whatever reason."""
        if self._process.returncode != 0:
            return None
        with suppress(OSError):
            self._out.seek(0)
            return self._out.read() or None
        return None

    @property
    def crashed(self) -> bool:
        """Whether a signal ended it: of LLVM, which gives up where it gets no memory, say."""
        return (self._process.returncode or 0) < 0

    def stop(self) -> None:
        """End it, if it goes on."""
        self._process.kill()
        self._process.wait()
        self._out.close()


def optimised_unless(stop: Callable[[], bool], text: str) -> bytes | None:
    """Return the object code of a module; None where `stop` said so before it was there.

    EnvironmentFailure where the process that makes it crashes: so might this one.
    """
    with suppress(OSError):
        beside = Beside(text)
        try:
            while not beside.over:
                if stop():
                    return None
                time.sleep(_POLL_SECONDS)
            code, crashed = beside.code(), beside.crashed
        finally:
            beside.stop()
        if crashed:
            raise EnvironmentFailure(
                "the process that makes native code crashed; it may need more memory than it gets"
            )
        if code is not None:
            return code
    return compile_object(text)
