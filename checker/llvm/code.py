"""Code: LLVM IR as text, one function at a time, with constants folded as it is written.

An operand is an int64: a Python `int` when it is known now, else the name of an SSA value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from checker.llvm.blocks import Blocks, Flag, Operand, opposite

__all__ = ["Code", "Flag", "FrameTooLargeError", "Operand", "Ref", "signed"]

_MASK = (1 << 64) - 1


def signed(value: int) -> int:
    """Return `value` modulo 2**64 as a signed 64-bit number."""
    value &= _MASK
    return value - (1 << 64) if value >> 63 else value


FRAME_CELLS_MAX = 7 << 17
"""Cells of a function and of those it calls: 7 MiB of the 8 MiB of stack that threads have."""


class FrameTooLargeError(Exception):
    """A value that is made on the way has more cells than a frame has room for."""


class Ref(NamedTuple):
    """A place in memory: `offset` cells (int64) after the pointer `base`."""

    base: str
    offset: Operand = 0


_FOLD: dict[str, Callable[[int, int], int]] = {
    "add": lambda left, right: left + right,
    "sub": lambda left, right: left - right,
    "mul": lambda left, right: left * right,
    "and": lambda left, right: left & right,
    "or": lambda left, right: left | right,
    "xor": lambda left, right: left ^ right,
    "shl": lambda left, right: left << right,
    "lshr": lambda left, right: (left & _MASK) >> right,
    "udiv": lambda left, right: (left & _MASK) // (right & _MASK),
    "urem": lambda left, right: (left & _MASK) % (right & _MASK),
}

_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda left, right: left == right,
    "ne": lambda left, right: left != right,
    "slt": lambda left, right: left < right,
    "sle": lambda left, right: left <= right,
    "sgt": lambda left, right: left > right,
    "sge": lambda left, right: left >= right,
    "ult": lambda left, right: left & _MASK < right & _MASK,
}

_PARTIAL: dict[str, Callable[[int], bool]] = {
    "shl": lambda right: 0 <= right < 64,
    "lshr": lambda right: 0 <= right < 64,
    "udiv": lambda right: right != 0,
    "urem": lambda right: right != 0,
}
"""Which right operands an operator takes, where not all."""

_RIGHT_NEUTRAL = {"add": 0, "sub": 0, "mul": 1, "or": 0, "xor": 0, "shl": 0, "lshr": 0, "udiv": 1}


class Code(Blocks):
    """The text of one native function under construction.

    `known` are cells of memory that is written once, before everything that reads it: what they
    hold, by pointer and offset, or the cell that holds the same; `frozen` are the pointers to such
    memory. `escaped` are pointers used with offsets not known now. `cells` are those of its frame,
    beginning with `called`, the most that a function has that it calls.
    """

    def __init__(self, signature: str, called: int = 0) -> None:
        super().__init__()
        self._signature = signature
        self._entry: list[str] = []
        self.cells = called
        self._free: dict[int, list[str]] = {}
        self._taken: list[tuple[int, str]] = []
        self._sums: dict[str, tuple[str, int]] = {}
        self._named: dict[tuple[str, int], Ref] = {}
        self.known: dict[tuple[str, int], Operand | Ref] = {}
        self.frozen: set[str] = set()
        self.escaped: set[str] = set()

    def arriving(self, value: Operand | Flag) -> tuple[Operand | Flag, str]:
        """Return a value with the block it comes from, for a phi in the block that is next."""
        if isinstance(value, str) and value[0] == "!":
            value = self._text(value)
        return value, self.block

    def phi(self, incoming: list[tuple[Operand, str]]) -> Operand:
        """Join operands by the block they come from."""
        if not incoming or all(value == incoming[0][0] for value, _ in incoming):
            return incoming[0][0] if incoming else 0
        return self.value("phi i64 " + ", ".join(f"[{value}, %{at}]" for value, at in incoming))

    def phi_flag(self, incoming: list[tuple[Flag, str]]) -> Flag:
        """Join flags by the block they come from."""
        if not incoming or all(value is incoming[0][0] for value, _ in incoming):
            return incoming[0][0] if incoming else False
        parts = (f"[{self._text(value)}, %{at}]" for value, at in incoming)
        return self.value("phi i1 " + ", ".join(parts))

    def phi_pointer(self, incoming: list[tuple[str, str]]) -> str:
        """Join pointers by the block they come from."""
        if all(value == incoming[0][0] for value, _ in incoming):
            return incoming[0][0]
        return self.value("phi ptr " + ", ".join(f"[{value}, %{at}]" for value, at in incoming))

    def optional(self, write: Callable[[], None]) -> tuple[int, int]:
        """Return the range of lines that `write` writes, for `drop`."""
        start, self._recording = len(self._lines), False
        write()
        self._recording = True
        return start, len(self._lines)

    def drop(self, lines: tuple[int, int]) -> None:
        """Take lines out that turned out not to be needed."""
        for index in range(*lines):
            self._lines[index] = ""

    def _text(self, flag: Flag) -> str:
        """Return a flag as an operand of an instruction."""
        if isinstance(flag, bool):
            return "true" if flag else "false"
        return self.pure(f"xor i1 {flag[1:]}, true") if flag[0] == "!" else flag

    # ------------------------------------------------------------------------------ arithmetic

    def op(self, operator: str, left: Operand, right: Operand) -> Operand:
        """`left operator right` on int64, wrapping."""
        if isinstance(left, int) and isinstance(right, int):
            if operator in _PARTIAL and not _PARTIAL[operator](right):
                return 0  # only where an evaluation error has been found
            return signed(_FOLD[operator](left, right))
        if right == _RIGHT_NEUTRAL.get(operator):
            return left
        if left == 0 and operator in {"add", "or", "xor"}:
            return right
        if (left == 1 and operator == "mul") or (left == -1 and operator == "and"):
            return right
        if operator in {"mul", "and"} and (left == 0 or right == 0):
            return 0
        if operator == "and" and right == -1:
            return left
        return self.pure(f"{operator} i64 {left}, {right}")

    def add(self, left: Operand, right: Operand) -> Operand:
        """Sum; sums with constants are joined."""
        if isinstance(left, int):
            if isinstance(right, int):
                return signed(left + right)
            left, right = right, left
        if not isinstance(right, int):
            return self.op("add", left, right)
        if right == 0:
            return left
        base, constant = self._sums.get(left, (left, 0))
        constant = signed(constant + right)
        result = self.op("add", base, constant)
        if constant and isinstance(result, str):
            self._sums[result] = (base, constant)
        return result

    def sub(self, left: Operand, right: Operand) -> Operand:
        """Difference."""
        if isinstance(right, int):
            return self.add(left, -right)
        return 0 if left == right else self.op("sub", left, right)

    def mul(self, left: Operand, right: Operand) -> Operand:
        """Product; by powers of two as a shift."""
        if isinstance(right, int) and right > 1 and right & (right - 1) == 0:
            return self.op("shl", left, right.bit_length() - 1)
        return self.op("mul", left, right)

    def bits(self, operator: str, left: Operand, right: Operand) -> Operand:
        """`and`, `or`, `xor`, `shl`, `lshr`."""
        return self.op(operator, left, right)

    def divide(self, left: Operand, divisor: int) -> Operand:
        """Quotient of a non-negative number by a positive constant."""
        if divisor & (divisor - 1) == 0:
            return self.op("lshr", left, divisor.bit_length() - 1)
        return self.op("udiv", left, divisor)

    def remainder(self, left: Operand, divisor: int) -> Operand:
        """Remainder of a non-negative number by a positive constant."""
        if divisor & (divisor - 1) == 0:
            return self.op("and", left, divisor - 1)
        return self.op("urem", left, divisor)

    def compare(self, relation: str, left: Operand, right: Operand) -> Flag:
        """Compare two int64: eq ne slt sle sgt sge ult."""
        if isinstance(left, int) and isinstance(right, int):
            return _COMPARE[relation](left, right)
        match relation:
            case "ne":
                return opposite(self.compare("eq", left, right))
            case "sge":
                return opposite(self.compare("slt", left, right))
            case "sgt":
                return self.compare("slt", right, left)
            case "sle":
                return opposite(self.compare("slt", right, left))
        if left == right:
            return relation == "eq"
        if isinstance(left, int) and relation == "eq":
            left, right = right, left
        result = self.pure(f"icmp {relation} i64 {left}, {right}")
        if relation == "eq" and isinstance(right, int):
            assert isinstance(left, str)
            self.equated(result, left, right)
        return self.decided(result)

    def select(self, flag: Flag, yes: Operand, no: Operand) -> Operand:
        """`yes if flag else no`, both known."""
        flag = self.decided(flag)
        if isinstance(flag, bool):
            return yes if flag else no
        if yes == no:
            return yes
        if flag[0] == "!":
            flag, yes, no = flag[1:], no, yes
        return self.pure(f"select i1 {flag}, i64 {yes}, i64 {no}")

    def count_ones(self, mask: Operand) -> Operand:
        """Return the number of bits set."""
        if isinstance(mask, int):
            return (mask & _MASK).bit_count()
        return self.pure(f"call i64 @llvm.ctpop.i64(i64 {mask})")

    def lowest_one(self, mask: Operand) -> Operand:
        """Return the index of the lowest bit set of a mask that is not 0."""
        if isinstance(mask, int):
            return (mask & -mask).bit_length() - 1
        return self.pure(f"call i64 @llvm.cttz.i64(i64 {mask}, i1 true)")

    # ----------------------------------------------------------------------------------- flags

    def both(self, left: Flag, right: Flag) -> Flag:
        """Conjunction of two known flags."""
        left, right = self.decided(left), self.decided(right)
        if isinstance(left, bool):
            return right if left else False
        if isinstance(right, bool):
            return left if right else False
        if left == right:
            return left
        if left[0] == right[0] == "!":
            return opposite(self.either(left[1:], right[1:]))
        result = self.pure(f"and i1 {self._text(left)}, {self._text(right)}")
        return self.combined("and", left, right, result)

    def either(self, left: Flag, right: Flag) -> Flag:
        """Disjunction of two known flags."""
        left, right = self.decided(left), self.decided(right)
        if isinstance(left, bool):
            return True if left else right
        if isinstance(right, bool):
            return True if right else left
        if left == right:
            return left
        if left[0] == right[0] == "!":
            return opposite(self.both(left[1:], right[1:]))
        result = self.pure(f"or i1 {self._text(left)}, {self._text(right)}")
        return self.combined("or", left, right, result)

    def negate(self, flag: Flag) -> Flag:
        """Negation."""
        return opposite(flag)

    def same_flag(self, left: Flag, right: Flag) -> Flag:
        """Whether two flags are equal."""
        left, right = self.decided(left), self.decided(right)
        if isinstance(left, bool):
            return right if left else opposite(right)
        if isinstance(right, bool):
            return left if right else opposite(left)
        if opposite(left) == right:
            return False
        if left == right:
            return True
        return self.pure(f"icmp eq i1 {self._text(left)}, {self._text(right)}")

    def select_flag(self, flag: Flag, yes: Flag, no: Flag) -> Flag:
        """`yes if flag else no` of flags."""
        flag = self.decided(flag)
        if isinstance(flag, bool):
            return yes if flag else no
        if yes == no and type(yes) is type(no):
            return yes
        parts = f"{self._text(flag)}, i1 {self._text(yes)}, i1 {self._text(no)}"
        return self.pure(f"select i1 {parts}")

    def number(self, flag: Flag) -> Operand:
        """0 or 1."""
        flag = self.decided(flag)
        if isinstance(flag, bool):
            return int(flag)
        return self.pure(f"zext i1 {self._text(flag)} to i64")

    def flag(self, number: Operand) -> Flag:
        """Whether a number that is 0 or 1 is 1."""
        return self.compare("ne", number, 0)

    # ---------------------------------------------------------------------------------- memory

    def shift(self, ref: Ref, offset: Operand) -> Ref:
        """Return the place `offset` cells further."""
        if offset == 0:
            return ref
        return Ref(ref.base, self.add(ref.offset, offset))

    def pointer(self, ref: Ref) -> str:
        """Return the address of a place, for whatever may be done with it."""
        self.escaped.add(ref.base)
        return self.address(ref)

    def address(self, ref: Ref) -> str:
        """Return the address of a place, for what reads and writes cells of this function."""
        if ref.offset == 0:
            return ref.base
        if not isinstance(ref.offset, int):
            self.escaped.add(ref.base)
        return self.pure(f"getelementptr inbounds i64, ptr {ref.base}, i64 {ref.offset}")

    def load(self, ref: Ref) -> Operand:
        """Return the cell at a place; without looking where `known` holds it."""
        if self.known and isinstance(ref.offset, int):
            cell = self.known.get((ref.base, ref.offset))
            if isinstance(cell, Ref):
                return self.settled(self.pure(f"load i64, ptr {self.address(cell)}, align 8"))
            if cell is not None:
                return self.settled(cell)
        instruction = f"load i64, ptr {self.address(ref)}, align 8"
        frozen = ref.base in self.frozen or ref.base[0] == "@"
        return self.pure(instruction) if frozen else self.value(instruction)

    def store(self, value: Operand, ref: Ref) -> None:
        """Put `value` into the cell at a place."""
        self.emit(f"store i64 {value}, ptr {self.address(ref)}, align 8")

    def reserve(self, cells: int) -> Ref:
        """Return memory of the function's frame that nothing else ever uses.

        FrameTooLargeError where that is more than a thread has.
        """
        self.cells += cells
        if self.cells > FRAME_CELLS_MAX:
            raise FrameTooLargeError
        name = self.name()
        kind = "i64" if cells == 1 else f"[{cells} x i64]"
        self._entry.append(f"{name} = alloca {kind}, align 8")
        return Ref(name)

    def named(self, name: str, cells: int) -> Ref:
        """Return the memory of the function's frame for a local of this name and size."""
        key = (name, cells)
        if key not in self._named:
            self._named[key] = self.reserve(cells)
        return self._named[key]

    def scratch(self, cells: int) -> Ref:
        """Return memory of the function's frame until the next `release` of an earlier mark."""
        free = self._free.setdefault(cells, [])
        name = free.pop() if free else self.reserve(cells).base
        self._taken.append((cells, name))
        return Ref(name)

    def mark(self) -> int:
        """Return a mark for `release`."""
        return len(self._taken)

    def release(self, mark: int) -> None:
        """Give back the scratch memory taken since `mark`."""
        while len(self._taken) > mark:
            cells, name = self._taken.pop()
            self._free[cells].append(name)

    def counted(self, start: Operand, stop: Operand, body: Callable[[str], None]) -> None:
        """Run `body(index)` for start <= index < stop."""
        head, inside, end = self.new_label(), self.new_label(), self.new_label()
        index, following, latch = self.name(), self.name(), self.new_label()
        before = self.block
        if not self.open:
            return
        self.loop_label(head)
        self.emit(f"{index} = phi i64 [{start}, %{before}], [{following}, %{latch}]")
        self.fork(self.compare("slt", index, stop), inside, end)
        self.label(inside)
        body(index)
        # The header's phi names the latch, so it exists even if no iteration reaches it.
        self.jump(latch)
        self._lines.append(f"{latch}:")
        self._lines.append(f"{following} = add i64 {index}, 1")
        self._lines.append(f"br label %{head}")
        self.label(end)

    def text(self) -> str:
        """Return the finished function."""
        assert not self.open
        entry = self._entry
        lines = [line for line in self._lines if line]
        return "\n".join([f"{self._signature} {{", "entry:", *entry, *lines, "}", ""])
