"""Statements as code: one run of an action's body on its own copy of what it writes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from checker.layout.shape import Shape
from checker.llvm import cells, loops
from checker.llvm.choices import Drawn, Script, pick
from checker.llvm.code import Flag, Operand, Ref
from checker.llvm.fit import convert
from checker.llvm.frame import Bound, Frame, Mutable, Value
from checker.llvm.places import Element, add_to, change, steps_of, take_from
from checker.machine import terms
from checker.machine.terms import Statement
from checker.machine.types import Enum
from checker.machine.walk import TERMS, children, statements_inside
from checker.passes.analysis import UNROLLED_DOMAIN
from checker.table.state_table import StateTable

UNROLLED_STATEMENTS = 200
"""A `for` over a small domain is written value by value below this many operations."""


@dataclass(slots=True)
class Body:
    """A body being written: where it works, and where control goes.

    `source` are the variables as the step found them, `work` its own copies of those it writes;
    `frame.variables` has both. `changed` are the cells that it may change, by variable. `illegal`
    notes an illegal transition, where one can happen. `done`, `abandoned` and `out_of_ids` are
    labels.
    """

    frame: Frame
    source: Mapping[str, Ref]
    shapes: Mapping[str, Shape]
    tables: Mapping[str, StateTable]
    work: Mapping[str, Ref]
    changed: Mapping[str, Collection[int]]
    illegal: Ref | None
    script: Script
    drawn: Drawn
    done: str
    abandoned: str
    out_of_ids: str
    scopes: dict[str, str] = field(default_factory=dict)
    breaks: list[str] = field(default_factory=list)
    _copies: dict[str, tuple[int, int]] = field(default_factory=dict)

    def begin(self) -> None:
        """Write: everything is as the step found it.

        Cells that no statement changes keep what they hold; they are copied only for access by
        an index that is not known now, and `finish` takes the copying out where there was none.
        """
        code = self.frame.code
        self._forget()
        for name in self.changed:
            target, origin = self.frame.variables[name], self.source[name]
            for cell in range(self.shapes[name].cells):
                if cell not in self.changed[name]:
                    code.known[target.base, cell] = code.known[origin.base, cell]
            code.escaped.discard(target.base)
            self._copies[name] = code.optional(lambda name=name: self._copy_others(name))  # type: ignore[misc]
        self.restore()

    def restore(self) -> None:
        """Write: what may have changed is as the step found it."""
        code = self.frame.code
        for name, cells_changed in self.changed.items():
            target, origin = self.frame.variables[name], self.source[name]
            if len(cells_changed) == self.shapes[name].cells:
                cells.copy(self.frame, target, origin, self.shapes[name].cells)
                continue
            for cell in cells_changed:
                code.store(code.load(code.shift(origin, cell)), code.shift(target, cell))
        if self.illegal is not None:
            code.store(0, self.illegal)

    def finish(self) -> None:
        """Take back what turned out not to be needed, and what was known of this run's cells."""
        code = self.frame.code
        for name, lines in self._copies.items():
            if self.work[name].base not in code.escaped:
                code.drop(lines)
        self._forget()

    def _copy_others(self, name: str) -> None:
        code, target, origin = self.frame.code, self.work[name], self.source[name]
        for cell in range(self.shapes[name].cells):
            if cell not in self.changed[name]:
                code.store(code.load(code.shift(origin, cell)), code.shift(target, cell))

    def _forget(self) -> None:
        known = self.frame.code.known
        for name, place in self.work.items():
            for cell in range(self.shapes[name].cells):
                known.pop((place.base, cell), None)


def write_block(body: Body, statements: tuple[Statement, ...]) -> None:
    """Write statements in order."""
    code = body.frame.code
    for statement in statements:
        if not code.open:
            return
        mark = code.mark()
        _WRITERS[type(statement)](body, statement)
        code.release(mark)


def _assign(body: Body, statement: terms.Assign) -> None:
    frame, place = body.frame, statement.place
    steps = steps_of(frame, place)
    value, given = frame.value(statement.value), frame.shapes[statement.value.type]

    def update(element: Element) -> None:
        element.store(convert(frame, value, given, element.shape))

    _change(body, place, steps, update)


def _change(body: Body, place: terms.Place, steps: Any, update: Callable[[Element], None]) -> None:
    name = place.variable
    change(body.frame, body.frame.variables[name], body.shapes[name], steps, update)


def _transition(body: Body, statement: terms.Transition) -> None:
    frame, code = body.frame, body.frame.code
    steps = steps_of(frame, statement.place)
    value, given = frame.value(statement.value), frame.shapes[statement.value.type]
    table = body.tables[statement.table]

    def update(element: Element) -> None:
        element.require_present()
        assert isinstance(element.shape.type, Enum)
        old, new = element.load(), convert(frame, value, given, element.shape)
        assert not isinstance(old, Ref)
        assert not isinstance(new, Ref)
        legal = _is_legal(frame, table, statement.kind, element.shape.type.members, (old, new))
        assert body.illegal is not None
        marked = code.bits("or", code.load(body.illegal), code.number(code.negate(legal)))
        code.store(marked, body.illegal)
        element.store(new)

    _change(body, statement.place, steps, update)


def _is_legal(
    frame: Frame,
    table: StateTable,
    kind: str,
    states: tuple[str, ...],
    move: tuple[Operand, Operand],
) -> Flag:
    code, (old, new) = frame.code, move
    if isinstance(new, int) and len(states) <= 62:
        target = states[new]
        origins = sum(
            1 << index for index, state in enumerate(states) if table.allows(kind, state, target)
        )
        if origins == cells.full_mask(len(states)):
            return True
        return code.flag(code.bits("and", code.bits("lshr", origins, old), 1))
    allowed = [int(table.allows(kind, one, two)) for one in states for two in states]
    matrix = frame.constants.array(allowed)
    return code.flag(code.load(code.shift(matrix, code.add(code.mul(old, len(states)), new))))


def _delete(body: Body, statement: terms.Delete) -> None:
    steps = steps_of(body.frame, statement.place)

    def update(element: Element) -> None:
        element.require_present()
        element.remove()

    _change(body, statement.place, steps, update)


def _set_local(body: Body, statement: terms.SetLocal) -> None:
    value = body.frame.value(statement.value)
    set_local(body.frame, statement.name, value, body.frame.shapes[statement.value.type])


def set_local(frame: Frame, name: str, value: Value, shape: Shape) -> None:
    """Write: the local `name` becomes `value`."""
    known = frame.locals.get(name)
    if not isinstance(known, Mutable) or known.shape.type != shape.type:
        known = frame.locals[name] = Mutable(frame.code.named(name, _room(shape)), shape)
    if isinstance(value, Ref):
        cells.copy(frame, known.place, value, shape.cells)
    else:
        frame.code.store(cells.code_of(frame, value, shape), known.place)


def _room(shape: Shape) -> int:
    return 1 if shape.scalar else max(shape.cells, 1)


def _if(body: Body, statement: terms.If) -> None:
    frame, code = body.frame, body.frame.code
    condition = frame.flag(statement.condition)
    yes, no, end = code.new_label(), code.new_label(), code.new_label()
    code.fork(condition, yes, no)
    code.label(yes)
    # What one branch requires is not known in the other, nor behind both.
    known = dict(frame.facts)
    frame.learn(statement.condition)
    write_block(body, statement.then)
    frame.facts = dict(known)
    code.jump(end)
    code.label(no)
    write_block(body, statement.otherwise)
    frame.facts = known
    code.jump(end)
    code.label(end)


def _for(body: Body, statement: terms.For) -> None:
    frame, code = body.frame, body.frame.code
    domain = loops.snapshot(frame, loops.domain_of(frame, statement.domain))
    end = code.new_label()

    def visit(position: Operand, _: str) -> None:
        value = loops.value_at(frame, domain, position)
        known = dict(frame.facts)
        if isinstance(frame.locals.get(statement.name), Mutable):
            set_local(frame, statement.name, value, domain.item)
            write_block(body, statement.body)
        else:
            with frame.bound(statement.name, Bound(value, domain.item)):
                write_block(body, statement.body)
        frame.facts = known

    body.breaks.append(end)
    few = domain.shape.count <= UNROLLED_DOMAIN and frame.unrolling
    unroll = few and domain.shape.count * cost(frame, statement.body) <= UNROLLED_STATEMENTS
    loops.run(frame, domain, visit, distinct=False, unroll=unroll)
    body.breaks.pop()
    code.label(end)


def cost(frame: Frame, statements: Iterable[Statement]) -> int:
    """Return about how many operations statements write."""
    total = 0
    for statement in statements_inside(statements):
        total += 4
        held = [part for part in children(statement) if isinstance(part, TERMS)]
        total += sum(frame.analysis.cost(term) for term in held)
    return total


def _break(body: Body, _: terms.Break) -> None:
    body.frame.code.jump(body.breaks[-1])


def _pick(body: Body, statement: terms.Pick) -> None:
    value, shape = pick(body.frame, statement, body.script)
    set_local(body.frame, statement.name, value, shape)


def _fresh(body: Body, statement: terms.Fresh) -> None:
    frame = body.frame
    variables = [(frame.variables[name], shape) for name, shape in body.shapes.items()]
    variables += [(body.source[name], body.shapes[name]) for name in body.work]
    index = body.drawn.fresh(statement.type, variables, body.out_of_ids)
    set_local(frame, statement.name, index, frame.shapes[statement.type])


def _send(body: Body, statement: terms.Send) -> None:
    frame, code = body.frame, body.frame.code
    steps = steps_of(frame, statement.place)
    value, given = frame.value(statement.message), frame.shapes[statement.message.type]

    def full() -> None:
        if statement.when_full != "drop":
            code.jump(body.abandoned if statement.when_full == "block" else frame.error)

    def update(element: Element) -> None:
        assert element.shape.item is not None
        element.require_present()
        add_to(frame, element, convert(frame, value, given, element.shape.item), full)

    _change(body, statement.place, steps, update)


def _receive(body: Body, statement: terms.Receive) -> None:
    frame = body.frame
    steps = steps_of(frame, statement.place)
    value, given = frame.value(statement.message), frame.shapes[statement.message.type]

    def update(element: Element) -> None:
        assert element.shape.item is not None
        element.require_present()
        message = convert(frame, value, given, element.shape.item)
        take_from(frame, element, message, keep=statement.label == "read")

    _change(body, statement.place, steps, update)


def _note(body: Body, statement: terms.Note) -> None:
    steps_of(body.frame, statement.place)
    body.frame.value(statement.message)


def _require(body: Body, statement: terms.Require) -> None:
    code = body.frame.code
    code.leave_unless(body.frame.flag(statement.condition), body.abandoned)
    body.frame.learn(statement.condition)


def _assert(body: Body, statement: terms.Assert) -> None:
    body.frame.require(body.frame.flag(statement.condition))
    body.frame.learn(statement.condition)


def _reject(body: Body, statement: terms.Reject) -> None:
    body.restore()
    write_block(body, statement.body)
    body.frame.code.jump(body.done)


def _scope(body: Body, statement: terms.Scope) -> None:
    code = body.frame.code
    end = code.new_label()
    outer = body.scopes.get(statement.label)
    body.scopes[statement.label] = end
    known = dict(body.frame.facts)
    write_block(body, statement.body)
    body.frame.facts = known
    if outer is None:
        del body.scopes[statement.label]
    else:
        body.scopes[statement.label] = outer
    code.label(end)


def _leave(body: Body, statement: terms.Leave) -> None:
    body.frame.code.jump(body.scopes[statement.label])


_WRITERS: dict[type, Callable[[Body, Any], None]] = {
    terms.Assign: _assign,
    terms.Transition: _transition,
    terms.Delete: _delete,
    terms.SetLocal: _set_local,
    terms.If: _if,
    terms.For: _for,
    terms.Break: _break,
    terms.Pick: _pick,
    terms.Fresh: _fresh,
    terms.Send: _send,
    terms.Receive: _receive,
    terms.Note: _note,
    terms.Require: _require,
    terms.Assert: _assert,
    terms.Reject: _reject,
    terms.Scope: _scope,
    terms.Leave: _leave,
}
"""How each kind of statement is written."""
