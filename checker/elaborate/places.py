"""Places: what effects assign to, as a variable and steps into it."""

from __future__ import annotations

import ast
from dataclasses import replace

from checker.elaborate import build
from checker.elaborate.advice import owned, words
from checker.elaborate.context import Context
from checker.elaborate.lookup import from_end, variable_of
from checker.elaborate.world import World
from checker.elaborate.wrong import Wrong
from checker.machine import terms as t
from checker.machine.relations import bare, show, variants_of
from checker.machine.types import Enum, Map, Option, Sequence, Type
from checker.table.problems import meant

Term = t.Term


def place_of(context: Context, node: ast.expr) -> t.Place:
    """Return the place `node` names; Y320 where it is none."""
    place = _place(context, node)
    if place is None:
        raise Wrong(
            "Y320",
            "this cannot be assigned",
            context.span(node),
            expected="a variable, then [key] or .field",
            found=ast.unparse(node)[:60],
            help=_meant(context.world, _base(node)),
        )
    return place


def _base(node: ast.expr) -> str:
    """Return the name that a place begins with; empty where it begins otherwise."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _meant(world: World, word: str) -> str | None:
    """Return the help on the beginning of what is assigned, where nothing declares it."""
    if word in words(world):
        return None
    variables = [name for name in world.variables if "." not in name]
    return owned(world, word) or meant(word, [*variables, *world.components])


def machine_place(context: Context, node: ast.expr) -> t.Place:
    """Return the place of a machine that `in:` or `to:` names (N201, N205)."""
    place = _place(context, node)
    if place is not None:
        return place
    word, world = _base(node), context.world
    tabled = (name for name, entry in world.variables.items() if entry.table is not None)
    machines = [_with_key(world, name) for name in tabled]
    declared = word in context.names or word in world.variables or word in world.components
    within = [name for name in machines if name.startswith((f"{word}.", f"{word}["))]
    advice = f"write {' or '.join(within)}" if within else None
    raise Wrong(
        "N205" if declared else "N201",
        f"`{ast.unparse(node)}` is no machine" if declared else f"no machine is called `{word}`",
        context.span(node),
        expected=", ".join(machines) or "an entry of `machines:`",
        found=ast.unparse(node)[:60],
        help=advice or owned(world, word) or meant(word, machines),
    )


def _with_key(world: World, name: str) -> str:
    """Return how a variable is written, with `[...]` where there is one for each key."""
    owner, _, member = name.partition(".")
    if isinstance(world.variables[name].type, Map):
        return f"{owner}[...].{member}" if member else f"{owner}[...]"
    return name


def _place(context: Context, node: ast.expr) -> t.Place | None:
    variable = variable_of(context, node)
    span = context.span(node)
    if variable is not None:
        name, keys = variable
        declared = context.world.variables[name]
        if declared.origin == "budget":
            raise Wrong("Y320", "budgets are spent by faults only", span, found=name)
        kind: Type = declared.type
        for _ in keys:
            assert isinstance(kind, Map)
            kind = kind.value
        return t.Place(name, tuple(t.Step(key=key) for key in keys), kind, span)
    match node:
        case ast.Subscript(value, key):
            outer = _place(context, value)
            if outer is None:
                return None
            return _key_step(context, require_one_type(context, outer), key, node)
        case ast.Attribute(value, field):
            outer = _place(context, value)
            if outer is None or not variants_of(bare(outer.type)):
                return None
            require_one_type(context, outer)
            whole = t.Local("", _inner(outer, node, context), span)
            kind = build.field_of(whole, field, span).type
            return t.Place(outer.variable, (*outer.steps, t.Step(name=field)), kind, span)
        case _:
            return None


def _inner(place: t.Place, node: ast.expr, context: Context) -> Type:
    """Return the type of a place one can step into; options have to be assigned as a whole."""
    if isinstance(place.type, Option):
        raise Wrong(
            "Y320",
            "a part of an optional value cannot be assigned",
            context.span(node),
            expected="an assignment of the whole value",
            found=show(place.type),
        )
    return place.type


def _key_step(context: Context, outer: t.Place, key: ast.expr, node: ast.expr) -> t.Place:
    span = context.span(node)
    if isinstance(key, ast.Slice):
        raise Wrong("Y320", "a slice cannot be assigned", span)
    if isinstance(key, ast.Tuple):
        for part in key.elts:
            outer = _key_step(context, outer, part, node)
        return outer
    kind = _inner(outer, node, context)
    match kind:
        case Map(wanted, value, _):
            step = t.Step(key=context.check(key, wanted))
        case Sequence(value, _):
            step = t.Step(key=_position(context, outer, key))
        case _:
            raise Wrong(
                "Y320",
                "only maps and sequences have `[...]`",
                span,
                expected="a map or a sequence",
                found=show(kind),
            )
    return t.Place(outer.variable, (*outer.steps, step), value, span)


def _position(context: Context, outer: t.Place, key: ast.expr) -> Term:
    position = build.number(context.infer(key), "a position")
    if isinstance(position, t.Literal) and isinstance(position.value, int) and position.value < 0:
        return from_end(read(context, outer), position.value, position.span)
    return position


def whole_of(context: Context, place: t.Place) -> t.Place | None:
    """Return the union around a field whose type differs from kind to kind; None of other places.

    What fits into the field is known once it is known of which kind the value is.
    """
    step = place.steps[-1] if place.steps else None
    if step is None or step.name is None:
        return None
    around = t.Place(place.variable, place.steps[:-1], place.type, place.span)
    kind = read(context, around).type
    found = [dict(variant.fields).get(step.name) for variant in variants_of(kind)]
    differs = len({item for item in found if item is not None}) > 1
    return replace(around, type=kind) if differs else None


def require_one_type(context: Context, place: t.Place) -> t.Place:
    """Return a place of which a part is changed; Y320 where its type depends on a value's kind."""
    around = whole_of(context, place)
    if around is not None:
        name = place.steps[-1].name
        raise Wrong(
            "Y320",
            f"the kinds of {show(around.type)} have different types of `{name}`",
            place.span,
            expected="an assignment of the whole field, or value",
            help=f"write {name} = ... behind the place, or replace(..., {name}=...)",
        )
    return place


def read(context: Context, place: t.Place) -> Term:
    """Return the value of a place."""
    term: Term = t.Read(place.variable, context.world.variables[place.variable].type, place.span)
    for step in place.steps:
        if step.key is not None:
            term = build.at(term, step.key, place.span)
        elif step.name is not None:
            term = build.field_of(term, step.name, place.span)
    return term


def key_into(place: t.Place, key: Term) -> t.Place:
    """Return the place one key deeper."""
    kind = place.type
    assert isinstance(kind, Map | Sequence)
    value = kind.value if isinstance(kind, Map) else kind.item
    return t.Place(place.variable, (*place.steps, t.Step(key=key)), value, place.span)


def table_of(context: Context, place: t.Place) -> str | None:
    """Return the table whose machine the place is, None if it is no machine's state.

    Y320 where the place is a whole map of machines: each state is assigned on its own.
    """
    table = context.world.variables[place.variable].table
    if table is not None and not isinstance(place.type, Enum):
        raise Wrong(
            "Y320",
            "the states of several machines are not assigned at once",
            place.span,
            help="assign each in a `for`",
        )
    return table
