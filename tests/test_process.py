"""Goal: a process that runs a command starts no threads that nobody needs, and has room for all."""

import os
import resource
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from checker.process import STACK, stack_deeply

THREADS = """
import pathlib
from checker.process import do_without_threads_of_numpy
do_without_threads_of_numpy()
import numpy
numpy.ones((300, 300)) @ numpy.ones((300, 300))
print(len(list(pathlib.Path("/proc/self/task").iterdir())))
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted in /proc")
def test_numpy_starts_no_threads() -> None:
    settings = {name: value for name, value in os.environ.items() if "OPENBLAS" not in name}
    done = subprocess.run(
        [sys.executable, "-c", THREADS], capture_output=True, text=True, env=settings, check=True
    )
    assert (done.stdout, done.stderr) == ("1\n", "")


@pytest.mark.parametrize(
    ("soft", "hard", "most"),
    [
        (STACK, STACK, None),
        (resource.RLIM_INFINITY, resource.RLIM_INFINITY, None),
        (1 << 20, resource.RLIM_INFINITY, STACK),
        (1 << 20, STACK >> 1, STACK >> 1),
        (1 << 20, 1 << 20, None),
    ],
)
def test_threads_have_the_stack_that_native_code_counts_on(
    soft: int, hard: int, most: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda _which, limits: given.append(limits))
    before = threading.stack_size()
    try:
        stack_deeply()
        assert threading.stack_size() == STACK
    finally:
        threading.stack_size(before)
    assert given == ([] if most is None else [(most, hard)])
