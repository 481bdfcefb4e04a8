"""Finds and reads the tables that a system names; never outside the folders it may look in."""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from collections.abc import Iterable
from pathlib import Path

from checker.errors import Diagnostic, SpecificationError
from checker.library import shipped_folder
from checker.source import SIZE_MAX, Span
from checker.table.analysis import lint_table
from checker.table.document import Word
from checker.table.looks import content, instead_of_file, is_file, lies_inside
from checker.table.nodes import Node
from checker.table.problems import Problems, nearest
from checker.table.state_table import StateTable
from checker.table.tables import read_table
from checker.table.words import read_word


class TableFinder:
    """Reads each table once and keeps it under its name."""

    def __init__(self, system: Path, problems: Problems) -> None:
        self.problems = problems
        self.found: dict[str, StateTable] = {}
        self.warnings: list[Diagnostic] = []
        self._failed: set[str] = set()
        home = system.absolute().parent
        self._home = home
        self._folders = (
            home,
            *(folder / "tables" for folder in (home, *home.parents)),
            shipped_folder() / "tables",
        )

    def listed(self, nodes: Iterable[Node]) -> None:
        """Read the entries of `tables:`, each a table's name or a relative path."""
        for node in nodes:
            word = read_word(node, "tables", self.problems)
            if not word.text:
                continue
            if word.text.isidentifier():
                self.needed(word)
            else:
                self._listed_path(word)

    def needed(self, word: Word) -> None:
        """Read the table of that name, or report that there is none (T140)."""
        if not self._search(word) and word.text not in self._failed:
            self._failed.add(word.text)
            near = nearest(word.text, self._names())
            self.problems.add(
                "T140",
                f"there is no table `{word.text}`",
                word.span,
                expected=f"a file {word.text}.yaml beside the specification, in a folder `tables` "
                "above it, or among the shipped tables",
                help=f"did you mean `{near}`?"
                if near
                else "write the table, or list its path in `tables:`",
            )

    def possible(self, word: Word) -> None:
        """Read the table of that name if there is one."""
        self._search(word)

    def _search(self, word: Word) -> bool:
        if word.text in self.found or word.text in self._failed:
            return True
        if not word.text.isidentifier():
            return False
        for folder in self._folders:
            path = folder / f"{word.text}.yaml"
            if is_file(path) and (folder != self._home or _is_table(path)):
                if lies_inside(path, (folder,)):
                    self._read(path, word.span, word.text)
                else:
                    self._outside(word)
                return True
        return False

    def _listed_path(self, word: Word) -> None:
        path = Path(word.text)
        if path.is_absolute() or "\\" in word.text or path.suffix not in (".yaml", ".yml"):
            self._outside(word)
            return
        path = self._home / path
        if not lies_inside(path, self._folders):
            self._outside(word)
        elif not is_file(path):
            found = instead_of_file(path)
            self.problems.add(
                "T140",
                f"there is no file {word.text}"
                if found is None
                else f"{word.text} is no ordinary file",
                word.span,
                expected="a path relative to the specification's folder",
                found=found,
                help="check the path",
            )
        else:
            self._read(path, word.span, None)

    def _read(self, path: Path, span: Span, name: str | None) -> None:
        try:
            table = read_table(shown_path(path))
        except SpecificationError as failure:
            self.problems.extend(failure.diagnostics)
            self._failed.add(name or "")
            return
        other = self.found.get(table.name)
        if (name is not None and table.name != name) or (
            other is not None and other.span.source.name != table.span.source.name
        ):
            self.problems.add(
                "T142",
                f"the file {path.name} holds the table `{table.name}`",
                span,
                expected=f"the table `{name}`" if name else "one table of a name",
                help="give file and table the same name",
            )
            self._failed.add(name or "")
            return
        if other is None:
            self.found[table.name] = table
            self.warnings += lint_table(table)

    def _outside(self, word: Word) -> None:
        self._failed.add(word.text)
        self.problems.add(
            "T141",
            "this path leads where tables are not read from",
            word.span,
            expected="a relative path to a .yaml file below the specification's folder, in a "
            "folder `tables` above it, or among the shipped tables",
            help="move the table there, and list its name or relative path",
        )

    def _names(self) -> set[str]:
        return {path.stem for folder in self._folders for path in folder.glob("*.yaml")}


def _is_table(path: Path) -> bool:
    """Return whether a file beside the system is a table (systems may share a folder with it)."""
    try:
        data = content(path)
        # What is too large for a table is cut off, perhaps within a character.
        decoder = getincrementaldecoder("utf-8")()
        text = decoder.decode(data, final=len(data) <= SIZE_MAX)
    except (OSError, UnicodeDecodeError):
        return True
    return _KEY_OF_A_TABLE.search(_outermost(text)) is not None


_KEY_OF_A_TABLE = re.compile(r"""^[\s{,]*["']?(table|states)["']?\s*:""", re.MULTILINE)
_BRACKETS = re.compile(r"""[{}\[\],]|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""")


def _outermost(text: str) -> str:
    """Return a text without indented lines; of one in JSON form the outermost keys, each a line."""
    if not text.lstrip().startswith("{"):
        return "\n".join(line for line in text.splitlines() if line[:1] not in {" ", "{", ","})
    kept, depth, last = [], 0, 0
    for match in _BRACKETS.finditer(text):
        kept += [text[last : match.start()]] if depth == 1 else []
        last = match.end()
        match match.group():
            case "{" | "[":
                depth += 1
            case "}" | "]":
                depth -= 1
            case ",":
                kept += ["\n"] if depth == 1 else []
            case quoted:
                kept += [quoted] if depth == 1 else []
    return "".join(kept)


def shown_path(path: Path) -> Path:
    """Return the path as messages show it: below the working folder where it is."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
