"""Collects the diagnostics of one phase, so that all of them are reported together."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath

from checker.errors import Diagnostic, SpecificationError
from checker.source import Heading, Span, heading_over

ERRORS_MAX = 200
"""A phase that has found so many errors ends: nobody reads more, and each takes time."""

_LONGEST_SUGGESTION = 60
_ALIKE = 0.6
# A beginning counts for less than a whole word, and is guessed of words that are no abbreviations.
_BEGUN = 0.8
_OF_BEGINNINGS = 0.9
_SHORTEST_BEGINNING = 4


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
        """Keep one error; the same one at the same place is kept once.

        Raises SpecificationError after ERRORS_MAX of them.
        """
        self.keep(Diagnostic(code, message, span, expected, found, help))

    def keep(self, new: Diagnostic) -> None:
        """Keep one error, as `add` does."""
        if new in self.found[-8:]:
            return
        self.found.append(new)
        if len(self.found) >= ERRORS_MAX:
            message = f"there are {ERRORS_MAX} errors; nothing was looked for after this place"
            last = Diagnostic("T106", message, new.span, help="mend those before")
            raise SpecificationError((*self._in_order(), last))

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Keep the errors of another phase or file."""
        for diagnostic in diagnostics:
            self.keep(diagnostic)

    def raise_any(self) -> None:
        """Raise SpecificationError with everything found, in the order of the text."""
        if self.found:
            raise SpecificationError(self._in_order())

    def _in_order(self) -> tuple[Diagnostic, ...]:
        def place(item: Diagnostic) -> tuple[str, int, int]:
            return item.span.source.name, item.span.line, item.span.column

        found = sorted(self.found, key=place)
        return tuple(under_heading(item, self.headings) for item in found)


def under_heading(diagnostic: Diagnostic, headings: Iterable[Heading]) -> Diagnostic:
    """Return `diagnostic` with the heading that it stands under."""
    heading = heading_over(headings, diagnostic.span)
    return diagnostic if heading is None else replace(diagnostic, section=heading.title)


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that `word` was probably meant to be, or None; never itself.

    It may be a beginning of it: `leadr` is nearer to `leader_known` than to `legal`.
    """
    if len(word) > _LONGEST_SUGGESTION:
        return None
    words = [one for one in known if one != word]
    whole = difflib.get_close_matches(word, words, n=1, cutoff=_ALIKE)
    begun = {one[: len(word) + 1]: one for one in reversed(words) if len(one) > len(word) + 1}
    if len(word) >= _SHORTEST_BEGINNING:
        whole += [begun[one] for one in difflib.get_close_matches(word, begun, n=1, cutoff=_BEGUN)]
    scored = [(_likeness(word, one), one) for one in whole]
    return max(scored, key=lambda item: item[0])[1] if scored else None


def _likeness(word: str, known: str) -> float:
    """Return how alike two words are; as a beginning a little less than as a whole."""
    of_whole = difflib.SequenceMatcher(None, known, word).ratio()
    of_beginning = difflib.SequenceMatcher(None, known[: len(word) + 1], word).ratio()
    return max(of_whole, of_beginning * _OF_BEGINNINGS)


def meant(
    word: str, known: Iterable[str], elsewhere: Mapping[str, str] | None = None
) -> str | None:
    """Return the help on a word that nothing has: what is written here, or the nearest one.

    What other languages say (`elsewhere`) comes before any guess.
    """
    if elsewhere is not None and word in elsewhere:
        return elsewhere[word]
    close = nearest(word, known)
    return f"did you mean `{close}`?" if close else None


def first_place(first: Span, second: Span) -> str:
    """Return where the first of two things is that may be there once, told beside the second."""
    file = "" if first.source is second.source else f"{PurePath(first.source.name).name}, "
    return f"the first is in {file}line {first.line}"
