"""Explores a Model breadth first and judges its properties, by the manual's words."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass, field
from itertools import permutations, product
from typing import Any

from .evaluation import Scope, evaluate, need
from .execution import State, Step, Stepper
from .formulas import claimed, negated
from .liveness import Graph, Label, Truth, satisfied, unclear
from .model import Model, Row
from .refinement import Refinement
from .values import FailedError, renamed

LIVENESS = ("eventually", "leads_to", "always_eventually", "eventually_always", "ltl")


class TooLargeError(Exception):
    """The specification has more states than these tests look at."""


@dataclass
class Explored:
    """What a search found, in the words of the product's results."""

    levels: list[int] = field(default_factory=list)
    generated: int = 0
    cuts: int = 0
    deadlocks: int = 0
    enabled: Counter[str] = field(default_factory=Counter)
    fired: Counter[str] = field(default_factory=Counter)
    found: dict[str, int] = field(default_factory=dict)
    """Properties that broke or were witnessed: the length of the shortest path."""
    error: int | None = None
    stopped_by: str | None = None
    outcomes: dict[str, str] = field(default_factory=dict)

    @property
    def distinct(self) -> int:
        return sum(self.levels)

    @property
    def depth(self) -> int:
        return len(self.levels) - 1 if self.levels else 0


class Explorer:
    """One search. `reduce`: of states that differ by symmetric ids only one is kept.

    Where there are `most` states and more are found, TooLargeError; where there are `enough` the
    next level is not expanded.
    """

    def __init__(self, model: Model, *, reduce: bool, most: int, enough: int | None = None) -> None:
        # Of one id there is nothing to rename, and nothing is reduced.
        several = any(len(model.types[name][1]) > 1 for name in model.symmetric)
        self.reduce, self.enough = reduce and several, enough
        self.model, self.stepper, self.most = model, Stepper(model, once=self.reduce), most
        self.result = Explored()
        claims = model.refinements.items()
        self.claims = {name: Refinement(model, coarse, said) for name, (coarse, said) in claims}
        self.numbers: dict[State, int] = {}
        self.edges: list[list[tuple[int, frozenset[Label]]]] = []
        self.initial: list[int] = []
        self.beyond: dict[int, list[State | None]] = {}
        """Where cut steps lead that change something, by source; -1: initial states. None: nowhere."""
        self.renamings = self._renamings()

    def _renamings(self) -> list[dict[str, str]]:
        kinds = [self.model.types[name][1] for name in self.model.symmetric]
        choices = (
            [dict(zip(one, other, strict=True)) for other in permutations(one)] for one in kinds
        )
        return [
            dict(pair for part in parts for pair in part.items()) for parts in product(*choices)
        ]

    def same(self, state: State) -> State:
        """Return what stands for a state among those that differ by symmetric ids only."""
        if not self.reduce:
            return state
        kinds = list(self.model.variables.values())
        ranks = self.model.ranks
        orbit = (
            tuple(renamed(v, names, ranks, kind) for v, kind in zip(state, kinds, strict=True))
            for names in self.renamings
        )
        return min(orbit, key=repr_of)

    # ------------------------------------------------------------------------------- search

    def run(self) -> Explored:
        result = self.result
        frontier = self._first()
        while True:
            result.levels += [len(frontier)] if frontier else []
            result.stopped_by = self._why_stop(frontier)
            if result.stopped_by is not None or not frontier:
                break
            depth = len(result.levels) - 1
            following: list[State] = []
            for state in frontier:
                following += self._expand(state, depth)
            frontier = following
        self._judge()
        return result

    def _first(self) -> list[State]:
        frontier = []
        try:
            steps = self.stepper.initial()
        except FailedError:
            self.result.error = 0
            return []
        for step in steps:
            stored = self._arrive(None, step, -1)
            if stored is None:
                self.beyond.setdefault(-1, []).append(step.state)
            else:
                number, new = stored
                self.initial.append(number)
                frontier += [new] if new is not None else []
        return frontier

    def _why_stop(self, frontier: list[State]) -> str | None:
        if self.result.error is not None:
            return "evaluation_error"
        if not frontier:
            return None
        kinds = {name: kind for name, kind, _, _ in self.model.properties}
        broken = [name for name in self.result.found if kinds.get(name) != "sometimes"]
        if broken and (self.model.until in (None, *broken)):
            return "violation"
        return "depth" if self.enough is not None and len(self.numbers) >= self.enough else None

    def _expand(self, state: State, depth: int) -> list[State]:
        result, new_states, edges = self.result, [], []
        out, failed, enabled = False, False, set[str]()
        for step in self.stepper.steps(state):
            before = result.generated
            arrived = self._arrive(state, step, depth)
            if result.generated == before:
                failed = True
                continue
            enabled.add(step.row.name)
            result.fired[step.row.name] += 1
            out |= step.row.fault is None
            labels = self._promises(step)
            if arrived is None:
                # What changes nothing is no way out, whatever the bounds say of such a step.
                edges.append((self.numbers[state] if step.state == state else -1, labels))
                if step.state != state:
                    self.beyond.setdefault(self.numbers[state], []).append(step.state)
                continue
            number, new = arrived
            edges.append((number, labels))
            new_states += [new] if new is not None else []
        result.enabled.update(enabled)
        self._edges_of(state, edges)
        if not out and not failed:
            self._deadlock(state, depth)
        return new_states

    def _promises(self, step: Step) -> frozenset[Label]:
        """Return what a step keeps: the promise to its row instance, and to groups of rows."""
        own = [step.instance] if step.row.fair != "none" else []
        groups = [group for group in self.model.groups if group.promises(step.row)]
        return frozenset(
            [*own, *((group.name, *(step.names[name] for name in group.per)) for group in groups)]
        )

    def _edges_of(self, state: State, edges: list[tuple[int, frozenset[Label]]]) -> None:
        number = self.numbers[state]
        while len(self.edges) <= number:
            self.edges.append([])
        self.edges[number] = edges

    def _deadlock(self, state: State, depth: int) -> None:
        scope = Scope(self.model, self.stepper.unpack(state), {})
        try:
            if any(need(evaluate(node, scope)) for node in self.model.terminal):
                return
        except FailedError:
            self._error(depth)
            return
        self.result.deadlocks += 1
        if self.model.deadlock:
            self.result.found.setdefault("deadlock", depth)

    def _error(self, depth: int) -> None:
        known = self.result.error
        self.result.error = depth if known is None else min(known, depth)

    def _arrive(
        self, source: State | None, step: Step, depth: int
    ) -> tuple[int, State | None] | None:
        """Take a step into account; return the state's number, and the state where it is new."""
        result, model = self.result, self.model
        if step.failed:
            self._error(max(depth, 0))
            return None
        if step.state is None:
            result.generated += 1
            result.cuts += 1
            return None
        values = self.stepper.unpack(step.state)
        scope = Scope(model, values, {})
        try:
            inside = all(need(evaluate(node, scope)) for node in model.bounds)
            passes = self._passes(source, values)
            broken = self._steps_broken(source, values, step)
            broken += self._not_refined(source, values)
        except FailedError:
            self._error(max(depth, 0))
            return None
        result.generated += 1
        for name in [*broken, *(["legal"] if step.illegal else [])]:
            result.found.setdefault(name, depth + 1)
        kept = self.same(step.state)
        if kept in self.numbers and passes:
            return self.numbers[kept], None
        self._check(scope, depth + 1)
        if not (inside and passes):
            result.cuts += 1
            return None
        if len(self.numbers) >= self.most:
            raise TooLargeError
        self.numbers[kept] = len(self.numbers)
        return self.numbers[kept], kept

    def _passes(self, source: State | None, values: dict[str, Any]) -> bool:
        """Whether a step is within the bounds of steps."""
        if source is None:
            return True
        scope = Scope(self.model, self.stepper.unpack(source), {}, values)
        return all(need(evaluate(node, scope)) for node in self.model.step_bounds)

    def _steps_broken(self, source: State | None, values: dict[str, Any], step: Step) -> list[str]:
        if source is None:
            return []
        scope = Scope(self.model, self.stepper.unpack(source), {}, values, step)
        return [
            name
            for name, kind, node, _ in self.model.properties
            if kind == "step" and not need(evaluate(node, scope))
        ]

    def _not_refined(self, source: State | None, values: dict[str, Any]) -> list[str]:
        before = None if source is None else self.stepper.unpack(source)
        return [name for name, claim in self.claims.items() if not claim.holds(before, values)]

    def _check(self, scope: Scope, depth: int) -> None:
        for name, kind, node, premise in self.model.properties:
            try:
                if kind == "impossible":
                    if self._there(node, scope):
                        self.result.found.setdefault(name, depth)
                elif kind in LIVENESS:
                    begins = self.model.initially.get(name)
                    for condition in claimed(kind, node, premise)[1]:
                        need(evaluate(condition, scope))
                    need(evaluate(begins, scope) if begins is not None else True)
                elif kind not in ("step", "refines"):
                    holds = need(evaluate(node, scope))
                    if (kind == "always" and not holds) or (kind == "sometimes" and holds):
                        self.result.found.setdefault(name, depth)
            except FailedError:
                self._error(depth)

    def _there(self, row: Any, scope: Scope) -> bool:
        assert isinstance(row, Row)
        return any(True for _ in self.stepper.instances(row, scope.state))

    # ------------------------------------------------------------------------------ verdicts

    def _judge(self) -> None:
        result = self.result
        exhaustive = result.stopped_by is None
        names = [(name, kind) for name, kind, _, _ in self.model.properties]
        names += [("legal", "legal")] if self.model.machines else []
        names += [("deadlock", "deadlock")] if self.model.deadlock else []
        for name, kind in names:
            if kind == "sometimes":
                known = "unwitnessed" if exhaustive else "unknown"
                result.outcomes[name] = "witnessed" if name in result.found else known
            elif kind in LIVENESS:
                result.outcomes[name] = self._lively(name) if exhaustive else "unknown"
            else:
                known = "holds" if exhaustive else "unknown"
                result.outcomes[name] = "violated" if name in result.found else known

    def _lively(self, name: str) -> str:
        ((kind, node, premise),) = [p[1:] for p in self.model.properties if p[0] == name]
        claim, conditions = claimed(kind, node, premise)
        begins = self.model.initially.get(name, ast.Constant(True))

        def seen(state: State | None) -> Truth:
            if state is None:
                return None
            scope = Scope(self.model, self.stepper.unpack(state), {})
            return [bool(evaluate(each, scope)) for each in conditions]

        def begun(state: State | None) -> bool:
            if state is None:
                return True
            return bool(evaluate(begins, Scope(self.model, self.stepper.unpack(state), {})))

        states = sorted(self.numbers, key=self.numbers.__getitem__)
        truth = [seen(state) or [] for state in states]
        starts = [number for number in self.initial if begun(states[number])]
        strong = {row.name: row.fair == "strong" for row in self.model.rows}
        strong |= {group.name: group.fair == "strong" for group in self.model.groups}
        self.edges += [[] for _ in range(len(states) - len(self.edges))]
        beyond = [[seen(one) for one in self.beyond.get(at, ())] for at in range(len(states))]
        graph = Graph(self.edges, strong, beyond)
        if satisfied(graph, starts, negated(claim), truth):
            return "violated"
        outside = [seen(state) for state in self.beyond.get(-1, ()) if begun(state)]
        within = name in self.model.within_bounds
        if within or not unclear(graph, starts, negated(claim), truth, outside, kind):
            return "holds"
        return "unknown"


def repr_of(state: State) -> str:
    return repr([sorted_repr(value) for value in state])


def sorted_repr(value: Any) -> Any:
    if isinstance(value, dict):
        return sorted((repr(sorted_repr(k)), sorted_repr(v)) for k, v in value.items())
    if isinstance(value, frozenset):
        return sorted(repr(sorted_repr(part)) for part in value)
    if isinstance(value, tuple):
        return [sorted_repr(part) for part in value]
    return value
