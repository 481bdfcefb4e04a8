"""Which collections are met in an order that renaming interchangeable ids changes.

Elements come in canonical order, and so do ids: renamed, they come in another one. A sequence that
is stored somewhere has an order of its own; one made by a comprehension over ids has theirs.
"""

from __future__ import annotations

from checker.machine import terms as t
from checker.machine.relations import holds_symmetric
from checker.machine.types import Bag, Map, Set
from checker.machine.walk import walk


def met_by_name(domain: t.Term) -> bool:
    """Whether renaming ids may change the order in which the values of a domain are met."""
    match domain.type:
        case Set(item) | Bag(item, _) | Map(item, _, _):
            return holds_symmetric(item, several=True)
    return any(
        isinstance(node, t.Fold)
        and node.operator == "sequence"
        and any(met_by_name(generator.domain) for generator in node.generators)
        for node in walk(domain)
    )


def decides_by_name(fold: t.Fold) -> bool:
    """Whether an `all` or `any` runs over what has no first: then an error must not come first."""
    return fold.operator in {"all", "any"} and any(
        met_by_name(generator.domain) for generator in fold.generators
    )
