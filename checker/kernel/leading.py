"""Rows of another machine as code: whether one leads from a state of it to another.

Both states come as terms of this machine (`Leads`), so they are cells in memory. Each row of the
other machine is written as for a kernel of its own; but where a successor would be put out, it is
compared with the state that is looked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from checker.kernel.actions import ActionWriter, Spent
from checker.llvm import cells
from checker.llvm import terms as written
from checker.llvm.code import Flag, Operand, Ref
from checker.llvm.fit import convert
from checker.llvm.frame import Bound, Frame, Mutable, Value
from checker.llvm.meta import STEP
from checker.llvm.statements import Body
from checker.llvm.states import Sink
from checker.machine import terms
from checker.machine.machine import Action, Machine, Property
from checker.machine.terms import Term
from checker.passes.writes import written_variables


def evaluate(frame: Frame, term: Term) -> Value:
    """Write the code of `term` and return its value; errors go to `frame.error`."""
    return _leads(frame, term) if isinstance(term, terms.Leads) else written.evaluate(frame, term)


def _leads(frame: Frame, term: terms.Leads) -> Flag:
    """Write: whether some row of the other machine leads from `before` to `after`."""
    code = frame.code
    start = _held(frame, term.other, term.before)
    target = _held(frame, term.other, term.after)
    result, end = code.reserve(1), code.new_label()
    code.store(1, result)
    spent = Spent()
    for action in (term.other.initial,) if term.begins else term.other.actions:
        _row(frame, term.other, action, (start, target), end, spent)
    code.store(0, result)
    code.jump(end)
    code.label(end)
    return code.compare("ne", code.load(result), 0)


def _held(frame: Frame, other: Machine, values: Sequence[Term]) -> dict[str, Ref]:
    """Write: the values of all variables of the other machine, into memory."""
    held: dict[str, Ref] = {}
    for variable, term in zip(other.variables, values, strict=True):
        shape = frame.shapes[variable.type]
        held[variable.name] = frame.code.reserve(max(shape.cells, 1))
        value = convert(frame, frame.value(term), frame.shapes[term.type], shape)
        cells.store(frame, held[variable.name], shape, value)
    return held


def _row(
    frame: Frame,
    other: Machine,
    action: Action,
    states: tuple[dict[str, Ref], dict[str, Ref]],
    found: str,
    spent: Spent,
) -> None:
    """Write: go to `found` if the row leads from one state to the other; else fall through."""
    code, (start, target) = frame.code, states
    shapes = {variable.name: frame.shapes[variable.type] for variable in other.variables}
    changed = written_variables(action.body)
    end, before, mark = code.new_label(), dict(code.known), code.mark()
    for name, shape in shapes.items():
        if name not in changed:
            same = cells.same_cells(frame, start[name], target[name], max(shape.cells, 1))
            code.leave_unless(same, end)
    inner = Frame(
        code, frame.constants, frame.shapes, frame.analysis, evaluate, dict(start), frame.error
    )
    inner.unrolling = frame.unrolling
    nowhere = cast("Sink", None)
    tables = {table.name: table for table in other.tables}
    writer = _Finder(inner, action, nowhere, 0, start, shapes, tables, spent)
    writer.target, writer.found = target, found
    writer.write()
    code.jump(end)
    code.label(end)
    code.release(mark)
    code.known = before


@dataclass(slots=True)
class _Finder(ActionWriter):
    """Writes one row; what it leads to is compared with a state. A failed step leads nowhere."""

    target: Mapping[str, Ref] = field(default_factory=dict)
    found: str = ""

    def _failed(self) -> None:
        """Write nothing: the step leads nowhere."""

    def _outcomes(
        self, body: Body, meta: Operand, number: int, told: Mapping[str, Bound | Mutable]
    ) -> None:
        """Write: go to `found` where the body ended in the state that is looked for."""
        del meta, number, told
        code = self.frame.code
        code.label(body.done)
        same: Flag = True
        for name, place in self.work.items():
            size = max(self.shapes[name].cells, 1)
            same = code.both(same, cells.same_cells(self.frame, place, self.target[name], size))
        code.leave_if(same, self.found)
        code.jump(body.abandoned)
        for label in (body.out_of_ids, self.frame.error):
            code.label(label)
            code.jump(body.abandoned)
        code.label(body.abandoned)


# ----------------------------------------------------------------------------- initial states


def judge_beginning(frame: Frame, steps: Sequence[Property], result: Ref) -> None:
    """Write: add to the meta word at `result` which of these say that it is no initial state."""
    code = frame.code
    for number, item in enumerate(steps):
        if item.kind == "refines" and item.premise is not None:
            broken = code.select(frame.flag(item.premise), 0, 1 << (STEP + number))
            code.store(code.bits("or", code.load(result), broken), result)
