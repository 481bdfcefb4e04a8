"""Operators: arithmetic, comparison, logic, choice, and the operators of sets and sequences."""

from __future__ import annotations

import ast

from checker.elaborate import build, convert
from checker.elaborate.context import Context, handles
from checker.elaborate.wrong import Wrong
from checker.machine import terms as t
from checker.machine.relations import bare, item_of, join, show, variants_of
from checker.machine.types import Option, Range, Sequence, Set, Type
from checker.source import Span
from checker.table.renaming import ValueName

Term = t.Term

_ARITHMETIC: dict[type[ast.operator], build.Operator] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
}
_SETS: dict[type[ast.operator], str] = {
    ast.BitOr: "|",
    ast.BitAnd: "&",
    ast.Sub: "-",
    ast.BitXor: "^",
}
ADDING = (ast.Add, ast.BitOr)
"""The operators of which all that is in an operand is in the result, whose place bounds it, too."""
_ORDER: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_POWER_BITS = 63


def needs_hint(context: Context, node: ast.expr) -> bool:
    """Return whether `node` can only be understood by the type its place expects."""
    match node:
        case ValueName():
            return node.table is None
        case ast.Name(word):
            if word in context.names or word in context.world.variables:
                return False
            if word in ("none", "empty"):
                return True
            world = context.world
            known = (world.components, world.channels, world.constants, world.definitions)
            if any(word in part for part in known) or word in world.types:
                return False
            return len(world.values.get(word, ())) != 1
        case ast.Constant(None):
            return True
        case ast.Set(items) | ast.List(items) | ast.Tuple(items):
            return all(needs_hint(context, item) for item in items)
        case ast.Dict(keys, values):
            return not keys or all(needs_hint(context, value) for value in values)
        case ast.IfExp(_, then, otherwise):
            return needs_hint(context, then) and needs_hint(context, otherwise)
        case _:
            return False


def pair(
    context: Context, left: ast.expr, right: ast.expr, hint: Type | None = None
) -> tuple[Term, Term]:
    """Return both terms; where no type is hinted at, the one whose names are clear hints the other.

    What is expected of both is the hint of both: one may be less than their place. What is only
    compared has no place, so that a side which is clear says more: `x in (queue if p else empty)`.
    The other side is no place either: more may be in `[x for x in s]` of `[0] + [x for x in s]`.
    """
    clear = [not needs_hint(context, side) for side in (left, right)]
    weak = hint is None or (context.compared and clear[0] != clear[1])

    def other(node: ast.expr, known: Term) -> Term:
        return context.meant(node, known.type) if weak else context.infer(node, hint)

    if clear[1] and not clear[0]:
        second = context.infer(right, hint)
        return other(left, second), second
    first = context.infer(left, hint)
    return first, other(right, first)


# ------------------------------------------------------------------------------- arithmetic


@handles(ast.BinOp)
def binary(context: Context, node: ast.expr, hint: Type | None) -> Term:
    """Return arithmetic, a set operation, or two sequences put together."""
    assert isinstance(node, ast.BinOp)
    span = context.span(node)
    if isinstance(node.op, ast.Pow):
        return _power(context, node, span)
    with context.comparing(context.compared or not isinstance(node.op, ADDING)):
        left, right = pair(context, node.left, node.right, hint)
    return combine(node.op, left, right, span)


def combine(operator: ast.operator, left: Term, right: Term, span: Span) -> Term:
    """Return `left operator right` by the types of the operands."""
    kinds = (bare(left.type), bare(right.type))
    if any(isinstance(kind, Set) for kind in kinds) and type(operator) in _SETS:
        return _sets(_SETS[type(operator)], left, right, span)
    if isinstance(operator, ast.Add) and any(isinstance(kind, Set) for kind in kinds):
        raise Wrong(
            "Y303",
            "`+` does not combine sets",
            span,
            expected="two integers, or two sequences",
            found=f"{show(left.type)} and {show(right.type)}",
            help=_of_elements("|", *kinds) or "write | for the union of two sets",
        )
    if isinstance(operator, ast.Add) and any(isinstance(kind, Sequence) for kind in kinds):
        return _concatenate(left, right, span)
    symbol = _ARITHMETIC.get(type(operator))
    if symbol is None:
        raise Wrong(
            "Y303",
            "this operator combines sets",
            span,
            expected="two sets",
            found=f"{show(left.type)} and {show(right.type)}",
        )
    return build.arithmetic(symbol, left, right, span)


def _sets(symbol: str, left: Term, right: Term, span: Span) -> Term:
    left, right = convert.unwrapped(left), convert.unwrapped(right)
    advice = _of_elements(symbol, left.type, right.type)
    both = convert.common(left, right, span, f"`{symbol}` combines", advice)
    kind = convert.limited(both, span)
    if not isinstance(kind, Set):
        raise Wrong("Y303", f"`{symbol}` combines sets", span, found=show(kind))
    left, right = convert.coerce(left, kind), convert.coerce(right, kind)
    return t.SetOperation(symbol, left, right, kind, span)  # type: ignore[arg-type]


_METHODS = {"|": "add", "-": "discard"}


def _of_elements(symbol: str, left: Type, right: Type) -> str | None:
    """Return the help on a set and what is one of its elements; None of other types."""
    if not isinstance(left, Set) or join(left.item, right) is None:
        return None
    method = _METHODS.get(symbol)
    return f"write s {symbol} {{x}}" + (f", or in effects s.{method}(x)" if method else "")


def _concatenate(left: Term, right: Term, span: Span) -> Term:
    left, right = convert.unwrapped(left), convert.unwrapped(right)
    element = isinstance(left.type, Sequence) and join(left.type.item, right.type) is not None
    advice = "write s + [x], or in effects s.append(x)" if element else None
    kind = convert.common(left, right, span, "`+` combines", advice)
    if not isinstance(kind, Sequence):
        raise Wrong("Y303", "`+` combines integers or sequences", span, found=show(kind))
    capacity = sum(
        side.type.capacity if isinstance(side.type, Sequence) else 0 for side in (left, right)
    )
    left, right = convert.coerce(left, kind), convert.coerce(right, kind)
    both = convert.limited(Sequence(kind.item, capacity), span)
    return t.Concatenate(left, right, both, span)


def _power(context: Context, node: ast.BinOp, span: Span) -> Term:
    base, exponent = context.infer(node.left), context.infer(node.right)
    values = [
        side.value if isinstance(side, t.Literal) and isinstance(side.type, Range) else None
        for side in (base, exponent)
    ]
    if not isinstance(values[0], int) or not isinstance(values[1], int):
        raise Wrong("Y304", "`**` is possible between constants only", span)
    if values[1] < 0:
        raise Wrong("Y303", "the exponent is negative", span, expected="0 or more")
    if abs(values[0]) > 1 and values[1] * (abs(values[0]).bit_length() - 1) > _POWER_BITS:
        raise Wrong("Y307", "this number is too large", span, expected="less than 2**62")
    if abs(values[0]) <= 1 and values[1] > 1:
        return convert.integer(values[0] ** (2 + values[1] % 2), span)
    return convert.integer(values[0] ** values[1], span)


@handles(ast.UnaryOp)
def unary(context: Context, node: ast.expr, hint: Type | None) -> Term:
    """Return `-x` or `not x`."""
    assert isinstance(node, ast.UnaryOp)
    span = context.span(node)
    match node.op:
        case ast.Not():
            return build.negation(context.condition(node.operand, "`not`"), span)
        case ast.USub():
            item = context.infer(node.operand, hint)
            return build.arithmetic("-", convert.integer(0, span), item, span)
        case _:
            raise Wrong("Y310", "this operator is not part of the language", span)


# ------------------------------------------------------------------------------------ logic


@handles(ast.BoolOp)
def boolean(context: Context, node: ast.expr, _hint: Type | None) -> Term:
    """Return `and` or `or`."""
    assert isinstance(node, ast.BoolOp)
    word = "`and`" if isinstance(node.op, ast.And) else "`or`"
    items = [context.condition(value, word) for value in node.values]
    join = build.conjunction if isinstance(node.op, ast.And) else build.disjunction
    return join(items, context.span(node))


@handles(ast.IfExp)
def conditional(context: Context, node: ast.expr, hint: Type | None) -> Term:
    """Return `a if p else b`."""
    assert isinstance(node, ast.IfExp)
    condition = context.condition(node.test, "`if`")
    then, otherwise = pair(context, node.body, node.orelse, hint)
    return build.choice(condition, then, otherwise, context.span(node))


@handles(ast.Compare)
def comparison(context: Context, node: ast.expr, _hint: Type | None) -> Term:
    """Return a comparison; in a chain each middle operand is evaluated once."""
    assert isinstance(node, ast.Compare)
    with context.comparing():
        if len(node.ops) == 1:
            return _single(context, node)
        if any(isinstance(op, ast.Is | ast.IsNot) for op in node.ops):
            raise Wrong("Y310", "`is` does not stand in a chain", context.span(node))
        hint = None
        if needs_hint(context, node.left):
            clear = (operand for operand in node.comparators if not needs_hint(context, operand))
            hint = next((context.infer(operand).type for operand in clear), None)
        left = context.infer(node.left, hint)
        return _chain(context, left, node, 0, hint or left.type)


def _chain(context: Context, left: Term, node: ast.Compare, index: int, hint: Type | None) -> Term:
    operand = node.comparators[index]
    right = context.infer(operand, hint)
    span = context.span(node)
    if index == len(node.ops) - 1:
        return _operator(context, node.ops[index], left, right, span)

    def both(middle: Term) -> Term:
        first = _operator(context, node.ops[index], left, middle, span)
        return build.conjunction([first, _chain(context, middle, node, index + 1, hint)], span)

    context.depth += 1  # what follows stands inside
    try:
        return context.once("middle", right, both, span)
    finally:
        context.depth -= 1


def _single(context: Context, node: ast.Compare) -> Term:
    op, left, right, span = node.ops[0], node.left, node.comparators[0], context.span(node)
    if isinstance(op, ast.Is | ast.IsNot):
        result = _identity(context, left, right, span)
        return build.negation(result, span) if isinstance(op, ast.IsNot) else result
    looked_for = isinstance(op, ast.In | ast.NotIn)
    first, second = (_membership if looked_for else pair)(context, left, right)
    return _operator(context, op, first, second, span)


def _membership(context: Context, left: ast.expr, right: ast.expr) -> tuple[Term, Term]:
    if needs_hint(context, left):
        collection = context.infer(right)
        return context.infer(left, item_of(bare(collection.type))), collection
    item = context.infer(left)
    return item, context.infer(right, Set(bare(item.type)))


def _operator(context: Context, op: ast.cmpop, left: Term, right: Term, span: Span) -> Term:
    match op:
        case ast.Eq():
            return build.equal(left, right, span)
        case ast.NotEq():
            return build.negation(build.equal(left, right, span), span)
        case ast.In():
            return _contains(context, left, right, span)
        case ast.NotIn():
            return build.negation(_contains(context, left, right, span), span)
        case _:
            return build.compare(_ORDER[type(op)], left, right, span)


def _contains(context: Context, item: Term, collection: Term, span: Span) -> Term:
    if not isinstance(item.type, Option):
        return build.contains(item, collection, span)
    return context.once("item", item, lambda one: build.contains(one, collection, span), span)


def _is_kind(context: Context, item: Term, word: str) -> bool:
    """Whether `item is word` can be asked: any message can be, a record where it is one of these.

    What is said of all messages is said of channels that carry some of them.
    """
    if any(message.name.text == word for message in context.world.document.messages):
        return True
    return any(variant.name == word for variant in variants_of(bare(item.type)))


def _identity(context: Context, left: ast.expr, right: ast.expr, span: Span) -> Term:
    """Return `x is none` or `m is Kind`."""
    item = context.infer(left)
    match right:
        case ast.Constant(None) | ast.Name("none"):
            return build.is_none(item, span)
        case ast.Name(word) if _is_kind(context, item, word):
            return build.is_variant(item, word, span)
        case _:
            raise Wrong(
                "Y303",
                "`is` asks for none, or for the kind of a message or record",
                span,
                expected="`x is none` or `m is Kind`; `==` compares values",
            )
