"""Collects the diagnostics of one phase, so that all of them are reported together."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import PurePath

from checker.errors import Diagnostic, SpecificationError
from checker.source import Heading, Span, heading_over

_LONGEST_SUGGESTION = 60
_MOST_SUGGESTIONS = 200


class Problems:
    """The diagnostics found so far."""

    def __init__(self, headings: Sequence[Heading] = ()) -> None:
        self.found: list[Diagnostic] = []
        self.headings = headings

    def add(
        self,
        code: str,
        message: str,
        span: Span,
        *,
        expected: str | None = None,
        found: str | None = None,
        help: str | None = None,  # noqa: A002 - the word users read in the message
    ) -> None:
        """Keep one error; the same one at the same place is kept once."""
        new = Diagnostic(code, message, span, expected, found, help)
        if new not in self.found[-8:]:
            self.found.append(new)

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Keep the errors of another phase or file."""
        self.found.extend(diagnostics)

    def nearest(self, word: str, known: Iterable[str]) -> str | None:
        """Return what `word` was probably meant to be; None after many errors, for it is slow."""
        return nearest(word, known) if len(self.found) <= _MOST_SUGGESTIONS else None

    def raise_any(self) -> None:
        """Raise SpecificationError with everything found, in the order of the text."""
        if self.found:
            raise SpecificationError(
                tuple(
                    under_heading(item, self.headings)
                    for item in sorted(
                        self.found, key=lambda d: (d.span.source.name, d.span.line, d.span.column)
                    )
                )
            )


def under_heading(diagnostic: Diagnostic, headings: Iterable[Heading]) -> Diagnostic:
    """Return `diagnostic` with the heading that it stands under."""
    heading = heading_over(headings, diagnostic.span)
    return diagnostic if heading is None else replace(diagnostic, section=heading.title)


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that `word` was probably meant to be, or None."""
    if len(word) > _LONGEST_SUGGESTION:
        return None
    return next(iter(difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)), None)


def first_place(first: Span, second: Span) -> str:
    """Return where the first of two things is that may be there once, told beside the second."""
    file = "" if first.source is second.source else f"{PurePath(first.source.name).name}, "
    return f"the first is in {file}line {first.line}"
