"""Machine instructions for compiled functions: memory, atomics, calls through an address.

Each is written in LLVM's terms. All operands and results are words (int64). An address is trusted;
whoever makes one keeps the memory alive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from checker.errors import InternalError
from checker.frozen import frozen

LANES = 8
"""Words of a cache line, which `compare_line` looks at together."""
HALF_LANES = 2 * LANES
"""Half words of a cache line."""

DECLARATIONS = (
    "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)",
    "declare i64 @llvm.cttz.i64(i64, i1)",
    "declare i64 @llvm.ctpop.i64(i64)",
)

New = Callable[[], str]
"""Gives a new name for a value."""


@frozen(slots=False)
class Instruction:
    """What a compiled function can say that Python cannot.

    `write` takes where new names come from and the operands; it returns lines of IR and the result.
    """

    about: str
    write: Callable[[New, Sequence[str]], tuple[list[str], str]]

    def __call__(self, *operands: int) -> int:
        """Only compiled code runs this; here it is what a type checker sees."""
        raise InternalError(f"outside of compiled code: {self.about} {operands}")


def _pointer(new: New, address: str) -> tuple[str, str]:
    name = new()
    return f"{name} = inttoptr i64 {address} to ptr", name


def _reading(about: str, text: str) -> Instruction:
    def write(new: New, operands: Sequence[str]) -> tuple[list[str], str]:
        line, pointer = _pointer(new, operands[0])
        result = new()
        return [line, f"{result} = {text.format(pointer)}"], result

    return Instruction(about, write)


def _writing(about: str, text: str) -> Instruction:
    def write(new: New, operands: Sequence[str]) -> tuple[list[str], str]:
        line, pointer = _pointer(new, operands[0])
        return [line, text.format(operands[1], pointer)], "0"

    return Instruction(about, write)


load = _reading("the word at an address", "load i64, ptr {0}")
store = _writing("put a word at an address: store(address, value)", "store i64 {0}, ptr {1}")
load_acquire = _reading(
    "the word at an address; what its writer wrote before it is visible from here on",
    "load atomic i64, ptr {0} acquire, align 8",
)
store_release = _writing(
    "put a word at an address; who reads it with `load_acquire` sees all writes before it",
    "store atomic i64 {0}, ptr {1} release, align 8",
)


def _writing_low(bits: int) -> Instruction:
    def write(new: New, operands: Sequence[str]) -> tuple[list[str], str]:
        line, pointer = _pointer(new, operands[0])
        low = new()
        made = f"{low} = trunc i64 {operands[1]} to i{bits}"
        return [line, made, f"store i{bits} {low}, ptr {pointer}"], "0"

    return Instruction(f"put the low {bits} bits of a word at an address", write)


store_short = _writing_low(16)
store_half = _writing_low(32)


def _load_half(new: New, operands: Sequence[str]) -> tuple[list[str], str]:
    line, pointer = _pointer(new, operands[0])
    half, result = new(), new()
    return [line, f"{half} = load i32, ptr {pointer}", f"{result} = zext i32 {half} to i64"], result


load_half = Instruction("the 32 bits at an address, as a number that is not negative", _load_half)


def _compare_and_swap(new: New, operands: Sequence[str]) -> tuple[list[str], str]:
    line, pointer = _pointer(new, operands[0])
    pair, result = new(), new()
    swap = f"cmpxchg ptr {pointer}, i64 {operands[1]}, i64 {operands[2]} acq_rel acquire"
    return [line, f"{pair} = {swap}", f"{result} = extractvalue {{ i64, i1 }} {pair}, 0"], result


compare_and_swap = Instruction(
    "put a word at an address if another is there: compare_and_swap(address, expected, value); "
    "what was there",
    _compare_and_swap,
)


def _take_half(new: New, operands: Sequence[str]) -> tuple[list[str], str]:
    line, pointer = _pointer(new, operands[0])
    half, pair, swapped, result = (new() for _ in range(4))
    return [
        line,
        f"{half} = trunc i64 {operands[1]} to i32",
        f"{pair} = cmpxchg ptr {pointer}, i32 0, i32 {half} acq_rel acquire",
        f"{swapped} = extractvalue {{ i32, i1 }} {pair}, 1",
        f"{result} = zext i1 {swapped} to i64",
    ], result


take_half = Instruction(
    "put the low 32 bits of a word at an address if they are 0 there: take_half(address, value); "
    "1 if they were",
    _take_half,
)


def _fetch_add(new: New, operands: Sequence[str]) -> tuple[list[str], str]:
    line, pointer = _pointer(new, operands[0])
    result = new()
    return [line, f"{result} = atomicrmw add ptr {pointer}, i64 {operands[1]} monotonic"], result


fetch_add = Instruction(
    "add to the word at an address in one step: fetch_add(address, value); what was there",
    _fetch_add,
)


def _lanes(new: New, word: str, lanes: int, kind: str) -> tuple[str, list[str]]:
    """Return a vector that has a number in every lane, and the lines that make it."""
    vector = f"<{lanes} x {kind}>"
    one, result = new(), new()
    spread = f"shufflevector {vector} {one}, {vector} poison, <{lanes} x i32> zeroinitializer"
    return result, [
        f"{one} = insertelement {vector} poison, {kind} {word}, i32 0",
        f"{result} = {spread}",
    ]


def _bits(
    new: New, pairs: Sequence[tuple[str, str]], lanes: int = LANES, kind: str = "i64"
) -> tuple[list[str], str]:
    """Return a word of which `lanes` bits belong to each pair: which are the number beside it."""
    vector = f"<{lanes} x {kind}>"
    lines: list[str] = []
    result = "0"
    for place, (held, wanted) in enumerate(pairs):
        all_lanes, lines_of_lanes = _lanes(new, wanted, lanes, kind)
        equal, byte, word, moved, joined = (new() for _ in range(5))
        lines += [
            *lines_of_lanes,
            f"{equal} = icmp eq {vector} {held}, {all_lanes}",
            f"{byte} = bitcast <{lanes} x i1> {equal} to i{lanes}",
            f"{word} = zext i{lanes} {byte} to i64",
            f"{moved} = shl i64 {word}, {lanes * place}",
            f"{joined} = or i64 {result}, {moved}",
        ]
        result = joined
    return lines, result


def _compare_line(new: New, operands: Sequence[str]) -> tuple[list[str], str]:
    text, pointer = _pointer(new, operands[0])
    vector = f"<{LANES} x i64>"
    line = new()
    lines = [text, f"{line} = load {vector}, ptr {pointer}, align 8"]
    compared, result = _bits(new, [(line, operands[1]), (line, "0"), (line, operands[2])])
    return [*lines, *compared], result


compare_line = Instruction(
    "compare the words of the line at an address with a key, 0 and a mark: bit i says that word i "
    "is the key, bit 8 + i that it is 0, bit 16 + i that it is the mark. The line is read once, "
    "but its words not all at one time; a word is read whole",
    _compare_line,
)


def _compare_tags(new: New, operands: Sequence[str]) -> tuple[list[str], str]:
    text, pointer = _pointer(new, operands[0])
    vector = f"<{LANES} x i64>"
    line, masked = new(), new()
    lines = [text, f"{line} = load {vector}, ptr {pointer}, align 8"]
    mask, lines_of_mask = _lanes(new, operands[2], LANES, "i64")
    lines += [*lines_of_mask, f"{masked} = and {vector} {line}, {mask}"]
    compared, result = _bits(new, [(masked, operands[1]), (line, "0")])
    return [*lines, *compared], result


def _compare_half_tags(new: New, operands: Sequence[str]) -> tuple[list[str], str]:
    text, pointer = _pointer(new, operands[0])
    vector = f"<{HALF_LANES} x i32>"
    line, masked, key, bits = (new() for _ in range(4))
    lines = [
        text,
        f"{line} = load {vector}, ptr {pointer}, align 4",
        f"{key} = trunc i64 {operands[1]} to i32",
        f"{bits} = trunc i64 {operands[2]} to i32",
    ]
    mask, lines_of_mask = _lanes(new, bits, HALF_LANES, "i32")
    lines += [*lines_of_mask, f"{masked} = and {vector} {line}, {mask}"]
    compared, result = _bits(new, [(masked, key), (line, "0")], HALF_LANES, "i32")
    return [*lines, *compared], result


compare_tags = Instruction(
    "compare the words of the line at an address, those bits of them that a mask has, with a key, "
    "and the whole words with 0: compare_tags(address, key, mask); bit i says that word i has the "
    "key, bit 8 + i that it is 0. Words are read as by `compare_line`",
    _compare_tags,
)

compare_half_tags = Instruction(
    "the same for the half words of the line, and the low 32 bits of key and mask: bit i says that "
    "half word i has the key, bit 16 + i that it is 0",
    _compare_half_tags,
)


def _lowest_bit(new: New, operands: Sequence[str]) -> tuple[list[str], str]:
    result = new()
    return [f"{result} = call i64 @llvm.cttz.i64(i64 {operands[0]}, i1 true)"], result


lowest_bit = Instruction(
    "the number of the lowest bit that is set in a word that is not 0", _lowest_bit
)


def _bits_set(new: New, operands: Sequence[str]) -> tuple[list[str], str]:
    result = new()
    return [f"{result} = call i64 @llvm.ctpop.i64(i64 {operands[0]})"], result


bits_set = Instruction("how many bits are set in a word", _bits_set)


def _asking(about: str, written: int) -> Instruction:
    def write(new: New, operands: Sequence[str]) -> tuple[list[str], str]:
        line, pointer = _pointer(new, operands[0])
        ask = f"call void @llvm.prefetch.p0(ptr {pointer}, i32 {written}, i32 3, i32 1)"
        return [line, ask], "0"

    return Instruction(about, write)


prefetch = _asking("ask for the cache line at an address, soon to be written", 1)
prefetch_read = _asking("ask for the cache line at an address, soon to be read", 0)


def _call(new: New, operands: Sequence[str]) -> tuple[list[str], str]:
    line, pointer = _pointer(new, operands[0])
    result = new()
    given = ", ".join(f"i64 {operand}" for operand in operands[1:])
    return [line, f"{result} = call i64 {pointer}({given})"], result


call = Instruction(
    "call a function through its address: call(address, ...); pointers are passed as addresses",
    _call,
)
