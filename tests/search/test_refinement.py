"""Goal: a search that takes up faster code on the way finds what one with a single code finds, and
that code is made once it pays, beside the search, and kept; where it cannot be had, nothing stops.
"""

import ctypes
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from machines import two_phase

from checker.kernel import Kernel, build
from checker.kernel.build import fingerprint
from checker.kernel.calls import Calls
from checker.kernel.refinement import Refinement
from checker.layout import pack
from checker.llvm import beside, native
from checker.search.exploration import Exploration
from checker.search.explore import explore
from checker.search.hunt import Hunt, hunt
from checker.search.limits import Limits
from checker.search.simulate import Simulation, simulate

EXPAND = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 8)
PATIENCE = 60


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


class Late(Refinement):
    """Faster code that is there when it is asked for the n-th time, and tells that it is called."""

    def __init__(self, fast: Kernel, asked: int) -> None:
        super().__init__("", lambda _: fast)
        self.left = asked
        self.calls = 0
        real = EXPAND(fast.expand_address)

        def counted(*arguments: int) -> int:
            self.calls += 1
            return real(*arguments)

        self.thunk = EXPAND(counted)
        address = ctypes.cast(self.thunk, ctypes.c_void_p).value
        self.fast = replace(fast, expand_address=address or 0, explore_address=0)

    def advance(self, seconds: float) -> Kernel | None:
        assert seconds >= 0
        self.left -= 1
        if self.left <= 0:
            self.kernel = self.fast
        return self.kernel


def counts(found: Exploration) -> tuple[object, ...]:
    return found.distinct, found.generated, found.levels, found.rows, found.deadlocks, found.cuts


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("asked", [1, 7, 15])
def test_code_that_comes_late_changes_nothing(workers: int, asked: int) -> None:
    machine = two_phase(5)
    layout = pack(machine)
    slow = build(machine, layout, prompt=True)
    fast = build(machine, layout)
    usual = explore(machine, layout, fast, Limits(), workers)
    late = Late(fast, asked)
    kernel = replace(slow, refinement=late, explore_address=0)
    found = explore(machine, layout, kernel, Limits(), workers)
    assert late.calls > 0
    assert kernel.best is late.fast
    assert counts(found) == counts(usual)


def test_walks_and_hunts_go_on_with_code_that_comes_late() -> None:
    machine = two_phase(5)
    layout = pack(machine)
    slow = build(machine, layout, prompt=True)
    fast = build(machine, layout)

    def walked(kernel: Kernel) -> Simulation:
        return replace(simulate(machine, layout, kernel, 10_000, 30, seed=1, workers=2), seconds=0)

    def hunted(kernel: Kernel) -> Hunt:
        return hunt(machine, layout, kernel, number=1, seed=1, steps=100_000, depth=30)

    for made in (walked, hunted):
        late = Late(fast, 2)
        assert made(replace(slow, refinement=late)) == made(fast)
        assert late.calls > 0


def test_what_was_stopped_does_not_begin_again() -> None:
    refinement = Refinement("", lambda _: pytest.fail("there is no code"))
    refinement.stop()
    assert refinement.advance(1e9) is None
    assert not refinement.under_way


def test_code_at_hand_is_other_code_and_says_the_same() -> None:
    machine = two_phase(3)
    prompt = build(machine, pack(machine), prompt=True)
    kept = build(machine, pack(machine), prompt=True)
    best = build(machine, pack(machine))
    assert prompt.refinement is not None
    assert kept.refinement is not None
    assert best.refinement is None
    assert prompt.ir == kept.ir == best.ir
    states, _ = Calls(best).initial()
    for _ in range(4):
        one, two = (Calls(kernel).expand(states) for kernel in (prompt, best))
        assert one.words.tolist() == two.words.tolist()
        assert one.meta.tolist() == two.meta.tolist()
        states = one.words
    assert build(machine, pack(machine), prompt=True).refinement is None  # the better is kept now


def test_better_code_is_made_when_it_pays_and_kept() -> None:
    machine = two_phase(2)
    kernel = build(machine, pack(machine), prompt=True)
    refinement = kernel.refinement
    assert refinement is not None
    assert refinement.advance(0.0) is None
    assert native.cached(fingerprint(machine)) is None
    better = waited(refinement)
    assert better is not None
    assert kernel.best is better
    known = native.cached(fingerprint(machine))
    assert known is not None
    assert known[0] == kernel.ir
    states, _ = Calls(kernel).initial()
    assert Calls(better).expand(states).words.tolist() == (
        Calls(kernel).expand(states).words.tolist()
    )


def waited(refinement: Refinement) -> Kernel | None:
    """Let time pass until it is known whether there is better code."""
    end = time.monotonic() + PATIENCE
    while refinement.advance(1e9) is None and refinement.under_way:
        assert time.monotonic() < end
        time.sleep(0.01)
    return refinement.kernel


@pytest.mark.parametrize("what", ["no such program", "it fails", "it says nothing"])
def test_nothing_stops_where_it_cannot_be_made(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if what == "no such program":
        monkeypatch.setattr(sys, "executable", "/no/such/python")
    code = "raise SystemExit(3)" if what == "it fails" else "pass"
    monkeypatch.setattr(beside, "_COMMAND", ("-c", code))
    machine = two_phase(2)
    layout = pack(machine)
    kernel = build(machine, layout, prompt=True)
    assert kernel.refinement is not None
    assert waited(kernel.refinement) is None
    assert kernel.best is kernel
    assert explore(machine, layout, kernel, Limits(), 1).distinct == 56


def test_a_search_that_ends_first_leaves_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "_COMMAND", ("-c", "import time; time.sleep(100)"))
    refinement = Refinement("", lambda _: pytest.fail("there is no code"))
    refinement.advance(1e9)
    assert refinement.under_way
    begun = time.monotonic()
    refinement.stop()
    assert not refinement.under_way
    assert time.monotonic() - begun < PATIENCE
