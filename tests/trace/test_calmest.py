"""Goal: of all shortest runs, listed one by one, the calmest is told, and none twice."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from checker import flow
from checker.cli.options import EngineChoice
from checker.errors import UsageError
from checker.machine.machine import Machine
from checker.report.files import rendered
from checker.report.headline import CALM
from checker.semantics.successor import State, Successor
from checker.semantics.successors import initial_states, successors
from checker.trace.calmest import calmest, near
from checker.trace.calmness import calmness
from checker.trace.claim import contradiction
from checker.trace.trace import Trace

SPEC = """\
system: relay
about: Two runners carry a baton; somebody may push it.
variables:
  one: {type: "0..3", initial: "0"}
  two: {type: "0..3", initial: "0"}
  turned: {type: bool, initial: "false"}
faults:
  push: {budget: "2"}
rows:
  - {row: pushed_one, when: one < 3, do: one += 1, fault: push, actor: wind}
  - {row: first_runs, when: one < 3, do: one += 1, actor: first}
  - {row: second_runs, when: two < 3, do: two += 1, actor: second}
  - {row: second_turns, when: not turned and two == 1, do: turned = true, actor: second}
terminal:
  - one == 3 and two == 3
properties:
  PROPERTY
"""
PROPERTIES = {
    "always": "far: {always: one + two < 4, why: it is far.}",
    "turned": "straight: {always: 'not (turned and one == 2)', why: nobody turns.}",
    "step": "slow: {step: 'not (one == 2 and two == 2 and next(one) == 3)', why: it is slow.}",
}


def checked(folder: Path, which: str) -> Trace:
    file = folder / "relay.yaml"
    file.write_text(SPEC.replace("PROPERTY", PROPERTIES[which]))
    return shortest(str(file), "default")


def shortest(spec: str, instance: str) -> Trace:
    request = flow.Request(spec, instance, engine="reference")
    return flow.check(request, flow.Silent()).failures[0]


def runs(
    machine: Machine, length: int
) -> Iterator[tuple[tuple[State, ...], tuple[Successor, ...]]]:
    """Yield every run of so many steps, by the reference semantics."""
    waiting: list[tuple[tuple[State, ...], tuple[Successor, ...]]] = [
        ((item.state,), ())
        for item in initial_states(machine)
        if item.state is not None and item.cut is None
    ]
    while waiting:
        states, taken = waiting.pop()
        if len(taken) == length:
            yield states, taken
            continue
        waiting += [
            ((*states, item.state), (*taken, item))
            for item in successors(machine, states[-1])
            if item.state is not None and item.cut is None
        ]


def cost(machine: Machine, rows: list[str]) -> tuple[int, int]:
    actions = {action.name: action for action in machine.actions}
    actors = [actions[row].actor or row for row in rows]
    faults = sum(actions[row].fault is not None for row in rows)
    return faults, sum(one != other for one, other in pairwise(actors))


def best(trace: Trace) -> tuple[tuple[int, int], set[tuple[str, ...]]]:
    machine = trace.machine
    costs, kinds = [], set()
    for states, taken in runs(machine, trace.length):
        if contradiction(machine, trace.property_name, trace.kind, states) is None:
            rows = [item.action for item in taken]
            costs.append(cost(machine, rows))
            kinds.add(tuple(sorted(rows)))
    return min(costs), kinds


def rows_of(trace: Trace) -> list[str]:
    return [step.row for step in trace.steps[1:]]


@pytest.mark.parametrize("which", PROPERTIES)
def test_it_is_the_calmest_of_all_shortest_runs_and_the_others_are_unlike_it(
    tmp_path: Path, which: str
) -> None:
    trace = checked(tmp_path, which)
    least, kinds = best(trace)
    found = calmest(trace, 100)
    assert cost(trace.machine, rows_of(found[0])) == least
    costs = [cost(trace.machine, rows_of(item)) for item in found]
    assert costs == sorted(costs)
    told = [tuple(sorted(rows_of(item))) for item in found]
    assert len(told) == len(set(told))
    assert set(told) == kinds
    for item in found:
        assert item.length == trace.length
        assert item.property_name == trace.property_name
        assert contradiction(trace.machine, item.property_name, item.kind, item.states) is None


def test_a_shipped_counterexample_with_symmetry() -> None:
    trace = shortest("classic_group", "kafka_7824")
    least, kinds = best(trace)
    found = calmest(trace, 3)
    assert cost(trace.machine, rows_of(found[0])) == least
    assert {tuple(sorted(rows_of(item))) for item in found} <= kinds
    assert len(found) == min(3, len(kinds))


def test_nothing_is_said_where_the_graph_is_too_large_or_nothing_is_asked(tmp_path: Path) -> None:
    trace = checked(tmp_path, "always")
    assert calmest(trace, 1, states_max=3) == ()
    assert calmest(trace, 0) == ()


def test_check_shows_them(tmp_path: Path) -> None:
    checked(tmp_path, "always")
    request = flow.Request(
        str(tmp_path / "relay.yaml"), others=2, report=tmp_path / "report", workers=1
    )
    result = flow.check(request, flow.Silent())
    assert len(result.others) == 2
    assert result.others[0].property_name == "far"
    text = (tmp_path / "report" / "index.html").read_text()
    assert text.count("Another shortest run: far (violated, 4 steps)") == 2
    assert (tmp_path / "report" / "far.other-2.itf.json").is_file()


def test_a_report_has_the_calmest_unasked_or_says_that_none_is_calmer(tmp_path: Path) -> None:
    checked(tmp_path, "always")
    path = tmp_path / "relay.yaml"
    request = flow.Request(str(path), report=tmp_path / "report", workers=1)
    result = flow.check(request, flow.Silent())
    (trace,), (other,) = result.traces, result.others
    assert calmness(other) < calmness(trace)
    assert result.calm == ()
    assert [other.states] == [run.states for run in calmest(trace, 1)]
    page, markdown = (
        (tmp_path / "report" / name).read_text() for name in ("index.html", "README.md")
    )
    for text in (page, markdown):
        assert text.count("Another shortest run: far (violated, 4 steps)") == 1
        assert CALM not in text
    assert flow.check(replace(request, report=None), flow.Silent()).others == ()
    again = replace(result, others=(), calm=("far",))
    assert CALM in rendered(again, committed=False)["index.html"]
    assert CALM in rendered(again, committed=False)["README.md"]
    assert near(other) == (other,), "none is calmer than the calmest"


def test_only_the_local_engine_has_the_graph() -> None:
    choice = EngineChoice("reference", None, None, None, None, None, (), others=1)
    with pytest.raises(UsageError, match="--traces"):
        choice.refuse()


LAMPS = """\
system: lamps
about: Two lamps that people switch; a storm may do it for them, and somebody may repair both.
variables:
  one: {type: "0..2", initial: "0"}
  two: {type: "0..2", initial: "0"}
  ready: {type: bool, initial: "false"}
faults:
  storm: {budget: "1"}
rows:
  - {row: storm_switches, when: one < 2, do: one += 1, fault: storm, actor: storm}
  - {row: first_switches, when: one < 2, do: one += 1, actor: first}
  - {row: second_switches, do: two = (two + 1) % 3, actor: second, fair: weak}
  - {row: first_resets, when: one == 2, do: one = 1, actor: first, fair: FAIR}
  - {row: gets_ready, when: not ready and two == 1, do: ready = true, actor: third}
  - {row: is_used, when: ready and one == 2 and two == 0, do: ready = false, actor: second}
properties:
  PROPERTY
"""
ENDLESS = {
    "eventually": "dark: {eventually: one == 2 and two == 2, why: it is dark.}",
    "leads_to": "used: {leads_to: {from: ready, to: not ready}, why: it is used.}",
    "always_eventually": "bright: {always_eventually: one == 0, why: it is bright.}",
    "eventually_always": "calm: {eventually_always: two == 0, why: it is calm.}",
    "ltl": "told: {ltl: 'always(implies(ready, eventually(one == 0)))', why: it is told.}",
}


@pytest.mark.parametrize(
    ("which", "fair"),
    list(zip(ENDLESS, ("weak", "strong", "strong", "weak", "weak"), strict=True)),
)
def test_a_lasso_is_the_calmest_of_all_as_long_with_a_loop_as_long(
    tmp_path: Path, which: str, fair: str
) -> None:
    file = tmp_path / "lamps.yaml"
    file.write_text(LAMPS.replace("PROPERTY", ENDLESS[which]).replace("FAIR", fair))
    trace = shortest(str(file), "default")
    assert trace.loop is not None
    costs, kinds = [], set()
    for states, taken in runs(trace.machine, trace.length):
        moving = all(before != after for before, after in pairwise(states))
        if not moving or states[-1] != states[trace.loop.start]:
            continue
        said = contradiction(
            trace.machine, trace.property_name, trace.kind, states, trace.loop.start
        )
        if said is None:
            rows = [item.action for item in taken]
            costs.append(cost(trace.machine, rows))
            kinds.add(tuple(sorted(rows)))
    found = calmest(trace, 100)
    told = [tuple(sorted(rows_of(item))) for item in found]
    assert set(told) == kinds
    assert len(told) == len(kinds)
    spent = [cost(trace.machine, rows_of(item)) for item in found]
    assert spent == sorted(spent)
    assert spent[0] == min(costs)


class Impatient(flow.Silent):
    """Interrupts once the verdict is known, when it was asked so often whether to stop."""

    def __init__(self, patience: int) -> None:
        self.patience = patience
        self.known = False
        self.asked = 0

    def stage(self, name: str) -> None:
        self.known = name == "write"

    def interrupt(self) -> bool:
        self.asked += self.known
        return self.asked > self.patience


@pytest.mark.parametrize("patience", [0, 1, 3])
def test_who_interrupts_gets_the_verdict_without_other_runs(tmp_path: Path, patience: int) -> None:
    checked(tmp_path, "always")
    request = flow.Request(str(tmp_path / "relay.yaml"), others=5, workers=1)
    impatient = Impatient(patience)
    found = flow.check(request, impatient, impatient.interrupt)
    assert impatient.asked == patience + 1
    assert (found.verdict.overall, found.others) == ("violated", ())
    assert [trace.property_name for trace in found.failures] == ["far"]
    assert flow.check(request, flow.Silent()).others


UNLIKE = """\
system: unlike
about: Two rows lead from one state to another, of which one is a fault, and one breaks something.
variables:
  x: {type: "0..3", initial: "0"}
faults:
  push: {budget: unlimited}
BOUNDS
rows:
  - {row: moves, when: x < 2, do: x += 1}
  - {row: pushed, when: x < 2, do: x += 1, fault: push}
  - {row: rests, when: x == 1, do: x = 0}
deadlock: false
properties:
  PROPERTY
"""


@pytest.mark.parametrize(
    ("claim", "bounds", "rows", "calm"),
    [
        ('step: "not ran(pushed)"', "", ["pushed"], True),
        ('always: "x < 2"', "", ["moves", "moves"], True),
        ('step: "not (x == 1 and next(x) == 0)"', "", ["moves", "rests"], True),
        ('step: "not (x == 1 and next(x) != x)"', "bounds: [x < 2]", ["moves", "moves"], False),
    ],
)
def test_a_run_is_called_calm_by_rows_that_break_it_and_only_where_all_were_looked_at(
    tmp_path: Path, claim: str, bounds: str, rows: list[str], calm: bool
) -> None:
    text = UNLIKE.replace("PROPERTY", f"it: {{{claim}, why: it is a test.}}")
    (tmp_path / "unlike.yaml").write_text(text.replace("BOUNDS", bounds))
    request = flow.Request(str(tmp_path / "unlike.yaml"), workers=1, report=tmp_path / "out")
    result = flow.check(request, flow.Silent())
    assert rows_of(result.traces[0]) == rows
    assert result.calm == (("it",) if calm else ())
    for run in calmest(result.traces[0], 5):
        assert rows_of(run)[-1] == rows[-1] or "ran" not in claim
