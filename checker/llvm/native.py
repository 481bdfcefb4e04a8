"""Native code from LLVM IR, kept on disk so that it is compiled once."""

from __future__ import annotations

import functools
import hashlib
import zlib
from pathlib import Path

import llvmlite
import llvmlite.binding as llvm

from checker.cache import Cache
from checker.errors import EnvironmentFailure, InternalError
from checker.memory import require_space

SPEED_LEVEL = 1
"""LLVM's own pipeline of simplifications of a function at -O1, for each function.

The code runs as fast as with -O2 and compiles in two thirds of the time. A hand-picked list would
compile faster still, but ran into assertions of a pass that no pipeline has (NewGVN), which end
the process.
"""

KERNELS = Cache("kernels", 128 << 20)
"""Object code that was compiled before; so much of it is kept at most."""

_SPACE = 64 << 20
_SPACE_OF_A_CHARACTER = 16
"""Bytes of address space that LLVM may take, whatever it works on, and for each character of IR.

Measured: 8 to 9 for 5.3 million characters, optimised or not.
"""

_PLAIN = "; not optimised"
_WIDE = 256


def heading(parts: int) -> list[str]:
    """Return the first lines of a module whose states have so many parts.

    Wide states are read and written in blocks so long that optimising them takes LLVM minutes.
    Theirs are translated as they stand. What is shipped has up to 64 parts.
    """
    return [_PLAIN] if parts > _WIDE else []


def is_plain(text: str) -> bool:
    """Whether a module is never optimised."""
    return text.startswith(_PLAIN)


@functools.cache
def target_machine(optimisation: int = 2) -> llvm.TargetMachine:
    """Return the code generator for this processor; EnvironmentFailure if LLVM has none."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    try:
        target = llvm.Target.from_default_triple()
        return target.create_target_machine(
            cpu=llvm.get_host_cpu_name(),
            features=_host_features(),
            opt=optimisation,
            reloc="pic",
            codemodel="jitdefault",
        )
    except RuntimeError as error:
        raise EnvironmentFailure(f"no native code can be generated here: {error}") from error


@functools.cache
def _host_features() -> str:
    return str(llvm.get_host_cpu_features().flatten())


@functools.cache
def toolchain() -> bytes:
    """Return what object code depends on besides the IR: compiler, processor, this module."""
    own = Path(__file__).read_bytes()
    parts = (
        llvmlite.__version__,
        llvm.get_default_triple(),
        llvm.get_host_cpu_name(),
        _host_features(),
    )
    return hashlib.blake2b("\n".join(parts).encode() + own).digest()


def compile_object(text: str, *, optimised: bool = True) -> bytes:
    """Return the object code of a module; InternalError where LLVM rejects it.

    Code that is not `optimised` is made in a tenth of the time and searches take up to twice as
    long with it.
    """
    plain = not optimised or is_plain(text)
    machine = target_machine(0 if plain else 2)
    module = parsed(text, machine, "the kernel's code is")
    if not plain:
        _optimise(module, machine)
    return bytes(machine.emit_object(module))


def parsed(text: str, machine: llvm.TargetMachine, what: str) -> llvm.ModuleRef:
    """Return a module of IR for `machine`; InternalError, beginning with `what`, if none.

    EnvironmentFailure where there is too little room to make code of it.
    """
    require_space(_SPACE + _SPACE_OF_A_CHARACTER * len(text), "making native code")
    try:
        module = llvm.parse_assembly(text)
        module.verify()
    except RuntimeError as error:
        raise InternalError(f"{what} malformed: {error}") from error
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    return module


def _optimise(module: llvm.ModuleRef, machine: llvm.TargetMachine) -> None:
    tuning = llvm.create_pipeline_tuning_options(speed_level=SPEED_LEVEL)
    tuning.slp_vectorization = tuning.loop_vectorization = tuning.loop_unrolling = False
    builder = llvm.create_pass_builder(machine, tuning)
    passes = builder.getFunctionPassManager()
    for function in module.functions:
        if not function.is_declaration:
            passes.run(function, builder)


class NativeCode:
    """Object code in this process; its addresses are good as long as it is kept."""

    def __init__(self, object_code: bytes) -> None:
        self.object_code = object_code
        require_space(_SPACE + len(object_code), "loading native code")
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _engine_machine())
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(object_code))
        self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Return the address of a function; InternalError where there is none of that name."""
        address = int(self._engine.get_function_address(name))
        if address == 0:
            raise InternalError(f"the native code has no function {name}")
        return address


def _engine_machine() -> llvm.TargetMachine:
    """Return a code generator of its own: an engine takes it over."""
    target_machine()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=_host_features(), opt=2, codemodel="jitdefault"
    )


# -------------------------------------------------------------------------------------- the cache


def cached(key: str) -> tuple[str, bytes] | None:
    """Return the IR and object code kept under `key`, None if there is nothing sound."""
    data = KERNELS.get(key)
    if data is None:
        return None
    size = int.from_bytes(data[:8], "little")
    return zlib.decompress(data[8 : 8 + size]).decode(), data[8 + size :]


def keep(key: str, text: str, object_code: bytes) -> None:
    """Keep IR, compressed, and object code under `key`, if possible."""
    packed = zlib.compress(text.encode(), 1)
    KERNELS.put(key, len(packed).to_bytes(8, "little") + packed + object_code)
