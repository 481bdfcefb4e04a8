"""Columns: of tests that look at one cell of a map, at which keys they hold, as bits of a word.

`client[c].state == STABLE` is asked by many rows, for each c, and which way it goes a processor
cannot foresee. What it says of a cell is known for each code that the cell may have. So the codes
of a map's cells, through one table, give a word that says of all such tests at which keys they
hold; a row begins with the keys at which all of its tests do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np
from numpy.typing import NDArray

from checker.frozen import frozen
from checker.layout.shape import Shape, is_dense, shape_of
from checker.llvm.code import Code, Operand, Ref
from checker.llvm.frame import Constants
from checker.machine import terms
from checker.machine.machine import Binding
from checker.machine.terms import Term
from checker.machine.types import Bool, Map, Option, Set, Union
from checker.semantics.values import belongs, code_of

Codes = NDArray[np.int64]
Truth = NDArray[np.bool_]

CODES_MAX = 1 << 14
"""Cells with more codes than this have no table."""

KEYS_MAX = 16
"""Tests are asked at up to this many keys at once."""

_WORD = 63


@frozen()
class CellTest:
    """A test of one cell of a variable: of each code, whether it holds, as bytes 0 and 1.

    Nothing is said of codes where the variable is a set: the test is whether it has the key.
    """

    variable: str
    truth: bytes
    opposite: bool


@dataclass(slots=True)
class Columns:
    """The tests of a machine and where their answers stand: word, lowest bit."""

    shapes: Mapping[str, Shape]
    constants: Constants
    _places: dict[tuple[str, bytes], tuple[int, int]] = field(default_factory=dict)
    _words: list[tuple[str, list[bytes]]] = field(default_factory=list)

    def add(self, tests: Iterable[CellTest], keys: int) -> None:
        """Note tests that are asked at this many keys."""
        for test in tests:
            place = test.variable, test.truth
            if not test.truth or place in self._places:
                continue
            room = _WORD // keys
            open_words = (
                number
                for number, (name, held) in enumerate(self._words)
                if name == test.variable and len(held) < room
            )
            number = next(open_words, len(self._words))
            if number == len(self._words):
                self._words.append((test.variable, []))
            held = self._words[number][1]
            self._places[place] = number, keys * len(held)
            held.append(test.truth)

    @property
    def count(self) -> int:
        """How many words there are."""
        return len(self._words)

    def words(self, code: Code, variables: Mapping[str, Ref]) -> list[Operand]:
        """Write: return the words of the state with these variables."""
        return [self._word(code, variables[name], name, held) for name, held in self._words]

    def _word(self, code: Code, cells: Ref, name: str, held: list[bytes]) -> Operand:
        keys = self.shapes[name].cells
        table = [
            sum(1 << (keys * place) for place, truth in enumerate(held) if truth[value])
            for value in range(len(held[0]))
        ]
        array = self.constants.array(table)
        total: Operand = 0
        for key in range(keys):
            value = code.load(code.shift(cells, key))
            bits: Operand
            if isinstance(value, int):
                bits = table[value]
            elif table == [0, 1]:
                bits = value
            else:
                bits = code.load(code.shift(array, value))
            total = code.bits("or", total, code.bits("shl", bits, key))
        return total

    def mask(
        self,
        code: Code,
        words: Sequence[Operand],
        variables: Mapping[str, Ref],
        tests: Iterable[CellTest],
        keys: int,
    ) -> Operand:
        """Write: return the keys at which all tests hold."""
        everything = (1 << keys) - 1
        found: Operand = everything
        for test in tests:
            if test.truth:
                number, place = self._places[test.variable, test.truth]
                bits = code.bits("lshr", words[number], place)
            else:
                bits = code.load(variables[test.variable])
            if test.opposite:
                bits = code.bits("xor", bits, -1)
            found = code.bits("and", found, bits)
        return found


# ---------------------------------------------------------------------------- finding the tests


def keys_of(bindings: Sequence[Binding]) -> list[int] | None:
    """Return how many values each binding has, None where that is not the same in all states."""
    sizes = []
    for binding in bindings:
        kind = binding.domain.type
        if not isinstance(binding.domain, terms.Everything) or not isinstance(kind, Set):
            return None
        if not is_dense(kind.item):
            return None
        sizes.append(shape_of(kind.item).cardinality)
    return sizes if 0 < prod(sizes) <= KEYS_MAX else None


@dataclass(slots=True)
class Finder:
    """Finds out what a term says of the cell at the values of all of these bindings.

    `lets` are the terms that other locals stand for. The term must be one that cannot fail.
    """

    shapes: Mapping[str, Shape]
    names: Sequence[str]
    sizes: Sequence[int]
    lets: Mapping[str, Term]
    _variable: str = ""
    _cell: Shape | None = None

    def test(self, term: Term) -> CellTest | None:
        """Return the test that a term is, if it is one."""
        membership = self._membership(term)
        if membership is not None:
            return membership
        self._variable = ""
        truth = self._truth(term)
        if truth is None or not self._variable:
            return None
        opposite = bool(truth[0])
        return CellTest(self._variable, (truth ^ opposite).tobytes(), opposite)

    def _membership(self, term: Term) -> CellTest | None:
        """Return the test that asks whether a set has the value of the only binding."""
        match term:
            case terms.Not(item, _, _):
                inner = self._membership(item)
                return inner and CellTest(inner.variable, b"", not inner.opposite)
            case terms.Contains(terms.Local(name, kind, _), terms.Read(variable, Set(item), _), _):
                if [name] == list(self.names) and kind == item and self.shapes[variable].scalar:
                    return CellTest(variable, b"", opposite=False)
        return None

    def _truth(self, term: Term) -> Truth | None:
        """Return of each code of the cell whether a term holds."""
        match term:
            case terms.Not(item, _, _):
                inner = self._truth(item)
                return None if inner is None else ~inner
            case terms.And(items, _, _):
                parts = [self._truth(item) for item in items]
                return _joined(np.logical_and, parts)
            case terms.Or(items, _, _):
                parts = [self._truth(item) for item in items]
                return _joined(np.logical_or, parts)
            case terms.IsNone(item, _, _) if isinstance(item.type, Option):
                codes = self._codes(item)
                return None if codes is None else codes == 0
            case terms.IsVariant(item, name, _, _):
                codes, kind = self._codes(item), item.type
                if codes is None:
                    return None
                if isinstance(kind, Option):
                    codes, kind = codes - 1, kind.item
                return _within(codes, shape_of(kind), name) if isinstance(kind, Union) else None
            case terms.Equal(left, right, _, _):
                return self._equal(left, right)
            case terms.Contains(item, terms.SetOf(values, _, _), _, _):
                return _joined(np.logical_or, [self._equal(item, value) for value in values])
            case terms.Contains(item, terms.Literal(frozenset() as values, _, _), _, _):
                codes = self._codes(item)
                if codes is None or not all(belongs(item.type, value) for value in values):
                    return None
                return np.isin(codes, [code_of(item.type, value) for value in values])
            case _ if isinstance(term.type, Bool):
                codes = self._codes(term)
                return None if codes is None else codes == 1
        return None

    def _equal(self, left: Term, right: Term) -> Truth | None:
        if isinstance(left, terms.Literal):
            left, right = right, left
        if not isinstance(right, terms.Literal) or not belongs(left.type, right.value):
            return None
        codes = self._codes(left)
        return None if codes is None else codes == code_of(left.type, right.value)

    def _codes(self, term: Term) -> Codes | None:
        """Return of each code of the cell the code of a part of it; any, where it has no part."""
        if self._is_cell(term):
            assert self._cell is not None
            return np.arange(self._cell.cardinality, dtype=np.int64)
        match term:
            case terms.Local(name, _, _) if name in self.lets:
                return self._codes(self.lets[name])
            case terms.Cast(item, kind, _):
                codes = self._codes(item)
                if codes is None or item.type == kind:
                    return codes
                whole = isinstance(item.type, Option) and item.type.item == kind
                return np.maximum(codes - 1, 0) if whole else None
            case terms.Field(item, name, kind, _):
                codes = self._codes(item)
                return None if codes is None else _field(codes, shape_of(item.type), name, kind)
        return None

    def _is_cell(self, term: Term) -> bool:
        """Whether a term is the cell, of the variable that was met before if there was one."""
        keys: list[str] = []
        while isinstance(term, terms.At) and isinstance(term.key, terms.Local):
            keys.insert(0, term.key.name)
            term = term.item
        if not isinstance(term, terms.Read) or keys != list(self.names):
            return False
        shape = self.shapes[term.variable]
        for size in self.sizes:
            if not isinstance(shape.type, Map) or shape.slotted or shape.count != size:
                return False
            assert shape.item is not None
            shape = shape.item
        fits = shape.scalar and shape.cells == 1 and shape.cardinality <= CODES_MAX
        if not fits or self._variable not in {"", term.variable}:
            return False
        self._variable, self._cell = term.variable, shape
        return True


def _joined(join: np.ufunc, parts: Sequence[Truth | None]) -> Truth | None:
    found = [part for part in parts if part is not None]
    return join.reduce(found) if found and len(found) == len(parts) else None


def _within(codes: Codes, shape: Shape, name: str) -> Truth:
    found = np.zeros(len(codes), np.bool_)
    for variant in shape.variants:
        if variant.name == name:
            found |= (codes >= variant.base) & (codes < variant.base + variant.count)
    return found


def _field(codes: Codes, shape: Shape, name: str, kind: object) -> Codes | None:
    found = np.zeros(len(codes), np.int64)
    for variant in shape.variants:
        part = variant.field(name)
        if part is None:
            continue
        if part.shape.type != kind:
            return None
        here = (codes >= variant.base) & (codes < variant.base + variant.count)
        size = max(part.shape.cardinality, 1)
        found = np.where(here, (codes - variant.base) // max(part.weight, 1) % size, found)
    return found
