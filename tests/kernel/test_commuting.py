"""Goal: what `explore` leaves out, a search comes upon in another way, and nothing else changes.

The condition that the proof of docs/decisions/008-commuting-steps.md needs is tried on the states
of random machines: where a step b is left out of a state that a led to, doing b first and a then
leads to the same state by way of one that is stored. Some machines by hand show what commutes.
"""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from machines import (
    KNOWN,
    Known,
    action,
    assign,
    at,
    binding,
    cast,
    contains,
    equal,
    everything,
    less,
    lit,
    loop,
    machine,
    negated,
    number,
    place,
    plus,
    prop,
    read,
    send,
    two_phase,
    variable,
)
from machines import local as name
from random_machines import lively_machine, machines, seeded_machine
from random_teams import random_team

from checker.kernel import functions
from checker.kernel.build import build
from checker.kernel.calls import Calls
from checker.kernel.commuting import LOOPS, Commuting, commuting
from checker.kernel.functions import Writer
from checker.kernel.kernel import Kernel, Words
from checker.layout import pack
from checker.llvm.meta import ACTION_MASK, CUT, DROPPED, ERROR, NUMBER
from checker.machine import terms as t
from checker.machine.machine import Action, Machine
from checker.machine.types import Bag, Id, Map, Range, Set
from checker.passes.analysis import Analysis
from checker.passes.footprints import Footprint, Footprints
from checker.process import deep_recursion
from checker.search.explore import explore
from checker.search.limits import Limits
from checker.semantics.fairness import fair_rows
from checker.semantics.values import map_value
from checker.source import NOWHERE

SEEDS = range(60)
STATES = 40
"""States of a random machine from which all pairs of steps are tried."""

SPECIAL = ERROR | DROPPED | CUT

WORKER = Id("Worker", ("w1", "w2", "w3"), symmetric=False)
PHASE = Range(0, 3)
PHASES = Map(WORKER, PHASE, total=True)
TEAM = Set(WORKER)


def commuting_of(subject: Machine) -> Commuting | None:
    """What the kernel of a machine is written with."""
    writer = Writer(subject, pack(subject))
    with deep_recursion():
        writer.expand()
    return writer.commuting


def rows_of(subject: Machine) -> list[int] | None:
    """The table of a machine's kernel: row a, bit b; None where it has none."""
    found = commuting_of(subject)
    return None if found is None else found.rows()


class Steps:
    """The steps of single states: (number, successor, whether it is stored)."""

    def __init__(self, kernel: Kernel) -> None:
        self.calls = Calls(kernel)
        self.known: dict[tuple[int, ...], list[tuple[int, tuple[int, ...], bool]]] = {}

    def of(self, state: tuple[int, ...]) -> list[tuple[int, tuple[int, ...], bool]]:
        if state not in self.known:
            made = self.calls.expand(np.array([state], np.int64))
            words = [tuple(row) for row in made.words.tolist()]
            self.known[state] = [
                (meta >> NUMBER, after, not meta & SPECIAL)
                for meta, after in zip(made.meta.tolist(), words, strict=True)
            ]
        return self.known[state]


def require_commuting(subject: Machine) -> int:
    """Try all pairs of steps that may be left out, from some states; return how many there were."""
    rows = rows_of(subject)
    if rows is None:
        return 0
    kernel = build(subject, pack(subject), use_cache=False)
    steps = Steps(kernel)
    initial, meta = steps.calls.initial()
    found = dict.fromkeys(
        tuple(state)
        for state, mark in zip(initial.tolist(), meta.tolist(), strict=True)
        if not mark & SPECIAL
    )
    tried = 0
    for source in (todo := list(found)):
        if len(todo) < STATES:
            new = [after for _, after, stored in steps.of(source) if stored and after not in found]
            found.update(dict.fromkeys(new))
            todo += dict.fromkeys(new)
    for source in todo[:STATES]:
        for a, between, stored in steps.of(source):
            for b, target, plain in steps.of(between) if stored else ():
                if plain and b and not rows[a] >> b & 1:
                    tried += 1
                    ways = [
                        after
                        for first, other, kept in steps.of(source)
                        if first == b and kept
                        for then, after, whole in steps.of(other)
                        if then == a and whole
                    ]
                    assert target in ways, (a, b)
    return tried


def seeded(seed: int) -> Machine:
    """A random machine without step properties, which mostly may fail."""
    subject = seeded_machine(seed)
    return replace(subject, properties=tuple(p for p in subject.properties if p.kind != "step"))


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_left_out_is_come_upon_in_another_way(seed: int) -> None:
    require_commuting(random_team(seed))
    require_commuting(seeded(seed))


@given(subject=machines())
@settings(max_examples=40, suppress_health_check=list(HealthCheck))
def test_the_same_of_random_machines(subject: Machine) -> None:
    require_commuting(subject)


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.machine.name)
def test_the_same_of_known_machines(known: Known) -> None:
    require_commuting(known.machine)


def test_enough_is_tried() -> None:
    assert require_commuting(two_phase()) > 100
    assert sum(require_commuting(random_team(seed)) > 20 for seed in SEEDS) > 25


@pytest.mark.parametrize("lines", [1, functions.PIECE_LINES], ids=["in pieces", "in one"])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_rest_stays_as_it_is(seed: int, lines: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "PIECE_LINES", lines)
    subject = random_team(seed) if seed % 2 else seeded_machine(seed)
    known = commuting_of(subject)
    if known is None:
        return
    calls = Calls(build(subject, pack(subject), use_cache=False))
    states = calls.initial()[0]
    for _ in range(3):
        states = np.unique(np.concatenate([states, calls.expand(states).words]), axis=0)[:200]
    choose = np.random.default_rng(seed)
    arrivals = choose.integers(0, len(known.rows()), len(states), np.int16)
    made = calls.expand(states, arrivals=arrivals)
    whole = calls.expand(states)
    assert np.array_equal(made.tallies, whole.tallies)
    assert np.array_equal(made.status, whole.status)
    kept = _wanted(known, states, arrivals, whole.words, whole.meta, whole.ends)
    assert np.array_equal(made.words, whole.words[kept])
    assert np.array_equal(made.meta, whole.meta[kept])
    # A state whose successors do not fit is given up, with what was counted of it, and comes again.
    narrow = calls.expand(states, capacity=1, arrivals=arrivals)
    assert np.array_equal(narrow.words, made.words)
    assert np.array_equal(narrow.ends, made.ends)
    assert np.array_equal(narrow.tallies, made.tallies)
    assert np.array_equal(narrow.status, made.status)


def _wanted(
    known: Commuting, states: Words, arrivals: Words, words: Words, meta: Words, ends: Words
) -> list[int]:
    """Which successors are to be written, by the table, whether they move, and their flags."""
    rows = known.rows()
    kept = []
    begin = 0
    for state, arrival, end in zip(states, arrivals, ends, strict=True):
        for index in range(begin, int(end)):
            mark = int(meta[index])
            number = mark >> NUMBER
            flags = mark & ((1 << NUMBER) - 1) & ~ACTION_MASK
            wanted = not number or rows[arrival] >> number & 1
            stays = known.settles(number) and np.array_equal(words[index], state)
            if flags or (wanted and not stays):
                kept.append(index)
        begin = int(end)
    return kept


# ------------------------------------------------------------------------------- what commutes


def go_on(title: str = "go_on") -> Action:
    phase = at(read("phase", PHASES), name("w", WORKER))
    return action(
        title,
        assign(place("phase", PHASE, name("w", WORKER)), cast(plus(phase, 1), PHASE)),
        bindings=[binding("w", everything(WORKER))],
        guard=less(phase, number(3)),
    )


def team(*more: Action, **parts: object) -> Machine:
    variables = [
        variable("phase", PHASES, map_value(PHASES, dict.fromkeys(WORKER.members, 0))),
        variable("team", TEAM, frozenset()),
    ]
    return machine("team", variables, [go_on(), *more], **parts)


def skipped(subject: Machine) -> set[tuple[int, int]]:
    """Pairs (arrival, other) of which the other is left out."""
    rows = rows_of(subject)
    assert rows is not None
    count = len(rows)
    return {(a, b) for a in range(count) for b in range(1, count) if not rows[a] >> b & 1}


def test_workers_by_themselves_commute() -> None:
    assert skipped(team()) == {(2, 1), (3, 1), (3, 2)}
    assert all(not row >> LOOPS & 1 for row in rows_of(team()) or ())


def joins(operator: str) -> Action:
    value = t.SetOperation(
        operator, read("team", TEAM), t.SetOf((name("w", WORKER),), TEAM, NOWHERE), TEAM, NOWHERE
    )
    inside = contains(name("w", WORKER), read("team", TEAM))
    return action(
        "join",
        assign(place("team", TEAM), value),
        bindings=[binding("w", everything(WORKER))],
        guard=negated(inside) if operator == "|" else inside,
    )


@pytest.mark.parametrize("operator", ["|", "-"])
def test_elements_of_a_set_are_told_apart(operator: str) -> None:
    assert {(5, 4), (6, 4), (6, 5)} <= skipped(team(joins(operator)))


def test_a_set_that_is_made_anew_is_one_thing() -> None:
    assert not {(5, 4), (6, 4), (6, 5)} & skipped(team(joins("^")))


def test_who_looks_at_a_whole_depends_on_each_part() -> None:
    full = equal(read("team", TEAM), lit(frozenset(WORKER.members), TEAM))
    reset = action("reset", assign(place("team", TEAM), lit(frozenset(), TEAM)), guard=full)
    found = skipped(team(joins("|"), reset))
    assert {(7, 1), (7, 2), (7, 3)} <= found
    assert not {(7, 4), (7, 5), (7, 6)} & found


def test_a_loop_may_change_all() -> None:
    clear = action(
        "clear",
        loop("k", read("team", TEAM), assign(place("phase", PHASE, name("k", WORKER)), number(0))),
    )
    assert not {(4, 1), (4, 2), (4, 3)} & skipped(team(clear))


def test_what_the_bounds_look_at_commutes_with_the_rest_only() -> None:
    first = lit("w1", WORKER)
    bound = less(at(read("phase", PHASES), first), number(3))
    assert skipped(team(bounds=[bound])) == {(2, 1), (3, 1), (3, 2)}  # w1 is the only one it sees
    all_of_them = equal(read("phase", PHASES), read("phase", PHASES))
    assert skipped(team(bounds=[all_of_them])) == set()


def test_nothing_is_left_out_where_judging_a_step_may_fail() -> None:
    phase = at(read("phase", PHASES), lit("w1", WORKER))
    risky = equal(cast(plus(phase, 1), PHASE), number(1))
    safe = equal(phase, number(1))
    for condition, possible in ((risky, False), (safe, True)):
        subject = team(properties=[prop("checked", "step", condition)])
        assert (commuting(subject, Analysis()) is not None) == possible
        kernel = build(subject, pack(subject), use_cache=False)
        assert (kernel.explore_address != 0) == possible


def test_under_symmetry_instances_of_one_row_count_as_equal() -> None:
    alike = replace(WORKER, symmetric=True)
    phases = Map(alike, PHASE, total=True)
    who = name("w", alike)
    phase = at(read("phase", phases), who)
    rows = [
        action(
            title,
            assign(place("phase", PHASE, who), cast(plus(phase, 1), PHASE)),
            bindings=[binding("w", everything(alike))],
            guard=guard,
        )
        for title, guard in (("begin", less(phase, number(1))), ("go_on", less(phase, number(3))))
    ]
    start = map_value(phases, dict.fromkeys(alike.members, 0))
    subject = machine("alike", [variable("phase", phases, start)], rows, ids=[alike])
    others = {(3 + one, two) for one in (1, 2, 3) for two in (1, 2, 3) if one != two}
    assert skipped(replace(subject, symmetry=True)) == others
    same_row = {(2, 1), (3, 1), (3, 2), (5, 4), (6, 4), (6, 5)}
    assert skipped(subject) == others | same_row


def test_steps_that_may_change_nothing_are_known() -> None:
    twice = action("twice", assign(place("phase", PHASE, lit("w1", WORKER)), number(1)))
    known = commuting_of(team(joins("|"), twice))
    assert known is not None
    assert [known.settles(number) for number in range(8)] == [False] * 4 + [True] * 4


def test_messages_of_a_bag_are_one_thing() -> None:
    assert Footprint(0b1, 0b10).apart_from(Footprint(0b1, 0b100))
    assert not Footprint(0b1, 0b10).apart_from(Footprint(0b10, 0b100))
    assert not Footprint(0b10, 0b1).apart_from(Footprint(0, 0b10))
    bag = Bag(Range(0, 1), 2)
    channel = variable("channel", bag, ())
    puts = [action(f"put{i}", send(place("channel", bag), number(i))) for i in (0, 1)]
    footprints = Footprints((channel,), Analysis())
    one, two = (footprints.of(put, {}) for put in puts)
    assert (one.writes, two.writes) == (1, 1)


@pytest.mark.parametrize("seed", [0, 1, 6, 16])
def test_numbers_of_instances_are_no_part_of_fairness(seed: int) -> None:
    # Where steps are bounded nothing is left out, and their instances are not numbered.
    machine_ = replace(lively_machine(seed, states=60), step_bounds=())
    layout = pack(machine_)
    kernel = build(machine_, layout)
    assert kernel.explore_address
    found = explore(machine_, layout, kernel, Limits(keep_going=True), 1)
    assert found.states is not None
    steps = Calls(kernel).expand(found.states)
    assert ((steps.meta >> NUMBER) > 0).any()
    assert set(kernel.instances(steps.meta).tolist()) <= set(range(-1, fair_rows(machine_).count))
