"""Goal: memory is measured in bytes, reservations cost nothing until they are used."""

import resource
from pathlib import Path

import numpy as np
import pytest

from checker import memory
from checker.errors import EnvironmentFailure


def test_a_reservation_is_zero_and_costs_only_what_is_touched() -> None:
    before = memory.peak_rss()
    words = memory.reserve(8 << 30)
    assert words.size == 1 << 30
    assert words[0] == words[-1] == 0
    words[12345] = 7
    assert words[12345] == 7
    assert memory.peak_rss() - before < 64 << 20


def test_a_reservation_that_no_system_grants() -> None:
    with pytest.raises(EnvironmentFailure, match="address space"):
        memory.reserve(1 << 62)
    assert memory.reserve_up_to(1 << 62).nbytes >= 1 << 24


def test_huge_pages_are_advice() -> None:
    words = memory.reserve(1 << 23)
    assert words.ctypes.data % memory.HUGE_PAGE == 0
    memory.advise_huge_pages(words)
    memory.advise_huge_pages(np.zeros(4, np.int64))
    words[:] = 1
    assert words.sum() == words.size


def test_the_default_limit_is_a_share_of_the_smallest_thing_around_us(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "_meminfo", lambda _field: 1000)
    monkeypatch.setattr(memory, "_cgroups", lambda: [(2000, 0)])
    assert memory.default_limit() == 700
    assert memory.available() == 1000
    monkeypatch.setattr(memory, "_cgroups", lambda: [(2000, 0), (500, 450)])
    assert memory.default_limit() == 350
    assert memory.available() == 50


@pytest.mark.parametrize(
    ("line", "limit", "used", "files", "root"),
    [
        ("0::/a/b", "memory.max", "memory.current", "inactive_file", "."),
        ("4:memory:/a/b", "memory.limit_in_bytes", "memory.usage_in_bytes",
         "total_inactive_file", "memory"),
    ],
)  # fmt: skip
def test_groups_around_groups_count_without_files_that_memory_can_do_without(
    line: str, limit: str, used: str, files: str, root: str, tmp_path: Path
) -> None:
    (tmp_path / "cgroup").write_text(f"2:cpu:/a\n{line}\n")
    for name, most, taken in ((".", "max", 900), ("a", "700", 650), ("a/b", "800", 600)):
        folder = tmp_path / root / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / limit).write_text(f"{most}\n")
        (folder / used).write_text(f"{taken}\n")
    (tmp_path / root / "a" / "memory.stat").write_text(f"anon 1\n{files} 100\nfile 300\n")
    found = memory._cgroups(tmp_path / "cgroup", tmp_path)
    assert found[1:] == [(800, 600), (700, 550)]


def test_what_else_needs_address_space_is_left_some(monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = {resource.RLIMIT_AS: 6 << 30, resource.RLIMIT_DATA: resource.RLIM_INFINITY}
    monkeypatch.setattr(resource, "getrlimit", lambda which: (allowed[which], 8 << 30))
    monkeypatch.setattr(memory, "_meminfo", lambda _field: 1 << 50)
    monkeypatch.setattr(memory, "_cgroups", lambda: [(1 << 50, 0)])
    monkeypatch.setattr(memory, "_spaces", lambda: (2 << 30, 1 << 30))
    assert memory.default_limit() == int(0.7 * (6 << 30))
    assert memory.available() == memory.space_left() == 4 << 30
    assert memory.reserve_up_to(1 << 60).nbytes == 1 << 30
    assert memory.reserve_up_to(1 << 25).nbytes == 1 << 25
    memory.require_space(4 << 30, "this")
    with pytest.raises(EnvironmentFailure, match=r"this may take 4,097 MiB, .* 4,096 MiB .*ulimit"):
        memory.require_space((4 << 30) + (1 << 20), "this")
    allowed[resource.RLIMIT_DATA] = 3 << 30
    assert memory.space_left() == 2 << 30


def test_this_machine_has_memory() -> None:
    assert 1 << 26 < memory.default_limit() < 1 << 50
    assert memory.available() > 0
    assert memory.peak_rss() > 1 << 20
