"""Goal: tables add to signatures what the code adds that they stand for, in every state."""

from __future__ import annotations

import ctypes
import random
from dataclasses import replace

import numpy as np
import pytest
from machines import action, assign, machine, place, read, variable
from symmetric_types import PLAIN, A, B, random_type, sample

from checker.kernel.functions import Writer
from checker.layout import Layout, encode_all, pack
from checker.llvm.code import Code, Ref
from checker.llvm.frame import Frame
from checker.llvm.native import NativeCode, compile_object, heading
from checker.llvm.states import DECLARATIONS, unpack
from checker.machine.types import (
    Bag,
    Bool,
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
from checker.symmetry.colours import Colours, returned
from checker.symmetry.facts import Digits
from checker.symmetry.signature import Signature
from checker.symmetry.tabulated import Tabulated, tabulate

PAIR = Record("Pair", (("one", A), ("two", A)))
LEVEL = Range(1, 5)
MESSAGE = Union("Message", (Record("Free", ()), Record("Held", (("by", A), ("at", LEVEL)))))
WIDE = Range(0, 60_000)

IN_TABLES: tuple[Type, ...] = (
    Set(A),
    Option(A),
    Map(A, LEVEL, total=True),
    Map(A, LEVEL, total=False),
    Map(A, Option(A), total=True),
    Map(A, Map(Bool(), LEVEL, total=True), total=True),
    Map(A, Record("Two", (("one", LEVEL), ("other", Bool()))), total=True),
    Map(A, Range(0, 10_000), total=True),
    Map(Bool(), Set(A), total=True),
    Bag(A, 2),
    Sequence(A, 2),
    Option(MESSAGE),
    WIDE,
)
NOT: tuple[Type, ...] = (
    PAIR,
    Map(A, WIDE, total=True),
    Map(A, Range(0, 1_000_000_000), total=True),
    Set(Record("Large", (("by", A), ("at", Range(0, 30))))),
    Map(Record("Keys", (("by", A), ("at", Range(0, 30)))), Bool(), total=True),
)


class Written:
    """Both ways to the signatures of a state that is one value, as native functions."""

    def __init__(self, kind: Type) -> None:
        held = variable("held", kind, None)
        stay = action("stay", assign(place("held", kind), read("held", kind)))
        made = replace(machine("written", [held], [stay], ids=(A, B, PLAIN)), symmetry=True)
        self.layout: Layout = pack(made)
        self.writer = Writer(made, self.layout)
        self.colours, self.digits = Colours((A, B)), Digits()
        self.shapes = {"held": self.layout.shapes[0]}
        self.tables: Tabulated = tabulate(
            self.layout, self.shapes, self.colours, self.digits, self._frame
        )

    def _frame(self, code: Code) -> Frame:
        return self.writer._frame(code, "")

    def compiled(self) -> NativeCode:
        functions = [self._by_tables(), self._by_code()]
        head = [*heading(1), DECLARATIONS, self.writer.constants.text()]
        return NativeCode(compile_object("\n".join([*head, *functions]), optimised=False))

    def _by_tables(self) -> str:
        code = Code("define i64 @tables(ptr %state, ptr %sums)")
        words = [code.load(Ref("%state", word)) for word in range(self.layout.words)]
        found = self.tables.amounts(code, self.writer.constants, words)
        for spot in self.colours.ids:
            code.store(found.get(spot, 0), Ref("%sums", spot))
        return returned(code, "i64 0")

    def _by_code(self) -> str:
        code = Code("define i64 @code(ptr %state, ptr %sums)")
        arrays = {"held": code.reserve(max(self.layout.shapes[0].cells, 1))}
        unpack(code, self.layout, Ref("%state"), self.shapes, arrays, {})
        frame = self._frame(code)
        signature = Signature(frame, self.colours, self.digits, "own", Ref("%sums"))
        signature.observe(arrays["held"], self.shapes["held"], "held")
        return returned(code, "i64 0")

    def sums(self, code: NativeCode, name: str, state: object) -> list[int]:
        packed = np.ascontiguousarray(encode_all(self.layout, [(state,)]))
        found = np.zeros(self.colours.size, np.int64)
        call = ctypes.CFUNCTYPE(*[ctypes.c_int64] * 3)(code.address(name))
        call(packed.ctypes.data, found.ctypes.data)
        # What is added to all ids of a type alike makes no difference.
        kinds = [self.colours.places(kind) for kind in self.colours.kinds]
        return [int(found[spot]) - int(found[spots.start]) for spots in kinds for spot in spots]


@pytest.mark.parametrize("kind", IN_TABLES, ids=str)
def test_these_stand_in_tables(kind: Type) -> None:
    assert Written(kind).tables.variables == {"held"}


@pytest.mark.parametrize("kind", NOT, ids=str)
def test_these_do_not(kind: Type) -> None:
    written = Written(kind)
    assert written.tables.variables == frozenset()
    assert written.tables.chunks == ()


def check_sums(kind: Type, choose: random.Random) -> bool:
    """Hold tables to the code on some values of a type; return whether it has tables at all."""
    written = Written(kind)
    if not written.tables.variables:
        return False
    code = written.compiled()
    for _ in range(60):
        state = sample(choose, kind)
        assert written.sums(code, "tables", state) == written.sums(code, "code", state), state
    return True


@pytest.mark.parametrize("kind", IN_TABLES, ids=str)
def test_tables_add_what_code_adds(kind: Type) -> None:
    assert check_sums(kind, random.Random(1))  # noqa: S311


def test_tables_of_random_types_add_what_code_adds() -> None:
    choose = random.Random(5)  # noqa: S311
    drawn = (random_type(choose, 1 + number % 3) for number in range(200))
    kinds = [Map(A, kind, total=True) for kind in drawn if cardinality(kind) <= 1 << 40]
    tried = [check_sums(kind, choose) for kind in kinds[:60]]
    assert sum(tried) > 20


def test_lanes_lie_side_by_side() -> None:
    """Three ids with a digit of five values each: nine bits of one word."""
    tables = Written(Map(A, LEVEL, total=True)).tables
    assert {lane.word for lane in tables.lanes.values()} == {0}
    spots = sorted((lane.shift, lane.width) for lane in tables.lanes.values())
    assert spots == [(0, 3), (3, 3), (6, 3)]
