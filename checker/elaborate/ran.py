"""`ran(row, name=value)`: whether a row made the step; and what a row's bindings are called."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from checker.elaborate import build, convert
from checker.elaborate.context import Context
from checker.elaborate.functions import built_in
from checker.elaborate.wrong import Wrong
from checker.machine import terms as t
from checker.machine.machine import Action
from checker.machine.relations import join
from checker.machine.types import Range, Set, Type
from checker.source import Span
from checker.table.problems import meant
from checker.table.scopes import CANCELLED

Term = t.Term


@built_in("ran")
def _ran(context: Context, node: ast.Call, _hint: Type | None) -> Term:
    """Return `ran(row, name=value)`; false of a row that constants leave out."""
    span, world = context.span(node), context.world
    if not context.next_allowed:
        raise Wrong("Y309", "`ran` stands in `step` properties only, and not in `next`", span)
    if len(node.args) != 1 or not isinstance(node.args[0], ast.Name):
        raise Wrong("N208", "`ran` takes the name of a row, then binding=value", span)
    row = node.args[0].id
    action = world.actions.get(row)
    if action is None:
        if row in {entry.name.text for entry in world.document.rows}:
            return convert.truth(False, span)
        raise no_row(context, node.args[0])
    arguments: list[tuple[str, Term]] = []
    others: list[Term] = []
    for name, value in bound_by_call(context, node, action):
        kind = action.shown[name]
        if not _can_be_other(value, kind):
            arguments.append((name, convert.coerce(value, kind)))
        elif isinstance(value.type, Range) and isinstance(kind, Range):
            arguments.append((name, value))
        else:
            others.append(_has_value(context, row, name, value, kind))
    ran = t.Ran(row, tuple(arguments), span)
    return build.conjunction([ran, *others, *always_in_time(context, node, action)], span)


def _has_value(context: Context, row: str, name: str, value: Term, kind: Type) -> Term:
    """Return whether `row` ran with a value of a binding that the binding may be unable to have.

    What it cannot be it is not: that is an answer, and no error.
    """

    def bound(one: Term) -> Term:
        possible = build.contains(one, t.Everything(Set(kind), value.span), value.span)
        ran = t.Ran(row, ((name, convert.coerce(one, kind)),), value.span)
        return build.conjunction([possible, ran], value.span)

    return context.once(f"ran {name}", value, bound, value.span)


def _can_be_other(value: Term, kind: Type) -> bool:
    """Whether a value may be one that its binding can never have: none, or out of its range."""
    return join(value.type, kind) not in {None, kind} and not convert.is_bare_empty(value)


def no_row(context: Context, node: ast.Name) -> Wrong:
    """Return the message on the name of a row that there is not."""
    world = context.world
    known = {entry.name.text for entry in world.document.rows}
    return Wrong(
        "N201",
        f"no row is called `{node.id}`",
        context.span(node),
        found=node.id,
        help=meant(node.id, {*known, *world.actions}),
    )


def bound_by_call(context: Context, node: ast.Call, action: Action) -> Iterator[tuple[str, Term]]:
    """Yield what `ran(row, name=value)` asks for: the name in the action, and the value."""
    kinds = called(action, action.shown, context.span(node))
    for keyword in node.keywords:
        if _is_in_time(action, keyword):
            continue
        if keyword.arg not in kinds:
            raise Wrong(
                "N208",
                f"the row `{action.name}` binds no `{keyword.arg}`",
                context.span(keyword),
                expected=", ".join(kinds) or "no binding",
                found=keyword.arg or "",
                help="a key is called as `on:` names it, such as channel[c].Kind()",
            )
        name = kinds[keyword.arg]
        yield name, context.meant(keyword.value, action.shown[name])


def always_in_time(context: Context, node: ast.Call, action: Action) -> list[Term]:
    """Return what `cancelled=value` asks of a timer whose cancels all come in time: that it is no.

    So a property says the same of instances with late cancels and of those without.
    """
    return [
        build.negation(convert.coerce(context.infer(item.value, convert.BOOL), convert.BOOL), span)
        for item in node.keywords
        if _is_in_time(action, item)
        for span in [context.span(item)]
    ]


def _is_in_time(action: Action, keyword: ast.keyword) -> bool:
    """Whether it asks for late cancels of an expiry that has none."""
    if action.trigger.kind != "expiry" or keyword.arg != CANCELLED:
        return False
    return all(name.split("#")[0] != CANCELLED for name in action.shown)


def called(action: Action, names: Iterable[str], span: Span) -> dict[str, str]:
    """Return names of a row in an action by what they are called in its text.

    Of keys that nobody named several may be called alike: N204.
    """
    found: dict[str, str] = {}
    for name in names:
        word = name.partition("#")[0]
        if word in found:
            raise Wrong(
                "N204",
                f"several bindings of the row `{action.name}` are called `{word}`",
                span,
                help="name the keys in its `on:`, such as channel[a, b].Kind()",
            )
        found[word] = name
    return found
