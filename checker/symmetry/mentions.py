"""Which types speak of ids."""

from __future__ import annotations

from checker.machine.types import Bag, Id, Map, Option, Record, Sequence, Set, Type, Union


def mentions(kind: Type, names: frozenset[str]) -> bool:
    """Whether ids of these types occur anywhere in values of `kind`, as keys of maps too."""
    match kind:
        case Id(name, _, _):
            return name in names
        case Option(item) | Set(item) | Sequence(item, _) | Bag(item, _):
            return mentions(item, names)
        case Map(key, value, _):
            return mentions(key, names) or mentions(value, names)
        case Record(_, parts):
            return any(mentions(part, names) for _, part in parts)
        case Union(_, variants):
            return any(mentions(variant, names) for variant in variants)
    return False
