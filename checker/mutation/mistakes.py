"""Mistakes that a system declares: of each property, one that shows that it can fail.

They stand in `mistakes.yaml` beside the system. A mistake is an edit of the text - of a row,
procedure or definition, or of a file - or names one of the mutants that `weaving` makes.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from checker.elaborate import instances
from checker.frozen import frozen
from checker.mutation.edits import ENTRIES, Edit, entry_named, needed_word, read_edit
from checker.mutation.weaver import KINDS
from checker.mutation.weaving import catalogue
from checker.table.document import Document, Word
from checker.table.fields import Fields
from checker.table.nodes import Node
from checker.table.problems import Problems, nearest
from checker.table.tables import read_fields

FILE: Final = "mistakes.yaml"

KEYS: Final[dict[str, tuple[str, ...]]] = {
    "mistakes": ("mistakes", "about", "properties"),
    "mistake": ("in", "replace", "by", "mutant", "instance", "about"),
}
"""The keys of each part, as docs/mutation.md lists them."""


@frozen()
class Mistake:
    """A change with which an instance breaks `property`.

    It is an `edit` of the text, or `mutant` is the key of a mutant.
    """

    property: Word
    instance: str
    edit: Edit | None = None
    mutant: str = ""


def declared_mistakes(document: Document) -> tuple[Mistake, ...]:
    """Return the mistakes that stand beside a system; none where it has no such file."""
    path = Path(document.path).parent / FILE
    return read_mistakes(path, document) if path.exists() else ()


def read_mistakes(path: Path, document: Document) -> tuple[Mistake, ...]:
    """Return the mistakes that a file declares of a system.

    Raises SpecificationError with every error of the file, in their order: T1xx, and N206 for
    what the system does not have.
    """
    fields = read_fields(path, "mistakes", KEYS["mistakes"])
    fields.prose("about")
    reader = _Reader(document, fields.problems)
    system = fields.needed_name("mistakes")
    reader.known(system, "system", [document.name.text])
    found = tuple(reader.mistake(*item) for item in fields.named("properties", required=True))
    fields.problems.raise_any()
    return found


class _Reader:
    """Reads entries, and holds them to the system."""

    def __init__(self, document: Document, problems: Problems) -> None:
        self.document = document
        self.problems = problems
        self.properties = [entry.name.text for entry in document.properties]
        self.instances = [entry.name.text for entry in instances(document)]
        self.mutants: dict[str, dict[str, str]] = {}

    def mistake(self, word: Word, node: Node) -> Mistake:
        """Return the mistake that breaks a property."""
        self.known(word, "property", self.properties)
        fields = Fields(node, "mistake", self.problems, KEYS["mistake"])
        fields.prose("about")
        instance = fields.name("instance")
        if instance is not None:
            self.known(instance, "instance", self.instances)
        name = "default" if instance is None else instance.text
        if fields.has("mutant"):
            fields.alone("mutant", ("replace", "by"), "keep one of them")
            place, what = needed_word(fields, "in"), needed_word(fields, "mutant")
            return Mistake(word, name, mutant=self._mutant(place, what))
        return Mistake(word, name, edit=read_edit(fields, self.document))

    def known(self, word: Word, what: str, names: Iterable[str]) -> None:
        """Report a name that the system does not have (N206)."""
        names = list(names)
        if word.text and word.text not in names:
            close = nearest(word.text, names)
            self.problems.add(
                "N206",
                f"the system has no {what} `{word.text}`",
                word.span,
                help=f"did you mean `{close}`?" if close else None,
            )

    def _mutant(self, place: Word, what: Word) -> str:
        """Return the key of a mutant of the weaver (N206, N203)."""
        if not self.mutants:
            for item in catalogue(self.document, KINDS):
                self.mutants.setdefault(item.where, {})[item.what] = item.key
        found = entry_named(self.document, place, self.problems) if place.text else None
        if found is None or not what.text:
            return ""
        there = self.mutants.get(f"{ENTRIES[found[0]]} {place.text.rpartition('.')[2]}", {})
        if what.text not in there:
            close = nearest(what.text, there)
            self.problems.add(
                "N206",
                f"`{place.text}` has no mutant `{what.text}`",
                what.span,
                help=f"did you mean `{close}`?"
                if close
                else "`checker mutate SPEC --out DIR` lists them all in mutants.json",
            )
        return there.get(what.text, "")
