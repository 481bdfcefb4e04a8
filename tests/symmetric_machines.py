"""Random machines in which the ids of two types are interchangeable, and used so.

The author is that of `random_machines` with other types and without what would tell ids apart: no
id is named, compared by order or numbered, and nothing depends on the order that a loop meets ids
in. Ids come from bindings, picks, quantifiers and the state instead.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from unittest import mock

import random_machines
from random_machines import ANSWER, BOOL, LEVEL, PHASE, _Author, _item

from checker.machine import terms as t
from checker.machine.machine import Action, Binding, Machine, Property
from checker.machine.types import (
    Bag,
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
from checker.machine.walk import rebuild
from checker.semantics.values import MapValue, RecordValue, values
from checker.source import NOWHERE

MEMBER = Id("Member", ("m1", "m2", "m3"), symmetric=True)
OTHER = Id("Other", ("o1", "o2"), symmetric=True)
POINT = Record("Point", (("x", Range(0, 1)), ("owner", Option(MEMBER))))
ASK = Record("Ask", (("member", MEMBER), ("other", Option(OTHER))))
VOCABULARY: dict[str, object] = {
    "MEMBER": MEMBER,
    "POINT": POINT,
    "ASK": ASK,
    "MESSAGE": Union("Message", (ASK, ANSWER, Record("Stop", ()))),
    "SIMPLE": (BOOL, LEVEL, MEMBER, OTHER, MEMBER, Range(0, 1)),
    "KEYS": (MEMBER, OTHER, MEMBER, BOOL, Option(MEMBER)),
    "RANGES": (Range(0, 1), Range(0, 2)),
}
"""What `random_machines` calls its types, and what they are here."""


def symmetric_machine(seed: int, *, states: int = 3000) -> Machine:
    """The random machine of a seed, of at most `states` states; it is to be reduced."""
    with mock.patch.multiple(random_machines, **VOCABULARY):
        made = _SymmetricAuthor(random.Random(seed).randrange, states, errors=False).machine()  # noqa: S311
    return replace(made, ids=(MEMBER, OTHER), symmetry=True)


def symmetric_runs(seed: int, *, states: int = 300) -> Machine:
    """The same with fair rows, some of them fair together, and properties of infinite runs.

    Some of these are claimed of each id by itself. It is to be reduced where they are judged, too.
    """
    with mock.patch.multiple(random_machines, **VOCABULARY):
        author = _SymmetricAuthor(random.Random(seed).randrange, states, errors=False)  # noqa: S311
        machine = author.livened(author.machine())
        if author.chance(3):
            machine = author.grouped(machine)
        each = author.claimed_of_each("each")
    made = replace(machine, properties=(*machine.properties, *each))
    return replace(made, ids=(MEMBER, OTHER), symmetry=True, endless_symmetry=True)


def _holds_ids(kind: Type) -> bool:
    match kind:
        case Id():
            return True
        case Option(item) | Set(item) | Sequence(item, _) | Bag(item, _):
            return _holds_ids(item)
        case Map(key, held, _):
            return _holds_ids(key) or _holds_ids(held)
        case Record(_, fields):
            return any(_holds_ids(held) for _, held in fields)
        case Union(_, variants):
            return any(_holds_ids(variant) for variant in variants)
    return False


def _with(term: t.Term, given: Mapping[str, t.Term]) -> t.Term:
    """A term with some of its locals replaced."""
    if isinstance(term, t.Local):
        return given.get(term.name, term)
    return rebuild(term, lambda part: _with(part, given))


class _SymmetricAuthor(_Author):
    """Writes machines that treat ids alike."""

    names_somebody = False
    """Whether conditions are of the ids that have names, not of any or all."""

    # ------------------------------------------------------------------- constants without ids

    def kind(self, most: int) -> Type:
        for _ in range(8):
            kind = super().kind(most)
            if _holds_ids(kind) and self.has_plain_value(kind):
                return kind
        return Set(MEMBER)

    def has_plain_value(self, kind: Type) -> bool:
        """Whether a value of `kind` exists in which all ids are alike."""
        match kind:
            case Id():
                return False
            case Record(_, fields):
                return all(self.has_plain_value(held) for _, held in fields)
            case Map(_, held, total):
                return not total or self.has_plain_value(held)
            case Union(_, variants):
                return any(self.has_plain_value(variant) for variant in variants)
        return True

    def value(self, kind: Type) -> object:
        """A value in which all ids are alike."""
        if not _holds_ids(kind):
            return super().value(kind)
        match kind:
            case Option():
                return None
            case Record(name, fields):
                return RecordValue(name, tuple((part, self.value(held)) for part, held in fields))
            case Union(_, variants):
                return self.value(self.one([v for v in variants if self.has_plain_value(v)]))
            case Set(Id() as item):
                return frozenset(values(item)) if self.chance(2) else frozenset()
            case Set():
                return frozenset()
            case Map(key, held, total):
                if not total or not self.has_plain_value(held):
                    return MapValue(())
                common = self.value(held)
                return MapValue((name, common) for name in values(key))
        return ()

    def literal(self, kind: Type) -> t.Term:  # type: ignore[override]
        """A term without parts; where it must name an id, one that is bound."""
        if not _holds_ids(kind):
            return t.Literal(super().value(kind), kind, NOWHERE)
        bound = any(isinstance(held, Id) for held in self.names.values())
        if self.has_plain_value(kind) and not (bound and self.chance(2)):
            return t.Literal(self.value(kind), kind, NOWHERE)
        return self.with_ids(kind)

    def with_ids(self, kind: Type) -> t.Term:
        match kind:
            case Id():
                names = [name for name, held in self.names.items() if held == kind]
                return t.Local(self.one(names), kind, NOWHERE)
            case Option(item):
                return t.Cast(self.literal(item), kind, NOWHERE)
            case Set(item):
                return t.SetOf((self.literal(item),), kind, NOWHERE)
            case Sequence(item, _) | Bag(item, _):
                return t.SequenceOf((self.literal(item),), kind, NOWHERE)
            case Record(name, fields):
                parts = tuple((part, self.literal(held)) for part, held in fields)
                return t.RecordOf(name, parts, kind, NOWHERE)
            case Union(_, variants):
                variant = self.one(variants)
                parts = tuple((part, self.literal(held)) for part, held in variant.fields)
                return t.RecordOf(variant.name, parts, kind, NOWHERE)
            case Map(key, held, total):
                if not total:
                    return t.MapOf(((self.literal(key), self.literal(held)),), kind, NOWHERE)
                generator = t.Generator(self.new_name("k"), t.Everything(Set(key), NOWHERE), None)
                name = t.Local(generator.name, key, NOWHERE)
                return t.Fold("map", (generator,), self.literal(held), name, kind, NOWHERE)
        raise AssertionError(kind)

    # --------------------------------------------------------------------- names for some ids

    def somebody(self) -> dict[str, Type]:
        return {self.new_name("who"): MEMBER, self.new_name("which"): OTHER}

    def quantified_over(self, operator: str, somebody: dict[str, Type], body: t.Term) -> t.Term:
        generators = tuple(
            t.Generator(name, t.Everything(Set(kind), NOWHERE), None)
            for name, kind in somebody.items()
        )
        return t.Fold(operator, generators, body, None, BOOL, NOWHERE)  # type: ignore[arg-type]

    def bindings(self) -> tuple[Binding, ...]:
        some = self.somebody()
        self.names.update(some)
        made = tuple(
            Binding(name, t.Everything(Set(kind), NOWHERE), None, shown=True)
            for name, kind in some.items()
        )
        return made + super().bindings()

    def initial(self) -> Action:
        """Mostly nothing: the fewer states are initial, the longer are the runs to the others."""
        with self.scope(**self.somebody()):
            made = super().initial()
        if self.chance(3):
            return replace(made, body=made.body[: len(made.bindings)])
        return replace(made, bindings=(), body=())

    def action(self, name: str) -> Action:
        """Any row; every other one changes one small part of the state, so that runs are long."""
        made = super().action(name)
        if self.chance(2):
            return made
        who, which = self.new_name("who"), self.new_name("which")
        with self.scope(**{who: MEMBER, which: OTHER}):
            body = self.small_change()
        bindings = (
            Binding(who, t.Everything(Set(MEMBER), NOWHERE), None, shown=True),
            Binding(which, t.Everything(Set(OTHER), NOWHERE), None, shown=True),
        )
        return replace(
            made, bindings=bindings, lets=(), shown_lets=(), guard=self.true(), body=tuple(body)
        )

    def small_change(self) -> list[t.Statement]:
        """Put an id into a set or bag or take it out, or change what is said of one."""
        name, kind = self.one(list(self.variables.items()))
        place = t.Place(name, (), kind, NOWHERE)
        if isinstance(kind, Map) and kind.total:
            key = t.Step(key=self.with_ids(kind.key) if _holds_ids(kind.key) else self.leaf(BOOL))
            place = t.Place(name, (key,), kind.value, NOWHERE)
        if isinstance(place.type, Set | Bag):
            item = self.literal(place.type.item)
            gone = t.Receive(place, item, "silent", NOWHERE)
            come = t.Send(place, item, "drop", "silent", NOWHERE)
            return [t.If(t.Contains(item, self.read(place), NOWHERE), (gone,), (come,), NOWHERE)]
        if place.type == PHASE:
            return [t.Transition(place, self.literal(PHASE), "phase", "transition", NOWHERE)]
        return [t.Assign(place, self.literal(place.type), NOWHERE)]

    def properties(self) -> tuple[Property, ...]:
        some = self.somebody()
        with self.scope(**some):
            made = super().properties()
        return tuple(
            replace(
                item,
                condition=self.quantified_over(self.one(("any", "all")), some, item.condition),
            )
            for item in made
        )

    def liveness(self, name: str) -> Property:
        some = self.somebody()
        with self.scope(**some):
            made = super().liveness(name) if self.chance(2) else super().temporal(name)
        return self.of(
            made, lambda term: self.quantified_over(self.one(("any", "all")), some, term)
        )

    def claimed_of_each(self, name: str) -> tuple[Property, ...]:
        """What is claimed of each id of a type, and perhaps of each pair, by itself."""
        some = self.somebody()
        with self.scope(**some):
            self.names_somebody = True
            made = super().liveness(name) if self.chance(2) else super().temporal(name)
            self.names_somebody = False
        claimed = list(some) if self.chance(3) else [self.one(list(some))]
        others = {who: kind for who, kind in some.items() if who not in claimed}
        if others:
            made = self.of(made, lambda term: self.quantified_over("any", others, term))
        found = []
        for chosen in product(*(values(some[who]) for who in claimed)):
            given = {
                who: t.Literal(value, some[who], NOWHERE)
                for who, value in zip(claimed, chosen, strict=True)
            }
            shown = ", ".join(map(str, chosen))
            item = self.of(made, lambda term, given=given: _with(term, given))
            found.append(replace(item, name=f"{name}({shown})", declared=name))
        return tuple(found)

    def of(self, item: Property, change: Callable[[t.Term], t.Term]) -> Property:
        """A property with each of its terms changed."""
        return replace(
            item,
            condition=change(item.condition),
            premise=None if item.premise is None else change(item.premise),
            atoms=tuple(map(change, item.atoms)),
            initially=None if item.initially is None else change(item.initially),
        )

    def asking(self, machine: Machine, item: Property) -> Property:
        """A `step` property, sometimes one that asks which row made the step, for whatever ids."""
        some = self.somebody()
        with self.scope(**some):
            made = super().asking(machine, item)
        return replace(made, condition=self.quantified_over("all", some, made.condition))

    def step_bound(self) -> t.Term:
        some = self.somebody()
        with self.scope(**some):
            return self.quantified_over("all", some, super().step_bound())

    def plain_condition(self) -> t.Term:
        if self.names_somebody:
            return super().plain_condition()
        some = self.somebody()
        with self.scope(**some):
            return self.quantified_over("all", some, super().plain_condition())

    # -------------------------------------------------------------- what would tell ids apart

    def ordered(self, depth: int) -> t.Term:
        kind = self.one((LEVEL, Range(0, 2)))
        operator = self.one(("<", "<=", ">", ">="))
        return t.Compare(operator, self.term(kind, depth), self.term(kind, depth), NOWHERE)

    def best(self, kind: Type, depth: int) -> t.Term | None:
        return None if isinstance(kind, Id) else super().best(kind, depth)

    def sequence(self, kind: Sequence, depth: int) -> t.Term:
        """A sequence; never from a comprehension, whose order could be that of ids."""
        if self.chance(2):
            return self.cut(
                t.Concatenate(
                    self.term(kind, depth),
                    self.term(Sequence(kind.item, 1), depth),
                    Sequence(kind.item, kind.capacity + 1),
                    NOWHERE,
                ),
                kind,
            )
        if self.chance(3):
            start, stop = self.bound(depth), self.bound(depth)
            return t.Slice(self.term(kind, depth), start, stop, kind, NOWHERE)
        items = [self.term(kind.item, depth) for _ in range(self.choose(kind.capacity + 1))]
        return t.SequenceOf(tuple(items), kind, NOWHERE)

    def map(self, kind: Map, depth: int) -> t.Term:
        """A map; of several values for one key none wins by the order of ids."""
        if not kind.total and self.chance(2):
            if self.chance(2):
                return t.Cast(
                    self.term(Map(kind.key, kind.value, total=True), depth), kind, NOWHERE
                )
            pair = self.term(kind.key, depth), self.term(kind.value, depth)
            return t.MapOf((pair,), kind, NOWHERE)
        name = self.new_name("k")
        domain: t.Term = t.Everything(Set(kind.key), NOWHERE)
        if not kind.total:
            domain = self.term(Set(kind.key), depth)
        with self.scope(**{name: kind.key}):
            body = self.term(kind.value, depth)
        generator = t.Generator(name, domain, None)
        key = t.Local(name, kind.key, NOWHERE)
        return t.Fold("map", (generator,), body, key, kind, NOWHERE)

    def loop(self, depth: int, *, label: str | None) -> t.Statement:
        """A `for` over what has no ids, or one over ids that gives each something of its own."""
        with self.only_plain_loops():
            made = super().loop(depth, label=label)
        assert isinstance(made, t.For)
        maps = [
            (name, kind)
            for name, kind in self.variables.items()
            if isinstance(kind, Map) and isinstance(kind.key, Id) and kind.total
        ]
        if not maps or self.chance(2):
            return made
        name, kind = self.one(maps)
        item = self.new_name("i")
        if kind.value == PHASE:
            return made
        key = t.Local(item, kind.key, NOWHERE)
        place = t.Place(name, (t.Step(key=key),), kind.value, NOWHERE)
        body = t.Assign(place, self.literal(kind.value), NOWHERE)
        return t.For(item, self.term(Set(kind.key), 1), (body,), NOWHERE)

    @contextmanager
    def only_plain_loops(self) -> Iterator[None]:
        """Inside, the next collection is one whose order ids have no part in."""
        plain = super().collection

        def collection(depth: int) -> t.Term:
            del self.collection  # type: ignore[attr-defined]
            for _ in range(6):
                made = plain(depth)
                if isinstance(made.type, Sequence) or not _holds_ids(_item(made.type)):
                    return made
            return t.Everything(Set(LEVEL), NOWHERE)

        self.collection = collection  # type: ignore[method-assign]
        yield

    def fresh(self) -> list[t.Statement]:
        """A fresh id, where those that occur nowhere are alike: no map says anything of them."""
        keyed = any(
            isinstance(kind, Map) and kind.total and _holds_ids(kind.key)
            for kind in self.variables.values()
        )
        return self.set_local() if keyed else super().fresh()
