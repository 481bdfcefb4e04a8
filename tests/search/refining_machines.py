"""Random machines that claim to refine another one: their own rows, some of them gone or changed.

What the mapping keeps of a state is drawn too: all of it, or some variables for which a constant
stands. `wrong_steps` finds by hand what refines nothing, with the successors of both machines.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace

from random_machines import seeded_machine
from symmetric_machines import symmetric_machine

from checker.machine import terms as t
from checker.machine.machine import Action, Machine, Property
from checker.machine.types import Bool
from checker.semantics.evaluate import Context, evaluate
from checker.semantics.successor import State
from checker.semantics.successors import as_mapping, initial_states, successors
from checker.source import NOWHERE

CLAIM = "coarse"


def refining_machine(seed: int, *, states: int = 300, errors: bool = True) -> Machine:
    """The random machine of a seed with a property that it refines a part of itself."""
    made = seeded_machine(seed, states=states, errors=errors)
    return _claiming(made, seed, lambda variable: variable.initial)


def symmetric_refining_machine(seed: int) -> Machine:
    """As `refining_machine`, with interchangeable ids; the mapping keeps all of a state."""
    return _claiming(symmetric_machine(seed, states=60), seed, None)


def _claiming(made: Machine, seed: int, constant: Callable[..., t.Term] | None) -> Machine:
    choose = random.Random(seed)  # noqa: S311
    coarse = replace(
        made,
        actions=tuple(_kept(choose, made.actions)),
        initial=made.initial if choose.random() < 0.93 else replace(made.initial, body=()),
        properties=(), bounds=(), step_bounds=(), terminal=(), expectation=None,
    )  # fmt: skip
    mapped = tuple(
        t.Cast(constant(variable), variable.type, NOWHERE)
        if constant is not None and choose.random() < 0.25
        else t.Read(variable.name, variable.type, NOWHERE)
        for variable in made.variables
    )
    claim = refines(CLAIM, coarse, mapped)
    kept = tuple(item for item in made.properties if choose.random() < 0.5)
    return replace(made, properties=(*kept, claim))


def _kept(choose: random.Random, actions: tuple[Action, ...]) -> Iterator[Action]:
    """Most rows, some of them never enabled, some without their effects, some without a guard.

    Of three machines one keeps all rows: it refines what it is made of.
    """
    whole = choose.random() < 0.3
    for action in actions:
        chance = 1.0 if whole else choose.random()
        if chance < 0.3:
            yield replace(action, guard=t.Literal(False, Bool(), NOWHERE))
        elif chance < 0.4:
            yield replace(action, body=())
        elif chance < 0.5:
            yield replace(action, guard=t.Literal(True, Bool(), NOWHERE))
        else:
            yield action


def refines(name: str, coarse: Machine, mapped: tuple[t.Term, ...]) -> Property:
    """The property that a machine refines `coarse`, of which `mapped` are the variables."""
    after = tuple(t.Next(term, term.type, NOWHERE) for term in mapped)
    same = t.And(
        tuple(t.Equal(old, new, NOWHERE) for old, new in zip(mapped, after, strict=True)), NOWHERE
    )
    start = tuple(variable.initial for variable in coarse.variables)
    return Property(
        name=name,
        kind="refines",
        condition=t.Or((same, t.Leads(mapped, after, coarse, False, NOWHERE)), NOWHERE),
        premise=t.Leads(start, mapped, coarse, True, NOWHERE),
        why="a test",
        source="",
        span=NOWHERE,
    )


def least_wrong(machine: Machine, depth: int) -> int | None:
    """Return the depth of the nearest state that no coarse step leads to; None up to `depth`."""
    claim = next(item for item in machine.properties if item.kind == "refines")
    assert isinstance(claim.premise, t.Leads)
    coarse, mapped = claim.premise.other, claim.premise.after

    def image(state: State) -> State:
        return tuple(evaluate(term, Context(as_mapping(machine, state), {})) for term in mapped)

    begun = {step.state for step in initial_states(coarse)}
    first = [step for step in initial_states(machine) if step.state is not None]
    if any(image(step.state) not in begun for step in first if step.state is not None):
        return 0
    level = {step.state for step in first if step.state is not None and step.cut is None}
    seen, leads = set(level), dict[State, set[State | None]]()
    for number in range(1, depth + 1):
        following: set[State] = set()
        for state in level:
            here = image(state)
            if here not in leads:
                leads[here] = {here, *(step.state for step in successors(coarse, here))}
            for step in successors(machine, state):
                if step.state is None:
                    continue
                if image(step.state) not in leads[here]:
                    return number
                if step.cut is None:
                    following.add(step.state)
        level = following - seen
        seen |= level
    return None
