"""Goal: formulas are judged as the kinds of property that say the same, and as their runs are."""

import random
from dataclasses import replace

import numpy as np
import pytest
from random_machines import lively_machine

from checker.graph.components import OUTSIDE
from checker.graph.fairness import fair_states
from checker.graph.judge import judge_liveness
from checker.graph.lasso import search_from
from checker.graph.reference import reference_space
from checker.llvm.meta import CONDITION
from checker.machine import temporal
from checker.machine.machine import LIVENESS, Machine
from checker.machine.temporal import (
    Atom,
    Binary,
    Constant,
    Formula,
    automaton_of,
    negation,
    satisfied,
)
from checker.search.limits import Limits
from checker.search.outcome import NO_MEMORY, Liveness, Outcome
from checker.search.reference import explore_reference
from checker.semantics.successor import State

SEEDS = [seed for seed in range(60) if seed != 29]
"""29 has so many states that it takes seconds."""
LIMITS = Limits(keep_going=True)


def explored(machine: Machine) -> tuple[State, ...] | None:
    found = explore_reference(machine, LIMITS)
    if not found.exhaustive or found.cuts or not isinstance(found.states, tuple):
        return None
    return found.states


def verdicts(judged: Liveness) -> dict[str, str]:
    return {name: outcome.verdict for name, outcome in judged.outcomes.items()}


@pytest.mark.parametrize("seed", SEEDS)
def test_formulas_say_what_the_kinds_say(seed: int) -> None:
    machine = replace(lively_machine(seed), bounds=())
    states = explored(machine)
    if states is None:
        return
    plain = [item for item in machine.properties if item.kind in LIVENESS]
    formulas = []
    for item in plain:
        if item.premise is None:
            atoms: tuple[object, ...] = (item.condition,)
            formula: Formula = temporal.eventually(Atom(0))
        else:
            atoms = (item.condition, item.premise)
            answered = Binary("or", Atom(1, positive=False), temporal.eventually(Atom(0)))
            formula = temporal.always(answered)
        formulas.append(replace(item, kind="ltl", premise=None, formula=formula, atoms=atoms))
    both = []
    for properties in (plain, formulas):
        made = replace(machine, properties=tuple(properties))
        both.append(verdicts(judge_liveness(made, reference_space(made, states))))
    assert both[0] == both[1]


@pytest.mark.parametrize("seed", SEEDS)
def test_eventually_always_fails_where_a_fair_part_leaves_it(seed: int) -> None:
    machine = replace(lively_machine(seed), bounds=())
    states = explored(machine)
    if states is None:
        return
    item = next(item for item in machine.properties if item.kind in LIVENESS)
    settles = replace(
        item,
        kind="eventually_always",
        premise=None,
        formula=temporal.eventually(temporal.always(Atom(0))),
        atoms=(item.condition,),
    )
    made = replace(machine, properties=(settles,))
    space = reference_space(made, states)
    everywhere = np.ones(space.graph.states, np.bool_)
    reached = search_from(space.graph, space.graph.initial, everywhere).distance >= 0
    fair = fair_states(space.graph, reached)
    broken = bool(((fair != OUTSIDE) & ~space.flag(CONDITION))[:-1].any())
    judged = judge_liveness(made, space)
    assert verdicts(judged) == {item.name: "violated" if broken else "holds"}


def test_a_product_that_does_not_fit_the_memory_is_not_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine = replace(lively_machine(4), bounds=())
    states = explored(machine)
    assert states is not None
    plain = next(item for item in machine.properties if item.kind in LIVENESS)
    formula = temporal.always(temporal.eventually(Atom(0)))
    asked = replace(plain, kind="ltl", premise=None, atoms=(plain.condition,), formula=formula)
    asked = replace(asked, within_bounds=False)
    machine = replace(machine, properties=(asked,))
    space = reference_space(machine, states)
    said = []
    for room in (1 << 40, 160 * len(states), 16):
        monkeypatch.setattr("checker.graph.quotient.available", lambda room=room: room)
        said.append(judge_liveness(machine, space).outcomes[asked.name])
    assert said[0].verdict != "unknown"
    assert said[1:] == [Outcome("unknown", NO_MEMORY)] * 2


def random_formula(choose: random.Random, depth: int) -> Formula:
    if choose.random() < 0.1:
        return Constant(choose.random() < 0.5)
    if depth == 0 or choose.random() < 0.2:
        return Atom(choose.randrange(2), choose.random() < 0.6)
    operator = choose.choice(("and", "or", "until", "release"))
    return Binary(operator, *(random_formula(choose, depth - 1) for _ in range(2)))  # type: ignore[arg-type]


def accepted(formula: Formula, word: list[list[bool]], loop: int) -> bool:
    """Whether some run of the automaton over a lasso is accepting, by searching its graph."""
    automaton = automaton_of(formula)
    nodes = range(len(automaton.following))
    masks = [sum(1 << place for place, held in enumerate(atoms) if held) for atoms in word]

    def reads(place: int, node: int) -> bool:
        held = masks[place]
        required, forbidden = automaton.required[node], automaton.forbidden[node]
        return held & required == required and not held & forbidden

    def after(pair: tuple[int, int]) -> list[tuple[int, int]]:
        place = pair[0] + 1 if pair[0] + 1 < len(word) else loop
        ways = automaton.following[pair[1]]
        return [(place, node) for node in nodes if ways >> node & 1 and reads(place, node)]

    def reach(begin: list[tuple[int, int]]) -> set[tuple[int, int]]:
        found, todo = set(begin), list(begin)
        while todo:
            for other in after(todo.pop()):
                if other not in found:
                    found.add(other)
                    todo.append(other)
        return found

    first = [(0, node) for node in nodes if automaton.initial >> node & 1 and reads(0, node)]
    for pair in reach(first):
        round_trip = {other for other in reach(after(pair)) if pair in reach(after(other))}
        if pair in round_trip and all(
            any(mask >> node & 1 for _, node in round_trip) for mask in automaton.accepting
        ):
            return True
    return False


@pytest.mark.parametrize("seed", range(150))
def test_automata_accept_the_words_that_satisfy_their_formula(seed: int) -> None:
    choose = random.Random(seed)  # noqa: S311
    formula = random_formula(choose, 3)
    for _ in range(6):
        word = [[choose.random() < 0.5, choose.random() < 0.5] for _ in range(choose.randint(1, 4))]
        loop = choose.randrange(len(word))
        meant = satisfied(formula, word, loop)
        assert accepted(formula, word, loop) is meant
        assert satisfied(negation(formula), word, loop) is not meant
