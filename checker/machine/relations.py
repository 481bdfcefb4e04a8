"""Relations between types: what fits where, what two types have in common, how big they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from checker.machine.once import once
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
)

NEVER = Enum("nothing", ())
"""The type without values: the item of a bare `none` or `empty` until a place says more."""

INTEGER_LIMIT = (1 << 62) - 1
"""No computed integer may lie beyond plus or minus this: so many codes, and one more, fit int64."""

WIDEST_RANGE = 1 << 40
VALUES_MAX = 4096
"""Values of a set's item, keys of a map, items of a sequence or bag."""

NESTING_MAX = 60
"""Types inside each other."""

LEAVES_MAX = 65_536
"""Scalars in one variable."""

HUGE = 1 << 64


def bare(kind: Type) -> Type:
    """Return the item of an option, else the type itself."""
    return kind.item if isinstance(kind, Option) else kind


def optional(kind: Type) -> Option:
    """Return `kind` as an option; options are not nested."""
    return kind if isinstance(kind, Option) else Option(kind)


def union_of(records: Iterable[Record]) -> Union:
    """Return the union of some message types; its name lists them."""
    variants = tuple(dict.fromkeys(records))
    return Union(" or ".join(variant.name for variant in variants), variants)


def variants_of(kind: Type) -> tuple[Record, ...]:
    """Return the record shapes a record or union type has; nothing for other types."""
    match kind:
        case Record():
            return (kind,)
        case Union(_, variants):
            return variants
        case _:
            return ()


def item_of(kind: Type) -> Type | None:
    """Return what iterating over `kind` yields, None where it cannot be iterated."""
    match kind:
        case Set(item) | Sequence(item, _) | Bag(item, _):
            return item
        case Map(key, _, _):
            return key
        case _:
            return None


def bound(kind: Type) -> int:
    """Return how many items iterating over `kind` yields at most."""
    match kind:
        case Set(item):
            return size(item)
        case Map(key, _, _):
            return size(key)
        case Sequence(_, capacity) | Bag(_, capacity):
            return capacity
        case _:
            return 0


def join(left: Type, right: Type) -> Type | None:
    """Return the least type into which both convert without a check, None if there is none."""
    if right in (left, NEVER):
        return left
    if left == NEVER:
        return right
    if isinstance(left, Option) or isinstance(right, Option):
        item = join(bare(left), bare(right))
        return None if item is None else optional(item)
    match left, right:
        case Range(), Range():
            return hull(left, right)
        case Set(a), Set(b):
            item = join(a, b)
            return None if item is None else Set(item)
        case Set(a), Map() | Sequence() | Bag() if a == NEVER:
            return right
        case Map() | Sequence() | Bag(), Set(b) if b == NEVER:
            return left
        case Sequence(a, m), Sequence(b, n):
            item = join(a, b)
            return None if item is None else Sequence(item, max(m, n))
        case Bag(a, m), Bag(b, n):
            item = join(a, b)
            return None if item is None else Bag(item, max(m, n))
        case Map(a, v, s), Map(b, w, t):
            key, value = join(a, b), join(v, w)
            if key is None or value is None:
                return None
            return Map(key, value, total=s and t and a == b)
        case Record() | Union(), Record() | Union():
            return _join_records(left, right)
        case _:
            return None


def hull(left: Range, right: Range) -> Range:
    """Return the least range that holds both."""
    if left.low > left.high:
        return right
    if right.low > right.high:
        return left
    return Range(min(left.low, right.low), max(left.high, right.high))


def _join_records(left: Record | Union, right: Record | Union) -> Type | None:
    if isinstance(left, Record) and isinstance(right, Record) and left.name == right.name:
        if [name for name, _ in left.fields] != [name for name, _ in right.fields]:
            return None
        fields = []
        for (name, a), (_, b) in zip(left.fields, right.fields, strict=True):
            both = join(a, b)
            if both is None:
                return None
            fields.append((name, both))
        return Record(left.name, tuple(fields))
    merged: dict[str, Record] = {}
    for variant in variants_of(left) + variants_of(right):
        known = merged.get(variant.name)
        both = variant if known is None else _join_records(known, variant)
        if not isinstance(both, Record):
            return None
        merged[variant.name] = both
    return union_of(merged.values())


def fits(kind: Type, target: Type) -> bool:
    """Return whether some value of `kind` can be a value of `target`, perhaps with a check."""
    if kind is target or kind in (target, NEVER):
        return True
    if isinstance(target, Option):
        return isinstance(kind, Option) or fits(kind, target.item)
    if isinstance(kind, Option):
        return kind.item != NEVER and fits(kind.item, target)
    match kind, target:
        case Range(a, b), Range(c, d):
            return a <= d and c <= b
        case Set(item), Map() | Sequence() | Bag() if item == NEVER:
            return True
        case (Set(a), Set(b)) | (Sequence(a, _), Sequence(b, _)) | (Bag(a, _), Bag(b, _)):
            return _may_hold(a, b)
        case Map(a, v, _), Map(b, w, _):
            return _may_hold(a, b) and _may_hold(v, w)
        case Record(name, fields), Record(other, others):
            same = name == other and [n for n, _ in fields] == [m for m, _ in others]
            return same and all(fits(a, b) for (_, a), (_, b) in zip(fields, others, strict=True))
        case Record(), Union(_, variants):
            return any(fits(kind, variant) for variant in variants)
        case Union(_, variants), Record() | Union():
            return any(fits(variant, target) for variant in variants)
        case _:
            return False


@lru_cache(maxsize=4096)
def always_fits(source: Type, target: Type) -> bool:
    """Whether every value of `source` is certainly one of `target`."""
    if source in (target, NEVER):
        return True
    match source, target:
        case Set(item), Map(_, _, False) | Sequence() | Bag() if item == NEVER:
            return True
        case Range(low, high), Range(least, most):
            return (least <= low and high <= most) or low > high
        case Option(inner), Option(item):
            return always_fits(inner, item)
        case Option(), _:
            return False
        case _, Option(item):
            return always_fits(source, item)
        case Record(name, fields), Record(other, parts):
            types = dict(parts)
            return (
                name == other
                and set(types) == {field for field, _ in fields}
                and all(always_fits(part, types[field]) for field, part in fields)
            )
        case Record(name, _), Union(_, variants):
            named = [variant for variant in variants if variant.name == name]
            return bool(named) and always_fits(source, named[0])
        case Union(_, variants), _:
            return all(always_fits(variant, target) for variant in variants)
        case Set(inner), Set(item):
            return always_fits(inner, item)
        case Map(key, held, total), Map(name, value, whole):
            keys = always_fits(key, name) and (not whole or (total and key == name))
            return keys and always_fits(held, value)
        case (
            (Sequence(inner, capacity) | Bag(inner, capacity)),
            (Sequence(item, room) | Bag(item, room)),
        ):
            return capacity <= room and always_fits(inner, item)
    return False


def _may_hold(item: Type, target: Type) -> bool:
    """Items of a collection need not exist, so disjoint ranges are no contradiction."""
    if isinstance(item, Range) and isinstance(target, Range):
        return True
    return fits(item, target)


def parts(kind: Type) -> tuple[Type, ...]:
    """Return the types directly inside a type."""
    match kind:
        case Option(item) | Set(item) | Sequence(item, _) | Bag(item, _):
            return (item,)
        case Map(key, value, _):
            return (key, value)
        case Record(_, fields):
            return tuple(field for _, field in fields)
        case Union(_, variants):
            return variants
        case _:
            return ()


def inside(kind: Type) -> Iterator[Type]:
    """Yield all that a type is made of, innermost first, and the type itself last."""
    for part in parts(kind):
        yield from inside(part)
    yield kind


def mentions(kind: Type, names: frozenset[str]) -> bool:
    """Return whether ids of these types may occur in values of `kind`, as keys of maps too."""
    return any(isinstance(item, Id) and item.name in names for item in inside(kind))


def holds_symmetric(kind: Type, *, several: bool = False) -> bool:
    """Return whether a value of `kind` can contain an id of a symmetric type.

    What may be written must not depend on how many ids an instance has; what a search has to
    respect is asked of `several` only, for a single id is interchangeable with none.
    """
    return any(
        isinstance(item, Id) and item.symmetric and (len(item.members) > 1 or not several)
        for item in inside(kind)
    )


def undetermined(kind: Type) -> bool:
    """Return whether `kind` still contains NEVER: nothing has said what it holds."""
    return any(item == NEVER for item in inside(kind))


# ------------------------------------------------------------------------------------- sizes


def size(kind: Type) -> int:
    """Return the number of codes of `kind`, or HUGE where there are more; always quick."""
    match kind:
        case Bool():
            return 2
        case Range(low, high):
            return min(HUGE, max(0, high - low + 1))
        case Enum(_, members) | Id(_, members, _):
            return len(members)
        case Option(item):
            return min(HUGE, 1 + size(item))
        case Record(_, fields):
            result = 1
            for _, field in fields:
                result = min(HUGE, result * size(field))
            return result
        case Union(_, variants):
            return min(HUGE, sum(size(variant) for variant in variants))
        case Set(item):
            return _power(2, size(item))
        case Map(key, value, total):
            return _power(min(HUGE, size(value) + (not total)), size(key))
        case Sequence(item, capacity) | Bag(item, capacity):
            return _power(min(HUGE, size(item) + 1), capacity)


def _power(base: int, exponent: int) -> int:
    if base <= 1 or exponent == 0:
        return 1 if exponent == 0 else base
    return min(HUGE, base ** min(exponent, 64)) if exponent < 64 else HUGE


def leaves(kind: Type) -> int:
    """Return how many scalars a value of `kind` holds at most (saturating at HUGE)."""
    match kind:
        case Option(item):
            return 1 + once(leaves, item)
        case Record(_, fields):
            return min(HUGE, sum(once(leaves, field) for _, field in fields))
        case Union(_, variants):
            return 1 + max((once(leaves, variant) for variant in variants), default=0)
        case Set(item):
            return size(item)
        case Map(key, value, _):
            return min(HUGE, size(key) * (1 + once(leaves, value)))
        case Sequence(item, capacity) | Bag(item, capacity):
            return min(HUGE, capacity * (1 + once(leaves, item)))
        case _:
            return 1


def depth(kind: Type) -> int:
    """Return how many types are inside each other in `kind`, itself included."""
    return 1 + max((once(depth, part) for part in parts(kind)), default=0)


def excess(kind: Type) -> str | None:
    """Return a sentence on the first limit `kind` exceeds, None where it keeps all."""
    match kind:
        case Range(low, high) if high - low >= WIDEST_RANGE:
            return f"a range of {high - low + 1} integers; at most 2**40 are possible"
        case Set(item) if size(item) > VALUES_MAX:
            return f"a set over {count(size(item))} values; at most {VALUES_MAX} are possible"
        case Map(key, _, _) if size(key) > VALUES_MAX:
            return f"a map over {count(size(key))} keys; at most {VALUES_MAX} are possible"
        case Sequence(_, capacity) | Bag(_, capacity) if capacity > VALUES_MAX:
            return f"room for {capacity} items; at most {VALUES_MAX} are possible"
    if depth(kind) > NESTING_MAX:
        return f"types {depth(kind)} levels deep in each other; at most {NESTING_MAX} are possible"
    for part in parts(kind):
        found = once(excess, part)
        if found is not None:
            return found
    if leaves(kind) > LEAVES_MAX:
        return f"a value of {count(leaves(kind))} parts; at most {LEAVES_MAX} are possible"
    return None


def count(number: int) -> str:
    """Return a number as text; saturated ones as `more than`."""
    return "more than 2**64" if number >= HUGE else str(number)


def lacking(kind: Type, what: str) -> str:
    """Return the sentence that no value of a type has something: a field, a method."""
    nothing = f"there is nothing here that could have a {what}"
    return nothing if kind == NEVER else f"{show(kind)} has no {what}"


def show(kind: Type) -> str:
    """Return a type as the language writes it."""
    match kind:
        case Bool():
            return "bool"
        case Range(low, high):
            return f"{low}..{high}"
        case Enum() if kind == NEVER:
            return "nothing"
        case Enum(name, _) | Id(name, _, _) | Record(name, _) | Union(name, _):
            return name
        case Option(item):
            return "none" if item == NEVER else f"optional {show(item)}"
        case Set(item):
            return "empty" if item == NEVER else f"set of {show(item)}"
        case Map(key, value, total):
            return f"{'total ' if total else ''}map of {show(key)} to {show(value)}"
        case Sequence(item, capacity):
            return f"sequence of {show(item)} up to {capacity}"
        case Bag(item, capacity):
            return f"bag of {show(item)} up to {capacity}"
