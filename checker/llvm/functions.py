"""Plain functions as code: one for each that `checker.machine.builtins` lists as plain."""

from __future__ import annotations

from collections.abc import Callable

from checker.llvm.code import Ref
from checker.llvm.frame import Frame, Value
from checker.machine import terms


def apply(frame: Frame, term: terms.Apply) -> Value:
    """Write the arguments in order, then the function; it never fails."""
    return CODE[term.function](frame, *(frame.value(argument) for argument in term.arguments))


def _abs(frame: Frame, value: Value) -> Value:
    assert not isinstance(value, Ref)
    code = frame.code
    return code.select(code.compare("slt", value, 0), code.sub(0, value), value)


CODE: dict[str, Callable[..., Value]] = {"abs": _abs}
"""By name. What comes in and goes out is as `Value` says: a number where the type is a range."""
