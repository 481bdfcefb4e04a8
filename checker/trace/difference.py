"""What differs between two states, as deep as it goes: `client[c1].generation: 0 -> 1`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator

from checker.machine.machine import Machine, Variable
from checker.machine.types import Bag, Map, Option, Record, Sequence, Set, Type, Union
from checker.semantics.successor import State
from checker.semantics.values import MapValue, RecordValue, elements, format_value, ordered
from checker.trace.trace import Change, Move


def changes(machine: Machine, before: State, after: State) -> tuple[Change, ...]:
    """Return every place that differs, in the order of the machine's variables."""
    return tuple(
        change
        for variable, old, new in zip(machine.variables, before, after, strict=True)
        if old != new
        for change in _of_variable(machine, variable, old, new)
    )


def moves(machine: Machine, before: State, after: State) -> tuple[Move, ...]:
    """Return the machines whose state differs, with their tables."""
    return tuple(
        Move(place, variable.table, was, now)
        for variable, old, new in zip(machine.variables, before, after, strict=True)
        if variable.table is not None and old != new
        for place, was, now in _moved(machine, variable, old, new)
    )


def _moved(
    machine: Machine, variable: Variable, old: object, new: object
) -> Iterator[tuple[str, str, str]]:
    """Yield the machines of a variable that moved, with their states before and after."""

    def inside(place: str, was: object, now: object) -> Iterator[tuple[str, str, str]]:
        if isinstance(was, MapValue) and isinstance(now, MapValue):
            for key, value in was.items():
                yield from inside(f"{place}[{format_value(key)}]", value, now[key])
        elif was != now:
            yield place, str(was), str(now)

    if isinstance(old, MapValue) and isinstance(new, MapValue):
        for key in elements(variable.type, old):
            yield from inside(_place_of(machine, variable, key), old[key], new[key])
    else:
        yield from inside(variable.name, old, new)


def _of_variable(
    machine: Machine, variable: Variable, old: object, new: object
) -> Iterator[Change]:
    kind = variable.type
    if is_of_each(machine, variable) and isinstance(old, MapValue) and isinstance(new, MapValue):
        assert isinstance(kind, Map)
        for key in elements(kind, new):
            place = _place_of(machine, variable, key)
            yield from difference(kind.value, old[key], new[key], place)
    else:
        yield from difference(kind, old, new, variable.name)


def _place_of(machine: Machine, variable: Variable, key: object) -> str:
    """Return the place of one id's share of a variable: `client[c1].generation`, `owner[p1]`."""
    component, dot, name = variable.name.partition(".")
    if dot and is_of_each(machine, variable):
        return f"{component}[{format_value(key)}].{name}"
    return f"{variable.name}[{format_value(key)}]"


def channels_in(place: str, value: object) -> Iterator[tuple[str, Collection[object]]]:
    """Yield the channels of a variable, one for each of its keys, with what is in them."""
    if isinstance(value, MapValue):
        for key, held in value.items():
            yield from channels_in(f"{place}[{format_value(key)}]", held)
    elif isinstance(value, tuple | frozenset):
        yield place, value


def is_of_each(machine: Machine, variable: Variable) -> bool:
    """Whether a variable belongs to a component `per` something.

    Where nobody said so, a component is `per` a type where all its variables are total maps from
    that type.
    """
    component, dot, _ = variable.name.partition(".")
    if not dot or variable.origin not in {"variable", "machine"}:
        return False
    if variable.of_each is not None:
        return variable.of_each
    kinds = {
        other.type.key if isinstance(other.type, Map) and other.type.total else None
        for other in machine.variables
        if other.name.startswith(f"{component}.") and other.origin in {"variable", "machine"}
    }
    return len(kinds) == 1 and None not in kinds


def difference(kind: Type, old: object, new: object, place: str) -> Iterator[Change]:
    """Yield what differs between two values of `kind` that stand at `place`."""
    if old == new:
        return
    match kind, old, new:
        case Option(item), _, _ if old is not None and new is not None:
            yield from difference(item, old, new, place)
        case Record(_, fields), RecordValue(), RecordValue():
            for name, part in fields:
                yield from difference(part, old[name], new[name], f"{place}.{name}")
        case Union(_, variants), RecordValue(), RecordValue() if old.name == new.name:
            shape = next(variant for variant in variants if variant.name == old.name)
            yield from difference(shape, old, new, place)
        case Map(), MapValue(), MapValue():
            yield from _of_maps(kind, old, new, place)
        case Set(item), frozenset(), frozenset():
            yield from _gone_and_come(ordered(item, old - new), ordered(item, new - old), place)
        case Bag(), tuple(), tuple():
            less, more = Counter(old) - Counter(new), Counter(new) - Counter(old)
            yield from _gone_and_come(list(less.elements()), list(more.elements()), place)
        case Sequence(), tuple(), tuple():
            yield from _of_sequences(old, new, place)
        case _:
            yield Change(place, format_value(old), format_value(new))


def _of_maps(kind: Map, old: MapValue, new: MapValue, place: str) -> Iterator[Change]:
    for key in ordered(kind.key, {*old, *new}):
        at = f"{place}[{format_value(key)}]"
        if key not in new:
            yield Change(at, format_value(old[key]), None)
        elif key not in old:
            yield Change(at, None, format_value(new[key]))
        else:
            yield from difference(kind.value, old[key], new[key], at)


def _of_sequences(old: tuple[object, ...], new: tuple[object, ...], place: str) -> Iterator[Change]:
    """Show what was taken from the front and put at the end; anything else as a whole."""
    for taken in range(len(old) + 1):
        rest = old[taken:]
        if (rest or not new) and new[: len(rest)] == rest:
            yield from _gone_and_come(list(old[:taken]), list(new[len(rest) :]), place)
            return
    yield Change(place, format_value(old), format_value(new))


def _gone_and_come(gone: list[object], come: list[object], place: str) -> Iterator[Change]:
    yield from (Change(place, format_value(item), None) for item in gone)
    yield from (Change(place, None, format_value(item)) for item in come)
