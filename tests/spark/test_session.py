"""Goal: Spark starts with what a cluster needs, and says so where it does not start at once."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from threading import Event

import pytest
from machines import two_phase
from pairs import on_spark
from pyspark.sql import SparkSession

import checker
from checker.errors import EnvironmentFailure, UsageError
from checker.spark import session as starting
from checker.spark.jobs import Jobs
from checker.spark.properties import memory_beside_heap
from checker.spark.session import Cluster, absolute, properties, spark_session

ROOT = str(Path(checker.__file__).parents[1])


def test_executors_find_a_source_tree() -> None:
    assert properties(Cluster())["spark.executorEnv.PYTHONPATH"] == ROOT


@pytest.mark.parametrize("folder", ["site-packages", "dist-packages"])
def test_executors_are_not_given_the_packages_that_the_driver_has(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker, "__file__", f"/usr/lib/{folder}/checker/__init__.py")
    assert "spark.executorEnv.PYTHONPATH" not in properties(Cluster())


def test_the_doors_open_without_sparks_packages() -> None:
    program = (
        "import sys\n"
        "sys.modules.update(pyspark=None, py4j=None, pyarrow=None)\n"
        "import checker.cli.graph, checker.cli.query, checker.spark.explore, checker.spark.runs\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)


def test_java_compiles_quickly_on_this_machine_unless_the_user_says_how() -> None:
    name = "spark.driver.extraJavaOptions"
    assert properties(Cluster(workers=2))[name] == "-XX:TieredStopAtLevel=1"
    assert name not in properties(Cluster(master="spark://host:7077"))
    assert properties(Cluster(workers=2, conf=((name, "-Xint"),)))[name] == "-Xint"


def not_started(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what is told while Spark is slow to start, and fails."""
    told, texts = Event(), list[str]()

    def tell(text: str) -> None:
        texts.append(text)
        told.set()

    def no_room(*_: object) -> None:
        if not told.wait(60):
            raise AssertionError("nothing was told")
        raise RuntimeError("no room came")

    monkeypatch.setattr(starting, "LATE_SECONDS", 0.05)
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    monkeypatch.setattr(starting, "launch", no_room)
    opened = spark_session(cluster, "test", tell)
    with pytest.raises(EnvironmentFailure, match="no room came"), opened:
        pass
    return texts


def test_a_start_that_takes_long_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HADOOP_CONF_DIR", "/etc/hadoop")
    (text,) = not_started(Cluster(master="yarn"), monkeypatch)
    assert text.startswith("still waiting for Spark on yarn")


@pytest.mark.parametrize("home", ["", "gone", "."])
def test_a_spark_home_without_spark_is_named(
    home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPARK_HOME", home)
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    session = spark_session(Cluster(), "test", lambda _text: None)
    with pytest.raises(UsageError, match=f"SPARK_HOME is {home or 'empty'}, .* unset it"), session:
        pass


def test_what_py4j_raises_it_does_not_log_too(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(logging.getLogger(), "filters", [])
    not_started(Cluster(), monkeypatch)
    for text in ("KeyboardInterrupt while sending command.", "something else"):
        logging.getLogger().error(text)
    assert [record.message for record in caplog.records] == ["something else"]


def refused(master: str) -> tuple[str, float]:
    """Return why a master is not taken, and after how long."""
    begun = time.monotonic()
    session = spark_session(Cluster(master=master), "test", lambda _text: None)
    with pytest.raises(EnvironmentFailure, match="no master answers") as failure, session:
        pass
    return str(failure.value), time.monotonic() - begun


def test_a_master_that_does_not_answer_is_told_of_before_spark_starts() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        text, seconds = refused(f"spark://127.0.0.1:{port},no-such-host.invalid:7077")
    assert f"127.0.0.1:{port}: " in text
    assert "no-such-host.invalid:7077: " in text
    assert seconds < 15


def test_masters_that_never_answer_together_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []

    def silent(_address: object, timeout: float) -> socket.socket:
        asked.append(timeout)
        raise TimeoutError("timed out")

    monkeypatch.setattr(starting.socket, "create_connection", silent)
    text, _ = refused("spark://" + ",".join(f"host{n}:7077" for n in range(4)))
    assert text.count("timed out") == 4
    assert max(asked) <= 5


@pytest.mark.parametrize("master", ["spark://host", "spark://host:", "spark://a:1,b", "spark://:1"])
def test_addresses_without_a_port_are_refused(master: str) -> None:
    opened = spark_session(Cluster(master=master), "test", lambda _text: None)
    with pytest.raises(UsageError, match="--master spark://"), opened:
        pass


def test_the_python_of_executors_can_be_a_property(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", "")
    monkeypatch.delenv("PYSPARK_PYTHON")
    not_started(Cluster(conf=(("spark.pyspark.python", "./environment/python"),)), monkeypatch)
    assert os.environ["PYSPARK_PYTHON"] == "./environment/python"


@pytest.mark.parametrize(
    ("given", "mebibytes"),
    [
        ({"spark.master": "local[2]"}, None),
        ({"spark.master": "spark://host:7077"}, None),
        ({"spark.master": "spark://host:7077", "spark.executor.memoryOverhead": "700"}, 700),
        ({"spark.master": "yarn"}, 384),
        ({"spark.master": "yarn", "spark.executor.memory": "8g"}, 819),
        ({"spark.master": "yarn", "spark.executor.memoryOverhead": "2g"}, 2048),
        ({"spark.master": "yarn", "spark.executor.minMemoryOverhead": "1g"}, 1024),
        (
            {
                "spark.master": "k8s://https://host:6443",
                "spark.executor.memory": "4g",
                "spark.executor.memoryOverheadFactor": "0.4",
            },
            1638,
        ),
    ],
)
def test_where_memory_is_counted_the_room_beside_java_is_known(
    given: dict[str, str], mebibytes: int | None
) -> None:
    room = memory_beside_heap(given)
    assert (None if room is None else room >> 20) == mebibytes


@pytest.mark.usefixtures("session")
@pytest.mark.parametrize(
    ("path", "how"),
    [
        ("s3a://bucket/run", r"spark\.jars\.packages=org\.apache\.hadoop:hadoop-aws:\d+\.\d+\.\d+"),
        ("nowhere://host/run", "name the jars"),
    ],
)
def test_a_file_system_that_spark_lacks_is_named_with_what_brings_it(path: str, how: str) -> None:
    with pytest.raises(UsageError, match=how):
        on_spark(two_phase(3), checkpoint=path)


@pytest.mark.parametrize(
    "reason",
    [
        "org.apache.hadoop.hdfs.BlockMissingException: Could not obtain block: BP-1 file=/a/part-0",
        "org.apache.hadoop.fs.ChecksumException: Checksum error: file:/a/part-0 at 0",
    ],
)
def test_blocks_that_are_lost_are_data_that_are_lost(session: SparkSession, reason: str) -> None:
    def fail() -> None:
        raise OSError(reason)

    with pytest.raises(UsageError, match="hdfs://here: damaged or lost"):
        Jobs(session.sparkContext, "hdfs://here", lambda: None).run("a level", fail)


def test_paths_stand_for_themselves_and_are_whole(tmp_path: Path) -> None:
    place = tmp_path / "a b%20[1]{x}*\u00e9"
    assert absolute(f"{place}/", local=True) == f"file://{place}"
    assert absolute("hdfs://host/a b/", local=False) == "hdfs://host/a b"
    with pytest.raises(UsageError, match="this name is not UTF-8"):
        absolute(os.fsdecode(b"/tmp/\xff"), local=True)
