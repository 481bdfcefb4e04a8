"""Expressions over constants that must be constants themselves."""

from __future__ import annotations

from checker.elaborate import convert
from checker.elaborate.context import Context, Term, expression
from checker.elaborate.world import World
from checker.elaborate.wrong import TooMuch, Wrong
from checker.errors import EvaluationError
from checker.machine import terms as t
from checker.machine.relations import show
from checker.machine.rounds import rounds
from checker.machine.types import Bool, Range, Type
from checker.semantics.evaluate import Context as Values
from checker.semantics.evaluate import evaluate as value_of
from checker.source import Span
from checker.table.document import Cell

ROUNDS_MAX = 1 << 22
"""Nodes that are worked out at most for one constant, by the interpreter: a few seconds."""


def evaluate(world: World, cell: Cell, hint: Type | None = None) -> t.Literal:
    """Return the value of an expression over constants; Y304 where it is none."""
    term = Context(world, cell, constant=True).infer(expression(cell), hint)
    if isinstance(term, t.Literal):
        return term
    if not isinstance(term.type, Bool | Range):
        raise Wrong(
            "Y304", "this is not a constant", term.span, expected="an expression over constants"
        )
    value = computed(term)
    if isinstance(term.type, Bool):
        return t.Literal(value, term.type, term.span)
    assert isinstance(value, int)
    return convert.integer(value, term.span)


def too_many_rounds(span: Span, most: int) -> TooMuch:
    """Return what is wrong with loops that come to more than `most` rounds (Y311)."""
    return TooMuch(
        "Y311",
        "loops inside each other come to too many rounds",
        span,
        expected=f"at most {most:,} terms worked out, each as often as its loops go round",
        help="let loops run over smaller types, or over fewer at a time; name by `let:` what they "
        "work out again in every round",
    )


def computed(term: Term) -> object:
    """Return the value of a term that reads no state.

    Y305 where it has none; Y311 where working it out would take too long.
    """
    if rounds(term) > ROUNDS_MAX:
        raise too_many_rounds(term.span, ROUNDS_MAX)
    try:
        return value_of(term, Values({}, {}))
    except EvaluationError as error:
        raise Wrong(
            "Y305", f"this constant has no value: {error}", error.span, expected=show(term.type)
        ) from error


def constant_integer(world: World, cell: Cell) -> int:
    """Return the integer value of an expression over constants."""
    term = evaluate(world, cell)
    if not isinstance(term.value, int) or isinstance(term.value, bool):
        raise Wrong("Y303", "an integer is needed here", term.span, expected="an integer")
    return term.value


def constant_truth(world: World, cell: Cell) -> bool:
    """Return the truth of a condition over constants."""
    term = evaluate(world, cell)
    if not isinstance(term.value, bool):
        raise Wrong("Y303", "a condition is needed here", term.span, expected="true or false")
    return term.value
