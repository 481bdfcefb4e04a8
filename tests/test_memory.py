"""Goal: memory is measured in bytes, reservations cost nothing until they are used."""

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


def test_this_machine_has_memory() -> None:
    assert 1 << 26 < memory.default_limit() < 1 << 50
    assert memory.available() > 0
    assert memory.peak_rss() > 1 << 20
