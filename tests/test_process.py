"""Goal: a process that runs a command starts no threads that nobody needs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

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
