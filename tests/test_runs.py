"""Goal: many runs in processes: each item once, errors raised, a killed process told of."""

from __future__ import annotations

import ctypes
import gc
import math
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from checker import runs
from checker.errors import UsageError
from checker.library import find
from checker.process import collect_rarely, deep_recursion
from checker.runs import Lost, Processes


@pytest.mark.parametrize("processes", [1, 2])
def test_each_item_is_done_once(processes: int) -> None:
    found = dict(Processes(processes).each(math.factorial, range(6)))
    assert found == {number: math.factorial(number) for number in range(6)}


@pytest.mark.parametrize("processes", [1, 2])
def test_what_a_run_raises_is_raised(processes: int) -> None:
    with pytest.raises(UsageError, match="there is no specification"):
        list(Processes(processes).each(find, ["no such specification", "nor this"]))


def test_a_process_collects_rarely() -> None:
    found = dict(Processes(2).each(thresholds_of, [1, 2]))
    collect_rarely()
    assert set(found.values()) == {gc.get_threshold()}


def test_a_process_nests_as_deeply_as_the_one_that_runs_a_command() -> None:
    found = dict(Processes(2).each(limit_of, [1, 2]))
    with deep_recursion():
        assert set(found.values()) == {sys.getrecursionlimit()}


def limit_of(_there: int) -> int:
    return sys.getrecursionlimit()


def thresholds_of(_there: int) -> tuple[int, int, int]:
    return gc.get_threshold()


def test_processes_are_ended_also_where_signals_come_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended: list[object] = []

    def end(pool: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        ended.append(pool)
        end_pool(pool)

    end_pool = runs._end
    monkeypatch.setattr(runs, "_end", end)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            list(Processes(2).each(math.factorial, range(4)))
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(ended) == 2


def test_a_process_that_dies_is_no_result() -> None:
    found = dict(Processes(2).each(os._exit, [3, 4]))
    assert set(found) == {3, 4}
    assert all(isinstance(made, Lost) and "killed" in made.reason for made in found.values())


def test_a_process_that_dies_costs_its_item_alone() -> None:
    found = dict(Processes(2).each(end_at_three, range(6)))
    assert isinstance(found.pop(3), Lost)
    assert set(found.values()) == {0, 1, 2, 4, 5}


def end_at_three(number: int) -> int:
    if number == 3:
        os._exit(1)
    return number


def test_a_process_stays_with_a_family() -> None:
    found = dict(Processes(2).each(process_of, range(12), family=halves))
    assert len(set(found.values())) == 2
    # Whoever is done first helps the other one, and comes back to nothing.
    assert len({(halves(number), process) for number, process in found.items()}) <= 3


def halves(number: int) -> bool:
    return number % 2 == 0


def process_of(_number: int) -> int:
    time.sleep(0.5)
    return os.getpid()


def test_whoever_leaves_early_waits_for_nobody() -> None:
    begun = time.monotonic()
    for seconds, _ in Processes(2).each(time.sleep, [0, 60]):
        assert seconds == 0
        break
    assert time.monotonic() - begun < 30


def test_processes_share_the_memory() -> None:
    assert Processes(4).memory == pytest.approx(Processes(1).memory / 4, rel=0.2)


def test_no_thread_of_a_process_outlives_its_runs() -> None:
    """One that does may fail while Python ends, in words that nobody understands."""
    before = threading.active_count()
    for _ in Processes(2).each(math.factorial, range(6)):
        break
    assert threading.active_count() == before


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_no_process_outlives_the_one_that_started_it(number: signal.Signals) -> None:
    """Neither one that waits for work nor one in native code; all of them hold its stdout."""
    program = """
from checker.runs import Processes
from test_runs import busy
if __name__ == "__main__":
    for seconds, _ in Processes(2).each(busy, [0, 120]):
        print(seconds, flush=True)
"""
    words = [sys.executable, "-c", program]
    places = os.pathsep.join(path for path in (str(Path(__file__).parent), *sys.path) if path)
    given = {**os.environ, "PYTHONPATH": places}
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=given) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"0\n"
        begun = time.monotonic()
        parent.send_signal(number)
        assert parent.stdout.read() == b""  # until nobody can write there
    assert time.monotonic() - begun < 30


def busy(seconds: int) -> None:
    """Wait in native code, as long as a kernel may take."""
    ctypes.CDLL(None).sleep(seconds)


SLOW_START = """\
import sys, time
if "--multiprocessing-fork" in sys.orig_argv:
    open(__file__ + ".met", "a").close()
    time.sleep(1.5)
"""

INTERRUPTED = """\
import math
from checker.runs import Processes
try:
    print(list(Processes(2).each(math.factorial, [1, 2])))
except KeyboardInterrupt:
    print("interrupted")
"""


def test_a_process_that_is_just_starting_leaves_ctrl_c_to_the_one_that_starts_it(
    tmp_path: Path,
) -> None:
    slow = tmp_path / "sitecustomize.py"
    slow.write_text(SLOW_START)
    places = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": places},
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    ) as parent:
        while not Path(f"{slow}.met").exists():
            assert parent.poll() is None
            time.sleep(0.05)
        time.sleep(0.3)
        os.killpg(parent.pid, signal.SIGINT)
        out, err = parent.communicate(timeout=60)
    assert out == "interrupted\n"
    assert err == ""
