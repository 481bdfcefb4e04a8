"""Comprehensions whose result depends on the order of interchangeable ids (Y330).

A set of ids, or of values with ids in them, has no order that means anything. A sequence made from
one would have, unless it is only counted, searched or quantified over; and a map in which several
ids give one key its value would keep that of the last. What loops of effects do with the order is
not seen here: `docs/semantics.md`, symmetry.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from checker.elaborate.world import World
from checker.elaborate.wrong import Wrong, collecting
from checker.machine import terms as t
from checker.machine.certain import certain
from checker.machine.machine import Binding, Machine
from checker.machine.once import once
from checker.machine.relations import holds_symmetric
from checker.machine.types import Bag, Map, Set
from checker.machine.walk import Node, children, walk

_MATTERS = frozenset(
    {
        t.Fold, t.Let, t.Local, t.Contains, t.Count, t.Pick, t.For, Binding, t.Generator, t.Cast,
        t.Choose, t.Next, t.Length,
    }
)  # fmt: skip
"""The nodes of which anything is said here; most are others."""

_ORDERED = frozenset({"sequence", "map"})
"""Comprehensions that may depend on an order."""

_REDUCTIONS = frozenset({"any", "all", "sum", "min", "max", "set"})


def check_impartial(world: World, machine: Machine) -> None:
    """Report comprehensions that take symmetric ids in their order."""
    if not any(kind.symmetric for kind in machine.ids):
        return
    reported: set[object] = set()
    for fold, what in (found for part in machine.parts for found in once(_partial, part)):
        if fold.span not in reported:
            reported.add(fold.span)
            with collecting(world.problems):
                raise Wrong(
                    "Y330",
                    f"{what}, but the ids it runs over are interchangeable",
                    fold.span,
                    help="make a set or a bag of it, or declare the ids without `symmetric: true`",
                )


def _partial(part: Node) -> tuple[tuple[t.Fold, str], ...]:
    """Return the comprehensions in a part of a machine whose result depends on the order of ids.

    Each with how it does.
    """
    if not any(isinstance(node, t.Fold) and node.operator in _ORDERED for node in walk(part)):
        return ()  # as nearly always
    return tuple(_partial_inside(part))


def _partial_inside(root: Node) -> Iterator[tuple[t.Fold, str]]:
    # Nodes still to be looked at, and whether only what is in a sequence matters where they stand.
    waiting: list[tuple[Node, bool]] = [(root, False)]
    unordered: dict[str, t.Fold] = {}
    while waiting:
        node, content = waiting.pop()
        if type(node) not in _MATTERS:
            waiting += [(part, False) for part in children(node)]
            continue
        match node:
            case t.Fold("sequence") if not content and _runs_over_ids(node):
                yield node, "this sequence has an order"
            case t.Fold("map") if not _gives_each_its_key(node):
                yield node, "of several values for one key the last one wins"
            case t.Let(name, value) if (held := _held(value, unordered)) is not None:
                unordered[name] = held
            case t.Local(name) if not content and name in unordered:
                yield unordered[name], "this sequence has an order"
            case t.Fold("all" | "any", generators) if not certain(node):
                # Written in place, an error would count only where no value decides.
                for generator in generators:
                    held = _held(generator.domain, unordered)
                    if isinstance(generator.domain, t.Local) and held is not None:
                        yield held, "errors count in the order of this sequence"
        waiting += [
            (part, _only_content(node, part, whole=content) or _is_named(node, part, unordered))
            for part in children(node)
        ]


def _held(term: t.Term, unordered: Mapping[str, t.Fold]) -> t.Fold | None:
    """Return the sequence made of ids that a term is as it stands; None where it is none."""
    match term:
        case t.Fold("sequence") if _runs_over_ids(term):
            return term
        case t.Local(name):
            return unordered.get(name)
        case t.Cast(item) | t.Next(item):
            return _held(item, unordered)
        case t.Choose(_, then, otherwise):
            return _held(then, unordered) or _held(otherwise, unordered)
    return None


def _is_named(node: Node, part: Node, unordered: Mapping[str, t.Fold]) -> bool:
    """Whether a part is a sequence made of ids to which a name is given: its uses are looked at."""
    return isinstance(node, t.Let) and part is node.value and node.name in unordered


def _only_content(node: Node, part: Node, *, whole: bool) -> bool:
    """Whether a sequence that is this part of a node matters by its content only.

    `whole`: whether the node's own value does.
    """
    match node:
        case t.Contains(_, collection) | t.Count(_, collection):
            return part is collection
        case t.Pick(_, domain) | t.For(_, domain) | Binding(_, domain):
            return part is domain
        case t.Generator(_, domain):
            return whole and part is domain
        case t.Fold(operator):
            return operator in _REDUCTIONS and isinstance(part, t.Generator)
        case t.Let(_, _, body):
            return whole and part is body
        case t.Cast() | t.Choose() | t.Next():
            return whole
    return isinstance(node, t.Length)


def _runs_over_ids(fold: t.Fold) -> bool:
    return any(_is_over_ids(generator) for generator in fold.generators)


def _is_over_ids(generator: t.Generator) -> bool:
    match generator.domain.type:
        case Set(item) | Bag(item):
            return holds_symmetric(item)
        case Map(key):
            return holds_symmetric(key)
    return False


def _gives_each_its_key(fold: t.Fold) -> bool:
    """Whether each value of every generator over ids gives a key of its own."""
    parts = [value for _, value in fold.key.fields] if isinstance(fold.key, t.RecordOf) else []
    names = {part.name for part in (fold.key, *parts) if isinstance(part, t.Local)}
    return all(generator.name in names for generator in fold.generators if _is_over_ids(generator))
