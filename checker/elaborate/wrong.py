"""The exception with which elaboration leaves a cell or statement, and how it is collected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from checker.errors import Diagnostic, Use
from checker.machine.relations import show
from checker.machine.types import Type
from checker.source import Span, covers
from checker.table.problems import Problems


class Wrong(Exception):  # noqa: N818 - it is a message on its way, not an error of ours
    """One located message; whoever runs the cell collects it and goes on with the next."""

    def __init__(
        self,
        code: str,
        message: str,
        span: Span,
        *,
        expected: str | None = None,
        found: str | None = None,
        help: str | None = None,  # noqa: A002 - the word users read in the message
    ) -> None:
        super().__init__(message)
        self.diagnostic = Diagnostic(code, message, span, expected, found, help)


class TooMuch(Wrong):
    """The specification as a whole is too large: nothing that follows is worth a message."""


class Consequence(Wrong):
    """A name is used whose own cell is wrong, which is told already: one mistake, one message."""


@contextmanager
def used(
    name: str, arguments: Iterable[tuple[str, Type]], span: Span, problems: Problems
) -> Iterator[None]:
    """Let what is wrong in the body of a definition or procedure say where it is used.

    One without parameters is wrong in itself. What is wrong with an argument is told at its place.
    """
    before = len(problems.found)
    try:
        yield
    except Wrong as wrong:
        (wrong.diagnostic,) = _with_use(name, arguments, span, [wrong.diagnostic])
        raise
    finally:
        if len(problems.found) > before:
            told = _with_use(name, arguments, span, problems.found[before:])
            problems.found[before:] = told


def _with_use(
    name: str, arguments: Iterable[tuple[str, Type]], span: Span, told: list[Diagnostic]
) -> list[Diagnostic]:
    given = ", ".join(f"{parameter}: {show(kind)}" for parameter, kind in arguments)
    use = Use(f"{name}({given})", span)
    return [
        replace(item, uses=(*item.uses, use)) if given and not covers(span, item.span) else item
        for item in told
    ]


@contextmanager
def collecting(problems: Problems) -> Iterator[None]:
    """Keep the message of a `Wrong` raised inside, once, and go on after the block."""
    try:
        yield
    except Consequence:
        pass
    except TooMuch as wrong:
        _keep(problems, wrong.diagnostic)
        problems.raise_any()
    except Wrong as wrong:
        _keep(problems, wrong.diagnostic)


def _keep(problems: Problems, new: Diagnostic) -> None:
    if not any(old.code == new.code and old.span == new.span for old in problems.found):
        problems.keep(new)
