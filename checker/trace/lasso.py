"""Lassos: that a path goes round for ever, owes something all the while, and is fair.

An engine only says which states the loop goes through. The interpreter says whether the loop is
what it is shown as; where it is not, the engine is wrong and nothing is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from checker.frozen import frozen
from checker.machine.machine import Machine, Property
from checker.machine.temporal import Formula, satisfied
from checker.machine.terms import Term
from checker.semantics.evaluate import Context, evaluate
from checker.semantics.fairness import FairRows, fair_rows
from checker.semantics.successor import State
from checker.semantics.successors import as_mapping, successors_by


@frozen()
class Promise:
    """A fair row instance that is enabled somewhere in the loop, and how the loop keeps it.

    `step` is a step of the loop that takes it; or, where `taken` is false, the step after whose
    state it is not enabled.
    """

    instance: str
    strong: bool
    taken: bool
    step: int


@frozen()
class Loop:
    """The end of a run that never does what it owes.

    After the last step the run goes on from the state after step `start`; where that is the last
    state it stays there. What must come about is owed after step `raised`.
    """

    start: int
    raised: int
    promises: tuple[Promise, ...]


class NoLasso(Exception):  # noqa: N818 (the answer to a question)
    """Says why a path is no counterexample."""


def loop_of(
    machine: Machine,
    item: Property,
    path: Sequence[State],
    start: int,
    fair: tuple[Promise, ...] | None = None,
) -> Loop:
    """Return the loop of a path that ends in `path[start]`; NoLasso where it shows nothing.

    The steps of the path are taken to be real. `fair`: what is known of how the loop keeps all
    promises, which takes longest to find out. EvaluationError where the property has no value.
    """
    if not 0 <= start < len(path) or path[-1] != path[start]:
        raise NoLasso("the path does not end where its loop begins")
    raised = _raised(machine, item, path, start)
    return Loop(start, raised, _promises(machine, path, start) if fair is None else fair)


def _raised(machine: Machine, item: Property, path: Sequence[State], start: int) -> int:
    """Return the last state up to the loop from which on something is owed and never comes."""
    if item.initially is not None and not _is(machine, path[0], item.initially):
        raise NoLasso(f"{item.name} does not speak of runs from this initial state")
    if item.formula is not None:
        return _broken(machine, item, item.formula, path, start)
    met = [_is(machine, state, item.condition) for state in path]
    first = max((number + 1 for number, holds in enumerate(met) if holds), default=0)
    for number in range(start, first - 1, -1):
        context = Context(as_mapping(machine, path[number]), {})
        owing = number == 0 if item.premise is None else evaluate(item.premise, context)
        if owing:
            return number
    raise NoLasso(f"nothing is owed for ever: {item.name} is met, or was never asked for")


def _broken(
    machine: Machine, item: Property, formula: Formula, path: Sequence[State], start: int
) -> int:
    """Return a state of the loop that shows that a formula is not met; 0 for one of `ltl`."""
    run = path[:-1] if start < len(path) - 1 else path
    word = [[_is(machine, state, atom) for atom in item.atoms] for state in run]
    if satisfied(formula, word, start):
        raise NoLasso(f"{item.name} is met")
    if item.kind == "ltl":
        return 0
    return next(number for number in range(start, len(run)) if not word[number][0])


def _is(machine: Machine, state: State, condition: Term) -> bool:
    return bool(evaluate(condition, Context(as_mapping(machine, state), {})))


@frozen()
class _Offer:
    """The fair instances that change a state, and those that lead to what comes after it."""

    enabled: frozenset[int]
    taken: tuple[tuple[State, frozenset[int]], ...]

    def taken_to(self, after: State) -> frozenset[int]:
        """Return the instances that lead to a state that comes after it."""
        return next(instances for state, instances in self.taken if state == after)


def _promises(machine: Machine, path: Sequence[State], start: int) -> tuple[Promise, ...]:
    """Return what the loop does about each fair instance that it enables."""
    fair = fair_rows(machine)
    turn = range(start, max(len(path) - 1, start + 1))
    # A recorded loop may go through the same states again and again.
    following: dict[State, list[State]] = {path[number]: [] for number in turn}
    for before, after in pairwise(path[start:]):
        if after not in following[before]:
            following[before].append(after)
    known = {state: _offer(machine, fair, state, after) for state, after in following.items()}
    taken: dict[int, int] = {}
    for number, (before, after) in enumerate(pairwise(path[start:]), start + 1):
        for instance in known[before].taken_to(after):
            taken.setdefault(instance, number)
    enabled = frozenset[int]().union(*(offer.enabled for offer in known.values()))
    rests: dict[int, int] = {}
    always = enabled
    for number in turn:
        rests.update(dict.fromkeys(always - known[path[number]].enabled, number))
        always &= known[path[number]].enabled
    kept: list[Promise] = []
    for instance in sorted(enabled):
        named = fair.instance(instance)
        if instance in taken:
            kept.append(Promise(named.name, named.strong, taken=True, step=taken[instance]))
        elif named.strong or instance not in rests:
            how = "strongly" if named.strong else "weakly"
            raise NoLasso(f"the loop is not fair: it never takes {named.name}, a {how} fair row")
        else:
            kept.append(Promise(named.name, named.strong, taken=False, step=rests[instance]))
    return tuple(kept)


def _offer(machine: Machine, fair: FairRows, state: State, following: Sequence[State]) -> _Offer:
    """Return the fair instances that change `state`, and those that lead to some other states."""
    enabled: set[int] = set()
    taken: list[set[int]] = [set() for _ in following]
    rows = [action for action in machine.actions if action.name in fair.rows]
    for step in successors_by(machine, rows, state):
        if step.error is None and step.state != state:
            numbers = fair.of(step)
            enabled.update(numbers)
            if step.cut is None and step.state in following:
                taken[following.index(step.state)].update(numbers)
    return _Offer(frozenset(enabled), tuple(zip(following, map(frozenset, taken), strict=True)))
