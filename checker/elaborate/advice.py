"""Messages on names that mean nothing where they stand: what was probably meant."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from checker.elaborate.context import Context
from checker.elaborate.world import World
from checker.elaborate.wrong import Consequence, Wrong
from checker.machine.builtins import NAMED
from checker.machine.relations import bare, lacking, variants_of
from checker.machine.types import Enum, Id, Map, Record, Sequence, Type
from checker.source import Span
from checker.table import elsewhere
from checker.table.document import BindingEntry, TypeName
from checker.table.nodes import shorten
from checker.table.problems import meant

# ------------------------------------------------------------------------------ names


def unknown(
    context: Context,
    word: str,
    span: Span,
    wanted: Type | None = None,
    known: Iterable[str] | None = None,
) -> Wrong:
    """Return the message on a name nothing declares, with the word that was probably meant.

    It is one of `known` where only those can stand there.
    """
    special = _special(context, word, span)
    if special is not None:
        return special
    if known is None:
        members: Iterable[str] = wanted.members if isinstance(wanted, Enum | Id) else ()
        known = [*context.names, *members, *words(context.world), *NAMED]
    advice = (
        elsewhere.WORDS.get(word)
        or owned(context.world, word)
        or _unbound(context, word)
        or meant(word, known)
    )
    return Wrong("N201", f"`{word}` is not declared", span, found=word, help=advice)


def _special(context: Context, word: str, span: Span) -> Wrong | None:
    """Return the message on a word that has a meaning, but not here or not so."""
    world = context.world
    if context.constant and word in _state_names(world):
        return Wrong(
            "Y304",
            f"`{word}` is part of the state; a constant is needed here",
            span,
            expected="a number, a constant, or an expression of constants",
            found=word,
        )
    if word in world.without_value:
        return Consequence("N201", f"`{word}` has no value, as its cell is wrong", span)
    if word not in world.constants and word in {one.name.text for one in world.document.constants}:
        return Wrong(
            "N201",
            f"`{word}` is declared further down",
            span,
            found=word,
            help="constants, and the types that they are of, know the constants above them only",
        )
    if word in NAMED and NAMED[word].form != word:
        form = NAMED[word].form
        return Wrong(
            "N201",
            f"`{word}` stands alone here",
            span,
            expected=f"`{form}`",
            found=word,
            help=f"write it so; it means: {NAMED[word].meaning}",
        )
    if word in world.procedures:
        return Wrong(
            "N205",
            f"`{word}` is a procedure, and has no value",
            span,
            found=word,
            help="call it as a statement, or make it a definition",
        )
    return None


def owned(world: World, word: str) -> str | None:
    """Return the help on a member that stands without its component; None of other words."""
    owner = next((one for one in world.components.values() if word in one.members), None)
    if owner is None:
        return None
    key = "" if owner.per is None else "[...]"
    return f"did you mean `{owner.name}{key}.{word}`?"


def unassigned(world: World, word: str) -> str:
    """Return the help on a declared name that is assigned and is no variable."""
    if word in world.constants:
        return "a constant keeps its value: make it a variable, or give the local another name"
    if word in world.components:
        one = world.components[word]
        key = "" if one.per is None else "[...]"
        member = next(iter(one.members), "...")
        return f"a component is assigned by its members: {word}{key}.{member} = ..."
    return "give the local a name of its own"


def _unbound(context: Context, word: str) -> str | None:
    """Return the help on a name that other rows or properties bind; None of other words."""
    document = context.world.document
    bindings = [entry for part in (document.rows, document.properties) for entry in part]
    found = (entry for one in bindings for entry in one.bindings if entry.name.text == word)
    entry = next(found, None)
    if entry is None:
        return None
    if context.inlined:
        return f"make `{word}` a parameter of `{context.inlined[-1]}`"
    domain = _domain(entry)
    return f"bind it: `for: {{{word}: {domain}}}`, or `... for {word} in {domain}`"


def _domain(entry: BindingEntry) -> str:
    """Return what a binding runs over, as it is written."""
    if isinstance(entry.node, TypeName):
        return entry.node.name
    return "..." if entry.cell is None else shorten(entry.cell.text, 40)


def _state_names(world: World) -> set[str]:
    """Return the names of what makes up the state, also before it is declared."""
    document = world.document
    sections = (
        document.variables,
        document.machines,
        document.components,
        document.channels,
        document.calls,
        document.operations,
        document.timers,
    )
    return {entry.name.text for section in sections for entry in section}


def words(world: World) -> list[str]:
    """Return every name the world declares."""
    return [
        *(known for known in world.variables if "." not in known),
        *world.components,
        *world.channels,
        *world.calls,
        *world.operations,
        *world.timers,
        *world.constants,
        *world.definitions,
        *world.procedures,
        *world.types,
        *world.values,
    ]


# ------------------------------------------------------------------------------ calls


def uncallable(context: Context, node: ast.Call) -> Wrong:
    """Return the message on a call of a name that is no function."""
    assert isinstance(node.func, ast.Name)
    word, span, world = node.func.id, context.span(node.func), context.world
    if word in NAMED and NAMED[word].group == "statement":
        return Wrong(
            "N201",
            f"`{word}` is a statement, and has no value",
            span,
            found=word,
            help="write it in `do:`, in a line of its own",
        )
    given = [ast.unparse(argument) for argument in node.args]
    if word in context.names or word in words(world):
        keys = f"[{', '.join(given) or '...'}]"
        form = word + keys if _has_keys(context, word) else f"{word} without parentheses"
        return Wrong(
            "N205",
            f"`{word}` is no function",
            span,
            expected="a definition, a record, a message, or a function of the language",
            found=shorten(ast.unparse(node)),
            help=f"write {form}",
        )
    instead = elsewhere.function(word, *given)
    if instead is not None:
        return Wrong("N201", f"`{word}` is not declared", span, found=word, help=instead)
    records = (name for name, kind in world.types.items() if isinstance(kind, Record))
    functions = (item.name for item in NAMED.values() if item.group in ("function", "choice"))
    known = [*world.definitions, *records, *functions]
    return unknown(context, word, span, known=known)


def no_statement(context: Context, node: ast.Call, known: Iterable[str]) -> Wrong:
    """Return the message on a call as a statement that is none; `known` are the statements."""
    assert isinstance(node.func, ast.Name)
    word, span, world = node.func.id, context.span(node.func), context.world
    if word not in context.names and word not in words(world) and word not in NAMED:
        return unknown(context, word, span, known=[*world.procedures, *known])
    given = f"[{', '.join(ast.unparse(argument) for argument in node.args) or '...'}]"
    form = f"{word}{given} = ..." if _has_keys(context, word) else f"x = {ast.unparse(node)}"
    return Wrong(
        "N205",
        f"`{word}` is no procedure; alone it has no effect",
        span,
        found=shorten(ast.unparse(node)),
        help=f"assign it, as in {shorten(form)}",
    )


def _has_keys(context: Context, word: str) -> bool:
    """Whether there is one of what a name means for each key."""
    world = context.world
    if word in context.names:
        return isinstance(bare(context.names[word].type), Map | Sequence)
    if word in world.components:
        return world.components[word].per is not None
    if word not in world.variables:
        return False
    return isinstance(bare(world.variables[word].type), Map | Sequence)


def form_of(node: ast.Call) -> str | None:
    """Return the help on a wrong call of a built-in: how it is written; None of other calls."""
    word = node.func.id if isinstance(node.func, ast.Name) else ""
    return f"it is written `{NAMED[word].form}`" if word in NAMED else None


def no_method(kind: Type, node: ast.Call, function: ast.Attribute, span: Span) -> Wrong:
    """Return the message on `item.word(...)`, where what is of type `kind` has no such method."""
    word, item = function.attr, ast.unparse(function.value)
    given = [ast.unparse(argument) for argument in node.args]
    fields = {name for variant in variants_of(kind) for name, _ in variant.fields}
    instead = elsewhere.method(word, item, *given)
    if word in fields:
        keys = f"[{', '.join(given)}]" if given else ""
        instead = f"write {item}.{word}{keys}"
    return Wrong(
        "N205",
        f"{lacking(kind, f'`.{word}()`')} in expressions",
        span,
        expected="keys, get of maps; count of bags and sequences",
        found=word,
        help=None if instead is None else shorten(instead, 200),
    )


def no_field(kind: Type, node: ast.Attribute, span: Span) -> Wrong:
    """Return the message on `item.word`, where what is of type `kind` has no fields at all."""
    instead = elsewhere.method(node.attr, ast.unparse(node.value))
    return Wrong(
        "N208",
        lacking(kind, f"field `{node.attr}`"),
        span,
        expected="a record or message",
        found=node.attr,
        help=None if instead is None else shorten(instead, 200),
    )
