"""Sections that declare: constants, types, messages, components, channels, calls, operations."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal, cast

from checker.table.cells import read_expression, read_type
from checker.table.document import (
    Budget,
    Calls,
    Cell,
    Channel,
    Component,
    Constant,
    Fault,
    MachineEntry,
    Message,
    NamedType,
    Operation,
    Outcome,
    Timer,
    TypeName,
    TypeNode,
    VariableEntry,
    Word,
)
from checker.table.fields import Fields, entries_of, read_key
from checker.table.nodes import Mapping, Node, Scalar, Sequence, raw
from checker.table.problems import Problems
from checker.table.torn import quoted
from checker.table.words import (
    INTEGER_MAX,
    read_boolean,
    read_integer,
    read_names,
    read_prose,
    read_word,
)

IDS_MAX = 4096
"""Ids a type may have."""


def read_constants(system: Fields) -> tuple[Constant, ...]:
    """Return `constants:`."""
    return tuple(_constant(name, node, system.problems) for name, node in system.named("constants"))


def _constant(name: Word, node: Node, problems: Problems) -> Constant:
    if isinstance(node, Scalar):
        value = _literal(node, name.text, problems)
        return Constant(name, "", value=value, value_span=node.span)
    fields = Fields(node, "constant", problems)
    about = fields.prose("about")
    _exclusive(fields, ("ids", "value"))
    if fields.has("type"):
        return _data(name, about, fields)
    ids = fields.get("ids")
    if ids is not None:
        return _ids(name, about, ids, fields)
    for key in ("symmetric", "prefix"):
        if fields.has(key):
            _conflict(
                fields,
                f"`{key}` belongs to an id type, which has `ids`",
                f"add `ids`, or remove `{key}`",
            )
    given = fields.need("value")
    one_of = fields.names("one_of") if fields.has("one_of") else None
    if given is None:
        return Constant(name, about, value=0, one_of=one_of)
    if one_of is not None:
        word = read_word(given, "value", problems)
        if word.text and one_of and word.text not in {member.text for member in one_of}:
            problems.add(
                "T115",
                f"`{word.text}` is not among the values of `{name.text}`",
                word.span,
                expected=" or ".join(member.text for member in one_of),
                help="write one of them, or add it to `one_of`",
            )
        return Constant(name, about, value=word, one_of=one_of, value_span=given.span)
    if isinstance(given, Scalar) and given.kind in ("integer", "boolean"):
        literal = _literal(given, "value", problems)
        return Constant(name, about, value=literal, value_span=given.span)
    cell = read_expression(given, "value", problems)
    return Constant(name, about, cell=cell, value_span=given.span)


def _data(name: Word, about: str, fields: Fields) -> Constant:
    """Return a constant whose value is an expression of a declared type."""
    for key in ("ids", "symmetric", "prefix", "one_of"):
        if fields.has(key):
            _conflict(fields, f"`{key}` and `type` exclude each other", f"remove `{key}`")
    kind = fields.needed_type("type")
    cell = fields.needed_expression("value")
    return Constant(name, about, cell=cell, value_span=cell.span, node=kind)


def _literal(node: Scalar, label: str, problems: Problems) -> int | bool:
    if node.kind == "boolean":
        return read_boolean(node, label, problems)
    if node.kind == "string":
        problems.add(
            "T112",
            f"the constant `{label}` needs an integer, true or false",
            node.span,
            found=f"text: {raw(node)[:40]}",
            help=f"to compute it, write {label}: {{value: {quoted(node.text)}}}; "
            "for an enum, {one_of: [...], value: ...}",
        )
        return 0
    return read_integer(node, label, problems, -INTEGER_MAX)


def _ids(name: Word, about: str, ids: Node, fields: Fields) -> Constant:
    for key in ("one_of",):
        if fields.has(key):
            _conflict(fields, "an id type has no `one_of`", "keep `ids` or `one_of`")
    symmetric = fields.boolean("symmetric", default=False)
    prefix = fields.name("prefix")
    count: int | None = None
    names: tuple[Word, ...] | None = None
    if isinstance(ids, Sequence):
        names = read_names(ids, "ids", fields.problems)
        if not names:
            fields.problems.add("T115", "an id type has at least one id", ids.span, help="name one")
        if prefix is not None:
            _conflict(fields, "`prefix` names ids that are only counted", "remove `prefix`")
    else:
        count = read_integer(ids, "ids", fields.problems, 1, IDS_MAX)
    return Constant(
        name,
        about,
        ids_count=count,
        ids_names=names,
        prefix=prefix,
        symmetric=symmetric,
        value_span=ids.span,
    )


def prefix_of_ids(name: str) -> str:
    """Return what the ids of a type are called that are only counted: `member_id` of `MemberId`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def read_types(system: Fields) -> tuple[NamedType, ...]:
    """Return `types:`."""
    problems = system.problems
    types: list[NamedType] = []
    for name, node in system.named("types"):
        if isinstance(node, Scalar):
            types.append(NamedType(name, "", read_type(node, name.text, problems, enum=True), None))
            continue
        fields = Fields(node, "type", problems)
        _exclusive(fields, ("fields", "type"))
        kind = fields.get("type")
        record = None if kind is not None else _members(fields.need("fields"), "fields", problems)
        typed = read_type(kind, "type", problems, enum=True) if kind is not None else None
        types.append(NamedType(name, fields.prose("about"), typed, record))
    return tuple(types)


def read_messages(system: Fields) -> tuple[Message, ...]:
    """Return `messages:`; the key `about` of a message is prose, no field."""
    problems = system.problems
    messages: list[Message] = []
    for name, node in system.named("messages"):
        about = ""
        if isinstance(node, Mapping):
            prose = [value for key, value in node.entries if key.text == "about"]
            about = read_prose(prose[0], "about", problems) if prose else ""
        messages.append(Message(name, about, _members(node, name.text, problems, prose=True)))
    return tuple(messages)


def _members(
    node: Node | None, label: str, problems: Problems, *, prose: bool = False
) -> tuple[tuple[Word, TypeNode], ...]:
    """Return the names and types of a record, message or captures."""
    if node is None:
        return ()
    return tuple(
        (read_key(key, problems), read_type(value, key.text, problems))
        for key, value in entries_of(node, label, problems)
        if not (prose and key.text == "about")
    )


def read_components(system: Fields) -> tuple[Component, ...]:
    """Return `components:`."""
    components: list[Component] = []
    for name, node in system.named("components"):
        fields = Fields(node, "component", system.problems)
        components.append(
            Component(
                name,
                fields.prose("about"),
                fields.type("per"),
                read_machines(fields, "machine of a component"),
                read_variables(fields, "variable of a component"),
            )
        )
    return tuple(components)


def read_machines(parent: Fields, part: str = "machine") -> tuple[MachineEntry, ...]:
    """Return `machines:` of the system or of a component."""
    machines: list[MachineEntry] = []
    for name, node in parent.named("machines"):
        fields = Fields(node, part, parent.problems)
        machines.append(
            MachineEntry(
                name,
                fields.prose("about"),
                fields.needed_name("table"),
                fields.name("initial"),
                fields.type("per"),
            )
        )
    return tuple(machines)


def read_variables(parent: Fields, part: str = "variable") -> tuple[VariableEntry, ...]:
    """Return `variables:` of the system or of a component."""
    variables: list[VariableEntry] = []
    for name, node in parent.named("variables"):
        fields = Fields(node, part, parent.problems)
        variables.append(
            VariableEntry(
                name,
                fields.prose("about"),
                fields.needed_type("type"),
                fields.needed_expression("initial"),
                fields.type("per"),
                fields.boolean("observed", default=False),
            )
        )
    return tuple(variables)


def read_channels(system: Fields) -> tuple[Channel, ...]:
    """Return `channels:`."""
    return tuple(_channel(name, node, system.problems) for name, node in system.named("channels"))


def _channel(name: Word, node: Node, problems: Problems) -> Channel:
    fields = Fields(node, "channel", problems)
    order = cast(
        'Literal["bag", "fifo", "retained"]', fields.choice("order", ("bag", "fifo", "retained"))
    )
    capacity: Cell | None = None
    if order != "retained":
        capacity = fields.needed_expression("capacity")
    else:
        for key in ("capacity", "when_full"):
            if fields.has(key):
                _conflict(fields, f"a retained channel has no `{key}`", f"remove `{key}`")
    if fields.has("reorders") and order != "fifo":
        _conflict(fields, "only a fifo channel has an order to lose", "remove `reorders`")
    when_full = fields.choice("when_full", ("block", "drop", "error"), "block")
    return Channel(
        name,
        fields.prose("about"),
        fields.some_names("carries"),
        order,
        _channel_keys(fields),
        capacity,
        cast('Literal["block", "drop", "error"]', when_full),
        fields.name("from"),
        fields.name("to"),
        _budget(fields, "loses"),
        _budget(fields, "duplicates"),
        _budget(fields, "reorders"),
    )


def _channel_keys(fields: Fields) -> tuple[TypeNode, ...]:
    node = fields.get("per")
    if node is None:
        return ()
    if not isinstance(node, Sequence):
        return (read_type(node, "per", fields.problems),)
    if len(node.items) != 2:
        fields.problems.add(
            "T115",
            f"`per` has {len(node.items)} items",
            node.span,
            expected="one type, or a pair of types",
            help="write per: Client, or per: [Client, Broker]",
        )
    return tuple(read_type(item, "per", fields.problems) for item in node.items)


def _budget(fields: Fields, key: str) -> Budget | None:
    node = fields.get(key)
    if node is None:
        return None
    if isinstance(node, Scalar) and node.text == "unlimited":
        return "unlimited"
    return read_expression(node, key, fields.problems)


def read_calls(system: Fields) -> tuple[Calls, ...]:
    """Return `calls:`."""
    calls: list[Calls] = []
    for name, node in system.named("calls"):
        fields = Fields(node, "calls", system.problems)
        calls.append(
            Calls(
                name,
                fields.prose("about"),
                _whoever_calls(fields.needed_type("per")),
                fields.some_names("requests"),
                fields.some_names("responses"),
                fields.needed_expression("capacity"),
                fields.name("from"),
                fields.name("to"),
            )
        )
    return tuple(calls)


def _whoever_calls(node: TypeNode) -> TypeNode:
    """Return the type of those who call, each of whom is called a client where nobody names it."""
    return replace(node, key=("client", "client")) if isinstance(node, TypeName) else node


def read_operations(system: Fields) -> tuple[Operation, ...]:
    """Return `operations:`."""
    operations: list[Operation] = []
    for name, node in system.named("operations"):
        fields = Fields(node, "operation", system.problems)
        operations.append(
            Operation(
                name,
                fields.prose("about"),
                _members(fields.get("captures"), "captures", system.problems),
                fields.needed_expression("capacity"),
                cast('Literal["any", "fifo"]', fields.choice("order", ("any", "fifo"), "any")),
                _outcomes(fields),
                fields.type("per"),
                cast(
                    'Literal["block", "error"]',
                    fields.choice("when_full", ("block", "error"), "block"),
                ),
            )
        )
    return tuple(operations)


def _outcomes(operation: Fields) -> tuple[Outcome, ...]:
    outcomes: list[Outcome] = []
    operation.refuse_empty("outcomes")
    for name, node in operation.named("outcomes", required=True):
        fields = Fields(node, "outcome", operation.problems)
        outcomes.append(Outcome(name, fields.name("fault"), fields.boolean("late", default=False)))
    return tuple(outcomes)


def read_timers(system: Fields) -> tuple[Timer, ...]:
    """Return `timers:`."""
    timers: list[Timer] = []
    for name, node in system.named("timers"):
        fields = Fields(node, "timer", system.problems)
        when_armed = fields.choice("when_armed", ("add", "replace"), "replace")
        if when_armed == "replace" and fields.has("capacity"):
            _conflict(
                fields,
                "where arming replaces, one timer at most is armed",
                "remove `capacity`, or write when_armed: add",
            )
        timers.append(
            Timer(
                name,
                fields.prose("about"),
                _members(fields.get("captures"), "captures", system.problems),
                _channel_keys(fields),
                fields.expression("capacity"),
                cast('Literal["replace", "add"]', when_armed),
                fields.expression("late_cancels"),
                fields.fairness(),
            )
        )
    return tuple(timers)


def read_faults(system: Fields) -> tuple[Fault, ...]:
    """Return `faults:`."""
    faults: list[Fault] = []
    for name, node in system.named("faults"):
        fields = Fields(node, "fault", system.problems)
        fields.need("budget")
        budget = _budget(fields, "budget") or "unlimited"
        anew = fields.boolean("begins_anew", default=False)
        faults.append(Fault(name, fields.prose("about"), budget, anew))
    return tuple(faults)


def _exclusive(fields: Fields, keys: tuple[str, ...]) -> None:
    """Report (T117) where more than one of `keys` is there."""
    present = [key for key in keys if fields.has(key)]
    if len(present) > 1:
        _conflict(
            fields, f"`{present[0]}` and `{present[1]}` exclude each other", "keep one of them"
        )


def _conflict(fields: Fields, message: str, help_: str) -> None:
    fields.problems.add("T117", message, fields.head(), help=help_)
