"""Drive an implementation of your own along a specification, with Hypothesis.

`state_machine(spec, Adapter)` makes a `RuleBasedStateMachine` whose steps are rows. The model runs
in the reference interpreter and says which rows are enabled; Hypothesis chooses among those only,
and among their bindings; the adapter does the same to the implementation; after every step what the
adapter observes is compared with the model. docs/testing.md shows it from end to end.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from checker import flow
from checker.errors import UsageError
from checker.machine.machine import Machine
from checker.semantics.plain import plain, plain_value, same
from checker.semantics.successor import State, Successor
from checker.semantics.successors import initial_states, successors
from checker.semantics.values import format_value
from checker.table.problems import nearest

Bound = tuple[tuple[str, object], ...]
Way = tuple[str, Bound, Bound]
"""A row, its bindings and the picks that an adapter is told: what it is asked to do."""

RESERVED = frozenset({"observe", "begin", "close"})


class Adapter(Protocol):
    """What `state_machine` needs of an adapter, beside one method for each row.

    A row's method is called with the row's bindings by name, and with the values that `pick`
    chose where it has parameters of their names. `begin(initial)` and `close()` are optional:
    they are called with the initial values that the model starts from, and at the end of a run.
    """

    def observe(self) -> Mapping[str, object]:
        """Return what is to be compared: names of variables of the model, and their values.

        Ids, states and enum values are strings, sets may be sets or frozensets, maps are
        mappings, sequences and bags lists or tuples (bags in any order), records mappings of their
        fields (a message also has its name as `kind`), none is None.
        """


class Choice:
    """One way on from the model's state: a row instance with its picks; prints as its name.

    No dataclass: Hypothesis would print the fields of one.
    """

    def __init__(self, successor: Successor) -> None:
        self.successor = successor

    def __repr__(self) -> str:
        step = self.successor
        values = ", ".join(format_value(value) for _, value in step.bindings)
        picks = ", ".join(format_value(value) for _, value in step.picks)
        return step.action + f"({values})" * bool(values) + f" pick {picks}" * bool(picks)


def state_machine(
    spec: str | Path,
    adapter: Callable[[], Any],
    *,
    instance: str = "default",
    overrides: Mapping[str, int | bool | str] | None = None,
    skip: Iterable[str] = (),
) -> type[RuleBasedStateMachine]:
    """Return a state machine class that holds `adapter`'s implementation to a specification.

    `spec` is a file, a folder or a shipped name. `adapter` makes a fresh adapter for each run.
    Rows in `skip` never happen; nor do generated rows (losses, duplicates) for which the adapter
    has no method. Raises UsageError for a row without a method or a method without a row,
    SpecificationError for a wrong specification.

    Use it as `TestIt = state_machine(...).TestCase` under pytest or unittest.
    """
    machine = flow.machine_of(str(spec), instance, overrides or {})
    rows = _driven_rows(machine, adapter, frozenset(skip))
    members: dict[str, object] = {
        "machine": machine,
        "adapter_factory": staticmethod(adapter),
        "driven": frozenset(rows),
    }
    return type(f"{machine.name.title().replace('_', '')}Machine", (ModelMachine,), members)


def _driven_rows(
    machine: Machine, adapter: Callable[[], Any], skip: frozenset[str]
) -> tuple[str, ...]:
    """Return the rows to drive; UsageError where adapter and specification do not match."""
    names = {action.name for action in machine.actions}
    known = _methods(adapter)
    unknown = skip - names
    if unknown:
        raise UsageError(
            f"{machine.name} has no rows {_list(unknown)} to skip{_near(unknown, names)}"
        )
    missing = {
        action.name
        for action in machine.actions
        if action.name not in known and action.name not in skip and not action.generated
    }
    if missing:
        there = {name for name in known - names if not name.startswith("_")}
        raise UsageError(
            f"the adapter lacks methods for the rows {_list(missing)}{_near(missing, there)}; "
            "or skip them"
        )
    strange = {name for name in known if not name.startswith("_")} - RESERVED - names
    if strange:
        raise UsageError(
            f"{machine.name} has no rows {_list(strange)}{_near(strange, names)}; "
            "call helpers _name"
        )
    return tuple(
        action.name
        for action in machine.actions
        if action.name in known and action.name not in skip
    )


def _methods(adapter: Callable[[], Any]) -> set[str]:
    """Return what can be called of an adapter; one is made to see, where a function makes them."""
    if inspect.isclass(adapter):
        return {name for name in dir(adapter) if callable(getattr(adapter, name, None))}
    made = adapter()
    try:
        return {name for name in dir(made) if callable(getattr(made, name, None))}
    finally:
        _close(made)


def _close(adapter: object) -> None:
    close = getattr(adapter, "close", None)
    if close is not None:
        close()


def _list(names: Iterable[object]) -> str:
    return ", ".join(sorted(map(str, names)))


def _near(names: Iterable[object], known: Collection[str]) -> str:
    """Return a question for the first of some wrong names that is like a known one."""
    found = (nearest(name, known) for name in sorted(map(str, names)))
    close = next((name for name in found if name is not None), None)
    return f" (did you mean {close}?)" if close else ""


def _observed(adapter: Any, variables: Collection[str]) -> dict[str, object]:
    """Return what an adapter sees; UsageError where that cannot be compared, or is nothing."""
    seen = adapter.observe()
    if not isinstance(seen, Mapping):
        raise UsageError(
            f"observe() returned {seen!r}, not a mapping of variables to values; "
            "is a `return` missing?"
        )
    if not seen:
        raise UsageError("observe() returned no variable: nothing would be compared")
    unknown = seen.keys() - variables
    if unknown:
        raise UsageError(
            f"observe() names no variables of the model: {_list(unknown)}"
            + _near(unknown, variables)
        )
    return dict(seen)


class ModelMachine(RuleBasedStateMachine):
    """The model and the implementation side by side; `state_machine` says which they are.

    There is one rule, which is always possible: a rule for each row would have most of what
    Hypothesis draws thrown away, for rows that are not enabled.
    """

    machine: Machine
    adapter_factory: Callable[[], Any]
    driven: frozenset[str]

    def __init__(self) -> None:
        super().__init__()
        self.adapter = self.adapter_factory()
        self.steps: list[str] = []
        self.states: list[State] = []
        self.choices: dict[str, list[Choice]] = {}
        self.ways: dict[Way, list[Choice]] = {}

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        """Choose an initial state of the model and tell the adapter."""
        starts = [Choice(item) for item in initial_states(self.machine) if item.state is not None]
        begin = getattr(self.adapter, "begin", None)
        if begin is not None:
            starts = [data.draw(st.sampled_from(starts), label="initial state")]
            begin(self._expected(starts[0]))
        self._compare(starts)

    @rule(data=st.data())
    def step(self, data: st.DataObject) -> None:
        """Let Hypothesis choose an enabled row and an instance of it; stay where there is none."""
        if self.choices:
            rows = [action.name for action in self.machine.actions if action.name in self.choices]
            self.take(data.draw(st.sampled_from(rows), label="row"), data)

    def take(self, row: str, data: st.DataObject) -> None:
        """Let Hypothesis choose an instance of `row`, run it on both sides, compare."""
        choice = data.draw(st.sampled_from(self.choices[row]), label="step")
        method = getattr(self.adapter, row)
        way = self._way(choice)
        given = {name: plain_value(value) for name, value in (*way[1], *way[2])}
        try:
            inspect.signature(method).bind(**given)
        except TypeError as error:
            raise UsageError(f"the adapter's {row} takes other arguments: {error}") from None
        method(**given)
        self.steps.append(repr(choice))
        self._compare(self.ways[way])

    def teardown(self) -> None:
        """Close the adapter, if it can be closed."""
        _close(self.adapter)

    def _way(self, choice: Choice) -> Way:
        """Return what the adapter is told of a step: not the picks that it makes for itself."""
        step = choice.successor
        parameters = inspect.signature(getattr(self.adapter, step.action)).parameters
        told = tuple((name, value) for name, value in step.picks if name in parameters)
        return step.action, step.bindings, told

    def _enter(self, states: list[State]) -> None:
        """Go on from the states that the implementation may be in, by what can be done in each."""
        self.states, self.choices, self.ways = states, {}, {}
        everywhere: list[set[Way]] = []
        for state in states:
            everywhere.append(set())
            for found in successors(self.machine, state):
                # What fails or leaves the bounds is for `checker check` to judge, not for a test.
                if found.action in self.driven and found.state is not None and found.cut is None:
                    way = self._way(Choice(found))
                    everywhere[-1].add(way)
                    self.ways.setdefault(way, []).append(Choice(found))
        for way, choices in self.ways.items():
            if all(way in here for here in everywhere):
                self.choices.setdefault(way[0], []).extend(choices)

    def _expected(self, choice: Choice) -> dict[str, object]:
        assert choice.successor.state is not None
        return {
            variable.name: plain(variable.type, value)
            for variable, value in zip(self.machine.variables, choice.successor.state, strict=True)
        }

    def _compare(self, possible: list[Choice]) -> None:
        """Follow all of the possible choices that the implementation agrees with.

        There are several only where the implementation picks for itself. Which of them it has
        taken may show later, or never.
        """
        types = {variable.name: variable.type for variable in self.machine.variables}
        observed = _observed(self.adapter, types.keys())
        differences: list[str] = []
        agreed: dict[State, None] = {}
        for choice in possible:
            expected = self._expected(choice)
            wrong = [
                f"  {name}: the model has {expected[name]!r}, the implementation {value!r}"
                for name, value in observed.items()
                if not same(types[name], expected[name], value)
            ]
            differences = differences or wrong
            if not wrong and choice.successor.state is not None:
                agreed[choice.successor.state] = None
        if agreed:
            self._enter(list(agreed))
            return
        history = "".join(f"\n  {step}" for step in self.steps) or "\n  (the initial state)"
        raise AssertionError(
            "the implementation differs from the model\n"
            + "\n".join(differences)
            + f"\nafter the steps{history}"
        )
