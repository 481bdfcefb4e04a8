"""Random types in which ids of symmetric types stand at any depth, and values of them."""

from __future__ import annotations

import random

from checker.layout.shape import is_dense
from checker.machine.types import (
    Bag,
    Bool,
    Enum,
    Id,
    Map,
    Option,
    Range,
    Record,
    Sequence,
    Set,
    Type,
    Union,
    cardinality,
)
from checker.semantics.values import RecordValue, bag_value, map_value, values

A = Id("A", ("a1", "a2", "a3"), symmetric=True)
B = Id("B", ("b1", "b2", "b3"), symmetric=True)
PLAIN = Id("Plain", ("p1", "p2"), symmetric=False)
LEVEL = Enum("Level", ("low", "middle", "high"))
SCALARS: tuple[Type, ...] = (A, B, PLAIN, LEVEL, Bool(), Range(-1, 2), Option(A), Option(B))


def random_type(choose: random.Random, depth: int) -> Type:
    """A type with symmetric ids at any depth, or without any."""
    if depth == 0:
        return choose.choice(SCALARS)
    item = random_type(choose, depth - 1)
    match choose.randrange(9):
        case 0 if not isinstance(item, Option):
            return Option(item)
        case 1 if cardinality(item) <= 200:
            return Set(item)
        case 2:
            return Sequence(item, choose.randint(1, 3))
        case 3:
            return Bag(item, choose.randint(1, 3))
        case 4:
            return random_record(choose, "R", depth)
        case 5:
            variants = tuple(random_record(choose, f"V{number}", depth) for number in range(3))
            return Union("U", variants)
        case 6 | 7 | 8:
            key = random_type(choose, 1)
            if cardinality(key) <= 20 and is_dense(key):
                return Map(key, item, total=choose.random() < 0.6)
    return item


def random_record(choose: random.Random, name: str, depth: int) -> Record:
    parts = [random_type(choose, depth - 1) for _ in range(choose.randint(0, 3))]
    return Record(name, tuple((f"f{number}", part) for number, part in enumerate(parts)))


def sample(choose: random.Random, kind: Type) -> object:
    """A random value; the same few ones are likely, so that ids are often alike."""
    match kind:
        case Option(item):
            return None if choose.random() < 0.4 else sample(choose, item)
        case Record(name, fields):
            return RecordValue(name, tuple((part, sample(choose, held)) for part, held in fields))
        case Union(_, variants):
            return sample(choose, choose.choice(variants))
        case Set(item):
            return frozenset(sample(choose, item) for _ in range(choose.randrange(4)))
        case Sequence(item, capacity):
            return tuple(sample(choose, item) for _ in range(choose.randint(0, capacity)))
        case Bag(item, capacity):
            count = choose.randint(0, capacity)
            return bag_value(kind, [sample(choose, item) for _ in range(count)])
        case Map(key, held, total):
            keys = [name for name in values(key) if total or choose.random() < 0.5]
            common = sample(choose, held)
            alike = choose.random() < 0.5
            return map_value(
                kind, {name: common if alike else sample(choose, held) for name in keys}
            )
    return choose.choice(list(values(kind)))
