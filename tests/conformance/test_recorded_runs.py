"""Goal: what a released broker and its consumers did is a run of the model; falsified, it is not.

`recorded/` has the beginning of a log that `record.py` wrote of a broker of Kafka 4.4.0.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from checker.cli.validate import validate

RECORDED = Path(__file__).parent / "recorded"
JOINS = RECORDED / "three_consumers_join_4.4.0.jsonl"


def judge(log: Path, *options: str) -> dict[str, Any]:
    outcome = CliRunner().invoke(
        validate,
        ["consumer_group_848", str(log), "--progress", "none", "--format", "json", *options],
        standalone_mode=False,
    )
    if outcome.exception is not None:
        raise outcome.exception
    found = json.loads(outcome.stdout)
    assert isinstance(found, dict)
    return found


def lines() -> list[dict[str, Any]]:
    return [json.loads(line) for line in JOINS.read_text().splitlines()]


def answers(lines: list[dict[str, Any]], who: str) -> list[dict[str, Any]]:
    """Return the answers with an assignment to one consumer."""
    return [
        line
        for line in lines
        if line.get("dir") == "resp" and line["who"] == who and line["assigned"]
    ]


def judged(changed: list[dict[str, Any]], folder: Path) -> dict[str, Any]:
    log = folder / "changed.jsonl"
    log.write_text("".join(f"{json.dumps(line)}\n" for line in changed))
    return judge(log)


def test_three_consumers_that_join_are_explained() -> None:
    found = judge(JOINS)
    assert found["verdict"] == "explained"
    assert found["rows"]["heartbeat_is_answered"] == found["rows"]["heartbeat"]


def doubled_owner(run: list[dict[str, Any]]) -> int:
    """B is given a partition that A still has."""
    held = answers(run, "A")[-1]["assigned"]
    line = answers(run, "B")[-1]
    line["assigned"] = sorted([*line["assigned"], held[0]])
    return int(line["i"])


def epoch_ahead(run: list[dict[str, Any]]) -> int:
    """A is told an epoch that the group has not reached."""
    line = answers(run, "A")[-1]
    line["epoch"] += 3
    return int(line["i"])


def unknown_member(run: list[dict[str, Any]]) -> int:
    """A member that the group has just answered is fenced at once."""
    line = next(
        line for line in run if line.get("dir") == "resp" and line["who"] == "A" and line["i"] > 40
    )
    line["err"] = "UNKNOWN_MEMBER_ID"
    return int(line["i"])


def owner_too_early(run: list[dict[str, Any]]) -> int:
    """B has what A is to give up before A says that it did."""
    line = next(line for line in run if line.get("dir") == "resp" and line["who"] == "B")
    line["assigned"] = [2, 3]
    return int(line["i"])


@pytest.mark.parametrize("falsify", [doubled_owner, epoch_ahead, unknown_member, owner_too_early])
def test_a_run_with_one_line_changed_is_not(falsify: Any, tmp_path: Path) -> None:
    run = lines()
    number = falsify(run)
    found = judged(run, tmp_path)
    assert found["verdict"] == "diverges"
    assert found["event"]["i"] >= number


def test_a_log_that_begins_midway_is_explained_only_as_one(tmp_path: Path) -> None:
    run = [line for line in lines() if line["i"] >= 40]
    log = tmp_path / "late.jsonl"
    log.write_text("".join(f"{json.dumps(line)}\n" for line in run[:6]))
    assert judge(log)["verdict"] == "diverges"
