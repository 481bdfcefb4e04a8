"""When a value of a log is one of the model: names are bound, numbers count from a window's base.

A Binding is what is known of both at some place of a run: pairs of a name in the log and an id of
the model, and of each window what is to be added to the model's numbers, None until one was seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from typing import Any, NamedTuple

from checker.conformance.bind import Bound
from checker.conformance.equal import Equal, equal
from checker.machine.relations import mentions
from checker.machine.types import Bag, Id, Map, Option, Range, Record, Sequence, Set, Type, Union
from checker.semantics.plain import KIND, beside_kind, normal

Names = tuple[tuple[str, str, str], ...]
"""What names of the log are: type, name in the log, id of the model (as the mapping calls it)."""

Bases = tuple[int | None, ...]

Held = frozenset[tuple[str, str]]
"""Types and ids: those that a state holds."""


class Binding(NamedTuple):
    """What names and numbers of the log are in the model."""

    names: Names
    bases: Bases


_KEPT = 200_000

Compare = Callable[[Any, Any, Binding, Held | None], Binding | None]
"""Takes what the model has, what the log has, and a binding: makes the binding that fits both."""


class Matcher:
    """Compares values; what compares those of a type is made once for each."""

    def __init__(self, bound: Bound, alike: frozenset[str]) -> None:
        self.alike = alike
        """Types of which any id that nothing holds is as good as any other."""
        self.windows = {
            key: number for number, window in enumerate(bound.windows) for key in window.values
        }
        self.declared = {
            (kind.name, bound.names.get((kind.name, member), member)): member
            for kind in bound.machine.ids
            for member in kind.members
        }
        self._kinds = frozenset(kind.name for kind in bound.machine.ids)
        self._order = {kind.name: kind.members for kind in bound.machine.ids if kind.name in alike}
        self._open: dict[tuple[str, Held, Names], tuple[str, ...]] = {}
        self._plain: dict[tuple[Type, int | None], bool] = {}
        self._made: dict[tuple[Type, int | None], Compare] = {}

    def window(self, name: str, outer: int | None = None) -> int | None:
        """Return the window that numbers under a key belong to."""
        return self.windows.get(name, outer)

    def is_plain(self, kind: Type, window: int | None) -> bool:
        """Whether values of a type are compared as they are: no names, no numbers of windows."""
        found = self._plain.get((kind, window))
        if found is None:
            found = self._plain[kind, window] = self._is_plain(kind, window)
        return found

    def _is_plain(self, kind: Type, window: int | None) -> bool:
        match kind:
            case Id():
                return False
            case Range():
                return window is None
            case Option(item) | Set(item) | Sequence(item, _) | Bag(item, _):
                return self.is_plain(item, window)
            case Map(key, held, _):
                return self.is_plain(key, window) and self.is_plain(held, window)
            case Record(_, fields):
                return all(self.is_plain(part, self.window(name, window)) for name, part in fields)
            case Union(_, variants):
                return all(self.is_plain(beside_kind(one), window) for one in variants)
        return True

    def has_window(self, kind: Type, window: int | None) -> bool:
        """Whether values of a type that stand under a window's key have numbers of a window."""
        match kind:
            case Range():
                return window is not None
            case Option(item) | Set(item) | Sequence(item, _) | Bag(item, _):
                return self.has_window(item, window)
            case Map(key, held, _):
                return self.has_window(key, window) or self.has_window(held, window)
            case Record(_, fields):
                return any(
                    self.has_window(part, self.window(name, window)) for name, part in fields
                )
            case Union(_, variants):
                return any(self.has_window(beside_kind(one), window) for one in variants)
        return False

    def same(
        self,
        kind: Type,
        expected: Any,
        value: Any,
        binding: Binding,
        held: Held | None = None,
        window: int | None = None,
    ) -> Binding | None:
        """Return the binding with which `value` of the log is the model's; None if with none.

        `held`: what the state holds. New names are bound to that, or to the first of what it does
        not; None: to any.
        """
        return self.compare(kind, window)(expected, value, binding, held)

    def compare(self, kind: Type, window: int | None) -> Compare:
        """Return what compares values of a type that stand under a window's key."""
        found = self._made.get((kind, window))
        if found is None:
            found = self._made[kind, window] = self._compare(kind, window)
        return found

    def _compare(self, kind: Type, window: int | None) -> Compare:
        if self.is_plain(kind, window):
            return _compare_plain(equal(kind))
        match kind:
            case Option(item):
                return _compare_option(self.compare(item, window))
            case Id():
                return partial(self._same_id, kind)
            case Range():
                assert window is not None
                return _compare_number(window)
            case Record(_, fields):
                return _compare_record(self._parts(fields, window))
            case Union(_, variants):
                return _compare_union(
                    {one.name: self._parts(beside_kind(one).fields, window) for one in variants}
                )
            case Sequence(item, _):
                return _compare_sequence(self.compare(item, window))
            case Map():
                return self._compare_map(kind, window)
        return partial(self._same_text, kind, window)

    def _parts(
        self, fields: tuple[tuple[str, Type], ...], window: int | None
    ) -> tuple[tuple[str, Compare], ...]:
        return tuple((name, self.compare(part, self.window(name, window))) for name, part in fields)

    def _same_id(
        self, kind: Id, expected: str, value: Any, binding: Binding, held: Held | None
    ) -> Binding | None:
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str):
            return None
        for name, outside, inside in binding.names:
            if name == kind.name and (outside == value or inside == expected):
                return binding if (outside, inside) == (value, expected) else None
        if kind.name not in self.alike:
            if (kind.name, value) in self.declared and value != expected:
                return None
        elif held is not None and not self.may_be(kind.name, expected, binding.names, held):
            return None
        # An id that the log calls as the model does is no other name's either.
        names = tuple(sorted((*binding.names, (kind.name, value, expected))))
        return Binding(names, binding.bases)

    def may_be(self, kind: str, member: str, names: Names, held: Held) -> bool:
        """Whether an id that has no name may be given to somebody new.

        Of those that are alike, and that the state does not hold, the first stands for all.
        """
        return (
            kind not in self.alike
            or (kind, member) in held
            or member in self.open(kind, names, held)[:1]
        )

    def ids(self, kind: Type, value: Any) -> Iterator[tuple[str, str]]:
        """Yield the ids that stand in a value of the model, with their types."""
        match kind:
            case Id(name):
                yield name, self.declared[name, value]
            case Option(item):
                if value is not None:
                    yield from self.ids(item, value)
            case Record(_, fields):
                for name, part in fields:
                    yield from self.ids(part, value[name])
            case Union(_, variants):
                shape = next(one for one in variants if one.name == value[KIND])
                yield from self.ids(beside_kind(shape), value)
            case Set(item) | Sequence(item, _) | Bag(item, _):
                for one in value:
                    yield from self.ids(item, one)
            case Map(key, held, total):
                pairs = value.items() if isinstance(value, dict) else map(dict.values, value)
                for name, part in pairs:
                    if not total and mentions(key, self._kinds):
                        yield from self.ids(key, name)
                    yield from self.ids(held, part)

    def in_order(self, ids: Iterable[tuple[str, str]], names: Names, held: Held) -> bool:
        """Whether a step for some ids stands for all that are alike, but for ids as good as these.

        Of ids without a name that the state does not hold it has the first ones, in their order.
        """
        new: dict[str, list[str]] = {}
        for kind, member in ids:
            if kind in self.alike and (kind, member) not in held:
                new.setdefault(kind, []).append(member)
        for kind, members in new.items():
            open_ = self.open(kind, names, held)
            found = [one for one in dict.fromkeys(members) if one in open_]
            if found != [*open_[: len(found)]]:
                return False
        return True

    def open(self, kind: str, names: Names, held: Held) -> tuple[str, ...]:
        """Return the ids of a type that are alike, have no name and are not held, in order."""
        found = self._open.get((kind, held, names))
        if found is None:
            if len(self._open) > _KEPT:
                self._open.clear()
            bound = {self.declared[kind, inside] for name, _, inside in names if name == kind}
            found = self._open[kind, held, names] = tuple(
                one for one in self._order[kind] if (kind, one) not in held and one not in bound
            )
        return found

    def _compare_map(self, kind: Map, window: int | None) -> Compare:
        """Return what compares maps; names that are keys must be known."""
        key = kind.key
        kept = self.compare(kind.value, window)
        named = not self.is_plain(key, None)

        def same(expected: Any, value: Any, binding: Binding, held: Held | None) -> Binding | None:
            if not isinstance(value, dict) or not isinstance(expected, dict):
                return self._same_text(kind, window, expected, value, binding, held)
            if named:
                value = {
                    self._translated(key, name, binding, None): one for name, one in value.items()
                }
            if value.keys() != expected.keys():
                return None
            found = binding
            for name, item in expected.items():
                after = kept(item, value[name], found, held)
                if after is None:
                    return None
                found = after
            return found

        return same

    def _same_text(
        self,
        kind: Type,
        window: int | None,
        expected: Any,
        value: Any,
        binding: Binding,
        held: Held | None,
    ) -> Binding | None:
        """Compare what has no order: names and bases inside of it must be known."""
        del held
        inside = self._translated(kind, value, binding, window)
        if inside == expected and _told_apart(kind):
            return binding
        return binding if normal(kind, inside) == normal(kind, expected) else None

    def _translated(self, kind: Type, value: Any, binding: Binding, window: int | None) -> Any:
        """Return a value of the log with the names and numbers of the model, where known."""
        match kind:
            case Option(item) if value is not None:
                return self._translated(item, value, binding, window)
            case Id(name) if isinstance(value, str | int) and not isinstance(value, bool):
                return _translated_id(name, str(value), binding.names)
            case Range() if window is not None and isinstance(value, int) and value > 0:
                return value - (binding.bases[window] or 0)
            case Set(item) | Sequence(item, _) | Bag(item, _) if isinstance(value, list):
                return [self._translated(item, one, binding, window) for one in value]
            case Record(_, fields) if isinstance(value, dict):
                parts = dict(fields)
                return {
                    name: self._translated(parts[name], one, binding, self.window(name, window))
                    if name in parts
                    else one
                    for name, one in value.items()
                }
            case Union(_, variants) if isinstance(value, dict):
                shape = next((one for one in variants if one.name == value.get(KIND)), None)
                if shape is not None:
                    return self._translated(beside_kind(shape), value, binding, window)
            case Map(key, held, _) if isinstance(value, dict):
                return {
                    self._translated(key, name, binding, window): self._translated(
                        held, one, binding, window
                    )
                    for name, one in value.items()
                }
            case Map(key, held, _) if isinstance(value, list):  # whose keys are no texts
                parts = {"key": key, "value": held}
                return [
                    {
                        name: self._translated(parts[name], part, binding, window)
                        if name in parts
                        else part
                        for name, part in one.items()
                    }
                    if isinstance(one, dict)
                    else one
                    for one in value
                ]
        return value


def _translated_id(kind: str, outside: str, names: Names) -> str:
    found = _inside(names).get((kind, outside))
    if found is None and any((kind, outside) == (one, inside) for one, _, inside in names):
        return f"{outside} (another)"  # the model's id of this name is what the log calls otherwise
    return found or outside


@cache
def _inside(names: Names) -> dict[tuple[str, str], str]:
    return {(kind, outside): inside for kind, outside, inside in names}


def _told_apart(kind: Type) -> bool:
    """Whether Python takes values of a type for equal only if they are: a set of ids is."""
    return isinstance(kind, Set | Bag) and isinstance(kind.item, Id)


def _compare_plain(same: Equal) -> Compare:
    def compare(expected: Any, value: Any, binding: Binding, held: Held | None) -> Binding | None:
        del held
        return binding if same(expected, value) else None

    return compare


def _compare_option(item: Compare) -> Compare:
    def same(expected: Any, value: Any, binding: Binding, held: Held | None) -> Binding | None:
        if expected is None or value is None:
            return binding if expected is value else None
        return item(expected, value, binding, held)

    return same


def _compare_number(window: int) -> Compare:
    """Return what compares numbers of a window: from the first one on its base is known."""

    def same(expected: int, value: Any, binding: Binding, held: Held | None) -> Binding | None:
        del held
        if type(value) is not int:
            return None
        if value <= 0 or expected <= 0:
            return binding if value == expected else None
        base = binding.bases[window]
        if base is None:
            bases = list(binding.bases)
            bases[window] = value - expected
            return Binding(binding.names, tuple(bases))
        return binding if value == expected + base else None

    return same


def _compare_record(parts: tuple[tuple[str, Compare], ...]) -> Compare:
    def same(expected: Any, value: Any, binding: Binding, held: Held | None) -> Binding | None:
        if not isinstance(value, dict) or value.keys() != expected.keys():
            return None
        found = binding
        for name, part in parts:
            after = part(expected[name], value[name], found, held)
            if after is None:
                return None
            found = after
        return found

    return same


def _compare_union(shapes: dict[str, tuple[tuple[str, Compare], ...]]) -> Compare:
    compared = {name: _compare_record(parts) for name, parts in shapes.items()}

    def same(expected: Any, value: Any, binding: Binding, held: Held | None) -> Binding | None:
        if not isinstance(value, dict) or value.get(KIND) != expected[KIND]:
            return None
        return compared[expected[KIND]](expected, value, binding, held)

    return same


def _compare_sequence(item: Compare) -> Compare:
    def same(expected: Any, value: Any, binding: Binding, held: Held | None) -> Binding | None:
        if not isinstance(value, list) or len(value) != len(expected):
            return None
        found = binding
        for one, other in zip(expected, value, strict=True):
            after = item(one, other, found, held)
            if after is None:
                return None
            found = after
        return found

    return same
