"""The Layout: where each part of a state is kept in a few 64-bit words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import log2

from checker.errors import Diagnostic, SpecificationError
from checker.frozen import frozen
from checker.layout.placement import place
from checker.layout.shape import CODE_LIMIT, Shape, cell_cardinalities, shape_of
from checker.machine.machine import Machine, Variable
from checker.machine.relations import inside
from checker.machine.types import Bag, Map, Option, Record, Sequence, Set, Union

LEAVES_MAX = 1 << 16
"""Cells of a state: 512 KiB unpacked."""

KEYS_MAX = 1 << 16
"""Keys of a map, elements of a set."""


@frozen()
class Leaf:
    """One cell of a state in its place: (word >> shift) % 2**width // divisor % cardinality.

    `path` says what it is: `client.generation[c1]`. A cell with one code takes no room (width 0).
    `last`: the most significant of its group, which needs no remainder.
    """

    variable: str
    path: str
    cardinality: int
    word: int
    shift: int
    width: int
    divisor: int
    last: bool

    @property
    def weight(self) -> int:
        """What the word grows by when the cell grows by one, as a signed 64-bit number."""
        weight = (self.divisor << self.shift) % (1 << 64) if self.width else 0
        return weight - (1 << 64) if weight >> 63 else weight


@frozen(eq=False)
class Layout:
    """A state as `words` 64-bit words; bit 63 of word 0 is always clear.

    `leaves` are the cells of all variables, in order; `starts[v]` is the first of variable v, and
    `starts[-1]` their number. `bits` is the information in a state: log2 of all combinations.
    """

    machine: str
    words: int
    variables: tuple[str, ...]
    shapes: tuple[Shape, ...]
    starts: tuple[int, ...]
    leaves: tuple[Leaf, ...]
    bits: float

    def variable_leaves(self, index: int) -> tuple[Leaf, ...]:
        """Return the leaves of variable `index`, in order."""
        return self.leaves[self.starts[index] : self.starts[index + 1]]

    def variable_bits(self, index: int) -> float:
        """Return how many bits of information variable `index` costs."""
        return sum(log2(max(leaf.cardinality, 1)) for leaf in self.variable_leaves(index))

    def bits_of(self, cells: Mapping[str, Iterable[int]]) -> dict[int, int]:
        """Return the bits of each word that these cells of variables stand in."""
        masks: dict[int, int] = {}
        for index, name in enumerate(self.variables):
            if name in cells:
                leaves = self.variable_leaves(index)
                _add_bits(masks, (leaves[cell] for cell in cells[name]))
        return masks

    def masks(self, variables: frozenset[str]) -> dict[int, int]:
        """Return the bits of each word that these variables, and perhaps others, stand in."""
        masks: dict[int, int] = {}
        for index, name in enumerate(self.variables):
            if name in variables:
                _add_bits(masks, self.variable_leaves(index))
        return masks


def _add_bits(masks: dict[int, int], leaves: Iterable[Leaf]) -> None:
    for leaf in leaves:
        if leaf.width:
            bits = ((1 << leaf.width) - 1) << leaf.shift
            masks[leaf.word] = masks.get(leaf.word, 0) | bits


def pack(machine: Machine) -> Layout:
    """Lay the states of `machine` out; SpecificationError (R610) for a type without limits."""
    errors = [error for variable in machine.variables for error in _oversized(variable)]
    if errors:
        raise SpecificationError(tuple(errors))
    shapes = tuple(shape_of(variable.type) for variable in machine.variables)
    starts = [0]
    cells: list[tuple[Variable, str, int]] = []
    for variable, shape in zip(machine.variables, shapes, strict=True):
        cells += [(variable, path, size) for path, size in cell_cardinalities(shape)]
        starts.append(len(cells))
    words, spots = place([size for _, _, size in cells])
    leaves = tuple(
        Leaf(
            variable.name,
            variable.name + path,
            size,
            spot.word,
            spot.shift,
            spot.width,
            spot.divisor,
            spot.last,
        )
        for (variable, path, size), spot in zip(cells, spots, strict=True)
    )
    return Layout(
        machine=machine.name,
        words=words,
        variables=tuple(variable.name for variable in machine.variables),
        shapes=shapes,
        starts=tuple(starts),
        leaves=leaves,
        bits=sum(log2(max(size, 1)) for _, _, size in cells),
    )


def _oversized(variable: Variable) -> list[Diagnostic]:
    """Return what is too large about a variable: its cells, or the keys of a map inside it."""
    for kind in inside(variable.type):
        if isinstance(kind, Map) and shape_of(kind.key).cardinality > KEYS_MAX:
            return [_too_large(variable, "keys of a map", shape_of(kind.key).cardinality, KEYS_MAX)]
        if isinstance(kind, Set) and shape_of(kind.item).cardinality > KEYS_MAX:
            size = shape_of(kind.item).cardinality
            return [_too_large(variable, "elements of a set", size, KEYS_MAX)]
        if isinstance(kind, (Sequence, Bag)) and kind.capacity > LEAVES_MAX:
            return [_too_large(variable, "items", kind.capacity, LEAVES_MAX)]
        if not isinstance(kind, (Map, Set, Sequence, Bag, Option, Record, Union)):
            size = shape_of(kind).cardinality
            if size > CODE_LIMIT:
                return [_too_large(variable, "values", size, CODE_LIMIT)]
    cells = shape_of(variable.type).cells
    if cells > LEAVES_MAX:
        return [_too_large(variable, "parts in its state", cells, LEAVES_MAX)]
    return []


def _too_large(variable: Variable, what: str, size: int, limit: int) -> Diagnostic:
    shown = str(size) if size < 1 << 64 else f"about 2**{size.bit_length() - 1}"
    return Diagnostic(
        code="R610",
        message=f"{variable.name} is too large to be kept in a state: {what}",
        span=variable.span,
        expected=f"at most {limit}",
        found=shown,
        help="make the bounds of its type smaller",
    )
