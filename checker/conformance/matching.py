"""When a value of a log is one of the model: names are bound, numbers count from a window's base.

A Binding is what is known of both at some place of a run: pairs of a name in the log and an id of
the model, and of each window what is to be added to the model's numbers, None until one was seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from checker.conformance.bind import Bound
from checker.machine.types import Bag, Id, Map, Option, Range, Record, Sequence, Set, Type, Union
from checker.semantics.plain import normal

Names = tuple[tuple[str, str, str], ...]
"""What names of the log are: type, name in the log, id of the model (as the mapping calls it)."""

Bases = tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Binding:
    """What names and numbers of the log are in the model."""

    names: Names
    bases: Bases


class Matcher:
    """Compares values; `free` says which ids a new name may be bound to."""

    def __init__(self, bound: Bound) -> None:
        self.windows = {
            key: number for number, window in enumerate(bound.windows) for key in window.values
        }
        self.declared = {
            (kind.name, bound.names.get((kind.name, member), member)): member
            for kind in bound.machine.ids
            for member in kind.members
        }
        self._plain: dict[tuple[Type, int | None], bool] = {}

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
                return all(self.is_plain(variant, window) for variant in variants)
        return True

    def same(
        self,
        kind: Type,
        expected: Any,
        value: Any,
        binding: Binding,
        free: frozenset[tuple[str, str]] | None = None,
        window: int | None = None,
    ) -> Binding | None:
        """Return the binding with which `value` of the log is the model's; None if with none.

        `free`: new names are bound to these ids only; None: to any.
        """
        if self.is_plain(kind, window):
            return binding if normal(kind, value) == normal(kind, expected) else None
        match kind:
            case Option(item):
                if expected is None or value is None:
                    return binding if expected is value else None
                return self.same(item, expected, value, binding, free, window)
            case Id():
                return self._same_id(kind, expected, value, binding, free)
            case Range():
                return self._same_number(expected, value, binding, window)
            case Record() | Union():
                return self._same_record(kind, expected, value, binding, free, window)
            case Sequence(item, _):
                if not isinstance(value, list) or len(value) != len(expected):
                    return None
                found: Binding | None = binding
                for one, other in zip(expected, value, strict=True):
                    if found is not None:
                        found = self.same(item, one, other, found, free, window)
                return found
            case Map() if isinstance(value, dict) and isinstance(expected, dict):
                return self._same_map(kind, expected, value, binding, free, window)
        return self._same_text(kind, expected, value, binding, window)

    def _same_id(
        self,
        kind: Id,
        expected: str,
        value: Any,
        binding: Binding,
        free: frozenset[tuple[str, str]] | None,
    ) -> Binding | None:
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str):
            return None
        if (kind.name, value) in self.declared:
            return binding if value == expected else None
        for name, outside, inside in binding.names:
            if name == kind.name and (outside == value or inside == expected):
                return binding if (outside, inside) == (value, expected) else None
        if free is not None and (kind.name, self.declared[kind.name, expected]) not in free:
            return None
        names = tuple(sorted((*binding.names, (kind.name, value, expected))))
        return Binding(names, binding.bases)

    def _same_number(
        self, expected: int, value: Any, binding: Binding, window: int | None
    ) -> Binding | None:
        if isinstance(value, bool) or not isinstance(value, int):
            return None
        if window is None or value <= 0 or expected <= 0:
            return binding if value == expected else None
        base = binding.bases[window]
        if base is None:
            bases = list(binding.bases)
            bases[window] = value - expected
            return Binding(binding.names, tuple(bases))
        return binding if value == expected + base else None

    def _same_record(
        self,
        kind: Record | Union,
        expected: Mapping[str, Any],
        value: Any,
        binding: Binding,
        free: frozenset[tuple[str, str]] | None,
        window: int | None,
    ) -> Binding | None:
        if not isinstance(value, dict) or value.keys() != expected.keys():
            return None
        shape = kind
        if isinstance(kind, Union):
            if value.get("kind") != expected["kind"]:
                return None
            shape = next(one for one in kind.variants if one.name == expected["kind"])
        assert isinstance(shape, Record)
        found: Binding | None = binding
        for name, part in shape.fields:
            if found is None:
                return None
            inner = self.window(name, window)
            found = self.same(part, expected[name], value[name], found, free, inner)
        return found

    def _same_map(
        self,
        kind: Map,
        expected: dict[str, Any],
        value: dict[str, Any],
        binding: Binding,
        free: frozenset[tuple[str, str]] | None,
        window: int | None,
    ) -> Binding | None:
        """Compare maps; names that are keys must be known."""
        key, held = kind.key, kind.value
        renamed = {self._translated(key, name, binding, None): one for name, one in value.items()}
        if renamed.keys() != expected.keys():
            return None
        found: Binding | None = binding
        for name, item in expected.items():
            if found is not None:
                found = self.same(held, item, renamed[name], found, free, window)
        return found

    def _same_text(
        self, kind: Type, expected: Any, value: Any, binding: Binding, window: int | None
    ) -> Binding | None:
        """Compare what has no order: names and bases inside of it must be known."""
        inside = self._translated(kind, value, binding, window)
        return binding if normal(kind, inside) == normal(kind, expected) else None

    def _translated(self, kind: Type, value: Any, binding: Binding, window: int | None) -> Any:
        """Return a value of the log with the names and numbers of the model, where known."""
        match kind:
            case Option(item) if value is not None:
                return self._translated(item, value, binding, window)
            case Id(name) if isinstance(value, str | int) and not isinstance(value, bool):
                return _inside(binding.names).get((name, str(value)), str(value))
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
            case Map(key, held, _) if isinstance(value, dict):
                return {
                    self._translated(key, name, binding, window): self._translated(
                        held, one, binding, window
                    )
                    for name, one in value.items()
                }
        return value


@cache
def _inside(names: Names) -> dict[tuple[str, str], str]:
    return {(kind, outside): inside for kind, outside, inside in names}
