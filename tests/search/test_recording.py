"""Goal: the steps that a search records are those that its states have, whatever the threads did;
and a search that cannot record them all finds the same, and is judged the same.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from machines import widened
from random_machines import grouped_machine, lively_machine

from checker.elaborate import elaborate
from checker.errors import InternalError
from checker.graph.build import build_space
from checker.graph.endless import judge_endless
from checker.graph.space import Space
from checker.kernel.build import build
from checker.kernel.kernel import Kernel
from checker.layout import pack
from checker.layout.layout import Layout
from checker.machine.machine import Machine
from checker.search import crew as crew_module
from checker.search.exploration import Exploration
from checker.search.explore import explore
from checker.search.limits import Limits
from checker.search.options import Options
from checker.search.recording import FILLED, Recording
from checker.search.worker import NO_STEPS, TOO_NARROW
from checker.table import read

TURNS = Path(__file__).parents[2] / "bench" / "models" / "turns.yaml"
ON = Limits(keep_going=True)


@pytest.fixture(scope="module")
def turns() -> tuple[Machine, Layout, Kernel]:
    """59,049 states in 41 levels, 295,245 steps; of steps that commute a search can leave out."""
    machine = widened(elaborate(read(TURNS), None, {"Worker": 5, "last": 8}))
    layout = pack(machine)
    kernel = build(machine, layout)
    assert kernel.words > 1
    assert kernel.explore_address
    return machine, layout, kernel


def same_space(machine: Machine, layout: Layout, kernel: Kernel, found: Exploration) -> Space:
    """Require that what was recorded is what expanding the states again gives."""
    assert isinstance(found.states, np.ndarray)
    given = (machine, layout, kernel, found.states, found.generated, 2)
    built, recorded = build_space(*given), build_space(*given, None, found.steps)
    assert built is not None
    assert recorded is not None
    for name in ("offsets", "targets", "labels", "initial", "cut", "strong"):
        assert getattr(built.graph, name).tolist() == getattr(recorded.graph, name).tolist(), name
    assert built.flags.tolist() == recorded.flags.tolist()
    assert built.outside.tolist() == recorded.outside.tolist()
    assert built.outside_initially == recorded.outside_initially
    return recorded


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_large(workers: int, turns: tuple[Machine, Layout, Kernel]) -> None:
    machine, layout, kernel = turns
    found = explore(machine, layout, kernel, ON, workers)
    space = same_space(machine, layout, kernel, found)
    assert len(space.graph.targets) == 5 * 9**5


@pytest.mark.parametrize("seed", range(30))
def test_random_machines(seed: int) -> None:
    made = (lively_machine, grouped_machine)[seed % 2](seed, states=400)
    machine = widened(made)
    layout = pack(machine)
    kernel = build(machine, layout)
    found = explore(machine, layout, kernel, ON, 1 + seed % 3)
    assert (found.steps is not None) == (found.exhaustive and bool(kernel.observed))
    if found.steps is not None:
        same_space(machine, layout, kernel, found)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("after", [0, 1, 3])
def test_where_there_is_no_room_the_steps_are_made_again(
    after: int, workers: int, turns: tuple[Machine, Layout, Kernel], monkeypatch: pytest.MonkeyPatch
) -> None:
    machine, layout, kernel = turns
    grow, asked, looked_up = Recording.grow, [0], [0]

    def refusing(self: Recording, states: int, used: int) -> bool:
        asked[0] += 1
        return asked[0] <= after and grow(self, states, used)

    class Told(crew_module.Crew):
        def __exit__(self, *given: object) -> None:
            looked_up[0] = self.total(crew_module.places.LOOKED_UP)
            super().__exit__(*given)  # type: ignore[arg-type]

    monkeypatch.setattr("checker.search.local.Crew", Told)
    wanted = explore(machine, layout, kernel, ON, workers)
    assert looked_up[0] == wanted.generated - 1
    monkeypatch.setattr(Recording, "grow", refusing)
    found = explore(machine, layout, kernel, ON, workers)
    assert found.steps is None
    # From there on of steps that commute one order is enough.
    assert looked_up[0] < wanted.generated - 1
    assert (found.levels, found.generated, found.rows) == (
        wanted.levels,
        wanted.generated,
        wanted.rows,
    )
    native = layout, kernel
    judged = [judge_endless(machine, it, ON, native, workers) for it in (wanted, found)]
    assert judged[0] == judged[1]


def test_little_memory_ends_it(turns: tuple[Machine, Layout, Kernel]) -> None:
    machine, layout, kernel = turns
    whole = explore(machine, layout, kernel, ON, 1)
    little = explore(machine, layout, kernel, Limits(keep_going=True, memory_bytes=8 << 20), 1)
    assert whole.steps is not None
    assert little.steps is None
    assert little.levels == whole.levels


@pytest.mark.parametrize("workers", [1, 2])
def test_halves_and_limits_of_states_do_without(
    workers: int, turns: tuple[Machine, Layout, Kernel], monkeypatch: pytest.MonkeyPatch
) -> None:
    machine, layout, kernel = turns
    monkeypatch.setattr("checker.search.compact.MANY", 1000)
    found = explore(machine, layout, kernel, ON, workers, options=Options(compact="on"))
    assert found.exhaustive
    assert found.steps is None
    assert found.distinct == 9**5
    limited = explore(machine, layout, kernel, Limits(states=2000), workers)
    assert limited.distinct == 2000
    assert limited.steps is None


def test_exactly_as_many_states_as_are_allowed(turns: tuple[Machine, Layout, Kernel]) -> None:
    """What threads claimed and did not fill is closed in the midst of a level."""
    machine, layout, kernel = turns
    found = explore(machine, layout, kernel, Limits(states=9**5, keep_going=True), 3)
    assert found.exhaustive
    same_space(machine, layout, kernel, found)


def test_what_is_not_recorded_yet_stays_while_others_get_wider_buffers(
    turns: tuple[Machine, Layout, Kernel], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Narrow(crew_module.Crew):
        """Threads that have no room for steps while another one's state is too wide."""

        def run(self, *given: Any) -> set[int]:
            results = super().run(*given)
            return results | {TOO_NARROW} if NO_STEPS in results else results

    machine, layout, kernel = turns
    monkeypatch.setattr("checker.search.local.Crew", Narrow)
    same_space(machine, layout, kernel, explore(machine, layout, kernel, ON, 1))


def test_what_is_taken_is_gone(turns: tuple[Machine, Layout, Kernel]) -> None:
    recording = Recording(turns[2], 1 << 30)
    assert len(recording.taken(0).targets) == 0
    with pytest.raises(InternalError, match="taken twice"):
        recording.taken(0)


def test_states_that_move_take_their_steps_along(turns: tuple[Machine, Layout, Kernel]) -> None:
    recording = Recording(turns[2], 1 << 30)
    targets = recording._targets.view(np.int32)
    targets[:6] = [7, 9, 3, 8, 2**31 - 1, 6]
    recording.plan[FILLED] = 1
    recording.begin_level([])
    recording.plan[FILLED] = 6
    recording.renumber(np.array([7, 8, 9]), np.array([1, 4, 5]), [])
    assert targets[:6].tolist() == [7, 5, 3, 4, 2**31 - 1, 6]
