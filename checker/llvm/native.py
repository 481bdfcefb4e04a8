"""Native code from LLVM IR, kept on disk so that it is compiled once."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import tempfile
import zlib
from pathlib import Path

import llvmlite
import llvmlite.binding as llvm

from checker.errors import EnvironmentFailure, InternalError

FUNCTIONS = ("initial", "expand", "check", "observe")

SPEED_LEVEL = 1
"""LLVM's own pipeline of simplifications of a function at -O1, for each function.

The code runs as fast as with -O2 and compiles in two thirds of the time. A hand-picked list would
compile faster still, but ran into assertions of a pass that no pipeline has (NewGVN), which end
the process.
"""

CACHE_BYTES = 128 << 20
"""How much object code is kept at most."""

MAGIC = b"kafka-checker kernel 1\n"


@functools.cache
def target_machine() -> llvm.TargetMachine:
    """Return the code generator for this processor; EnvironmentFailure if LLVM has none."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    try:
        target = llvm.Target.from_default_triple()
        return target.create_target_machine(
            cpu=llvm.get_host_cpu_name(),
            features=_host_features(),
            opt=2,
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


def compile_object(text: str) -> bytes:
    """Return the object code of a module; InternalError where LLVM rejects it."""
    machine = target_machine()
    try:
        module = llvm.parse_assembly(text)
        module.verify()
    except RuntimeError as error:
        raise InternalError(f"the kernel's code is malformed: {error}") from error
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    tuning = llvm.create_pipeline_tuning_options(speed_level=SPEED_LEVEL)
    tuning.slp_vectorization = tuning.loop_vectorization = tuning.loop_unrolling = False
    builder = llvm.create_pass_builder(machine, tuning)
    passes = builder.getFunctionPassManager()
    for function in module.functions:
        if not function.is_declaration:
            passes.run(function, builder)
    return bytes(machine.emit_object(module))


class NativeCode:
    """Object code in this process; its addresses are good as long as it is kept."""

    def __init__(self, object_code: bytes) -> None:
        self.object_code = object_code
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _engine_machine())
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(object_code))
        self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Return the address of a function."""
        return int(self._engine.get_function_address(name))


def _engine_machine() -> llvm.TargetMachine:
    """Return a code generator of its own: an engine takes it over."""
    target_machine()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=_host_features(), opt=2, codemodel="jitdefault"
    )


# -------------------------------------------------------------------------------------- the cache


def cache_directory() -> Path | None:
    """Return where object code is kept; None where the user has no home."""
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        root = Path(base) if base and Path(base).is_absolute() else Path.home() / ".cache"
    except RuntimeError:
        return None
    return root / "kafka-checker" / "kernels"


def cached(key: str) -> tuple[str, bytes] | None:
    """Return the IR and object code kept under `key`, None if there is nothing sound."""
    directory = cache_directory()
    if directory is None:
        return None
    file = directory / f"{key}.kernel"
    try:
        data = file.read_bytes()
    except OSError:
        return None
    with contextlib.suppress(OSError):
        os.utime(file)  # for `prune`; not ours to change in a shared cache
    return unseal(key, data)


def keep(key: str, text: str, object_code: bytes) -> None:
    """Keep IR and object code under `key`, if possible."""
    directory = cache_directory()
    if directory is None:
        return
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, name = tempfile.mkstemp(dir=directory)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(seal(key, text, object_code))
            Path(name).replace(directory / f"{key}.kernel")
            prune(directory)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError:
        return


def prune(directory: Path) -> None:
    """Remove what was not used for longest, until the rest is small enough."""
    with os.scandir(directory) as entries:
        files = [(entry.stat(), entry.path) for entry in entries if entry.is_file()]
    room = CACHE_BYTES
    for status, path in sorted(files, key=lambda file: file[0].st_mtime, reverse=True):
        room -= status.st_size
        if room < 0:
            Path(path).unlink(missing_ok=True)


def seal(key: str, text: str, object_code: bytes) -> bytes:
    """Return the content of a cache file: a checksum, the lengths, compressed IR, object code."""
    packed = zlib.compress(text.encode(), 1)
    body = len(packed).to_bytes(8, "little") + packed + object_code
    return MAGIC + hashlib.blake2b(key.encode() + body).digest() + body


def unseal(key: str, data: bytes) -> tuple[str, bytes] | None:
    """Return the IR and object code of a cache file, None if it is damaged."""
    start = len(MAGIC) + 64
    body = data[start:]
    checksum = hashlib.blake2b(key.encode() + body).digest()
    if data[:start] != MAGIC + checksum:
        return None
    size = int.from_bytes(body[:8], "little")
    return zlib.decompress(body[8 : 8 + size]).decode(), body[8 + size :]
