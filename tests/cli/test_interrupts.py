"""Goal: Ctrl-C, SIGTERM and SIGHUP end a run soon, and what was found until then is kept."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_processes import (
    COUNTERS,
    ENDING,
    command,
    environment,
    run_until,
    with_defaults,
    with_none,
)

from checker.cli import main as door


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "counters.yaml").write_text(COUNTERS)
    return tmp_path


SEARCH = ["check", "counters.yaml", "--format", "json", "--progress", "json"]


@pytest.mark.parametrize("number", ENDING)
def test_a_search_ends_with_what_was_found(folder: Path, number: signal.Signals) -> None:
    code, out, err = run_until(folder, [*SEARCH, "--checkpoint", "kept"], '"distinct"', number)
    assert code == 130, err
    found = json.loads(out)
    assert (found["verdict"], found["stopped_by"]) == ("inconclusive", "interrupt")
    assert found["distinct"] > 100
    assert found["properties"][0]["verdict"] == "unknown"
    assert "go on with --resume" in err
    assert (folder / "kept" / "manifest.json").is_file()
    assert "Traceback" not in err


def test_the_reference_engine_ends_with_what_was_found(folder: Path) -> None:
    words = [*SEARCH, "--engine", "reference"]
    code, out, err = run_until(folder, words, '"distinct"', signal.SIGTERM)
    assert code == 130, err
    assert json.loads(out)["stopped_by"] == "interrupt"


@pytest.mark.parametrize(("workers", "number"), [("1", signal.SIGTERM), ("2", signal.SIGINT)])
def test_verify_ends_with_the_instances_that_were_done(
    folder: Path, workers: str, number: signal.Signals
) -> None:
    words = ["verify", "counters.yaml", "--fresh", "--workers", workers]
    code, out, err = run_until(folder, words, "ok        counters few", number)
    assert code == 130, err
    assert "  ok  few  " in out
    assert "2 instances, 0 not as declared, 1 not run (interrupted)" in out
    assert "Traceback" not in err


@pytest.mark.parametrize("number", ENDING[:2])
def test_a_second_one_ends_at_once(folder: Path, number: signal.Signals) -> None:
    """Whether there was still time for the result depends on the machine."""
    code, out, err = run_until(folder, SEARCH, '"distinct"', number, number)
    assert code == 130, err
    assert "Traceback" not in err
    assert ("interrupted twice" in err) or json.loads(out)["stopped_by"] == "interrupt"


def ended_program(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=with_defaults,
    )


def test_one_after_the_exit_code_is_known_changes_nothing() -> None:
    """Python lets go of its handlers before it ends; a second signal may come even then."""
    program = """
import os, signal
from checker.cli.main import main

class Late:
    def __del__(self, kill=os.kill, process=os.getpid(), number=signal.SIGTERM):
        kill(process, number)

late = Late()
main(["list"])
"""
    ended = ended_program(program)
    assert ended.returncode == 2, ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("number", ENDING)
def test_while_the_command_is_being_imported(number: signal.Signals) -> None:
    program = f"import os, checker.__main__; os.kill(os.getpid(), {int(number)}); import time"
    ended = ended_program(program)
    assert (ended.returncode, ended.stderr) == (130, "interrupted\n")


def test_before_the_search_begins(folder: Path) -> None:
    code, out, err = run_until(folder, SEARCH, '"read"', signal.SIGTERM)
    assert code == 130, err
    assert "Traceback" not in err
    found = json.loads(out)
    why = found.get("error") or {"kind": found["stopped_by"]}
    assert why["kind"] in {"interrupted", "interrupt"}


MANY = """\
system: many
about: Sixteen million initial states, which take more than a minute to find.
variables:
  x: {type: 0..3999, initial: "0"}
  y: {type: 0..3999, initial: "0"}
initial:
  do: |
    x = pick(a for a in range(0, 4000))
    y = pick(a for a in range(0, 4000))
rows:
  - row: back
    do: x = 0
"""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["check"], "explore"),
        (["simulate"], "walk"),
        (["hunt"], "hunt"),
        (["graph", "--out", "kept"], "graph"),
        (["diff"], "compare"),
    ],
)
def test_while_initial_states_are_found(folder: Path, words: list[str], said: str) -> None:
    (folder / "many.yaml").write_text(MANY)
    began = time.monotonic()
    asked = [*words, "many.yaml", "--progress", "json", "--format", "json"]
    code, out, err = run_until(folder, asked, f'"{said}"', signal.SIGINT)
    assert code == 130, err
    assert time.monotonic() - began < 40
    assert "Traceback" not in err
    found = json.loads(out)
    if words[0] in {"graph", "diff"}:  # without their end they have no result
        assert found["error"]["kind"] == "interrupted"
        assert "interrupted" in err
    else:
        assert found.get("verdict") != "holds"


def test_time_is_up_while_initial_states_are_found(folder: Path) -> None:
    (folder / "many.yaml").write_text(MANY)
    words = ["check", "many.yaml", "--format", "json", "--limit-seconds", "0.2"]
    ended = subprocess.run(
        command(words), cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )
    assert ended.returncode == 20, ended.stderr
    found = json.loads(ended.stdout)
    assert (found["verdict"], found["stopped_by"]) == ("inconclusive", "seconds")
    assert found["distinct"] == 0


def test_what_the_parent_ignores_stays_ignored(folder: Path) -> None:
    words = [*SEARCH, "--limit-seconds", "4"]
    code, out, err = run_until(folder, words, '"distinct"', *ENDING, handling=with_none)
    assert code == 20, err
    assert json.loads(out)["stopped_by"] == "seconds"


def test_one_while_the_exit_code_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The door itself may be interrupted, between what a command answers and its last step."""
    calls: list[str] = []

    def ignored_late() -> None:
        calls.append("ignore")
        if len(calls) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(door, "end_like_interrupts", lambda: None)
    monkeypatch.setattr(door, "ignore_interrupts", ignored_late)
    monkeypatch.setattr(door, "run", lambda _arguments: 0)
    monkeypatch.setattr(door.os, "_exit", sys.exit)
    with pytest.raises(SystemExit) as ended:
        door.main(["list"])
    assert ended.value.code == 130
    assert len(calls) == 2


def test_what_goes_wrong_while_an_interrupt_is_answered_is_no_bug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An interrupt inside of a lock's own code leaves it as the code around does not expect."""

    def locked(*_arguments: object, **_options: object) -> None:
        try:
            raise KeyboardInterrupt
        finally:
            raise RuntimeError("cannot release un-acquired lock")

    monkeypatch.setattr(door.checker, "main", locked)
    assert door.run(["list"]) == 130
    assert capsys.readouterr().err == "interrupted\n"
