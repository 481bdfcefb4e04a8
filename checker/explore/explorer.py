"""What the browser asks: where a path leads, what can be done there, how to get somewhere else.

A path is the numbers of the choices taken, the initial state's first. So nothing is kept for a
browser: going back is a shorter path, a branch another one, and the same path is always the same.
"""

from __future__ import annotations

import shlex
import time
from collections import OrderedDict, deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from checker import flow
from checker.digits import natural
from checker.errors import EvaluationError, SpecificationError, UsageError
from checker.frozen import frozen
from checker.machine import terms
from checker.machine.machine import Machine
from checker.report.headline import fault_mark, plural
from checker.report.story import flattened
from checker.search.limits import Limits
from checker.semantics.evaluate import Context, evaluate
from checker.semantics.successor import State, Successor
from checker.semantics.successors import as_mapping, initial_states, step_violations, successors
from checker.table import Document
from checker.table.predicate import QUERY
from checker.trace import itf
from checker.trace.asked import term_of, value_in
from checker.trace.naming import event_name, step_name
from checker.trace.rebuild import make_step
from checker.trace.recorded import Recorded, RecordedStep, recorded_of, the_step
from checker.trace.trace import Step, Trace
from checker.trace.walking import Mark, choice_name, marks
from checker.visible import json_text

Json = dict[str, Any]
Path = tuple[int, ...]

KEPT = 5_000
"""Nodes that are remembered; others are found again."""

LONGEST = 2_000
STATES_FROM_HERE = 30_000
SECONDS_FROM_HERE = 20.0
STATES_FROM_THE_START = 20_000_000
SECONDS_FROM_THE_START = 60.0


@frozen()
class Node:
    """A state on a path, the step that led to it, and what can come next."""

    step: Step | None
    state: State | None
    choices: tuple[Successor, ...]


class Explorer:
    """Answers what the browser asks of one instance."""

    def __init__(self, request: flow.Request, document: Document, machine: Machine) -> None:
        self.request = request
        self.document = document
        self.machine = machine
        self.first: Path = ()
        self._nodes: OrderedDict[Path, Node] = OrderedDict()
        starts = [item for item in initial_states(machine) if item.state is not None]
        if len(starts) == 1:
            self.first = (initial_states(machine).index(starts[0]),)

    def node(self, path: Path) -> Node:
        """Return where a path leads; UsageError where there is no such path."""
        if len(path) > LONGEST:
            raise UsageError(f"a path has at most {LONGEST} steps")
        known = len(path)
        while known and path[:known] not in self._nodes:
            known -= 1
        start = tuple(initial_states(self.machine))
        node = self._nodes.get(path[:known]) or Node(None, None, start)
        for length in range(known + 1, len(path) + 1):
            node = self._next(node, path[length - 1], length - 1)
            self._nodes[path[:length]] = node
            if len(self._nodes) > KEPT:
                self._nodes.popitem(last=False)
        return node

    def _next(self, node: Node, number: int, length: int) -> Node:
        if not 0 <= number < len(node.choices):
            raise UsageError(f"there is no choice {number} after {plural(length, 'step')}")
        choice = node.choices[number]
        if choice.state is None:
            raise UsageError(f"{choice_name(choice, length)} leads nowhere")
        before = choice.state if node.state is None else node.state
        step = make_step(self.machine, length, before, choice)
        return Node(step, choice.state, tuple(successors(self.machine, choice.state)))

    def here(self, path: Path) -> Json:
        """Return the steps of a path, the state at its end, and what can be done there."""
        steps = self.steps(path)
        node = self.node(path)
        places = {} if node.state is None else flattened(self.machine, node.state)
        before = self.node(path[:-1]).state if path else None
        old = {} if before is None else flattened(self.machine, before)
        new = [name for name, text in places.items() if len(path) > 1 and old.get(name) != text]
        return {
            "path": list(path),
            "steps": [_told(step) for step in steps],
            "places": places,
            "changed": new,
            "choices": [
                self._choice(node, number, len(path), told)
                for number, told in enumerate(marks(self.machine, node.state, node.choices))
            ],
            "properties": [*self._properties(node.state), *self._broken_by_the_step(path)],
            "command": self._command(path),
        }

    def about(self) -> Json:
        """Return what is explored, and where a path begins."""
        tables = {table.name: [name for name, _ in table.states] for table in self.machine.tables}
        machines = {
            variable.name: tables[variable.table]
            for variable in self.machine.variables
            if variable.table is not None and variable.table in tables
        }
        return {
            "name": self.machine.name,
            "instance": self.machine.instance,
            "about": self.machine.about,
            "first": list(self.first),
            "machines": machines,
        }

    def steps(self, path: Path) -> tuple[Step, ...]:
        """Return the steps of a path, the initial state as the first."""
        found = (self.node(path[: length + 1]).step for length in range(len(path)))
        return tuple(step for step in found if step is not None)

    def _choice(self, node: Node, number: int, length: int, told: tuple[Mark, ...]) -> Json:
        choice = node.choices[number]
        before = node.state if node.state is not None else choice.state or ()
        step = make_step(self.machine, length, before, choice)
        return {
            **_told(step),
            "name": choice_name(choice, length),
            "number": number,
            "possible": choice.state is not None,
            "marks": told,
        }

    def _properties(self, state: State | None) -> list[Json]:
        found: list[Json] = []
        if state is None:
            return found
        context = Context(as_mapping(self.machine, state), {})
        for item in self.machine.properties:
            if item.kind in {"always", "sometimes"}:
                value = "no value"
                with suppress(EvaluationError):
                    value = "true" if evaluate(item.condition, context) else "false"
                broken = item.kind == "always" and value == "false"
                found.append(
                    {"name": item.name, "kind": item.kind, "value": value, "broken": broken}
                )
        return found

    def _broken_by_the_step(self, path: Path) -> list[Json]:
        """Return the properties of steps that the last step of a path breaks."""
        if len(path) < 2:
            return []
        before = self.node(path[:-1])
        names = step_violations(self.machine, before.state, before.choices[path[-1]])
        kinds = {item.name: item.kind for item in self.machine.properties}
        return [
            {"name": name, "kind": kinds[name], "value": "broken by the last step", "broken": True}
            for name in names
        ]

    def _command(self, path: Path) -> str:
        """Return the path as a command line: the steps by name, into the walk of the terminal.

        A name that several steps have is no way to say which; then it is the number.
        """
        words = self._origin().command.split("checker step", 1)[1]
        told = []
        for length in range(len(self.first), len(path)):
            names = [choice_name(item, length) for item in self.node(path[:length]).choices]
            name = names[path[length]]
            told.append(name if names.count(name) == 1 else str(path[length] + 1))
        lines = shlex.join(["printf", "%s\\n", *told]) if told else "true"
        return f"{lines} | checker step{words}"

    def _origin(self) -> Any:
        return flow.provenance(self.request, self.document).by("step")

    def as_itf(self, path: Path) -> str:
        """Return a path as a trace (ITF JSON)."""
        trace = Trace(self.machine, "", "sometimes", "", self.steps(path), (), None, ())
        return itf.dump(trace, self._origin())

    def value(self, path: Path, text: str) -> Json:
        """Return the value of an expression at the end of a path, and along it."""
        term = term_of(self.document, self.request.instance, self.request.overrides, text)
        values = []
        for step in self.steps(path):
            assert step.state is not None
            values.append(value_in(self.machine, term, step.state)[0])
        return {"values": values}

    def follow(self, states: tuple[State, ...], steps: Sequence[RecordedStep] = ()) -> Path:
        """Return the path along some states; UsageError where no step leads to the next.

        By the `steps` that a file tells, where it tells any.
        """
        path: Path = ()
        for number, (state, step) in enumerate(zip_longest(states, steps)):
            found = the_step(self.node(path).choices, state, step)
            if found is None:
                raise UsageError(f"the trace does not fit {self.machine.name}: no step {number}")
            path = (*path, found)
        return path

    def load(self, text: str) -> Path:
        """Return the path of a trace in a file's text."""
        return self.retrace(recorded_of(itf.load(text, "the trace"), "the trace"))

    def retrace(self, recorded: Recorded) -> Path:
        """Return the path of a recorded trace."""
        states = itf.read_states(self.machine, recorded.data, recorded.name)
        return self.follow(states, recorded.steps)

    def seek(self, path: Path, predicate: str, *, start: bool) -> Json:
        """Return a shortest path to a state that satisfies a predicate, or what is known instead.

        From the start the search is the one of `check`; from here it is the interpreter's, which
        goes less far.
        """
        return self._from_start(predicate) if start or not path else self._from(path, predicate)

    def _from_start(self, predicate: str) -> Json:
        try:
            request = self.request
            _, asked = flow.question(request, predicate, flow.Silent())
        except SpecificationError as failure:
            if any(item.code != "Y330" for item in failure.diagnostics):
                raise
            request = replace(request, symmetry=False)
            _, asked = flow.question(request, predicate, flow.Silent())
        wanted = asked.properties[0]
        never = replace(
            wanted, kind="always", condition=terms.Not(wanted.condition, wanted.condition.span)
        )
        limits = Limits(states=STATES_FROM_THE_START, seconds=SECONDS_FROM_THE_START)
        result = flow.check_machine(
            replace(request, limits=limits),
            self.document,
            replace(asked, properties=(never,), deadlock=False, expectation=None),
            flow.Silent(),
        )
        for trace in result.traces:
            if trace.property_name == QUERY and trace.kind == "always":
                return {"path": list(self.follow(trace.states))}
            ended = trace.failure
            if ended is not None:
                where = f"{ended.code}: {ended.message}, at {ended.place}"
                raise UsageError(f"the search ended after {plural(trace.length, 'step')}: {where}")
        searched = result.exploration
        if searched.exhaustive:
            return {"path": None, "said": f"no state of {searched.distinct:,} satisfies it"}
        said = f"not found in {plural(searched.distinct, 'state')}"
        complete = searched.depth_complete
        whole = "no depth complete" if complete < 0 else f"complete to depth {complete}"
        return {"path": None, "said": f"{said}, {whole}"}

    def _from(self, path: Path, predicate: str) -> Json:
        request = self.request
        term = term_of(
            self.document, request.instance, request.overrides, predicate, condition=True
        )
        begun = time.monotonic()
        start = self.node(path).state
        assert start is not None
        met, beyond, fails = {start}, set[State](), False
        waiting: deque[tuple[State, Path, bool]] = deque([(start, path, True)])
        while waiting:
            state, way, inside = waiting.popleft()
            if evaluate(term, Context(as_mapping(self.machine, state), {})) is True:
                return {"path": list(way)}
            if len(met) > STATES_FROM_HERE or time.monotonic() - begun > SECONDS_FROM_HERE:
                # Of those as far from here as this one others may be left.
                steps = max(len(way) - len(path) - 1, 0)
                said = f"not found within {plural(steps, 'step')} from here ({len(met):,} states)"
                return {"path": None, "said": said}
            for number, choice in enumerate(successors(self.machine, state) if inside else ()):
                fails = fails or choice.error is not None
                known = met if choice.cut is None else beyond
                if choice.state is not None and choice.state not in known:
                    known.add(choice.state)
                    waiting.append((choice.state, (*way, number), choice.cut is None))
        said = f"no state from here on satisfies it ({len(met | beyond):,} states)"
        return {"path": None, "said": said + "; a step fails, so more is not known" * fails}


def path_of(text: str) -> Path:
    """Return the path that `0.3.1` says; UsageError where it says none."""
    if not text:
        return ()
    path = tuple(natural(part, 6) for part in text.split("."))
    numbers = tuple(number for number in path if number is not None)
    if len(path) > LONGEST or len(numbers) < len(path):
        raise UsageError("a path is numbers with dots between them")
    return numbers


def as_text(data: Json) -> str:
    """Return an answer as JSON."""
    return json_text(data, dense=True)


def _told(step: Step) -> Json:
    """Return a step as the browser shows it."""
    details = [f"{event.label} {event_name(event)}" for event in step.events]
    details += [str(change).replace(" -> ", " → ") for change in step.changes]
    details += [f"illegal: {move.machine} {move.origin} → {move.target}" for move in step.illegal]
    details += [step.error] if step.error is not None else []
    return {
        "name": step_name(step),
        "row": step.row,
        "actor": step.actor or "",
        "fault": fault_mark(step) if step.fault is not None else "",
        "about": step.about,
        "source": step.source,
        "details": details,
    }
