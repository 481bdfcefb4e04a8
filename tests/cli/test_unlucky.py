"""Goal: a search that is killed at any moment, or that can write no more, loses nothing that it
said it had and says what it lost.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from command_processes import COUNTERS, PATIENCE_SECONDS, command, environment, with_defaults

from checker.verdict import exits

SEARCH = ("check", "counters.yaml", "--set", "Place=5", "--workers", "1")
"""100,000 states, 46 levels."""

VARIES = ("seconds", "compile_seconds", "peak_rss_bytes", "checkpoint", "bytes_per_state")
FEW_BYTES = 1 << 14


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "counters.yaml").write_text(COUNTERS)
    return tmp_path


def ran(
    folder: Path, words: Sequence[str | Path], before: Callable[[], None] = with_defaults
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end in a folder, after what is done `before` it."""
    return subprocess.run(
        words,
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_SECONDS,
        preexec_fn=before,
    )


def searched(folder: Path, *words: str, before: Callable[[], None] = with_defaults) -> Any:
    """Run a search to its end; return its exit code, its object, and what it says besides."""
    ended = ran(folder, command([*SEARCH, "--format", "json", *words]), before)
    assert ended.stdout, ended.stderr
    return ended.returncode, json.loads(ended.stdout), ended.stderr


def killed(folder: Path, levels: int) -> None:
    """Run a search with checkpoints and kill it when so many are there, or one half written."""
    words = ("--checkpoint", "kept", "--checkpoint-seconds", "0")
    nothing = subprocess.DEVNULL
    with subprocess.Popen(
        command([*SEARCH, *words]), cwd=folder, env=environment(), stdout=nothing, stderr=nothing
    ) as process:
        end = time.monotonic() + PATIENCE_SECONDS
        kept = folder / "kept"
        while len(list(kept.glob("states-*.bin"))) < levels or not list(kept.glob("manifest.json")):
            assert process.poll() is None, "it was over before"
            assert time.monotonic() < end
        process.kill()


def told(found: Any) -> object:
    return {key: value for key, value in found.items() if key not in VARIES}


def test_a_search_that_was_killed_at_any_moment_goes_on(folder: Path) -> None:
    code, wanted, _ = searched(folder)
    assert (code, wanted["distinct"]) == (0, 100_000)
    for levels in (1, 9, 23, 38):
        killed(folder, levels)
        again, found, _ = searched(folder, "--resume", "kept")
        assert (again, told(found)) == (0, told(wanted))
        for file in (folder / "kept").iterdir():
            file.unlink()


def few_bytes() -> None:
    """Let no file become long: what a full disk does to whoever writes."""
    with_defaults()
    resource.setrlimit(resource.RLIMIT_FSIZE, (FEW_BYTES, FEW_BYTES))


def test_a_disk_that_is_full_costs_checkpoints_and_nothing_else(folder: Path) -> None:
    words = ("--checkpoint", "kept", "--checkpoint-seconds", "0")
    code, found, said = searched(folder, *words, before=few_bytes)
    assert (code, found["verdict"], found["distinct"]) == (0, "holds", 100_000)
    assert "no checkpoint was written to kept" in said
    # What was written before is whole, and can be gone on from.
    again, resumed, _ = searched(folder, "--resume", "kept")
    assert (again, resumed["distinct"]) == (0, 100_000)


def few_files() -> None:
    """Let few files be open: what a small machine, or a careless shell, allows."""
    with_defaults()
    resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))


def test_a_system_that_refuses_files_is_not_the_fault_of_the_command(folder: Path) -> None:
    words = ("verify", "counters.yaml", "--fresh", "--all", "--workers", "2")
    ended = ran(folder, command(words), few_files)
    assert (ended.returncode, ended.stdout) == (exits.INTERNAL, ""), ended.stderr
    assert "error: the system refuses what the checker needs: too many open files" in ended.stderr


def test_a_disk_that_is_full_ends_a_search_that_needs_it_honestly(folder: Path) -> None:
    words = ("--set", "Place=6", "--memory", "12MiB")
    code, found, _ = searched(folder, *words, before=few_bytes)
    assert (code, found["verdict"], found["stopped_by"]) == (20, "inconclusive", "memory")
    assert 0 < found["distinct"] < 1_000_000
    code, found, _ = searched(folder, *words)
    assert (code, found["verdict"], found["distinct"]) == (0, "holds", 1_000_000)


def test_a_disk_that_is_full_leaves_no_half_of_an_export(tmp_path: Path) -> None:
    words = ("export", "two_phase", "--set", "Manager=5", "--to", "graphml", "--out", "out")
    ended = ran(tmp_path, command(words), few_bytes)
    assert (ended.returncode, ended.stdout) == (exits.USAGE, "")
    assert "error: out/two_phase.graphml: file too large" in ended.stderr
    assert list((tmp_path / "out").iterdir()) == []


def test_a_disk_that_is_full_leaves_no_half_of_a_table(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    words = ("graph", "two_phase", "--set", "Manager=5", "--engine", "local", "--out", "out")
    ended = ran(tmp_path, command(words), few_bytes)
    assert (ended.returncode, ended.stdout) == (exits.USAGE, "")
    assert ended.stderr.strip().endswith("out/states/part-00000.parquet: file too large")
    assert not (tmp_path / "out" / "states").exists()


def hardly_any_bytes() -> None:
    """Let no file become longer than a line or two."""
    with_defaults()
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


@pytest.mark.parametrize(
    "words",
    [
        ("sweep", "two_phase", "--set", "Manager=1..2", "--out", "out"),
        ("simulate", "two_phase", "--walks", "20", "--report", "out"),
        ("simulate", "classic_group", "--instance", "kafka_7824", "--trace", "out.json"),
        ("mutate", "two_phase", "--sample", "2", "--workers", "1", "--out", "out"),
        ("hunt", "two_phase", "--hunts", "1", "--steps", "100", "--report", "out"),
    ],
    ids=" ".join,
)
def test_a_disk_that_is_full_costs_no_result(tmp_path: Path, words: tuple[str, ...]) -> None:
    ended = ran(tmp_path, command([*words, "--format", "json"]), hardly_any_bytes)
    assert ended.returncode == exits.USAGE, ended.stderr
    assert json.loads(ended.stdout)["spec"]
    assert "file too large" in ended.stderr


def test_a_current_folder_that_is_gone_is_told(tmp_path: Path) -> None:
    gone = "import os; os.rmdir(os.getcwd()); from checker.cli.main import main; "
    ended = ran(tmp_path, [sys.executable, "-c", f"{gone}main(['check', 'hour_clock'])"])
    assert ended.returncode == exits.USAGE
    assert "the current folder does not exist any more" in ended.stderr
