"""How often what is inside loops is worked out, at most: nothing that runs looks at the clock.

A guard, an effect or a property runs to its end once it has begun, compiled or not. Loops inside
each other make short texts run for hours, so what they come to is bounded before anything runs.
"""

from __future__ import annotations

from collections.abc import Iterable

from checker.machine import terms as t
from checker.machine.machine import Action, Binding
from checker.machine.relations import HUGE, bound
from checker.machine.walk import Node, children


def rounds(*nodes: Node) -> int:
    """Return how many nodes are worked out at most where `nodes` are, HUGE where there are more.

    What is inside a loop counts as often as the type of what the loop runs over allows. Choices do
    not count: each makes a successor, and a search stops where these become too many.
    """
    total = 0
    waiting: list[tuple[Node, int]] = [(node, 1) for node in nodes]
    while waiting and total < HUGE:
        node, times = waiting.pop()
        total += times
        loops: tuple[Binding | t.Generator, ...]
        inside: tuple[Node, ...]
        match node:
            case Action():
                loops = node.bindings
                inside = (*(value for _, value in node.lets), node.guard, *node.body)
            case t.Fold():
                loops = node.generators
                inside = (node.body,) if node.key is None else (node.key, node.body)
            case t.For():
                loops, inside = (t.Generator(node.name, node.domain, None),), node.body
            case _:
                loops, inside = (), tuple(children(node))
        for loop in loops:
            waiting.append((loop.domain, times))
            times *= max(1, bound(loop.domain.type))
            if loop.condition is not None:
                waiting.append((loop.condition, times))
        waiting += [(item, times) for item in inside]
    return min(HUGE, total)


def picks(body: Iterable[t.Statement]) -> int:
    """Return how many choices one execution of effects makes at most, HUGE where there are more."""
    total = 0
    for statement in body:
        match statement:
            case t.Pick():
                total += 1
            case t.If(_, then, otherwise, _):
                total += max(picks(then), picks(otherwise))
            case t.For():
                total += max(1, bound(statement.domain.type)) * picks(statement.body)
            case t.Scope(_, inner, _) | t.Reject(inner, _):
                total += picks(inner)
    return min(HUGE, total)
