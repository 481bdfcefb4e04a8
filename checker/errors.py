"""The error tree: what a user can cause, what the environment can cause, what only we can cause.

A `Diagnostic` is one located message; `SpecificationError` carries all diagnostics of one phase.
Codes are grouped by phase: `T1xx` text and YAML, `N2xx` names, `Y3xx` types, `L4xx` lints,
`E5xx` evaluation, `R6xx` running and limits, `X7xx` export. `checker explain CODE` prints the page
`docs/errors/CODE.md`.
"""

from __future__ import annotations

import errno
from typing import Literal

from checker.frozen import frozen
from checker.source import Span

Severity = Literal["error", "warning"]


@frozen()
class Use:
    """Where a definition or procedure is used, and what with: `less(m: 0..3)`."""

    what: str
    span: Span


@frozen()
class Diagnostic:
    """One located message: what is wrong, where, what was expected and found, what to change.

    `uses`: of what is wrong inside of a definition or procedure only as it is used, the uses that
    led there, innermost first.
    """

    code: str
    message: str
    span: Span
    expected: str | None = None
    found: str | None = None
    help: str | None = None
    severity: Severity = "error"
    section: str = ""
    """The author's heading over the place, where there is one."""
    uses: tuple[Use, ...] = ()


class CheckerError(Exception):
    """Anything the checker reports on purpose; the command line prints it without a traceback."""


class SpecificationError(CheckerError):
    """The specification is wrong: every diagnostic of the phase that found it (exit code 120)."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__(f"{len(diagnostics)} error(s) in the specification")
        self.diagnostics = diagnostics


class UsageError(CheckerError):
    """The command was called with options that cannot be honoured (exit code 2)."""


class EvaluationError(CheckerError):
    """A step or property left a range, indexed nothing or unwrapped none (exit code 75)."""

    def __init__(self, code: str, message: str, span: Span) -> None:
        super().__init__(message)
        self.code = code
        self.span = span


class EnvironmentFailure(CheckerError):  # noqa: N818 - the environment fails, not a call
    """The machine could not do what was asked: no space, no permission, no compiler target."""


class Interruption(CheckerError):  # noqa: N818 - nothing went wrong
    """Ctrl-C ended a command that has no result without its end (exit code 130)."""


class InternalError(Exception):
    """The checker contradicts itself (exit code 255); please report, with the specification."""


_REFUSALS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN})
"""Open files, memory, processes. A file that has no room on its disk is told of by its name."""


def refused(error: Exception) -> bool:
    """Whether the machine refuses what is needed, whatever was asked for (exit code 255)."""
    if isinstance(error, OSError):
        return error.errno in _REFUSALS
    return isinstance(error, EnvironmentFailure)


def failure_of(error: OSError, text: str) -> CheckerError:
    """Return what to raise where `error` keeps from doing what was asked, in words of its own."""
    return EnvironmentFailure(text) if refused(error) else UsageError(text)


def told(error: Exception) -> str:
    """Return what a person reads of `error`: of a file, its name and what is the matter with it."""
    if isinstance(error, OSError) and refused(error):
        said = f"the system refuses what the checker needs: {str(error.strerror).lower()}"
        return f"{said}; allow it more (`ulimit -a` shows the limits)"
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror.lower()}"
    if isinstance(error, FileNotFoundError) and error.errno is not None:  # the system's own
        return "the current folder does not exist any more; change to one that does"
    return str(error)
