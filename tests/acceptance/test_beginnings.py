"""Goal: what goes wrong before the first state is told like everything else, by both engines."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.cli.main import run

HEAD = "system: beginning\nabout: It goes wrong before it begins.\n"
ROWS = "rows:\n  - {row: r, do: x = 0}\n"

TABLE = """\
table: lamp
about: A lamp.
source: none
states: {Off: {about: dark, initial: true}, On: {about: light}}
transitions:
  - {from: Off, event: press, to: On}
"""

FAILS = """\
variables: {x: {type: 0..3, initial: "0"}}
initial:
  do: x = 4 - x
"""
SOMETIMES_FAILS = """\
variables: {x: {type: 0..3, initial: "0"}}
initial:
  for: {y: 0..4}
  do: x = y
"""
NO_VALUE = """\
variables:
  x: {type: 0..3, initial: "min({a for a in {1, 2} if a > 2})"}
"""
MOVES = """\
machines: {lamp: {table: lamp}}
variables: {x: {type: 0..3, initial: "0"}}
initial:
  for: {wrong: bool}
  do: |
    if wrong:
        lamp = Off
"""


@pytest.mark.parametrize("engine", ["reference", "local"])
@pytest.mark.parametrize(
    ("text", "code", "told"),
    [
        (FAILS, 75, "error E501: 4 is outside 0..3"),
        (SOMETIMES_FAILS, 75, "error E501: 4 is outside 0..3"),
        (NO_VALUE, 75, "error E507: the least of nothing"),
        (MOVES, 12, "illegal transition: lamp Off -> Off is not in table lamp"),
    ],
)
def test_what_fails_at_the_beginning_is_reported(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], engine: str, text: str, code: int, told: str
) -> None:
    (tmp_path / "lamp.yaml").write_text(TABLE)
    path = tmp_path / "beginning.yaml"
    path.write_text(HEAD + text + ROWS)
    report = tmp_path / "report"
    words = ["--engine", engine, "--report", str(report), "--progress", "none"]
    assert run(["check", str(path), *words]) == code
    assert told in capfd.readouterr().out
    for trace in report.glob("*.itf.json"):
        assert run(["trace", "--replay", str(trace)]) == 0
