"""Goal: `--checkpoint` and `--resume` give the same object as one run; a wrong one is refused."""

import os
from pathlib import Path

import pytest
from toggling import TOGGLE, Command

VARIES = ("seconds", "compile_seconds", "peak_rss_bytes", "checkpoint", "bytes_per_state")


def told(found: object) -> object:
    assert isinstance(found, dict)
    return {key: value for key, value in found.items() if key not in VARIES}


def check(command: Command, toggle: str, *words: str) -> object:
    return command("check", toggle, "--workers", "1", "--format", "json", *words).json


@pytest.mark.parametrize("instance", ["default", "broken"])
def test_going_on_says_what_one_run_says(command: Command, toggle: str, instance: str) -> None:
    select = ("--instance", instance)
    wanted = check(command, toggle, *select)
    stopped = command("check", toggle, *select, "--limit-depth", "2", "--checkpoint", "kept")
    assert stopped.code == 20
    assert "levels expanded; go on with --resume kept" in stopped.err
    assert told(check(command, toggle, *select, "--resume", "kept")) == told(wanted)
    # The same once more: what was resumed from was only read.
    assert told(check(command, toggle, *select, "--resume", "kept")) == told(wanted)


@pytest.mark.parametrize("name", ["manifest.json", "states-000001.bin"])
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_has_no_end_is_no_part_of_a_checkpoint(
    command: Command, toggle: str, name: str, kind: str
) -> None:
    command("check", toggle, "--limit-depth", "2", "--checkpoint", "kept")
    file = next(path for path in sorted(Path("kept").glob("*")) if path.name.startswith(name[:6]))
    file.unlink()
    if kind == "pipe":
        os.mkfifo(file)
    else:
        file.symlink_to("/dev/zero")
    result = command("check", toggle, "--resume", "kept")
    assert result.code == 2
    assert f"{file}: this is no ordinary file" in result.err


def test_the_checkpoint_is_named_in_the_object(command: Command, toggle: str) -> None:
    words = ("--checkpoint", "kept", "--checkpoint-seconds", "0")
    assert command("check", toggle, "--format", "json", *words).json["checkpoint"] == "kept"
    assert len(list(Path("kept").glob("states-*.bin"))) == 9
    assert command("check", toggle, "--format", "json").json["checkpoint"] is None


@pytest.mark.parametrize(
    ("change", "words", "reason"),
    [
        (("when: presses == most", "when: presses >= most"), (), "rows, bounds or properties"),
        (("do: presses = 0", "do: presses = 1"), (), "rows, bounds or properties"),
        (("sometimes: on", "always: not on"), (), "rows, bounds or properties"),
        (("", ""), ("--set", "most=2"), "constant most differs: 3 there, 2 here"),
        (("", ""), ("--property", "few"), "the selected properties differ"),
        (("", ""), ("--instance", "broken"), "the instance differs: default there, broken here"),
    ],
)
def test_another_specification_or_option_is_refused(
    command: Command, toggle: str, change: tuple[str, str], words: tuple[str, ...], reason: str
) -> None:
    command("check", toggle, "--limit-depth", "2", "--checkpoint", "kept")
    Path(toggle).write_text(TOGGLE.replace(*change))
    result = command("check", toggle, "--resume", "kept", *words)
    assert (result.code, result.out) == (2, "")
    assert reason in result.err
    assert "kept/manifest.json" in result.err
    assert "Traceback" not in result.err


def test_a_comment_is_no_difference(command: Command, toggle: str) -> None:
    command("check", toggle, "--limit-depth", "2", "--checkpoint", "kept")
    Path(toggle).write_text("# a comment\n" + TOGGLE.replace("breaks", "is broken"))
    assert command("check", toggle, "--resume", "kept").code == 0


def test_a_checkpoint_is_not_overwritten(command: Command, toggle: str) -> None:
    command("check", toggle, "--limit-depth", "2", "--checkpoint", "kept")
    result = command("check", toggle, "--checkpoint", "kept")
    assert result.code == 2
    assert "go on from it with --resume kept" in result.err
