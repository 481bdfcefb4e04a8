"""Facts: what a state says of ids, one thing at a time, and the weights that they are summed with.

A fact has a site (`client.owner[_]`, the second id of an `Ack` in `requests`), a plain part and the
ids that take part in it, each in its role: in `client.owner[c1] == m2` the key c1 and the value m2.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace

from checker.frozen import frozen
from checker.llvm.code import Operand, signed

_ROOM = 1 << 64


def weight(site: str) -> int:
    """Return an odd number that looks random; the same for the same site."""
    digest = hashlib.blake2b(site.encode(), digest_size=8).digest()
    return signed(int.from_bytes(digest, "little") | 1)


@dataclass(slots=True)
class Digits:
    """The digits of the signatures of each id type: what each site's value is multiplied by.

    `spilled` are the types with more digits than a word has room for: the others got hashes.
    `hashed` are those with hashes of any kind in their signatures.
    """

    products: dict[str, int] = field(default_factory=dict)
    spilled: set[str] = field(default_factory=set)
    hashed: set[str] = field(default_factory=set)
    _weights: dict[tuple[str, str], int] = field(default_factory=dict)

    def weight(self, kind: str, site: str, size: int) -> int:
        """Return the weight of a number below `size` in signatures of this type of ids."""
        known = self._weights.get((kind, site))
        if known is None:
            product = self.products.get(kind, 1)
            # Shifts cost less than products.
            rounded = 1 << (size - 1).bit_length()
            if product * rounded <= _ROOM:
                size = rounded
            if product * size <= _ROOM:
                self.products[kind] = product * size
                known = signed(product)
            else:
                self.spilled.add(kind)
                self.hashed.add(kind)
                known = weight(site)
            self._weights[kind, site] = known
        return known


@frozen()
class Member:
    """An id that takes part in a fact: its type, and its place in the arrays of ids."""

    kind: str
    place: Operand


@frozen()
class Fact:
    """A fact on the way to its end: its site, plain part and ids so far.

    `plain` is a sum of numbers times weights; `counts`: there are such numbers. `own`: an id has
    the site to itself. `mask` is 0 or -1: whether the fact holds.
    """

    site: str
    plain: Operand = 0
    counts: bool = False
    ids: tuple[Member, ...] = ()
    own: bool = True
    mask: Operand = -1

    def at(self, part: str) -> Fact:
        """Return the fact with its site further in."""
        return replace(self, site=f"{self.site}{part}")

    def about(self, member: Member) -> Fact:
        """Return the fact with one more id."""
        return replace(self, ids=(*self.ids, member))
