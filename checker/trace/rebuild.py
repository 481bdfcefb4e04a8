"""Takes a Machine and a Finding, makes a Trace: every step found again by the reference semantics.

An engine only says which states lie on the path. The interpreter says which row led from each to
the next and what it did; where it knows no such row, the engine is wrong and nothing is shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property

from checker.errors import EvaluationError, InternalError
from checker.machine.machine import OF_STEPS, Action, Machine, Property
from checker.machine.types import Map, Set
from checker.passes.writes import written_variables
from checker.search.finding import Finding
from checker.semantics.evaluate import Context, evaluate
from checker.semantics.successor import State, Successor
from checker.semantics.successors import (
    as_mapping,
    initial_steps,
    steps_between,
    successors,
)
from checker.semantics.values import MapValue, RecordValue, format_value
from checker.trace.blocked import waiting_at_the_end
from checker.trace.claim import Unshown, breaks, property_context, shown
from checker.trace.difference import changes, channels_in, moves
from checker.trace.explain import explain
from checker.trace.naming import excerpt, place
from checker.trace.refinement import strays
from checker.trace.trace import Failure, Reason, Step, Trace, WayOut
from checker.trace.way_out import way_out
from checker.verdict.judge import WHY_DEADLOCK, WHY_LEGAL

WHY_BUILT_IN = {"deadlock": WHY_DEADLOCK, "legal": WHY_LEGAL}


def rebuild(machine: Machine, finding: Finding) -> Trace:
    """Return `finding` as a Trace; InternalError where the interpreter knows no such path."""
    return rebuild_all(machine, (finding,))[0]


def rebuild_all(machine: Machine, findings: Sequence[Finding]) -> list[Trace]:
    """Return a Trace of each finding; the steps that their paths share are found once."""
    replay = _Replay(machine)
    return [_rebuilt(machine, finding, replay) for finding in findings]


def _rebuilt(machine: Machine, finding: Finding, replay: _Replay) -> Trace:
    steps = [_initial_step(machine, finding)] if finding.path else []
    for number, (before, after) in enumerate(
        zip(finding.path, finding.path[1:], strict=False), start=1
    ):
        last = number == len(finding.path) - 1 and finding.loop is None
        shows = finding if last else None
        found = replay.step(before, after, number, shows)
        steps.append(make_step(machine, number, before, found))
    failure = None
    try:
        loop = shown(machine, finding.property, finding.kind, finding.path, finding.loop)
    except Unshown as wrong:
        raise InternalError(f"a path to {finding.property} was found, but {wrong}") from wrong
    if finding.kind == "error":
        failure, failed = _failure(machine, finding)
        steps += [failed] if failed is not None else []
    declared = next((item for item in machine.properties if item.name == finding.property), None)
    return Trace(
        machine=machine,
        property_name=finding.property,
        kind=finding.kind,
        why=WHY_BUILT_IN.get(finding.kind, "") if declared is None else declared.why,
        steps=tuple(steps),
        reasons=_reasons(machine, finding, declared),
        failure=failure,
        notes=_notes(machine, finding, declared),
        loop=loop,
        waiting=waiting_at_the_end(machine, finding.kind, finding.path, finding.loop),
        way_out=_way_out(machine, finding, declared),
    )


def make_step(machine: Machine, number: int, before: State, successor: Successor) -> Step:
    """Return one executed successor as a step from `before`."""
    action = _action(machine, successor.action)
    after = successor.state
    told = _told(machine, before, successor)
    return Step(
        number=number,
        row=successor.action,
        bindings=successor.bindings,
        picks=successor.picks,
        state=after,
        changes=()
        if after is None
        else tuple(
            change
            for change in changes(machine, before, after)
            if change.place.partition("[")[0] not in told
        ),
        moves=() if after is None else moves(machine, before, after),
        events=successor.events,
        illegal=successor.illegal,
        actor=action.actor,
        fault=action.fault,
        about=action.about,
        source=action.source,
        outside_bounds=successor.cut == "bounds",
        error=None if successor.error is None else describe(successor.error),
    )


def _told(machine: Machine, before: State, successor: Successor) -> set[str]:
    """Return the variables of which the events of a step say everything that it does to them.

    A row may clear a channel, beside what it sends.
    """
    told = {event.variable for event in successor.events}
    for variable, old, new in zip(machine.variables, before, successor.state or (), strict=False):
        if variable.name not in told or variable.origin != "channel":
            continue
        known = Counter(_messages(variable.name, old))
        for event in successor.events:
            if event.variable == variable.name and event.label != "read":
                one = event.channel, event.message
                known[one] += -1 if event.label in {"received", "lost"} else 1
        found = Counter(_messages(variable.name, new))
        kinds = variable.type
        while isinstance(kinds, Map):
            kinds = kinds.value
        if isinstance(kinds, Set):  # what is sent again adds nothing
            known = Counter({item: min(count, 1) for item, count in known.items()})
        if +known != found:
            told.discard(variable.name)
    return told


def _messages(name: str, value: object) -> Iterator[tuple[str, object]]:
    """Yield each message in the channels of a variable, with its channel."""
    return ((place, one) for place, content in channels_in(name, value) for one in content)


def describe(error: EvaluationError) -> str:
    """Return an evaluation error with its code, the text it happened in and its place."""
    return f"error {error.code}: {error} (in {excerpt(error.span)}, {place(error.span)})"


def _action(machine: Machine, name: str) -> Action:
    if name == machine.initial.name:
        return machine.initial
    return next(action for action in machine.actions if action.name == name)


def _initial_step(machine: Machine, finding: Finding) -> Step:
    start = finding.path[0]
    wants_illegal = finding.kind == "legal" and len(finding.path) == 1
    steps = (item for item in initial_steps(machine) if item.state == start)
    found = next((item for item in steps if item.illegal or not wants_illegal), None)
    if found is None:
        raise InternalError(
            f"the path to {finding.property} begins in a state that is not initial:\n"
            + format_state(machine, start)
        )
    return make_step(machine, 0, start, found)


class _Replay:
    """The steps of one machine, found by the reference semantics."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._found: dict[tuple[State, State], Successor] = {}

    def step(self, before: State, after: State, number: int, shows: Finding | None) -> Successor:
        """Return the first step between two states; where it is to show a finding, one that does.

        A step that shows what was found may be cut, as it is checked too; no run goes on after it.
        """
        known = self._found.get((before, after)) if shows is None else None
        if known is not None:
            return known
        machine = self._machine
        for found in steps_between(machine, self._able(before, after), before, after):
            if found.cut is None if shows is None else _is_shown(machine, before, found, shows):
                if shows is None:
                    self._found[before, after] = found
                return found
        raise InternalError(
            f"the reference semantics knows no row for step {number}, from\n"
            f"{format_state(machine, before)}\nto\n{format_state(machine, after)}"
        )

    def _able(self, before: State, after: State) -> Iterator[Action]:
        """Yield the actions that may change every variable that is another afterwards."""
        changed = {
            variable.name
            for variable, old, new in zip(self._machine.variables, before, after, strict=True)
            if old != new
        }
        for action, written in self._written:
            if changed <= written:
                yield action

    @cached_property
    def _written(self) -> list[tuple[Action, set[str]]]:
        return [(action, set(written_variables(action.body))) for action in self._machine.actions]


def _is_shown(machine: Machine, before: State, step: Successor, finding: Finding) -> bool:
    if finding.kind == "legal":
        return bool(step.illegal)
    return finding.kind not in OF_STEPS or breaks(machine, before, step, finding.property)


def format_state(machine: Machine, state: State) -> str:
    """Return a state, one variable a line."""
    return "\n".join(
        f"  {variable.name} = {format_value(value)}"
        for variable, value in zip(machine.variables, state, strict=True)
    )


def _failure(machine: Machine, finding: Finding) -> tuple[Failure, Step | None]:
    """Find an evaluation error again: in a row of the last state, or in a condition over it."""
    for found in failures(machine, finding.path, finding.action):
        return found
    raise InternalError(f"the reference semantics finds no evaluation error ({finding.property})")


def failures(
    machine: Machine, path: tuple[State, ...], row: str | None
) -> Iterator[tuple[Failure, Step | None]]:
    """Yield what fails at the end of a path: steps of a row, or else conditions over its state."""
    if not path or row is not None:
        for found in successors(machine, path[-1]) if path else initial_steps(machine):
            if found.error is not None and row in {None, found.action}:
                step = make_step(machine, len(path), path[-1] if path else (), found)
                yield _as_failure(found.error, found.action, None), step
    else:
        for name, error in _condition_errors(machine, path):
            yield _as_failure(error, None, name), None


def _condition_errors(
    machine: Machine, path: tuple[State, ...]
) -> Iterator[tuple[str | None, EvaluationError]]:
    """Yield the errors of properties and terminal conditions at the end of `path`."""
    judged = [
        (item.name, condition, property_context(machine, path, item))
        for item in machine.properties
        for condition in (item.condition, item.premise, item.initially, *item.atoms)
        if item.kind not in OF_STEPS and condition is not None
    ]
    here = Context(as_mapping(machine, path[-1]), {})
    for name, condition, context in [*judged, *((None, term, here) for term in machine.terminal)]:
        try:
            evaluate(condition, context)
        except EvaluationError as error:
            yield name, error


def _as_failure(error: EvaluationError, row: str | None, property_: str | None) -> Failure:
    text = excerpt(error.span)
    message = f"{error} (in {text})" if text else str(error)
    return Failure(error.code, message, place(error.span), row, property_)


def _way_out(machine: Machine, finding: Finding, declared: Property | None) -> WayOut | None:
    if finding.loop is None or declared is None:
        return None
    return way_out(machine, declared, finding.path, finding.loop)


def _reasons(machine: Machine, finding: Finding, declared: Property | None) -> tuple[Reason, ...]:
    unsaid = {"error", "deadlock", "legal", "refines", "ltl", "eventually_always"}
    if declared is None or finding.kind in unsaid:
        return ()
    return explain(declared.condition, property_context(machine, finding.path, declared))


def _notes(machine: Machine, finding: Finding, declared: Property | None) -> tuple[str, ...]:
    """What a reader asks next: of a deadlock, which faults could happen, what nobody takes.

    Of a step that is none of the system that is refined, what it does there and what comes near.
    """
    if finding.kind == "refines" and declared is not None:
        return strays(machine, declared, finding.path)
    if finding.kind != "deadlock":
        return ()
    state = finding.path[-1]
    faults = dict.fromkeys(found.action for found in successors(machine, state))
    notes = [f"only faults can happen here: {', '.join(faults)}"] if faults else []
    for variable, value in zip(machine.variables, state, strict=True):
        if variable.origin in {"channel", "calls", "operation", "timer"}:
            notes += _left(variable.name, value)
    return tuple(notes)


def _left(place_: str, value: object) -> Iterator[str]:
    """Yield what is left in channels, calls and the like; free slots and empty ones hold none."""
    if isinstance(value, MapValue):
        for key, item in value.items():
            yield from _left(f"{place_}[{format_value(key)}]", item)
    elif value and not (isinstance(value, RecordValue) and value.name == "Free"):
        yield f"left in {place_}: {format_value(value)}"
