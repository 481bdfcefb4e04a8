"""Names, attributes and subscripts: from words to variables, fields, constants and states."""

from __future__ import annotations

import ast

from checker.elaborate import build, convert
from checker.elaborate.advice import no_field, unknown
from checker.elaborate.connections import is_open, parked
from checker.elaborate.context import Context, handles
from checker.elaborate.definitions import inline
from checker.elaborate.world import CallsInfo, ComponentInfo, World
from checker.elaborate.wrong import Consequence, Wrong
from checker.machine import terms as t
from checker.machine.certain import certain
from checker.machine.relations import NEVER, bare, show, variants_of
from checker.machine.types import Bag, Enum, Id, Map, Range, Record, Sequence, Set, Type
from checker.source import Span
from checker.table.problems import nearest
from checker.table.renaming import ValueName

Term = t.Term

# ----------------------------------------------------------------------------------- names


@handles(ast.Constant)
def constant(context: Context, node: ast.expr, _hint: Type | None) -> Term:
    """Return a number, True, False or None."""
    assert isinstance(node, ast.Constant)
    span = context.span(node)
    if isinstance(node.value, bool):
        return convert.truth(node.value, span)
    if isinstance(node.value, int):
        return convert.integer(node.value, span)
    if node.value is None:
        return convert.nothing(span)
    raise Wrong("Y310", "only integers, true, false and none are constants", span)


@handles(ast.Name)
def name(context: Context, node: ast.expr, hint: Type | None) -> Term:
    """Return what a name means, in the order the language looks it up."""
    assert isinstance(node, ast.Name)
    word, span, world = node.id, context.span(node), context.world
    if word in context.names:
        found = context.names[word]
        if isinstance(found, t.Local) and not found.name:
            raise Consequence("N201", f"`{word}` has no meaning, as its cell is wrong", span)
        return _placed(found, span)
    if word in context.maybe:
        raise Wrong(
            "N201",
            f"`{word}` may have no value here",
            span,
            help=f"assign `{word}` on every way that leads here",
        )
    literal = _word(word, hint, span)
    if literal is not None:
        return literal
    stateful = _stateful(context, word, span)
    if stateful is not None:
        return stateful
    if word in world.constants:
        return _placed(world.constants[word], span)
    if word in world.definitions:
        return inline(context, world.definitions[word], (), span, hint)
    if word in world.types:
        return everything(world.types[word], span)
    return value_named(context, word, hint, span)


@handles(ValueName)
def value_name(context: Context, node: ast.expr, hint: Type | None) -> Term:
    """Return the value that a name is in any case."""
    assert isinstance(node, ValueName)
    span = context.span(node)
    kind = None if node.table is None else context.world.types[node.table]
    if isinstance(kind, Enum):
        return t.Literal(node.id, kind, span)
    wanted = None if hint is None else bare(hint)
    if isinstance(wanted, Enum | Id):
        return value_named(context, node.called.get(wanted.name, node.id), hint, span)
    if len(node.called) > 1:
        raise _of_several(node.id, [f"{kind}.{word}" for kind, word in node.called.items()], span)
    return value_named(context, node.id, hint, span)


def meaningless(span: Span) -> Term:
    """Return what a name stands for whose cell is wrong: whatever uses it says nothing more."""
    return t.Local("", NEVER, span)


def _placed(term: Term, span: Span) -> Term:
    """Return a local or constant with the place of this use."""
    if isinstance(term, t.Local):
        return t.Local(term.name, term.type, span)
    if isinstance(term, t.Literal):
        return t.Literal(term.value, term.type, span)
    return term


def _word(word: str, hint: Type | None, span: Span) -> Term | None:
    match word:
        case "true" | "false":
            return convert.truth(word == "true", span)
        case "none":
            return convert.nothing(span)
        case "empty":
            return bare_empty(hint, span)
        case _:
            return None


def bare_empty(hint: Type | None, span: Span) -> Term:
    """Return `empty` of the expected type, or of a type its place will say."""
    kind = None if hint is None else bare(hint)
    if kind is None or not isinstance(kind, Set | Map | Sequence | Bag):
        return t.SetOf((), Set(NEVER), span)
    return convert.empty(kind, span)


def _stateful(context: Context, word: str, span: Span) -> Term | None:
    """Return the term of a name that means a part of the state."""
    world = context.world
    if not world.is_state(word):
        return None
    if context.constant:
        raise Wrong(
            "Y304",
            f"`{word}` is part of the state; a constant is needed here",
            span,
            expected="a number, a constant, or an expression of constants",
            found=word,
        )
    if word in world.calls:
        return parked(context, world.calls[word], None, span)
    if word in world.variables:
        return t.Read(word, world.variables[word].type, span)
    return component_record(world, world.components[word], None, span)


def everything(kind: Type, span: Span) -> Term:
    """Return all values of a type as a set."""
    convert.limited(Set(kind), span)
    return t.Everything(Set(kind), span)


def value_named(context: Context, word: str, hint: Type | None, span: Span) -> Term:
    """Return the state, enum value or id called `word`, by the expected type where several are."""
    wanted = None if hint is None else bare(hint)
    if isinstance(wanted, Enum | Id) and word in wanted.members:
        if isinstance(wanted, Id) and wanted.symmetric:
            raise _named_symmetric(word, wanted, span)
        return t.Literal(word, wanted, span)
    owners = context.world.values.get(word, [])
    if len(owners) == 1:
        return t.Literal(word, owners[0], span)
    if owners:
        raise _of_several(word, [f"{owner.name}.{word}" for owner in owners], span)
    for kind in context.world.types.values():
        if isinstance(kind, Id) and kind.symmetric and word in kind.members:
            raise _named_symmetric(word, kind, span)
    raise unknown(context, word, span, wanted)


def _of_several(word: str, names: list[str], span: Span) -> Wrong:
    named = " or ".join(names)
    return Wrong("N204", f"`{word}` is a value of several types", span, expected=named, found=word)


def _named_symmetric(word: str, kind: Id, span: Span) -> Wrong:
    return Wrong(
        "Y330",
        f"`{word}` is an interchangeable id and cannot be named",
        span,
        found=f"{kind.name} is declared symmetric",
        help=f"quantify over {kind.name}, or declare it without `symmetric: true`",
    )


# ------------------------------------------------------------------------------- components


def component_record(world: World, info: ComponentInfo, key: Term | None, span: Span) -> Term:
    """Return a component (of one key) as a record of its members, for reading."""
    if info.per is not None and key is None:
        raise Wrong(
            "N205",
            f"there is one `{info.name}` for each {show(info.per)}",
            span,
            expected=f"{info.name}[...]",
            found=info.name,
        )
    fields: list[tuple[str, Term]] = []
    for member in info.members:
        read = t.Read(f"{info.name}.{member}", world.variables[f"{info.name}.{member}"].type, span)
        fields.append((member, read if key is None else build.at(read, key, span)))
    kind = Record(info.name, tuple((field, value.type) for field, value in fields))
    return t.RecordOf(info.name, tuple(fields), kind, span)


def variable_of(context: Context, node: ast.expr) -> tuple[str, tuple[Term, ...]] | None:
    """Return the variable (and the component's key) `node` names, None if it names none."""
    world = context.world
    match node:
        case ValueName():
            return None
        case ast.Name(word):
            if word not in context.names and word in world.variables:
                return word, ()
        case ast.Attribute(ast.Name("budget"), fault):
            if f"budget.{fault}" in world.variables and "budget" not in context.names:
                return f"budget.{fault}", ()
        case ast.Attribute(ast.Name(word), "late") if word in world.timers:
            if f"{word}.late" in world.variables and word not in context.names:
                return f"{word}.late", ()
        case ast.Attribute(ast.Name(word) as base, member):
            info = _component(context, word)
            if info is not None:
                if info.per is not None:
                    component_record(world, info, None, context.span(base))
                return _member(context, info, member, node), ()
        case ast.Attribute(ast.Subscript(ast.Name(word), key), member):
            info = _component(context, word)
            if info is not None:
                variable = _member(context, info, member, node)
                return variable, (_component_key(context, info, key, node),)
    return None


def _component(context: Context, word: str) -> ComponentInfo | None:
    return None if word in context.names else context.world.components.get(word)


def _component_key(context: Context, info: ComponentInfo, key: ast.expr, node: ast.expr) -> Term:
    if info.per is None:
        raise Wrong(
            "N205", f"there is only one `{info.name}`", context.span(node), expected=info.name
        )
    return context.check(key, info.per)


def _member(context: Context, info: ComponentInfo, member: str, node: ast.expr) -> str:
    if member not in info.members:
        close = nearest(member, info.members)
        raise Wrong(
            "N201",
            f"`{info.name}` has no `{member}`",
            context.span(node),
            expected=", ".join(info.members),
            found=member,
            help=f"did you mean `{close}`?" if close else None,
        )
    return f"{info.name}.{member}"


# ------------------------------------------------------------------- attributes, subscripts


@handles(ast.Attribute)
def attribute(context: Context, node: ast.expr, _hint: Type | None) -> Term:
    """Return a component's variable, a qualified state, a field, or a handle's property."""
    assert isinstance(node, ast.Attribute)
    span = context.span(node)
    qualified = _qualified(context, node, span)
    if qualified is not None:
        return qualified
    match node.value:
        case ast.Name("budget") if "budget" not in context.names:
            if context.world.budgets.get(node.attr) == 0:
                return convert.integer(0, span)
    variable = variable_of(context, node)
    if variable is not None:
        if context.constant:
            raise Wrong("Y304", "this is part of the state; a constant is needed here", span)
        term: Term = t.Read(variable[0], context.world.variables[variable[0]].type, span)
        for key in variable[1]:
            term = build.at(term, key, span)
        return term
    item = context.infer(node.value)
    calls = context.world.handles(bare(item.type))
    if calls is not None and node.attr == "open":
        return is_open(context, calls, convert.unwrapped(item), span)
    if not variants_of(bare(item.type)):
        raise no_field(convert.unwrapped(item).type, node, span)
    if isinstance(item, t.RecordOf) and not _is_message(node.value) and not certain(item):
        # A record made here fails in any of its fields, not only in the one that is taken.
        return context.once("record", item, lambda one: build.field_of(one, node.attr, span), span)
    return build.field_of(item, node.attr, span)


def _is_message(node: ast.expr) -> bool:
    """Whether a record is what a row takes: put together of fields that are there, and are read."""
    return isinstance(node, ast.Name) and node.id == "message"


def _qualified(context: Context, node: ast.Attribute, span: Span) -> Term | None:
    """Return `group.Empty`: a state named with its table or enum, also beside a variable."""
    if not isinstance(node.value, ast.Name):
        return None
    word, world = node.value.id, context.world
    kind = world.types.get(word)
    if word in world.constants:
        kind = world.constants[word].type
    if not isinstance(kind, Enum | Id):
        return None
    if node.attr not in kind.members:
        if word in context.names or word in world.variables or word in world.components:
            return None
        close = nearest(node.attr, kind.members)
        raise Wrong(
            "N201",
            f"`{word}` has no value `{node.attr}`",
            span,
            expected=", ".join(kind.members),
            found=node.attr,
            help=f"did you mean `{close}`?" if close else None,
        )
    if word in context.names and _has_field(context.names[word].type, node.attr):
        return None
    if word in world.components and node.attr in world.components[word].members:
        return None
    if isinstance(kind, Id) and kind.symmetric:
        raise _named_symmetric(node.attr, kind, span)
    return t.Literal(node.attr, kind, span)


def _has_field(kind: Type, name: str) -> bool:
    return any(field == name for variant in variants_of(bare(kind)) for field, _ in variant.fields)


@handles(ast.Subscript)
def subscript(context: Context, node: ast.expr, _hint: Type | None) -> Term:
    """Return `m[k]`, `s[i]`, `s[a:b]`, `channel[a, b]`, `component[k]`."""
    assert isinstance(node, ast.Subscript)
    span, world = context.span(node), context.world
    if isinstance(node.value, ast.Name) and node.value.id not in context.names:
        word = node.value.id
        if word in world.components and word not in world.variables:
            info = world.components[word]
            key = _component_key(context, info, node.slice, node)
            return context.once("key", key, lambda k: component_record(world, info, k, span), span)
    calls = calls_target(context, node)
    if calls is not None and calls[1] is not None:
        return parked(context, calls[0], calls[1], span)
    item = convert.unwrapped(context.infer(node.value))
    if isinstance(node.slice, ast.Slice):
        return _slice(context, item, node.slice, span)
    keys = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for part in keys:
        item = _at(context, item, part, span)
    return item


def _at(context: Context, item: Term, node: ast.expr, span: Span) -> Term:
    kind = item.type
    if isinstance(kind, Map):
        return build.at(item, context.check(node, kind.key), span)
    position = context.infer(node)
    if isinstance(position, t.Literal) and isinstance(kind, Sequence):
        value = position.value
        if isinstance(value, int) and not isinstance(value, bool) and value < 0:
            return context.once(
                "sequence", item, lambda one: build.at(one, from_end(one, value, span), span), span
            )
    return build.at(item, position, span)


def from_end(sequence: Term, value: int, span: Span) -> Term:
    """Return `len(sequence) + value` for a negative `value`."""
    return build.arithmetic("-", build.length(sequence, span), convert.integer(-value, span), span)


def _slice(context: Context, item: Term, node: ast.Slice, span: Span) -> Term:
    if not isinstance(item.type, Sequence):
        raise Wrong(
            "Y303", "only sequences have slices", span, expected="a sequence", found=show(item.type)
        )
    if node.step is not None:
        raise Wrong("Y310", "slices have no step", context.span(node.step))

    def whole(one: Term) -> Term:
        start = None if node.lower is None else _bound(context, one, node.lower)
        stop = None if node.upper is None else _bound(context, one, node.upper)
        return t.Slice(one, start, stop, item.type, span)

    return context.once("sequence", item, whole, span)


def _bound(context: Context, sequence: Term, node: ast.expr) -> Term:
    span = context.span(node)
    value = build.number(context.infer(node), "a bound of a slice")
    assert isinstance(value.type, Range)
    if value.type.low >= 0:
        return value
    if isinstance(value, t.Literal) and isinstance(value.value, int):
        places = from_end(sequence, value.value, span)
        assert isinstance(places.type, Range)
        kind = Range(0, max(0, places.type.high))
        return t.Extreme("max", (convert.integer(0, span), places), kind, span)
    return convert.coerce(value, Range(0, max(0, value.type.high)))


def calls_target(context: Context, node: ast.expr) -> tuple[CallsInfo, Term | None] | None:
    """Return the calls (of one caller) that `calls` or `calls[c]` names, None if it names none."""
    base, key = node, None
    if isinstance(node, ast.Subscript):
        base, key = node.value, node.slice
    if not isinstance(base, ast.Name) or base.id in context.names:
        return None
    info = context.world.calls.get(base.id)
    if info is None:
        return None
    return info, None if key is None else context.check(key, info.key)
