"""Goal: calling a kernel from Python needs no thought of buffers, and refuses the wrong shape."""

from threading import Event, Timer

import numpy as np
import pytest
from machines import (
    action,
    assign,
    binding,
    everything,
    less,
    lit,
    local,
    machine,
    number,
    place,
    prop,
    read,
    two_phase,
    variable,
)

from checker.errors import InternalError
from checker.kernel import build, calls
from checker.kernel.calls import Calls, HaltedError, TooManyInitialError
from checker.layout import pack
from checker.machine.machine import Machine
from checker.machine.types import Bool, Range

WIDE = Range(0, 99)


def jump_anywhere() -> Machine:
    """100 initial states, each with 100 successors."""
    jump = assign(place("n", WIDE), local("x", WIDE))
    anywhere = [binding("x", everything(WIDE))]
    return machine(
        "jump",
        [variable("n", WIDE, 0)],
        [action("jump", jump, bindings=anywhere)],
        initial=action("initial", jump, bindings=anywhere),
    )


@pytest.mark.parametrize("capacity", [1, 7, 1000])
def test_buffers_grow(monkeypatch: pytest.MonkeyPatch, capacity: int) -> None:
    monkeypatch.setattr(calls, "CAPACITY", capacity)
    made = jump_anywhere()
    native = Calls(build(made, pack(made), use_cache=False))
    words, meta = native.initial()
    assert words.ravel().tolist() == list(range(100))
    assert meta.tolist() == [0] * 100
    expansion = native.expand(words)
    assert expansion.ends.tolist() == list(range(100, 10_001, 100))
    assert expansion.words.reshape(100, 100).tolist() == [list(range(100))] * 100
    assert expansion.tallies.tolist() == [100, 10_000, 9_900]
    assert expansion.status.tolist() == [1] * 100
    assert native.expand(words, 100, most=150).ends.tolist() == [100, 200]


def test_initial_states_that_do_not_fit_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "CAPACITY", 10)
    made = jump_anywhere()
    native = Calls(build(made, pack(made), use_cache=False))
    with pytest.raises(TooManyInitialError, match="more than 40 initial states"):
        native.initial(16 * 100)
    assert len(native.initial(16 * 160)[0]) == 100
    monkeypatch.setattr(calls, "available", lambda: 16 * 100)
    with pytest.raises(TooManyInitialError):
        native.initial()


def test_finding_initial_states_ends_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    made = jump_anywhere()
    native = Calls(build(made, pack(made), use_cache=False))
    leave = Event()

    def slow(*_: int) -> int:
        leave.wait(60)
        return 0

    monkeypatch.setattr(native, "_initial", slow)
    with pytest.raises(HaltedError):
        native.initial(halt=lambda: True)
    Timer(0.2, leave.set).start()
    assert len(native.initial(halt=lambda: False)[0]) == 0


def test_a_state_that_does_not_fit_leaves_no_trace_in_tallies() -> None:
    made = jump_anywhere()
    kernel = build(made, pack(made), use_cache=False)
    arguments = [calls._POINTER, calls._INT] * 2 + [calls._POINTER] * 4
    expand = calls._function(kernel.expand_address, *arguments)
    states = np.arange(3, dtype=np.int64)
    out, meta = np.zeros(250, np.int64), np.zeros(250, np.int64)
    ends, status, tallies = np.zeros(3, np.int64), np.zeros(3, np.int64), np.zeros(3, np.int64)
    rest = [array.ctypes.data for array in (meta, ends, status, tallies)]
    assert expand(states.ctypes.data, 3, out.ctypes.data, 250, *rest) == 2
    assert tallies.tolist() == [2, 200, 198]
    assert ends.tolist() == [100, 200, 0]
    assert expand(states.ctypes.data, 3, out.ctypes.data, 99, *rest) == 0
    assert tallies.tolist() == [2, 200, 198]


def test_no_states_have_no_successors() -> None:
    made = two_phase()
    native = Calls(build(made, pack(made), use_cache=False))
    nothing = np.empty((0, 1), np.int64)
    assert native.expand(nothing).words.shape == (0, 1)
    assert native.check(nothing).tolist() == []


def test_states_of_the_wrong_width() -> None:
    made = two_phase()
    native = Calls(build(made, pack(made), use_cache=False))
    with pytest.raises(InternalError, match="shape"):
        native.expand(np.zeros((4, 2), np.int64))


def test_properties_that_look_at_nothing_new_are_not_asked() -> None:
    made = machine(
        "two",
        [variable("n", WIDE, 60), variable("m", WIDE, 0)],
        [action("step", assign(place("m", WIDE), number(7)))],
        properties=[
            prop("low", "always", less(read("n", WIDE), number(50))),
            prop("late", "sometimes", less(number(5), read("m", WIDE))),
            prop("plain", "sometimes", lit(True, Bool())),
        ],
    )
    native = Calls(build(made, pack(made), use_cache=False))
    (before,), _ = native.initial()
    after = native.expand(before.reshape(1, -1)).words
    low, late, plain = 1, 2, 4
    assert native.check(after).tolist() == [low | late | plain]
    assert native.check(after, origins=before.reshape(1, -1)).tolist() == [late | plain]
    assert native.check(after, origins=after).tolist() == [plain]
    assert native.check(after, done=late | plain).tolist() == [low]
