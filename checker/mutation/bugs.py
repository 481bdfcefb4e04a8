"""Bugs that a system lists: what somebody did wrong once, or could, written down as edits.

They stand in `bugs.yaml` beside the system. A mistake of `mistakes.yaml` shows of one property that
it can fail; a bug is there to be noticed, by whatever notices it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from checker.frozen import frozen
from checker.mutation.edits import Edit, read_edit
from checker.mutation.weaver import Mutant
from checker.table.document import Document, Word
from checker.table.fields import Fields
from checker.table.nodes import Node
from checker.table.problems import Problems, nearest
from checker.table.tables import read_fields

FILE: Final = "bugs.yaml"

KEYS: Final[dict[str, tuple[str, ...]]] = {
    "bugs": ("bugs", "about", "list"),
    "bug": ("about", "source", "in", "replace", "by", "edits", "survives"),
    "edit": ("in", "replace", "by"),
}
"""The keys of each part, as docs/mutation.md lists them."""


@frozen()
class Bug:
    """Edits that are one bug. `survives`: why no verdict catches it, where none should."""

    name: Word
    about: str
    source: str
    edits: tuple[Edit, ...]
    survives: str = ""

    @property
    def mutant(self) -> Mutant:
        """The bug as what is judged; it has no number before it is put into a machine."""
        entries = dict.fromkeys(item.entry or item.file.name for item in self.edits)
        return Mutant(0, ", ".join(entries), self.name.text, "bug", self.name.span)


def read_bugs(path: Path, document: Document) -> tuple[Bug, ...]:
    """Return the bugs that a file lists of a system.

    Raises SpecificationError with every error of the file, in their order: T1xx, and N206 for
    what the system does not have.
    """
    fields = read_fields(path, "bugs", KEYS["bugs"])
    fields.prose("about")
    system = fields.needed_name("bugs")
    if system.text and system.text != document.name.text:
        close = nearest(system.text, [document.name.text])
        fields.problems.add(
            "N206",
            f"the system beside this file is `{document.name.text}`, not `{system.text}`",
            system.span,
            help=f"did you mean `{close}`?" if close else None,
        )
    found = tuple(
        _bug(word, node, document, fields.problems)
        for word, node in fields.named("list", required=True)
    )
    fields.problems.raise_any()
    return found


def _bug(word: Word, node: Node, document: Document, problems: Problems) -> Bug:
    fields = Fields(node, "bug", problems, KEYS["bug"])
    about, source = fields.prose("about", required=True), fields.prose("source")
    survives = fields.prose("survives")
    if fields.has("edits"):
        fields.alone("edits", KEYS["edit"], "write it as one more item of `edits`")
        fields.refuse_empty("edits")
        parts = [Fields(item, "edit", problems, KEYS["edit"]) for item in fields.items("edits")]
        found = [read_edit(part, document) for part in parts]
    else:
        found = [read_edit(fields, document)]
    edits = tuple(item for item in found if item is not None)
    _apart(word, edits, problems)
    return Bug(word, about, source, edits, survives)


def _apart(word: Word, edits: Sequence[Edit], problems: Problems) -> None:
    """Report edits that change the same text (T115)."""
    order = sorted(edits, key=lambda item: (str(item.file), item.begin))
    for one, two in pairwise(order):
        if one.file == two.file and two.begin < one.end:
            problems.add(
                "T115",
                f"two edits of `{word.text}` change the same text",
                word.span,
                help="write them as one",
            )
            return


def by_key(bugs: Sequence[Bug]) -> Mapping[str, Bug]:
    """Return bugs by the keys of what is judged."""
    return {item.mutant.key: item for item in bugs}
