"""Displays and comprehensions: sets, maps, sequences, and what quantifiers range over."""

from __future__ import annotations

import ast

from checker.elaborate import build, convert
from checker.elaborate.context import Context, handles
from checker.elaborate.operators import needs_hint
from checker.elaborate.wrong import Wrong
from checker.machine import terms as t
from checker.machine.relations import NEVER, VALUES_MAX, bare, bound, item_of, join, show
from checker.machine.types import Bag, Map, Sequence, Set, Type
from checker.semantics.values import coded_values
from checker.source import Span

Term = t.Term

# --------------------------------------------------------------------------------- displays


def _items(context: Context, nodes: list[ast.expr], hint: Type | None) -> tuple[list[Term], Type]:
    """Return the items of a display and the type they share; clear items hint the others."""
    clear = next((i for i, node in enumerate(nodes) if not needs_hint(context, node)), 0)
    first = context.infer(nodes[clear], hint)

    def other(node: ast.expr) -> Term:
        return context.meant(node, first.type) if hint is None else context.infer(node, hint)

    items = [first if i == clear else other(node) for i, node in enumerate(nodes)]
    kind = items[0].type
    for item in items[1:]:
        both = join(kind, item.type)
        if both is None:
            raise Wrong(
                "Y303",
                "these items have no common type",
                item.span,
                expected=show(kind),
                found=show(item.type),
            )
        kind = both
    return items, kind


@handles(ast.Set)
def set_display(context: Context, node: ast.expr, hint: Type | None) -> Term:
    """Return `{a, b}`."""
    assert isinstance(node, ast.Set)
    span = context.span(node)
    wanted = None if hint is None else item_of(bare(hint))
    items, kind = _items(context, node.elts, wanted)
    found = convert.limited(Set(kind), span)
    assert isinstance(found, Set)
    return t.SetOf(tuple(convert.coerce(item, kind) for item in items), found, span)


@handles(ast.List)
def list_display(context: Context, node: ast.expr, hint: Type | None) -> Term:
    """Return `[a, b]`: a sequence, or a bag where one is expected."""
    assert isinstance(node, ast.List)
    span = context.span(node)
    wanted = None if hint is None else bare(hint)
    if not node.elts:
        if isinstance(wanted, Sequence | Bag):
            return convert.empty(wanted, span)
        return t.SetOf((), Set(NEVER), span)
    items, kind = _items(context, node.elts, None if wanted is None else item_of(wanted))
    parts = tuple(convert.coerce(item, kind) for item in items)
    if isinstance(wanted, Bag):
        return t.SequenceOf(parts, Bag(kind, len(parts)), span)
    return t.SequenceOf(parts, Sequence(kind, len(parts)), span)


@handles(ast.Dict)
def map_display(context: Context, node: ast.expr, hint: Type | None) -> Term:
    """Return `{k: v}`; for a total map the keys must cover its type."""
    assert isinstance(node, ast.Dict)
    span = context.span(node)
    hinted, place = _map_of(hint), _map_of(context.place(hint))
    nodes = [key for key in node.keys if key is not None]
    if not nodes:
        return t.SetOf((), Set(NEVER), span) if hinted is None else convert.empty(hinted, span)
    keys, key = _items(context, nodes, hinted.key if hinted else None)
    values, value = _items(context, node.values, hinted.value if hinted else None)
    if place is not None:
        key, value = place.key, place.value
    pairs = tuple(
        (convert.coerce(k, key), convert.coerce(v, value))
        for k, v in zip(keys, values, strict=True)
    )
    if place is not None and place.total:
        _cover(pairs, place, span)
        return t.MapOf(pairs, place, span)
    return t.MapOf(pairs, convert.limited(Map(key, value, total=False), span), span)


def _map_of(hint: Type | None) -> Map | None:
    kind = None if hint is None else bare(hint)
    return kind if isinstance(kind, Map) else None


def _cover(pairs: tuple[tuple[Term, Term], ...], kind: Map, span: Span) -> None:
    known = {key.value for key, _ in pairs if isinstance(key, t.Literal)}
    wanted = len(coded_values(kind.key))
    if len(known) < wanted:
        raise Wrong(
            "Y301",
            "a total map holds every key",
            span,
            expected=f"{wanted} constant keys",
            found=f"{len(known)}",
            help="write a comprehension: {k: ... for k in " + show(kind.key) + "}",
        )


# --------------------------------------------------------------------------- comprehensions


def domain(context: Context, node: ast.expr) -> Term:
    """Return what a `for` or `pick` ranges over: a set, map, sequence or bag."""
    term = convert.unwrapped(context.infer(node))
    if item_of(term.type) is None:
        raise Wrong(
            "Y303",
            "nothing can be taken from this",
            term.span,
            expected="a type, set, map, sequence or bag",
            found=show(term.type),
        )
    return term


def generators(
    context: Context, clauses: list[ast.comprehension]
) -> tuple[tuple[t.Generator, ...], Context, int]:
    """Return the generators, the surroundings of the body, and how often it runs at most."""
    found: list[t.Generator] = []
    most = 1
    for clause in clauses:
        term = domain(context, clause.iter)
        target = clause.target
        if not isinstance(target, ast.Name):
            raise Wrong("Y310", "a comprehension binds one name", context.span(target))
        kind = item_of(term.type)
        assert kind is not None
        unique = context.allocator.unique(target.id)
        local = t.Local(unique, kind, context.span(target))
        context = context.child({target.id: local})
        conditions = [context.condition(test, "`if`") for test in clause.ifs]
        condition = build.conjunction(conditions, term.span)
        found.append(t.Generator(unique, term, None if build.is_true(condition) else condition))
        most *= bound(term.type)
    return tuple(found), context, most


@handles(ast.SetComp)
def set_comprehension(context: Context, node: ast.expr, hint: Type | None) -> Term:
    """Return `{f(x) for x in s if p}`."""
    assert isinstance(node, ast.SetComp)
    span = context.span(node)
    clauses, inner, _ = generators(context, node.generators)
    body = inner.infer(node.elt, None if hint is None else item_of(bare(hint)))
    kind = convert.limited(Set(body.type), span)
    return t.Fold("set", clauses, body, None, kind, span)


@handles(ast.ListComp)
def list_comprehension(context: Context, node: ast.expr, hint: Type | None) -> Term:
    """Return `[f(x) for x in s if p]`, with the capacity of the place where one is expected."""
    assert isinstance(node, ast.ListComp)
    span = context.span(node)
    wanted = None if hint is None else bare(hint)
    clauses, inner, most = generators(context, node.generators)
    body = inner.infer(node.elt, None if wanted is None else item_of(wanted))
    place = context.place(hint)
    capacity = place.capacity if isinstance(place, Sequence) else min(most, VALUES_MAX + 1)
    kind = convert.limited(Sequence(body.type, capacity), span)
    return t.Fold("sequence", clauses, body, None, kind, span)


@handles(ast.DictComp)
def map_comprehension(context: Context, node: ast.expr, hint: Type | None) -> Term:
    """Return `{k: v for k in s}`, total where a total map is expected (E505 if not covered)."""
    assert isinstance(node, ast.DictComp)
    span = context.span(node)
    hinted, place = _map_of(hint), _map_of(context.place(hint))
    clauses, inner, _ = generators(context, node.generators)
    if place is not None:
        key, value = inner.check(node.key, place.key), inner.check(node.value, place.value)
        return t.Fold("map", clauses, value, key, place, span)
    key = inner.infer(node.key, hinted.key if hinted else None)
    value = inner.infer(node.value, hinted.value if hinted else None)
    kind = convert.limited(Map(key.type, value.type, total=False), span)
    return t.Fold("map", clauses, value, key, kind, span)


@handles(ast.GeneratorExp)
def stray_generator(context: Context, node: ast.expr, _hint: Type | None) -> Term:
    """Refuse `x for x in s` outside of what reduces it."""
    raise Wrong(
        "Y310",
        "`for` stands inside all, any, sum, min, max, pick or brackets",
        context.span(node),
        help="write {x for x in s} for the set",
    )
