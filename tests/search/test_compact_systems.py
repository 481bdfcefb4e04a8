"""Goal: shipped systems whose states are kept in halves say what they say with whole states:
verdicts, counts, traces, with symmetry, commuting steps, liveness, and after a pause.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

import checker.search.crew as crew_module
import checker.search.local as local_module
from checker import flow
from checker.report.result import Result
from checker.search import compact
from checker.search.limits import Limits

REQUESTS = {
    "symmetry and witnesses": flow.Request("classic_group"),
    "a violation": flow.Request("classic_group", "kafka_5154"),
    "all of it": flow.Request("classic_group", "kafka_8386", limits=Limits(keep_going=True)),
    "liveness": flow.Request("share_group", "progress_of_initialisation"),
}


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep states in halves as soon as there are a thousand."""
    monkeypatch.setattr(local_module, "Crew", partial(crew_module.Crew, capacity=16))
    monkeypatch.setattr(compact, "MANY", 1000)


def told(result: Result) -> object:
    found = result.exploration
    rows = [(row.row, row.enabled, row.fired) for row in found.rows]
    counted = (found.distinct, found.generated, found.levels, found.cuts, found.stopped_by)
    return counted, rows, result.verdict, result.traces


class Notices(flow.Silent):
    """Keeps what a user is told."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def notice(self, text: str) -> None:
        """Keep a notice."""
        self.said.append(text)


def checked(request: flow.Request) -> Result:
    """Check what is asked in halves, and see that it was."""
    notices = Notices()
    result = flow.check(replace(request, compact="on"), notices)
    assert any("kept in halves" in text for text in notices.said)
    return result


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("name", REQUESTS)
def test_halves_change_nothing(name: str, workers: int) -> None:
    request = replace(REQUESTS[name], workers=workers)
    wanted = flow.check(replace(request, compact="off"), flow.Silent())
    assert told(checked(request)) == told(wanted)


def test_a_search_in_halves_goes_on_after_a_pause(tmp_path: Path) -> None:
    request = flow.Request("classic_group", "kafka_5154", workers=2)
    for depth in (22, 24):
        limits = Limits(depth=depth)
        resume = tmp_path if depth > 22 else None
        checked(replace(request, limits=limits, checkpoint=tmp_path, resume=resume))
    wanted = flow.check(replace(request, compact="off"), flow.Silent())
    assert told(checked(replace(request, resume=tmp_path))) == told(wanted)


def test_a_profile_is_of_the_states() -> None:
    profile = checked(flow.Request("classic_group", profile=True)).exploration.profile
    wanted = flow.check(flow.Request("classic_group", profile=True), flow.Silent())
    assert profile is not None
    assert wanted.exploration.profile is not None
    assert profile.sampled == wanted.exploration.profile.sampled
