"""Colours of symmetric ids: how far a state has told them apart.

Colours are an array with a place for each id, type after type, and one before each type for no
id, which is 0. The colour of an id is 1 + the number of ids of its type in earlier colours: 1, 1, 3
says that the third id comes after the first two, and nothing yet of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, pairwise

from checker.llvm.code import Code, Flag, Operand, Ref
from checker.llvm.frame import Constants
from checker.machine.types import Id
from checker.symmetry.facts import Digits

_SHIFT = 59
"""A colour in the highest bits of a number that is not negative."""


class Colours:
    """The places of the ids of some types, and code that works on colours.

    `starts` says where the places of a type begin, `counts` how many ids it has; `size` is that of
    the array.
    """

    def __init__(self, kinds: tuple[Id, ...]) -> None:
        self.kinds = kinds
        self.counts = {kind.name: len(kind.members) for kind in kinds}
        self.starts: dict[str, int] = {}
        self.size = 0
        for name, count in self.counts.items():
            self.starts[name] = self.size
            self.size += 1 + count

    @property
    def ids(self) -> list[int]:
        """The places of all ids."""
        return [place for kind in self.kinds for place in self.places(kind)]

    def places(self, kind: Id) -> range:
        """Return the places of the ids of a type."""
        start = self.starts[kind.name] + 1
        return range(start, start + len(kind.members))

    def bounds(self, code: Code, constants: Constants, place: Operand) -> tuple[Operand, Operand]:
        """Write: return the first place and the end of the ids of which `place` is one."""
        starts, stops = [0] * self.size, [0] * self.size
        for kind in self.kinds:
            places = self.places(kind)
            for index in places:
                starts[index], stops[index] = places.start, places.stop
        first, end = (code.shift(constants.array(table), place) for table in (starts, stops))
        return code.load(first), code.load(end)

    def same(self, code: Code, one: int, two: int) -> Flag:
        """Write: return whether the ids at two places have one colour in `%colours`."""
        first, second = (code.load(Ref("%colours", place)) for place in (one, two))
        return code.compare("eq", first, second)

    def rank(self, code: Code, colours: Ref, sums: Ref, *, anew: bool) -> Operand:
        """Write: colour the ids of each type by the numbers at `sums`; return how many pairs share.

        If `anew`, ids with larger numbers come first, those of which nothing is said last: there
        a fresh id is what it will be called. Otherwise ids keep their order by the colours they
        have.
        """
        shared: Operand = 0
        for kind in self.kinds:
            places = self.places(kind)
            keys = {place: self._key(code, colours, sums, place, anew=anew) for place in places}
            found: dict[int, Operand] = dict.fromkeys(places, 1)
            for one, two in combinations(places, 2):
                less = code.compare("ult", keys[one], keys[two])
                more = code.compare("ult", keys[two], keys[one])
                if anew:
                    less, more = more, less
                found[two] = code.add(found[two], code.number(less))
                found[one] = code.add(found[one], code.number(more))
                neither = code.compare("eq", keys[one], keys[two])
                shared = code.add(shared, code.number(neither))
            code.store(0, code.shift(colours, self.starts[kind.name]))
            for place, colour in found.items():
                code.store(colour, code.shift(colours, place))
        return shared

    def descend(self, code: Code, sums: Mapping[int, Operand], digits: Digits) -> Flag:
        """Write: return whether `sums`, by place, fall from id to id, in every type.

        Where they are hashes their lowest bit is not looked at, so some that fall may seem not to.
        """
        every: Operand = -1
        for kind in self.kinds:
            rough = int(kind.name in digits.hashed or digits.products.get(kind.name, 1) > 1 << 63)
            numbers = [code.bits("lshr", sums[place], rough) for place in self.places(kind)]
            for one, two in pairwise(numbers):
                # Differences of numbers below 2**63; a branch for each could not be foreseen.
                every = code.bits("and", every, code.sub(two, one))
        return code.compare("slt", every, 0)

    def _key(self, code: Code, colours: Ref, sums: Ref, place: int, *, anew: bool) -> Operand:
        """Write: return what an id is ranked by, an unsigned number: its colour, then its sum."""
        total = code.load(code.shift(sums, place))
        if anew:
            return total
        colour = code.bits("shl", code.load(code.shift(colours, place)), _SHIFT)
        return code.bits("or", colour, code.bits("lshr", total, 64 - _SHIFT))

    def classes(self, code: Code) -> Operand:
        """Write: return how many different colours there are in `%colours`, of all types."""
        total: Operand = 0
        for kind in self.kinds:
            seen: Operand = 0
            for place in self.places(kind):
                bit = code.bits("shl", 1, code.load(Ref("%colours", place)))
                seen = code.bits("or", seen, bit)
            total = code.add(total, code.count_ones(seen))
        return total

    def settle(self) -> str:
        """Return the text of `settle`: ids of one colour get colours of their own, in order."""
        code = Code("define internal void @settle(ptr %colours)")
        self.apart(code, Ref("%colours"), Ref("%colours"), first=True)
        return returned(code, "void")

    def apart(self, code: Code, colours: Ref, order: Ref, *, first: bool) -> None:
        """Write: colours at `order` as at `colours`, but for the two ids that share one.

        They get colours of their own, in their order if `first`, else in the opposite one.
        """
        for kind in self.kinds:
            places = self.places(kind)
            old = {place: code.load(code.shift(colours, place)) for place in places}
            new = dict(old)
            for one, two in combinations(places, 2):
                later = two if first else one
                new[later] = code.add(
                    new[later], code.number(code.compare("eq", old[one], old[two]))
                )
            code.store(0, code.shift(order, self.starts[kind.name]))
            for place in places:
                code.store(new[place], code.shift(order, place))

    def tied(self) -> str:
        """Return the text of `tied`: the place of the first id that shares its colour, or -1.

        Of the first type with such ids the earliest such colour, in it the least id.
        """
        code = Code("define internal i64 @tied(ptr %colours)")
        for kind in self.kinds:
            seen: Operand = 0
            twice: Operand = 0
            places = self.places(kind)
            for place in places:
                bit = code.bits("shl", 1, code.load(Ref("%colours", place)))
                twice = code.bits("or", twice, code.bits("and", seen, bit))
                seen = code.bits("or", seen, bit)
            following = code.new_label()
            code.leave_if(code.compare("eq", twice, 0), following)
            colour = code.lowest_one(twice)
            least: Operand = places[-1]
            for place in reversed(places):
                same = code.compare("eq", code.load(Ref("%colours", place)), colour)
                least = code.select(same, place, least)
            code.emit(f"ret i64 {least}")
            code.open = False
            code.label(following)
        return returned(code, "i64 -1")


def returned(code: Code, result: str) -> str:
    """Return the text of a function that ends by returning `result`."""
    code.emit(f"ret {result}")
    code.open = False
    return code.text()
