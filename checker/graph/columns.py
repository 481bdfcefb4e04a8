"""States and steps as Arrow columns: what a value of each type of the language becomes."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from checker.kernel.kernel import Words
from checker.machine.machine import Machine
from checker.machine.relations import inside
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
from checker.semantics.values import MapValue, elements, format_value

KIND = "kind"
"""The field that tells the variants of a union apart."""


def column_names(variables: Iterable[str]) -> list[str]:
    """Return what the columns of variables are called: what they are, unless that is taken.

    To Spark, names that differ in capital letters alone are the same.
    """
    names: list[str] = []
    taken = {"depth", "state"}
    for variable in variables:
        name = variable
        while name.lower() in taken:
            name = f"variable.{name}"
        taken.add(name.lower())
        names.append(name)
    return names


def state_columns(machine: Machine) -> pa.Schema:
    """Return the columns of states: depth, the packed words, and a column for each variable."""
    names = column_names(item.name for item in machine.variables)
    kinds = [arrow_type(item.type) for item in machine.variables]
    fixed = [("depth", pa.int32()), ("state", pa.binary())]
    return pa.schema([*fixed, *zip(names, kinds, strict=True)])


def packed(states: Words) -> pa.Array:
    """Return states, one a row, as a column of packed words."""
    return pa.array([state.tobytes() for state in states.astype("<i8", copy=False)], pa.binary())


def machines_of(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield a machine, or each one of a map, with the state it is in."""
    if not isinstance(value, MapValue):
        yield name, str(value)
        return
    for key, held in value.items():
        yield from machines_of(f"{name}[{format_value(key)}]", held)


def arrow_type(kind: Type) -> pa.DataType:
    """Return the type of the column for values of a type."""
    match kind:
        case Bool():
            return pa.bool_()
        case Range():
            return pa.int64()
        case Enum() | Id():
            return pa.string()
        case Option(item):
            return arrow_type(item)
        case Record() | Union():
            parts = dict(_fields(kind).values())
            inner = [(name, arrow_type(part)) for name, part in parts.items()]
            return pa.struct([(KIND, pa.string()), *inner])
        case Map(key, held, _) if _is_key(key):
            return pa.map_(arrow_type(key), arrow_type(held))
        case Map(key, held, _):
            return pa.list_(pa.struct([("key", arrow_type(key)), ("value", arrow_type(held))]))
        case Set(item) | Sequence(item, _) | Bag(item, _):
            return pa.list_(arrow_type(item))
    raise TypeError(f"{kind} is no type")


def column(kind: Type, values: Iterable[object]) -> pa.Array:
    """Return values of a type as a column."""
    return pa.array([_plain(kind, value) for value in values], arrow_type(kind))


def _is_key(kind: Type) -> bool:
    """Whether Arrow and Spark take such values as keys of maps: not nothing, and no maps."""
    return not isinstance(kind, Option) and not any(isinstance(part, Map) for part in inside(kind))


@functools.cache
def _fields(kind: Record | Union) -> dict[tuple[str, str], tuple[str, Type]]:
    """Return of the fields of each variant what they are called in the struct, and their types.

    One that variants have with different columns is called after its variant, too, and so is one
    whose name is taken; to Spark, names that differ in capital letters alone are the same.
    """
    variants = (kind,) if isinstance(kind, Record) else kind.variants
    types: dict[str, set[pa.DataType]] = {}
    for variant in variants:
        for name, part in variant.fields:
            types.setdefault(name, set()).add(arrow_type(part))
    every = [(variant.name, name, part) for variant in variants for name, part in variant.fields]
    plain: dict[str, str] = {}
    taken = {KIND}
    for _, name, _ in every:
        if len(types[name]) == 1 and name not in plain and name.lower() not in taken:
            plain[name] = name
            taken.add(name.lower())
    found = {}
    for variant_name, name, part in every:
        called = plain.get(name, "")
        if not called:
            called = f"{variant_name}_{name}"
            while called.lower() in taken:
                called = f"{variant_name}_{called}"
            taken.add(called.lower())
        found[variant_name, name] = called, part
    return found


def _plain(kind: Type, value: Any) -> object:
    match kind:
        case Option(item):
            return None if value is None else _plain(item, value)
        case Record() | Union():
            parts = _fields(kind)
            plain = {}
            for name, item in value.fields:
                called, part = parts[value.name, name]
                plain[called] = _plain(part, item)
            return {KIND: value.name, **plain}
        case Map(key, held, _):
            pairs = [
                (_plain(key, name), _plain(held, value[name])) for name in elements(kind, value)
            ]
            return pairs if _is_key(key) else [{"key": key, "value": held} for key, held in pairs]
        case Set(item):
            return [_plain(item, member) for member in elements(kind, value)]
        case Sequence(item, _) | Bag(item, _):
            return [_plain(item, member) for member in value]
    return value
