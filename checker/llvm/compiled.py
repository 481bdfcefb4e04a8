"""Functions that are compiled when they are first called, and kept on disk like kernels.

    @compiled
    def add(table: int, count: int) -> int: ...

What such a function may say is in `translate`. Its module becomes one piece of object code, with
copies of what it calls in other modules. All numbers are words (int64) and wrap around; an array
(`Numbers`) is handed over as it stands in memory. Calls do not hold the interpreter's lock.
"""

from __future__ import annotations

import ast
import ctypes
import hashlib
import inspect
import sys
import threading
from collections.abc import Callable
from functools import cache, cached_property, update_wrapper
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, cast

import llvmlite.binding as llvm
import numpy as np

from checker.llvm import instructions, translate
from checker.llvm.instructions import DECLARATIONS
from checker.llvm.native import KERNELS, NativeCode, parsed, target_machine, toolchain
from checker.llvm.translate import Translation, signature_of

F = TypeVar("F", bound=Callable[..., Any])

_LOCK = threading.Lock()


def compiled(function: F) -> F:
    """Make a function one that is compiled."""
    return cast("F", Compiled(function, inline=False))


def inlined(function: F) -> F:
    """The same for a function that becomes part of its callers, once for each call."""
    return cast("F", Compiled(function, inline=True))


class Compiled:
    """A function that is compiled when it is first called."""

    def __init__(self, function: Callable[..., Any], *, inline: bool) -> None:
        self.inline = inline
        self.module = function.__module__
        self.symbol = f"{function.__module__}.{function.__name__}"
        self._name = function.__name__
        self._names = function.__globals__
        self._entry: Callable[..., int] | None = None
        update_wrapper(self, function)

    def __call__(self, *given: Any) -> int:
        """Call the compiled code."""
        entry = self._entry
        if entry is None:
            with _LOCK:
                entry = self._entry = self._loaded()
        words: list[int] = []
        for item in given:
            if isinstance(item, np.ndarray):
                assert item.flags.c_contiguous
                words += (item.ctypes.data, len(item))
            else:
                words.append(int(item))
        return entry(*words)

    @cached_property
    def definition(self) -> ast.FunctionDef:
        """Its definition as it stands in the file."""
        return _definitions(self.module)[self._name]

    def meaning(self, name: str) -> object:
        """Return what a name of its module is."""
        return self._names.get(name)

    def _loaded(self) -> Callable[..., int]:
        address = _code(self.module).address(self.symbol)
        word = ctypes.c_int64
        kind = ctypes.CFUNCTYPE(word, *[word] * self._parameters)
        return cast("Callable[..., int]", kind(address))

    @property
    def _parameters(self) -> int:
        return len(signature_of(self.definition))


@cache
def _definitions(module: str) -> dict[str, ast.FunctionDef]:
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


@cache
def _code(module: str) -> NativeCode:
    """Return the code of a module's compiled functions, from the cache where it is there."""
    key = _key(module)
    known = KERNELS.get(key)
    if known is None:
        known = _object_code(_text(module))
        KERNELS.put(key, known)
    return NativeCode(known)


def _text(module: str) -> str:
    """Return the IR of a module's compiled functions and of all that they call."""
    wanted = _functions(sys.modules[module])
    done: dict[str, Translation] = {}
    while wanted:
        function = wanted.pop()
        if function.symbol in done:
            continue
        own = function.module == module
        translation = Translation(function, "" if own else "internal")
        done[function.symbol] = translation
        wanted += [item for item in translation.needs if isinstance(item, Compiled)]
    tables = {text for item in done.values() for text in item.tables.values()}
    texts = [done[symbol].text() for symbol in sorted(done)]
    return "\n".join([*DECLARATIONS, *sorted(tables), *texts])


def _functions(module: ModuleType) -> list[Compiled]:
    """Return the compiled functions that a module defines."""
    return [
        item
        for item in vars(module).values()
        if isinstance(item, Compiled) and item.module == module.__name__
    ]


def _key(module: str) -> str:
    """Return a digest of what a module's object code depends on."""
    digest = hashlib.blake2b(toolchain(), digest_size=20)
    for part in (translate, instructions, sys.modules[__name__]):
        digest.update(Path(str(part.__file__)).read_bytes())
    for name in sorted(_involved(module)):
        part = sys.modules[name]
        digest.update(f"\0{name}\0".encode() + Path(str(part.__file__)).read_bytes())
        numbers = [
            (key, value)
            for key, value in sorted(vars(part).items())
            if isinstance(value, int | tuple) and not key.startswith("__")
        ]
        digest.update(repr(numbers).encode())
    return digest.hexdigest()


def _involved(module: str) -> set[str]:
    """Return the modules whose compiled functions a module may call, itself included."""
    found: set[str] = set()
    wanted = [module]
    while wanted:
        name = wanted.pop()
        if name not in found:
            found.add(name)
            called = vars(sys.modules[name]).values()
            wanted += [item.module for item in called if isinstance(item, Compiled)]
    return found


def _object_code(text: str) -> bytes:
    machine = target_machine()
    module = parsed(text, machine, "compiled functions are")
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    builder.getModulePassManager().run(module, builder)
    return bytes(machine.emit_object(module))
