"""Small parts of woven specifications: what is read from a document, and expressions to put in."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from checker.source import NOWHERE
from checker.table.document import (
    Cell,
    Document,
    Row,
    TypeEnum,
    TypeName,
    TypeNode,
    TypeOf,
    TypeRange,
    Word,
)
from checker.table.renaming import ValueName

VARIABLE = "_mutant"
"""The variable that says which mutant runs. No specification has such a name (T123)."""


def words(node: ast.AST) -> str:
    """Return an expression or statement as one short line."""
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 90 else f"{text[:87]}..."


def parse(text: str) -> ast.expr:
    """Return an expression of our own."""
    return ast.parse(text, mode="eval").body


def is_number(number: int) -> ast.expr:
    """Return the condition that this mutant runs."""
    return parse(f"{VARIABLE} == {number}")


def is_not(number: int) -> ast.expr:
    """Return the condition that this mutant does not run."""
    return parse(f"{VARIABLE} != {number}")


def value(word: str) -> ast.expr:
    """Return the name of a state or enum value, whatever else is called so."""
    return ValueName(word, ast.Load())


def joined(operator: ast.boolop, test: ast.expr, node: ast.expr) -> ast.expr:
    """Return two conditions joined by `and` or `or`."""
    return ast.copy_location(ast.BoolOp(operator, [test, node]), node)


def takes_a_place(call: ast.Call) -> bool:
    """Return whether the first argument of a call is a place: that of `x.pop()`."""
    return isinstance(call.func, ast.Attribute) and call.func.attr == "pop"


def base(place: ast.expr | None) -> str:
    """Return the name of a variable or machine: the last one of a place, without its keys."""
    match place:
        case ast.Subscript(value):
            return base(value)
        case ast.Attribute(_, name) | ast.Name(name):
            return name
    return ""


def same(one: ast.AST, two: ast.AST) -> bool:
    """Return whether two expressions or statements are the same, wherever they stand."""
    return ast.dump(one) == ast.dump(two)


def least(kind: TypeNode | None) -> ast.expr | None:
    """Return the first value of a type that a message's field has; None where it is not plain."""
    match kind:
        case TypeRange(low):
            assert isinstance(low.tree, ast.expr)
            return parse(ast.unparse(low.tree))
        case TypeOf("optional"):
            return parse("none")
        case TypeOf("set"):
            return parse("empty")
        case TypeName("bool"):
            return parse("false")
    return None


def one_after_another(parts: list[Cell]) -> Cell | None:
    """Return the statements of several cells as those of one, each with its own place."""
    if not parts:
        return None
    lines: list[str] = []
    starts: list[tuple[int, int]] = []
    statements: list[ast.stmt] = []
    for part in parts:
        assert isinstance(part.tree, tuple)
        statements += [ast.increment_lineno(item, len(lines)) for item in part.tree]
        own = part.text.split("\n")
        lines += own
        starts += [part.starts[min(place, len(part.starts) - 1)] for place in range(len(own))]
    return Cell("\n".join(lines), parts[0].span, tuple(statements), tuple(starts))


def is_truth(node: ast.expr) -> bool:
    """Return whether an expression is a condition by its form."""
    return isinstance(node, ast.BoolOp | ast.Compare | ast.UnaryOp)


def conjunction(parts: list[ast.expr], cell: Cell | None) -> Cell | None:
    """Return conditions joined by `and` as a cell; None where there are none."""
    if not parts:
        return None
    tree = parts[0] if len(parts) == 1 else ast.BoolOp(ast.And(), parts)
    ast.copy_location(tree, parts[-1])
    return with_tree(cell, ast.fix_missing_locations(tree))


def with_tree(cell: Cell | None, tree: ast.expr | tuple[ast.stmt, ...]) -> Cell:
    """Return `cell` with another tree."""
    if cell is None:
        return Cell("", NOWHERE, tree, ((1, 1),))
    return Cell(cell.text, cell.span, tree, cell.starts)


def cell(text: str) -> Cell:
    """Return an expression of our own as a cell."""
    return Cell(text, NOWHERE, parse(text), ((1, 1),))


def variables(document: Document) -> set[str]:
    """Return the names of all variables and machines outside components."""
    found = {item.name.text for item in document.variables}
    return found | {item.name.text for item in document.machines}


def states(document: Document) -> Mapping[str, tuple[tuple[str, ...], ...]]:
    """Return for the name of each machine the states of the tables that it may have."""
    machines = list(document.machines)
    for component in document.components:
        machines += component.machines
    found: dict[str, tuple[tuple[str, ...], ...]] = {}
    for machine in machines:
        table = document.tables.get(machine.table.text)
        if table is not None:
            states = tuple(name for name, _ in table.states)
            found[machine.name.text] = (*found.get(machine.name.text, ()), states)
    return found


def values(document: Document) -> Mapping[str, tuple[str, ...]]:
    """Return for each enum value or state what it can be mistaken for: its neighbours."""
    groups = [
        [word.text for word in item.node.members]
        for item in document.types
        if isinstance(item.node, TypeEnum)
    ]
    groups += [[name for name, _ in table.states] for table in document.tables.values()]
    names = [name for group in groups for name in group]
    return {
        name: tuple(dict.fromkeys((group[place - 1], group[(place + 1) % len(group)])))
        for group in groups
        for place, name in enumerate(group)
        if names.count(name) == 1 and len(group) > 1
    }


NOTHING = Row(
    Word("initial", NOWHERE),
    *("", ""),
    on=None,
    bindings=(),
    only_if=None,
    inside=(),
    lets=(),
    when=None,
    do=None,
    to=(),
    send=(),
    fault=None,
    fair=None,
    actor=None,
    event=None,
    span=NOWHERE,
)
