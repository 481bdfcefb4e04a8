"""Holding a kernel to the reference semantics, state by state: the oracle of the kernel's tests."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from checker.errors import EvaluationError
from checker.kernel.build import build
from checker.kernel.calls import Calls
from checker.kernel.kernel import Kernel
from checker.layout import Layout, decode, encode, encode_all, pack
from checker.llvm.meta import CHECK_ERROR, CUT, DROPPED, ERROR, ILLEGAL, STEP
from checker.machine.machine import OF_STEPS, Machine
from checker.semantics.evaluate import Context, evaluate
from checker.semantics.successor import State, Successor
from checker.semantics.successors import (
    deadlocked,
    failing,
    initial_states,
    step_violations,
    successors,
    witnessed,
)

Step = tuple[int, tuple[int, ...]]
"""A meta word and a packed state."""


def require_agreement(
    machine: Machine, *, states: int = 100, brief: bool = False, prompt: bool = False
) -> int:
    """Compare what kernel and interpreter say of up to `states` reachable states.

    Returns how many were compared. `prompt`: the code is translated as it is written, which takes a
    tenth of the time that optimising it does.
    """
    layout = pack(machine)
    kernel = build(machine, layout, use_cache=False, brief=brief, prompt=prompt)
    calls = Calls(kernel)
    found = [step.state for step in _initial(machine, layout, calls) if step.state is not None]
    known = dict.fromkeys(found)
    todo = list(known)
    done: list[State] = []
    choose = random.Random(len(todo))  # noqa: S311
    while todo and len(done) < states:
        state = todo.pop(_place(choose, todo))
        done.append(state)
        words = encode(layout, state)
        assert decode(layout, words) == state
        assert words[0] >= 0
        steps = _expand(machine, layout, kernel, calls, state)
        _check(machine, kernel, calls, words, state)
        for step in steps:
            if step.state is not None and step.cut is None and step.state not in known:
                known[step.state] = None
                todo.append(step.state)
    _all_at_once(layout, calls, done)
    return len(done)


def _place(choose: random.Random, todo: Sequence[State]) -> int:
    """Any state that waits, but rather a late one: paths go deep and wide."""
    return max(choose.randrange(len(todo)) for _ in range(4))


def _initial(machine: Machine, layout: Layout, calls: Calls) -> list[Successor]:
    steps = initial_states(machine)
    try:
        nothing = Context({}, {})
        base = tuple(evaluate(variable.initial, nothing) for variable in machine.variables)
        origin = tuple(encode(layout, base).tolist())
    except EvaluationError:
        origin = (0,) * layout.words
    wanted = [_wanted(machine, layout, None, origin, step) for step in steps]
    words, meta = calls.initial()
    assert _pairs(words, meta) == wanted
    return steps


def _wanted(
    machine: Machine, layout: Layout, source: State | None, origin: tuple[int, ...], step: Successor
) -> Step:
    names = [action.name for action in machine.actions]
    meta = 0 if source is None else names.index(step.action)
    if step.error is not None:
        return meta | ERROR, origin
    if step.cut == "ids":
        return meta | DROPPED, origin
    assert step.state is not None
    meta |= ILLEGAL if step.illegal else 0
    meta |= CUT if step.cut == "bounds" else 0
    broken = step_violations(machine, source, step)
    properties = [item.name for item in machine.properties if item.kind in OF_STEPS]
    meta |= sum(1 << (STEP + properties.index(name)) for name in broken)
    return meta, tuple(encode(layout, step.state).tolist())


def _pairs(words: np.ndarray, meta: np.ndarray) -> list[Step]:
    return [(mark, tuple(row)) for mark, row in zip(meta.tolist(), words.tolist(), strict=True)]


def _expand(
    machine: Machine, layout: Layout, kernel: Kernel, calls: Calls, state: State
) -> list[Successor]:
    steps = successors(machine, state)
    words = encode(layout, state)
    origin = tuple(words.tolist())
    made = calls.expand(words.reshape(1, -1))
    own = (1 << kernel.instance_shift) - 1  # what liveness adds is tested elsewhere
    assert _pairs(made.words, made.meta & own) == [
        _wanted(machine, layout, state, origin, step) for step in steps
    ]
    assert made.ends.tolist() == [len(steps)]
    fired = [
        # Names of actions are unique; a failed step makes its row neither enabled nor fired.
        sum(step.action == action.name and step.error is None for step in steps)
        for action in machine.actions
    ]
    new = [
        sum(step.action == action.name and step.state not in (None, state) for step in steps)
        for action in machine.actions
    ]
    pairs = [number for count in fired for number in (int(count > 0), count)]
    assert made.tallies.tolist() == [*pairs, *new]
    assert made.status.tolist() == [_status(machine, state, steps)]
    return steps


def _status(machine: Machine, state: State, steps: list[Successor]) -> int:
    try:
        return int(not deadlocked(machine, state, steps))
    except EvaluationError:
        return 2


def _check(machine: Machine, kernel: Kernel, calls: Calls, words: np.ndarray, state: State) -> None:
    flags = 0
    for name, error in (*failing(machine, state), *witnessed(machine, state)):
        flags |= CHECK_ERROR if error is not None else 1 << kernel.checks.index(name)
    assert calls.check(words.reshape(1, -1)).tolist() == [flags]


def _all_at_once(layout: Layout, calls: Calls, states: Sequence[State]) -> None:
    """Many states in one call have the successors that they have one by one."""
    if not states:
        return
    words = encode_all(layout, states)
    together = calls.expand(words)
    apart = [calls.expand(row.reshape(1, -1)) for row in words]
    assert np.array_equal(together.words, np.concatenate([one.words for one in apart]))
    assert np.array_equal(together.meta, np.concatenate([one.meta for one in apart]))
    assert np.array_equal(together.ends, np.cumsum([len(one.meta) for one in apart]))
    assert np.array_equal(together.tallies, sum(one.tallies for one in apart))
    # A state whose successors do not fit is given up, with what was counted of it, and comes again.
    narrow = calls.expand(words, capacity=1)
    assert np.array_equal(narrow.words, together.words)
    assert np.array_equal(narrow.meta, together.meta)
    assert np.array_equal(narrow.tallies, together.tallies)
    assert np.array_equal(narrow.status, together.status)
    _told_before(calls, words, together.words, together.ends)


def _told_before(
    calls: Calls, states: np.ndarray, successors: np.ndarray, ends: np.ndarray
) -> None:
    """What `check` leaves out was told of the origin, or is of properties that are done."""
    origins = np.repeat(states, np.diff(ends, prepend=0), axis=0)
    flags, before = calls.check(successors), calls.check(origins)
    told = calls.check(successors, origins=origins)
    assert not (told & ~flags).any()
    assert not (flags & ~told & ~before).any()
    seen = int(np.bitwise_or.reduce(flags[: len(flags) // 2]))
    told = calls.check(successors, done=seen & ~CHECK_ERROR)
    assert not (told & ~flags).any()
    assert not (flags & ~told & ~(seen & ~CHECK_ERROR)).any()
