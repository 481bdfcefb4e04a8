"""Machines for tests: built by hand with known answers, and random ones of every shape.

Short functions build terms and statements without a source text (`NOWHERE`). `KNOWN` holds small
machines whose counts were worked out by hand or published. `machines()` is a Hypothesis strategy
of random well-typed machines (`random_machines.py` writes them).
"""

from __future__ import annotations

from collections.abc import Sequence as Items
from dataclasses import dataclass, replace

from random_machines import machines, seeded_machine

from checker.machine import terms as t
from checker.machine.machine import Action, Binding, Machine, Property, Trigger, Variable
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
from checker.semantics.successors import initial_states, successors
from checker.semantics.values import MapValue
from checker.source import NOWHERE
from checker.table.state_table import StateTable, TableTransition

__all__ = ["KNOWN", "Known", "machines", "seeded_machine"]

BOOL = Bool()
TRUE = t.Literal(True, BOOL, NOWHERE)
FALSE = t.Literal(False, BOOL, NOWHERE)


def reachable(machine: Machine, most: int | None = None) -> list[State]:
    """Return all states within the bounds, or `most` of them, as they are met; no symmetry."""
    steps = initial_states(machine)
    found = list(dict.fromkeys(s.state for s in steps if s.state is not None and s.cut is None))
    seen = set(found)
    for state in found:
        if most is not None and len(found) >= most:
            break
        for step in successors(machine, state):
            if step.state is not None and step.cut is None and step.state not in seen:
                seen.add(step.state)
                found.append(step.state)
    return found[:most]


# ------------------------------------------------------------------------------------- builders


def lit(value: object, kind: Type) -> t.Literal:
    return t.Literal(value, kind, NOWHERE)


def number(value: int) -> t.Literal:
    return lit(value, Range(value, value))


def read(variable: str, kind: Type) -> t.Read:
    return t.Read(variable, kind, NOWHERE)


def local(name: str, kind: Type) -> t.Local:
    return t.Local(name, kind, NOWHERE)


def cast(item: t.Term, kind: Type) -> t.Cast:
    return t.Cast(item, kind, NOWHERE)


def plus(left: t.Term, right: int) -> t.Arithmetic:
    kind = left.type
    assert isinstance(kind, Range)
    result = Range(kind.low + right, kind.high + right)
    return t.Arithmetic("+", left, number(right), result, NOWHERE)


def equal(left: t.Term, right: t.Term) -> t.Equal:
    return t.Equal(left, right, NOWHERE)


def less(left: t.Term, right: t.Term) -> t.Compare:
    return t.Compare("<", left, right, NOWHERE)


def negated(item: t.Term) -> t.Not:
    return t.Not(item, NOWHERE)


def both(*items: t.Term) -> t.And:
    return t.And(items, NOWHERE)


def contains(item: t.Term, collection: t.Term) -> t.Contains:
    return t.Contains(item, collection, NOWHERE)


def everything(kind: Type) -> t.Everything:
    return t.Everything(Set(kind), NOWHERE)


def at(item: t.Term, key: t.Term) -> t.At:
    kind = item.type
    assert isinstance(kind, Map | Sequence)
    return t.At(item, key, kind.value if isinstance(kind, Map) else kind.item, NOWHERE)


def length(item: t.Term, most: int) -> t.Length:
    return t.Length(item, Range(0, most), NOWHERE)


def record(name: str, kind: Type, **fields: t.Term) -> t.RecordOf:
    return t.RecordOf(name, tuple(fields.items()), kind, NOWHERE)


def place(variable: str, kind: Type, *steps: t.Term | str) -> t.Place:
    """A place: a term is a key or position, a string a field; `kind` is the place's type."""
    into = (t.Step(name=step) if isinstance(step, str) else t.Step(key=step) for step in steps)
    return t.Place(variable, tuple(into), kind, NOWHERE)


def assign(where: t.Place, value: t.Term) -> t.Assign:
    return t.Assign(where, value, NOWHERE)


def send(where: t.Place, message: t.Term, when_full: str = "block") -> t.Send:
    return t.Send(where, message, when_full, "sent", NOWHERE)  # type: ignore[arg-type]


def receive(where: t.Place, message: t.Term, label: str = "received") -> t.Receive:
    return t.Receive(where, message, label, NOWHERE)  # type: ignore[arg-type]


def pick(name: str, domain: t.Term, condition: t.Term | None = None) -> t.Pick:
    return t.Pick(name, domain, condition, NOWHERE)


def loop(name: str, domain: t.Term, *body: t.Statement) -> t.For:
    return t.For(name, domain, body, NOWHERE)


def when(condition: t.Term, *body: t.Statement) -> t.If:
    return t.If(condition, body, (), NOWHERE)


def hop(name: str, origin: int, target: int, fair: str = "none", *, kind: Type) -> Action:
    """A row that moves the variable `n` of a range from one value to another."""
    step = assign(place("n", kind), lit(target, kind))
    made = action(name, step, guard=equal(read("n", kind), number(origin)))
    return replace(made, fair=fair)  # type: ignore[arg-type]


def binding(name: str, domain: t.Term, condition: t.Term | None = None) -> Binding:
    return Binding(name, domain, condition, shown=True)


def action(
    name: str,
    *body: t.Statement,
    guard: t.Term = TRUE,
    bindings: Items[Binding] = (),
    fault: str | None = None,
) -> Action:
    return Action(
        name=name,
        bindings=tuple(bindings),
        lets=(),
        shown_lets=(),
        guard=guard,
        body=body,
        trigger=Trigger("spontaneous", None, None),
        fault=fault,
        fair="none",
        generated=False,
        actor=None,
        about="",
        source="",
        span=NOWHERE,
    )


def variable(name: str, kind: Type, initial: object, table: str | None = None) -> Variable:
    origin = "variable" if table is None else "machine"
    return Variable(name, kind, lit(initial, kind), origin, table, NOWHERE)  # type: ignore[arg-type]


def prop(name: str, kind: str, condition: t.Term) -> Property:
    return Property(name, kind, condition, None, "because", "", NOWHERE)  # type: ignore[arg-type]


def machine(
    name: str,
    variables: Items[Variable],
    actions: Items[Action],
    *,
    initial: Action | None = None,
    properties: Items[Property] = (),
    bounds: Items[t.Term] = (),
    terminal: Items[t.Term] = (),
    tables: Items[StateTable] = (),
    ids: Items[Id] = (),
    deadlock: bool = True,
) -> Machine:
    return Machine(
        name=name,
        path=f"{name}.yaml",
        instance="default",
        about="",
        constants=(),
        tables=tuple(tables),
        ids=tuple(ids),
        variables=tuple(variables),
        initial=initial or action("initial"),
        actions=tuple(actions),
        properties=tuple(properties),
        bounds=tuple(bounds),
        terminal=tuple(terminal),
        deadlock=deadlock,
        budgets=(),
        expectation=None,
        tier="quick",
        symmetry=False,
    )


def table(name: str, states: Items[str], moves: Items[tuple[str, str]]) -> StateTable:
    return StateTable(
        name=name,
        about="",
        source="",
        states=tuple((state, "") for state in states),
        initial=(states[0],),
        final=(),
        created=(states[0],),
        transitions=tuple(TableTransition(a, f"{a}_{b}", b, "", "") for a, b in moves),
        restores=(),
        span=NOWHERE,
    )


# ------------------------------------------------------------------------- machines with answers


def counter(limit: int = 3) -> Machine:
    """n counts from 0 to `limit`, where it is stuck."""
    kind = Range(0, limit)
    n = read("n", kind)
    step = assign(place("n", kind), cast(plus(n, 1), kind))
    return machine(
        "counter",
        [variable("n", kind, 0)],
        [action("increase", step, guard=less(n, number(limit)))],
    )


def hour_clock() -> Machine:
    """Any hour may be the first; TLC: 12 distinct, 24 generated."""
    kind = Range(1, 12)
    hour = read("hour", kind)
    next_hour = t.Choose(equal(hour, number(12)), number(1), plus(hour, 1), Range(1, 13), NOWHERE)
    start = action(
        "initial",
        assign(place("hour", kind), local("h", kind)),
        bindings=[binding("h", everything(kind))],
    )
    tick = action("tick", assign(place("hour", kind), cast(next_hour, kind)))
    return machine("hour_clock", [variable("hour", kind, 1)], [tick], initial=start)


def two_phase(managers: int = 3) -> Machine:
    """Two-phase commit as TLC checks it: messages are kept, managers may repeat what they did."""
    rm = Id("Manager", tuple(f"r{n}" for n in range(1, managers + 1)), symmetric=False)
    state = Enum("RmState", ("working", "prepared", "committed", "aborted"))
    tm = Enum("TmState", ("init", "done_commit", "done_abort"))
    message = Union(
        "Message",
        (Record("Commit", ()), Record("Abort", ()), Record("Prepared", (("manager", rm),))),
    )
    states, channel = Map(rm, state, total=True), Set(message)
    m = local("m", rm)
    mine = at(read("states", states), m)
    prepared_by = record("Prepared", message, manager=m)
    commit, abort = record("Commit", message), record("Abort", message)
    tm_init = equal(read("tm", tm), lit("init", tm))
    messages = read("messages", channel)

    def become(value: str) -> t.Assign:
        return assign(place("states", state, m), lit(value, state))

    def each(name: str, guard: t.Term, *body: t.Statement) -> Action:
        return action(name, *body, guard=guard, bindings=[binding("m", everything(rm))])

    actions = [
        action(
            "commit",
            assign(place("tm", tm), lit("done_commit", tm)),
            send(place("messages", channel), commit),
            guard=both(tm_init, equal(read("ready", Set(rm)), everything(rm))),
        ),
        action(
            "abort",
            assign(place("tm", tm), lit("done_abort", tm)),
            send(place("messages", channel), abort),
            guard=tm_init,
        ),
        each(
            "hear_prepared",
            both(tm_init, contains(prepared_by, messages)),
            send(place("ready", Set(rm)), m),
        ),
        each(
            "prepare",
            equal(mine, lit("working", state)),
            become("prepared"),
            send(place("messages", channel), prepared_by),
        ),
        each("choose_abort", equal(mine, lit("working", state)), become("aborted")),
        each("hear_commit", contains(commit, messages), become("committed")),
        each("hear_abort", contains(abort, messages), become("aborted")),
    ]
    a, b = local("a", rm), local("b", rm)
    clash = both(
        equal(at(read("states", states), a), lit("committed", state)),
        equal(at(read("states", states), b), lit("aborted", state)),
    )
    pairs = tuple(t.Generator(name, everything(rm), None) for name in ("a", "b"))
    consistent = negated(t.Fold("any", pairs, clash, None, BOOL, NOWHERE))
    return machine(
        "two_phase",
        [
            variable("states", states, MapValue(dict.fromkeys(rm.members, "working"))),
            variable("tm", tm, "init"),
            variable("ready", Set(rm), frozenset()),
            variable("messages", channel, frozenset()),
        ],
        actions,
        properties=[prop("consistent", "always", consistent)],
        ids=[rm],
    )


def bag_channel() -> Machine:
    """A bag of at most two bits; any of them may be taken."""
    bit = Range(0, 1)
    bag = Bag(bit, 2)
    v = local("v", bit)
    return machine(
        "bag_channel",
        [variable("bag", bag, ())],
        [
            action("put", send(place("bag", bag), v), bindings=[binding("v", everything(bit))]),
            action(
                "take",
                receive(place("bag", bag), v),
                bindings=[binding("v", read("bag", bag))],
            ),
        ],
    )


def fifo_with_loss() -> Machine:
    """A queue of at most two bits; the oldest is taken; one message in all may be lost."""
    bit, budget = Range(0, 1), Range(0, 1)
    queue = Sequence(bit, 2)
    content, left = read("queue", queue), read("budget", budget)
    v = local("v", bit)
    spend = t.Arithmetic("-", left, number(1), Range(-1, 0), NOWHERE)
    oldest = t.Slice(content, None, number(1), queue, NOWHERE)
    return machine(
        "fifo_with_loss",
        [variable("queue", queue, ()), variable("budget", budget, 1)],
        [
            action("put", send(place("queue", queue), v), bindings=[binding("v", everything(bit))]),
            action("take", receive(place("queue", queue), v), bindings=[binding("v", oldest)]),
            action(
                "lose",
                receive(place("queue", queue), v, "lost"),
                assign(place("budget", budget), cast(spend, budget)),
                guard=less(number(0), left),
                bindings=[binding("v", content)],
                fault="loss",
            ),
        ],
    )


def picks_in_a_loop() -> Machine:
    """Every step throws a bit for each of two ids."""
    who, bit = Id("Who", ("w1", "w2"), symmetric=False), Range(0, 1)
    bits = Map(who, bit, total=True)
    throw = loop(
        "w",
        everything(who),
        pick("b", everything(bit)),
        assign(place("bits", bit, local("w", who)), local("b", bit)),
    )
    zero = MapValue({"w1": 0, "w2": 0})
    return machine(
        "picks_in_a_loop", [variable("bits", bits, zero)], [action("throw", throw)], ids=[who]
    )


def rejecting() -> Machine:
    """A request fills three of five slots or, when they do not all fit, none and is answered no."""
    fill, noes = Range(0, 5), Range(0, 1)
    n = read("n", fill)
    add = assign(place("n", fill), cast(plus(n, 1), fill))
    full = equal(n, number(5))
    answer = t.Reject((assign(place("noes", noes), lit(1, noes)),), NOWHERE)
    return machine(
        "rejecting",
        [variable("n", fill, 0), variable("noes", noes, 0)],
        [action("request", loop("i", everything(Range(1, 3)), when(full, answer), add))],
    )


def fresh_ids() -> Machine:
    """Ids are drawn until there are none: the last step is cut."""
    kind = Id("Member", ("m1", "m2", "m3"), symmetric=False)
    used = Set(kind)
    draw = t.Fresh("m", kind, NOWHERE)
    return machine(
        "fresh_ids",
        [variable("used", used, frozenset())],
        [action("join", draw, send(place("used", used), local("m", kind)))],
        ids=[kind],
    )


def partial_map() -> Machine:
    """Two keys come and go, with one of two values."""
    who, bit = Id("Who", ("w1", "w2"), symmetric=False), Range(0, 1)
    held = Map(who, bit, total=False)
    k, v = local("k", who), local("v", bit)
    return machine(
        "partial_map",
        [variable("held", held, MapValue({}))],
        [
            action(
                "put",
                assign(place("held", bit, k), v),
                bindings=[binding("k", everything(who)), binding("v", everything(bit))],
            ),
            action(
                "remove",
                t.Delete(place("held", bit, k), NOWHERE),
                bindings=[binding("k", read("held", held))],
            ),
        ],
        ids=[who],
    )


def optional_union() -> Machine:
    """A slot holds nothing, a Ping with a bit, or a Pong."""
    bit = Range(0, 1)
    message = Union("Message", (Record("Ping", (("bit", bit),)), Record("Pong", ())))
    slot = Option(message)
    content = read("slot", slot)
    ping = record("Ping", message, bit=local("v", bit))
    return machine(
        "optional_union",
        [variable("slot", slot, None)],
        [
            action(
                "ping",
                assign(place("slot", slot), cast(ping, slot)),
                guard=t.IsNone(content, NOWHERE),
                bindings=[binding("v", everything(bit))],
            ),
            action(
                "pong",
                assign(place("slot", slot), cast(record("Pong", message), slot)),
                guard=t.IsVariant(content, "Ping", NOWHERE),
            ),
            action(
                "clear",
                assign(place("slot", slot), lit(None, slot)),
                guard=t.IsVariant(content, "Pong", NOWHERE),
            ),
        ],
    )


def lamp() -> Machine:
    """A lamp whose table knows no way from broken to on; its third row does it all the same."""
    kind = Enum("lamp", ("off", "on", "broken"))
    follows = table("lamp", kind.members, [("off", "on"), ("on", "off"), ("on", "broken")])
    state = read("lamp", kind)

    def move(name: str, origin: str, target: str) -> Action:
        step = t.Transition(place("lamp", kind), lit(target, kind), "lamp", "transition", NOWHERE)
        return action(name, step, guard=equal(state, lit(origin, kind)))

    return machine(
        "lamp",
        [variable("lamp", kind, "off", table="lamp")],
        [
            move("switch_on", "off", "on"),
            move("burn_out", "on", "broken"),
            move("revive", "broken", "on"),
        ],
        tables=[follows],
    )


def overflow(limit: int = 2) -> Machine:
    """A counter that forgets to stop: from `limit` on its step is an evaluation error (E501)."""
    made = counter(limit)
    return replace(made, name="overflow", actions=(replace(made.actions[0], guard=TRUE),))


def bounded_counter() -> Machine:
    """The counter to 9, cut beyond 2; 3 is checked but not stored."""
    made = counter(9)
    n = read("n", Range(0, 9))
    return replace(
        made,
        name="bounded_counter",
        bounds=(less(n, number(3)),),
        properties=(prop("reaches_three", "sometimes", equal(n, number(3))),),
    )


def widened(machine: Machine) -> Machine:
    """The machine with two constants beside it that make each state two words longer."""
    kind = Range(0, 1 << 45)
    idle = [
        Variable(name, kind, lit(0, kind), "variable", None, NOWHERE)
        for name in ("#left", "#right")
    ]
    return replace(machine, variables=(*machine.variables, *idle))


@dataclass(frozen=True, slots=True)
class Known:
    """A machine and what a search (that keeps going) must find in it."""

    machine: Machine
    distinct: int
    generated: int
    depth: int
    deadlocks: int = 0
    cuts: int = 0


KNOWN = (
    Known(counter(), distinct=4, generated=4, depth=3, deadlocks=1),
    Known(hour_clock(), distinct=12, generated=24, depth=0),
    Known(two_phase(), distinct=288, generated=1146, depth=10),
    Known(bag_channel(), distinct=6, generated=13, depth=2),
    Known(fifo_with_loss(), distinct=14, generated=33, depth=4),
    Known(picks_in_a_loop(), distinct=4, generated=17, depth=1),
    Known(rejecting(), distinct=3, generated=4, depth=2),
    Known(fresh_ids(), distinct=4, generated=5, depth=3, cuts=1),
    Known(partial_map(), distinct=9, generated=49, depth=2),
    Known(optional_union(), distinct=4, generated=6, depth=2),
    Known(lamp(), distinct=3, generated=4, depth=2),
    Known(bounded_counter(), distinct=3, generated=4, depth=2, cuts=1),
)
"""Published (hour clock, two-phase commit) or worked out by hand."""
