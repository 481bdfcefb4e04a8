"""A system that uses another one, and calls something of its own like every word of it.

Whatever the used system binds, declares or names a value is there a second time, as a variable or
constant and as an enum value, and none of it is meant.
"""

from __future__ import annotations

import keyword
import re

from checker.machine.builtins import NAMED
from checker.table.document import Document
from checker.table.scopes import declared

PREFIX = "s"
IN_A_TYPE = 200
_TAKEN = {*NAMED, *keyword.kwlist, "true", "false", "budget", "requests", "responses", "call"}


def words_of(document: Document) -> list[str]:
    """Return every word in the files of a system that something could be called."""
    texts = [file.source.text for file in document.files]
    texts += [table.span.source.text for table in document.tables.values()]
    found = {word for text in texts for word in re.findall(r"[^\W\d]\w*", text)}
    return sorted(word for word in found - _TAKEN if not word.startswith("_"))


def crowded(document: Document, use: str) -> str:
    """Return a system that has every word of one that it uses; `use` says how it does."""
    words = words_of(document)
    own = set(declared(document))
    # What a local could be renamed to; what is declared is called so there.
    words += [f"{PREFIX}_{word}" for word in words if word not in own]
    half = len(words) // 2
    lines = ["system: crowd", "about: It has every word.", "constants:"]
    lines += [f"  {word}: 1" for word in words[:half]]
    lines += ["types:"]
    lines += [
        f"  Crowd_{n}: one of {', '.join(words[n : n + IN_A_TYPE])}"
        for n in range(0, len(words), IN_A_TYPE)
    ]
    lines += ["variables:"]
    lines += [f'  {word}: {{type: bool, initial: "true", observed: true}}' for word in words[half:]]
    lines += [f"deadlock: {str(document.deadlock).lower()}", "uses:"]
    lines += [f"  {PREFIX}: {use}"]
    lines += [f"terminal: [terminal_{PREFIX}()]"] if document.terminal else []
    return "\n".join(lines) + "\n"
