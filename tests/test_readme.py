"""Goal: what README shows is what the commands print, and what it names is there."""

import re
import tomllib
from pathlib import Path

import pytest

import checker
from checker.cli.main import COMMANDS, run

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SHOWN = [
    (block.split("\n", 1)[0].removeprefix("$ checker "), block.split("\n", 1)[1])
    for block in re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    if block.startswith("$ checker ") and not block.split("\n", 1)[1].startswith("$")
]


@pytest.mark.parametrize(("command", "printed"), SHOWN)
def test_a_shown_command_prints_what_is_shown(
    command: str, printed: str, capfd: pytest.CaptureFixture[str]
) -> None:
    run(command.split())
    lines = [line.rstrip() for line in capfd.readouterr().out.splitlines()]
    assert "\n".join(lines) == printed.rstrip()


def test_a_counterexample_is_shown() -> None:
    assert any("violated" in printed for _, printed in SHOWN)


def test_every_linked_file_is_there() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_used_command_exists() -> None:
    used = set(re.findall(r"^\$ checker (\w+)", README, re.MULTILINE))
    assert used <= set(COMMANDS)


def test_the_version_is_that_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert checker.__version__ == project["version"]
