"""Goal: a property that asks for what cannot be is refused before anything is searched."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.errors import UsageError
from checker.spark.properties import place_of, require_parallelism
from checker.spark.session import Cluster, spark_session

TABLES = "spark.checker.tables"


def test_what_is_asked_for(tmp_path: Path) -> None:
    below = tmp_path / "made" / "here"
    asked = {TABLES: str(below), "spark.executor.memoryOverhead": "64"}
    place = place_of(asked, "app", local=True)
    assert (place.folder, place.limit) == (str(below), 32 << 20)
    assert place.run.startswith("app-")
    assert list(below.iterdir()) == [], "it was tried, and nothing is left of that"
    limit = place_of(asked | {f"{TABLES}.memory": "2g"}, "app", local=False).limit
    assert limit == 2 << 30
    require_parallelism({"spark.default.parallelism": "12"})
    require_parallelism({})


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("spark.checker.table", "/tmp", r"spark.checker.driver, spark.checker.tables and"),  # noqa: S108
        ("spark.checker.Tables", "/tmp", r"spark.checker.driver, spark.checker.tables and"),  # noqa: S108
        (TABLES, "below/here", "an absolute path is expected, not 'below/here'"),
        (TABLES, "", "an absolute path is expected, not ''"),
        (TABLES, "/dev/null/below", "/dev/null/below on .*: no files can be kept here: Not a dir"),
        (TABLES, __file__, "no files can be kept here: File exists; --conf spark.checker.tables="),
        (f"{TABLES}.memory", "lots", "a size like 4g is expected, not 'lots'"),
        ("spark.executor.memoryOverhead", "-1", "a size like 4g is expected"),
    ],
)
def test_what_cannot_be(name: str, value: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        place_of({name: value}, "app", local=True)


def test_other_hosts_are_not_asked_for_a_directory() -> None:
    assert place_of({TABLES: "/dev/null/below"}, "app", local=False).folder == "/dev/null/below"


@pytest.mark.parametrize("value", ["0", "-1", "x", "", "1.5", "10000000000"])
def test_numbers_of_shards_that_are_none(value: str) -> None:
    with pytest.raises(UsageError, match=r"default\.parallelism: a number from 1 on"):
        require_parallelism({"spark.default.parallelism": value})


@pytest.mark.parametrize("master", ["nonsense", "local[0]", "local[x]", "spark://", "yarn"])
def test_masters_that_are_none(master: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    monkeypatch.delenv("YARN_CONF_DIR", raising=False)
    with (
        pytest.raises(UsageError, match="--master "),
        spark_session(Cluster(master=master), "none", lambda _text: None),
    ):
        pass
