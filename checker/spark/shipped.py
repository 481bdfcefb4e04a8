"""A kernel on its way to other machines: its object code, and its IR where processors differ."""

from __future__ import annotations

import functools

import checker
from checker.errors import InternalError
from checker.frozen import frozen
from checker.kernel.kernel import EXPLORE, Kernel
from checker.llvm.native import NativeCode, cached, compile_object, keep, toolchain


class WrongVersionError(Exception):
    """The executors have another version of the checker than the driver."""


@frozen()
class Shipped:
    """All that a worker needs to have a Kernel; `toolchain` says where its object code runs."""

    version: str
    words: int
    actions: tuple[str, ...]
    checks: tuple[str, ...]
    steps: tuple[str, ...]
    judges_runs: bool
    observed: tuple[str, ...]
    instance_shift: int
    reduces: bool
    ir: str
    object_code: bytes
    toolchain: bytes
    key: str


def ship(kernel: Kernel, key: str) -> Shipped:
    """Return a kernel in a form that can be pickled; `key` is the fingerprint of its machine."""
    code = kernel.keep
    if not isinstance(code, NativeCode):
        raise InternalError("only a kernel of native code can be sent")
    return Shipped(
        version=checker.__version__,
        words=kernel.words,
        actions=kernel.actions,
        checks=kernel.checks,
        steps=kernel.steps,
        judges_runs=kernel.judges_runs,
        observed=kernel.observed,
        instance_shift=kernel.instance_shift,
        reduces=kernel.canonical_address != 0,
        ir=kernel.ir,
        object_code=code.object_code,
        toolchain=toolchain(),
        key=key,
    )


@functools.lru_cache(maxsize=4)
def load(shipped: Shipped) -> Kernel:
    """Return the kernel in this process; it is loaded once.

    WrongVersionError where it was made by another version of the checker.
    """
    if shipped.version != checker.__version__:
        raise WrongVersionError(
            f"the driver runs checker {shipped.version}, an executor {checker.__version__}: "
            "install the same version everywhere"
        )
    code = NativeCode(_object_code(shipped))
    return Kernel(
        words=shipped.words,
        actions=shipped.actions,
        checks=shipped.checks,
        steps=shipped.steps,
        initial_address=code.address("initial"),
        expand_address=code.address("expand"),
        check_address=code.address("check"),
        ir=shipped.ir,
        keep=code,
        judges_runs=shipped.judges_runs,
        observed=shipped.observed,
        observe_address=code.address("observe"),
        instance_shift=shipped.instance_shift,
        canonical_address=code.address("canonical") if shipped.reduces else 0,
        renamed_address=code.address("renamed") if shipped.reduces else 0,
        explore_address=code.address("explore") if EXPLORE in shipped.ir else 0,
    )


def _object_code(shipped: Shipped) -> bytes:
    """Return object code for this processor: what was sent, or the IR compiled here once."""
    own = toolchain()
    if own == shipped.toolchain:
        return shipped.object_code
    key = f"{shipped.key}-{own.hex()[:16]}"
    known = cached(key)
    if known is None or known[0] != shipped.ir:
        known = shipped.ir, compile_object(shipped.ir)
        keep(key, *known)
    return known[1]
