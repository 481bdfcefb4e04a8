"""Calls in expressions: built-in functions, definitions, records and messages, methods."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from checker.elaborate import build, convert
from checker.elaborate.advice import form_of, no_method, uncallable
from checker.elaborate.collections import domain, generators
from checker.elaborate.connections import in_use, on_the_way
from checker.elaborate.context import Context, handles
from checker.elaborate.definitions import inline
from checker.elaborate.lookup import calls_target
from checker.elaborate.operators import pair
from checker.elaborate.picks import PICKS
from checker.elaborate.wrong import Wrong
from checker.machine import terms as t
from checker.machine.builtins import NAMED
from checker.machine.certain import certain
from checker.machine.relations import (
    INTEGER_LIMIT,
    bare,
    bound,
    holds_symmetric,
    item_of,
    show,
    size,
    variants_of,
)
from checker.machine.types import Bag, Enum, Id, Map, Range, Record, Sequence, Set, Type
from checker.source import Span

Term = t.Term


Handler = Callable[[Context, ast.Call, Type | None], Term]
_HANDLERS: dict[str, Handler] = {}


def built_in(*names: str) -> Callable[[Handler], Handler]:
    """Register what calls of built-in functions mean; `BUILT_INS` must list them."""

    def register(handler: Handler) -> Handler:
        for word in names:
            assert NAMED[word].group == "function", word
            _HANDLERS[word] = handler
        return handler

    return register


_INSTEAD = dict.fromkeys(
    PICKS,
    "in effects assign it to a name first, x = pick(...); a guard binds it in `for:`, "
    "a property asks `any`, `all` or `least`, a definition gives the set to pick from",
)
"""What to write for a choice that stands where nothing can be chosen."""


@handles(ast.Call)
def call(context: Context, node: ast.expr, hint: Type | None) -> Term:
    """Return what a call means."""
    assert isinstance(node, ast.Call)
    span = context.span(node)
    if isinstance(node.func, ast.Attribute):
        return _method(context, node, node.func, hint, span)
    if not isinstance(node.func, ast.Name):
        raise Wrong("Y310", "only functions, definitions and records are called", span)
    word, world = node.func.id, context.world
    if word in world.definitions:
        _no_keywords(context, node)
        arguments = tuple(context.infer(argument) for argument in node.args)
        return inline(context, world.definitions[word], arguments, span, hint)
    kind = world.types.get(word)
    if isinstance(kind, Record):
        return construct(context, kind, node)
    listed = NAMED.get(word)
    if listed is not None and listed.group == "function":
        handler = _plain if listed.plain is not None else _HANDLERS[word]
        return handler(context, node, hint)
    if listed is not None and listed.group == "choice":
        raise Wrong(
            "Y309",
            f"`{word}` cannot stand here",
            span,
            expected="what effects assign or pass on, where it is evaluated in any case, and once",
            help=_INSTEAD.get(word, f"assign it to a name first: x = {word}(...)"),
        )
    if word in world.procedures:
        raise Wrong("N205", f"`{word}` is a procedure; it is called as a statement", span)
    raise uncallable(context, node)


def _no_keywords(context: Context, node: ast.Call) -> None:
    if node.keywords:
        raise Wrong("N208", "arguments stand in order here", context.span(node.keywords[0]))


def arguments(context: Context, node: ast.Call, least: int, most: int) -> list[ast.expr]:
    """Return the arguments of a built-in; N208 unless there are `least` to `most`, unnamed."""
    _no_keywords(context, node)
    if not least <= len(node.args) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        raise Wrong(
            "N208",
            "the number of arguments is wrong",
            context.span(node),
            expected=f"{wanted} argument(s)",
            found=f"{len(node.args)}",
            help=form_of(node),
        )
    return node.args


def construct(context: Context, kind: Record, node: ast.Call) -> Term:
    """Return `Point(1, y=2)`: a record or message with all its fields."""
    span = context.span(node)
    given: dict[str, Term] = {}
    if len(node.args) > len(kind.fields):
        raise Wrong(
            "N208",
            f"`{kind.name}` has {len(kind.fields)} field(s)",
            span,
            expected=_shape(kind),
            found=f"{len(node.args)} arguments",
        )
    for argument, (name, field) in zip(node.args, kind.fields, strict=False):
        given[name] = context.check(argument, field)
    kinds = dict(kind.fields)
    for keyword in node.keywords:
        name = keyword.arg or ""
        if name not in kinds or name in given:
            raise Wrong(
                "N208",
                f"`{kind.name}` has no field `{name}` to give here",
                context.span(keyword),
                expected=_shape(kind),
                found=name,
            )
        given[name] = context.check(keyword.value, kinds[name])
    missing = [name for name, _ in kind.fields if name not in given]
    if missing:
        raise Wrong(
            "N208",
            f"`{kind.name}` lacks {', '.join(f'`{name}`' for name in missing)}",
            span,
            expected=_shape(kind),
        )
    return t.RecordOf(kind.name, tuple((name, given[name]) for name, _ in kind.fields), kind, span)


def _shape(kind: Record) -> str:
    return f"{kind.name}({', '.join(name for name, _ in kind.fields)})"


# -------------------------------------------------------------------------------- functions


def _plain(context: Context, node: ast.Call, _hint: Type | None) -> Term:
    """Return a call of a function of values: its result has the type that the list says."""
    assert isinstance(node.func, ast.Name)
    word, span = node.func.id, context.span(node)
    plain = NAMED[word].plain
    assert plain is not None
    count = len(plain.takes)
    given = [
        convert.unwrapped(context.infer(item)) for item in arguments(context, node, count, count)
    ]
    kind = plain.result(*(item.type for item in given))
    if kind is None:
        raise Wrong(
            "Y303",
            f"`{word}` does not take this",
            span,
            expected=", ".join(plain.takes),
            found=", ".join(show(item.type) for item in given),
        )
    if all(isinstance(item, t.Literal) for item in given):
        value = plain.value(*(item.value for item in given if isinstance(item, t.Literal)))
        return convert.exact(t.Literal(value, kind, span))
    return t.Apply(word, tuple(given), kind, span)


def _extreme(operator: str, items: list[Term], span: Span) -> Term:
    kind: Type = bare(items[0].type)
    items = [convert.unwrapped(item) for item in items]
    for item in items[1:]:
        kind = convert.common(t.Local("", kind, span), item, span, f"`{operator}` compares")
    if isinstance(kind, Id) and kind.symmetric:
        raise build.symmetric(kind, span, f"`{operator}`")
    if not isinstance(kind, Range | Enum | Id):
        raise Wrong("Y303", f"`{operator}` needs integers, enums or ids", span, found=show(kind))
    assert operator in ("min", "max")
    best = min if operator == "min" else max
    constants = [item for item in items if isinstance(item, t.Literal)]
    if len(constants) == len(items):
        chosen = best(constants, key=lambda item: _place(kind, item.value))
        return t.Literal(chosen.value, chosen.type, span)
    if isinstance(kind, Range):
        ranges = [item.type for item in items if isinstance(item.type, Range)]
        kind = Range(best(r.low for r in ranges), best(r.high for r in ranges))
    return t.Extreme(operator, tuple(items), kind, span)  # type: ignore[arg-type]


def _place(kind: Type, value: object) -> int:
    """Return what orders a constant among others of its type."""
    if isinstance(kind, Enum | Id):
        return kind.members.index(str(value))
    assert isinstance(value, int)
    return value


@built_in("min", "max")
def _min_max(context: Context, node: ast.Call, hint: Type | None) -> Term:
    assert isinstance(node.func, ast.Name)
    operator, span = node.func.id, context.span(node)
    if len(node.args) > 1:
        _no_keywords(context, node)
        first, second = pair(context, node.args[0], node.args[1], hint)
        rest = [context.infer(argument, first.type) for argument in node.args[2:]]
        return _extreme(operator, [first, second, *rest], span)
    if len(node.args) != 1:
        raise Wrong("N208", f"`{operator}` needs something to compare", span)
    default = None
    for keyword in node.keywords:
        if keyword.arg != "default":
            raise Wrong("N208", f"`{operator}` knows only `default=`", context.span(keyword))
        default = keyword.value
    clauses, body = _reduced(context, node.args[0])
    _ordered(operator, body, span)
    if default is None:
        return t.Fold(operator, clauses, body, None, body.type, span)  # type: ignore[arg-type]
    return _with_default(context, operator, clauses, body, default, span)


def _ordered(operator: str, body: Term, span: Span) -> None:
    if isinstance(body.type, Id) and body.type.symmetric:
        raise build.symmetric(body.type, span, f"`{operator}`")
    if not isinstance(body.type, Range | Enum | Id):
        raise Wrong(
            "Y303", f"`{operator}` needs integers, enums or ids", span, found=show(body.type)
        )


def _reduced(context: Context, node: ast.expr) -> tuple[tuple[t.Generator, ...], Term]:
    """Return generators and body of `e for x in s`, or of a collection itself."""
    if isinstance(node, ast.GeneratorExp):
        clauses, inner, _ = generators(context, node.generators)
        return clauses, convert.unwrapped(inner.infer(node.elt))
    collection = domain(context, node)
    kind = item_of(collection.type)
    assert kind is not None
    name = context.allocator.unique("item")
    return (t.Generator(name, collection, None),), t.Local(name, kind, collection.span)


def _with_default(
    context: Context,
    operator: str,
    clauses: tuple[t.Generator, ...],
    body: Term,
    default: ast.expr,
    span: Span,
) -> Term:
    """Return `min(e for ..., default=d)`: the least of the set of the bodies, or `d`."""
    otherwise = context.meant(default, body.type)
    kind = convert.limited(Set(body.type), span)
    values = t.Fold("set", clauses, body, None, kind, span)
    name = context.allocator.unique("item")

    def least(found: Term) -> Term:
        one = t.Local(name, body.type, span)
        generator = (t.Generator(name, found, None),)
        best = t.Fold(operator, generator, one, None, body.type, span)  # type: ignore[arg-type]
        nothing = build.equal(build.length(found, span), convert.integer(0, span), span)
        return build.choice(nothing, otherwise, best, span)

    return context.once("values", values, least, span)


@built_in("least")
def _least(context: Context, node: ast.Call, hint: Type | None) -> Term:
    """`least(x for x in s if p)`: the first in canonical order, or of those with the least `by`."""
    span = context.span(node)
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    unknown_ones = [keyword for keyword in node.keywords if keyword.arg not in ("by", "default")]
    if len(node.args) != 1 or unknown_ones:
        raise Wrong(
            "N208",
            "`least` takes one choice, and `by=` and `default=`",
            context.span(unknown_ones[0]) if unknown_ones else span,
            expected="least((x for x in s if p), by=e, default=d)",
        )
    (choice,) = node.args
    by = given.get("by")
    clauses, body, key = _candidates(context, choice, by, hint)
    if holds_symmetric(body.type):
        raise build.symmetric(body.type, span, "`least`")
    convert.limited(Set(body.type), span)
    found: Term = t.Fold("min", clauses, body, None, body.type, span)
    if key is not None:
        _ordered("least", key, span)
        lowest = t.Fold("min", clauses, key, None, key.type, span)
        found = context.once(
            "lowest", lowest, lambda one: _with_key(context, choice, by, hint, one, span), span
        )
    if "default" not in given:
        return found
    again, _, _ = _candidates(context, choice, None, hint)
    some = t.Fold("any", again, convert.truth(True, span), None, convert.BOOL, span)
    return build.choice(some, found, context.meant(given["default"], body.type), span)


def _candidates(
    context: Context, node: ast.expr, by: ast.expr | None, hint: Type | None
) -> tuple[tuple[t.Generator, ...], Term, Term | None]:
    """Return what `least` chooses from: generators, the value, and what it is compared by."""
    if not isinstance(node, ast.GeneratorExp):
        if by is not None:
            raise Wrong(
                "Y310",
                "`by` needs a name for what it is of",
                context.span(by),
                expected="least((x for x in s), by=...)",
            )
        collection = domain(context, node)
        kind = item_of(collection.type)
        assert kind is not None
        name = context.allocator.unique("item")
        return (
            (t.Generator(name, collection, None),),
            t.Local(name, kind, collection.span),
            None,
        )
    clauses, inner, _ = generators(context, node.generators)
    key = None if by is None else convert.unwrapped(inner.infer(by))
    return clauses, inner.meant(node.elt, hint), key


def _with_key(
    context: Context,
    node: ast.expr,
    by: ast.expr | None,
    hint: Type | None,
    lowest: Term,
    span: Span,
) -> Term:
    """Return the first of the candidates whose key is the lowest one."""
    clauses, body, key = _candidates(context, node, by, hint)
    assert key is not None
    alike = build.equal(key, lowest, span)
    last = clauses[-1]
    both = [alike] if last.condition is None else [last.condition, alike]
    clauses = (*clauses[:-1], replace(last, condition=build.conjunction(both, span)))
    return t.Fold("min", clauses, body, None, body.type, span)


@built_in("all", "any")
def _quantifier(context: Context, node: ast.Call, _hint: Type | None) -> Term:
    assert isinstance(node.func, ast.Name)
    word, span = node.func.id, context.span(node)
    (item,) = arguments(context, node, 1, 1)
    if not isinstance(item, ast.GeneratorExp):
        raise Wrong("Y310", f"`{word}` needs `p for x in s`", span)
    clauses, inner, _ = generators(context, item.generators)
    body = inner.condition(item.elt, f"`{word}`")
    whole = t.Fold(word, clauses, body, None, convert.BOOL, span)  # type: ignore[arg-type]
    if (word == "all" and build.is_true(body)) or (word == "any" and build.is_false(body)):
        return whole if not certain(whole) else convert.truth(word == "all", span)
    return whole


@built_in("sum")
def _sum(context: Context, node: ast.Call, _hint: Type | None) -> Term:
    span = context.span(node)
    (item,) = arguments(context, node, 1, 1)
    if isinstance(item, ast.GeneratorExp):
        clauses, inner, most = generators(context, item.generators)
        body = build.number(inner.infer(item.elt), "`sum`")
    else:
        clauses, body = _reduced(context, item)
        body, most = build.number(body, "`sum`"), bound(clauses[0].domain.type)
    assert isinstance(body.type, Range)
    kind = Range(min(0, most * body.type.low), max(0, most * body.type.high))
    if max(abs(kind.low), abs(kind.high)) > INTEGER_LIMIT:
        raise Wrong("Y307", "this sum can be too large", span, expected="less than 2**62")
    return t.Fold("sum", clauses, body, None, kind, span)


@built_in("len")
def _len(context: Context, node: ast.Call, _hint: Type | None) -> Term:
    span = context.span(node)
    (item,) = arguments(context, node, 1, 1)
    calls = calls_target(context, item)
    if calls is not None:
        return in_use(context, calls[0], calls[1], span)
    if isinstance(item, ast.GeneratorExp):
        raise Wrong("Y310", "`len` needs a collection", span, help="len({x for x in s})")
    return build.length(context.infer(item), span)


@built_in("implies")
def _implies(context: Context, node: ast.Call, _hint: Type | None) -> Term:
    span = context.span(node)
    left, right = arguments(context, node, 2, 2)
    premise = context.condition(left, "`implies`")
    conclusion = context.condition(right, "`implies`")
    if build.is_false(premise):
        return convert.truth(True, span)
    if build.is_true(conclusion):
        return build.decided(convert.truth(True, span), span, premise)
    if build.is_true(premise):
        return conclusion
    return t.Implies(premise, conclusion, span)


@built_in("range")
def _range(context: Context, node: ast.Call, _hint: Type | None) -> Term:
    span = context.span(node)
    given = [build.number(context.infer(n), "`range`") for n in arguments(context, node, 1, 2)]
    low = given[0] if len(given) == 2 else convert.integer(0, span)
    high = build.arithmetic("-", given[-1], convert.integer(1, span), span)
    return interval(low, high, span)


def interval(low: Term, high: Term, span: Span) -> Term:
    """Return the integers `low`..`high`, both included, as a set."""
    assert isinstance(low.type, Range)
    assert isinstance(high.type, Range)
    least = low.type.low
    kind = convert.limited(Set(Range(least, max(least, high.type.high))), span)
    assert isinstance(kind, Set)
    return t.Interval(low, high, kind, span)


@built_in("replace")
def _replace(context: Context, node: ast.Call, _hint: Type | None) -> Term:
    span = context.span(node)
    if len(node.args) != 1:
        raise Wrong("N208", "`replace` takes a record, then field=value", span)
    item = convert.unwrapped(context.infer(node.args[0]))
    if not variants_of(item.type):
        raise Wrong(
            "Y303", "`replace` needs a record", span, expected="a record", found=show(item.type)
        )
    for keyword in node.keywords:
        name = keyword.arg or ""
        place = context.span(keyword)
        old = build.field_of(t.Local("", item.type, place), name, place)
        item = t.With(item, name, context.check(keyword.value, old.type), item.type, span)
    return item


@built_in("closure")
def _closure(context: Context, node: ast.Call, _hint: Type | None) -> Term:
    """Return the transitive closure of a relation: as many joins with itself as paths are long."""
    span = context.span(node)
    (item,) = arguments(context, node, 1, 1)
    relation = convert.unwrapped(context.infer(item))
    kind = relation.type
    if not isinstance(kind, Map) or kind.value != Set(kind.key):
        raise Wrong(
            "Y303",
            "`closure` needs a relation",
            span,
            expected="a map of K to set of K",
            found=show(kind),
        )
    steps = max(size(kind.key) - 1, 1).bit_length()

    def joined(one: Term, left: int) -> Term:
        if left == 0:
            return one
        further = _joined_once(context, one, kind, span)
        return context.once("relation", further, lambda more: joined(more, left - 1), span)

    return context.once("relation", relation, lambda one: joined(one, steps), span)


def _joined_once(context: Context, relation: Term, kind: Map, span: Span) -> Term:
    """Return, for each key, what it leads to and what that leads to."""
    names = [context.allocator.unique(word) for word in ("key", "reached", "further")]
    key, reached, further = (t.Local(name, kind.key, span) for name in names)
    near = t.At(relation, key, kind.value, span)
    there = None if kind.total else t.Contains(reached, relation, span)
    generators = (
        t.Generator(names[1], near, there),
        t.Generator(names[2], t.At(relation, reached, kind.value, span), None),
    )
    far = t.Fold("set", generators, further, None, kind.value, span)
    assert isinstance(kind.value, Set)
    both = t.SetOperation("|", near, far, kind.value, span)
    return t.Fold("map", (t.Generator(names[0], relation, None),), both, key, kind, span)


@built_in("next")
def _next(context: Context, node: ast.Call, hint: Type | None) -> Term:
    span = context.span(node)
    (item,) = arguments(context, node, 1, 1)
    if not context.next_allowed:
        raise Wrong(
            "Y309", "`next` stands in `step` properties and bounds, and not in itself", span
        )
    context.world.nexts += 1
    inner = context.child({})
    inner.next_allowed = False
    term = inner.infer(item, hint)
    value = _only_value(context, item)
    if value is not None:
        raise Wrong(
            "Y309",
            f"`next` says nothing of `{value}`: it is a value, the same in the successor",
            span,
            expected="something that is read in the successor",
            help=f"write `next(...)` where `{value}` gets its value, or around what is read",
        )
    return t.Next(term, term.type, span)


def _only_value(context: Context, node: ast.expr) -> str | None:
    """Return a name of a value in an expression that says nothing of the state; else None.

    By what is written: what is read may be a constant of this instance.
    """
    named = [name.id for name in ast.walk(node) if isinstance(name, ast.Name)]
    values = [name for name in named if name in context.names]
    world = context.world
    asks = any(
        world.is_state(name) or name in world.definitions or name in {"budget", "enabled"}
        for name in named
        if name not in context.names
    )
    return None if asks or not values else values[0]


@built_in("requests", "responses")
def _messages(context: Context, node: ast.Call, _hint: Type | None) -> Term:
    assert isinstance(node.func, ast.Name)
    span = context.span(node)
    (item,) = arguments(context, node, 1, 1)
    calls = calls_target(context, item)
    if calls is None:
        raise Wrong("N205", f"`{node.func.id}` needs the name of calls", span)
    return on_the_way(context, calls[0], calls[1], node.func.id, span)


# ---------------------------------------------------------------------------------- methods


def _method(
    context: Context, node: ast.Call, function: ast.Attribute, hint: Type | None, span: Span
) -> Term:
    item = convert.unwrapped(context.infer(function.value))
    match function.attr, item.type:
        case "keys", Map(key, _, _):
            arguments(context, node, 0, 0)
            return t.Keys(item, Set(key), span)
        case "get", Map():
            return _get(context, node, item, hint, span)
        case "count", Bag() | Sequence():
            return _count(context, node, item, span)
        case _:
            raise no_method(item.type, node, function, span)


def _get(context: Context, node: ast.Call, item: Term, hint: Type | None, span: Span) -> Term:
    first, second = arguments(context, node, 2, 2)
    assert isinstance(item.type, Map)
    wanted = item.type.key
    key = context.meant(first, wanted)
    otherwise = _default(context, second, hint, item.type.value)

    def lookup(one: Term) -> Term:
        def found(place: Term) -> Term:
            value = build.at(one, place, span)
            return build.choice(build.contains(place, one, span), value, otherwise, span)

        return context.once("key", key, found, span)

    return context.once("map", item, lookup, span)


def _default(context: Context, node: ast.expr, hint: Type | None, kind: Type) -> Term:
    """Return what stands for an absent value; it may be one that could not be stored there."""
    if hint is not None or (isinstance(kind, Map) and kind.total):
        return context.infer(node, hint or kind)
    return context.meant(node, kind)


def _count(context: Context, node: ast.Call, item: Term, span: Span) -> Term:
    (argument,) = arguments(context, node, 1, 1)
    assert isinstance(item.type, Bag | Sequence)
    value = context.meant(argument, item.type.item)
    return build.count(value, item, span)
