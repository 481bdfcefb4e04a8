"""Machine instructions for the search's compiled functions: memory, atomics, calls of a kernel.

Compiled code works on plain addresses (int64), not on arrays: an array handed from function to
function costs two atomic reference counts, and the tables outgrow what arrays are handy for. An
address is trusted; whoever makes one (`board.py`, `store.py`) keeps the memory alive.

Everything is int64. Mixing signed and unsigned integers makes Numba compute in floating point.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from checker.llvm import meta

OPTIONS = {"nogil": True, "cache": True, "error_model": "numpy"}
"""How every function of the search is compiled: without the interpreter's lock, kept on disk."""

INLINE = {**OPTIONS, "forceinline": True}
"""The same for a function that becomes part of its caller, once for each call that is written."""

COMPILED = ("native", "visited", "board", "worker", "backward", "walks", "runs")
"""The modules of this room whose code or constants end up in compiled functions."""


def forget_outdated(folder: Path, sources: Sequence[Path]) -> None:
    """Delete the indices of compiled functions in `folder` that are older than any source.

    Numba compares a function with the file it stands in, not with the files of the functions it
    calls; after an edit, old and new halves of the search would be put together.
    """
    newest = max(source.stat().st_mtime_ns for source in sources)
    for index in folder.glob("*.nbi"):
        with suppress(OSError):  # a read-only installation, or another process was first
            if index.stat().st_mtime_ns < newest:
                index.unlink()


_ROOM = Path(__file__).parent
forget_outdated(
    _ROOM / "__pycache__",
    [Path(str(meta.__file__)), *(_ROOM / f"{name}.py" for name in COMPILED)],
)

_WORD = ir.IntType(64)
_POINTER = ir.IntType(64).as_pointer()


def _pointer(builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, _POINTER)


@intrinsic
def load(_context: Any, address: Any) -> Any:
    """Return the word at `address`."""

    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.load(_pointer(builder, arguments[0]))

    return types.int64(address), generate


@intrinsic
def store(_context: Any, address: Any, value: Any) -> Any:
    """Put `value` at `address`."""

    def generate(target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        builder.store(arguments[1], _pointer(builder, arguments[0]))
        return target.get_dummy_value()

    return types.void(address, value), generate


@intrinsic
def store_short(_context: Any, address: Any, value: Any) -> Any:
    """Put the low 16 bits of `value` at `address`."""

    def generate(target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        short = ir.IntType(16)
        pointer = builder.inttoptr(arguments[0], short.as_pointer())
        builder.store(builder.trunc(arguments[1], short), pointer)
        return target.get_dummy_value()

    return types.void(address, value), generate


@intrinsic
def load_acquire(_context: Any, address: Any) -> Any:
    """Return the word at `address`; what its writer wrote before it is visible from here on."""

    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(_pointer(builder, arguments[0]), "acquire", 8)

    return types.int64(address), generate


@intrinsic
def store_release(_context: Any, address: Any, value: Any) -> Any:
    """Put `value` at `address`; who reads it with `load_acquire` sees all writes before it."""

    def generate(target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        builder.store_atomic(arguments[1], _pointer(builder, arguments[0]), "release", 8)
        return target.get_dummy_value()

    return types.void(address, value), generate


@intrinsic
def compare_and_swap(_context: Any, address: Any, expected: Any, value: Any) -> Any:
    """Put `value` at `address` if `expected` is there; return what was there."""

    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        pointer = _pointer(builder, arguments[0])
        pair = builder.cmpxchg(pointer, arguments[1], arguments[2], "acq_rel", "acquire")
        return builder.extract_value(pair, 0)

    return types.int64(address, expected, value), generate


@intrinsic
def fetch_add(_context: Any, address: Any, value: Any) -> Any:
    """Add `value` to the word at `address` in one step; return what was there."""

    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        pointer = _pointer(builder, arguments[0])
        return builder.atomic_rmw("add", pointer, arguments[1], "monotonic")

    return types.int64(address, value), generate


LANES = 8
"""Words of a cache line, which `compare_line` looks at together."""


@intrinsic
def compare_line(_context: Any, address: Any, key: Any, mark: Any) -> Any:
    """Compare the words of the line at `address` with `key`, 0 and `mark`.

    Bit i says that word i is `key`, bit 8 + i that it is 0, bit 16 + i that it is `mark`. The line
    is read once, but its words not all at one time; a word is read whole.
    """

    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        kind = ir.VectorType(_WORD, LANES)
        byte = ir.IntType(LANES)
        pointer = builder.inttoptr(arguments[0], kind.as_pointer())
        line = builder.load(pointer, align=8)
        result = _WORD(0)
        for place, wanted in enumerate((arguments[1], _WORD(0), arguments[2])):
            lanes = kind(ir.Undefined)
            for lane in range(LANES):
                lanes = builder.insert_element(lanes, wanted, ir.IntType(32)(lane))
            equal = builder.bitcast(builder.icmp_signed("==", line, lanes), byte)
            shifted = builder.shl(builder.zext(equal, _WORD), _WORD(8 * place))
            result = builder.or_(result, shifted)
        return result

    return types.int64(address, key, mark), generate


@intrinsic
def lowest_bit(_context: Any, word: Any) -> Any:
    """Return the number of the lowest bit that is set in `word`, which is not 0."""

    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.int64(word), generate


@intrinsic
def prefetch(_context: Any, address: Any) -> Any:
    """Ask for the cache line at `address`, soon to be written."""

    def generate(target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        flag = ir.IntType(32)
        byte = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        module = builder.module
        function = module.globals.get("llvm.prefetch.p0") or ir.Function(
            module, kind, "llvm.prefetch.p0"
        )
        pointer = builder.inttoptr(arguments[0], byte)
        builder.call(function, [pointer, flag(1), flag(3), flag(1)])
        return target.get_dummy_value()

    return types.void(address), generate


def _generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
    """Write the call of the function at the first argument with the others, all words."""
    words = list(arguments[1:])
    kind = ir.FunctionType(_WORD, [_WORD] * len(words))
    return builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), words)


@intrinsic
def call_expand(
    _context: Any,
    function: Any,
    states: Any,
    count: Any,
    out: Any,
    capacity: Any,
    meta: Any,
    ends: Any,
    status: Any,
    tallies: Any,
) -> Any:
    """Call a kernel's `expand`; pointers are passed as addresses, in the same registers."""
    given = (function, states, count, out, capacity, meta, ends, status, tallies)
    return types.int64(*given), _generate


@intrinsic
def call_explore(
    _context: Any,
    function: Any,
    states: Any,
    count: Any,
    out: Any,
    capacity: Any,
    meta: Any,
    ends: Any,
    status: Any,
    tallies: Any,
    arrivals: Any,
) -> Any:
    """Call a kernel's `explore`."""
    given = (function, states, count, out, capacity, meta, ends, status, tallies, arrivals)
    return types.int64(*given), _generate


@intrinsic
def call_canonical(_context: Any, function: Any, states: Any, count: Any, meta: Any) -> Any:
    """Call a kernel's `canonical`."""
    return types.int64(function, states, count, meta), _generate


@intrinsic
def call_check(_context: Any, function: Any, states: Any, count: Any, flags: Any) -> Any:
    """Call a kernel's `check`."""
    return types.int64(function, states, count, flags), _generate
