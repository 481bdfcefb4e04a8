"""Traces as ITF JSON (Apalache's ADR-015), so that existing viewers open them.

Integers are `{"#bigint": "n"}`, sets `{"#set": [..]}`, maps `{"#map": [[k, v], ..]}`, records plain
objects, options and messages variants `{"tag": .., "value": ..}`; enum values and ids are
strings. `#meta` holds what a viewer does not know: the property, the failed part, of each state
the row that led to it, and how to repeat the run.
"""

from __future__ import annotations

import hashlib
import json
import re
import textwrap
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from checker import __version__
from checker.errors import UsageError
from checker.machine.machine import Machine
from checker.machine.types import (
    Bag,
    Bool,
    Enum,
    Id,
    Map,
    Option,
    Range,
    Record,
    Sequence,
    Set,
    Type,
    Union,
)
from checker.semantics.successor import State
from checker.semantics.values import (
    MapValue,
    RecordValue,
    belongs,
    format_value,
    map_value,
    ordered,
)
from checker.trace.naming import event_name
from checker.trace.trace import Provenance, Step, Trace

Json = dict[str, Any]

UNIT: Json = {"#tup": []}

DIGITS_MAX = 1000
"""Digits of a number that is read; no type has one of more than 19."""


def dump(trace: Trace, origin: Provenance) -> str:
    """Return `trace` as the text of an ITF file: a line for each part, and one for each state."""
    data = as_itf(trace, origin)
    parts = []
    for name, value in data.items():
        if name == "states":
            states = ",\n".join("  " + _line(state) for state in value)
            parts.append(f' "states": [\n{states}\n ]')
        else:
            parts.append(f" {json.dumps(name)}: {_line(value)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def as_itf(trace: Trace, origin: Provenance) -> Json:
    """Return `trace` as an ITF object."""
    machine = trace.machine
    failed = trace.reasons[-1] if trace.reasons else None
    return {
        "#meta": {
            "format": "ITF",
            "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
            "checker": __version__,
            "spec": origin.spec,
            "spec_hash": spec_hash(machine),
            "instance": machine.instance,
            "overrides": dict(origin.overrides),
            "constants": {name: _plain(value) for name, value in machine.constants},
            "property": trace.property_name,
            "kind": trace.kind,
            "why": trace.why,
            "failed": None if failed is None else {"text": failed.text, "place": failed.place},
            "failure": None if trace.failure is None else asdict(trace.failure),
            "replay": origin.command,
            "varTypes": {item.name: type_text(item.type) for item in machine.variables},
        },
        "params": [],
        "vars": [variable.name for variable in machine.variables],
        "states": states(trace),
        **({} if trace.loop is None else {"loop": trace.loop.start}),
    }


def states(trace: Trace) -> list[Json]:
    """Return the states of `trace` as ITF objects, each with the step that led to it."""
    return [_state(trace.machine, step) for step in trace.steps if step.state is not None]


def spec_hash(machine: Machine) -> str:
    """Return a SHA-256 of the texts that `machine` was made from, whatever their paths.

    Comments and empty lines are none of it.
    """
    spans = [item.span for item in machine.variables]
    spans += [item.span for item in machine.actions]
    spans += [item.span for item in machine.properties]
    spans += [item.span for item in machine.tables]
    texts = {span.source.text for span in spans} | {source.text for source in machine.sources}
    digest = hashlib.sha256()
    for text in sorted(map(_without_comments, texts)):
        digest.update(hashlib.sha256(text.encode()).digest())
    return digest.hexdigest()


_COMMENT = re.compile(r"(^|\s+)#.*$")


def _without_comments(text: str) -> str:
    lines = (_COMMENT.sub("", line).rstrip() for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def _plain(value: object) -> object:
    return value if isinstance(value, bool | int | str) else format_value(value)


def _state(machine: Machine, step: Step) -> Json:
    assert step.state is not None
    meta: Json = {
        "index": step.number,
        "row": step.row,
        "bindings": {name: format_value(value) for name, value in step.bindings},
        "picks": [[name, format_value(value)] for name, value in step.picks],
        "actor": step.actor,
        "events": [f"{event.label} {event_name(event)}" for event in step.events],
        "changes": [str(change) for change in step.changes],
    }
    values = {
        variable.name: encode(variable.type, value)
        for variable, value in zip(machine.variables, step.state, strict=True)
    }
    return {"#meta": meta, **values}


def encode(kind: Type, value: Any) -> object:
    """Return a value of `kind` as an ITF expression."""
    match kind:
        case Bool() | Enum() | Id():
            return value
        case Range():
            return {"#bigint": str(value)}
        case Option(item):
            if value is None:
                return {"tag": "None", "value": UNIT}
            return {"tag": "Some", "value": encode(item, value)}
        case Record(_, fields):
            return {name: encode(part, value[name]) for name, part in fields}
        case Union(_, variants):
            shape = next(variant for variant in variants if variant.name == value.name)
            return {"tag": value.name, "value": encode(shape, value)}
        case Set(item):
            return {"#set": [encode(item, member) for member in ordered(item, value)]}
        case Map(key, held, _):
            pairs = [[encode(key, k), encode(held, value[k])] for k in ordered(key, value)]
            return {"#map": pairs}
        case Sequence(item, _) | Bag(item, _):
            return [encode(item, member) for member in value]


def decode(kind: Type, data: Any) -> object:
    """Return the value of `kind` that an ITF expression stands for.

    Raises KeyError, TypeError or ValueError where it stands for none; `read_states` turns those
    into a UsageError.
    """
    match kind:
        case Bool():
            return _of(bool, data)
        case Enum() | Id():
            return _of(str, data)
        case Range():
            if isinstance(data, int) and not isinstance(data, bool):
                return data  # as older tools write what is small
            return int(_of(str, _of(dict, data)["#bigint"]))
        case Option(item):
            if _of(dict, data)["tag"] not in ("None", "Some"):
                raise ValueError(f"{data['tag']!r} is neither None nor Some")
            return None if data["tag"] == "None" else decode(item, data["value"])
        case Record(name, fields):
            if _of(dict, data).keys() != {part for part, _ in fields}:
                raise ValueError(f"the fields of {name} are others")
            return RecordValue(name, tuple((part, decode(of, data[part])) for part, of in fields))
        case Union(_, variants):
            shapes = {variant.name: variant for variant in variants}
            return decode(shapes[_of(str, _of(dict, data)["tag"])], data["value"])
        case Set(item):
            members = _of(list, _of(dict, data)["#set"])
            return frozenset(_each(decode(item, member) for member in members))
        case Map(key, held, _):
            pairs = _of(list, _of(dict, data)["#map"])
            keys = _each(decode(key, k) for k, _ in pairs)
            values = [decode(held, v) for _, v in pairs]
            return map_value(kind, MapValue(zip(keys, values, strict=True)))
        case Sequence(item, _) | Bag(item, _):
            return tuple(decode(item, member) for member in _of(list, data))


def _belonging(kind: Type, data: Any) -> object:
    """Return the value that an ITF expression stands for, which is one of `kind`."""
    value = decode(kind, data)
    if not belongs(kind, value):
        raise ValueError(f"{value!r} is no value of that type")
    return value


def _each(found: Iterable[object]) -> list[object]:
    """Return values of which each stands there once."""
    values = list(found)
    if len(set(values)) < len(values):
        raise ValueError("a value stands there twice")
    return values


def _of(kind: type, data: Any) -> Any:
    if not isinstance(data, kind):
        raise TypeError(f"{data!r} is no {kind.__name__}")
    return data


def type_text(kind: Type) -> str:
    """Return a type as Apalache writes it; consumers of ITF need one for each variable."""
    match kind:
        case Bool():
            return "Bool"
        case Range():
            return "Int"
        case Enum() | Id():
            return "Str"
        case Option(item):
            return f"None(UNIT) | Some({type_text(item)})"
        case Record(_, fields):
            return "{ " + ", ".join(f"{name}: {type_text(part)}" for name, part in fields) + " }"
        case Union(_, variants):
            return " | ".join(f"{variant.name}({type_text(variant)})" for variant in variants)
        case Set(item):
            return f"Set({type_text(item)})"
        case Map(key, held, _):
            return f"({type_text(key)} -> {type_text(held)})"
        case Sequence(item, _) | Bag(item, _):
            return f"Seq({type_text(item)})"


def load(text: str, name: str) -> Json:
    """Return the ITF object in `text`; UsageError where it is none. `name` is the file's."""
    try:
        # Editors put a mark of the byte order before a text, which is none of it.
        text = text.removeprefix("\ufeff")
        data = json.loads(text, object_pairs_hook=_once, parse_int=_integer)
    except RecursionError as error:
        raise UsageError(f"{name} has arrays or objects too deep in each other") from error
    except ValueError as error:
        raise UsageError(f"{name} is no JSON: {error}") from error
    shape = isinstance(data, dict) and isinstance(data.get("states"), list)
    if not shape or not data["states"] or not isinstance(data.get("vars"), list):
        raise UsageError(f"{name} is no ITF trace: it needs `vars` and a list of `states`")
    if not all(isinstance(state, dict) for state in data["states"]):
        raise UsageError(f"{name} is no ITF trace: every state is an object")
    return dict(data)


def _integer(text: str) -> int:
    """Return a number; ValueError for one of more digits than Python reads."""
    if len(text) > DIGITS_MAX:
        raise ValueError(f"a number in it has {len(text):,} digits")
    return int(text)


def _once(pairs: list[tuple[str, Any]]) -> Json:
    """Return an object; ValueError where a key stands in it twice, for one would be ignored."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} stands twice in an object")
    return found


def read_states(machine: Machine, data: Json, name: str) -> tuple[State, ...]:
    """Return the states of an ITF object as states of `machine`; UsageError where they are none."""
    names = [variable.name for variable in machine.variables]
    if sorted(map(str, data["vars"])) != sorted(names):
        unlike = sorted({str(item) for item in data["vars"]}.symmetric_difference(names))
        raise UsageError(f"{name}: `vars` are not those of {machine.name}: {', '.join(unlike)}")
    states: list[State] = []
    met: dict[str, State] = {}
    for number, state in enumerate(data["states"]):
        strange = sorted(state.keys() - {"#meta", *names})
        if strange:
            raise UsageError(f"{name}: state {number} has {strange[0]}, which is no variable")
        text = json.dumps([state.get(variable) for variable in names])
        if text in met:
            states.append(met[text])
            continue
        values = []
        for variable in machine.variables:
            try:
                values.append(_belonging(variable.type, state[variable.name]))
            except (KeyError, TypeError, ValueError) as error:
                shown = textwrap.shorten(json.dumps(state.get(variable.name)), 80)
                raise UsageError(
                    f"{name}: state {number} has no value of {variable.name} that fits "
                    f"{machine.name}: {shown}"
                ) from error
        states.append(met.setdefault(text, tuple(values)))
    return tuple(states)
