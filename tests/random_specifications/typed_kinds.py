"""Types of every kind, nested as they come: drawn, counted and written down.

A type is a tuple whose first item says what it is. Collections are neither keys nor elements here:
the explorer does not know of which type an `empty` is before it has a place.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from hypothesis import strategies as st

from .choices import Choices

Kind = tuple[Any, ...]
Scope = list[tuple[str, Kind]]
"""What can be read by its name, and its type."""

Read = tuple[str, Kind, tuple[str, ...]]
"""What is read, its type, and what must be so for it to have a value."""

BOOL: Kind = ("bool",)
ID: Kind = ("id",)
COLLECTIONS = ("set", "map", "total", "sequence", "bag")


def power(base: int, exponent: int) -> int:
    """Return a power, or a number of a thousand bits where it is larger."""
    large = base > 1 and exponent * base.bit_length() > 1000
    return 2**1000 if large else int(base**exponent)


class Kinds(Choices):
    """The types of one specification."""

    ranges: tuple[tuple[int, int], ...] = ((0, 1), (0, 2), (-1, 1), (2, 3), (-2, -1))
    id_counts: tuple[int, ...] = (2, 2, 3)
    hues: tuple[str, ...] = ("red", "green", "blue")
    alike = False
    """Whether ids are always interchangeable."""

    few = 12
    """Values of a type that can be a key or an element."""

    longest = 2
    """Items of a sequence or a bag."""

    largest = 10**9
    """Values of the largest type of a variable."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        super().__init__(draw)
        self.symmetric = self.alike or self.chance()
        self.ids = [f"k{number + 1}" for number in range(self.one(self.id_counts))]
        self.enums = {
            "Hue": list(self.hues[: self.number(2, len(self.hues))]),
            "Size": ["big", "small"],
        }
        self.records: dict[str, list[tuple[str, Kind]]] = {}
        self.messages: list[str] = []
        """Which of the records can be sent."""
        self.nameless: set[str] = set()
        """Which of the records and unions have no name, so that nothing is declared to be one."""
        self.unions: dict[str, list[str]] = {}
        for number in range(self.number(1, 3)):
            # Fields of two kinds of a union that are called alike must be of one type (Y303).
            stem = "f" if self.chance(10) else f"f{number}"
            fields = [(f"{stem}{place}", self.type(1)) for place in range(self.number(1, 3))]
            self.records[f"R{number}"] = fields
        if len(self.records) > 1:
            self.unions["U"] = list(self.records)
        self.variables: dict[str, tuple[Kind, bool]] = {}
        """The types of variables, and whether there is one for each id."""
        self.locals = 0
        self._read: dict[tuple[tuple[str, Kind], ...], list[Read]] = {}

    def local(self) -> str:
        self.locals += 1
        return f"x{self.locals}"

    def small(self) -> Kind:
        kinds = (
            BOOL,
            ("range", *self.one(self.ranges)),
            ("enum", self.one(tuple(self.enums))),
            ID,
            ID,
        )
        return self.one(kinds)  # type: ignore[no-any-return]

    def type(self, depth: int) -> Kind:
        if depth == 0:
            return self.small()
        words = ["small", "optional", *COLLECTIONS]
        named = {"record": self.records.keys(), "union": self.unions.keys()}
        known = {word: [one for one in named[word] if one not in self.nameless] for word in named}
        words += [word for word in known if known[word]]
        match self.one(words):
            case "optional":
                inner = self.type(depth - 1)
                return inner if inner[0] == "optional" else ("optional", inner)
            case "set":
                return ("set", self.key())
            case "map":
                return ("map", self.key(), self.type(depth - 1))
            case "total":
                return ("total", self.named_key(), self.type(depth - 1))
            case "sequence":
                return ("sequence", self.type(depth - 1), self.number(1, self.longest))
            case "bag":
                return ("bag", self.key(), self.number(1, self.longest))
            case "record" | "union" as word:
                return (word, self.one(known[word]))
        return self.small()

    def key(self) -> Kind:
        """Draw a type of few values which is no collection."""
        found = self.type(1)
        inner = found[1] if found[0] == "optional" else found
        if inner[0] not in COLLECTIONS and self.size(found) <= self.few:
            return found
        return self.named_key()

    def named_key(self) -> Kind:
        """Draw a small type whose values can be run through."""
        found = self.small()
        return found if self.size(found) <= self.few else ID

    def size(self, kind: Kind) -> int:
        match kind:
            case ("bool",):
                return 2
            case ("range", low, high):
                return int(high - low + 1)
            case ("enum", name):
                return len(self.enums[name])
            case ("id",):
                return len(self.ids)
            case ("optional", item):
                return 1 + self.size(item)
            case ("record", name):
                return prod(self.size(part) for _, part in self.records[name])
            case ("union", name):
                return sum(self.size(("record", part)) for part in self.unions[name])
            case ("set", item):
                return power(2, self.size(item))
            case ("map", key, held):
                return power(1 + self.size(held), self.size(key))
            case ("total", key, held):
                return power(self.size(held), self.size(key))
            case (_, item, most):
                return sum(power(self.size(item), length) for length in range(most + 1))
        raise ValueError(kind)

    def shown(self, kind: Kind) -> str:
        def inner(part: Kind) -> str:
            text = self.shown(part)
            return f"({text})" if " " in text else text

        match kind:
            case ("bool",):
                return "bool"
            case ("range", low, high):
                return f"{low}..{high}"
            case ("id",):
                return "K"
            case ("optional", item):
                return f"optional {inner(item)}"
            case ("set", item):
                return f"set of {inner(item)}"
            case ("map", key, held):
                return f"map of {inner(key)} to {inner(held)}"
            case ("total", key, held):
                return f"total map of {inner(key)} to {inner(held)}"
            case ("sequence" | "bag" as word, item, most):
                return f"{word} of {inner(item)} up to {most}"
        return str(kind[1])
