"""Rows to actions: trigger, bindings, guard, body, in the order the language evaluates them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from checker.elaborate import build, convert
from checker.elaborate.collections import domain
from checker.elaborate.connections import is_own_call
from checker.elaborate.context import Context, Term, expression
from checker.elaborate.effects import Effects, Frame, Locals, settle
from checker.elaborate.folded import constant_truth, evaluate
from checker.elaborate.functions import interval
from checker.elaborate.lookup import calls_target, everything, meaningless
from checker.elaborate.messaging import send_message
from checker.elaborate.places import machine_place, read, table_of
from checker.elaborate.triggers import Consumption, consume, parse, spontaneous
from checker.elaborate.type_cells import TypeReader
from checker.elaborate.world import Allocator, World
from checker.elaborate.wrong import Wrong, collecting
from checker.machine import terms as t
from checker.machine.certain import certain
from checker.machine.machine import Action, Binding, Fairness
from checker.machine.relations import bare, item_of, show
from checker.machine.types import Enum, Option, Set, Type
from checker.machine.walk import mentioned
from checker.source import Span
from checker.table.document import BindingEntry, Cell, InState, Row, TypeName, TypeRange, Word
from checker.table.problems import nearest


def action_of(world: World, row: Row) -> Action | None:
    """Return a row as an action; None where its constants or its budget leave it out.

    Raises Wrong where the row as a whole cannot be understood; other errors are collected.
    """
    if row.only_if is not None and not constant_truth(world, row.only_if):
        return None
    if world.kept is None:
        return action_alone(world, row)
    return world.kept.made(world, row, lambda: action_alone(world, row), row.span)


def action_alone(world: World, row: Row) -> Action | None:
    """Return a row that exists as an action, whatever other instances have made of it.

    The document need not have it. None where its budget leaves it out.
    """
    result = settle(world, lambda locals_: _pass(world, row, locals_))
    return result if isinstance(result, Action) else None


def _pass(world: World, row: Row, locals_: Locals) -> tuple[Action | None, int]:
    builder = _Row(world, row, locals_)
    action: Action | None = None
    with collecting(world.problems):
        action = builder.build()
    return action, builder.effects.iterations


class _Row:
    """One pass over one row."""

    def __init__(self, world: World, row: Row, locals_: Locals) -> None:
        self.world, self.row = world, row
        self.allocator = Allocator()
        self.allocator.keep(entry.name.text for entry in row.bindings)
        self.names: dict[str, Term] = {}
        self.effects = Effects(world, self.allocator, locals_)

    def context(self, cell: Cell) -> Context:
        return Context(self.world, cell, self.names, self.allocator)

    def build(self) -> Action | None:
        row = self.row
        found = self._trigger()
        fault = self._fault(found)
        if fault is not None and self.world.budgets[fault] == 0:
            return None
        bindings = [*found.bindings]
        for entry in row.bindings:
            with collecting(self.world.problems):
                self._require_new(entry.name, found.late)
                bindings.append(self._binding(entry))
            self.names.setdefault(entry.name.text, meaningless(entry.name.span))
        self.names.update(found.late)
        span = row.span
        guard = build.conjunction([*self._affordable(fault), *self._inside(), self._when()], span)
        body = self._body(found, fault)
        return Action(
            name=row.name.text,
            bindings=tuple(bindings),
            lets=tuple(found.lets),
            shown_lets=tuple(found.shown),
            guard=guard,
            body=body,
            trigger=found.trigger,
            fault=fault,
            fair="none" if fault is not None else fairness(self.world, row.fair or found.fair),
            generated=False,
            actor=row.actor.text if row.actor else None,
            about=row.about,
            source=row.source,
            span=span,
        )

    def _require_new(self, word: Word, known: Mapping[str, Term]) -> None:
        """Raise Wrong for a name that stands for something else in this row already."""
        if word.text in known:
            raise Wrong(
                "N203",
                f"`{word.text}` has a meaning in this row already",
                word.span,
                help="choose another name",
            )

    # ---------------------------------------------------------------------- before the guard

    def _trigger(self) -> Consumption:
        if self.row.on is None:
            return spontaneous()
        context = self.context(self.row.on)
        words = (*(entry.name for entry in self.row.bindings), *(word for word, _ in self.row.lets))
        named = frozenset(word.text for word in words)
        return consume(context, parse(context, expression(self.row.on)), named)

    def _fault(self, found: Consumption) -> str | None:
        word, name = self.row.fault, found.fault
        if word is not None:
            if name is not None and name != word.text:
                raise Wrong(
                    "N205",
                    f"this outcome is already the fault `{name}`",
                    word.span,
                    expected=name,
                    found=word.text,
                )
            name = word.text
        if name is not None and name not in self.world.budgets:
            close = nearest(name, self.world.budgets)
            raise Wrong(
                "N206",
                f"no fault is called `{name}`",
                word.span if word else self.row.span,
                expected=", ".join(self.world.budgets) or "an entry of `faults:`",
                help=f"did you mean `{close}`?" if close else None,
            )
        return name

    def _binding(self, entry: BindingEntry) -> Binding:
        values = domain_of(entry, self.context)
        item = item_of(values.type)
        assert item is not None
        unique = self.allocator.binding(entry.name.text)
        self.names[entry.name.text] = t.Local(unique, item, entry.name.span)
        return Binding(unique, values, None, shown=True)

    # ----------------------------------------------------------------------------- the guard

    def _affordable(self, fault: str | None) -> list[Term]:
        if fault is None or self.world.budgets[fault] is None:
            return []
        return [affordable(self.world, fault, self.row.span)]

    def _inside(self) -> list[Term]:
        return inside(self.world, self.row.inside, self.names, self.allocator)

    def _when(self) -> Term:
        """Return `let` and `when` as one condition.

        A let that `when` does not mention and that has a value in any case is left to the body.
        """
        outer = dict(self.names)
        bound: list[tuple[str, Term]] = []
        for word, cell in self.row.lets:
            with collecting(self.world.problems):
                self._require_new(word, outer)
                value = self.context(cell).infer(expression(cell))
                self.names[word.text] = self._let(word, value, bound)
            self.names.setdefault(word.text, meaningless(word.span))
        condition = convert.truth(True, self.row.span)
        guard: Term = condition
        if self.row.when is not None:
            with collecting(self.world.problems):
                guard = self.context(self.row.when).condition(expression(self.row.when), "`when`")
        for unique, value in reversed(bound):
            if unique in mentioned(guard) or not certain(value):
                guard = t.Let(unique, value, guard, convert.BOOL, value.span)
        self.names.clear()
        self.names.update(outer)
        return guard

    def _let(self, word: Word, value: Term, bound: list[tuple[str, Term]]) -> Term:
        if isinstance(value, t.Literal) or is_own_call(value, self.world):
            return value
        unique = self.allocator.unique(word.text)
        bound.append((unique, value))
        return t.Local(unique, value.type, word.span)

    # ------------------------------------------------------------------------------ the body

    def _body(self, found: Consumption, fault: str | None) -> tuple[t.Statement, ...]:
        effects, row = self.effects, self.row
        first = row.do or row.on or row.when
        cell = first or Cell("", row.span, (), ((row.span.line, row.span.column),))
        effects.prologue = (*found.take, *spending(self.world, fault, row.span))
        effects.handle = found.handle
        lets: list[tuple[str, t.Statement]] = []
        with effects.collect() as body:
            for word, let in row.lets:
                with collecting(self.world.problems):
                    self._body_let(word, let, lets)
                self.names.setdefault(word.text, meaningless(word.span))
            frame = Frame(
                self.context(cell), self.allocator.unique(row.name.text), frozenset(self.names)
            )
            frame.context.names = dict(self.names)
            if row.do is not None:
                assert not isinstance(row.do.tree, ast.expr)
                effects.block(frame, list(row.do.tree))
            for entry in row.to:
                with collecting(self.world.problems):
                    self._to(frame, entry)
            for send in row.send:
                with collecting(self.world.problems):
                    self._send(frame, send)
        own: tuple[t.Statement, ...] = tuple(body)
        if frame.left:
            own = (t.Scope(frame.label, own, row.span),)
        self._check_answered(found, own)
        used = mentioned(*effects.prologue, *own, *(statement for _, statement in lets))
        kept = tuple(statement for unique, statement in lets if unique in used)
        return (*kept, *effects.prologue, *own)

    def _check_answered(self, found: Consumption, own: tuple[t.Statement, ...]) -> None:
        """Warn of a call that some way through the body neither answers nor stores (L431)."""
        handle = found.handle
        if not isinstance(handle, t.RecordOf):
            return
        slot = dict(handle.fields)["slot"]
        if isinstance(slot, t.Local) and not answers(own, slot.name):
            self.world.warn(
                "L431",
                f"`{self.row.name.text}` may neither answer the call nor store its handle",
                self.row.name.span,
                "reply to `call`, store it, or reject",
            )

    def _body_let(self, word: Word, cell: Cell, lets: list[tuple[str, t.Statement]]) -> None:
        value = self.context(cell).infer(expression(cell))
        if not isinstance(value, t.Literal):
            unique = self.allocator.unique(word.text)
            lets.append((unique, t.SetLocal(unique, value, value.span)))
            value = t.Local(unique, value.type, word.span)
        self.names[word.text] = value

    def _to(self, frame: Frame, entry: InState) -> None:
        frame.context = frame.context.at_cell(entry.place)
        place = machine_place(frame.context, expression(entry.place))
        table_of(frame.context, place)
        (value,) = states_of(entry, place.type, "other effects stand in `do:`")
        self.effects.store(frame, place, value, entry.states[0].span)

    def _send(self, frame: Frame, cell: Cell) -> None:
        frame.context = frame.context.at_cell(cell)
        node = expression(cell)
        match node:
            case ast.Tuple([first, second]):
                if calls_target(frame.context, first) is not None:
                    call = ast.Call(ast.Name("call", ast.Load()), [first, second], [])
                    self.effects.call(frame, ast.copy_location(call, node))
                else:
                    send_message(self.effects, frame, [first, second], cell.span)
            case ast.Call(ast.Name(word)) if word in ("send", "call", "reply", "start", "close"):
                self.effects.call(frame, node)
            case ast.Call(ast.Attribute(channel, kind), arguments, keywords):
                name = ast.copy_location(ast.Name(kind, ast.Load()), node)
                message = ast.copy_location(ast.Call(name, arguments, keywords), node)
                send_message(self.effects, frame, [channel, message], cell.span)
            case _:
                send_message(self.effects, frame, [node], cell.span)


# --------------------------------------------------------------------- shared with other rows


def domain_of(entry: BindingEntry, context_of: Callable[[Cell], Context]) -> Term:
    """Return what an entry of `for:` runs over; `context_of` says what a cell of it sees."""
    if entry.cell is not None:
        return domain(context_of(entry.cell), expression(entry.cell))
    assert entry.node is not None
    span = entry.node.span
    if isinstance(entry.node, TypeRange):
        ends = [
            build.number(context_of(cell).infer(expression(cell)), "a range")
            for cell in (entry.node.low, entry.node.high)
        ]
        return interval(ends[0], ends[1], span)
    name = entry.node.name if isinstance(entry.node, TypeName) else ""
    tree = ast.Name(
        name, ast.Load(), lineno=1, col_offset=0, end_lineno=1, end_col_offset=len(name)
    )
    cell = Cell(name, span, tree, ((span.line, span.column),))
    context = context_of(cell)
    if name and not _is_type(context, name):
        return domain(context, tree)
    return everything(TypeReader(context.world).read(entry.node), span)


def _is_type(context: Context, name: str) -> bool:
    """Whether a name that `for:` runs over is a type's: of a table, what has values is meant first.

    A machine has none: where it is called as its table, its states are meant.
    """
    world = context.world
    variable = world.variables.get(name)
    values = variable is not None and item_of(variable.type) is not None
    values = values or name in context.names or name in world.definitions
    return name == "bool" or (name in world.types and not values)


def fairness(world: World, declared: Word | Cell | None) -> Fairness:
    """Return the fairness that a row declares, or the system's."""
    fair = world.document.fairness if declared is None else declared
    word: object
    if isinstance(fair, Word):
        word = fair.text
    elif isinstance(fair, str):
        word = fair
    else:
        kind = Option(Enum("fairness", ("weak", "strong")))
        literal = convert.coerce(evaluate(world, fair, kind), kind)
        word = literal.value if isinstance(literal, t.Literal) else None
    match word:
        case "weak":
            return "weak"
        case "strong":
            return "strong"
        case _:
            return "none"


def affordable(world: World, fault: str, span: Span) -> Term:
    """Return the guard of a fault with a budget."""
    name = f"budget.{fault}"
    left = t.Read(name, world.variables[name].type, span)
    return t.Compare(">", left, convert.integer(0, span), span)


def spending(world: World, fault: str | None, span: Span) -> tuple[t.Statement, ...]:
    """Return the statement that spends one of a fault's budget."""
    if fault is None or world.budgets[fault] is None:
        return ()
    name = f"budget.{fault}"
    kind = world.variables[name].type
    place = t.Place(name, (), kind, span)
    less = build.arithmetic("-", t.Read(name, kind, span), convert.integer(1, span), span)
    return (t.Assign(place, convert.coerce(less, kind), span),)


def inside(
    world: World, entries: tuple[InState, ...], names: dict[str, Term], allocator: Allocator
) -> list[Term]:
    """Return the conditions of `in:`."""
    conditions: list[Term] = []
    for entry in entries:
        with collecting(world.problems):
            context = Context(world, entry.place, names, allocator)
            place = machine_place(context, expression(entry.place))
            current = read(context, place)
            states = states_of(entry, place.type, "other conditions stand in `when:`")
            if len(states) == 1:
                conditions.append(build.equal(current, states[0], entry.span))
            else:
                kind = bare(place.type)
                options = t.SetOf(tuple(states), Set(kind), entry.span)
                conditions.append(build.contains(current, options, entry.span))
    return conditions


def states_of(entry: InState, kind: Type, instead: str) -> list[t.Literal]:
    """Return the states an entry of `in:` or `to:` names, as values of its place.

    `instead` is the help where that is no machine and no enum.
    """
    inner = bare(kind)
    if not isinstance(inner, Enum):
        raise Wrong(
            "Y303",
            "only machines and enums are in a state",
            entry.place.span,
            expected="the place of one machine",
            found=show(inner),
            help=instead,
        )
    found: list[t.Literal] = []
    for word in entry.states:
        if word.text not in inner.members:
            close = nearest(word.text, inner.members)
            raise Wrong(
                "N201",
                f"`{inner.name}` has no state `{word.text}`",
                word.span,
                expected=", ".join(inner.members),
                found=word.text,
                help=f"did you mean `{close}`?" if close else None,
            )
        found.append(t.Literal(word.text, inner, word.span))
    return found


def answers(statements: tuple[t.Statement, ...], slot: str) -> bool:
    """Return whether every way through a body answers or stores the call in `slot`, or rejects."""
    for statement in statements:
        match statement:
            case t.Reject():
                return True
            case t.If(_, then, otherwise, _):
                if answers(then, slot) and answers(otherwise, slot):
                    return True
            case t.Scope(_, body, _):
                if answers(body, slot):
                    return True
            case t.Leave():
                return False
            case _:
                if slot in mentioned(statement):
                    return True
    return False
