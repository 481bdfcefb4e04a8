"""`pick` inside an expression of effects: where it may stand, and the expression without it.

A pick is made before the expression is evaluated, from left to right. So it stands only where the
expression is evaluated in any case, and once: not behind `and`, `or`, `if` or in a comprehension.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping

PICK_IF_ANY = "pick_if_any"
"""The pick that disables its row where there is nothing to pick."""

PICKS = frozenset(("pick", PICK_IF_ANY))


def picks_inside(node: ast.expr) -> list[ast.Call]:
    """Return the calls of `pick` that an expression always makes, in order."""
    return list(_picks(node))


def _picks(node: ast.expr) -> Iterator[ast.Call]:
    if _is_pick(node):
        assert isinstance(node, ast.Call)
        yield node
        return
    for part in _certain(node):
        yield from _picks(part)


def _is_pick(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in PICKS


def _certain(node: ast.expr) -> list[ast.expr]:
    """Return the parts of an expression that are evaluated whatever their values are."""
    match node:
        case ast.BinOp(left, _, right):
            return [left, right]
        case ast.UnaryOp(_, item) | ast.Attribute(item):
            return [item]
        case ast.Compare(left, [_], [right]):
            return [left, right]
        case ast.Subscript(item, ast.expr() as key):
            return [item, key]
        case ast.Set(items) | ast.List(items) | ast.Tuple(items):
            return list(items)
        case ast.BoolOp(_, items):
            return items[:1]
        case ast.IfExp(test):
            return [test]
        case ast.Call(ast.Name("implies"), arguments):
            return arguments[:1]
        case ast.Call(ast.Attribute(_, "get"), arguments):
            return arguments[:1]
        case ast.Call(_, arguments, keywords):
            given = [item.value for item in keywords if not _is_unsure(node, item)]
            return [*arguments, *given]
    return []


_REDUCES = frozenset(("min", "max", "least"))


def _is_unsure(node: ast.Call, given: ast.keyword) -> bool:
    """Whether `default=` or `by=` of what reduces a collection: evaluated once, often or never."""
    reduces = isinstance(node.func, ast.Name) and node.func.id in _REDUCES
    return reduces and given.arg in ("default", "by")


def without_picks(node: ast.expr, chosen: Mapping[ast.expr, str]) -> ast.expr:
    """Return an expression in which the picks are the names of what they chose."""
    if node in chosen:
        return ast.copy_location(ast.Name(chosen[node], ast.Load()), node)
    changed = copy.copy(node)
    for field, value in ast.iter_fields(node):
        setattr(changed, field, _without(value, chosen))
    return changed


def _without(value: object, chosen: Mapping[ast.expr, str]) -> object:
    if isinstance(value, ast.expr):
        return without_picks(value, chosen)
    if isinstance(value, list):
        return [_without(item, chosen) for item in value]
    if isinstance(value, ast.keyword):
        return ast.copy_location(ast.keyword(value.arg, without_picks(value.value, chosen)), value)
    return value
