"""`enabled(row, name=value)`: whether a row can run in the state at hand, as one condition.

It is what the row asks before its effects: a message or outcome that is there, its bindings, `in`,
`let` and `when`, and a budget that is not spent. A row whose effects may still give up is refused:
what would be said of it would be more than is known.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace

from checker.elaborate import build, convert
from checker.elaborate.context import Context, Term
from checker.elaborate.functions import built_in
from checker.elaborate.ran import always_in_time, bound_by_call, no_row
from checker.elaborate.rows import action_of
from checker.elaborate.wrong import Wrong
from checker.machine import terms as t
from checker.machine.machine import Action
from checker.machine.relations import item_of
from checker.machine.types import Set, Type
from checker.machine.walk import names_given, rebuild, statements_inside
from checker.source import Span
from checker.table.problems import Problems


@built_in("enabled")
def enabled(context: Context, node: ast.Call, _hint: Type | None) -> Term:
    """Return whether some instance of a row, with the bindings that are given, can run."""
    span = context.span(node)
    if len(node.args) != 1 or not isinstance(node.args[0], ast.Name):
        raise Wrong("N208", "`enabled` takes the name of a row, then binding=value", span)
    if context.constant:
        raise Wrong("Y304", "this is part of the state; a constant is needed here", span)
    action = _action(context, node.args[0])
    if action is None:
        return convert.truth(False, span)
    _require_decided(action, span)
    given: dict[str, Term] = {}
    bound: list[tuple[str, Term]] = []
    for name, value in bound_by_call(context, node, action):
        given[name] = value
        if not isinstance(value, t.Literal):
            unique = context.allocator.unique(f"enabled {name}")
            bound.append((unique, value))
            given[name] = t.Local(unique, value.type, value.span)
    in_time = always_in_time(context, node, action)
    possible = _named_anew(context, _instances(action, 0, given, span), given)
    condition = build.conjunction([*in_time, possible], span)
    for unique, value in reversed(bound):
        condition = t.Let(unique, value, condition, convert.BOOL, span)
    return condition


def _action(context: Context, node: ast.Name) -> Action | None:
    """Return a row as an action, also while rows are elaborated; None where it is left out."""
    world = context.world
    if node.id in world.actions:
        return world.actions[node.id]
    entry = next((row for row in world.document.rows if row.name.text == node.id), None)
    if entry is None:
        raise no_row(context, node)
    if world.actions:
        return None
    if node.id in world.guarding:
        raise Wrong(
            "N220",
            f"whether `{node.id}` can run depends on whether it can run",
            context.span(node),
            help="leave `enabled` out of one of the guards",
        )
    # What is wrong with that row is told where it stands.
    outer, world.problems = world.problems, Problems()
    world.guarding.append(node.id)
    try:
        action = action_of(world, entry)
        wrong = [item for item in world.problems.found if item.code == "N220"]
    finally:
        world.guarding.pop()
        world.problems = outer
    if wrong:
        raise Wrong("N220", wrong[0].message, context.span(node), help=wrong[0].help)
    return action


def _require_decided(action: Action, span: Span) -> None:
    """Raise Wrong (Y309) where effects may find that the row cannot run after all."""
    for part in statements_inside(action.body):
        may_give_up = isinstance(part, t.Require) or (
            isinstance(part, t.Send)
            and part.when_full == "block"
            and not isinstance(part.place.type, Set)
        )
        if may_give_up:
            raise Wrong(
                "Y309",
                f"the effects of `{action.name}` may find that it cannot run",
                span,
                found=f"what {part.span} says",
                expected="a row that `when` decides: no require, pick_if_any or call, no channel "
                "that blocks",
                help="ask for what it needs in an expression of its own",
            )


def _named_anew(context: Context, term: Term, given: Mapping[str, Term]) -> Term:
    """Return what another row says with names that nothing here has.

    Names tell values apart in all of a row: what a loop does with its id is looked for by name.
    """
    ours = {value.name for value in given.values() if isinstance(value, t.Local)}
    # `c#2` is how an allocator says that it is not the first `c`.
    anew = {name: context.allocator.unique(name.partition("#")[0]) for name in names_given(term)}

    def change(part: Term) -> Term:
        part = rebuild(part, change)
        match part:
            case t.Local(name) if name not in ours:
                return replace(part, name=anew[name])
            case t.Let(name):
                return replace(part, name=anew[name])
            case t.Fold(_, generators):
                named = tuple(replace(item, name=anew[item.name]) for item in generators)
                return replace(part, generators=named)
        return part

    return change(term)


def _instances(action: Action, place: int, given: dict[str, Term], span: Span) -> Term:
    """Return whether some values of the bindings from `place` on satisfy the guard."""
    if place == len(action.bindings):
        return _guard(action, given, span)
    binding = action.bindings[place]
    rest = _instances(action, place + 1, given, span)
    if binding.name not in given:
        generator = t.Generator(binding.name, binding.domain, binding.condition)
        return t.Fold("any", (generator,), rest, None, convert.BOOL, span)
    kind = item_of(binding.domain.type)
    assert kind is not None
    value = given[binding.name]
    if binding.condition is not None:
        rest = build.conjunction([binding.condition, rest], span)
    taken = t.Let(binding.name, convert.coerce(value, kind), rest, convert.BOOL, span)
    return build.conjunction([build.contains(value, binding.domain, span), taken], span)


def _guard(action: Action, given: dict[str, Term], span: Span) -> Term:
    """Return the guard behind its lets, of which some must have given values."""
    kinds = {name: term.type for name, term in action.lets}
    equal: list[Term] = [
        build.equal(t.Local(name, kinds[name], span), value, span)
        for name, value in given.items()
        if name in kinds
    ]
    condition = build.conjunction([*equal, action.guard], span)
    for name, value in reversed(action.lets):
        condition = t.Let(name, value, condition, convert.BOOL, span)
    return condition
