"""Goal: Ctrl-C ends a run soon, and nothing that was found until then is lost."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

COUNTERS = """\
system: counters
about: More states than anybody waits for, found quickly.
constants:
  Place: {ids: 12}
variables:
  count: {type: map of Place to 0..9, initial: "{p: 0 for p in Place}"}
rows:
  - row: step
    for: {place: Place}
    when: count[place] < 9
    do: count[place] += 1
terminal:
  - all(count[p] == 9 for p in Place)
properties:
  small:
    always: all(count[p] <= 9 for p in Place)
    why: it is declared so.
instances:
  few:
    set: {Place: 2}
    expect: {verdict: holds, distinct: 100}
  default: {}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "counters.yaml").write_text(COUNTERS)
    return tmp_path


def run_until(folder: Path, words: list[str], said: str) -> tuple[int, str, str]:
    """Run `checker`, send Ctrl-C once `said` appears on stderr; its exit code, stdout, stderr."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "checker", *words]
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            read = list(_lines_until(process, said))
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=120)
        finally:
            process.kill()
    return process.returncode, out, "".join(read) + err


def _lines_until(process: subprocess.Popen[str], said: str) -> Iterator[str]:
    assert process.stderr is not None
    for line in process.stderr:
        yield line
        if said in line:
            return
    raise AssertionError(f"ended without saying {said!r}")


def test_a_search_ends_with_what_was_found(folder: Path) -> None:
    words = ["check", "counters.yaml", "--format", "json", "--progress", "json"]
    code, out, err = run_until(folder, words, '"distinct"')
    assert code == 130, err
    found = json.loads(out)
    assert (found["verdict"], found["stopped_by"]) == ("inconclusive", "interrupt")
    assert found["distinct"] > 100
    assert found["properties"][0]["verdict"] == "unknown"
    assert "Traceback" not in err


@pytest.mark.parametrize("workers", ["1", "2"])
def test_verify_ends_with_the_instances_that_were_done(folder: Path, workers: str) -> None:
    words = ["verify", "counters.yaml", "--workers", workers]
    code, out, err = run_until(folder, words, "ok        counters few")
    assert code == 130, err
    assert "  ok  few  " in out
    assert "2 instances, 0 not as declared, 1 not run (interrupted)" in out
    assert "Traceback" not in err
