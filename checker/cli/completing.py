"""What the shell completes: specifications, instances, properties, rows, error codes.

A completion answers at once and never complains: where a specification cannot be read there is
nothing to complete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from checker import library
from checker.diagnostics import CODES
from checker.errors import CheckerError

if TYPE_CHECKING:
    from checker.table import Document

Names = Callable[[click.Context], Iterable[tuple[str, str]]]


class Completed(click.ParamType):  # type: ignore[type-arg] # generic in newer versions only
    """A word that the shell completes from names; what it may be is decided elsewhere."""

    name = "text"

    def __init__(self, names: Names, *, files: bool = False) -> None:
        self.names = names
        self.files = files

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names that begin so; files where there is no such name."""
        del param
        found: list[CompletionItem] = []
        with suppress(CheckerError, OSError):
            found = [
                CompletionItem(name, help=text)
                for name, text in self.names(ctx)
                if name.startswith(incomplete)
            ]
        if self.files and (not found or "/" in incomplete):
            return [CompletionItem(incomplete, type="file")]
        return found


def complete(command: click.Command) -> None:
    """Give the parameters of a command what the shell completes for them."""
    for parameter in command.params:
        option = max(parameter.opts, key=len, default="")
        if parameter.name in {"spec", "specs", "old", "new"}:
            parameter.type = Completed(_specifications, files=True)
        elif option in {"--instance", "--old-instance", "--new-instance"}:
            parameter.type = Completed(_instances)
        elif option == "--property":
            parameter.type = Completed(_properties)
        elif option == "--row":
            parameter.type = Completed(_rows)
        elif parameter.name == "code":
            parameter.type = Completed(_codes)


def _specifications(_: click.Context) -> Iterable[tuple[str, str]]:
    return [(entry.name, entry.kind) for entry in library.shipped() if entry.kind != "table"]


def _codes(_: click.Context) -> Iterable[tuple[str, str]]:
    return sorted(CODES.items())


def _instances(ctx: click.Context) -> Iterable[tuple[str, str]]:
    from checker.elaborate import instances  # noqa: PLC0415 (only where one is completed)

    for document in _documents(ctx):
        for entry in instances(document):
            yield entry.name.text, entry.about


def _properties(ctx: click.Context) -> Iterable[tuple[str, str]]:
    for document in _documents(ctx):
        for entry in document.properties:
            yield entry.name.text, entry.why
        yield from (("deadlock", "nothing but a fault can happen"), ("legal", "a move of no table"))


def _rows(ctx: click.Context) -> Iterable[tuple[str, str]]:
    for document in _documents(ctx):
        for row in document.rows:
            yield row.name.text, row.about
        for procedure in document.procedures:
            yield procedure.name.text, "procedure"
        for definition in document.definitions:
            yield definition.name.text, "definition"


def _documents(ctx: click.Context) -> Iterator[Document]:
    """Yield the specifications that the words so far name."""
    from checker.table import read  # noqa: PLC0415 (as above)

    named = next(filter(None, map(ctx.params.get, ("spec", "specs", "new", "old"))), None)
    # An option that still waits for its value leaves the words before it unread.
    named = named or [word for word in ctx.args if not word.startswith("-")]
    for name in (named,) if isinstance(named, str) else named:
        with suppress(CheckerError):
            yield read(library.find(name))
