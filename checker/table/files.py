"""The files of a system: the one that names it and those its `files:` lists, read as one text.

Sections of the same name are joined in the order of the files; what only one file may say, such
as `fairness:`, is an error in the second. Headings are taken out here, so that no section's reader
has to know them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from checker.errors import SpecificationError
from checker.source import Heading, Source, Span
from checker.table.document import SystemFile, Word
from checker.table.fields import Fields, entries_of
from checker.table.looks import instead_of_file, is_file, lies_inside
from checker.table.nodes import Mapping, Node, Scalar, shorten
from checker.table.parsed import parse_yaml
from checker.table.problems import Problems, first_place, nearest
from checker.table.text import span_at
from checker.table.torn import mend_torn
from checker.table.words import read_items, read_prose, read_word, report_twice, wrong_kind

PART = "file of a system"
"""What a file that `files:` lists is called in messages, and its part of `KEYS`."""

FILES_MAX = 100
"""Files that a system may have beside the one that lists them."""

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*\.ya?ml")
_HEADING = re.compile(r"section\s+(?P<title>\S.*)")


class System(Fields):
    """The sections of a system, wherever its files hold them."""

    def __init__(
        self, node: Node, path: Path, problems: Problems, source: Callable[[Path], Source]
    ) -> None:
        """`source` reads the files that this one lists."""
        super().__init__(node, "system", problems)
        self.headings: list[Heading] = []
        self._files: tuple[tuple[SystemFile, Fields], ...] = ()
        about = read_prose(Fields.get(self, "about"), "about", Problems())
        self._home = SystemFile(path.name, about, node.span.source)
        self._files = tuple(_opened(Fields.items(self, "files"), path, problems, source))

    def files(self) -> tuple[SystemFile, ...]:
        """Return every file, the first one included."""
        return (self._home, *(file for file, _ in self._files))

    def get(self, key: str) -> Node | None:
        """Return the node of a key that only one file may have (T104)."""
        nodes = self._nodes(key)
        for node in nodes[1:]:
            self.problems.add(
                "T104",
                f"the section `{key}` stands in two files",
                node.span,
                found=first_place(nodes[0].span, node.span),
                help="keep one of them",
            )
        return nodes[0] if nodes else None

    def items(self, key: str) -> tuple[Node, ...]:
        """Return the items of a list in all files, without headings."""
        found: list[Node] = []
        for node in self._nodes(key):
            items = read_items(node, key, self.problems)
            heads = [self._heading_item(item) for item in items]
            self._keep(key, node, zip((item.span for item in items), heads, strict=True))
            found += [item for item, head in zip(items, heads, strict=True) if head is None]
        return tuple(found)

    def entries(self, key: str, *, required: bool = False) -> Iterator[tuple[Scalar, Node]]:
        """Return keys and values of a mapping in all files, without headings (T104)."""
        assert not required
        found: dict[str, Scalar] = {}
        for node in self._nodes(key):
            entries = entries_of(node, key, self.problems)
            heads = [self._heading_entry(*entry) for entry in entries]
            self._keep(key, node, zip((name.span for name, _ in entries), heads, strict=True))
            for (name, value), head in zip(entries, heads, strict=True):
                if head is not None:
                    continue
                first = found.setdefault(name.text, name)
                if first.span.source is not name.span.source:
                    self.problems.add(
                        "T104",
                        f"the key `{name.text}` stands here twice",
                        name.span,
                        found=first_place(first.span, name.span),
                        help="keep one of them",
                    )
                    continue
                yield name, value

    def _nodes(self, key: str) -> list[Node]:
        nodes = [super().get(key), *(fields.get(key) for _, fields in self._files)]
        return [node for node in nodes if node is not None]

    def _heading_item(self, item: Node) -> tuple[str, str] | None:
        """Return title and prose of `- section: title`, or None for any other item."""
        if not isinstance(item, Mapping):
            return None
        if all(key.text != "section" for key, _ in item.entries):
            return None
        fields = Fields(item, "heading", self.problems)
        title = fields.need("section")
        return read_prose(title, "section", self.problems), fields.prose("about")

    def _heading_entry(self, key: Scalar, value: Node) -> tuple[str, str] | None:
        """Return title and prose of `section title:`, or None for any other entry."""
        match = _HEADING.fullmatch(key.text)
        if match is None or key.kind != "string":
            return None
        empty = isinstance(value, Scalar) and value.kind == "null"
        about = "" if empty else read_prose(value, key.text, self.problems)
        return " ".join(match["title"].split()), about

    def _keep(
        self, key: str, node: Node, places: Iterable[tuple[Span, tuple[str, str] | None]]
    ) -> None:
        """Keep each heading with the lines it stands over: to the next one, or to the end."""
        heads = [(span, head) for span, head in places if head is not None]
        if not heads:
            return
        ends = [span.line - 1 for span, _ in heads[1:]] + [node.span.end_line]
        for (span, (title, about)), end in zip(heads, ends, strict=True):
            self.headings.append(Heading(key, title, about, span.source, span.line, end))


def _opened(
    nodes: Iterable[Node], path: Path, problems: Problems, source: Callable[[Path], Source]
) -> Iterator[tuple[SystemFile, Fields]]:
    words = [word for node in nodes if (word := read_word(node, "files", problems)).text]
    report_twice(words, problems)
    if len(words) > FILES_MAX:
        problems.add(
            "T106",
            f"the system has {len(words)} files",
            words[FILES_MAX].span,
            expected=f"at most {FILES_MAX}",
            help="join some of them",
        )
        return
    seen: set[str] = set()
    for word in words:
        if word.text not in seen:
            seen.add(word.text)
            fields = _open(word, path, problems, source)
            if fields is not None:
                yield SystemFile(word.text, fields.prose("about"), fields.span.source), fields


def _open(
    word: Word, path: Path, problems: Problems, source: Callable[[Path], Source]
) -> Fields | None:
    """Return the sections of a listed file, or None after reporting why there are none."""
    file = path.parent / word.text
    if (
        not _PLAIN.fullmatch(word.text)
        or word.text == path.name
        or not lies_inside(file, (path.parent,))
    ):
        problems.add(
            "T143",
            f"`{shorten(word.text)}` is no other file of this folder",
            word.span,
            expected=f"the plain name of a .yaml file beside {path.name}, not a link out of there",
            help="move the file into the folder, and list its name",
        )
        return None
    if not is_file(file):
        names = [item.name for item in path.parent.glob("*.y*ml") if is_file(item)]
        near = nearest(word.text, sorted(name for name in names if name != path.name))
        found = instead_of_file(file)
        problems.add(
            "T143",
            f"there is no file `{word.text}` in this folder"
            if found is None
            else f"`{word.text}` is no ordinary file",
            word.span,
            found=found,
            help=f"did you mean `{near}`?" if near else "write the file, or leave it out",
        )
        return None
    try:
        node = _read_part(source(file), problems)
    except SpecificationError as failure:
        problems.extend(failure.diagnostics)
        return None
    return Fields(node, PART, problems) if node is not None else None


def _read_part(source: Source, problems: Problems) -> Node | None:
    node = parse_yaml(source)
    if node is None:
        problems.add(
            "T107",
            "the file is empty",
            span_at(source, 0, 0),
            expected="sections of a system, such as `rows:`",
            help="write some, or leave it out of `files:`",
        )
        return None
    node = mend_torn(node, problems)
    if not isinstance(node, Mapping):
        wrong_kind(node, PART, "a mapping", problems, "begin with a section, such as `rows:`")
        return None
    for key, _ in node.entries:
        if key.text in ("system", "table"):
            problems.add(
                "T107",
                f"this file is a {key.text} of its own",
                key.span,
                expected="sections of the system whose `files:` lists it",
                help="leave it out of `files:`, or remove this key",
            )
            return None
    return node
