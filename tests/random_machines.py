"""Random well-typed machines: rich in terms, small in states.

An `_Author` writes one machine by choosing among numbered alternatives; where the choices come
from Hypothesis they shrink, where they come from a seed they are fast. Every kind of type, term
and statement occurs. What may be an evaluation error is mostly guarded, so that searches get
somewhere, and now and then is not.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from typing import TypeVar

from hypothesis import strategies as st

from checker.machine import temporal
from checker.machine import terms as t
from checker.machine.builtins import BUILT_INS
from checker.machine.machine import (
    LIVENESS,
    Action,
    Binding,
    FairGroup,
    Fairness,
    Machine,
    Property,
    Trigger,
    Variable,
)
from checker.machine.relations import join
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
from checker.semantics.values import MapValue, value_of, values
from checker.source import NOWHERE
from checker.table.state_table import StateTable, TableTransition

OF_INTEGERS = [
    (item.name, item.plain)
    for item in BUILT_INS
    if item.plain is not None
    and isinstance(item.plain.result(*[Range(0, 1) for _ in item.plain.takes]), Range)
]
BOOL = Bool()
MEMBER = Id("Member", ("m1", "m2"), symmetric=False)
LEVEL = Enum("Level", ("low", "high"))
PHASE = Enum("phase", ("idle", "busy", "gone"))
POINT = Record("Point", (("x", Range(0, 1)), ("owner", Option(MEMBER))))
ASK = Record("Ask", (("member", MEMBER), ("urgent", BOOL)))
ANSWER = Record("Answer", (("level", LEVEL),))
MESSAGE = Union("Message", (ASK, ANSWER, Record("Stop", ())))
TABLE = StateTable(
    name="phase",
    about="",
    source="",
    states=tuple((state, "") for state in PHASE.members),
    initial=("idle",),
    final=(),
    created=("idle", "busy"),
    transitions=tuple(
        TableTransition(a, f"{a}_{b}", b, "", "")
        for a, b in (("idle", "busy"), ("busy", "idle"), ("busy", "gone"), ("busy", "busy"))
    ),
    restores=(("busy", "idle"), ("gone", "idle")),
    span=NOWHERE,
)
RANGES = (Range(0, 2), Range(-1, 1), Range(1, 3))
SIMPLE: tuple[Type, ...] = (BOOL, LEVEL, MEMBER, PHASE, *RANGES)
KEYS: tuple[Type, ...] = (MEMBER, BOOL, Range(0, 2), Option(MEMBER))
WIDTH_MAX = 40
"""Integers in the widest range that arithmetic may make."""

Item = TypeVar("Item")
Choose = Callable[[int], int]
"""From a number of alternatives (at least 1) to one of 0..number-1; 0 is the simplest."""


@st.composite
def machines(draw: st.DrawFn, *, states: int = 1500, errors: bool = True) -> Machine:
    """Random machines of at most `states` states; without `errors` no step or property fails."""
    return _Author(lambda size: draw(st.integers(0, size - 1)), states, errors=errors).machine()


def seeded_machine(seed: int, *, states: int = 1500, errors: bool = True) -> Machine:
    """The random machine of a seed: the same in every run, and cheap."""
    return _Author(random.Random(seed).randrange, states, errors=errors).machine()  # noqa: S311


def lively_machine(seed: int, *, states: int = 200, errors: bool = False) -> Machine:
    """As `seeded_machine`, with fair rows and three liveness properties."""
    author = _Author(random.Random(seed).randrange, states, errors=errors)  # noqa: S311
    return author.livened(author.machine())


def grouped_machine(seed: int, *, states: int = 200, errors: bool = False) -> Machine:
    """As `lively_machine`, with rows that are fair together."""
    author = _Author(random.Random(seed).randrange, states, errors=errors)  # noqa: S311
    return author.grouped(author.livened(author.machine()))


def temporal_machine(seed: int, *, states: int = 150) -> Machine:
    """As `lively_machine`, with the other properties of infinite runs."""
    author = _Author(random.Random(seed).randrange, states, errors=False)  # noqa: S311
    machine = author.livened(author.machine())
    kept = tuple(item for item in machine.properties if item.kind not in LIVENESS)
    return replace(machine, properties=(*kept, *(author.temporal(f"live{n}") for n in range(4))))


def _item(kind: Type) -> Type:
    """What a loop over a collection of this type binds."""
    if isinstance(kind, Map):
        return kind.key
    assert isinstance(kind, Set | Sequence | Bag)
    return kind.item


def _sequence(term: t.Term) -> Sequence:
    assert isinstance(term.type, Sequence)
    return term.type


def _range(kind: Type) -> Range:
    assert isinstance(kind, Range)
    return kind


class _Author:
    """Writes one machine. Methods that make a term take how deep it may be."""

    def __init__(self, choose: Choose, states: int, *, errors: bool) -> None:
        self.choose = choose
        self.errors = errors
        self.states = states
        self.variables: dict[str, Type] = {}
        self.names: dict[str, Type] = {}
        self.readable = True
        self.count = 0
        self.picks_left = 0
        self.loops = 0

    # ------------------------------------------------------------------------------- choices

    def one(self, items: list[Item] | tuple[Item, ...]) -> Item:
        return items[self.choose(len(items))]

    def chance(self, of: int) -> bool:
        """True once in `of` times."""
        return self.choose(of) == of - 1

    def new_name(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    @contextmanager
    def scope(self, **names: Type) -> Iterator[None]:
        """Names that are bound inside only."""
        before = dict(self.names)
        self.names.update(names)
        try:
            yield
        finally:
            self.names = before

    def risky(self, term: t.Term, guard: t.Term) -> t.Term:
        """`term`, which fails unless `guard`: mostly guarded, now and then as it is."""
        if self.errors and self.chance(25):
            return term
        return t.Choose(guard, term, self.leaf(term.type), term.type, NOWHERE)

    # --------------------------------------------------------------------------------- types

    def kind(self, most: int) -> Type:
        """A type of at most `most` codes (and at least 2 values)."""
        makers: tuple[Callable[[], Type], ...] = (
            lambda: self.one(SIMPLE),
            lambda: Option(self.one((*SIMPLE, POINT, MESSAGE))),
            lambda: Set(self.one((*SIMPLE, POINT, MESSAGE, Option(MEMBER)))),
            lambda: Map(self.one(KEYS), self.one((*SIMPLE, Option(MEMBER))), total=False),
            lambda: Map(self.one(KEYS), self.one((*SIMPLE, Set(MEMBER), POINT)), total=True),
            lambda: Sequence(self.one((*SIMPLE, MESSAGE)), 1 + self.choose(3)),
            lambda: Bag(self.one((*SIMPLE, MESSAGE)), 1 + self.choose(3)),
            lambda: POINT,
            lambda: MESSAGE,
            lambda: Map(MEMBER, Bag(self.one((BOOL, MEMBER)), 1), total=True),
            lambda: Map(MEMBER, PHASE, total=True),
        )
        for _ in range(4):
            kind = self.one(makers)()
            if cardinality(kind) <= most:
                return kind
        return BOOL if most < 3 else Range(0, 2)

    # ------------------------------------------------------------------------------- literals

    def literal(self, kind: Type) -> t.Literal:
        return t.Literal(self.value(kind), kind, NOWHERE)

    def value(self, kind: Type) -> object:
        match kind:
            case Map(key, held, total):
                keys = [name for name in values(key) if total or self.chance(2)]
                return MapValue((name, self.value(held)) for name in keys)
            case Sequence() | Bag():
                return self.one(list(values(kind)))
            case Option(item):
                return None if self.chance(2) else self.value(item)
        return value_of(kind, self.choose(cardinality(kind)))

    def leaf(self, kind: Type) -> t.Term:
        """A term without parts: a name or variable of just this type, or a constant."""
        known: list[t.Term] = [
            t.Local(name, held, NOWHERE) for name, held in self.names.items() if held == kind
        ]
        if self.readable:
            known += [
                t.Read(name, kind, NOWHERE) for name, held in self.variables.items() if held == kind
            ]
        if known and not self.chance(4):
            return self.one(known)
        return self.literal(kind)

    # --------------------------------------------------------------------------------- terms

    def term(self, kind: Type, depth: int) -> t.Term:
        """A random term of exactly type `kind`."""
        if depth <= 0 or self.chance(6):
            return self.leaf(kind)
        makers: list[Callable[[Type, int], t.Term | None]] = [self.own, self.own, self.own]
        makers += [self.choice, self.let, self.narrowed, self.field, self.element, self.best]
        made = self.one(makers)(kind, depth - 1)
        return self.leaf(kind) if made is None else made

    def own(self, kind: Type, depth: int) -> t.Term | None:
        """A term of a form that belongs to the type."""
        match kind:
            case Bool():
                return self.one(self.logic())(depth)
            case Range():
                return self.fitted(self.integer(depth), kind)
            case Option(item):
                return t.Cast(self.term(item, depth), kind, NOWHERE)
            case Record() | Union():
                return self.shaped(kind, depth)
            case Set():
                return self.set(kind, depth)
            case Map():
                return self.map(kind, depth)
            case Sequence():
                return self.sequence(kind, depth)
            case Bag(item, capacity):
                items = [self.term(item, depth) for _ in range(self.choose(capacity + 1))]
                return t.SequenceOf(tuple(items), kind, NOWHERE)
        return None

    def choice(self, kind: Type, depth: int) -> t.Term:
        parts = self.term(BOOL, depth), self.term(kind, depth), self.term(kind, depth)
        return t.Choose(*parts, kind, NOWHERE)

    def let(self, kind: Type, depth: int) -> t.Term:
        name, value = self.new_name("p"), self.term(self.one((*SIMPLE, kind)), depth)
        with self.scope(**{name: value.type}):
            return t.Let(name, value, self.term(kind, depth), kind, NOWHERE)

    def narrowed(self, kind: Type, depth: int) -> t.Term | None:
        """An option unwrapped, or a wider collection cut down."""
        if isinstance(kind, Option):
            return None
        item = self.term(Option(kind), depth)
        present = t.Not(t.IsNone(item, NOWHERE), NOWHERE)
        return self.risky(t.Cast(item, kind, NOWHERE), present)

    def field(self, kind: Type, depth: int) -> t.Term | None:
        """A field of a record or of a union that has this type."""
        found = [
            (whole, variant, name)
            for whole, shapes in ((POINT, (POINT,)), (MESSAGE, MESSAGE.variants))
            for variant in shapes
            for name, held in variant.fields
            if held == kind
        ]
        if not found:
            return None
        whole, variant, name = self.one(found)
        item = self.term(whole, depth)
        term = t.Field(item, name, kind, NOWHERE)
        if isinstance(whole, Record):
            return term
        return self.risky(term, t.IsVariant(item, variant.name, NOWHERE))

    def element(self, kind: Type, depth: int) -> t.Term | None:
        """What stands at a key or position."""
        wholes = [
            held
            for held in self.known()
            if (isinstance(held, Map) and held.value == kind)
            or (isinstance(held, Sequence) and held.item == kind)
        ]
        wholes += [Map(MEMBER, kind, total=False), Map(BOOL, kind, total=True), Sequence(kind, 2)]
        whole = self.one([held for held in wholes if cardinality(held) <= 2000] or [BOOL])
        if isinstance(whole, Bool):
            return None
        item = self.term(whole, depth)
        if isinstance(whole, Map):
            key = self.term(whole.key, depth)
            term = t.At(item, key, kind, NOWHERE)
            return term if whole.total else self.risky(term, self.has(key, item))
        place = self.integer(depth)
        inside = t.And(
            (
                t.Compare("<=", self.number(0), place, NOWHERE),
                t.Compare("<", place, self.length(item), NOWHERE),
            ),
            NOWHERE,
        )
        return self.risky(t.At(item, place, kind, NOWHERE), inside)

    def best(self, kind: Type, depth: int) -> t.Term | None:
        """The least or greatest of some values of an ordered type."""
        if not isinstance(kind, Range | Enum | Id):
            return None
        operator = self.one(("min", "max"))
        if self.chance(2):
            items = tuple(self.term(kind, depth) for _ in range(2 + self.choose(2)))
            return t.Extreme(operator, items, kind, NOWHERE)
        generators, names = self.generators(depth)
        with self.scope(**names):
            body = self.term(kind, depth)
        some = t.Fold("any", generators, self.true(), None, BOOL, NOWHERE)
        return self.risky(t.Fold(operator, generators, body, None, kind, NOWHERE), some)

    # ----------------------------------------------------------------------------- integers

    def number(self, value: int) -> t.Literal:
        return t.Literal(value, Range(value, value), NOWHERE)

    def integer(self, depth: int) -> t.Term:
        """An integer of any range, the range being that of the term."""
        if depth <= 0:
            return self.leaf(self.one(RANGES))
        makers = (
            self.arithmetic,
            self.arithmetic,
            self.total,
            self.size,
            self.copies,
            self.small,
            self.applied,
        )
        return self.one(makers)(depth - 1)

    def applied(self, depth: int) -> t.Term:
        """A plain function of integers that gives one."""
        name, plain = self.one(OF_INTEGERS)
        arguments = tuple(self.integer(depth) for _ in plain.takes)
        kind = plain.result(*(argument.type for argument in arguments))
        assert isinstance(kind, Range)
        return t.Apply(name, arguments, kind, NOWHERE)

    def small(self, depth: int) -> t.Term:
        return self.term(self.one(RANGES), depth)

    def size(self, depth: int) -> t.Term:
        return self.length(self.collection(depth))

    def copies(self, depth: int) -> t.Term:
        """How often an item is in a sequence or bag."""
        known = [kind for kind in self.known() if isinstance(kind, Sequence | Bag)]
        kind = self.one(known or [Bag(self.one(SIMPLE), 2), Sequence(self.one(SIMPLE), 2)])
        assert isinstance(kind, Sequence | Bag)
        item = self.term(kind.item, depth)
        if isinstance(kind.item, Range) and self.chance(2):
            item = self.integer(depth)
        return t.Count(item, self.term(kind, depth), Range(0, kind.capacity), NOWHERE)

    def length(self, item: t.Term) -> t.Term:
        kind = item.type
        most = kind.capacity if isinstance(kind, Sequence | Bag) else cardinality(_item(kind))
        return t.Length(item, Range(0, most), NOWHERE)

    def arithmetic(self, depth: int) -> t.Term:
        operator = self.one(("+", "-", "*", "//", "%"))
        left, right = self.integer(depth), self.integer(depth)
        kind = _reach(operator, _range(left.type), _range(right.type))
        if kind is None:
            return left
        term = t.Arithmetic(operator, left, right, kind, NOWHERE)
        if operator not in {"//", "%"}:
            return term
        if self.errors and self.chance(25):
            return term
        nonzero = t.Not(t.Equal(right, self.number(0), NOWHERE), NOWHERE)
        whole = Range(min(kind.low, 0), max(kind.high, 0))
        zero = t.Cast(self.number(0), whole, NOWHERE)
        return t.Choose(nonzero, t.Cast(term, whole, NOWHERE), zero, whole, NOWHERE)

    def total(self, depth: int) -> t.Term:
        """A sum over the combinations of generators."""
        generators, names = self.generators(depth)
        with self.scope(**names):
            body = self.small(depth)
        most = 1
        for generator in generators:
            kind = generator.domain.type
            most *= kind.capacity if isinstance(kind, Sequence | Bag) else cardinality(_item(kind))
        held = _range(body.type)
        kind = Range(min(0, held.low * most), max(0, held.high * most))
        if kind.high - kind.low > WIDTH_MAX:
            return body
        return t.Fold("sum", generators, body, None, kind, NOWHERE)

    def fitted(self, term: t.Term, kind: Range) -> t.Term:
        """An integer as a value of `kind`."""
        held = _range(term.type)
        cast = t.Cast(term, kind, NOWHERE)
        if kind.low <= held.low and held.high <= kind.high:
            return cast
        inside = t.And(
            (
                t.Compare("<=", self.number(kind.low), term, NOWHERE),
                t.Compare(">=", self.number(kind.high), term, NOWHERE),
            ),
            NOWHERE,
        )
        return self.risky(cast, inside)

    # -------------------------------------------------------------------------------- logic

    def true(self) -> t.Term:
        return t.Literal(True, BOOL, NOWHERE)

    def logic(self) -> list[Callable[[int], t.Term]]:
        return [
            self.equal,
            self.ordered,
            self.connected,
            self.membership,
            self.quantified,
            self.subset,
            self.none_or_variant,
            self.implication,
            lambda depth: t.Not(self.term(BOOL, depth), NOWHERE),
        ]

    def equal(self, depth: int) -> t.Term:
        if self.chance(3):
            return t.Equal(self.integer(depth), self.integer(depth), NOWHERE)
        kind = self.known_kind()
        return t.Equal(self.term(kind, depth), self.term(kind, depth), NOWHERE)

    def ordered(self, depth: int) -> t.Term:
        operator = self.one(("<", "<=", ">", ">="))
        if self.chance(2):
            kind = self.one((LEVEL, MEMBER, PHASE))
            return t.Compare(operator, self.term(kind, depth), self.term(kind, depth), NOWHERE)
        return t.Compare(operator, self.integer(depth), self.integer(depth), NOWHERE)

    def connected(self, depth: int) -> t.Term:
        items = tuple(self.term(BOOL, depth) for _ in range(2 + self.choose(2)))
        return (t.And if self.chance(2) else t.Or)(items, NOWHERE)

    def implication(self, depth: int) -> t.Term:
        return t.Implies(self.term(BOOL, depth), self.term(BOOL, depth), NOWHERE)

    def has(self, item: t.Term, collection: t.Term) -> t.Term:
        return t.Contains(item, collection, NOWHERE)

    def membership(self, depth: int) -> t.Term:
        collection = self.collection(depth)
        item = _item(collection.type)
        if isinstance(item, Range) and self.chance(2):
            return self.has(self.integer(depth), collection)
        return self.has(self.term(item, depth), collection)

    def quantified(self, depth: int) -> t.Term:
        generators, names = self.generators(depth)
        with self.scope(**names):
            body = self.term(BOOL, depth)
        return t.Fold(self.one(("any", "all")), generators, body, None, BOOL, NOWHERE)

    def subset(self, depth: int) -> t.Term:
        kind = Set(self.one(SIMPLE))
        left, right = self.term(kind, depth), self.term(kind, depth)
        return t.Subset(left, right, self.chance(2), NOWHERE)

    def none_or_variant(self, depth: int) -> t.Term:
        if self.chance(2):
            kind = self.one((MESSAGE, Option(MESSAGE)))
            variant = self.one(MESSAGE.variants).name
            return t.IsVariant(self.term(kind, depth), variant, NOWHERE)
        return t.IsNone(self.term(Option(self.one((*SIMPLE, POINT))), depth), NOWHERE)

    # -------------------------------------------------------------------------- collections

    def known(self) -> list[Type]:
        """The types of the variables and names there are."""
        return [*(self.variables.values() if self.readable else ()), *self.names.values()]

    def known_kind(self) -> Type:
        known = self.known()
        return self.one(known) if known and not self.chance(4) else self.one(SIMPLE)

    def collection(self, depth: int) -> t.Term:
        """A set, map, sequence or bag."""
        known = [kind for kind in self.known() if isinstance(kind, Set | Map | Sequence | Bag)]
        kind: Type = Set(self.one(SIMPLE))
        if known and not self.chance(3):
            kind = self.one(known)
        if self.chance(5):
            return self.interval(depth) or self.term(kind, depth)
        return self.term(kind, depth)

    def interval(self, depth: int) -> t.Term | None:
        low, high = self.integer(depth), self.integer(depth)
        least, most = _range(low.type).low, _range(high.type).high
        if most - least > 8:
            return None
        return t.Interval(low, high, Set(Range(least, max(least, most))), NOWHERE)

    def generators(self, depth: int) -> tuple[tuple[t.Generator, ...], dict[str, Type]]:
        """One or two generators; the second may depend on the first."""
        made = []
        names: dict[str, Type] = {}
        for _ in range(1 + self.chance(3)):
            with self.scope(**names):
                domain = self.collection(depth)
            name = self.new_name("x")
            names[name] = _item(domain.type)
            condition = None
            if self.chance(2):
                with self.scope(**names):
                    condition = self.term(BOOL, depth)
            made.append(t.Generator(name, domain, condition))
        return tuple(made), names

    def set(self, kind: Set, depth: int) -> t.Term:
        item = kind.item
        form = self.choose(6)
        if form == 0 and cardinality(item) <= 8:
            return t.Everything(kind, NOWHERE)
        if form == 1:
            operator = self.one(("|", "&", "-", "^"))
            parts = self.term(kind, depth), self.term(kind, depth)
            return t.SetOperation(operator, *parts, kind, NOWHERE)
        if form == 2:
            generators, names = self.generators(depth)
            with self.scope(**names):
                return t.Fold("set", generators, self.term(item, depth), None, kind, NOWHERE)
        if form == 3 and item in KEYS:
            maps = [held for held in self.known() if isinstance(held, Map) and held.key == item]
            whole = self.one(maps or [Map(item, BOOL, total=False)])
            return t.Keys(self.term(whole, depth), kind, NOWHERE)
        if form == 4 and isinstance(item, Range):
            wide = self.interval(depth)
            if wide is not None:
                fits = t.Subset(wide, self.range_set(item, wide.type), strict=False, span=NOWHERE)
                return self.risky(t.Cast(wide, kind, NOWHERE), fits)
        items = tuple(self.term(item, depth) for _ in range(self.choose(4)))
        return t.SetOf(items, kind, NOWHERE)

    def range_set(self, inside: Range, kind: Type) -> t.Literal:
        """The integers of `inside` that a set of type `kind` may hold, as one of those."""
        held = _range(_item(kind))
        both = frozenset(values(inside)) & frozenset(values(held))
        return t.Literal(both, kind, NOWHERE)

    def map(self, kind: Map, depth: int) -> t.Term:
        form = self.choose(4)
        if form == 0 and not kind.total:
            whole = Map(kind.key, kind.value, total=True)
            return t.Cast(self.term(whole, depth), kind, NOWHERE)
        if form == 1:
            name = self.new_name("k")
            domain: t.Term = t.Everything(Set(kind.key), NOWHERE)
            if not kind.total:
                domain = self.term(Set(kind.key), depth)
            with self.scope(**{name: kind.key}):
                body = self.term(kind.value, depth)
            key = t.Local(name, kind.key, NOWHERE)
            generator = t.Generator(name, domain, None)
            return t.Fold("map", (generator,), body, key, kind, NOWHERE)
        if form == 2:
            generators, names = self.generators(depth)
            with self.scope(**names):
                key, body = self.term(kind.key, depth), self.term(kind.value, depth)
            made = t.Fold("map", generators, body, key, kind, NOWHERE)
            if not kind.total:
                return made
            if self.errors and self.chance(25):
                return made
        keys = list(values(kind.key))
        pairs = [(t.Literal(key, kind.key, NOWHERE), self.term(kind.value, depth)) for key in keys]
        if not kind.total:
            pairs = [
                (self.term(kind.key, depth), self.term(kind.value, depth))
                for _ in range(self.choose(3))
            ]
        return t.MapOf(tuple(pairs), kind, NOWHERE)

    def sequence(self, kind: Sequence, depth: int) -> t.Term:
        form = self.choose(4)
        if form == 0:
            left = self.term(kind, depth)
            right = self.term(Sequence(kind.item, 1), depth)
            both = Sequence(kind.item, kind.capacity + 1)
            return self.cut(t.Concatenate(left, right, both, NOWHERE), kind)
        if form == 1:
            start, stop = self.bound(depth), self.bound(depth)
            return t.Slice(self.term(kind, depth), start, stop, kind, NOWHERE)
        if form == 2:
            generators, names = self.generators(depth)
            with self.scope(**names):
                body = self.term(kind.item, depth)
            most = 1
            for generator in generators:
                held = generator.domain.type
                most *= (
                    held.capacity if isinstance(held, Sequence | Bag) else cardinality(_item(held))
                )
            if most <= kind.capacity or (self.errors and self.chance(6)):
                return t.Fold("sequence", generators, body, None, kind, NOWHERE)
        items = [self.term(kind.item, depth) for _ in range(self.choose(kind.capacity + 1))]
        return t.SequenceOf(tuple(items), kind, NOWHERE)

    def bound(self, depth: int) -> t.Term | None:
        """A bound of a slice: a number that is not negative, or none."""
        return None if self.chance(3) else self.term(Range(0, 2), depth)

    def cut(self, term: t.Term, kind: Sequence) -> t.Term:
        """A sequence as one of less capacity."""
        fits = t.Compare("<=", self.length(term), self.number(kind.capacity), NOWHERE)
        return self.risky(t.Cast(term, kind, NOWHERE), fits)

    def shaped(self, kind: Record | Union, depth: int) -> t.Term:
        """A record or message built or with a field replaced."""
        variants = (kind,) if isinstance(kind, Record) else kind.variants
        variant = self.one(variants)
        if variant.fields and self.chance(3):
            name, held = self.one(variant.fields)
            item = self.term(kind, depth)
            term = t.With(item, name, self.term(held, depth), kind, NOWHERE)
            if isinstance(kind, Record):
                return term
            return self.risky(term, t.IsVariant(item, variant.name, NOWHERE))
        fields = tuple((name, self.term(held, depth)) for name, held in variant.fields)
        if isinstance(kind, Union) and self.chance(4):
            return t.Cast(t.RecordOf(variant.name, fields, variant, NOWHERE), kind, NOWHERE)
        return t.RecordOf(variant.name, fields, kind, NOWHERE)

    # ---------------------------------------------------------------------------- statements

    def block(self, depth: int, *, looped: bool, label: str | None) -> tuple[t.Statement, ...]:
        """Up to three statements; names they make are known to the later ones."""
        made: list[t.Statement] = []
        with self.scope():
            for _ in range(1 + self.choose(3)):
                made += self.statement(depth, looped=looped, label=label)
        return tuple(made) or (self.change(),)

    def statement(self, depth: int, *, looped: bool, label: str | None) -> list[t.Statement]:
        simple: list[Callable[[], list[t.Statement]]] = [
            self.assign,
            self.assign,
            self.assign,
            self.pick,
            self.set_local,
            self.transition,
            self.send,
            self.receive,
            self.delete,
            self.delete,
            self.send,
            self.receive,
            self.fresh,
            self.require,
            self.asserted,
            self.note,
        ]
        nested: list[Callable[[], list[t.Statement]]] = []
        if depth > 0:
            nested = [
                lambda: [self.branch(depth - 1, looped=looped, label=label)],
                lambda: [self.loop(depth - 1, label=label)],
                lambda: [self.procedure(depth - 1, looped=looped)],
                lambda: [self.reject(depth - 1)],
            ]
            if looped:
                nested += [lambda: [self.when(t.Break(NOWHERE))]] * 3
            if label is not None:
                nested += [lambda: [self.when(t.Leave(label, NOWHERE))]] * 3
        return self.one([*simple, *nested])()

    def when(self, *body: t.Statement) -> t.Statement:
        return t.If(self.term(BOOL, 2), body, (), NOWHERE)

    def change(self) -> t.Statement:
        """An assignment to a variable that is no machine, or one of a machine's moves."""
        name, kind = self.one(list(self.variables.items()))
        if kind == PHASE:
            return self.transition()[0]
        return t.Assign(t.Place(name, (), kind, NOWHERE), self.term(kind, 4), NOWHERE)

    def guarded(self, guard: t.Term, *body: t.Statement) -> list[t.Statement]:
        """Statements that fail unless `guard`: mostly guarded."""
        if self.errors and self.chance(25):
            return list(body)
        return [t.If(guard, body, (), NOWHERE)]

    def places(self, wanted: Callable[[Type], bool]) -> list[tuple[str, tuple[t.Step, ...], Type]]:
        """Places of the variables, one or two steps deep, that are there in every state."""
        found: list[tuple[str, tuple[t.Step, ...], Type]] = []
        for name, kind in self.variables.items():
            found.append((name, (), kind))
            if isinstance(kind, Record):
                found += [(name, (t.Step(name=part),), held) for part, held in kind.fields]
            if isinstance(kind, Map) and kind.total:
                into = t.Step(key=self.leaf(kind.key))
                found.append((name, (into,), kind.value))
                if isinstance(kind.value, Record):
                    found += [
                        (name, (into, t.Step(name=part)), held) for part, held in kind.value.fields
                    ]
        return [place for place in found if wanted(place[2])]

    def place(self, wanted: Callable[[Type], bool]) -> t.Place | None:
        found = self.places(wanted)
        if not found:
            return None
        name, steps, kind = self.one(found)
        return t.Place(name, steps, kind, NOWHERE)

    def read(self, place: t.Place) -> t.Term:
        """The term that reads a place."""
        term: t.Term = t.Read(place.variable, self.variables[place.variable], NOWHERE)
        for step in place.steps:
            kind = term.type
            if step.key is not None:
                assert isinstance(kind, Map)
                term = t.At(term, step.key, kind.value, NOWHERE)
            else:
                assert isinstance(kind, Record)
                assert step.name is not None
                term = t.Field(term, step.name, dict(kind.fields)[step.name], NOWHERE)
        return term

    def assign(self) -> list[t.Statement]:
        if self.chance(4):
            inner = self.assign_inside()
            if inner:
                return inner
        place = self.place(lambda kind: kind != PHASE)
        if place is None:
            return []
        return [t.Assign(place, self.term(place.type, 4), NOWHERE)]

    def assign_inside(self) -> list[t.Statement]:
        """An assignment to a key, a position or a field that need not be there."""
        kinds = Map | Sequence | Union
        place = self.place(lambda kind: isinstance(kind, kinds))
        if place is None:
            return []
        whole, kind = self.read(place), place.type
        if isinstance(kind, Map):
            key = self.term(kind.key, 2)
            step, held, there = t.Step(key=key), kind.value, self.true()
        elif isinstance(kind, Sequence):
            at = self.term(Range(0, 2), 2)
            step, held = t.Step(key=at), kind.item
            there = t.Compare("<", at, self.length(whole), NOWHERE)
        else:
            variant = self.one([each for each in MESSAGE.variants if each.fields])
            name, held = self.one(variant.fields)
            step, there = t.Step(name=name), t.IsVariant(whole, variant.name, NOWHERE)
        inner = t.Place(place.variable, (*place.steps, step), held, NOWHERE)
        return self.guarded(there, t.Assign(inner, self.term(held, 3), NOWHERE))

    def transition(self) -> list[t.Statement]:
        place = self.place(lambda kind: kind == PHASE)
        if place is None:
            return []
        kind = self.one(("transition", "transition", "restore", "create"))
        return [t.Transition(place, self.term(PHASE, 2), "phase", kind, NOWHERE)]

    def delete(self) -> list[t.Statement]:
        place = self.place(lambda kind: isinstance(kind, Map) and not kind.total)
        if place is None:
            return []
        assert isinstance(place.type, Map)
        key = self.term(place.type.key, 1)
        inner = (*place.steps, t.Step(key=key))
        gone = t.Place(place.variable, inner, place.type.value, NOWHERE)
        return self.guarded(self.has(key, self.read(place)), t.Delete(gone, NOWHERE))

    def set_local(self) -> list[t.Statement]:
        mutable = [name for name in self.names if name.startswith("local")]
        if mutable and self.chance(2):
            name = self.one(mutable)
            return [t.SetLocal(name, self.term(self.names[name], 2), NOWHERE)]
        name, value = self.new_name("local"), self.term(self.known_kind(), 2)
        self.names[name] = value.type
        return [t.SetLocal(name, value, NOWHERE)]

    def branch(self, depth: int, *, looped: bool, label: str | None) -> t.Statement:
        condition = self.term(BOOL, 2)
        then = self.block(depth, looped=looped, label=label)
        otherwise = self.block(depth, looped=looped, label=label) if self.chance(2) else ()
        return t.If(condition, then, otherwise, NOWHERE)

    def loop(self, depth: int, *, label: str | None) -> t.Statement:
        domain, name = self.collection(1), self.new_name("i")
        self.loops += 1
        with self.scope(**{name: _item(domain.type)}):
            body = self.block(depth, looped=True, label=label)
        self.loops -= 1
        return t.For(name, domain, body, NOWHERE)

    def procedure(self, depth: int, *, looped: bool) -> t.Statement:
        label = self.new_name("procedure")
        return t.Scope(label, self.block(depth, looped=looped, label=label), NOWHERE)

    def reject(self, depth: int) -> t.Statement:
        body = self.block(depth, looped=False, label=None)
        return self.when(t.Reject(body, NOWHERE))

    def pick(self) -> list[t.Statement]:
        """A pick; what it may choose from is mostly not empty. Few, or there are too many steps."""
        cost = (1, 2, 9)[min(self.loops, 2)]
        if self.picks_left < cost:
            return []
        self.picks_left -= cost
        small = [kind for kind in SIMPLE if cardinality(kind) <= 3]
        name = self.new_name("pick")
        if self.chance(3):
            domain = self.collection(1)
            if cardinality(_item(domain.type)) > 6:
                return []
            kind = _item(domain.type)
            generator = t.Generator(name, domain, None)
            some = t.Fold("any", (generator,), self.true(), None, BOOL, NOWHERE)
            store = self.place(lambda held: held == kind and held != PHASE)
            body: list[t.Statement] = [t.Pick(name, domain, None, NOWHERE)]
            if store is not None:
                body.append(t.Assign(store, t.Local(name, kind, NOWHERE), NOWHERE))
            return self.guarded(some, *body)
        domain = t.Everything(Set(self.one(small)), NOWHERE)
        kind = _item(domain.type)
        condition: t.Term | None = None
        if self.errors and self.chance(12):
            with self.scope(**{name: kind}):
                condition = self.term(BOOL, 1)
        elif self.chance(2):
            chosen = t.Local(name, kind, NOWHERE)
            condition = t.Not(t.Equal(chosen, self.literal(kind), NOWHERE), NOWHERE)
        self.names[name] = kind
        return [t.Pick(name, domain, condition, NOWHERE)]

    def fresh(self) -> list[t.Statement]:
        name = self.new_name("fresh")
        self.names[name] = MEMBER
        return [t.Fresh(name, MEMBER, NOWHERE)]

    def send(self) -> list[t.Statement]:
        place = self.place(lambda kind: isinstance(kind, Set | Sequence | Bag))
        if place is None:
            return []
        modes = ("block", "drop", "error") if self.errors and self.chance(8) else ("block", "drop")
        message = self.term(_item(place.type), 3)
        label = self.one(("sent", "duplicated", "started", "silent"))
        return [t.Send(place, message, self.one(modes), label, NOWHERE)]

    def receive(self) -> list[t.Statement]:
        place = self.place(lambda kind: isinstance(kind, Set | Sequence | Bag))
        if place is None:
            return []
        message, whole = self.term(_item(place.type), 1), self.read(place)
        label = self.one(("received", "lost", "completed", "timed out", "silent", "read"))
        taken = t.Receive(place, message, label, NOWHERE)
        there = t.If(self.has(message, whole), (taken,), (), NOWHERE)
        if label == "read":
            return [there]
        return self.guarded(self.has(message, whole), taken)

    def note(self) -> list[t.Statement]:
        variable = self.one(list(self.variables))
        place = t.Place(variable, (), self.variables[variable], NOWHERE)
        label = self.one(("sent", "received", "lost", "timed out"))
        return [t.Note(place, self.leaf(MESSAGE), label, NOWHERE)]

    def require(self) -> list[t.Statement]:
        likely = t.Or((self.term(BOOL, 2), self.term(BOOL, 2)), NOWHERE)
        return [t.Require(likely, NOWHERE)]

    def asserted(self) -> list[t.Statement]:
        condition = self.term(BOOL, 2)
        if not (self.errors and self.chance(8)):
            condition = t.Or((condition, self.true()), NOWHERE)
        return [t.Assert(condition, NOWHERE)]

    # ------------------------------------------------------------------------------- machines

    def bindings(self) -> tuple[Binding, ...]:
        """Up to two bindings; their names stay in scope."""
        made = []
        for _ in range(self.choose(3)):
            domain = self.collection(2)
            if cardinality(_item(domain.type)) > 6:
                domain = self.term(Set(self.one((MEMBER, LEVEL))), 2)
            name = self.new_name("b")
            self.names[name] = _item(domain.type)
            condition = self.term(BOOL, 2) if self.chance(3) else None
            made.append(Binding(name, domain, condition, shown=not self.chance(3)))
        return tuple(made)

    def action(self, name: str) -> Action:
        with self.scope():
            bindings = self.bindings()
            lets = []
            for _ in range(self.choose(2)):
                let, value = self.new_name("let"), self.term(self.known_kind(), 2)
                self.names[let] = value.type
                lets.append((let, value))
            guard = self.term(BOOL, 4) if self.chance(2) else self.true()
            body = (*self.wandering(), *self.block(2, looped=False, label=None))
        return Action(
            name=name,
            bindings=bindings,
            lets=tuple(lets),
            shown_lets=tuple(let for let, _ in lets if self.chance(2)),
            guard=guard,
            body=body,
            trigger=Trigger("spontaneous", None, None),
            fault="crash" if self.chance(5) else None,
            fair="none",
            generated=False,
            actor=None,
            about="",
            source="",
            span=NOWHERE,
        )

    def wandering(self) -> list[t.Statement]:
        """Often: a variable becomes any value, so that there is something to explore."""
        self.picks_left = 2
        small = [(name, kind) for name, kind in self.variables.items() if cardinality(kind) <= 9]
        if not small or self.chance(2):
            return []
        self.picks_left = 1
        name, kind = self.one(small)
        chosen = self.new_name("any")
        self.names[chosen] = kind
        pick = t.Pick(chosen, t.Everything(Set(kind), NOWHERE), None, NOWHERE)
        place = t.Place(name, (), kind, NOWHERE)
        if kind == PHASE:
            moved = t.Local(chosen, kind, NOWHERE)
            return [pick, t.Transition(place, moved, "phase", "transition", NOWHERE)]
        return [pick, t.Assign(place, t.Local(chosen, kind, NOWHERE), NOWHERE)]

    def initial(self) -> Action:
        """An initial action that chooses the value of one variable, or does nothing."""
        self.picks_left = 1
        bindings: tuple[Binding, ...] = ()
        body: list[t.Statement] = []
        small = [name for name, kind in self.variables.items() if cardinality(kind) <= 16]
        if small and not self.chance(3):
            name = self.one(small)
            kind = self.variables[name]
            bindings = (Binding("start", t.Everything(Set(kind), NOWHERE), None, shown=True),)
            place = t.Place(name, (), kind, NOWHERE)
            body = [t.Assign(place, t.Local("start", kind, NOWHERE), NOWHERE)]
        if self.chance(2):
            body += self.pick()
            self.names.clear()
        return Action(
            name="initial",
            bindings=bindings,
            lets=(),
            shown_lets=(),
            guard=self.true(),
            body=tuple(body),
            trigger=Trigger("spontaneous", None, None),
            fault=None,
            fair="none",
            generated=False,
            actor=None,
            about="",
            source="",
            span=NOWHERE,
        )

    def properties(self) -> tuple[Property, ...]:
        made = []
        for number in range(self.choose(5)):
            kind = self.one(("always", "sometimes", "step"))
            condition = self.step_condition() if kind == "step" else self.term(BOOL, 3)
            if kind == "always" and self.chance(2):
                name = self.one(list(self.variables))
                held = self.variables[name]
                read = t.Read(name, held, NOWHERE)
                condition = t.Not(t.Equal(read, self.literal(held), NOWHERE), NOWHERE)
            made.append(Property(f"property{number}", kind, condition, None, "", "", NOWHERE))
        return tuple(made)

    def livened(self, machine: Machine) -> Machine:
        """The same machine with rows that are fair and with liveness properties."""
        words: tuple[Fairness, ...] = ("none", "weak", "weak", "strong")
        return replace(
            machine,
            actions=tuple(
                action if action.fault else replace(action, fair=self.one(words))
                for action in machine.actions
            ),
            properties=(*machine.properties, *(self.liveness(f"live{n}") for n in range(3))),
        )

    def temporal(self, name: str) -> Property:
        """A formula, or one of the kinds that stand for formulas, sometimes of some runs only."""
        condition = self.plain_condition()
        initially = self.plain_condition() if self.chance(3) else None
        made = Property(name, "eventually", condition, None, "", "", NOWHERE, initially=initially)
        form = self.choose(6)
        if form == 0:
            return made
        if form == 1:
            return replace(made, kind="always_eventually", premise=self.true())
        if form == 2:
            formula = temporal.eventually(temporal.always(temporal.Atom(0)))
            return replace(made, kind="eventually_always", formula=formula, atoms=(condition,))
        atoms = tuple(self.plain_condition() for _ in range(1 + self.choose(3)))
        formula = self.formula(len(atoms), 3)
        return replace(made, kind="ltl", condition=self.true(), formula=formula, atoms=atoms)

    def formula(self, atoms: int, depth: int) -> temporal.Formula:
        if depth == 0 or self.chance(5):
            return temporal.Atom(self.choose(atoms), not self.chance(3))
        if self.chance(3):
            inner = self.formula(atoms, depth - 1)
            return temporal.always(inner) if self.chance(2) else temporal.eventually(inner)
        operator = self.one(("and", "or", "until", "release"))
        parts = self.formula(atoms, depth - 1), self.formula(atoms, depth - 1)
        return temporal.Binary(operator, *parts)

    def grouped(self, machine: Machine) -> Machine:
        """The same machine with one or two groups of rows, told apart by bindings if they can."""
        return replace(
            machine,
            fair_groups=tuple(self.group(machine, f"group{n}") for n in range(1 + self.choose(2))),
            actions=tuple(
                replace(action, fair="none") if self.chance(2) else action
                for action in machine.actions
            ),
        )

    def group(self, machine: Machine, name: str) -> FairGroup:
        fit = [action for action in machine.actions if action.fault is None]
        rows = [action for action in fit if self.chance(2)] or fit
        lets = {let for action in rows for let, _ in action.lets}
        told = [
            [part for part, kind in action.shown.items() if kind in SIMPLE and part not in lets]
            for action in rows
        ]
        kinds = [action.shown[parts[0]] for action, parts in zip(rows, told, strict=True) if parts]
        wide: Type | None = kinds[0] if len(kinds) == len(rows) and kinds else None
        for kind in kinds:
            wide = None if wide is None else join(wide, kind)
        members = tuple(
            (action.name, () if wide is None else (parts[0],))
            for action, parts in zip(rows, told, strict=True)
        )
        per = () if wide is None else (("by", wide),)
        return FairGroup(name, members, per, self.chance(3), NOWHERE)

    def liveness(self, name: str) -> Property:
        condition = self.term(BOOL, 2) if self.chance(2) else self.plain_condition()
        if self.chance(3):
            return Property(name, "eventually", condition, None, "", "", NOWHERE)
        premise = self.term(BOOL, 2) if self.chance(2) else self.true()
        return Property(name, "leads_to", condition, premise, "", "", NOWHERE)

    def step_condition(self) -> t.Term:
        """A relation between a state and the next."""
        kind = self.one(list(self.variables.values()))
        before, after = self.term(kind, 2), t.Next(self.term(kind, 2), kind, NOWHERE)
        if isinstance(kind, Range):
            relation: t.Term = t.Compare("<=", before, after, NOWHERE)
        else:
            relation = t.Equal(before, after, NOWHERE)
        return t.Or((relation, self.term(BOOL, 2)), NOWHERE)

    def step_bound(self) -> t.Term:
        """A relation between a state and the next that no names are bound in."""
        return self.step_condition()

    def plain_condition(self) -> t.Term:
        """A condition that cannot fail: whether a variable differs from a constant."""
        name = self.one(list(self.variables))
        kind = self.variables[name]
        read = t.Read(name, kind, NOWHERE)
        if isinstance(kind, Range):
            return t.Compare("<=", read, self.literal(kind), NOWHERE)
        return t.Not(t.Equal(read, self.literal(kind), NOWHERE), NOWHERE)

    def machine(self) -> Machine:
        room = self.states
        tables: Mapping[str, str] = {}
        for number in range(2 + self.choose(3)):
            kind = PHASE if number == 0 and self.chance(2) else self.kind(min(room, 64))
            if cardinality(kind) <= room:
                name = f"variable{number}"
                self.variables[name] = kind
                room //= cardinality(kind)
                if kind in (PHASE, Map(MEMBER, PHASE, total=True)):
                    tables = {**tables, name: "phase"}
        with self.unread():
            variables = tuple(
                Variable(
                    name,
                    kind,
                    self.literal(kind),
                    "machine" if name in tables else "variable",
                    tables.get(name),
                    NOWHERE,
                )
                for name, kind in self.variables.items()
            )
        machine = Machine(
            name="random",
            path="random.yaml",
            instance="default",
            about="",
            constants=(),
            tables=(TABLE,),
            ids=(MEMBER,),
            variables=variables,
            initial=self.initial(),
            actions=tuple(self.action(f"row{number}") for number in range(2 + self.choose(4))),
            properties=self.properties(),
            bounds=tuple(self.plain_condition() for _ in range(self.chance(4))),
            terminal=tuple(self.plain_condition() for _ in range(self.chance(4))),
            deadlock=not self.chance(3),
            budgets=(),
            expectation=None,
            tier="quick",
            symmetry=False,
        )
        return replace(
            machine,
            step_bounds=(self.step_bound(),) if self.chance(6) else (),
            properties=tuple(self.asking(machine, item) for item in machine.properties),
        )

    def asking(self, machine: Machine, item: Property) -> Property:
        """The property; a `step` property often of the steps of a row with some bindings only."""
        if item.kind != "step" or self.chance(3):
            return item
        action = self.one(machine.actions)
        kinds = [(name, kind) for name, kind in action.shown.items() if self.chance(2)]
        arguments = tuple((name, self.term(kind, 1)) for name, kind in kinds)
        ran: t.Term = t.Ran(action.name, arguments, NOWHERE)
        if self.chance(2):
            other = t.Ran(self.one(machine.actions).name, (), NOWHERE)
            ran = t.Or((other, ran), NOWHERE)
        if kinds and self.chance(2) and cardinality(kinds[0][1]) <= 16:
            (name, kind), *_ = kinds
            same = t.Ran(action.name, ((name, t.Local(name, kind, NOWHERE)),), NOWHERE)
            generator = t.Generator(name, t.Everything(Set(kind), NOWHERE), None)
            ran = t.Fold("any", (generator,), same, None, BOOL, NOWHERE)
        return replace(item, condition=t.Implies(ran, item.condition, NOWHERE))

    @contextmanager
    def unread(self) -> Iterator[None]:
        """No variable can be read inside."""
        self.readable = False
        try:
            yield
        finally:
            self.readable = True


def _reach(operator: str, left: Range, right: Range) -> Range | None:
    """A range that holds every result; None where it would be wide or there is none."""
    if left.high - left.low > WIDTH_MAX or right.high - right.low > WIDTH_MAX:
        return None
    results = []
    for a, b in product(values(left), values(right)):
        assert isinstance(a, int)
        assert isinstance(b, int)
        match operator:
            case "+":
                results.append(a + b)
            case "-":
                results.append(a - b)
            case "*":
                results.append(a * b)
            case "//" if b:
                results.append(a // b)
            case "%" if b:
                results.append(a % b)
    if not results or max(results) - min(results) > WIDTH_MAX:
        return None
    return Range(min(results), max(results))
