"""Goal: whoever does what the tutorial says sees what it shows."""

import re
from pathlib import Path
from uuid import uuid4

import pytest

from checker.cli import remembered, spreading
from checker.cli.main import COMMANDS, run

TUTORIAL = (Path(__file__).parents[1] / "docs" / "tutorial.md").read_text(encoding="utf-8")
BLOCKS = re.findall(
    r"(?:<!-- (file|edit): (\S+) -->\n\n)?```(\w+)\n(.*?)```", TUTORIAL, flags=re.DOTALL
)


def edited(text: str, difference: str) -> str:
    """Return a text with the hunks of a difference, between which stands a line of dots."""
    for hunk in difference.split("...\n"):
        lines = hunk.splitlines(keepends=True)
        old = "".join(line[1:] for line in lines if line[0] in " -")
        new = "".join(line[1:] for line in lines if line[0] in " +")
        assert text.count(old) == 1, f"stands {text.count(old)} times:\n{old}"
        text = text.replace(old, new)
    return text


def shows(wanted: str, printed: str) -> bool:
    """Whether a text is what was printed; a line of dots stands for any lines."""
    pattern = "".join(
        r"(?:.*\n)*" if line == "..." else re.escape(line) + "\n" for line in wanted.splitlines()
    )
    lines = "".join(f"{line.rstrip()}\n" for line in printed.rstrip().splitlines())
    return re.fullmatch(pattern, lines) is not None


def test_every_command_of_the_tutorial_prints_what_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    own = remembered._checker() + uuid4().bytes
    monkeypatch.setattr(remembered, "_checker", lambda: own)
    monkeypatch.setattr(spreading, "cores", lambda: 1)
    monkeypatch.chdir(tmp_path)
    codes = []
    for what, name, _, text in BLOCKS:
        if what == "file":
            Path(name).write_text(text)
        elif what == "edit":
            Path(name).write_text(edited(Path(name).read_text(), text))
        else:
            command, shown = text.removeprefix("$ checker ").split("\n", 1)
            codes.append(run(command.split()))
            printed = capfd.readouterr().out
            assert shows(shown, printed), f"{command}\n{printed}"
    assert codes == [12, 0, 0, 0, 0, 12, 0, 1, 1, 0]


def test_the_page_names_commands_and_files_that_are_there() -> None:
    used = set(re.findall(r"`?checker (\w+) producer", TUTORIAL))
    assert {"check", "verify", "diff", "explore", "step", "mutate"} <= used <= set(COMMANDS)
    root = Path(__file__).parents[1]
    links = re.findall(r"\]\(([^)#:]+)[^):]*\)", TUTORIAL)
    assert [link for link in links if not (root / "docs" / link).resolve().exists()] == []


def test_what_is_elided_may_be_anything_and_nothing_else_may() -> None:
    assert shows("a\n...\nd\n", "a\nb\nc\nd\n")
    assert shows("a\n...\nd\n", "a\nd")
    assert not shows("a\n...\nd\n", "a\nb\nc\n")
    assert not shows("a\n", "a\nb\n")
