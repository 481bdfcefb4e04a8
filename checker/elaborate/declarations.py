"""Declarations: names checked, components, machines, variables, channels and the rest typed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from checker.elaborate import convert
from checker.elaborate.connections import ANSWERED, FREE, PARKED, REQUESTED
from checker.elaborate.context import Context, Term, expression
from checker.elaborate.folded import constant_integer
from checker.elaborate.type_cells import TypeReader
from checker.elaborate.world import (
    CallsInfo,
    ChannelInfo,
    ComponentInfo,
    OperationInfo,
    TimerInfo,
    World,
)
from checker.elaborate.wrong import Wrong, collecting
from checker.machine import terms as t
from checker.machine.builtins import CALLED_ONLY, RESERVED
from checker.machine.machine import Origin, Variable
from checker.machine.types import Bag, Bool, Enum, Map, Range, Record, Sequence, Set, Type, Union
from checker.source import Span
from checker.table.document import (
    Budget,
    Calls,
    Channel,
    MachineEntry,
    Operation,
    Timer,
    VariableEntry,
    Word,
)
from checker.table.problems import nearest
from checker.table.scopes import CANCELLED
from checker.table.state_table import StateTable

Members = tuple[MachineEntry | VariableEntry, ...]


_CALLED = frozenset(["type", "message", "definition", "procedure"])


def check_names(world: World) -> None:
    """Report names that mean two things or hide a built-in (N203)."""
    seen: dict[str, tuple[str, Span]] = {}
    for kind, word in _declared(world):
        name = word.text
        if name in RESERVED or (name in CALLED_ONLY and kind in _CALLED):
            world.problems.add(
                "N203", f"`{name}` is a word of the language", word.span, help="choose another name"
            )
        elif name in seen:
            world.problems.add(
                "N203",
                f"`{name}` is already a {seen[name][0]}",
                word.span,
                expected="one name for one thing",
                found=f"a {kind} of the same name; the first is at {seen[name][1]}",
            )
        else:
            seen[name] = (kind, word.span)
    world.problems.raise_any()


def _check_hidden_values(world: World) -> None:
    """Report definitions and procedures that are called like a state or enum value (N203).

    The value could not be named where its type is not known, and nothing would say so.
    """
    document = world.document
    names = [
        *(entry.name for entry in document.definitions),
        *(entry.name for entry in document.procedures),
    ]
    for name in names:
        owners = world.values.get(name.text, [])
        if owners:
            world.problems.add(
                "N203",
                f"`{name.text}` is already a value of {owners[0].name}",
                name.span,
                expected="one name for one thing",
                help="give the definition a name of its own",
            )


def _declared(world: World) -> Iterator[tuple[str, Word]]:
    document = world.document
    sections = (
        ("constant", document.constants),
        ("type", document.types),
        ("message", document.messages),
        ("component", document.components),
        ("machine", document.machines),
        ("variable", document.variables),
        ("channel", document.channels),
        ("set of calls", document.calls),
        ("operation", document.operations),
        ("timer", document.timers),
        ("definition", document.definitions),
        ("procedure", document.procedures),
    )
    for kind, entries in sections:
        for entry in entries:
            yield kind, entry.name


def declare(world: World) -> None:
    """Fill the world with everything a document declares; its constants are known already."""
    types = TypeReader(world)
    types.declare()
    for entry in world.document.definitions:
        world.definitions[entry.name.text] = entry
    for procedure in world.document.procedures:
        world.procedures[procedure.name.text] = procedure
    _check_hidden_values(world)
    world.problems.raise_any()
    _components(world, types)
    for channel in world.document.channels:
        with collecting(world.problems):
            _channel(world, types, channel)
    for calls in world.document.calls:
        with collecting(world.problems):
            _calls(world, types, calls)
    for operation in world.document.operations:
        with collecting(world.problems):
            _operation(world, types, operation)
    for timer in world.document.timers:
        with collecting(world.problems):
            _timer(world, types, timer)
    for fault in world.document.faults:
        with collecting(world.problems):
            _budget(world, fault.name.text, fault.budget, fault.name.span)
    world.problems.raise_any()


# --------------------------------------------------------------------- machines, variables


def _components(world: World, types: TypeReader) -> None:
    for component in world.document.components:
        with collecting(world.problems):
            per = None if component.per is None else types.key(component.per)
            members: Members = (*component.machines, *component.variables)
            names = tuple(member.name.text for member in members)
            for index, member in enumerate(members):
                if member.name.text in names[:index]:
                    world.problems.add(
                        "N203",
                        f"`{component.name.text}` has two members called `{member.name.text}`",
                        member.name.span,
                    )
            world.components[component.name.text] = ComponentInfo(component.name.text, per, names)
            _members(world, types, f"{component.name.text}.", per, members)
    outside: Members = (*world.document.machines, *world.document.variables)
    _members(world, types, "", None, outside)


def _members(
    world: World,
    types: TypeReader,
    prefix: str,
    per: Type | None,
    members: Members,
) -> None:
    for member in members:
        with collecting(world.problems):
            own = None if member.per is None else types.key(member.per)
            keys = tuple(key for key in (per, own) if key is not None)
            name = f"{prefix}{member.name.text}"
            if isinstance(member, MachineEntry):
                _machine(world, name, keys, member)
            else:
                _variable(world, types, name, keys, member)
            made = world.variables[name]
            world.variables[name] = replace(made, of_each=per is not None)


def _machine(world: World, name: str, keys: tuple[Type, ...], entry: MachineEntry) -> None:
    table = world.document.tables.get(entry.table.text)
    if table is None:
        close = nearest(entry.table.text, world.document.tables)
        raise Wrong(
            "N206",
            f"no table is called `{entry.table.text}`",
            entry.table.span,
            found=entry.table.text,
            help=f"did you mean `{close}`?" if close else None,
        )
    kind = world.types[table.name]
    assert isinstance(kind, Enum)
    value = t.Literal(_first_state(table, entry), kind, entry.name.span)
    _add(world, name, keys, value, "machine", entry.name.span, table.name)


def _first_state(table: StateTable, entry: MachineEntry) -> str:
    states = [state for state, _ in table.states]
    if entry.initial is not None:
        if entry.initial.text not in states:
            close = nearest(entry.initial.text, states)
            raise Wrong(
                "N201",
                f"the table `{table.name}` has no state `{entry.initial.text}`",
                entry.initial.span,
                expected=", ".join(states),
                help=f"did you mean `{close}`?" if close else None,
            )
        return entry.initial.text
    if len(table.initial) != 1:
        raise Wrong(
            "N204",
            f"the table `{table.name}` has several initial states",
            entry.name.span,
            expected=f"initial: one of {', '.join(table.initial)}",
        )
    return table.initial[0]


def _variable(
    world: World, types: TypeReader, name: str, keys: tuple[Type, ...], entry: VariableEntry
) -> None:
    kind = types.read(entry.node)
    context = Context(world, entry.initial, constant=True)
    names = [context.allocator.unique("self" if i == 0 else "key") for i in range(len(keys))]
    if keys:
        context.names["self"] = t.Local(names[0], keys[0], entry.initial.span)
    value = context.check(expression(entry.initial), kind)
    _add(world, name, keys, value, "variable", entry.name.span, None, names)


def _add(
    world: World,
    name: str,
    keys: tuple[Type, ...],
    value: Term,
    origin: Origin,
    span: Span,
    table: str | None,
    names: list[str] | None = None,
) -> None:
    """Declare a variable of one value, or of one for each key (a total map, nested)."""
    names = names or [f"key{i}" for i in range(len(keys))]
    for key, local in reversed(list(zip(keys, names, strict=True))):
        kind = Map(key, value.type, total=True)
        every = t.Generator(local, t.Everything(Set(key), span), None)
        value = t.Fold("map", (every,), value, t.Local(local, key, span), kind, span)
    convert.limited(value.type, span)
    world.variables[name] = Variable(name, value.type, value, origin, table, span)


# ----------------------------------------------- channels, calls, operations, timers, faults


def _channel(world: World, types: TypeReader, entry: Channel) -> None:
    span, name = entry.name.span, entry.name.text
    message = types.union(entry.carries)
    content: Bag | Sequence | Set
    if entry.order == "retained":
        content = Set(message)
    else:
        capacity = types.capacity(entry.capacity, span)
        content = Bag(message, capacity) if entry.order == "bag" else Sequence(message, capacity)
    keys = tuple(types.key(node) for node in entry.per)
    world.channels[name] = ChannelInfo(entry, keys, message, content)
    _add(world, name, keys, convert.empty(content, span), "channel", span, None)
    for what, budget in _channel_budgets(entry):
        if budget is not None:
            _budget(world, f"{what}_{name}", budget, span)


def _channel_budgets(entry: Channel) -> tuple[tuple[str, Budget | None], ...]:
    refused = []
    if entry.order == "retained":
        refused = [("duplicates", entry.duplicates), ("reorders", entry.reorders)]
    elif entry.order == "bag":
        refused = [("reorders", entry.reorders)]
    for word, budget in refused:
        if budget is not None:
            raise Wrong(
                "Y310",
                f"`{word}` means nothing for a channel whose order is {entry.order}",
                entry.name.span,
                help=f"leave out `{word}`",
            )
    return ("lose", entry.loses), ("duplicate", entry.duplicates), ("reorder", entry.reorders)


def _calls(world: World, types: TypeReader, entry: Calls) -> None:
    span, name = entry.name.span, entry.name.text
    handle = types.handle(entry)
    key, slots = (kind for _, kind in handle.fields)
    assert isinstance(slots, Range)
    convert.limited(Set(key), entry.per.span)
    requests, responses = types.union(entry.requests), types.union(entry.responses)
    variants = (
        Record(FREE, ()),
        Record(REQUESTED, (("open", Bool()), ("request", requests))),
        Record(PARKED, (("live", Bool()),)),
        Record(ANSWERED, (("response", responses),)),
    )
    slot = Union(f"slot of {name}", variants)
    world.calls[name] = CallsInfo(entry, key, slots, requests, responses, slot, handle)
    free = t.RecordOf(FREE, (), slot, span)
    _add(world, name, (key, slots), free, "calls", span, None)


def _operation(world: World, types: TypeReader, entry: Operation) -> None:
    span, name = entry.name.span, entry.name.text
    late = any(outcome.late for outcome in entry.outcomes)
    fields = [(word.text, types.read(node)) for word, node in entry.captures]
    if late:
        if any(field == "late" for field, _ in fields):
            raise Wrong("N203", "`late` is a field of every operation with late outcomes", span)
        fields.append(("late", Bool()))
        _require_no_late_name(entry)
    record = Record(name, tuple(fields))
    capacity = types.capacity(entry.capacity, span)
    content = Bag(record, capacity) if entry.order == "any" else Sequence(record, capacity)
    key = None if entry.per is None else types.key(entry.per)
    world.operations[name] = OperationInfo(entry, key, record, late, content)
    keys = () if key is None else (key,)
    _add(world, name, keys, convert.empty(content, span), "operation", span, None)


def _require_no_late_name(entry: Operation) -> None:
    """Raise Wrong for an outcome that is called as another one is where it comes late."""
    early = {f"late_{item.name.text}" for item in entry.outcomes if not item.late}
    for outcome in entry.outcomes:
        if outcome.name.text in early:
            raise Wrong(
                "N203",
                f"`{outcome.name.text}` is what a late `{outcome.name.text[5:]}` is called",
                outcome.name.span,
                help="give the outcome another name",
            )


def _timer(world: World, types: TypeReader, entry: Timer) -> None:
    span, name = entry.name.span, entry.name.text
    fields = tuple((word.text, types.read(node)) for word, node in entry.captures)
    if any(field == CANCELLED for field, _ in fields):
        raise Wrong("N203", f"`{CANCELLED}` is a field of every expiry", span)
    budget = f"late_cancel_{name}"
    late = 0
    if entry.late_cancels is not None:
        _budget(world, budget, entry.late_cancels, span)
        late = world.budgets[budget] or 0
    record = Record(name, fields)
    content = Bag(record, 1 if entry.capacity is None else types.capacity(entry.capacity, span))
    keys = tuple(types.key(node) for node in entry.per)
    info = TimerInfo(entry, keys, record, content, budget if late else None)
    world.timers[name] = info
    _add(world, name, keys, convert.empty(content, span), "timer", span, None)
    if entry.late_cancels is not None:
        running = convert.empty(Bag(record, max(1, late)), span)
        _add(world, info.late, keys, running, "timer", span, None)


def _budget(world: World, name: str, budget: Budget, span: Span) -> None:
    """Declare a budget; only one that is neither 0 nor unlimited is a counter in the state."""
    if name in world.budgets:
        raise Wrong("N203", f"the budget `{name}` is declared twice", span)
    if budget == "unlimited":
        world.budgets[name] = None
        return
    value = constant_integer(world, budget)
    if not 0 <= value <= 1 << 20:
        raise Wrong(
            "Y305",
            "this budget is out of bounds",
            budget.span,
            expected="0 to 2**20",
            found=str(value),
            help="write how many may be in one run, or unlimited",
        )
    world.budgets[name] = value
    if value > 0:
        literal = t.Literal(value, Range(0, value), span)
        _add(world, f"budget.{name}", (), literal, "budget", span, None)
