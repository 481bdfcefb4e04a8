"""Formulas of infinite runs, by the manual's words; for these tests alone.

A formula is negated down to its conditions, and read along a run as obligations: what has to hold
from here on (Gerth, Peled, Vardi and Wolper, PSTV 1995). A run satisfies it where no `until` is put
off for ever.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

Formula = tuple[Any, ...]
"""`("is", n)` and `("not", n)` of condition n, or `and`, `or`, `until`, `release` of two formulas."""

TEMPORAL = ("always", "eventually", "until", "release", "leads_to")
TRUE: Formula = ("true",)
FALSE: Formula = ("false",)
_OPPOSITE = {
    "true": "false", "false": "true", "is": "not", "not": "is",
    "and": "or", "or": "and", "until": "release", "release": "until",
}  # fmt: skip


def claimed(kind: str, node: ast.expr, premise: ast.expr | None) -> tuple[Formula, list[ast.expr]]:
    """Return what a property claims of every run, and the conditions in it."""
    conditions: list[ast.expr] = []
    if kind == "ltl":
        return _of(node, conditions), conditions
    if kind == "leads_to":
        assert premise is not None
        conditions += [premise, node]
        return _always(_either(("not", 0), _eventually(("is", 1)))), conditions
    conditions.append(node)
    here: Formula = ("is", 0)
    match kind:
        case "eventually":
            return _eventually(here), conditions
        case "always_eventually":
            return _always(_eventually(here)), conditions
        case "eventually_always":
            return _eventually(_always(here)), conditions
    raise NotImplementedError(kind)


def _of(node: ast.expr, conditions: list[ast.expr]) -> Formula:
    if not _temporal(node):
        conditions.append(node)
        return "is", len(conditions) - 1

    def parts(nodes: Sequence[ast.expr]) -> list[Formula]:
        return [_of(part, conditions) for part in nodes]

    match node:
        case ast.Call(ast.Name("always"), [inner]):
            return _always(_of(inner, conditions))
        case ast.Call(ast.Name("eventually"), [inner]):
            return _eventually(_of(inner, conditions))
        case ast.Call(ast.Name("until" | "release" as word), [left, right]):
            return (word, *parts([left, right]))
        case ast.Call(ast.Name("leads_to"), [left, right]):
            first, then = parts([left, right])
            return _always(_either(negated(first), _eventually(then)))
        case ast.Call(ast.Name("implies"), [left, right]):
            first, then = parts([left, right])
            return _either(negated(first), then)
        case ast.UnaryOp(ast.Not(), inner):
            return negated(_of(inner, conditions))
        case ast.BoolOp(ast.And(), [left, right]):
            return ("and", *parts([left, right]))
        case ast.BoolOp(ast.Or(), [left, right]):
            return ("or", *parts([left, right]))
    raise NotImplementedError(ast.dump(node))


def _temporal(node: ast.expr) -> bool:
    return any(isinstance(part, ast.Name) and part.id in TEMPORAL for part in ast.walk(node))


def _always(inner: Formula) -> Formula:
    return "release", FALSE, inner


def _eventually(inner: Formula) -> Formula:
    return "until", TRUE, inner


def _either(left: Formula, right: Formula) -> Formula:
    return "or", left, right


def negated(formula: Formula) -> Formula:
    """Return the opposite of a formula, with negations at its conditions only."""
    word, *parts = formula
    given = [part if isinstance(part, int) else negated(part) for part in parts]
    return _OPPOSITE[word], *given


def untils(formula: Formula) -> set[Formula]:
    """Return every `until` in a formula."""
    inner = [untils(part) for part in formula[1:] if not isinstance(part, int)]
    return set().union(*inner) | ({formula} if formula[0] == "until" else set())


Obligations = frozenset[Formula]


def continued(
    todo: list[Formula],
    truth: list[bool],
    then: Obligations = frozenset(),
    put_off: Obligations = frozenset(),
) -> Iterator[tuple[Obligations, Obligations]]:
    """Yield each way to meet what there is to do in a state: what is left, the `until`s put off.

    `truth` says which conditions hold in the state.
    """
    if not todo:
        yield then, put_off
        return
    formula, rest = todo[0], todo[1:]
    match formula:
        case ("true",):
            yield from continued(rest, truth, then, put_off)
        case ("is" | "not" as word, number):
            if truth[number] == (word == "is"):
                yield from continued(rest, truth, then, put_off)
        case ("and", left, right):
            yield from continued([left, right, *rest], truth, then, put_off)
        case ("or", left, right):
            yield from continued([left, *rest], truth, then, put_off)
            yield from continued([right, *rest], truth, then, put_off)
        case ("until", left, right):
            yield from continued([right, *rest], truth, then, put_off)
            yield from continued([left, *rest], truth, then | {formula}, put_off | {formula})
        case ("release", left, right):
            yield from continued([left, right, *rest], truth, then, put_off)
            yield from continued([right, *rest], truth, then | {formula}, put_off)
