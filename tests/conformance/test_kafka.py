"""Goal: Kafka's released classes do as the specifications say. Needs a JDK and Maven, or skips."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from adapter import SUBJECTS, build, missing, module_of
from click.testing import CliRunner
from record import RELEASE
from run_all import RUNS

from checker.cli.conform import conform
from checker.cli.validate import validate

ADAPTER = Path(__file__).parent / "adapter.py"
RECORD = Path(__file__).parent / "record.py"

Built = tuple[str, str]
"""A system and a release of Kafka whose adapter is built."""

RELEASES = [(name, release) for name, subject in SUBJECTS.items() for release in subject.releases]


@pytest.fixture(params=RELEASES, ids="-".join)
def built(request: pytest.FixtureRequest) -> Built:
    """An adapter that is built; without the tools or artefacts, a skip."""
    name, release = request.param
    build_or_skip(module_of(name), release)
    return name, release


def build_or_skip(module: str, release: str) -> None:
    lacking = missing()
    if lacking is not None:
        pytest.skip(lacking)
    failed = build(module, release)
    if failed is not None and "offline" not in failed and not _is_network(failed):
        pytest.fail(failed)
    if failed is not None:
        pytest.skip(f"Kafka's artefacts are not here and cannot be fetched: {failed[-300:]}")


def _is_network(text: str) -> bool:
    signs = ("Could not transfer", "Unknown host", "Connection refused", "Connect timed out")
    return any(sign in text for sign in (*signs, "Network is unreachable"))


def drive(built: Built, *options: str) -> tuple[int, dict[str, object]]:
    name, release = built
    command = f"{sys.executable} {ADAPTER} {name} --release {release}"
    outcome = CliRunner().invoke(
        conform,
        [name, "--adapter", command, "--format", "json", "--progress", "none", *options],
        standalone_mode=False,
    )
    if outcome.exception is not None:
        raise outcome.exception
    assert isinstance(outcome.return_value, int)
    return outcome.return_value, json.loads(outcome.stdout)


def test_the_class_does_as_the_smallest_instance_says(built: Built) -> None:
    run = next(run for run in RUNS[built[0]] if built[1] in run.releases)
    code, found = drive(built, "--instance", run.instance, *run.options)
    unknown = [story for story in found["differences"] if story["known"] is None]  # type: ignore[attr-defined]
    assert (code, unknown, found["known_gone"]) == (0, [], [])
    assert found["adapter"]["version"] == built[1]  # type: ignore[index]
    assert found["transitions_not_reached"] == 0
    assert found["transitions"]


@pytest.mark.parametrize("built", [("share_partition", "4.4.0")], indirect=True, ids="-".join)
def test_a_historical_bug_is_not_what_the_class_does(built: Built) -> None:
    settings = ("--set", "acquire_respects_transition=false", "--set", "several_offsets=false")
    limits = ("--cover", "rows", "--limit-steps", "1500")
    code, found = drive(built, "--instance", "as_in_kafka", *settings, *limits)
    assert code == 1
    shortest = found["differences"][0]  # type: ignore[index]
    assert shortest["length"] <= 5


@pytest.mark.parametrize("built", [("share_partition", "4.4.0")], indirect=True, ids="-".join)
def test_dead_letters_are_as_the_model_has_them(built: Built) -> None:
    options = ("--instance", "as_in_kafka_dead_letters", "--set", "write_failures=1")
    more = ("--set", "leader_changes=1", "--set", "truncations=1", "--cover", "rows")
    code, found = drive(built, *options, *more)
    assert (code, found["differences"]) == (0, [])
    taken = {row["row"]: row["taken"] for row in found["rows"]}  # type: ignore[attr-defined]
    assert taken["dead_letter_is_written"]


def test_every_subject_is_driven_in_every_release() -> None:
    driven = {name: {r for run in runs for r in run.releases} for name, runs in RUNS.items()}
    assert driven == {name: set(subject.releases) for name, subject in SUBJECTS.items()}


def test_a_run_of_a_broker_is_recorded_and_explained(tmp_path: Path) -> None:
    """Both commands of the manual: one records, one validates."""
    build_or_skip("recorder", RELEASE)
    log = tmp_path / "run.jsonl"
    command = [sys.executable, str(RECORD), str(log), "--protocol", "share", "--seconds", "6"]
    subprocess.run(command, check=True, capture_output=True)
    assert "ShareFetch" in log.read_text()
    outcome = CliRunner().invoke(
        validate, ["share_partition", str(log), "--progress", "none"], standalone_mode=False
    )
    assert outcome.return_value == 0, outcome.output
