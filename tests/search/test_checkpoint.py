"""Goal: a search that goes on from a checkpoint ends as if it had never stopped.

And a directory that is not a whole checkpoint of the same search is refused, with the reason.
"""

import errno
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest
from native_kernels import grid

import checker.search.local as local_module
from checker.errors import EnvironmentFailure, UsageError
from checker.search.checkpoint import LOCK, MANIFEST, held
from checker.search.exploration import Exploration
from checker.search.explore import explore
from checker.search.limits import Limits
from checker.search.options import Options

LAYOUT: Any = SimpleNamespace(bits=20.5, leaves=())
MACHINE: Any = SimpleNamespace(
    properties=[SimpleNamespace(name="far", kind="sometimes", asks=False)],
    deadlock=True,
    expectation=None,
)
IDENTITY = {"specification": "grid", "constants": {"size": "6"}, "code": "1"}
KERNELS = {words: grid(5, 6, words) for words in (1, 2)}
DEPTH = 25


@pytest.fixture(autouse=True)
def packed_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let findings show packed states: these kernels have no layout."""
    monkeypatch.setattr(
        local_module,
        "Decoder",
        lambda _layout: SimpleNamespace(states=lambda found: map(tuple, found.tolist())),
    )


def run(
    words: int,
    limits: Limits | None = None,
    workers: int = 1,
    interrupt: Event | None = None,
    **options: Any,
) -> Exploration:
    asked = Options(**{"identity": IDENTITY, "checkpoint_seconds": 1e9, **options})
    wanted = limits or Limits()
    return explore(
        MACHINE, LAYOUT, KERNELS[words], wanted, workers, interrupt=interrupt, options=asked
    )


def timeless(found: Exploration) -> Exploration:
    """Return what two runs of the same search must agree in."""
    return replace(found, seconds=0.0, checkpoint=None, bytes_per_state=0.0)


@pytest.mark.parametrize("words", [1, 2])
@pytest.mark.parametrize("depth", [0, 1, 7, 20, 24, 25, 26])
def test_a_resumed_search_equals_a_straight_one(words: int, depth: int, tmp_path: Path) -> None:
    cut = run(words, Limits(depth=depth), checkpoint=tmp_path)
    assert cut.checkpoint is not None
    assert cut.checkpoint.distinct == cut.distinct
    assert timeless(run(words, resume=tmp_path)) == timeless(run(words))


@pytest.mark.parametrize("words", [1, 2])
def test_several_cuts_and_threads_change_nothing_but_who_found_what(
    words: int, tmp_path: Path
) -> None:
    run(words, Limits(depth=3), checkpoint=tmp_path, checkpoint_seconds=0)
    for depth in (4, 11, 18):
        run(words, Limits(depth=depth), 2, resume=tmp_path, checkpoint=tmp_path)
    found, wanted = run(words, workers=3, resume=tmp_path), run(words, workers=3)
    assert found.findings == wanted.findings
    assert (found.levels, found.generated, found.cuts) == (
        wanted.levels,
        wanted.generated,
        wanted.cuts,
    )
    assert found.rows == wanted.rows


def test_a_search_cut_within_a_level_keeps_the_level_before(tmp_path: Path) -> None:
    cut = run(1, Limits(states=3000), checkpoint=tmp_path)
    assert (cut.stopped_by, cut.distinct) == ("states", 3000)
    assert cut.checkpoint is not None
    assert cut.checkpoint.expanded == cut.depth_complete + 1
    assert cut.checkpoint.distinct == sum(cut.levels[: cut.depth_complete + 2])
    assert timeless(run(1, resume=tmp_path)) == timeless(run(1))


def test_an_interrupt_leaves_a_checkpoint(tmp_path: Path) -> None:
    stop = Event()
    stop.set()
    cut = run(1, interrupt=stop, checkpoint=tmp_path)
    assert cut.stopped_by == "interrupt"
    assert cut.checkpoint is not None
    assert timeless(run(1, resume=tmp_path)) == timeless(run(1))


def test_states_are_written_once_and_in_order(tmp_path: Path) -> None:
    run(2, Limits(depth=9), checkpoint=tmp_path, checkpoint_seconds=0)
    names = [path.name for path in sorted(tmp_path.iterdir())]
    assert names == [LOCK, MANIFEST, *(f"states-{part:06}.bin" for part in range(10))]
    whole = b"".join(path.read_bytes() for path in sorted(tmp_path.glob("*.bin")))
    straight = tmp_path / "straight"
    run(2, Limits(depth=9), checkpoint=straight)
    assert (straight / "states-000000.bin").read_bytes() == whole


def test_a_finished_search_can_be_looked_at_again(tmp_path: Path) -> None:
    wanted = run(1, checkpoint=tmp_path)
    again = run(1, resume=tmp_path)
    assert again.exhaustive
    assert timeless(again) == timeless(wanted)


def refused(directory: Path, **options: Any) -> str:
    with pytest.raises(UsageError) as error:
        run(1, resume=directory, **options)
    return str(error.value)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A checkpoint of two files of states."""
    run(1, Limits(depth=3), checkpoint=tmp_path / "kept")
    run(1, Limits(depth=8), resume=tmp_path / "kept", checkpoint=tmp_path / "kept")
    return tmp_path / "kept"


def test_another_search_is_refused_by_what_differs(kept: Path) -> None:
    other = {**IDENTITY, "constants": {"size": "7"}}
    assert "constant size differs: 6 there, 7 here" in refused(kept, identity=other)
    other = {**IDENTITY, "code": "2"}
    assert "tables, rows, bounds or properties changed" in refused(kept, identity=other)
    other = {**IDENTITY, "symmetry": True}
    assert "symmetry reduction differs: none there, on here" in refused(kept, identity=other)
    with pytest.raises(UsageError, match="states already, more than the limit of 2"):
        run(1, Limits(states=2), resume=kept)


@pytest.mark.parametrize("part", ["states-000000.bin", "states-000001.bin"])
@pytest.mark.parametrize("damage", ["missing", "truncated", "longer", "corrupt", "empty"])
def test_a_damaged_file_is_refused_by_its_name(kept: Path, part: str, damage: str) -> None:
    path = kept / part
    content = path.read_bytes()
    path.unlink()
    if damage == "truncated":
        path.write_bytes(content[:-8])
    elif damage == "longer":
        path.write_bytes(content + bytes(8))
    elif damage == "corrupt":
        path.write_bytes(bytes([content[0] ^ 1]) + content[1:])
    elif damage == "empty":
        path.write_bytes(b"")
    message = refused(kept)
    assert message.startswith(f"{path}: ")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b"\xff",
        b'{"format": 1}',
        b'{"sha256": "", "format": 2}',
        b"[" * 9999,
    ],
    ids=range(8),
)
def test_a_damaged_manifest_is_refused(kept: Path, content: bytes) -> None:
    (kept / MANIFEST).write_bytes(content)
    assert refused(kept).startswith(f"{kept / MANIFEST}: ")


def test_an_edited_manifest_is_refused(kept: Path) -> None:
    body = json.loads((kept / MANIFEST).read_bytes())
    body["snapshot"]["counters"]["generated"] += 1
    (kept / MANIFEST).write_text(json.dumps(body))
    assert "damaged" in refused(kept)


def test_no_checkpoint_at_all(tmp_path: Path) -> None:
    assert "holds no checkpoint" in refused(tmp_path)
    assert "holds no checkpoint" in refused(tmp_path / "absent")


def test_a_checkpoint_is_not_overwritten_by_another_search(kept: Path) -> None:
    with pytest.raises(UsageError, match="holds a checkpoint already; go on from it with --resume"):
        run(1, checkpoint=kept)


def test_a_directory_that_cannot_be_written_to_is_refused_before_the_search(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="no checkpoint can be kept here"):
        run(1, checkpoint=tmp_path / "file" / "below")


def test_links_in_the_directory_lead_nowhere(tmp_path: Path) -> None:
    directory, outside = tmp_path / "in", tmp_path / "outside"
    outside.write_text("precious")
    directory.mkdir()
    (directory / LOCK).symlink_to(outside)
    with pytest.raises(UsageError, match="no checkpoint can be kept here"):
        run(1, checkpoint=directory)
    (directory / LOCK).unlink()
    for name in ("states-000000.bin", "states-000000.bin.tmp", "manifest.json.tmp"):
        (directory / name).symlink_to(outside)
    run(1, Limits(depth=2), checkpoint=directory)
    assert outside.read_text() == "precious"
    assert not (directory / "states-000000.bin").is_symlink()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EIO])
def test_a_checkpoint_that_fails_does_not_end_the_search(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    told: list[str] = []
    monkeypatch.setattr("checker.search.checkpoint.Keeper.save", full)
    found = run(1, checkpoint=tmp_path, notice=told.append)
    assert found.exhaustive
    assert found.checkpoint is None
    assert len(told) == 1
    assert os.strerror(number) in told[0]


def test_two_checkpoints_of_one_search_in_two_places(kept: Path, tmp_path: Path) -> None:
    run(1, Limits(depth=12), resume=kept, checkpoint=tmp_path / "second")
    assert timeless(run(1, resume=tmp_path / "second")) == timeless(run(1))
    assert timeless(run(1, resume=kept)) == timeless(run(1))


IN_USE = "is in use by another checker"


def test_who_keeps_checkpoints_is_alone(kept: Path) -> None:
    """A lock of this process keeps others out as one of another process does."""
    before = {path.name: path.read_bytes() for path in kept.iterdir()}
    with held(kept, kept):
        with pytest.raises(UsageError, match=rf"{kept} {IN_USE}: .*name another directory"):
            run(1, checkpoint=kept)
        with pytest.raises(UsageError, match=rf"{kept} {IN_USE}: .*name another directory"):
            run(1, checkpoint=kept, resume=kept)
        assert f"{kept} {IN_USE}: it keeps checkpoints there" in refused(kept)
    assert {path.name: path.read_bytes() for path in kept.iterdir()} == before
    assert run(1, checkpoint=kept, resume=kept).exhaustive


def test_several_go_on_from_one_directory_while_nobody_writes_there(kept: Path) -> None:
    with held(None, kept):
        assert run(1, resume=kept).exhaustive
        with pytest.raises(UsageError, match=IN_USE):
            run(1, resume=kept, checkpoint=kept)


def test_a_directory_of_an_older_checker_is_only_read(kept: Path) -> None:
    (kept / LOCK).unlink()
    assert run(1, resume=kept).exhaustive
    assert not (kept / LOCK).exists()


def test_of_two_that_begin_in_a_directory_that_is_not_there_one_is_told(tmp_path: Path) -> None:
    with held(tmp_path / "new", None), pytest.raises(UsageError, match=IN_USE):
        run(1, checkpoint=tmp_path / "new")


def test_a_process_that_is_killed_gives_the_directory_back(kept: Path) -> None:
    program = (
        "import sys, time; from pathlib import Path; from checker.search.checkpoint import held\n"
        "with held(Path(sys.argv[1]), None):\n print('held', flush=True); time.sleep(60)"
    )
    words = [sys.executable, "-c", program, kept]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        assert IN_USE in refused(kept)
        other.kill()
    assert run(1, resume=kept, checkpoint=kept).exhaustive


def test_a_system_that_refuses_files_is_not_the_fault_of_the_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr("checker.search.checkpoint.locked", full)
    with pytest.raises(EnvironmentFailure, match=r"can be kept here: .*open files"):
        run(1, checkpoint=tmp_path)
