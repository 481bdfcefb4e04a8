"""Goal: many runs on Spark: each item once, errors raised, a run that is lost told of."""

from __future__ import annotations

import json
import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from checker.cli.main import run
from checker.errors import UsageError
from checker.library import find
from checker.process import deep_recursion
from checker.runs import Lost
from checker.spark.runs import SparkRuns

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


LIFT = """
system: lift
about: A lift with four floors.
variables:
  floor: {type: "0..3", initial: "0"}
rows:
  - row: up
    when: floor < 3
    do: floor += 1
  - row: down
    when: floor > 0
    do: floor -= 1
"""
LIFT_MAPPING = """
conformance: lift
about: A lift that does not say when it has arrived at the top.
rows:
  up: {call: up}
  down: {call: down}
observe:
  floor: floor
"""
LIFT_ADAPTER = """
import os, signal, sys
from pathlib import Path
from checker.conformance.serve import serve

once = Path(sys.argv[1])
parent = os.getppid()
if once.exists() and b"pyspark" in Path(f"/proc/{parent}/cmdline").read_bytes():
    once.unlink()
    os.kill(parent, signal.SIGKILL)

class Lift:
    floor = 0
    def up(self):
        self.floor += 1
    def down(self):
        self.floor -= 1
    def observe(self):
        return {"floor": min(self.floor, 2)}

serve(Lift)
"""


def test_a_worker_nests_as_deeply_as_a_process_that_runs_a_command(session: SparkSession) -> None:
    ((_, limit),) = SparkRuns(session).each(lambda _: sys.getrecursionlimit(), [0])
    with deep_recursion():
        assert limit == sys.getrecursionlimit()


def test_each_item_is_done_once(session: SparkSession) -> None:
    found = list(SparkRuns(session).each(math.factorial, range(9)))
    assert dict(found) == {number: math.factorial(number) for number in range(9)}
    assert len(found) == 9


def test_what_a_run_raises_is_raised(session: SparkSession) -> None:
    with pytest.raises(UsageError, match="there is no specification"):
        list(SparkRuns(session).each(find, ["no such specification"]))


def test_a_worker_that_dies_each_time_loses_its_run_only(session: SparkSession) -> None:
    found = dict(SparkRuns(session).each(os._exit, [3]))
    (made,) = found.values()
    assert isinstance(made, Lost)
    assert "Spark lost it" in made.reason
    assert dict(SparkRuns(session).each(math.sqrt, [4])) == {4: 2.0}


def test_what_is_left_early_is_cancelled(session: SparkSession) -> None:
    for number, made in SparkRuns(session).each(math.factorial, range(40)):
        assert made == math.factorial(number)
        break
    assert dict(SparkRuns(session).each(math.sqrt, [9])) == {9: 3.0}


def told(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, object]:
    code = run([*words, "--progress", "none", "--format", "json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.usefixtures("session")
def test_verify_and_mutate_find_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["verify", "die_hard", "--fresh"], ["mutate", "die_hard"]):
        there = told(capsys, *words, "--engine", "spark")
        here = told(capsys, *words)
        assert without_seconds(there) == without_seconds(here)


OF_A_RUN = {"seconds", "compile_seconds", "peak_rss_bytes", "workers"}
"""What of an answer may differ from run to run."""


def without_seconds(found: object) -> object:
    if isinstance(found, dict):
        return {key: without_seconds(item) for key, item in found.items() if key not in OF_A_RUN}
    if isinstance(found, (list, tuple)):
        return [without_seconds(item) for item in found]
    return found


@pytest.mark.usefixtures("session")
@pytest.mark.parametrize(
    ("spec", "walks"), [(("two_phase", "commits_early"), 30_000), (("die_hard", "default"), 9_000)]
)
def test_simulate_finds_the_same(
    capsys: pytest.CaptureFixture[str], spec: tuple[str, str], walks: int
) -> None:
    words = ("simulate", spec[0], "--instance", spec[1], "--walks", str(walks), "--depth", "12")
    assert told(capsys, *words, "--engine", "spark") == told(capsys, *words)


@pytest.mark.usefixtures("session")
def test_hunts_find_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("hunt", "controller_failover", "--instance", "an_old_cache", "--hunts", "6")
    words += ("--property", "no_acknowledged_record_is_lost", "--steps", "20000", "--seed", "1")
    there, here = told(capsys, *words, "--engine", "spark"), told(capsys, *words)
    assert without_seconds(there) == without_seconds(here)
    assert here[0] == 12


@pytest.mark.usefixtures("session")
def test_conform_walks_the_same(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    # The first adapter below a Python worker takes it along into its death.
    adapter = tmp_path / "adapter.py"
    adapter.write_text(LIFT_ADAPTER)
    (tmp_path / "lift.yaml").write_text(LIFT)
    (tmp_path / "conformance.yaml").write_text(LIFT_MAPPING)
    words = ("conform", str(tmp_path / "lift.yaml"), "--cover", "rows", "--depth", "5")
    words += ("--adapter", f"{sys.executable} {adapter} {tmp_path / 'once'}")
    here = told(capsys, *words)
    assert here[0] == 1
    (tmp_path / "once").write_text("")
    there = told(capsys, *words, "--engine", "spark")
    assert not (tmp_path / "once").exists()
    assert without_seconds(there) == without_seconds(here)


@pytest.mark.usefixtures("session")
def test_sweep_finds_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("sweep", "two_phase", "--set", "Manager=1..3")
    there = told(capsys, *words, "--engine", "spark")
    assert without_seconds(there) == without_seconds(told(capsys, *words))
