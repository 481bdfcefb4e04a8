"""Goal: the native graph has just the steps, instances and observations of the interpreter's."""

import tracemalloc
from dataclasses import replace
from threading import Event
from typing import Any

import numpy as np
import pytest
from machines import (
    NOWHERE,
    action,
    assign,
    binding,
    bounded_counter,
    local,
    place,
    prop,
    variable,
)
from random_machines import lively_machine

from checker.errors import InternalError
from checker.graph import build as module
from checker.graph.build import build_space, bytes_needed
from checker.graph.endless import judge_endless
from checker.graph.reference import reference_space
from checker.graph.space import Space
from checker.kernel import build
from checker.kernel.kernel import Kernel
from checker.layout import pack
from checker.layout.layout import Layout
from checker.machine import terms as t
from checker.machine.machine import Machine
from checker.machine.types import Range, Set
from checker.search.exploration import Exploration
from checker.search.explore import explore
from checker.search.limits import Limits
from checker.search.outcome import INTERRUPTED, NO_MEMORY, NOT_EXHAUSTIVE, NOT_KEPT
from checker.search.reference import explore_reference
from checker.semantics.fairness import FairRows
from checker.semantics.successor import State

ON = Limits(keep_going=True)
Edges = dict[State | None, list[tuple[State | None, int]]]


def searched(machine: Machine) -> tuple[Layout, Kernel, Exploration]:
    layout = pack(machine)
    kernel = build(machine, layout)
    return layout, kernel, explore(machine, layout, kernel, ON, 1)


def states_of(space: Space) -> list[State | None]:
    return [*(space.state(number) for number in range(space.graph.states - 1)), None]


def edges_of(space: Space) -> Edges:
    graph, states = space.graph, states_of(space)
    found: Edges = {}
    for number, state in enumerate(states):
        here = slice(graph.offsets[number], graph.offsets[number + 1])
        pairs = zip(graph.targets[here].tolist(), graph.labels[here].tolist(), strict=True)
        found[state] = [(states[target], label) for target, label in pairs]
    return found


def seen_by(space: Space) -> dict[State | None, tuple[int, int]]:
    values = zip(space.flags.tolist(), space.outside.tolist(), strict=True)
    return dict(zip(states_of(space)[:-1], values, strict=True))


@pytest.mark.parametrize("seed", range(25))
def test_both_builders_make_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Small pieces, so that there are many, and buffers that have to grow.
    monkeypatch.setattr(module, "CHUNK", 7)
    monkeypatch.setattr(module, "_EDGES", 16)
    monkeypatch.setattr(module, "_OUT_CAPACITY", 2)
    if seed % 2:  # more states at a time than have room for their edges
        monkeypatch.setattr(module._Builder, "_at_once", lambda *_: 7)
    machine = lively_machine(seed, states=120)
    layout, kernel, found = searched(machine)
    reference = explore_reference(machine, ON)
    assert isinstance(reference.states, tuple)
    if found.states is None or isinstance(found.states, tuple):
        assert not found.exhaustive
        return
    native = build_space(machine, layout, kernel, found.states, found.generated, 2)
    wanted = reference_space(machine, reference.states)
    assert native is not None
    assert edges_of(native) == edges_of(wanted)
    assert seen_by(native) == seen_by(wanted)
    assert native.outside_initially == wanted.outside_initially
    starts = [[space.state(n) for n in space.graph.initial] for space in (native, wanted)]
    assert starts[0] == starts[1]
    assert native.graph.strong.tolist() == wanted.graph.strong.tolist()


def test_few_states_are_expanded_at_a_time_where_they_have_many_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_EDGES", 500)
    kind = Range(0, 99)
    everywhere = binding("v", t.Everything(Set(kind), NOWHERE))
    go = action("go", assign(place("n", kind), local("v", kind)), bindings=[everywhere])
    machine = live(replace(bounded_counter(), variables=(variable("n", kind, 0),), actions=(go,)))
    layout, kernel, found = searched(replace(machine, bounds=()))
    made, real = [], module._Builder._chunk

    def chunk(builder: Any, first: int, last: int) -> Any:
        made.append(real(builder, first, last))
        return made[-1]

    monkeypatch.setattr(module._Builder, "_chunk", chunk)
    space = build_space(machine, layout, kernel, found.states, found.generated, 1)  # type: ignore[arg-type]
    assert space is not None
    assert (len(space.graph.targets), max(len(part.targets) for part in made)) == (9900, 198)


def live(machine: Machine) -> Machine:
    condition = machine.properties[0].condition
    return replace(machine, properties=(prop("live", "eventually", condition),))


def test_states_that_are_missing_are_noticed() -> None:
    machine = live(bounded_counter())
    layout, kernel, found = searched(machine)
    assert found.states is not None
    with pytest.raises(InternalError, match="leads out of"):
        build_space(machine, layout, kernel, found.states[:-1], found.generated, 1)  # type: ignore[arg-type]
    with pytest.raises(InternalError, match="leads out of"):
        reference_space(machine, explore_reference(machine, ON).states[:-1])  # type: ignore[index, arg-type]


def reason(machine: Machine, found: Exploration, limits: Limits = ON, **more: object) -> str:
    layout = pack(machine)
    native = layout, build(machine, layout)
    judged = judge_endless(machine, found, limits, native, 1, **more)  # type: ignore[arg-type]
    assert judged.findings == ()
    assert judged.interrupted == (judged.outcomes["live"].reason == INTERRUPTED)
    return judged.outcomes["live"].reason


def test_nothing_is_said_where_nothing_can_be() -> None:
    machine = live(bounded_counter())
    _, _, found = searched(machine)
    stop = Event()
    stop.set()
    assert reason(machine, found, interrupt=stop) == INTERRUPTED
    assert reason(machine, found, Limits(memory_bytes=1)) == NO_MEMORY
    assert reason(machine, replace(found, exhaustive=False)) == NOT_EXHAUSTIVE
    assert reason(machine, replace(found, states=None)) == NOT_KEPT


def test_memory_is_asked_for_before_it_is_taken() -> None:
    assert bytes_needed(5_000_000, 40_000_000) < 1_100_000_000
    assert bytes_needed(10, 100) < bytes_needed(10, 200) < bytes_needed(20, 200)


def test_steps_are_spread_over_their_promises_in_little_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    numbers = np.random.default_rng(1)
    edges, states = 1 << 18, 1 << 10
    promised = FairRows(
        {}, 3, (), np.array([0, 2, 2, 3]), numbers.integers(0, 9, 3).astype(np.int32)
    )
    offsets = np.sort(numbers.integers(0, edges, states))
    offsets = np.concatenate(([0], offsets, [edges, edges]))
    given = module._Edges(
        offsets,
        numbers.integers(0, states, edges).astype(np.int32),
        numbers.integers(-1, 3, edges).astype(np.int32),
        np.empty(0, np.uint16),
        np.zeros(states + 1, np.int64),
    )
    each, labels = promised.spread(given.labels)
    monkeypatch.setattr(module, "_SPREAD", 1 << 14)
    tracemalloc.start()
    try:
        made = module._spread(given, promised)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (made.labels == labels).all()
    assert (made.targets == given.targets[each]).all()
    assert (made.offsets == np.searchsorted(each, offsets)).all()
    assert peak < 12 * len(labels) + (1 << 21)
