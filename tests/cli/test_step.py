"""Goal: a walk in the terminal shows what can happen, does what is asked, and can be kept."""

from __future__ import annotations

import io
import os
import pty
import random
import select
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import command_processes
import pytest
from toggling import Command, Outcome

from checker import flow
from checker.cli.step import _Session
from checker.semantics.successor import Successor
from checker.trace.walking import Walk


@pytest.fixture
def walk(command: Command, monkeypatch: pytest.MonkeyPatch, toggle: str):  # type: ignore[no-untyped-def]  # noqa: ANN201
    def run(*lines: str, more: tuple[str, ...] = ()) -> Outcome:
        monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines) + "\n"))
        return command("step", toggle, *more)

    return run


def test_steps_are_listed_taken_and_undone(walk) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    result = walk("press(bob)", "2", "state presses", "back 2", "state presses")
    assert result.code == 0
    assert "1) press(ann)" in result.out
    assert "presses: 0 -> 1" in result.out
    shown = [line.strip() for line in result.out.splitlines() if " presses = " in line]
    assert shown == ["presses = 2", "presses = 0"]
    assert result.err == ""


def test_a_step_that_is_called_like_a_command_is_taken_by_its_number(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "s.yaml").write_text(
        "system: s\nabout: a.\nvariables: {x: {type: 0..2, initial: '0'}}\ndeadlock: false\nrows:\n"
        "  - {row: back, when: x < 2, do: x += 1}\n"
        "  - {row: quit, when: x == 1, do: x = pick(range(2))}\n"
    )
    said = io.StringIO("1\nback\n1\nsave a\0b\neval x\nquit pick 1\n1\n")
    monkeypatch.setattr(sys, "stdin", said)
    result = command("step", str(tmp_path / "s.yaml"))
    assert "     1) back   [by its number: back is a command]\n" in result.out
    assert result.out.count("x: 0 -> 1") == 2
    assert result.out.endswith("\n  1\n")
    assert (result.code, result.err) == (0, "save takes the name of a file\n")


def test_what_is_wrong_is_said_and_nothing_happens(walk) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    result = walk(
        "press",
        "77",
        "nothing",
        "eval pressed",
        "back x",
        "²",
        "back ²",
        "9" * 5000,
        "save",
        "state presses",
    )
    assert result.code == 0
    assert "several steps begin so" in result.err
    assert "there is no step 77" in result.err
    assert "no step is called so" in result.err
    assert "`pressed` is not declared" in result.err
    assert "'x' is no number" in result.err
    assert "'²' is no number" in result.err
    assert "presses = 0" in result.out


def test_an_interrupted_command_keeps_the_walk(
    toggle: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    request = flow.Request(toggle)
    document, machine = flow.prepare(request, flow.Silent())
    session = _Session(document, request, Walk(machine), random.Random(0))  # noqa: S311 - a walk
    taken = session.take

    def take(choice: Successor) -> None:
        if len(session.walk.path) == 3:
            raise KeyboardInterrupt
        taken(choice)

    monkeypatch.setattr(session, "take", take)
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", terminal)
    session.obey("random", "1000000000", "random 1000000000")
    assert len(session.walk.path) == 3
    printed = capsys.readouterr()
    assert "the walk goes on from here" in printed.err
    assert "1) " in printed.out
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    with pytest.raises(KeyboardInterrupt):
        session.obey("random", "9", "random 9")


def test_expressions_and_properties(walk) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    result = walk("1", "eval presses + 1", "eval not on", "eval 1 // (presses - 1)", "properties")
    assert "\n  2\n" in result.out
    assert "\n  false\n" in result.out
    assert "no value" in result.out
    assert "few (always): true" in result.out


def test_a_walk_by_chance_is_the_same_again_and_replays(walk, command: Command) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    one = walk("random 4", "save one.itf.json")
    two = walk("random 4", "save two.itf.json")
    assert one.out.replace("one.itf", "two.itf") == two.out
    assert Path("one.itf.json").read_text() == Path("two.itf.json").read_text()
    assert command("trace", "one.itf.json", "--replay").code == 0
    assert "a walk" in command("trace", "one.itf.json").out
    again = walk("path", more=("--trace", "one.itf.json"))
    assert "   4  " in again.out


def test_expressions_along_a_trace(walk, command: Command) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    walk("press(ann)", "press(ann)", "save run.itf.json")
    result = command("trace", "run.itf.json", "--eval", "presses * 2", "--eval", "on")
    assert result.code == 0
    lines = [line.strip() for line in result.out.splitlines()]
    assert lines[:3] == ["0  initial state", "presses * 2 is 0", "on is false"]
    assert lines[3:6] == ["1  press(ann)", "*presses * 2 is 2", "*on is true"]
    assert lines[6:] == ["2  press(ann)", "*presses * 2 is 4", "*on is false"]
    result = command("trace", "run.itf.json", "--eval", "1 // presses")
    assert result.code == 75
    assert "no value" in result.out
    assert command("trace", "run.itf.json", "--eval", "pressed").code == 120
    assert command("trace", "run.itf.json", "--eval", "on", "--replay").code == 2


def test_a_step_that_breaks_something_is_marked_before_it_is_taken(walk) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    result = walk("1", "1", "1", "1", "1", more=("--set", "limited=false"))
    lines = [line.strip() for line in result.out.splitlines() if "press(ann)" in line]
    offered = [line for line in lines if line.startswith("1) ")]
    assert offered == ["1) press(ann)"] * 4 + ["1) press(ann)   [breaks few]", "1) press(ann)"]


def test_the_tabulator_completes_whole_steps_and_variables(toggle: str) -> None:
    request = flow.Request(toggle)
    document, machine = flow.prepare(request, flow.Silent())
    session = _Session(document, request, Walk(machine), random.Random(0))  # noqa: S311 - a walk
    assert session.completions("press(a") == ["press(ann)"]
    assert session.completions("pre") == ["press(ann)", "press(bob)"]
    assert session.completions("sta") == ["state"]
    assert session.completions("eval not (pre") == ["eval not (presses"]
    assert session.completions("eval presses + ") == [
        "eval presses + on",
        "eval presses + presses",
        "eval presses + budget.glitch",
    ]


def test_steps_that_cannot_be_saved_name_the_file(walk) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    assert walk("save /dev/full").err == "/dev/full: no space left on device\n"


@pytest.mark.parametrize("asked", [signal.SIGTERM, signal.SIGHUP], ids=["SIGTERM", "SIGHUP"])
def test_at_the_prompt_ctrl_c_goes_on_and_what_asks_to_end_ends(
    toggle: str, asked: signal.Signals
) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command_processes.command(["step", toggle]),
        env=command_processes.environment(),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        preexec_fn=command_processes.with_defaults,  # noqa: PLW1509 (no threads here)
    ) as process:
        os.close(theirs)
        try:
            assert _says(ours, b"step> ")
            # A signal between the prompt and the waiting for a key is heard with the next one.
            asking = iter(range(60))
            while not _says(ours, b"(quit, or Ctrl-D, ends)", 1.0):
                assert next(asking, None) is not None
                process.send_signal(signal.SIGINT)
            while process.poll() is None:
                assert next(asking, None) is not None
                process.send_signal(asked)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(2)
        finally:
            process.kill()
    assert process.returncode == 130
    os.close(ours)


def _says(terminal: int, text: bytes, seconds: float = 60.0) -> bool:
    """Read until a text comes; whether it does before nothing comes for so long."""
    seen = b""
    while text not in seen and select.select([terminal], [], [], seconds)[0]:
        seen += os.read(terminal, 4096)
    return text in seen
