"""From a machine and its layout to native code: write the IR, or take it from the cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from hashlib import blake2b
from typing import get_args

from checker.cache import code_of
from checker.errors import Diagnostic, Interruption, SpecificationError
from checker.kernel.kernel import EXPLORE, Kernel
from checker.kernel.refinement import Refinement
from checker.layout.layout import Layout
from checker.llvm import native
from checker.llvm.code import FRAME_CELLS_MAX, FrameTooLargeError
from checker.llvm.meta import ACTION_MASK, LIVENESS_MAX, META_BITS, STEP
from checker.llvm.native import NativeCode, cached, keep, toolchain
from checker.machine.machine import LIVENESS, OF_STEPS, Action, Machine, Property
from checker.machine.once import once
from checker.machine.types import Type
from checker.process import deep_recursion
from checker.semantics.fairness import fair_rows
from checker.semantics.symmetry import IDS_MAX, reduces, symmetric_ids

CHECKS_MAX = 62
STEPS_MAX = 44
ACTIONS_MAX = ACTION_MASK + 1
"""Properties and actions that fit the flags and meta words."""

_AT_HAND = "-prompt"
"""What the keys of code end in that was compiled in a moment."""

_BRIEF = "-brief"
"""What the keys of code have in them that is written for a search that is soon over."""

_IGNORED = {"span", "about", "source", "sources", "headings", "why", "path", "help"} | {
    "warnings",
    "expectation",
    "tier",
    "unlike",
}
"""What says nothing of a machine's behaviour."""


def build(
    machine: Machine,
    layout: Layout,
    *,
    use_cache: bool = True,
    prompt: bool = False,
    brief: bool = False,
    stop: Callable[[], bool] | None = None,
) -> Kernel:
    """Return the kernel of `machine` over states packed by `layout`.

    The first time for a machine this compiles it; later its code comes from the user's cache
    directory. `prompt`: code that is there in a moment and slower will do, until a search has
    gone on for so long that faster code pays (`Kernel.refinement`). `brief`: so will code that is
    written in less time, for a search that is soon over (`functions.Writer`).
    SpecificationError (R611) for more properties or rows than fit a kernel's words,
    EnvironmentFailure where no native code can be generated, Interruption where `stop` says so
    before the code is there.
    """
    _require_room(machine)
    _require_few_ids(machine)
    with deep_recursion():
        key = fingerprint(machine) + _BRIEF * brief if use_cache else ""
        known = cached(key) if use_cache else None
        refined = known is not None or not prompt
        if known is None:
            known = _compiled(machine, layout, key, stop, prompt=prompt, brief=brief)
    if refined or native.is_plain(known[0]):
        return _assembled(machine, layout, *known, None)
    text = known[0]

    def finish(object_code: bytes) -> Kernel:
        if key:
            keep(key, text, object_code)
        return _assembled(machine, layout, text, object_code, None)

    return _assembled(machine, layout, *known, Refinement(text, finish))


def _compiled(
    machine: Machine,
    layout: Layout,
    key: str,
    stop: Callable[[], bool] | None,
    *,
    prompt: bool,
    brief: bool,
) -> tuple[str, bytes]:
    """Return IR and object code of a machine, and keep them under `key`, if there is one."""
    at_hand = f"{key}{_AT_HAND}"
    known = cached(at_hand) if key else None
    if known is not None and prompt:
        return known
    text = _written(machine, layout, brief=brief) if known is None else known[0]
    if stop is not None and stop():
        raise _too_early()
    code = native.compile_object(text, optimised=False) if prompt else _optimised(text, stop)
    if key:
        keep(at_hand if prompt else key, text, code)
    return text, code


def _optimised(text: str, stop: Callable[[], bool] | None) -> bytes:
    if stop is None:
        return native.compile_object(text)
    from checker.llvm.beside import optimised_unless  # noqa: PLC0415 (few need it)

    code = optimised_unless(stop, text)
    if code is None:
        raise _too_early()
    return code


def _too_early() -> Interruption:
    return Interruption("native code was being made, and nothing was searched")


def _written(machine: Machine, layout: Layout, *, brief: bool) -> str:
    from checker.kernel.text import module_text  # noqa: PLC0415 (most code is there already)

    try:
        return module_text(machine, layout, brief=brief)
    except FrameTooLargeError:
        raise SpecificationError((_too_wide(machine),)) from None


def _too_wide(machine: Machine) -> Diagnostic:
    return Diagnostic(
        code="R611",
        message="what rows and expressions make on the way is too large for native code",
        span=machine.initial.span,
        expected=f"at most {FRAME_CELLS_MAX} cells of 8 bytes in use at once",
        found=None,
        help="sets and maps over types of very many values have a bit or a cell for each, and a "
        "row has a copy of each variable that it writes: take smaller types",
    )


def _assembled(
    machine: Machine,
    layout: Layout,
    text: str,
    object_code: bytes,
    refinement: Refinement | None,
) -> Kernel:
    """Return the kernel with this code."""
    code = NativeCode(object_code)
    return Kernel(
        words=layout.words,
        actions=tuple(action.name for action in machine.actions),
        checks=tuple(
            item.name for item in machine.properties if item.kind in {"always", "sometimes"}
        ),
        steps=tuple(item.name for item in _steps(machine)),
        initial_address=code.address("initial"),
        expand_address=code.address("expand"),
        check_address=code.address("check"),
        ir=text,
        keep=code,
        judges_runs=machine.judges_runs,
        observed=tuple(watch.name for watch in machine.watches),
        observe_address=code.address("observe"),
        instance_shift=STEP + len(_steps(machine)),
        canonical_address=code.address("canonical") if reduces(machine) else 0,
        renamed_address=code.address("renamed") if reduces(machine) else 0,
        explore_address=code.address("explore") if EXPLORE in text else 0,
        refinement=refinement,
    )


def _steps(machine: Machine) -> list[Property]:
    return [item for item in machine.properties if item.kind in OF_STEPS]


def _require_room(machine: Machine) -> None:
    checks = [item for item in machine.properties if item.kind in {"always", "sometimes"}]
    steps = _steps(machine)
    observed = [item for item in machine.properties if item.kind in LIVENESS for _ in item.watches]
    steps_max, beside = STEPS_MAX, ""
    if machine.judges_runs:
        beside = " beside liveness properties and fair rows"
        steps_max = min(steps_max, META_BITS - STEP - fair_rows(machine).count.bit_length())
    for what, items, limit in (
        ("properties of kind always or sometimes", checks, CHECKS_MAX),
        ("properties of kind step or refines" + beside, steps, steps_max),
        ("conditions in temporal properties", observed, LIVENESS_MAX),
        ("rows", machine.actions, ACTIONS_MAX),
    ):
        if len(items) > limit:
            raise SpecificationError(
                (
                    Diagnostic(
                        code="R611",
                        message=f"too many {what}",
                        span=items[limit].span,
                        expected=f"at most {limit}",
                        found=str(len(items)),
                        help="join some of them, or check them in several runs (--property)",
                    ),
                )
            )


def _require_few_ids(machine: Machine) -> None:
    for kind in symmetric_ids(machine) if reduces(machine) else ():
        if len(kind.members) > IDS_MAX:
            raise SpecificationError(
                (
                    Diagnostic(
                        code="R611",
                        message=f"too many symmetric ids of {kind.name}",
                        span=machine.initial.span,
                        expected=f"at most {IDS_MAX}",
                        found=str(len(kind.members)),
                        help="take fewer, or search without symmetry: --symmetry off",
                    ),
                )
            )


# -------------------------------------------------------------------------------- fingerprints


def fingerprint(machine: Machine) -> str:
    """Return a key under which a machine's object code can be kept.

    It covers what the machine does, the code that writes it, the compiler and the processor.
    """
    digest = blake2b(_code_version() + toolchain(), digest_size=20)
    digest.update(behaviour(machine).encode())
    return digest.hexdigest()


def behaviour(machine: Machine) -> str:
    """Return a digest that two machines share if they do the same: no places, no prose.

    Which terms are one object and which are equal ones makes no difference.
    """
    return _told(machine)


@cache
def _code_version() -> bytes:
    """Return a digest of the modules that decide what IR a machine becomes."""
    return code_of("machine", "semantics", "layout", "passes", "llvm", "symmetry", "kernel")


_PARTS: dict[type, tuple[str, ...] | None] = {}
"""The fields of a class that matter to behaviour; None of what has no parts."""

_SHARED = frozenset({Action, Property, *get_args(Type)})
"""What instances of a specification have in common, as objects: told once for all of them."""

_BETWEEN = "\x1f"
"""Stands between the parts of a whole; no `repr` has it in it."""


def _told(whole: object) -> str:
    """Return a digest of a machine, or of what several machines have in them."""
    return _tell(whole, {}, alone=True)


def _parts(kind: type) -> tuple[str, ...] | None:
    if not is_dataclass(kind):
        return None
    return tuple(item.name for item in fields(kind) if item.name not in _IGNORED)


def _tell(value: object, met: dict[int, str], *, alone: bool = False) -> str:
    """Return a text of everything about a value that matters to the machine's behaviour.

    Of an object with parts it is a digest; `met` are those of objects that were met. `alone`: it
    is not looked up.
    """
    kind = type(value)
    if kind is tuple:
        items = [_tell(item, met) for item in value]  # type: ignore[attr-defined]
        return f"\x1d{_BETWEEN.join(items)}\x1e"
    if kind not in _PARTS:
        _PARTS[kind] = _parts(kind)
    names = _PARTS[kind]
    if names is not None:
        known = met.get(id(value))
        if known is None:
            if kind in _SHARED and not alone:
                known = once(_told, value)
            else:
                parts = [kind.__name__]
                for name in names:
                    part = getattr(value, name)
                    parts.append(repr(part) if type(part) is str else _tell(part, met))
                known = blake2b(_BETWEEN.join(parts).encode(), digest_size=20).hexdigest()
            met[id(value)] = known
        return known
    if kind is frozenset:
        return "{" + _BETWEEN.join(sorted(map(repr, value)))  # type: ignore[call-overload]
    return repr(value)
