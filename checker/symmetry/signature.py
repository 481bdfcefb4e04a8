"""Signatures of symmetric ids in native code: numbers that tell ids apart by what a state says.

What a state says is a bag of *facts* (`facts`). The signature of an id is a sum over the facts it
takes part in: of each a hash, seen from its role, in which other ids count by colour.
So it does not depend on what ids are called, and renaming ids renames signatures with them.

Facts of one id at a site that it has to itself (the value of `client.clock[_]`, whether it is in
the set `members`) are digits of its signature instead, as far as there is room: ids of which
nothing else is said are alike exactly if their signatures are equal.

Types that are seldom and intricate are left out: signatures need not tell everything, they must
only never tell ids apart that a renaming could swap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

from checker.layout.shape import Shape, VariantShape, cell_cardinalities, is_dense
from checker.llvm import cells, loops
from checker.llvm.code import Operand, Ref
from checker.llvm.frame import Frame, Value
from checker.machine.relations import mentions
from checker.machine.types import Id, Map, Option, Record, Sequence, Set, Union
from checker.symmetry.colours import Colours
from checker.symmetry.facts import Digits, Fact, Member, weight
from checker.symmetry.sorts import sorts_of

_UNROLLED = 16
_CELLS_UNROLLED = 256
"""Elements, and their cells, of a collection that are looked at one by one, not in a loop."""

_SPREAD = (-7046029254386353131, -4417276706812531889)
"""Odd numbers to multiply with: what was in few bits is then in all."""

Aspect = Literal["own", "shared", "links"]
"""What is written of facts: `own`, the signatures that facts of one id make; `shared`, those that
facts of several make; `links`, only which ids take part in facts that are no digits."""


@dataclass(slots=True)
class Signature:
    """Writes one aspect of the facts of a state into `target`, an array with a place for each id.

    `places` says where those of each type are; what is written at that of no id is never looked
    at. Only `shared` needs `colours`.
    """

    frame: Frame
    places: Colours
    digits: Digits
    aspect: Aspect
    target: Ref
    colours: Ref | None = None
    _counts: dict[int, tuple[Shape, int]] = field(default_factory=dict)

    def observe(self, place: Ref, shape: Shape, site: str) -> None:
        """Write: add what the variable at `place` says of ids."""
        self._walk(self._held(place, shape), shape, Fact(site))

    def most_ids(self, shape: Shape) -> int:
        """Return how many ids a fact inside a value of this shape may have (2: two or more)."""
        known = self._counts.get(id(shape))
        if known is None:
            known = self._counts[id(shape)] = shape, min(2, self._most_ids(shape))
        return known[1]

    def _most_ids(self, shape: Shape) -> int:
        match shape.type:
            case Id(name, _, _):
                return int(name in self.places.starts)
            case Map():
                assert shape.key is not None
                assert shape.item is not None
                return self.most_ids(shape.key) + self.most_ids(shape.item)
            case Record() | Union():
                variants = shape.variants
                return max(
                    (sum(self.most_ids(part.shape) for part in one.fields) for one in variants),
                    default=0,
                )
            case _:
                return 0 if shape.item is None else self.most_ids(shape.item)

    def _held(self, place: Ref, shape: Shape) -> Value:
        """Return the value at a place; a record as it lies there, since only its parts matter."""
        return place if isinstance(shape.type, Record) else cells.load(self.frame, place, shape)

    # ---------------------------------------------------------------------------------- facts

    def _walk(self, value: Value, shape: Shape, fact: Fact) -> None:
        """Write: the facts inside a value."""
        if not self._wanted(fact, shape):
            return
        if self.most_ids(shape) == 0:
            self._end(self._with_plain(value, shape, fact))
            return
        sorts = self._sorts(shape, fact)
        if sorts is not None and not isinstance(value, Ref):
            table = self.frame.constants.array(sorts)
            sort = self.frame.code.load(self.frame.code.shift(table, value))
            self._end(self._counting(sort, max(sorts) + 1, "", fact))
            return
        mark = self.frame.code.mark()
        match shape.type:
            case Id(name, _, _):
                assert not isinstance(value, Ref)
                self._end(fact.about(self._member(name, value)))
            case Option():
                self._option(value, shape, fact)
            case Set():
                self._set(value, shape, fact)
            case Record() | Union():
                self._variants(value, shape, fact)
            case Map():
                self._map(value, shape, fact)
            case _:
                self._row(value, shape, fact)
        self.frame.code.release(mark)

    def _sorts(self, shape: Shape, fact: Fact) -> list[int] | None:
        """Return the sorts of a union's values, if all that matters of one is its sort."""
        digit = self.aspect == "own" and fact.own and len(fact.ids) == 1
        if not digit or not isinstance(shape.type, Union):
            return None
        return sorts_of(shape, frozenset(self.places.starts))

    def _wanted(self, fact: Fact, shape: Shape) -> bool:
        """Whether this value has facts of the number of ids that is looked for."""
        least, most = len(fact.ids), len(fact.ids) + self.most_ids(shape)
        match self.aspect:
            case "own":
                return least <= 1 <= most
            case "shared":
                return most >= 2
            case "links":
                return most >= 1

    def _member(self, name: str, index: Operand) -> Member:
        return Member(name, self.frame.code.add(index, self.places.starts[name] + 1))

    def _maybe(self, name: str, code: Operand) -> Member:
        """Return the member that an optional id is, by its code: 0 is none."""
        return Member(name, self.frame.code.add(code, self.places.starts[name]))

    def _end(self, fact: Fact) -> None:
        """Write: what a whole fact says of its ids."""
        match self.aspect:
            case "own" if len(fact.ids) == 1:
                self._add(fact.ids[0], self._own(fact), fact)
            case "shared" if len(fact.ids) > 1:
                self._share(fact)
            case "links" if len(fact.ids) > 1 or not fact.own:
                code = self.frame.code
                for member in fact.ids:
                    mark = code.shift(self.target, member.place)
                    code.store(code.bits("or", code.load(mark), fact.mask), mark)

    def _own(self, fact: Fact) -> Operand:
        code = self.frame.code
        if fact.own:
            if fact.counts:
                return fact.plain
            return self.digits.weight(fact.ids[0].kind, fact.site, 2)
        self.digits.hashed.add(fact.ids[0].kind)
        return self._hash(code.add(fact.plain, weight(fact.site)))

    def _share(self, fact: Fact) -> None:
        code = self.frame.code
        assert self.colours is not None
        total = code.add(fact.plain, weight(fact.site))
        for role, member in enumerate(fact.ids):
            colour = code.load(code.shift(self.colours, member.place))
            total = code.add(total, code.mul(colour, weight(f"{fact.site} {role}")))
        for role, member in enumerate(fact.ids):
            amount = self._hash(code.add(total, weight(f"{fact.site} as {role}")))
            self._add(member, amount, fact)

    def _add(self, member: Member, amount: Operand, fact: Fact) -> None:
        code = self.frame.code
        sum_ = code.shift(self.target, member.place)
        code.store(code.add(code.load(sum_), code.bits("and", amount, fact.mask)), sum_)

    def _hash(self, number: Operand) -> Operand:
        code = self.frame.code
        for factor in _SPREAD:
            number = code.mul(number, factor)
            number = code.bits("xor", number, code.bits("lshr", number, 32))
        return number

    # ---------------------------------------------------------------------------- plain parts

    def _with_plain(self, value: Value, shape: Shape, fact: Fact) -> Fact:
        """Return the fact with a value that has no ids as part of it."""
        if isinstance(value, Ref):
            sizes = [size for _, size in cell_cardinalities(shape)]
            for cell, size in enumerate(sizes):
                number = self.frame.code.load(self.frame.code.shift(value, cell))
                fact = self._counting(number, size, f".{cell}", fact)
            return fact
        number = cells.code_of(self.frame, value, shape)
        return self._counting(number, shape.cardinality, "", fact)

    def _counting(self, number: Operand, size: int, part: str, fact: Fact) -> Fact:
        """Return the fact with a number below `size` as part of it."""
        site = f"{fact.site}{part} value"
        if self.aspect == "own" and fact.own and len(fact.ids) == 1:
            factor = self.digits.weight(fact.ids[0].kind, site, size)
        else:
            factor = weight(site)
        code = self.frame.code
        plain = code.add(fact.plain, code.mul(number, factor))
        return replace(fact, plain=plain, counts=True)

    def _present(self, fact: Fact) -> None:
        """Write: the fact that there is something at all; of each place once, for it is a digit."""
        if fact.ids:
            self._end(fact.at("?"))

    def _there(self, item: Shape, fact: Fact) -> None:
        """Write: the fact that an element is there, unless it is a fact whatever its value."""
        if fact.own or not isinstance(item.type, (Id, Record, Union)):
            self._present(fact)

    # ---------------------------------------------------------------------------------- types

    def _option(self, value: Value, shape: Shape, fact: Fact) -> None:
        item, code = shape.item, self.frame.code
        assert item is not None
        if isinstance(item.type, Id) and not isinstance(value, Ref):
            some = code.number(code.compare("ne", value, 0))
            if fact.ids and self.aspect == "own":
                self._end(self._counting(some, 2, "", fact))
                return
            there = code.bits("and", fact.mask, code.sub(0, some))
            self._end(replace(fact, mask=there).about(self._maybe(item.type.name, value)))
            return
        end, inside = code.new_label(), fact.at(".some")
        code.leave_if(cells.is_none(self.frame, value), end)
        self._present(inside)
        self._walk(cells.unwrap(self.frame, value, shape), item, inside)
        code.label(end)

    def _set(self, value: Value, shape: Shape, fact: Fact) -> None:
        frame, code, item = self.frame, self.frame.code, shape.item
        assert item is not None
        if isinstance(item.type, Id) and not isinstance(value, Ref):
            if fact.ids and self.aspect == "own":
                self._end(self._counting(code.count_ones(value), shape.count + 1, "", fact))
                return
            for index in range(shape.count):
                bit = code.bits("and", code.bits("lshr", value, index), 1)
                there = code.bits("and", fact.mask, code.sub(0, bit))
                self._end(replace(fact, mask=there).about(self._member(item.type.name, index)))
            return
        inside = replace(fact, own=False)

        def visit(element: Operand, _: str) -> None:
            self._there(item, inside)
            self._walk(cells.value_of(frame, element, item), item, inside)

        domain = loops.Domain(shape, 0, shape.count, value)
        loops.run(frame, domain, visit, distinct=False, unroll=unrolls(shape))

    def _variants(self, value: Value, shape: Shape, fact: Fact) -> None:
        """Write: the facts of a record, or of the variant that a union is.

        Where an id has it to itself, one for each field; otherwise one of all plain fields and
        ids together, then those of what else there is.
        """
        code = self.frame.code
        for variant in shape.variants:
            end = code.new_label()
            inside = fact
            if isinstance(shape.type, Union):
                here = cells.in_variant(self.frame, value, shape, variant)
                code.leave_unless(here, end)
                inside = fact.at(f".{variant.name}")
                if fact.own:
                    self._present(inside)
            if fact.own:
                for part in variant.fields:
                    held = self._field(value, shape, variant, part.name)
                    self._walk(held, part.shape, inside.at(f".{part.name}"))
            else:
                whole, others = self._gathered(value, shape, variant, inside)
                self._end(whole)
                for part_shape, held, site in others:
                    self._walk(held, part_shape, replace(whole, site=site))
            code.label(end)

    def _field(self, value: Value, shape: Shape, variant: VariantShape, name: str) -> Value:
        part = variant.field(name)
        assert part is not None
        if isinstance(value, Ref):
            return self._held(self.frame.code.shift(value, part.offset), part.shape)
        return cells.variant_field(self.frame, value, shape, variant, name)

    def _gathered(
        self, value: Value, shape: Shape, variant: VariantShape, fact: Fact
    ) -> tuple[Fact, list[tuple[Shape, Value, str]]]:
        """Return the fact with a record's plain parts and ids, and the parts that are neither."""
        others: list[tuple[Shape, Value, str]] = []
        for part in variant.fields:
            held = self._field(value, shape, variant, part.name)
            site = f"{fact.site}.{part.name}"
            kind = part.shape.type
            if self.most_ids(part.shape) == 0:
                plain = self._with_plain(held, part.shape, replace(fact, site=site))
                fact = replace(plain, site=fact.site)
            elif isinstance(kind, Id):
                assert not isinstance(held, Ref)
                fact = fact.about(self._member(kind.name, held))
            elif isinstance(kind, Option) and isinstance(kind.item, Id):
                assert not isinstance(held, Ref)
                fact = fact.about(self._maybe(kind.item.name, held))
            else:
                others.append((part.shape, held, site))
        return fact, others

    def _map(self, value: Value, shape: Shape, fact: Fact) -> None:
        assert shape.key is not None
        assert isinstance(value, Ref)
        held = value
        about = self._about_key(shape.key)
        if about is None:
            self._link_all(shape, fact)
        elif unrolls(shape):
            for index in range(shape.count):
                self._element(held, shape, index, about(index, fact))
        else:
            loose = replace(fact, own=False)
            self.frame.code.counted(
                0,
                shape.count,
                lambda index: self._element(held, shape, index, about(index, loose)),
            )

    def _about_key(self, key: Shape) -> Callable[[Operand, Fact], Fact] | None:
        """Return how a fact is one about a key, by its code; None for keys that are left out."""
        kind = key.type
        if not is_dense(kind):
            return None
        if self.most_ids(key) == 0:
            return self._about_plain_key
        match kind:
            case Id(name, _, _):
                return lambda index, fact: fact.at("[]").about(self._member(name, index))
            case Option(Id(name, _, _)):
                return lambda index, fact: fact.at("[]").about(self._maybe(name, index))
            case Record() if all(self._is_simple(part.shape) for part in key.variants[0].fields):
                return lambda index, fact: self._about_record_key(key, index, fact)
        return None

    def _about_record_key(self, key: Shape, index: Operand, fact: Fact) -> Fact:
        """Return the fact with the ids of a key, and with its plain fields in the site."""
        whole = cells.value_of(self.frame, index, key)
        variant = key.variants[0]
        inside = fact.at("[]")
        for part in variant.fields:
            held = self._field(whole, key, variant, part.name)
            if self.most_ids(part.shape) == 0:
                if isinstance(held, int):
                    inside = inside.at(f".{part.name}={int(held)}")
                else:
                    inside = self._with_plain(held, part.shape, replace(inside, own=False))
            elif isinstance(part.shape.type, Id):
                assert not isinstance(held, Ref)
                inside = inside.about(self._member(part.shape.type.name, held))
            elif isinstance(part.shape.type, Option) and isinstance(part.shape.type.item, Id):
                assert not isinstance(held, Ref)
                inside = inside.about(self._maybe(part.shape.type.item.name, held))
        return inside

    def _is_simple(self, shape: Shape) -> bool:
        """Whether a field is plain, an id or an optional one."""
        kind = shape.type.item if isinstance(shape.type, Option) else shape.type
        return isinstance(kind, Id) or self.most_ids(shape) == 0

    def _about_plain_key(self, index: Operand, fact: Fact) -> Fact:
        if isinstance(index, int):
            return fact.at(f"[{index}]")
        return self._numbered(index, fact.at("[]"))

    def _numbered(self, index: Operand, fact: Fact) -> Fact:
        """Return a fact that ids do not have to themselves with a number that tells it apart."""
        code = self.frame.code
        return replace(
            fact, plain=code.add(fact.plain, code.mul(index, weight(f"{fact.site} number")))
        )

    def _row(self, value: Value, shape: Shape, fact: Fact) -> None:
        """Write: the facts of the slots of a sequence or a bag."""
        assert isinstance(value, Ref)
        held, loose = value, replace(fact, own=False)

        def visit(index: Operand) -> None:
            ordered = isinstance(shape.type, Sequence)
            self._element(held, shape, index, self._numbered(index, loose) if ordered else loose)

        if unrolls(shape):
            for index in range(shape.count):
                visit(index)
        else:
            self.frame.code.counted(0, shape.count, visit)

    def _element(self, value: Ref, shape: Shape, index: Operand, fact: Fact) -> None:
        """Write: the facts of an element of a map or a row, if it is there."""
        frame, code, item = self.frame, self.frame.code, shape.item
        assert item is not None
        if not self._wanted(fact, item):
            return
        place = cells.element(frame, value, shape, index)
        if not shape.slotted:
            self._walk(self._held(place, item), item, fact)
            return
        if fact.own and item.coded_slot and self.most_ids(item) == 0:
            self._end(self._counting(code.load(place), item.cardinality + 1, "", fact))
            return
        end = code.new_label()
        code.leave_unless(cells.is_present(frame, place, shape), end)
        self._there(item, fact)
        self._walk(cells.load_element(frame, place, shape), item, fact)
        code.label(end)

    def _link_all(self, shape: Shape, fact: Fact) -> None:
        """Write: ids that have, or may be in, a value that is left out may be told apart by it."""
        if self.aspect != "links":
            return
        within = [
            self._member(name, index)
            for name in self.places.starts
            if mentions(shape.type, frozenset({name}))
            for index in range(self.places.counts[name])
        ]
        for member in (*fact.ids, *within):
            self.frame.code.store(-1, self.frame.code.shift(self.target, member.place))


def unrolls(shape: Shape) -> bool:
    """Whether the elements of a collection are looked at one by one, not in a loop."""
    return shape.count <= _UNROLLED and shape.cells <= _CELLS_UNROLLED
