"""Goal: a profile says what a search's rows cost and make, and changes nothing of the search."""

from pathlib import Path

import pytest

from checker import flow
from checker.report.profile import print_profile, profile_object
from checker.report.result import Result
from checker.report.terminal import console

SPEC = """\
system: busy
about: One row that does much, one that does little, one that never runs.
variables:
  count: {type: "0..40", initial: "0"}
  pairs: {type: "set of 0..11", initial: "empty"}
rows:
  - row: little
    when: count < 40
    do: count += 1
  - row: much
    when: count < 40
    do: |
      count += 1
      for k in range(12):
          if sum((a * k + count) % 7 for a in range(12)) % 3 == 0:
              pairs.add(k)
  - row: again
    when: count == 40
    do: count = 40
  - row: never
    when: count > 40
    do: count = 0
properties:
  small:
    always: count <= 40
    why: a counter has an end.
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Result:
    path = tmp_path_factory.mktemp("busy") / "busy.yaml"
    path.write_text(SPEC)
    return flow.check(flow.Request(str(path), workers=1, profile=True), flow.Silent())


def test_every_state_is_in_a_small_sample(found: Result) -> None:
    profile = found.exploration.profile
    assert profile is not None
    assert profile.sampled == found.exploration.distinct
    # little and much, or again alone
    assert (profile.degrees.least, profile.degrees.high, profile.degrees.most) == (1, 2, 2)
    exact = (found.exploration.generated - 1) / found.exploration.distinct
    assert profile.degrees.mean == pytest.approx(exact)
    assert profile.expand_nanoseconds > 0
    assert profile.check_nanoseconds > 0


def test_time_goes_to_the_row_that_works(found: Result) -> None:
    profile = found.exploration.profile
    assert profile is not None
    if profile.shares is None:
        pytest.skip("no tick counter")
    shares = dict(zip((row.row for row in found.exploration.rows), profile.shares, strict=True))
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["much"] > 0.5
    assert shares["never"] < shares["much"] / 4


def test_bits_are_those_of_the_layout(found: Result) -> None:
    profile = found.exploration.profile
    assert profile is not None
    bits = dict(profile.bits)
    assert bits["pairs"] == pytest.approx(12)
    assert 5 < bits["count"] < 6


def test_the_object_and_the_page(found: Result, capsys: pytest.CaptureFixture[str]) -> None:
    shown = profile_object(found.exploration)
    assert shown is not None
    assert shown["levels"] == list(found.exploration.levels)
    assert shown["out_degree"] == {
        "min": 1,
        "avg": round(found.exploration.profile.degrees.mean, 3),  # type: ignore[union-attr]
        "p95": 2,
        "max": 2,
    }
    print_profile(console(), found.exploration)
    page = capsys.readouterr().out
    assert "new a firing" in page
    assert "12.00  pairs" in page


def test_a_profile_changes_nothing_else(found: Result, tmp_path: Path) -> None:
    path = tmp_path / "busy.yaml"
    path.write_text(SPEC)
    plain = flow.check(flow.Request(str(path), workers=1), flow.Silent()).exploration
    assert plain.profile is None
    assert profile_object(plain) is None
    assert (plain.rows, plain.levels) == (found.exploration.rows, found.exploration.levels)
