"""Goal: a line of progress says how far the search is, and nothing that it does not know."""

import json
from dataclasses import replace

import pytest

from checker.cli.progress import JsonLines, PlainLines, describe
from checker.search.progress import Progress


def progress(frontier: int, before: int) -> Progress:
    return Progress(12, 34567, 890123, frontier, 61.2, 1234.5, 3 << 20, 4096, before)


def test_a_line_names_everything() -> None:
    assert describe(progress(3000, 2000)) == (
        "depth 12: 34,567 distinct, 890,123 generated, 1,234/s, "
        "frontier 3,000 (growing, 1.50 x the level before), 3 MiB, 61 s"
    )


def test_a_cluster_also_tells_what_was_sent_and_of_tasks() -> None:
    sent = replace(progress(3000, 0), shuffle_bytes=5 << 20, skew=1.25)
    assert describe(sent).endswith("3 MiB, 5.0 MiB shuffled, skew 1.25, 61 s")
    working = replace(sent, tasks=400, tasks_done=7)
    assert describe(working).endswith("skew 1.25, 7 of 400 tasks done, 61 s")


@pytest.mark.parametrize(
    ("frontier", "before", "trend"),
    [
        (10, 0, ""),
        (100, 100, "as wide as the level before"),
        (101, 100, "as wide as the level before"),
        (50, 100, "shrinking, 0.50 x the level before"),
        (200, 100, "growing, 2.00 x the level before"),
    ],
)
def test_the_trend_looks_back_one_level(frontier: int, before: int, trend: str) -> None:
    assert progress(frontier, before).trend == trend
    assert ("(" in describe(progress(frontier, before))) == bool(trend)


def test_json_lines_have_a_version_and_the_trend(capsys: pytest.CaptureFixture[str]) -> None:
    lines = JsonLines()
    lines.search(progress(3000, 2000))
    lines.notice("the disk is full")
    search, notice = map(json.loads, capsys.readouterr().err.splitlines())
    assert (search["version"], search["stage"], search["generated"]) == (1, "explore", 890123)
    assert search["trend"].startswith("growing")
    assert notice == {"version": 1, "stage": "notice", "text": "the disk is full"}


def test_a_notice_is_a_line_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    lines = PlainLines()
    lines.search(progress(3000, 2000))
    lines.notice("the disk is full")
    assert capsys.readouterr().err == "the disk is full\n"
