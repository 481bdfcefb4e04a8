"""Goal: a real cluster gives the same answer, also when it loses an executor on the way.

A standalone master and two workers on loopback, from the PySpark package alone, each executor a
process of its own; the checker runs against them as a user runs it.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pyspark
import pytest
from processes import below, end, eventually

from checker.spark.java import find_java

ROOT = Path(__file__).parents[2]
LAUNCHER = Path(pyspark.__file__).parent / "bin" / "spark-class"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def reachable(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """The URL of a master, and its two workers."""
    environment = os.environ | {
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        "JAVA_HOME": str(find_java()),
    }
    port = free_port()
    loopback = ["--host", "127.0.0.1", "--webui-port", "0"]

    def start(stack: ExitStack, name: str, *words: str) -> subprocess.Popen[bytes]:
        log = stack.enter_context((tmp_path / f"{name}.log").open("wb"))
        process = subprocess.Popen(
            [LAUNCHER, *words], env=environment, stdout=log, stderr=log, cwd=tmp_path
        )
        stack.callback(process.wait)
        stack.callback(process.terminate)
        return process

    with ExitStack() as stack:
        start(
            stack,
            "master",
            "org.apache.spark.deploy.master.Master",
            *loopback,
            "--port",
            str(port),
        )
        assert eventually(lambda: reachable(port))
        url = f"spark://127.0.0.1:{port}"
        workers = [
            start(
                stack,
                f"worker{number}",
                "org.apache.spark.deploy.worker.Worker",
                *loopback,
                *("--cores", "1", "--memory", "1g"),
                *("--work-dir", str(tmp_path / f"work{number}")),
                url,
            )
            for number in range(2)
        ]
        yield url, workers


@pytest.mark.slow
def test_a_cluster_that_loses_an_executor(
    cluster: tuple[str, list[subprocess.Popen[bytes]]], tmp_path: Path
) -> None:
    url, workers = cluster
    checkpoint = tmp_path / "checkpoint"
    words = ["check", "two_phase", "--instance", "managers_7", "--format", "json"]
    spark = ["--engine", "spark", "--master", url, "--checkpoint", str(checkpoint)]
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.executor.memory": "512m",
        "spark.ui.enabled": "false",
        "spark.checker.driver": "0",
        "spark.default.parallelism": "2",
        "spark.speculation": "true",
        "spark.speculation.multiplier": "1",
        "spark.speculation.quantile": "0.1",
        "spark.speculation.interval": "10ms",
        "spark.speculation.minTaskRuntime": "0ms",
    }
    for key, value in settings.items():
        spark += ["--conf", f"{key}={value}"]
    checker = [sys.executable, "-m", "checker"]
    driver = subprocess.Popen(
        [*checker, *words, *spark], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert eventually(lambda: len(list(checkpoint.glob("manifests/*.json"))) >= 6)
    executors = [
        process
        for worker in workers
        for process in below(worker.pid, "CoarseGrainedExecutorBackend")
    ]
    assert len(executors) == 2, "each worker runs an executor process"
    end(executors[0])
    # On two machines an executor takes along what it kept; here they share the memory of one.
    (kept,) = (
        mark.parent
        for mark in Path("/dev/shm").glob(f"checker-*/alive-{executors[0]}-*")  # noqa: S108
    )
    shutil.rmtree(kept)
    out, errors = driver.communicate(timeout=240)
    assert driver.returncode == 0, errors.decode()
    found = json.loads(out)
    local = subprocess.run(
        [*checker, *words, "--workers", "1"], cwd=ROOT, capture_output=True, check=True
    )
    wanted = json.loads(local.stdout)
    for key in ("verdict", "distinct", "generated", "depth", "cuts", "deadlocks", "properties"):
        assert found[key] == wanted[key]
    assert [(row["row"], row["enabled"], row["fired"]) for row in found["rows"]] == [
        (row["row"], row["enabled"], row["fired"]) for row in wanted["rows"]
    ]
    assert found["engine"] == "spark"
    assert not kept.exists(), "a search that ends leaves nothing on its hosts"


def test_a_cluster_needs_a_place_that_all_its_machines_share() -> None:
    from checker.errors import UsageError  # noqa: PLC0415 (one test's own)
    from checker.spark.store import Place  # noqa: PLC0415

    with pytest.raises(UsageError, match="needs --checkpoint"):
        Place(None, local=False)
