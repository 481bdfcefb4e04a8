"""A system that another one uses: what its names are there, and whether all of that fits."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import Any

from checker.frozen import frozen
from checker.source import Span
from checker.table.document import (
    Cell,
    Component,
    Constant,
    Definition,
    Document,
    Message,
    Operation,
    Procedure,
    Row,
    Timer,
    UseEntry,
    Word,
)
from checker.table.problems import Problems, nearest
from checker.table.renaming import DECLARING, declared, parts_of

AS_THEY_ARE = (
    *(section for section in DECLARING if section not in ("constants", "timers")),
    "faults",
    "assume",
    "bounds",
)
"""The sections of a used system that become parts of this one under other names, and no more."""


@frozen()
class Part:
    """A system that is used, and what each name that it declares is called here."""

    use: UseEntry
    document: Document
    images: Mapping[str, str]

    @property
    def replaced(self) -> dict[str, str]:
        """What stands for something of it."""
        return {old.text: new.text for old, new in self.use.replaced}

    @property
    def left_out(self) -> frozenset[str]:
        """Names and files of what does not become part of the system that uses it."""
        return frozenset(word.text for word in self.use.without)

    def takes(self, entry: Any) -> bool:
        """Return whether an entry of a section becomes one of this system."""
        name = getattr(entry, "name", None)
        span: Span = entry.span if name is None else name.span
        files = {file.source.name for file in self.document.files if file.shown in self.left_out}
        if span.source.name in files:
            return False
        if name is None:
            return True
        gone = name.text in self.left_out or name.text in self.replaced
        return not gone and (isinstance(entry, Row) or not self._shared(entry))

    def _shared(self, entry: Any) -> bool:
        """Return whether this is an id type that both systems have."""
        return isinstance(entry, Constant) and self.images[entry.name.text] == entry.name.text


def images_of(host: Document, use: UseEntry, document: Document) -> dict[str, str]:
    """Return what each name that a used system declares is in `host`."""
    prefix = use.prefix.text
    replaced = {old.text: new.text for old, new in use.replaced}
    ours = {item.name.text for item in host.constants if _is_ids(item)}
    images = {}
    for name in declared(document):
        shared = name in ours and any(
            c.name.text == name and _is_ids(c) for c in document.constants
        )
        images[name] = replaced.get(name, name if shared else f"{prefix}_{name}")
    return images


def _is_ids(constant: Constant) -> bool:
    return constant.ids_count is not None or constant.ids_names is not None


def taken(part: Part, section: str) -> tuple[Any, ...]:
    """Return the entries of a section that become some of this system."""
    return tuple(entry for entry in getattr(part.document, section) if part.takes(entry))


# ----------------------------------------------------------------------------- what must be there


def check_names(host: Document, parts: list[Part], part: Part, problems: Problems) -> None:
    """Report words that name nothing (T145) and replacements that do not fit (T146)."""
    use, document = part.use, part.document
    there = {
        **declared(document),
        **dict.fromkeys((f.name.text for f in document.faults), "faults"),
    }
    rows = {row.name.text for row in document.rows}
    files = {file.shown for file in document.files}
    groups = {group.name.text for group in document.fair_groups}
    instances = {entry.name.text for entry in document.instances} | {"default"}
    claims = {entry.name.text for entry in document.properties if entry.refines is None}
    constants = {entry.name.text for entry in document.constants}
    _known([word for word, _, _ in use.settings], constants, "constant", document, problems)
    _known(use.without, {*there, *rows, *files, *groups, "initial"}, "part", document, problems)
    _known([old for old, _ in use.replaced], there, "part", document, problems)
    _known(use.properties or (), claims, "property", document, problems)
    _known([use.instance] if use.instance else (), instances, "instance", document, problems)
    ours = _declared_here(host, parts)
    _known([new for _, new in use.replaced], ours, "part", host, problems)
    for old, new in use.replaced:
        if old.text in there and new.text in ours:
            wrong = _misfit(part, old.text, *ours[new.text])
            if wrong is not None:
                problems.add(
                    "T146",
                    f"`{new.text}` cannot stand for `{old.text}` of {document.name.text}",
                    new.span,
                    expected=wrong[0],
                    found=wrong[1],
                    help="give it the same interface, or let another thing stand there",
                )


def _known(
    words: Iterable[Word], known: Iterable[str], kind: str, document: Document, problems: Problems
) -> None:
    for word in words:
        if word.text not in known:
            close = nearest(word.text, known)
            problems.add(
                "T145",
                f"{document.name.text} has no {kind} `{word.text}`",
                word.span,
                help=f"did you mean `{close}`?"
                if close
                else "write the name of one, or leave it out",
            )


Declared = tuple[Document, str]
"""A system, and what something is called in it."""


def _declared_here(host: Document, parts: list[Part]) -> dict[str, Declared]:
    """Return what can stand for something: of this system, and of the others that it uses."""
    own = (*declared(host), *(fault.name.text for fault in host.faults), *host.tables)
    found = {name: (host, name) for name in own}
    for part in parts:
        images = {**part.images}
        images |= {
            f.name.text: f"{part.use.prefix.text}_{f.name.text}" for f in part.document.faults
        }
        for name, image in images.items():
            if name not in part.replaced:
                found.setdefault(image, (part.document, name))
    return found


def _misfit(part: Part, old: str, ours: Document, new: str) -> tuple[str, str] | None:
    """Return what was expected of a replacement and what it is, None where it fits."""
    theirs = part.document
    one, other = _entry(theirs, old), _entry(ours, new)
    kinds = _kind(theirs, old), _kind(ours, new)
    if kinds[0] != kinds[1]:
        return kinds
    match one, other:
        case (Definition() | Procedure(), Definition() | Procedure()):
            return _unlike(one.parameters, other.parameters, "parameters", ordered=False)
        case (Message(), Message()):
            return _unlike(_names(one.fields), _names(other.fields), "fields")
        case (Operation() | Timer(), Operation() | Timer()):
            return _unlike(_names(one.captures), _names(other.captures), "captures")
        case (Component(), Component()):
            if (one.per is None) != (other.per is None):
                one_for_all, many = "one component", "one `per` something"
                return (one_for_all, many) if one.per is None else (many, one_for_all)
            used = _members_used(part, old)
            had = {item.name.text for item in other.machines}
            had |= {item.name.text for item in other.variables}
            if not used <= had:
                return f"with {', '.join(sorted(used))}", f"without {', '.join(sorted(used - had))}"
    return None


def _entry(document: Document, name: str) -> object:
    for section in (*DECLARING, "faults"):
        for entry in getattr(document, section):
            if entry.name.text == name:
                return entry
    return None


def _kind(document: Document, name: str) -> str:
    entry = _entry(document, name)
    if entry is None or (isinstance(entry, Constant) and _is_ids(entry)):
        return "a type"
    section = declared(document).get(name, "faults")
    kinds = {"types": "a type", "machines": "a variable or machine", "calls": "a set of calls"}
    kinds["variables"] = kinds["machines"]
    return kinds.get(section, f"a {section.removesuffix('s')}")


def _unlike(
    one: tuple[Word, ...], other: tuple[Word, ...], what: str, *, ordered: bool = True
) -> tuple[str, str] | None:
    names = [", ".join(word.text for word in words) or "none" for words in (one, other)]
    same = names[0] == names[1] if ordered else len(one) == len(other)
    return None if same else (f"{what}: {names[0]}", f"{what}: {names[1]}")


def _names(fields: tuple[tuple[Word, Any], ...]) -> tuple[Word, ...]:
    return tuple(word for word, _ in fields)


def _members_used(part: Part, component: str) -> set[str]:
    """Return the members of a component that what is taken of its system names."""
    sections = (*AS_THEY_ARE, "timers", "unhandled", "rows", "fair_groups", "constants")
    found = set()
    for item in parts_of(tuple(taken(part, section) for section in sections)):
        if isinstance(item, Cell):
            found |= {
                node.attr
                for node in item.nodes()
                if isinstance(node, ast.Attribute) and _base(node) == component
            }
    return found


def _base(node: ast.Attribute) -> str | None:
    """Return `client` of `client.state` and `client[c].state`."""
    root = node.value.value if isinstance(node.value, ast.Subscript) else node.value
    return root.id if isinstance(root, ast.Name) else None
