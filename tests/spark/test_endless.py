"""Goal: where the graph does not fit the driver, trimmed on Spark, the answers are the local ones.

To the lasso, and with the reasons where nothing can be said. The driver is given no room for the
whole, and trimming goes on until nothing changes.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pairs import locally, on_spark
from random_machines import lively_machine

from checker.flow import machine_of
from checker.graph.endless import judge_endless
from checker.kernel.build import build
from checker.kernel.kernel import Words
from checker.layout.layout import pack
from checker.machine.machine import Machine
from checker.search.limits import Limits
from checker.search.options import Options
from checker.search.outcome import INTERRUPTED, REST, Liveness, Outcome
from checker.spark import endless
from checker.spark.explore import explore_spark
from checker.spark.rest import Least, Rest
from checker.spark.room import Room
from checker.spark.search import Search
from checker.spark.session import Cluster
from checker.trace.rebuild import rebuild

pytestmark = pytest.mark.usefixtures("session")

LIMITS = Limits(keep_going=True)
NO_ROOM = Room(whole=1, enough=0)


def trimmed(machine: Machine, room: Room = NO_ROOM) -> Liveness:
    found = on_spark(machine, LIMITS, room=room)
    assert found.states is None
    assert found.endless is not None
    assert judge_endless(machine, found, LIMITS) is found.endless
    return found.endless


def by_local_engine(machine: Machine) -> Liveness:
    layout = pack(machine)
    native = (layout, build(machine, layout))
    return judge_endless(machine, locally(machine, LIMITS), LIMITS, native)


def assert_alike(machine: Machine) -> None:
    wanted = by_local_engine(machine)
    assert trimmed(machine) == wanted
    for finding in wanted.findings:
        trace = rebuild(machine, finding)
        assert (trace.loop is None) == (finding.kind == "error")


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 5, 16])
def test_random_machines(seed: int) -> None:
    assert_alike(lively_machine(seed, states=100, errors=seed % 4 == 0))


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["peterson", "termination_detection"])
def test_shipped_specifications(spec: str) -> None:
    assert_alike(replace(machine_of(spec, "default", {}), symmetry=False))


# ------------------------------------------------------------------------------ what is left

EXIT = """
system: way_out
about: Between 0 and 1 for ever, or out.
deadlock: false
variables:
  n: {type: 0..3, initial: "0"}
rows:
  - {row: a, when: n == 0, do: n = 1, fair: weak}
  - {row: b, when: n == 1, do: n = 0, fair: weak}
  - {row: out, when: WHEN, do: n = 3, fair: FAIR}
properties:
  live: {eventually: n == 3, why: it must get out}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("when", "fair", "left", "verdict"),
    [
        pytest.param("n < 3", "weak", 0, "holds", id="nothing is left"),
        pytest.param("n == 0", "weak", 2, "violated", id="the rest violates"),
        pytest.param("n == 0", "strong", 2, "holds", id="the rest is acquitted"),
    ],
)
def test_what_trimming_leaves_is_judged(
    when: str,
    fair: str,
    left: int,
    verdict: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "way_out.yaml"
    path.write_text(EXIT.replace("WHEN", when).replace("FAIR", fair))
    machine = machine_of(str(path), "default", {})
    rests: list[int] = []
    collect = endless.collect

    def spy(*given: object) -> Rest:
        rest = collect(*given)  # type: ignore[arg-type]
        rests.append(len(rest.states))
        return rest

    monkeypatch.setattr(endless, "collect", spy)
    judged = trimmed(machine)
    assert rests == [left]
    assert judged.outcomes == {"live": Outcome(verdict)}  # type: ignore[arg-type]
    assert judged == by_local_engine(machine)
    if fair == "strong":
        narrow = trimmed(machine, replace(NO_ROOM, rest=1))
        assert narrow == Liveness({"live": Outcome("unknown", REST)})


def test_little_is_not_trimmed_and_judged_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "way_out.yaml"
    path.write_text(EXIT.replace("WHEN", "n < 3").replace("FAIR", "weak"))
    machine = machine_of(str(path), "default", {})
    rests: list[int] = []
    judge = endless.judge_rest

    def spy(rest: Rest, least: Least) -> tuple[Words, int] | None:
        rests.append(len(rest.states))
        return judge(rest, least)

    monkeypatch.setattr(endless, "judge_rest", spy)
    assert trimmed(machine, Room(whole=1)) == Liveness({"live": Outcome("holds")})
    assert rests == [2]


def test_fetching_the_states_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = machine_of("peterson", "default", {})
    begun: list[object] = []
    read = Search._states_of

    def spy(search: Search, level: int) -> Words:
        begun.append(level)
        return read(search, level)

    monkeypatch.setattr(Search, "_states_of", spy)
    layout = pack(machine)
    kernel = build(machine, layout)
    found = explore_spark(
        machine, layout, kernel, Limits(), Cluster(), interrupt=lambda: bool(begun)
    )
    assert found.exhaustive
    assert set(judge_endless(machine, found, LIMITS).outcomes.values()) == {
        Outcome("unknown", INTERRUPTED)
    }


def test_judging_is_interrupted(tmp_path: Path) -> None:
    path = tmp_path / "way_out.yaml"
    path.write_text(EXIT.replace("WHEN", "n < 3").replace("FAIR", "weak"))
    machine = machine_of(str(path), "default", {})
    begun: list[str] = []
    layout = pack(machine)
    found = explore_spark(
        machine,
        layout,
        build(machine, layout),
        Limits(),
        Cluster(),
        interrupt=lambda: bool(begun),
        options=Options(notice=begun.append),
        room=NO_ROOM,
    )
    assert "does not fit the driver" in begun[0]
    assert found.exhaustive
    assert found.endless == Liveness({"live": Outcome("unknown", INTERRUPTED)})
