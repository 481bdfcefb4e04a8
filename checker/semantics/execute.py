"""The meaning of statements: one execution of an action's body, for one script of choices.

`executions` runs a body once for every way its picks can fall. It does so by replay: each run
follows a *script* of choices (the numbers of the picked values) and takes the first value where
the script ends; then the last choice that has a further value is advanced, like an odometer. So
the executions come in the order of their picks, and no run knows of another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, assert_never

from checker.errors import EvaluationError, InternalError
from checker.frozen import frozen
from checker.machine import terms
from checker.machine.machine import Machine
from checker.machine.terms import Place, Statement
from checker.machine.types import Bag, Id, Map, Option, Record, Sequence, Set, Type, Union
from checker.semantics.evaluate import Context, evaluate
from checker.semantics.place import (
    ABSENT,
    Path,
    Update,
    changed,
    machine_text,
    path_of,
    place_text,
    read_place,
)
from checker.semantics.successor import Event, IllegalTransition
from checker.semantics.values import MapValue, bag_value, choices, elements, format_value


@frozen()
class Execution:
    """How one run of a body ended.

    `done`: `values` is the state it left. `out of ids`: a Fresh found none. `abandoned`: a Require
    failed or a full channel blocked; it is as if this run had not been enabled. `failed`: `error`.
    """

    end: Literal["done", "out of ids", "abandoned", "failed"]
    values: Mapping[str, object]
    picks: tuple[tuple[str, object], ...]
    events: tuple[Event, ...] = ()
    illegal: tuple[IllegalTransition, ...] = ()
    error: EvaluationError | None = None


@dataclass(slots=True)
class _Choices:
    """A script of choices: the numbers to take, and of each choice met how many it had."""

    script: list[int]
    sizes: list[int] = field(default_factory=list)

    def choose(self, size: int) -> int:
        """The next choice among `size`, which is at least 1."""
        place = len(self.sizes)
        self.sizes.append(size)
        if place == len(self.script):
            self.script.append(0)
        return self.script[place]

    def following(self) -> list[int] | None:
        """The script after this one in lexicographic order; None after the last."""
        script = list(self.script)
        while script:
            if script[-1] + 1 < self.sizes[len(script) - 1]:
                script[-1] += 1
                return script
            script.pop()
        return None


@dataclass(slots=True)
class _Run:
    """One run on its way: the state as it is now, the names, and what happened."""

    machine: Machine
    start: Mapping[str, object]
    values: dict[str, object]
    names: dict[str, object]
    choices: _Choices
    picks: list[tuple[str, object]] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    illegal: list[IllegalTransition] = field(default_factory=list)
    drawn: dict[str, set[object]] = field(default_factory=dict)

    @property
    def context(self) -> Context:
        return Context(self.values, self.names)


class _Jump(Exception):  # noqa: N818 - jumps are no errors
    """Control leaves the statement that runs."""


class _BreakFor(_Jump):
    """To the end of the innermost `for`."""


class _LeaveScope(_Jump):
    """To the end of the enclosing scope with this label."""

    def __init__(self, label: str) -> None:
        super().__init__(label)
        self.label = label


class _EndRow(_Jump):
    """To the end of the row: a Reject has run."""


class _Abandon(_Jump):
    """The run does not count."""


class _OutOfIds(_Jump):
    """The run is cut."""


def executions(
    machine: Machine,
    body: tuple[Statement, ...],
    values: Mapping[str, object],
    names: Mapping[str, object],
) -> Iterator[Execution]:
    """Yield the executions of `body` in the order of their picks, abandoned ones included.

    `values` is the state (variable to value) that it starts in, `names` its bindings and lets.
    """
    script: list[int] | None = []
    while script is not None:
        run = _Run(machine, values, dict(values), dict(names), _Choices(script))
        yield _execution(run, body)
        script = run.choices.following()


def _execution(run: _Run, body: tuple[Statement, ...]) -> Execution:
    try:
        _block(body, run)
    except _EndRow:
        pass
    except _Abandon:
        return Execution("abandoned", run.values, tuple(run.picks))
    except _OutOfIds:
        return Execution("out of ids", run.values, tuple(run.picks))
    except EvaluationError as error:
        return Execution("failed", run.values, tuple(run.picks), error=error)
    except _Jump as jump:
        raise InternalError(f"{type(jump).__name__} leads nowhere") from jump
    return Execution("done", run.values, tuple(run.picks), tuple(run.events), tuple(run.illegal))


def _block(body: tuple[Statement, ...], run: _Run) -> None:
    for statement in body:
        _statement(statement, run)


def _statement(statement: Statement, run: _Run) -> None:
    match statement:
        case terms.Assign(place, value, _):
            path = path_of(place, run.context)
            new = evaluate(value, run.context)
            _change(place, path, lambda _, __: new, run)
        case terms.Transition():
            _transition(statement, run)
        case terms.Delete(place, _):
            path = path_of(place, run.context)
            read_place(run.values[place.variable], path, place.span)
            _change(place, path, lambda _, __: ABSENT, run)
        case terms.SetLocal(name, value, _):
            run.names[name] = evaluate(value, run.context)
        case terms.If(condition, then, otherwise, _):
            _block(then if evaluate(condition, run.context) else otherwise, run)
        case terms.For():
            _for(statement, run)
        case terms.Break():
            raise _BreakFor
        case terms.Pick():
            _pick(statement, run)
        case terms.Fresh():
            _fresh(statement, run)
        case terms.Send():
            _send(statement, run)
        case terms.Receive():
            _receive(statement, run)
        case terms.Note(place, message, label, _):
            path = path_of(place, run.context)
            _event(label, place, path, evaluate(message, run.context), run)
        case terms.Require(condition, _):
            if not evaluate(condition, run.context):
                raise _Abandon
        case terms.Assert(condition, span):
            if not evaluate(condition, run.context):
                raise EvaluationError("E510", "an assertion is false", span)
        case terms.Reject(body, _):
            _reject(body, run)
        case terms.Scope(label, body, _):
            try:
                _block(body, run)
            except _LeaveScope as leave:
                if leave.label != label:
                    raise
        case terms.Leave(label, _):
            raise _LeaveScope(label)
        case _:
            assert_never(statement)


def _change(place: Place, path: Path, update: Update, run: _Run) -> None:
    """Update what stands at `path`, which must be there unless a map's key is its last step."""
    kind = run.machine.variable(place.variable).type
    old = run.values[place.variable]
    run.values[place.variable] = changed(kind, old, path, update, place.span)


def _transition(statement: terms.Transition, run: _Run) -> None:
    place = statement.place
    path = path_of(place, run.context)
    new = evaluate(statement.value, run.context)
    old = read_place(run.values[place.variable], path, place.span)
    if not run.machine.table(statement.table).allows(statement.kind, old, new):
        of_each = run.machine.variable(place.variable).of_each
        machine = (place_text if of_each is False else machine_text)(place.variable, path)
        run.illegal.append(IllegalTransition(machine, statement.table, statement.kind, old, new))
    _change(place, path, lambda _, __: new, run)


def _for(statement: terms.For, run: _Run) -> None:
    domain = statement.domain
    for value in elements(domain.type, evaluate(domain, run.context)):
        run.names[statement.name] = value
        try:
            _block(statement.body, run)
        except _BreakFor:
            break


def _pick(statement: terms.Pick, run: _Run) -> None:
    name, domain, condition = statement.name, statement.domain, statement.condition
    context = run.context
    candidates = [
        value
        for value in choices(domain.type, evaluate(domain, context))
        if condition is None or evaluate(condition, context.bind(name, value))
    ]
    if not candidates:
        raise EvaluationError("E508", f"nothing to pick {name} from", statement.span)
    value = candidates[run.choices.choose(len(candidates))]
    run.names[name] = value
    run.picks.append((name, value))


def _fresh(statement: terms.Fresh, run: _Run) -> None:
    kind = statement.type
    drawn = run.drawn.setdefault(kind.name, set())
    used = set(drawn)
    for variable in run.machine.variables:
        used |= occurring(kind, variable.type, run.values[variable.name])
        used |= occurring(kind, variable.type, run.start[variable.name])
    free = [member for member in kind.members if member not in used]
    if not free:
        raise _OutOfIds
    drawn.add(free[0])
    run.names[statement.name] = free[0]


def occurring(wanted: Id, kind: Type, value: Any) -> set[object]:
    """Return the ids of type `wanted` that occur in `value`, a value of `kind`.

    The keys of a total map are places, not content: they do not count. Those of a partial map do.
    """
    found: set[object] = set()
    match kind, value:
        case Id(name, _, _), _:
            return {value} if name == wanted.name else found
        case Option(item), _:
            return found if value is None else occurring(wanted, item, value)
        case Record(_, fields), _:
            return found.union(*(occurring(wanted, part, value[name]) for name, part in fields))
        case Union(_, variants), _:
            shape = next(variant for variant in variants if variant.name == value.name)
            return occurring(wanted, shape, value)
        case Map(key, held, total), MapValue():
            if not total:
                found.update(*(occurring(wanted, key, name) for name in value))
            return found.union(*(occurring(wanted, held, part) for part in value.values()))
        case ((Set(item) | Sequence(item, _) | Bag(item, _)), _):
            return found.union(*(occurring(wanted, item, member) for member in value))
    return found


def _send(statement: terms.Send, run: _Run) -> None:
    place = statement.place
    path = path_of(place, run.context)
    message = evaluate(statement.message, run.context)
    content = read_place(run.values[place.variable], path, place.span)
    kind = place.type
    if isinstance(kind, Sequence | Bag) and len(content) >= kind.capacity:
        match statement.when_full:
            case "block":
                raise _Abandon
            case "drop":
                _event(statement.label, place, path, message, run)
                _event("lost", place, path, message, run)
                return
            case "error":
                full = f"{place_text(place.variable, path)} holds {kind.capacity} already"
                raise EvaluationError("E509", full, statement.span)
    match kind:
        case Set():
            content |= {message}
        case Sequence():
            content = (*content, message)
        case Bag():
            content = bag_value(kind, (*content, message))
        case _:
            raise InternalError(f"{place.span}: nothing can be sent to {kind}")
    _change(place, path, lambda _, __: content, run)
    _event(statement.label, place, path, message, run)


def _receive(statement: terms.Receive, run: _Run) -> None:
    place = statement.place
    path = path_of(place, run.context)
    message = evaluate(statement.message, run.context)
    content = read_place(run.values[place.variable], path, place.span)
    if message not in content:
        absent = f"{place_text(place.variable, path)} does not hold {format_value(message)}"
        raise EvaluationError("E505", absent, statement.span)
    _event(statement.label, place, path, message, run)
    if statement.label == "read":
        return
    if isinstance(content, frozenset):
        content -= {message}
    else:
        first = content.index(message)
        content = content[:first] + content[first + 1 :]
    _change(place, path, lambda _, __: content, run)


def _event(label: str, place: Place, path: Path, message: object, run: _Run) -> None:
    if label != "silent":
        run.events.append(Event(label, place_text(place.variable, path), place.variable, message))


def _reject(body: tuple[Statement, ...], run: _Run) -> None:
    """Begin again from the row's first state; names, picks and drawn ids stay."""
    run.values.clear()
    run.values.update(run.start)
    run.events.clear()
    run.illegal.clear()
    _block(body, run)
    raise _EndRow
