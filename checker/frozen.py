"""Frozen dataclasses that are there sooner: the decorator `frozen`, for data that never changes.

`dataclass(frozen=True)` compiles the text of six methods for each class, and that was more than a
third of starting. Here only `__init__` is; the others compare, hash and show what one getter in
machine code reads. That nobody assigns to a field is held by mypy, which knows this decorator; at
run time nothing asks, so values are made faster, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(*, eq: bool = True, slots: bool = True) -> Callable[[type[T]], type[T]]:
    """Make a class a dataclass whose values do not change and can be hashed.

    Without `eq` each value is equal to itself only; without `slots` values can keep what was worked
    out of them. Methods that a class has itself stay.
    """

    def made(cls: type[T]) -> type[T]:
        own = set(vars(cls))
        if "__eq__" in own and vars(cls)["__hash__"] is None:
            own.remove("__hash__")  # Python wrote that None
        result = dataclass(repr=False, eq=False, slots=slots)(cls)
        methods: dict[str, Callable[..., Any]] = {"__repr__": _shown}
        if eq:
            compared = tuple(it.name for it in fields(result) if it.compare)  # type: ignore[arg-type]
            methods |= _comparing(compared)
        for name, method in methods.items():
            if name not in own:
                setattr(result, name, method)
        return result

    return made


def _shown(value: Any) -> str:
    """Return a value as the call that makes it."""
    shown = (f"{it.name}={getattr(value, it.name)!r}" for it in fields(value) if it.repr)
    return f"{type(value).__qualname__}({', '.join(shown)})"


def _comparing(names: tuple[str, ...]) -> dict[str, Callable[..., Any]]:
    """Return `__eq__` and `__hash__` by the fields `names`."""
    key: Callable[[Any], object] = attrgetter(*names) if names else lambda _: ()

    def equal(one: object, other: object) -> bool:
        return key(one) == key(other) if other.__class__ is one.__class__ else NotImplemented

    def hashed(value: object) -> int:
        return hash(key(value))

    return {"__eq__": equal, "__hash__": hashed}
