"""One Spark session for all tests of a process, and a way to run both engines on a machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from pairs import QUIET

from checker.spark.session import Cluster, spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def session() -> Iterator[SparkSession]:
    """Spark in this process, on two cores; the engine takes the session that is there."""
    with spark_session(Cluster(workers=2, conf=QUIET), "tests", lambda _text: None) as started:
        yield started
