"""Goal: nothing that fails changes a count, and what cannot be mended is said clearly.

Workers and drivers are killed in the middle of a search; stored levels are damaged and lost.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

import pytest
from machines import two_phase
from pairs import assert_same, locally, on_spark
from processes import below, end, eventually, running

from checker.errors import EnvironmentFailure, UsageError
from checker.flow import machine_of
from checker.search import locks
from checker.search.limits import Limits
from checker.search.locks import alone
from checker.spark.jobs import Jobs
from checker.spark.scratch import Place, Scratch
from checker.spark.session import Cluster
from checker.spark.tables import write_graph

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.usefixtures("session")


def manifests(checkpoint: Path) -> int:
    return len(list(checkpoint.glob("manifests/*.json")))


def parts(checkpoint: Path, level: int) -> list[Path]:
    return sorted(checkpoint.glob(f"levels/level={level:05}/part-*.parquet"))


# --------------------------------------------------------------------------------- retried


@pytest.mark.slow
def test_killed_workers_cost_a_retry_and_no_count(tmp_path: Path) -> None:
    machine = two_phase(6)
    over = Event()
    killed: list[int] = []

    def kill() -> None:
        for wanted in (4, 8, 12):
            eventually(lambda least=wanted: over.is_set() or manifests(tmp_path) >= least)
            workers = below(os.getpid(), "pyspark.daemon")[1:]  # the first one is the daemon
            if workers and not over.is_set():
                end(workers[-1])
                killed.append(workers[-1])

    killer = Thread(target=kill)
    killer.start()
    try:
        found = on_spark(machine, checkpoint=tmp_path)
    finally:
        over.set()
        killer.join()
    assert killed
    assert_same(found, locally(machine))


@pytest.mark.slow
def test_a_killed_driver_resumes_from_the_last_whole_level(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "checker", "check", "two_phase", "--instance", "managers_7"]
    command += ["--engine", "spark", "--workers", "2", "--checkpoint", str(tmp_path)]
    command += ["--conf", "spark.ui.enabled=false", "--conf", "spark.checker.driver=0"]
    driver = subprocess.Popen(command, cwd=ROOT)
    assert eventually(lambda: manifests(tmp_path) >= 8)
    (java,) = below(driver.pid, "org.apache.spark.deploy.SparkSubmit")
    left = [mark.parent for mark in Path("/dev/shm").glob(f"checker-*/alive-{java}-*")]  # noqa: S108
    assert len(left) == 1
    end(driver.pid)
    driver.wait()
    assert manifests(tmp_path) < 24
    end(java)
    assert eventually(lambda: not running(java))
    machine = machine_of("two_phase", "managers_7", {})
    found = on_spark(machine, resume=tmp_path)
    assert not left[0].exists(), "a later search removes what a killed one kept in memory"
    assert_same(found, locally(machine))
    assert found.checkpoint is not None
    assert found.checkpoint.distinct == found.distinct


# ------------------------------------------------------------------------ lost by their owners


def kept_files(context: object, pattern: str) -> list[Path]:
    """Files that owners keep for the search that runs in this session."""
    application = context.applicationId  # type: ignore[attr-defined]
    return sorted(Path("/dev/shm").glob(f"checker-{application}-*/{pattern}"))  # noqa: S108


def forget_all(file: Path) -> None:
    shutil.rmtree(file.parent, ignore_errors=True)


def shorten(file: Path) -> None:
    os.truncate(file, 4096)


def miscount(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[24:32] = (1).to_bytes(8, "little")
    file.write_bytes(content)


LOSSES = {
    "an index is lost": ("0.index", Path.unlink),
    "an index does not hold what it should": ("1.index", miscount),
    "an index is cut off": ("0.index", shorten),
    "a frontier is lost": ("1.*.states", Path.unlink),
    "everything is lost": ("0.index", forget_all),
}


@pytest.mark.parametrize("loss", LOSSES)
def test_shards_that_lose_what_they_keep_are_made_again(
    session: SparkSession, tmp_path: Path, loss: str
) -> None:
    pattern, harm = LOSSES[loss]
    machine = two_phase(5)
    over = Event()
    harmed: list[int] = []

    def lose() -> None:
        for wanted in (3, 6, 9):
            eventually(lambda least=wanted: over.is_set() or manifests(tmp_path) >= least)
            for file in kept_files(session.sparkContext, pattern):
                with contextlib.suppress(FileNotFoundError):
                    harm(file)
                    harmed.append(wanted)

    loser = Thread(target=lose)
    loser.start()
    try:
        found = on_spark(machine, checkpoint=tmp_path)
    finally:
        over.set()
        loser.join()
    assert harmed
    assert_same(found, locally(machine))
    assert kept_files(session.sparkContext, "") == [], "a search that ends leaves nothing"


# --------------------------------------------------------------------------------- resumed


def test_a_search_goes_on_as_if_it_had_not_stopped(tmp_path: Path) -> None:
    machine = two_phase(3)
    first = on_spark(machine, Limits(depth=3), checkpoint=tmp_path)
    assert (first.stopped_by, first.depth_complete) == ("depth", 2)
    assert_same(first, locally(machine, Limits(depth=3)))
    assert_same(on_spark(machine, resume=tmp_path), locally(machine))
    again = on_spark(machine, resume=tmp_path)
    assert_same(again, locally(machine))


def test_states_beyond_the_limit_are_not_stored(tmp_path: Path) -> None:
    machine = two_phase(3)
    found = on_spark(machine, Limits(states=100), checkpoint=tmp_path)
    assert (found.distinct, found.stopped_by) == (100, "states")
    assert_same(on_spark(machine, resume=tmp_path), locally(machine))


def test_a_search_that_has_no_time_is_inconclusive(tmp_path: Path) -> None:
    found = on_spark(two_phase(3), Limits(seconds=0.0), checkpoint=tmp_path)
    assert (found.stopped_by, found.exhaustive) == ("seconds", False)
    assert (found.distinct, found.depth_complete, found.checkpoint) == (0, -1, None)


def test_an_interrupt_ends_a_search() -> None:
    from pairs import search_until  # noqa: PLC0415 (one test's own)

    found = search_until(two_phase(6), after=1)
    assert (found.stopped_by, found.exhaustive) == ("interrupt", False)
    symmetric = machine_of("classic_group", "kafka_7824_fixed", {})
    found = search_until(symmetric, after=2)
    assert (found.stopped_by, found.exhaustive) == ("interrupt", False)
    assert found.distinct > 0


# --------------------------------------------------------------------------------- damaged


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    middle = len(content) // 3
    content[middle : middle + 16] = bytes(byte ^ 0xFF for byte in content[middle : middle + 16])
    file.write_bytes(content)
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)  # Hadoop's own checksum


def flip_a_part(checkpoint: Path) -> None:
    flip(max(parts(checkpoint, 3), key=lambda file: file.stat().st_size))


def lose_a_part(checkpoint: Path) -> None:
    max(parts(checkpoint, 2), key=lambda file: file.stat().st_size).unlink()


def lose_a_level(checkpoint: Path) -> None:
    shutil.rmtree(checkpoint / "levels" / "level=00001")


def edit_a_manifest(checkpoint: Path) -> None:
    file = checkpoint / "manifests" / "00002.json"
    file.write_text(file.read_text().replace('"level": 2', '"level": 1'))
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)


def empty_a_manifest(checkpoint: Path) -> None:
    file = checkpoint / "manifests" / "00002.json"
    file.write_text("")
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)


@pytest.mark.parametrize(
    "damage", [flip_a_part, lose_a_part, lose_a_level, edit_a_manifest, empty_a_manifest]
)
def test_damaged_levels_are_refused(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    machine = two_phase(3)
    on_spark(machine, Limits(depth=4), checkpoint=tmp_path)
    damage(tmp_path)
    with pytest.raises(UsageError, match="damaged"):
        on_spark(machine, resume=tmp_path)


def test_a_path_that_vanishes_is_told_of(tmp_path: Path) -> None:
    checkpoint = tmp_path / "levels-of-a-search"
    machine = two_phase(6)
    over = Event()

    def lose() -> None:
        eventually(lambda: manifests(checkpoint) >= 3)
        while not over.is_set():
            shutil.rmtree(checkpoint, ignore_errors=True)

    loser = Thread(target=lose)
    loser.start()
    try:
        with pytest.raises((UsageError, EnvironmentFailure), match="levels-of-a-search"):
            on_spark(machine, checkpoint=checkpoint)
    finally:
        over.set()
        loser.join()
    with pytest.raises(UsageError, match="levels-of-a-search"):
        on_spark(machine, resume=checkpoint)


# --------------------------------------------------------------------------------- refused


def test_other_searches_are_refused(tmp_path: Path) -> None:
    on_spark(two_phase(3), Limits(depth=1), checkpoint=tmp_path)
    with pytest.raises(UsageError, match="holds a checkpoint already"):
        on_spark(two_phase(3), checkpoint=tmp_path)
    with pytest.raises(UsageError, match="another search"):
        on_spark(two_phase(4), resume=tmp_path)
    with pytest.raises(UsageError, match="more than the limit of 1"):
        on_spark(two_phase(3), Limits(states=1), resume=tmp_path)


def test_a_place_that_another_search_is_about_to_write_to_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two graphs of one folder would be written of each other's levels."""
    root = tmp_path / "run"
    root.mkdir()
    with alone(root, "it is a test"), pytest.raises(UsageError, match="in use by another checker"):
        on_spark(two_phase(3), checkpoint=str(root))
    assert list(root.iterdir()) == []

    def no_locks(*_: object) -> int:
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr(locks, "locked", no_locks)
    claim = root / "claimed"
    claim.write_text("process 7 on elsewhere")
    with pytest.raises(UsageError, match=r"about to write here .process 7 on elsewhere.*claimed"):
        on_spark(two_phase(3), checkpoint=str(root))
    assert [path.name for path in root.iterdir()] == ["claimed"]
    claim.unlink()
    on_spark(two_phase(3), checkpoint=str(root))
    with pytest.raises(UsageError, match="holds a checkpoint already"):
        on_spark(two_phase(3), checkpoint=str(root))
    assert not claim.exists()


def test_a_checkpoint_that_goes_on_is_not_taken_up(tmp_path: Path) -> None:
    """Two that go on from one checkpoint would write levels over each other's."""
    machine = two_phase(3)
    on_spark(machine, Limits(depth=1), checkpoint=tmp_path)
    with (
        alone(tmp_path, "it is a test"),
        pytest.raises(UsageError, match="in use by another checker"),
    ):
        on_spark(machine, resume=tmp_path)
    refused: list[str] = []

    def meanwhile() -> bool:
        if not refused:
            with pytest.raises(UsageError, match="in use") as found, alone(tmp_path, "wait"):
                pass
            refused.append(str(found.value))
        return False

    on_spark(machine, Limits(depth=2), resume=tmp_path, interrupt=meanwhile)
    assert refused


def test_a_graph_is_not_written_where_another_one_is(tmp_path: Path) -> None:
    with (
        alone(tmp_path, "it is a test"),
        pytest.raises(UsageError, match="in use by another checker"),
    ):
        write_graph(two_phase(3), str(tmp_path), Cluster(workers=1))
    assert list(tmp_path.iterdir()) == []


def test_a_place_without_levels_is_no_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no checkpoint"):
        on_spark(two_phase(3), resume=tmp_path)


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="no levels can be kept here"):
        on_spark(two_phase(3), checkpoint=tmp_path / "file" / "below")
    with pytest.raises(UsageError, match="nowhere"):
        on_spark(two_phase(3), checkpoint="nowhere://host/path")
    with pytest.raises(UsageError, match="a path is expected"):
        on_spark(two_phase(3), checkpoint="")


def test_a_place_on_an_executor_that_cannot_be_used_is_named(session: SparkSession) -> None:
    context = session.sparkContext
    place = Place("a-search", "/dev/null/tables")

    def job() -> None:
        context.parallelize([0], 1).foreach(lambda _: Scratch(place))

    with pytest.raises(UsageError, match=r"^/dev/null/tables on .*spark\.checker\.tables=PATH"):
        Jobs(context, "file:///here", lambda: None).run("a level", job)


def test_what_fails_in_python_is_said_in_one_line(session: SparkSession) -> None:
    context = session.sparkContext

    def job() -> None:
        context.parallelize([0], 1).foreach(lambda _: {}["the key"])

    with pytest.raises(EnvironmentFailure, match=r"KeyError: 'the key'$"):
        Jobs(context, "file:///here", lambda: None).run("a level", job)


def test_a_full_disk_is_named(session: object) -> None:
    context = session.sparkContext  # type: ignore[attr-defined]

    def fail() -> None:
        raise OSError("No space left on device")

    jobs = Jobs(context, "file:///here", lambda: None)
    with pytest.raises(EnvironmentFailure, match="no space is left, below file:///here"):
        jobs.run("a level", fail)
