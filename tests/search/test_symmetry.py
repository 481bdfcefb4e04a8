"""Goal: under symmetry a search keeps one state of each orbit and says the same as without.

On random machines that treat ids alike: both engines find just the orbits of the reachable states,
break the same properties after as many steps, and show real runs.
"""

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from machines import reachable
from random_teams import random_team_alike
from symmetric_machines import symmetric_machine

from checker.elaborate import elaborate
from checker.errors import SpecificationError
from checker.flow import reduced as with_symmetry
from checker.kernel import build
from checker.layout import pack
from checker.machine.machine import Machine
from checker.search.exploration import Exploration
from checker.search.explore import explore
from checker.search.limits import Limits
from checker.search.reference import explore_reference
from checker.semantics.successor import State
from checker.semantics.successors import initial_states, successors
from checker.semantics.symmetry import representative
from checker.semantics.values import MapValue, map_value
from checker.table import read

SEEDS = (*range(29), 67)
"""A machine of each; 67 has a deadlock, which is rare where ids are alike."""
LIMITS = Limits(keep_going=True)


def local(machine: Machine, workers: int, *, prompt: bool = False) -> Exploration:
    layout = pack(machine)
    kernel = build(machine, layout, use_cache=False, prompt=prompt, brief=prompt)
    return explore(machine, layout, kernel, LIMITS, workers)


def outcome(found: Exploration) -> set[tuple[str, str, int]]:
    return {(item.property, item.kind, item.depth) for item in found.findings}


def counts(found: Exploration) -> tuple[object, ...]:
    rows = [(row.enabled, row.fired) for row in found.rows]
    return found.levels, found.generated, found.cuts, found.deadlocks, rows


def check_run(machine: Machine, path: tuple[State, ...]) -> None:
    """The path must be one that the interpreter takes, step by step."""
    assert path[0] in [step.state for step in initial_states(machine)]
    for before, after in pairwise(path):
        assert after in [step.state for step in successors(machine, before)]


LARGE = {0, 5, 30, 33}
"""Teams of so many states that each of them takes the slow engines half a minute."""


@pytest.mark.parametrize("seed", SEEDS)
def test_a_search_keeps_one_state_of_each_orbit(seed: int) -> None:
    check_reduction(symmetric_machine(seed), 1 + seed % 2)


@pytest.mark.parametrize("seed", [seed for seed in range(60) if seed not in LARGE])
def test_so_it_does_where_steps_commute(seed: int) -> None:
    check_reduction(random_team_alike(seed), 1 + seed % 2)


def check_reduction(machine: Machine, workers: int) -> None:
    """Hold the search to the orbits of all states and to the reference engine."""
    states = reachable(machine)
    orbits = {representative(machine, state) for state in states}
    whole = local(replace(machine, symmetry=False), 1)
    reference = explore_reference(machine, LIMITS)
    reduced = local(machine, workers)
    assert whole.distinct == len(states)
    assert reference.distinct == reduced.distinct == len(orbits)
    assert outcome(whole) == outcome(reference) == outcome(reduced)
    assert counts(reference) == counts(reduced)
    assert whole.depth == reduced.depth
    assert reference.findings == reduced.findings
    for finding in reduced.findings:
        check_run(machine, finding.path)


def test_these_machines_have_orbits_and_findings_worth_testing() -> None:
    smaller, kinds = 0, Counter[str]()
    for seed in SEEDS:
        reduced = local(machine := symmetric_machine(seed), 1, prompt=True)
        whole = local(replace(machine, symmetry=False), 1, prompt=True)
        smaller += 2 * reduced.distinct < whole.distinct
        kinds.update(finding.kind for finding in reduced.findings)
    assert smaller > 6
    assert all(kinds[kind] for kind in ("always", "sometimes", "step", "legal", "deadlock"))


ELECTION = """
system: election
about: Voters vote for each other; who is counted to have two votes leads, and may lose them again.
constants:
  Voter: {ids: 4, symmetric: true, prefix: v}
messages:
  Vote: {by: Voter, to: Voter}
variables:
  vote: {type: optional Voter, per: Voter, initial: none}
  leader: {type: optional Voter, initial: none}
channels:
  votes: {carries: [Vote], order: bag, capacity: "2"}
rows:
  - row: votes
    for: {a: Voter, b: Voter}
    when: vote[a] is none and a != b
    do: |
      vote[a] = b
      send(votes, Vote(by=a, to=b))
  - row: counts
    on: Vote(by, to)
    do: |
      if leader is none and len({x for x in Voter if vote[x] == to}) >= 2:
          leader = to
  - row: withdraws
    for: {a: Voter}
    when: vote[a] is not none
    do: vote[a] = none
properties:
  supported:
    always: leader is none or len({x for x in Voter if vote[x] == leader}) >= 2
    why: a leader that nobody wants is none.
  unanimous:
    sometimes: "any(all(vote[x] == y or x == y for x in Voter) for y in Voter)"
    why: otherwise nothing was tried.
  steady:
    step: leader is none or next(leader) == leader
    why: nobody is deposed.
"""

SESSIONS = """
system: sessions
about: Clients open sessions with fresh ids; a closed one is reaped later, and its id used again.
constants:
  Client: {ids: 3, symmetric: true, prefix: c}
  Session: {ids: 4, symmetric: true, prefix: s}
variables:
  session: {type: optional Session, per: Client, initial: none}
  owner: {type: map of Session to Client, initial: empty}
  closing: {type: set of Session, initial: empty}
rows:
  - row: opens
    for: {c: Client}
    when: session[c] is none
    do: |
      s = fresh(Session)
      session[c] = s
      owner[s] = c
  - row: closes
    for: {c: Client}
    when: session[c] is not none
    do: |
      closing.add(session[c])
      session[c] = none
  - row: reaps
    for: {s: closing}
    when: all(session[c] is not none for c in Client)
    do: |
      del owner[s]
      closing.discard(s)
properties:
  few_closing:
    always: len(closing) < 4
    why: ids run out.
  who_owns_two:
    sometimes: "any(len({s for s in owner if owner[s] == c}) == 2 for c in Client)"
    why: otherwise nothing was tried.
"""


@pytest.mark.parametrize(
    ("text", "distinct", "representatives", "smaller"),
    [(ELECTION, 81364, 3489, {"Voter": 3}), (SESSIONS, 913, 33, {"Session": 3})],
    ids=["election", "sessions"],
)
def test_ids_that_refer_to_each_other(
    text: str, distinct: int, representatives: int, smaller: dict[str, int], tmp_path: Path
) -> None:
    file = tmp_path / "system.yaml"
    file.write_text(text)
    machine = elaborate(read(file))
    assert machine.symmetry
    whole, reduced = local(replace(machine, symmetry=False), 2), local(machine, 2)
    assert (whole.distinct, reduced.distinct) == (distinct, representatives)
    assert outcome(whole) == outcome(reduced)
    assert max(depth for _, _, depth in outcome(reduced)) > 3
    for finding in reduced.findings:
        check_run(machine, finding.path)
    few = elaborate(read(file), "default", smaller)
    orbits = {representative(few, state) for state in reachable(few)}
    assert local(few, 1).distinct == len(orbits)


SEATS = """
system: seats
about: Guests come in and one of them is served.
constants:
  Guest: {ids: 3, symmetric: true, prefix: g}
variables:
  inside: {type: set of Guest, initial: empty}
  served: {type: optional Guest, initial: none}
  hungry: {type: bool, per: Guest, initial: "true"}
rows:
  - row: comes
    for: {g: Guest}
    do: inside.add(g)
  - row: eats
    for: {g: inside}
    do: hungry[g] = false
"""
LAST_ONE = """
  - row: serves
    do: |
      for g in inside:
          served = g
"""
LEFT_BEHIND = """
  - row: leaves
    for: {g: inside}
    do: inside.discard(g)
  - row: is_replaced
    when: len(inside) == 1
    do: |
      g = fresh(Guest)
      inside.add(g)
"""


ERRANT = """
  - row: asks
    for: {h: inside}
    when: any(10 // (5 - 5 * size[g]) > 1 for g in Guest)
    do: hungry[h] = true
  - row: grows
    for: {g: Guest}
    when: size[g] < 1
    do: size[g] = 1
"""


@pytest.mark.parametrize(
    ("rows", "guilty"),
    [(LAST_ONE, "row serves"), (LEFT_BEHIND, "row is_replaced")],
    ids=["loop", "fresh"],
)
def test_what_may_treat_ids_unlike_is_not_reduced(rows: str, guilty: str, tmp_path: Path) -> None:
    file = tmp_path / "system.yaml"
    file.write_text(SEATS + rows)
    machine = elaborate(read(file))
    (problem,) = machine.unlike
    assert problem.code == "Y330"
    assert guilty in problem.message
    assert not machine.symmetry
    assert explore_reference(machine, LIMITS).distinct == local(machine, 2).distinct > 8
    with pytest.raises(SpecificationError) as caught:
        with_symmetry(machine, symmetry=True)
    assert [item.span for item in caught.value.diagnostics] == [problem.span]
    assert not with_symmetry(machine, symmetry=False).unlike


PICKED = """
  - row: goes
    for: {g: inside}
    do: |
      inside.discard(g)
      if served is none or served == g:
          served = none
          for h in inside:
              hungry[h] = pick(b for b in {true, hungry[h]} if b or not b)
          if len(inside) > 0:
              served = pick(h for h in inside)
              served = pick(h for h in inside)
"""


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_picks_that_come_to_the_same_count_once(workers: int, tmp_path: Path) -> None:
    file = tmp_path / "system.yaml"
    file.write_text(SEATS + PICKED)
    machine = elaborate(read(file))
    assert machine.symmetry
    check_reduction(machine, workers)
    whole = local(replace(machine, symmetry=False), workers)
    goes = {row.row: row.fired for row in whole.rows}["goes"]
    once = sum(
        len({(step.bindings, step.state) for step in successors(machine, state)
             if step.action == "goes"})
        for state in reachable(machine)
    )  # fmt: skip
    assert goes > once


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_over_ids_an_error_comes_after_what_decides(order: tuple[int, ...], tmp_path: Path) -> None:
    file = tmp_path / "system.yaml"
    sizes = '  size: {type: 0..1, per: Guest, initial: "0"}\n'
    file.write_text(SEATS.replace("  hungry:", sizes + "  hungry:") + ERRANT)
    machine = elaborate(read(file))
    assert machine.symmetry
    names = machine.ids[0].members
    start = initial_states(machine)[0].state
    assert start is not None
    place = [variable.name for variable in machine.variables].index("size")
    for big in range(4):
        sizes_now = MapValue((name, int(at < big)) for name, at in zip(names, order, strict=True))
        state = (
            *start[:place],
            map_value(machine.variables[place].type, sizes_now),
            *start[place + 1 :],
        )
        inside = [variable.name for variable in machine.variables].index("inside")
        state = (*state[:inside], frozenset(names[:1]), *state[inside + 1 :])
        steps = [step for step in successors(machine, state) if step.action == "asks"]
        assert [step.error is not None for step in steps] == [big == 3]
    for limits in (LIMITS, Limits()):
        whole = local(replace(machine, symmetry=False), 1)
        assert explore_reference(machine, limits).findings == local(machine, 2).findings
        assert outcome(whole) == outcome(local(machine, 1))
        assert [item.kind for item in whole.findings] == ["error"]


UNLIKE_ENDS = """
system: unlike_ends
about: In the least real run the ids are called otherwise than in the least representative's.
constants:
  P: {ids: 2, symmetric: true}
variables:
  x: {type: 0..3, initial: "0"}
  t: {type: set of P, initial: empty}
rows:
  - {row: a, for: {p: P}, when: x == 0, do: "x = 1\\nt = {z for z in P if z != p}"}
  - {row: b, for: {p: P}, when: x == 1, do: x = 2 if p in t else 3}
"""
ROWS_THAT_FAIL = """
  - {row: first, when: x == 2, do: "x = 3 % (x - 2)"}
  - {row: second, when: x == 3, do: "x = 3 % (3 - x)"}
"""
A_PROPERTY_THAT_FAILS = """
properties:
  defined: {always: "6 // (2 - x) < 9", why: fails where x is 2.}
terminal: ["6 // (3 - x) < 9"]
"""


@pytest.mark.parametrize(
    ("rest", "action", "last"), [(ROWS_THAT_FAIL, "second", 3), (A_PROPERTY_THAT_FAILS, None, 2)]
)
def test_of_errors_the_least_real_run_is_shown(
    rest: str, action: str | None, last: int, tmp_path: Path
) -> None:
    """Whatever fails there; but no terminal condition of a level that was not expanded."""
    file = tmp_path / "system.yaml"
    file.write_text(UNLIKE_ENDS + rest)
    machine = elaborate(read(file))
    assert machine.symmetry
    (error,) = explore_reference(machine, LIMITS).findings
    assert (error.action, error.depth, error.path[-1][0]) == (action, 2, last)
    assert local(machine, 1, prompt=True).findings == (error,)
    whole = replace(machine, symmetry=False)
    assert explore_reference(whole, LIMITS).findings == (error,)
