"""Goal: Kafka's released classes do as the specifications say. Needs a JDK and Maven, or skips."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from adapter import MAINS, build, missing
from click.testing import CliRunner
from run_all import RUNS

from checker.cli.conform import conform

ADAPTER = Path(__file__).parent / "adapter.py"


@pytest.fixture(params=sorted(MAINS))
def built(request: pytest.FixtureRequest) -> str:
    """The name of a system whose adapter is built; without the tools or artefacts, a skip."""
    name = str(request.param)
    lacking = missing()
    if lacking is not None:
        pytest.skip(lacking)
    failed = build(name)
    if failed is not None and "offline" not in failed and not _is_network(failed):
        pytest.fail(failed)
    if failed is not None:
        pytest.skip(f"Kafka's artefacts are not here and cannot be fetched: {failed[-300:]}")
    return name


def _is_network(text: str) -> bool:
    signs = ("Could not transfer", "Unknown host", "Connection refused", "Connect timed out")
    return any(sign in text for sign in (*signs, "Network is unreachable"))


def drive(name: str, *options: str) -> tuple[int, dict[str, object]]:
    command = f"{sys.executable} {ADAPTER} {name}"
    outcome = CliRunner().invoke(
        conform,
        [name, "--adapter", command, "--format", "json", "--progress", "none", *options],
        standalone_mode=False,
    )
    if outcome.exception is not None:
        raise outcome.exception
    assert isinstance(outcome.return_value, int)
    return outcome.return_value, json.loads(outcome.stdout)


def test_the_class_does_as_the_smallest_instance_says(built: str) -> None:
    instance, settings = RUNS[built][0]
    code, found = drive(built, "--instance", instance, *settings)
    assert (code, found["differences"], found["notes"]) == (0, [], [])
    assert found["transitions_not_reached"] == 0
    assert found["transitions"]


@pytest.mark.parametrize("built", ["share_partition"], indirect=True)
def test_a_historical_bug_is_not_what_the_class_does(built: str) -> None:
    settings = ("--set", "acquire_respects_transition=false", "--set", "several_offsets=false")
    limits = ("--cover", "rows", "--limit-steps", "1500")
    code, found = drive(built, "--instance", "as_in_kafka", *settings, *limits)
    assert code == 1
    shortest = found["differences"][0]  # type: ignore[index]
    assert shortest["length"] <= 5
