"""A specification to run commands on, and a way to run them as a user does, in this process."""

from pathlib import Path
from uuid import uuid4

import pytest
from toggling import TOGGLE, Command, Outcome

from checker.cli import remembered
from checker.cli.main import run


@pytest.fixture(autouse=True)
def _nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test remember verdicts of its own only; compiled code is kept for all as ever."""
    own = remembered._checker() + uuid4().bytes
    monkeypatch.setattr(remembered, "_checker", lambda: own)


@pytest.fixture
def command(capfd: pytest.CaptureFixture[str]) -> Command:
    """Run `checker` with the given words; the reference engine where a command has engines."""

    def call(*words: object) -> Outcome:
        code = run([str(word) for word in words])
        printed = capfd.readouterr()
        return Outcome(code, printed.out, printed.err)

    return call


@pytest.fixture
def toggle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The path of a small specification, in the working directory."""
    (tmp_path / "toggle.yaml").write_text(TOGGLE)
    monkeypatch.chdir(tmp_path)
    return "toggle.yaml"
