"""Values of the model as plain Python data and as JSON, for what is compared with them.

| type                   | plain Python data            | JSON                                   |
| ---------------------- | ---------------------------- | -------------------------------------- |
| bool, range            | `bool`, `int`                | the same                               |
| enum, id               | `str`                        | a string                               |
| option                 | `None` or the item           | null or the item                       |
| record; message        | `dict` of its fields; `kind` | an object; with its name as `kind`     |
| set of texts, numbers  | `frozenset`                  | an array, in any order                 |
| set of others          | `list`, in any order         | an array, in any order                 |
| map                    | `dict`; keys see `_as_key`   | an object, or an array of key and value |
| sequence; bag          | `list`; in any order         | an array; in any order                 |
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

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
from checker.semantics.values import MapValue, RecordValue, ordered

Names = Mapping[tuple[str, str], str]
"""What the outside calls an id, by its type and its name in the model; others keep their name."""


KIND = "kind"
"""Where the name of a message stands beside its fields."""


def _called(variant: str, names: Iterable[str]) -> dict[str, str]:
    """Return what the fields of a message are called: one called `kind` after the message, too."""
    found = {name: name for name in names}
    if KIND in found:
        called = f"{variant}_{KIND}"
        while called in found:
            called = f"{variant}_{called}"
        found[KIND] = called
    return found


def _with_kind(variant: str, parts: Mapping[str, object]) -> dict[str, object]:
    """Return a message of whose fields these are the values."""
    called = _called(variant, parts)
    return {KIND: variant, **{called[name]: part for name, part in parts.items()}}


def beside_kind(variant: Record) -> Record:
    """Return a message with its fields as they are called beside its `kind`."""
    called = _called(variant.name, (name for name, _ in variant.fields))
    return Record(variant.name, tuple((called[name], part) for name, part in variant.fields))


def plain(kind: Type, value: Any) -> object:
    """Return a value of the model as plain Python data, as `Adapter.observe` describes it."""
    match kind:
        case Option(item):
            return None if value is None else plain(item, value)
        case Record(_, fields):
            return {name: plain(part, value[name]) for name, part in fields}
        case Union(_, variants):
            shape = next(variant for variant in variants if variant.name == value.name)
            contents = plain(shape, value)
            assert isinstance(contents, dict)
            return _with_kind(shape.name, contents)
        case Set(item) if _is_hashable(item):
            return frozenset(plain(item, member) for member in value)
        case Set(item):
            return [plain(item, member) for member in ordered(item, value)]
        case Sequence(item, _) | Bag(item, _):
            return [plain(item, member) for member in value]
        case Map(key, held, _):
            return {_as_key(plain(key, name)): plain(held, value[name]) for name in value}
    return value


def _is_hashable(kind: Type) -> bool:
    """Whether a plain value of a type may stand in a set."""
    match kind:
        case Option(item) | Set(item):
            return _is_hashable(item)
        case Record() | Union() | Map() | Sequence() | Bag():
            return False
    return True


def _as_key(data: Any) -> Any:
    """Return plain data as the key of a dictionary: records and lists are tuples of their parts."""
    match data:
        case dict():
            return tuple(_as_key(part) for part in data.values())
        case list():
            return tuple(_as_key(part) for part in data)
    return data


def plain_value(value: Any) -> object:
    """Return a binding's value as plain Python data; any record has its name as `kind`."""
    match value:
        case RecordValue(name, fields):
            return _with_kind(name, {field: plain_value(part) for field, part in fields})
        case MapValue():
            return {_as_key(plain_value(key)): plain_value(value[key]) for key in value}
        case tuple():
            return [plain_value(item) for item in value]
        case frozenset():
            items = [plain_value(item) for item in value]
            lists = any(isinstance(item, dict | list) for item in items)
            return items if lists else frozenset(items)
    return value


def same(kind: Type, expected: Any, observed: Any) -> bool:
    """Return whether an observed value is the expected plain one; bags in any order."""
    match kind:
        case Option(item) if expected is not None and observed is not None:
            return same(item, expected, observed)
        case Bag(item, _):
            return _same_items(item, expected, observed)
        case Set(item) if isinstance(expected, list):
            return _same_items(item, expected, observed)
        case Set():
            return isinstance(observed, set | frozenset) and expected == frozenset(observed)
        case Sequence(item, _):
            return (
                isinstance(observed, list | tuple)
                and len(observed) == len(expected)
                and all(same(item, a, b) for a, b in zip(expected, observed, strict=True))
            )
        case Record(_, fields):
            return _same_fields(fields, expected, observed)
        case Union(_, variants):
            shape = next(one for one in variants if one.name == expected[KIND])
            kind_field = (KIND, Enum(shape.name, (shape.name,)))
            return _same_fields((kind_field, *beside_kind(shape).fields), expected, observed)
        case Map(_, held, _):
            return (
                isinstance(observed, Mapping)
                and expected.keys() == observed.keys()
                and all(same(held, expected[key], observed[key]) for key in expected)
            )
    return bool(expected == observed)


def _same_fields(fields: tuple[tuple[str, Type], ...], expected: Any, observed: Any) -> bool:
    return (
        isinstance(observed, Mapping)
        and expected.keys() == observed.keys()
        and all(same(part, expected[name], observed[name]) for name, part in fields)
    )


def _same_items(item: Type, expected: Any, observed: Any) -> bool:
    """Whether two collections hold the same items, however often and in whatever order."""
    if not isinstance(observed, list | tuple | set | frozenset):
        return False
    left = list(observed)
    for member in expected:
        place = next((n for n, other in enumerate(left) if same(item, member, other)), None)
        if place is None:
            return False
        del left[place]
    return not left


# ------------------------------------------------------------------------------------- JSON


def as_json(kind: Type, value: Any, names: Names) -> Any:
    """Return a value of the model as data that `json` writes."""
    match kind:
        case Option(item):
            return None if value is None else as_json(item, value, names)
        case Id(name, _, _):
            return names.get((name, value), value)
        case Record(_, fields):
            return {name: as_json(part, value[name], names) for name, part in fields}
        case Union(_, variants):
            shape = next(variant for variant in variants if variant.name == value.name)
            return _with_kind(shape.name, as_json(shape, value, names))
        case Set(item):
            return [as_json(item, member, names) for member in ordered(item, value)]
        case Sequence(item, _) | Bag(item, _):
            return [as_json(item, member, names) for member in value]
        case Map(key, held, _):
            pairs = [(as_json(key, k, names), as_json(held, value[k], names)) for k in value]
            if isinstance(key, Bool | Range | Enum | Id):
                return {_key(name): item for name, item in pairs}
            return [{"key": name, "value": item} for name, item in pairs]
    return value


def _key(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def normal(kind: Type, data: Any) -> str:
    """Return JSON data as a text that is the same for the same value of `kind`.

    What is no value of `kind` has a text of its own, so that it is unlike every value.
    """
    return json.dumps(_sorted(kind, data), sort_keys=True)


def _sorted(kind: Type, data: Any) -> Any:
    match kind:
        case Option(item) if data is not None:
            return _sorted(item, data)
        case Record(_, fields) if isinstance(data, dict):
            parts = dict(fields)
            return {k: _sorted(parts[k], v) if k in parts else v for k, v in data.items()}
        case Union(_, variants) if isinstance(data, dict):
            shape = next((one for one in variants if one.name == data.get(KIND)), None)
            return data if shape is None else _sorted(beside_kind(shape), data)
        case Sequence(item, _) if isinstance(data, list):
            return [_sorted(item, member) for member in data]
        case Set(item) | Bag(item, _) if isinstance(data, list):
            members = (_sorted(item, member) for member in data)
            return sorted(members, key=lambda member: json.dumps(member, sort_keys=True))
        case Map(_, held, _) if isinstance(data, dict):
            return {key: _sorted(held, item) for key, item in data.items()}
        case Map(key, held, _) if isinstance(data, list):
            pair = Record("pair", (("key", key), ("value", held)))
            return _sorted(Set(pair), data)
    return data
