"""Run the Spark engine on an HDFS, a YARN and an S3 that are started for it, against the local one.

    python bench/clusters/run.py                     # hdfs yarn s3a
    python bench/clusters/run.py hdfs
    python bench/clusters/run.py packed              # YARN with nothing but a packed environment

Prints a table: where, what was run, whether it came out as it has to, seconds by the clock. Ends
with 1 where something did not.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyspark
from servers import (
    Files,
    Hadoop,
    compiled,
    end,
    executors,
    hadoop,
    packed_environment,
    s3,
    s3a_jars,
    with_moto,
)

ROOT = Path(__file__).parents[2]
SPARK = Path(pyspark.__file__).parent
SMALL = ("two_phase",)
LARGE = ("two_phase", "--instance", "managers_7")
LIMITS = {SMALL: 200, LARGE: 20_000}
"""States after which a search is stopped to be resumed."""
SAME = ("verdict", "distinct", "generated", "depth", "cuts", "deadlocks", "properties")
_SECONDS = 900


@dataclass
class Place:
    """Where Spark runs, with which options and variables, and where levels go: below `folder`."""

    name: str
    folder: str
    files: Files
    options: Sequence[str]
    search: tuple[str, ...] = LARGE
    environment: Mapping[str, str] = field(default_factory=dict)


class Runs:
    """Runs the checker as its users do, and holds what came out to the local engine."""

    def __init__(self) -> None:
        self.failed = False
        self._local: dict[Sequence[str], dict[str, Any]] = {}

    def row(self, place: str, what: str, run: Callable[[], str]) -> None:
        """Print a row of the table; `run` returns what came out, or raises AssertionError."""
        started = time.perf_counter()
        try:
            result = run()
        except AssertionError as error:
            self.failed = True
            result = f"**FAILED**: {error}"
        seconds = time.perf_counter() - started
        print(f"| {place} | {what} | {result} | {seconds:.0f} |", flush=True)

    def local(self, words: Sequence[str]) -> dict[str, Any]:
        """Return the local engine's result."""
        if words not in self._local:
            code, out, errors = checker({}, "check", *words, "--workers", "1", "--format", "json")
            require(code == 0, errors)
            self._local[words] = json.loads(out)
        return self._local[words]

    def same(self, words: Sequence[str], out: str) -> str:
        """Return how many states were found; AssertionError where something is not as locally."""
        found, wanted = json.loads(out), self.local(words)
        for key in SAME:
            require(found.get(key) == wanted.get(key), f"{key}: {found[key]}, not {wanted[key]}")
        rows, others = (
            [(row["row"], row["enabled"], row["fired"]) for row in result["rows"]]
            for result in (found, wanted)
        )
        require(rows == others, "rows fired otherwise")
        return f"{found['distinct']:,} states and all else as locally"


def require(true: object, otherwise: str) -> None:
    """Raise AssertionError where something is not true."""
    if not true:
        raise AssertionError(" ".join(otherwise.split())[-400:])


def checker(environment: Mapping[str, str], *words: str) -> tuple[int, str, str]:
    """Run the checker; return its exit code, output and errors."""
    done = subprocess.run(
        [sys.executable, "-m", "checker", *words],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


# ------------------------------------------------------------------------------------------ rows


def stop_and_resume(runs: Runs, place: Place) -> str:
    """Stop a search by a limit and resume it."""
    path = f"{place.files.root}/{place.folder}/stopped"
    spark = ["--engine", "spark", *place.options]
    limit = ["--limit-states", str(LIMITS[place.search]), "--checkpoint", path]
    code, _, errors = checker(place.environment, "check", *place.search, *spark, *limit)
    require(code == 20, errors)
    stored = len(place.files.names(f"{place.folder}/stopped/manifests"))
    rest = ["--resume", path, "--format", "json"]
    code, out, errors = checker(place.environment, "check", *place.search, *spark, *rest)
    require(code == 0, errors)
    return f"{runs.same(place.search, out)}; {stored} levels were there"


def graph_and_query(runs: Runs, place: Place) -> str:
    """Write a state graph and ask it."""
    path = f"{place.files.root}/{place.folder}/graph"
    out_there = ["--engine", "spark", "--out", path, *place.options]
    code, out, errors = checker(place.environment, "graph", *SMALL, *out_there)
    require(code == 0, errors)
    wanted = runs.local(SMALL)
    require(out.startswith(f"{wanted['distinct']:,} states"), out)
    drafts = place.files.names(f"{place.folder}/graph/drafts")
    require(not drafts, f"left behind: {drafts}")
    ask = ["true", "--graph", path, *place.options]
    code, told, errors = checker(place.environment, "query", *SMALL, *ask)
    require(code == 0, errors)
    require(f"{wanted['distinct']:,} of {wanted['distinct']:,} states" in told, told)
    return out.splitlines()[0].partition(" written")[0]


def damaged(place: Place) -> str:
    """Resume where a file of a level is another, and where it is gone; both have to be refused."""
    path = f"{place.files.root}/{place.folder}/stopped"
    words = ["check", *place.search, "--engine", "spark", *place.options, "--resume", path]
    # Resumed after the last but one manifest, as if the driver had died then.
    last = max(place.files.names(f"{place.folder}/stopped/manifests"))
    place.files.lose(last)
    part = next(
        name
        for name in sorted(place.files.names(f"{place.folder}/stopped/levels/level=00005"))
        if name.endswith(".parquet")
    )
    for spoil in (place.files.damage, place.files.lose):
        spoil(part)
        code, _, errors = checker(place.environment, *words)
        require(code == 2, f"ended with {code}: {errors}")
        require("damaged" in errors and path in errors, errors)
    return "refused, with the path"


def lost_executor(runs: Runs, place: Place, servers: Hadoop) -> str:
    """End an executor in the middle of a search."""
    path = f"{place.files.root}/{place.folder}/lost"
    words = ["check", *place.search, "--engine", "spark", *place.options, "--checkpoint", path]
    driver = subprocess.Popen(
        [sys.executable, "-m", "checker", *words, "--format", "json"],
        cwd=ROOT,
        env={**os.environ, **place.environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        _end_one(place, servers, driver)
        out, errors = driver.communicate(timeout=_SECONDS)
    finally:
        driver.kill()
        driver.wait()
    require(driver.returncode == 0, errors)
    return runs.same(place.search, out)


def _end_one(place: Place, servers: Hadoop, driver: subprocess.Popen[str]) -> None:
    """End an executor as soon as some levels are stored."""
    until = time.monotonic() + _SECONDS
    stored, there = 0, list[int]()
    while stored < 6 or len(there) < 2:
        alive = driver.poll() is None and time.monotonic() < until
        require(alive, f"{stored} levels, {len(there)} executors, and the search has ended")
        time.sleep(0.1)
        stored = len(place.files.names(f"{place.folder}/lost/manifests"))
        there = executors(servers.process)
    end(there[0])


def submitted(runs: Runs, place: Place, archive: Path, folder: Path) -> str:
    """Submit a search whose driver runs on the cluster, too, from a packed environment alone."""
    path = f"{place.files.root}/{place.folder}/submitted"
    script = folder / "run.py"
    script.write_text("from checker.cli.main import main\nmain()\n")
    python = "PYSPARK_PYTHON=./environment/bin/python"
    submit = [SPARK / "bin" / "spark-submit", "--master", "yarn", "--deploy-mode", "cluster"]
    settings = {
        **memory(),
        "spark.yarn.maxAppAttempts": 1,
        "spark.archives": f"{archive}#environment",
        "spark.yarn.appMasterEnv." + python.partition("=")[0]: python.partition("=")[2],
        "spark.executorEnv." + python.partition("=")[0]: python.partition("=")[2],
    }
    words = ["check", *place.search, "--engine", "spark", "--checkpoint", path]
    done = subprocess.run(
        [*submit, *conf(settings), script, *words],
        cwd=folder,
        env={**os.environ, **place.environment},
        capture_output=True,
        text=True,
        timeout=2 * _SECONDS,
        check=False,
    )
    require(done.returncode == 0, done.stderr)
    # The last one is empty: from it, all that is left to do is to say what was found.
    stored = len(place.files.names(f"{place.folder}/submitted/manifests"))
    require(stored == runs.local(place.search)["depth"] + 2, f"{stored} levels")
    resume = ["--engine", "spark", *place.options, "--resume", path, "--format", "json"]
    code, out, errors = checker(place.environment, "check", *place.search, *resume)
    require(code == 0, errors)
    return runs.same(place.search, out)


# ---------------------------------------------------------------------------------------- places


def conf(settings: Mapping[str, object]) -> list[str]:
    """Return the options that set properties of Spark."""
    return [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]


def memory() -> dict[str, object]:
    """Return small sizes: all of it is on one machine. Jars are there, and need not be sent."""
    return {
        "spark.driver.memory": "768m",
        "spark.executor.memory": "512m",
        "spark.executor.instances": 2,
        "spark.executor.cores": 1,
        "spark.yarn.am.memory": "512m",
        "spark.yarn.jars": f"local:{SPARK}/jars/*",
        "spark.ui.enabled": "false",
        "spark.checker.driver": 0,  # what is asked is whether executors find the levels
    }


class Servers:
    """What has to run for some places; each is started when it is first asked for."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self._stack = stack
        self.folder = folder

    @cached_property
    def hadoop(self) -> Hadoop:
        """HDFS and YARN."""
        return self._stack.enter_context(hadoop(compiled(), self.folder / "hadoop"))

    def hdfs(self) -> Place:
        """Spark on this machine, levels on HDFS."""
        options = ["--workers", "2", *conf({**memory(), "spark.executor.instances": 1})]
        return Place("local[2], hdfs", "hdfs", self.hadoop.files, options)

    def yarn(self) -> Place:
        """Spark on YARN, levels on its HDFS."""
        # Its client is on this machine, and not to be found under another address of it.
        options = ["--master", "yarn", *conf({**memory(), "spark.driver.host": "127.0.0.1"})]
        environment = {"HADOOP_CONF_DIR": str(self.hadoop.conf)}
        return Place("yarn, hdfs", "yarn", self.hadoop.files, options, environment=environment)

    def packed(self, archive: Path) -> Place:
        """Spark on YARN, whose executors have a packed environment and nothing of this tree."""
        place = self.yarn()
        more = conf({"spark.archives": f"{archive}#environment"})
        place.options = [*place.options, *more]
        place.environment = {**place.environment, "PYSPARK_PYTHON": "./environment/bin/python"}
        place.name, place.folder = "yarn, packed environment", "packed"
        return place

    def s3a(self) -> Place:
        """Spark on this machine, levels in a bucket."""
        files = self._stack.enter_context(s3(with_moto()))
        settings = {
            "spark.driver.memory": "768m",
            "spark.ui.enabled": "false",
            "spark.checker.driver": 0,  # what is asked is whether executors find the levels
            "spark.jars": ",".join(map(str, s3a_jars())),
            "spark.hadoop.fs.s3a.endpoint": files.web,
            "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
            "spark.hadoop.fs.s3a.path.style.access": "true",
            "spark.hadoop.fs.s3a.access.key": "anybody",
            "spark.hadoop.fs.s3a.secret.key": "anything",
        }
        return Place("local[2], s3a", "s3a", files, ["--workers", "2", *conf(settings)], SMALL)


def main() -> None:
    """Run what the command line says; print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    known = ("hdfs", "yarn", "s3a", "packed")
    parser.add_argument("places", nargs="*", metavar="PLACE", help=", ".join(known))
    places = parser.parse_args().places or known[:3]
    if unknown := set(places) - set(known):
        parser.error(f"no such place: {', '.join(sorted(unknown))}")
    runs = Runs()
    with tempfile.TemporaryDirectory(prefix="checker-clusters-") as name, ExitStack() as stack:
        servers = Servers(stack, Path(name))
        print("| where | what | came out | seconds |\n| --- | --- | --- | --- |", flush=True)
        for place in places:
            _run(runs, servers, place)
    sys.exit(1 if runs.failed else 0)


def _run(runs: Runs, servers: Servers, name: str) -> None:
    if name == "packed":
        archive = packed_environment(ROOT)
        place = servers.packed(archive)
        runs.row(place.name, "stopped, resumed", lambda: stop_and_resume(runs, place))
        runs.row(
            place.name,
            "`spark-submit --deploy-mode cluster`",
            lambda: submitted(runs, servers.yarn(), archive, servers.folder),
        )
        return
    place = {"hdfs": servers.hdfs, "yarn": servers.yarn, "s3a": servers.s3a}[name]()
    runs.row(place.name, "stopped, resumed", lambda: stop_and_resume(runs, place))
    runs.row(place.name, "a file damaged, a file lost", lambda: damaged(place))
    runs.row(place.name, "graph, query", lambda: graph_and_query(runs, place))
    if name == "yarn":
        lost = "an executor ended on the way"
        runs.row(place.name, lost, lambda: lost_executor(runs, place, servers.hadoop))


if __name__ == "__main__":
    main()
