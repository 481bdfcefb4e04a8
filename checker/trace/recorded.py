"""Traces read back from ITF files: what they show, whether they still replay, where two differ."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn, get_args

from checker.errors import UsageError
from checker.frozen import frozen
from checker.machine.machine import LIVENESS, Machine
from checker.search.finding import FindingKind
from checker.semantics.successor import State, Successor
from checker.semantics.successors import initial_steps, successors
from checker.semantics.values import format_value
from checker.table.looks import text_of
from checker.trace.claim import contradiction
from checker.trace.itf import Json, load, read_states
from checker.trace.naming import end_of
from checker.trace.rebuild import failures

SIZE_MAX = 64 << 20
"""Bytes of a file that is read as a trace."""


@frozen()
class RecordedStep:
    """One state of a file with what its `#meta` says of the step that led to it."""

    number: int
    row: str
    bindings: tuple[tuple[str, str], ...]
    picks: tuple[tuple[str, str], ...]
    actor: str
    events: tuple[str, ...]
    changes: tuple[str, ...]

    @property
    def name(self) -> str:
        """The step's name, `leave(m2) pick m1`."""
        values = ", ".join(value for _, value in self.bindings)
        picks = ", ".join(value for _, value in self.picks)
        head = "initial state" if self.number == 0 else self.row + f"({values})" * bool(values)
        return head + f" pick {picks}" * bool(picks)


@frozen()
class Recorded:
    """A trace as its file tells it; `data` is the whole ITF object."""

    name: str
    spec: str
    spec_hash: str
    instance: str
    overrides: dict[str, int | bool | str]
    property_name: str
    kind: str
    failed: str
    command: str
    steps: tuple[RecordedStep, ...]
    data: Json

    @property
    def loop(self) -> int | None:
        """The state that the last one goes round from; None where the run just ends."""
        loop = self.data.get("loop")
        return loop if isinstance(loop, int) else None

    @property
    def end(self) -> str:
        """Where it goes after its last state; empty where it just ends."""
        return end_of(len(self.steps) - 1, self.loop)


def read_recorded(path: Path) -> Recorded:
    """Read an ITF file; one of another tool has steps without names. UsageError if it is none."""
    return recorded_of(load(text_of(path, SIZE_MAX), str(path)), str(path))


def recorded_of(data: Json, name: str) -> Recorded:
    """Return an ITF object as a trace; `name` is what it is called in messages."""
    meta = _object(data.get("#meta"))
    return Recorded(
        name=name,
        spec=str(meta.get("spec", "")),
        spec_hash=str(meta.get("spec_hash", "")),
        instance=str(meta.get("instance", "default")),
        overrides=_object(meta.get("overrides")),
        property_name=str(meta.get("property", "")),
        kind=str(meta.get("kind", "")),
        failed=_failed(meta),
        command=str(meta.get("replay", "")),
        steps=tuple(_step(number, state) for number, state in enumerate(data["states"])),
        data=data,
    )


def _failed(meta: dict[str, Any]) -> str:
    """Return what a trace says of its end: the part of the property that decides, or the error."""
    failure = _object(meta.get("failure"))
    if not failure:
        return str(_object(meta.get("failed")).get("text", ""))
    where = failure.get("row") or failure.get("property")
    in_what = f" in {where}" if where else ""
    return f"{failure.get('code')}{in_what}: {failure.get('message')} at {failure.get('place')}"


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _step(number: int, state: Json) -> RecordedStep:
    meta = _object(state.get("#meta"))
    picks = meta.get("picks")
    return RecordedStep(
        number=number,
        row=str(meta.get("row", f"step {number}")),
        bindings=tuple((name, str(value)) for name, value in _object(meta.get("bindings")).items()),
        picks=tuple(
            (str(pair[0]), str(pair[-1]))
            for pair in (picks if isinstance(picks, list) else [])
            if isinstance(pair, list) and pair
        ),
        actor=str(meta.get("actor") or ""),
        events=_texts(meta.get("events")),
        changes=_texts(meta.get("changes")),
    )


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list) else ()


def replay(machine: Machine, recorded: Recorded) -> str | None:
    """Run a trace's steps on `machine`; return the first thing that does not fit, or None.

    Each state must follow from the one before by the row, bindings and picks on record, and the
    last one must show what the trace claims to show. A run that shows something stays within the
    bounds until then: a walk, which claims nothing, may leave them.
    """
    states = read_states(machine, recorded.data, recorded.name)
    if recorded.property_name and recorded.kind not in get_args(FindingKind):
        return f"it claims to show {recorded.kind!r}, which is no kind of property"
    if recorded.loop is not None and recorded.kind not in LIVENESS:
        return f"it has a loop, but to show {recorded.kind} takes none"
    kept = _goes_on(recorded)
    begun = (item for item in initial_steps(machine) if item.state == states[0])
    first = next(begun, None)
    if first is None:
        return "state 0 is not an initial state of the specification"
    if kept > 0 and first.cut is not None:
        return "state 0 is beyond the bounds, where no run goes on"
    met: set[tuple[object, ...]] = set()
    made: dict[int, list[Successor]] = {}  # equal states of a file are one object
    for before, after, step in zip(states, states[1:], recorded.steps[1:], strict=False):
        move = (id(before), id(after), step.row, step.bindings, step.picks)
        if move in met:
            continue
        met.add(move)
        if id(before) not in made:
            made[id(before)] = list(successors(machine, before))
        following = [found for found in made[id(before)] if found.state == after]
        if not following:
            return f"step {step.number}, {step.name}: no row leads to this state any more"
        if not any(_is_step(found, step) for found in following):
            others = ", ".join(dict.fromkeys(found.action for found in following))
            return f"step {step.number}, {step.name}: now it is {others} that leads to this state"
        if step.number < kept and all(found.cut for found in following if _is_step(found, step)):
            return f"step {step.number}, {step.name}: it leaves the bounds, where no run goes on"
    if not recorded.property_name:  # a walk, which claims nothing
        return None
    if recorded.kind == "error":
        if recorded.property_name != "error":
            return f"an error is claimed under the name {recorded.property_name}"
        return _fails_otherwise(machine, recorded, states)
    last = (lambda found: _is_step(found, recorded.steps[-1])) if len(states) > 1 else None
    return contradiction(
        machine, recorded.property_name, recorded.kind, states, recorded.loop, last
    )


def _goes_on(recorded: Recorded) -> int:
    """Return how many states of a trace something follows, so that they lie within the bounds.

    What a state shows by what can follow, a deadlock or a row that fails, counts as such.
    """
    if not recorded.property_name:
        return 0
    follows = recorded.loop is not None or recorded.kind == "deadlock" or _failing_row(recorded)
    return len(recorded.steps) if follows else len(recorded.steps) - 1


def _failing_row(recorded: Recorded) -> str | None:
    """Return the row that fails at the end of a trace, as its file says."""
    row = _object(_object(recorded.data.get("#meta")).get("failure")).get("row")
    return row if isinstance(row, str) else None


def _fails_otherwise(machine: Machine, recorded: Recorded, states: tuple[State, ...]) -> str | None:
    """Return why the end of a trace does not fail as its file says; None where it does."""
    said = _object(_object(recorded.data.get("#meta")).get("failure"))
    wanted = tuple(said.get(name) for name in ("code", "row", "property"))
    found = [failure for failure, _ in failures(machine, states, _failing_row(recorded))]
    if any((it.code, it.row, it.property) == wanted for it in found):
        return None
    others = ", ".join(dict.fromkeys(it.code for it in found))
    return "nothing fails at its end any more" if not found else f"its end fails with {others} now"


def require_sound(recorded: Recorded) -> None:
    """UsageError where a file says something of itself that means nothing."""

    def wrong(what: str) -> NoReturn:
        raise UsageError(f"{recorded.name}: {what}")

    data = recorded.data
    meta = data.get("#meta")
    if not isinstance(meta, dict):
        wrong("it has no `#meta` that says of which specification and property it is")
    for name in ("spec", "spec_hash", "instance", "property", "kind", "replay"):
        if not isinstance(meta.get(name), str):
            wrong(f"`#meta` has no text `{name}`")
    if not re.fullmatch(r"[0-9a-f]{64}", meta["spec_hash"]):
        wrong("`spec_hash` of `#meta` is no SHA-256")
    settings = meta.get("overrides")
    if not isinstance(settings, dict) or not all(
        isinstance(value, bool | int | str) for value in settings.values()
    ):
        wrong("`overrides` of `#meta` are no constants")
    loop, last = data.get("loop"), len(data["states"]) - 1
    if "loop" in data and (type(loop) is not int or not 0 <= loop <= last):
        wrong(f"`loop` is {json.dumps(loop)[:40]}; it is the number of a state, 0 to {last}")
    for number, state in enumerate(data["states"]):
        if not _says_its_step(state.get("#meta"), number):
            wrong(f"`#meta` of state {number} does not say which step leads there")


def _says_its_step(meta: Any, number: int) -> bool:
    """Whether the `#meta` of a state has all that a step has, and nothing of another form."""
    return (
        isinstance(meta, dict)
        and meta.get("index") == number
        and isinstance(meta.get("row"), str)
        and isinstance(meta.get("bindings"), dict)
        and all(isinstance(value, str) for value in meta["bindings"].values())
        and isinstance(meta.get("picks"), list)
        and all(
            isinstance(pair, list) and len(pair) == 2 and all(isinstance(one, str) for one in pair)
            for pair in meta["picks"]
        )
        and isinstance(meta.get("actor"), str | None)
        and all(
            isinstance(meta.get(name), list) and all(isinstance(line, str) for line in meta[name])
            for name in ("events", "changes")
        )
    )


def the_step(
    choices: Sequence[Successor], state: State, step: RecordedStep | None = None
) -> int | None:
    """Return which of some steps leads to a state: the one that a file tells, else the first."""
    places = [place for place, choice in enumerate(choices) if choice.state == state]
    told = (place for place in places if step is not None and _is_step(choices[place], step))
    return next(told, next(iter(places), None))


def _is_step(found: Successor, step: RecordedStep) -> bool:
    """Whether a step is the one that a file tells."""
    bindings = tuple((name, format_value(value)) for name, value in found.bindings)
    picks = tuple((name, format_value(value)) for name, value in found.picks)
    return (found.action, bindings, picks) == (step.row, step.bindings, step.picks)


def compare(left: Recorded, right: Recorded) -> list[str]:
    """Return the lines of a comparison; none where the steps, states and loops are the same."""
    if left.steps == right.steps and left.data["states"] == right.data["states"]:
        if left.loop == right.loop:
            return []
        ends = [(recorded.end or "it ends there") for recorded in (left, right)]
        return ["the states are the same, and then", f"- {ends[0]}", f"+ {ends[1]}"]
    same = 0
    for mine, other in zip(left.data["states"], right.data["states"], strict=False):
        if mine != other:
            break
        same += 1
    lines = [f"the first {same} states are the same" if same else "no state is the same"]
    for recorded, sign in ((left, "-"), (right, "+")):
        lines.append(f"{sign} {recorded.name}: {len(recorded.steps) - 1} steps")
        for step in recorded.steps[same:]:
            lines.append(f"{sign} {step.number:>4}  {step.name}")
            lines += [f"{sign}         {line}" for line in (*step.events, *step.changes)]
        lines += [f"{sign}       {recorded.end}"] if recorded.end else []
    if same < min(len(left.steps), len(right.steps)):
        lines.append(f"state {same} differs in")
        lines += _state_difference(left.data["states"][same], right.data["states"][same])
    return lines


def _state_difference(left: Json, right: Json) -> list[str]:
    names = [name for name in {**left, **right} if name != "#meta"]
    return [
        f"  {name}: {_shown(left.get(name))} | {_shown(right.get(name))}"
        for name in names
        if left.get(name) != right.get(name)
    ]


def _shown(value: Any) -> str:
    """Return an ITF expression as short text: integers plain, sets and maps in braces.

    What only looks like one, in a file that somebody changed, is shown as what it is.
    """
    match value:
        case {"#bigint": number}:
            return str(number)
        case {"#set": [*items]}:
            return "{" + ", ".join(map(_shown, items)) + "}"
        case {"#map": [*pairs]} if all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
            return "{" + ", ".join(f"{_shown(key)}: {_shown(item)}" for key, item in pairs) + "}"
        case {"tag": "None"}:
            return "none"
        case {"tag": "Some", "value": inner}:
            return _shown(inner)
        case {"tag": tag, "value": inner}:
            return f"{tag}{_shown(inner)}"
        case dict():
            fields = ", ".join(f"{name}={_shown(item)}" for name, item in value.items())
            return f"({fields})"
        case list():
            return "[" + ", ".join(map(_shown, value)) + "]"
    return value if isinstance(value, str) else json.dumps(value)
