"""How often what is inside loops is worked out, at most: nothing that runs looks at the clock.

A guard, an effect or a property runs to its end once it has begun, compiled or not. Loops inside
each other make short texts run for hours, so what they come to is bounded before anything runs.
"""

from __future__ import annotations

from collections.abc import Sequence

from checker.machine import terms as t
from checker.machine.machine import Action, Binding
from checker.machine.relations import HUGE, bound
from checker.machine.walk import Node, children


def rounds(node: Node) -> int:
    """Return how many nodes are worked out at most where `node` is, HUGE where there are more.

    What is inside a loop counts as often as the type of what the loop runs over allows. Choices do
    not count: each makes a successor, and a search stops where these become too many.
    """
    match node:
        case Action():
            inside = (*(value for _, value in node.lets), node.guard, *node.body)
            return _nested(node.bindings, sum(map(rounds, inside)))
        case t.Fold():
            inside = (node.body,) if node.key is None else (node.key, node.body)
            return _nested(node.generators, sum(map(rounds, inside)))
        case t.For(_, domain, body, _):
            times = max(1, bound(domain.type))
            return min(HUGE, 1 + rounds(domain) + times * (1 + sum(map(rounds, body))))
    return min(HUGE, 1 + sum(map(rounds, children(node))))


def _nested(loops: Sequence[Binding | t.Generator], inside: int) -> int:
    """Return how many nodes loops come to, each inside the one before, and `inside` in the last."""
    total = 1 + inside
    for loop in reversed(loops):
        condition = 0 if loop.condition is None else rounds(loop.condition)
        total = 1 + rounds(loop.domain) + max(1, bound(loop.domain.type)) * (condition + total)
    return min(HUGE, total)
