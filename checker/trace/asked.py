"""Expressions that somebody asks of the states of a run: parsed, typed and evaluated, no search."""

from __future__ import annotations

from collections.abc import Mapping

from checker.elaborate import world_of
from checker.elaborate.constants import Setting
from checker.elaborate.context import Context as Typing
from checker.elaborate.context import expression
from checker.elaborate.wrong import collecting
from checker.errors import EvaluationError
from checker.machine.machine import Machine
from checker.machine.terms import Term
from checker.semantics.evaluate import Context, evaluate
from checker.semantics.successor import State
from checker.semantics.successors import as_mapping
from checker.semantics.values import format_value
from checker.table import Document
from checker.table.document import Cell
from checker.table.expressions import parse_expression
from checker.table.passage import Passage
from checker.table.predicate import nameable
from checker.table.problems import Problems

PLACE = "<expression>"
"""Where errors in an expression of somebody's are told to be."""


def term_of(
    document: Document,
    instance: str,
    overrides: Mapping[str, Setting],
    text: str,
    *,
    condition: bool = False,
) -> Term:
    """Return an expression of the language as a term over the states of an instance.

    Of one run all ids may be named, interchangeable ones, too.
    SpecificationError with the place in `text` where it is none, or no `condition` where that is
    asked for.
    """
    passage = Passage.alone(PLACE, text)
    problems = Problems()
    tree = parse_expression(passage, problems)
    problems.raise_any()
    assert tree is not None
    cell = Cell(text, passage.whole(), tree, passage.starts)
    world = world_of(nameable(document), instance, overrides)
    found: list[Term] = []
    with collecting(world.problems):
        typing = Typing(world, cell)
        read = typing.condition if condition else typing.infer
        found.append(read(expression(cell)))
    world.problems.raise_any()
    return found[0]


def value_in(machine: Machine, term: Term, state: State) -> tuple[str, bool]:
    """Return the value of a term in a state as text, and whether it has one."""
    try:
        return format_value(evaluate(term, Context(as_mapping(machine, state), {}))), True
    except EvaluationError as error:
        return f"no value: {error} ({error.code})", False
