"""Goal: what is measured is a sample's own successors; what measuring takes is no row's time."""

from pathlib import Path

import numpy as np
import pytest

from checker import library
from checker.elaborate import elaborate
from checker.kernel import build
from checker.kernel.calls import Calls
from checker.kernel.timing import BLOCK, measure
from checker.layout import pack
from checker.llvm.meta import ERROR
from checker.table import read


@pytest.mark.parametrize("count", [1, BLOCK, 2 * BLOCK + 1])
def test_degrees_are_those_of_expand(count: int) -> None:
    machine = elaborate(read(library.find("two_phase")), "default", {})
    layout = pack(machine)
    kernel = build(machine, layout)
    calls = Calls(kernel)
    states, _ = calls.initial()
    while len(states) < count:
        states = np.unique(np.concatenate([states, calls.expand(states).words]), axis=0)
        if len(states) == len(np.unique(calls.expand(states).words, axis=0)) + 1:
            break
    states = np.resize(states, (count, layout.words))
    timing = measure(machine, layout, kernel, states)
    assert timing is not None
    expansion = calls.expand(states)
    good = np.concatenate([[0], np.cumsum((expansion.meta & ERROR) == 0)])
    assert timing.degrees.tolist() == np.diff(good[expansion.ends], prepend=0).tolist()
    assert timing.shares.min() >= 0
    assert timing.shares.sum() == pytest.approx(1, abs=1e-9) or not timing.shares.any()
    assert timing.expand_seconds > 0


def test_nothing_is_measured_for_who_is_to_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    machine = elaborate(read(library.find("two_phase")), "default", {})
    layout = pack(machine)
    kernel = build(machine, layout)
    states, _ = Calls(kernel).initial()
    assert measure(machine, layout, kernel, states, lambda: True) is None
    assert measure(machine, layout, kernel, states, lambda: False) is not None
