"""Goal: a hunt is the same for the same seed and number, comes upon what walks do not, stops at
whatever is wrong, and never says more than it did.
"""

import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from flagged_graphs import Edge, Graph, kernel_of
from machines import seeded_machine

import checker.search.hunt as hunt_module
from checker import flow
from checker.kernel import Kernel, build
from checker.layout import pack
from checker.layout.layout import Layout
from checker.llvm.meta import CHECK_ERROR, CUT, DROPPED, ERROR, ILLEGAL, STEP
from checker.machine.machine import Machine
from checker.search.guides import aims, guided
from checker.search.hunt import Hunt, hunt
from checker.search.limits import Limits
from checker.search.reference import explore_reference
from checker.search.simulate import simulate
from checker.trace.rebuild import rebuild
from checker.trace.shorten import shorten

LOCK = """
system: lock
about: Digits are dialled; a wrong one begins anew, and the right ones of all open.
constants:
  digits: 12
variables:
  right: {type: "0..digits", initial: "0"}
  dialled: {type: "0..7", initial: "0"}
rows:
  - row: dial
    for: {d: "0..7"}
    do: |
      dialled = d
      if d == right % 8:
          right = min(right + 1, digits)
      else:
          right = 0
properties:
  stays_closed: {always: "right < digits", why: it is a lock.}
"""
"""One way in 8**12 opens it, and a walk that goes wrong begins anew."""


@pytest.fixture(scope="module")
def lock(tmp_path_factory: pytest.TempPathFactory) -> tuple[Machine, Layout, Kernel]:
    path = tmp_path_factory.mktemp("lock") / "lock.yaml"
    path.write_text(LOCK)
    _, machine = flow.prepare(flow.Request(str(path)), flow.Silent())
    asked = guided(machine)
    layout = pack(asked)
    return asked, layout, build(asked, layout)


def test_a_hunt_opens_what_walks_do_not(lock: tuple[Machine, Layout, Kernel]) -> None:
    machine, layout, kernel = lock
    walked = simulate(machine, layout, kernel, 2000, 500, seed=0)
    assert (walked.steps, walked.finding) == (1_000_000, None)
    hunts = [hunt(machine, layout, kernel, number, 0, 300_000, 1000) for number in range(6)]
    found = [one for one in hunts if one.finding is not None]
    assert len(found) >= 3
    for one in found:
        assert one.finding is not None
        assert one.finding.property == "stays_closed"
        assert rebuild(machine, one.finding).length == one.finding.depth >= 12


def test_seed_and_number_decide_everything(lock: tuple[Machine, Layout, Kernel]) -> None:
    def made(number: int, seed: int) -> Hunt:
        return hunt(*lock, number, seed, 20_000, 1000)

    assert made(3, 1) == made(3, 1)
    assert made(3, 1) != made(4, 1)
    assert made(3, 1).rows != made(3, 2).rows or made(3, 1).cells != made(3, 2).cells


def test_ways_are_no_longer_than_asked_for(lock: tuple[Machine, Layout, Kernel]) -> None:
    found = hunt(*lock, 0, 0, 100_000, 9)
    assert found.finding is None
    assert found.deepest <= 9
    assert found.complete


# ----------------------------------------------------------------- graphs with every kind of flag


LAYOUT: Any = SimpleNamespace(
    leaves=[SimpleNamespace(variable="node", word=0, shift=0, width=30)], words=1
)


@pytest.fixture
def packed_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let findings show packed states: these kernels have no layout."""
    monkeypatch.setattr(
        hunt_module,
        "decode_all",
        lambda _layout, states: [tuple(state) for state in states.tolist()],
    )


def machine_of(*, deadlock: bool = True) -> Any:
    kinds = {"bad": "always", "seen": "sometimes", "rises": "step"}
    return SimpleNamespace(
        properties=[
            SimpleNamespace(name=name, kind=kind, asks=False) for name, kind in kinds.items()
        ],
        deadlock=deadlock,
        variables=[SimpleNamespace(name="node", origin="machine")],
        actions=[SimpleNamespace(fault=None), SimpleNamespace(fault="crash")],
    )


def hunt_graph(graph: Graph, *, deadlock: bool = True, **options: Any) -> Hunt:
    kernel = kernel_of(graph, ("a", "b"), ("bad", "seen"), ("rises",))
    settings = {"number": 0, "seed": 1, "steps": 2000, "depth": 20, **options}
    return hunt(machine_of(deadlock=deadlock), LAYOUT, kernel, **settings)


RING = {0: [Edge(0, 1)], 1: [Edge(0, 2)], 2: [Edge(0, 0), Edge(1, 3)], 3: [Edge(0, 3)]}


@pytest.mark.usefixtures("packed_states")
@pytest.mark.parametrize(
    ("flags", "kind", "name", "length"),
    [
        (ILLEGAL, "legal", "legal", 4),
        (1 << STEP, "step", "rises", 4),
        (ERROR, "error", "error", 3),
    ],
)
def test_what_is_wrong_with_a_step(flags: int, kind: str, name: str, length: int) -> None:
    graph = Graph([(0, 0)], RING | {3: [Edge(0, 3), Edge(1, 4, flags)], 4: [Edge(0, 0)]})
    finding = hunt_graph(graph).finding
    assert finding is not None
    assert (finding.kind, finding.property, finding.depth) == (kind, name, length)
    assert finding.action == ("b" if kind == "error" else None)
    assert len(set(finding.path)) == len(finding.path) == length + 1


@pytest.mark.usefixtures("packed_states")
@pytest.mark.parametrize(("flags", "kind"), [(1, "always"), (CHECK_ERROR, "error")])
def test_what_is_wrong_with_a_state(flags: int, kind: str) -> None:
    finding = hunt_graph(Graph([(0, 0)], RING, checks={3: flags})).finding
    assert finding is not None
    assert (finding.kind, finding.depth) == (kind, 3)
    first = hunt_graph(Graph([(0, 0)], RING, checks={0: flags})).finding
    assert first is not None
    assert (first.kind, first.depth) == (kind, 0)


@pytest.mark.usefixtures("packed_states")
def test_deadlocks_count_where_they_are_wrong() -> None:
    graph = Graph([(0, 0)], RING | {3: []}, dead=frozenset({3}))
    finding = hunt_graph(graph).finding
    assert finding is not None
    assert (finding.kind, finding.depth) == ("deadlock", 3)
    assert hunt_graph(graph, deadlock=False).finding is None


@pytest.mark.usefixtures("packed_states")
@pytest.mark.parametrize("flag", [CUT, DROPPED])
def test_nothing_begins_beyond_a_cut(flag: int) -> None:
    cut = Graph([(0, 0)], {0: [Edge(0, 0), Edge(1, 1, flag)], 1: [Edge(0, 2)]}, checks={2: 1})
    assert hunt_graph(cut).finding is None
    assert hunt_graph(Graph([(0, CUT)], {0: [Edge(0, 1)]}, checks={1: 1})).finding is None


@pytest.mark.usefixtures("packed_states")
def test_witnesses_are_named_and_no_state_at_all_ends_it() -> None:
    assert hunt_graph(Graph([(0, 0)], RING, checks={2: 2})).witnessed == ("seen",)
    nothing = hunt_graph(Graph([], {}))
    assert (nothing.steps, nothing.kept, nothing.finding, nothing.complete) == (0, 0, None, True)


@pytest.mark.usefixtures("packed_states")
def test_steps_are_those_that_were_made() -> None:
    still = hunt_graph(Graph([(0, 0)], {}), deadlock=False)
    assert (still.steps, still.complete) == (0, True)
    ring = hunt_graph(Graph([(0, 0)], RING))
    assert 0 < ring.steps == sum(count for _, count in ring.rows) <= 2000


def test_time_and_the_user_can_end_it(lock: tuple[Machine, Layout, Kernel]) -> None:
    machine, layout, kernel = lock
    event = threading.Event()
    event.set()
    found = hunt(machine, layout, kernel, 0, 0, 10**12, 9, event)
    assert not found.complete
    began = time.perf_counter()
    assert not hunt(machine, layout, kernel, 0, 0, 10**12, 9, until=began + 0.2).complete
    assert time.perf_counter() - began < 60  # 10^12 steps would take days


def test_shipped_bugs_are_found(tmp_path: Path) -> None:
    del tmp_path
    request = flow.Request(
        "controller_failover", "an_old_cache", properties=("no_acknowledged_record_is_lost",)
    )
    _, machine = flow.prepare(request, flow.Silent())
    asked = guided(machine)
    layout = pack(asked)
    kernel = build(asked, layout)
    found = [hunt(asked, layout, kernel, number, 0, 300_000, 200).finding for number in range(4)]
    assert any(found)


def test_what_hunts_find_in_random_machines_is_there() -> None:
    """Whatever a hunt finds a search finds as well, and nearly all that a search finds a hunt."""
    broken = found = 0
    for seed in range(60):
        machine = seeded_machine(seed)
        searched = explore_reference(machine, Limits(states=700, keep_going=True))
        wrong = {(item.property, item.kind) for item in searched.findings}
        reached = aims(machine)
        wrong = {pair for pair in wrong if pair[1] != "sometimes" or pair[0] in reached}
        asked = guided(machine)
        layout = pack(asked)
        finding = hunt(
            asked, layout, build(asked, layout, prompt=True), 0, seed, 5_000, 200
        ).finding
        if finding is not None:
            assert rebuild(machine, finding).length >= finding.depth
            assert not searched.exhaustive or (finding.property, finding.kind) in wrong
            short = shorten(machine, finding)
            assert short.depth <= finding.depth
            rebuild(machine, short)
        if wrong:
            broken += 1
            found += finding is not None
    assert broken >= 20
    assert found >= 0.9 * broken
