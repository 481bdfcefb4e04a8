"""Goal: levels that the driver finds itself are those that the owners of the shards would find."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import numpy as np
import pytest
from machines import KNOWN, Known, hour_clock, lamp, overflow, two_phase
from pairs import assert_same, locally, on_spark
from pyspark.sql import SparkSession
from random_machines import lively_machine, seeded_machine
from symmetric_machines import symmetric_machine

from checker.errors import EnvironmentFailure, UsageError
from checker.flow import machine_of
from checker.machine.machine import Machine
from checker.search.limits import Limits
from checker.spark.driver import Turn, turn
from checker.spark.room import Room
from checker.spark.table import dealt_out, shares

LEVEL = 1_000_000
HERE = Room(level=LEVEL)
"""The driver takes all of these small searches."""
pytestmark = pytest.mark.usefixtures("session")


# ------------------------------------------------------------------------------ what is small


@pytest.mark.parametrize(
    ("frontier", "distinct", "taken"),
    [(1, 1, True), (100, 2000, True), (101, 200, False), (100, 2001, False), (0, 5, False)],
)
def test_which_levels_the_driver_takes_when_asked(
    frontier: int, distinct: int, *, taken: bool
) -> None:
    assert Turn(100, 2).takes(frontier, distinct, 1000.0, lambda: 1000) is taken


@pytest.mark.parametrize(
    ("seconds", "executors", "taken"),
    [(1000.0, 2, True), (1000.0, 12, True), (1.9, 1000, True), (5.0, 14, True), (5.0, 24, False)],
)
def test_executors_take_over_where_they_win_seconds(
    seconds: float, executors: int, *, taken: bool
) -> None:
    assert Turn(None, 2).takes(1 << 40, 1 << 50, seconds, lambda: executors) is taken
    assert not Turn(None, 2).takes(0, 5, seconds, lambda: executors)


def test_which_levels_are_the_drivers_is_said_by_a_property() -> None:
    assert turn({}, None, 3) == Turn(None, 3)
    assert turn({"spark.checker.driver": "50"}, None, 3) == Turn(50, 3)
    assert turn({"spark.checker.driver": "50"}, 7, 3) == Turn(7, 3)
    assert not Turn(0, 3).takes(1, 1, 0.0, lambda: 1)
    assert [Turn(level, 1).reads(60) for level in (0, 59, 60, None)] == [False, False, True, True]


@pytest.mark.parametrize("value", ["", "-1", "many", "1e6", "1234567890123"])
def test_numbers_of_states_that_are_none(value: str) -> None:
    with pytest.raises(UsageError, match=r"spark\.checker\.driver: a number of states"):
        turn({"spark.checker.driver": value}, None, 1)


# ----------------------------------------------------------------------------- handed over


@pytest.mark.parametrize("words", [1, 3])
def test_states_are_dealt_out_to_those_who_own_them(words: int) -> None:
    random = np.random.default_rng(words)
    states = random.integers(0, 1 << 40, (30_000, words))
    dealt = dealt_out(states, 7)
    assert shares(states, 7) == tuple(map(len, dealt))
    assert sorted(np.concatenate(dealt).tolist()) == sorted(states.tolist())
    for shard, own in enumerate(dealt):
        assert shares(own, 7)[shard] == len(own) > 3000
    assert [len(own) for own in dealt_out(states[:0], 3)] == [0, 0, 0]


# --------------------------------------------------------------------------------- agreement


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.machine.name)
def test_machines_with_known_counts(known: Known) -> None:
    limits = Limits(keep_going=True)
    assert_same(on_spark(known.machine, limits, room=HERE), locally(known.machine, limits))


@pytest.mark.parametrize("machine", [overflow(), lamp()], ids=lambda machine: machine.name)
def test_machines_that_fail(machine: Machine) -> None:
    assert_same(on_spark(machine, room=HERE), locally(machine))


@pytest.mark.parametrize("seed", range(20))
def test_random_machines(seed: int) -> None:
    machine = seeded_machine(seed, states=300)
    limits = Limits(keep_going=True, depth=6)
    assert_same(on_spark(machine, limits, room=HERE), locally(machine, limits))


@pytest.mark.parametrize("seed", range(6))
def test_symmetric_machines(seed: int) -> None:
    machine = symmetric_machine(seed, states=500)
    limits = Limits(keep_going=True)
    assert_same(on_spark(machine, limits, room=HERE), locally(machine, limits))


@pytest.mark.parametrize("level", [1, 40])
def test_a_search_goes_over_to_the_executors_where_levels_grow(level: int) -> None:
    machine = two_phase(4)
    assert_same(on_spark(machine, room=Room(level=level)), locally(machine))


def test_executors_take_over_where_the_driver_has_no_memory_left(tmp_path: Path) -> None:
    machine = two_phase(6)
    room, limits = Room(level=LEVEL, search=1 << 17), Limits(depth=10)
    found = on_spark(machine, limits, checkpoint=tmp_path, room=room)
    assert_same(found, locally(machine, limits))
    # Spark names a file after its job, the driver does not.
    files = list(tmp_path.glob("levels/level=*/part-*.parquet"))
    own = [file for file in files if len(file.name) == len("part-00000.zstd.parquet")]
    assert 0 < len(own) < len(files)


def test_a_violation_is_found_on_the_other_side_of_the_step() -> None:
    machine = machine_of("classic_group", "kafka_7824", {})
    for level in (0, 4, LEVEL):
        assert_same(on_spark(machine, room=Room(level=level)), locally(machine))


@pytest.mark.parametrize("level", [0, LEVEL])
def test_liveness_that_does_not_fit_is_unknown(level: int) -> None:
    machine = lively_machine(0, states=100)
    found = on_spark(machine, room=Room(whole=1, level=level))
    assert found.states is None
    assert found.endless is not None
    assert {outcome.verdict for outcome in found.endless.outcomes.values()} == {"unknown"}
    assert not found.endless.findings


# ---------------------------------------------------------------------------- kept and resumed


def test_what_the_driver_found_is_stored_and_gone_on_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("checker.spark.parts._FILE_BYTES", 600)  # more than a file
    monkeypatch.setattr("checker.spark.parts._GROUP_BYTES", 200)
    machine = two_phase(3)
    wanted = locally(machine)
    for first, then in ((LEVEL, LEVEL), (LEVEL, 0), (0, LEVEL), (12, 30)):
        place = tmp_path / f"{first}-{then}"
        limits = Limits(depth=5)
        begun = on_spark(machine, limits, checkpoint=place, room=Room(level=first))
        assert_same(begun, locally(machine, limits))
        assert begun.checkpoint is not None
        assert begun.checkpoint.distinct == begun.distinct
        assert_same(on_spark(machine, resume=place, room=Room(level=then)), wanted)
        again = on_spark(machine, resume=place, room=Room(level=then))
        assert_same(again, wanted)


def test_levels_beyond_the_limit_are_not_stored(tmp_path: Path) -> None:
    machine = two_phase(3)
    found = on_spark(machine, Limits(states=100), checkpoint=tmp_path, room=HERE)
    assert (found.distinct, found.stopped_by) == (100, "states")
    assert_same(on_spark(machine, resume=tmp_path, room=HERE), locally(machine))


def test_a_level_that_was_left_half_written_is_replaced(tmp_path: Path) -> None:
    machine = two_phase(3)
    on_spark(machine, Limits(depth=4), checkpoint=tmp_path, room=HERE)
    last = max(int(file.stem) for file in tmp_path.glob("manifests/*.json"))
    (tmp_path / f"manifests/{last:05}.json").unlink()
    again = on_spark(machine, resume=tmp_path, room=HERE)
    assert_same(again, locally(machine))
    assert_same(on_spark(machine, resume=tmp_path, room=Room(level=0)), locally(machine))


def test_stored_levels_that_are_damaged_or_lost_are_told_of(tmp_path: Path) -> None:
    machine = two_phase(3)
    sound = tmp_path / "sound"
    on_spark(machine, Limits(depth=4), checkpoint=sound, room=HERE)
    assert not list(sound.rglob("*.crc")), "states and manifests have checksums of their own"

    def harmed(name: str) -> tuple[Path, Path]:
        copy = shutil.copytree(sound, tmp_path / name)
        (part,) = copy.glob("levels/level=00002/part-*.parquet")
        return copy, part

    def refuses(place: Path) -> None:
        with pytest.raises(UsageError, match=f"{place.name}: damaged"):
            on_spark(machine, resume=place, room=HERE)

    place, part = harmed("without-a-file")
    part.unlink()
    refuses(place)
    place, part = harmed("without-a-level")
    shutil.rmtree(part.parent)
    refuses(place)
    place, part = harmed("changed")
    content = bytearray(part.read_bytes())
    content[40] ^= 0xFF
    part.write_bytes(content)
    refuses(place)
    place, part = harmed("cut-off")
    part.write_bytes(part.read_bytes()[:-1])
    refuses(place)
    assert_same(on_spark(machine, resume=sound, room=HERE), locally(machine))


def test_initial_states_that_do_not_fit_the_memory_end_the_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("checker.kernel.calls.CAPACITY", 1)
    monkeypatch.setattr("checker.kernel.calls.available", lambda: 64)
    machine = hour_clock()
    found = on_spark(machine, room=HERE)
    assert (found.stopped_by, found.exhaustive, found.distinct) == ("memory", False, 0)
    assert_same(found, locally(machine))


def test_a_disk_that_is_full_when_the_driver_writes_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = two_phase(3)
    on_spark(machine, Limits(depth=2), checkpoint=tmp_path, room=HERE)

    def full(_file: Path, _folder: Path) -> Path:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("checker.spark.store.written", full)
        with pytest.raises(EnvironmentFailure, match=r"no space is left.* can be resumed"):
            on_spark(machine, resume=tmp_path, room=HERE)
    assert_same(on_spark(machine, resume=tmp_path, room=HERE), locally(machine))


def test_levels_are_kept_on_file_systems_that_are_not_this_machines(
    session: SparkSession, tmp_path: Path
) -> None:
    """By a view of this machine's files that Hadoop does not know as such."""
    configuration = session.sparkContext._jsc.hadoopConfiguration()
    configuration.set("fs.viewfs.mounttable.elsewhere.link./kept", tmp_path.as_uri())
    machine, place = two_phase(3), "viewfs://elsewhere/kept/run"
    on_spark(machine, Limits(depth=4), checkpoint=place, room=HERE)
    assert len(list(tmp_path.glob("run/levels/level=*/part-00000.zstd.parquet"))) == 5
    assert_same(on_spark(machine, resume=place, room=HERE), locally(machine))
