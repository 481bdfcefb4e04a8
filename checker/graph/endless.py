"""Takes an Exploration, says what holds of endless runs: the door to judging liveness.

Only a search that was exhaustive can be judged, and whose steps fit the memory; otherwise the
reason is the answer. Where states stand for their orbits, it is judged on them (`quotient`).
"""

from __future__ import annotations

from checker.graph.reference import reference_space
from checker.kernel.kernel import Kernel
from checker.layout.layout import Layout
from checker.machine.machine import Machine
from checker.search.exploration import Exploration
from checker.search.explore import cores
from checker.search.limits import Limits
from checker.search.outcome import (
    INTERRUPTED,
    NO_MEMORY,
    NOT_EXHAUSTIVE,
    NOT_KEPT,
    Liveness,
    liveness_of,
    unknown,
)
from checker.search.progress import Interrupt
from checker.semantics.fairness import fair_rows
from checker.semantics.renamings import bytes_of_renamings
from checker.semantics.symmetry import reduces


def judge_endless(
    machine: Machine,
    exploration: Exploration,
    limits: Limits,
    native: tuple[Layout, Kernel] | None = None,
    workers: int | None = None,
    interrupt: Interrupt | None = None,
) -> Liveness:
    """Judge the liveness properties of `machine` on what `exploration` found.

    `native` are the layout and kernel of packed states; without them the states are values, and
    the reference interpreter is used. The graph of all steps must fit `limits.memory_bytes` beside
    the states. What an engine has judged already, where its states are, is taken as it is.
    """
    if not liveness_of(machine):
        return Liveness({})
    if not exploration.exhaustive:
        return unknown(machine, NOT_EXHAUSTIVE)
    if exploration.endless is not None:
        return exploration.endless
    if exploration.states is None:
        return unknown(machine, NOT_KEPT)
    # Most runs have nothing to judge.
    from checker.graph.judge import judge_liveness  # noqa: PLC0415

    if isinstance(exploration.states, tuple):
        try:
            return judge_liveness(machine, reference_space(machine, exploration.states))
        except KeyboardInterrupt:
            return unknown(machine, INTERRUPTED)
    from checker.graph.build import build_space, fits, judges  # noqa: PLC0415

    assert native is not None
    steps = exploration.generated * fair_rows(machine).width
    orbits = reduces(machine)
    beside = bytes_of_renamings(machine) if orbits else 0
    if not fits(exploration.states, steps, limits.memory_bytes, orbits=orbits, beside=beside):
        return unknown(machine, NO_MEMORY)
    layout, kernel = native
    threads = workers or cores()
    space = build_space(
        machine,
        layout,
        kernel.best,
        exploration.states,
        exploration.generated,
        threads,
        interrupt,
        exploration.steps,
    )
    if space is None:
        return unknown(machine, INTERRUPTED)
    promises = len(space.graph.strong)
    most = judges(exploration.states, promises, limits.memory_bytes, threads)
    return judge_liveness(machine, space, most)
