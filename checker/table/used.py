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
    Fault,
    Message,
    Operation,
    Procedure,
    Timer,
    UseEntry,
    Word,
)
from checker.table.problems import Problems, nearest
from checker.table.scopes import DECLARING, declared, parts_of

AS_THEY_ARE = (
    *(section for section in DECLARING if section not in ("constants", "timers")),
    "faults",
    "assume",
    "bounds",
)
"""The sections of a used system that become parts of this one under other names, and no more."""


SECTIONS = (*DECLARING, "faults", "rows", "fair_groups")
"""The sections whose entries can be left out by their names. Those of DECLARING share one space of
names, each other section has one of its own: a row may be called like a fault."""


@frozen()
class Part:
    """A system that is used, and what each name that it declares is called here.

    `images` are the names of expressions, `faults` those of faults. `replaced` and
    `replaced_faults` are those of them that are something of whoever uses it. `left_out` has, of
    each section, the names of what does not become part of that, and `files` whole files of it.
    """

    use: UseEntry
    document: Document
    images: Mapping[str, str]
    faults: Mapping[str, str]
    replaced: Mapping[str, str]
    replaced_faults: Mapping[str, str]
    left_out: Mapping[str, frozenset[str]]
    files: frozenset[str]

    def takes(self, entry: Any, section: str = "") -> bool:
        """Return whether an entry of a section becomes one of this system."""
        name = getattr(entry, "name", None)
        span: Span = entry.span if name is None else name.span
        if span.source.name in self.files:
            return False
        if name is None or not section:
            return True
        if name.text in self.left_out.get(section, ()):
            return False
        if section == "faults":
            return name.text not in self.replaced_faults
        if section not in DECLARING:
            return True
        return name.text not in self.replaced and not self.shares(entry)

    def shares(self, entry: Any) -> bool:
        """Return whether this is an id type that both systems have."""
        return isinstance(entry, Constant) and self.images[entry.name.text] == entry.name.text


def parts_of_use(host: Document, used: Iterable[tuple[UseEntry, Document]]) -> list[Part]:
    """Return the systems that `host` uses, each with what its names are there."""
    pairs = list(used)
    faults = {fault.name.text for fault in host.faults}
    names = {*declared(host), *host.tables}
    for use, document in pairs:
        faults |= {f"{use.prefix.text}_{fault.name.text}" for fault in document.faults}
        names |= {f"{use.prefix.text}_{name}" for name in declared(document)}
    return [_part(host, use, document, faults, names) for use, document in pairs]


def _part(
    host: Document, use: UseEntry, document: Document, faults: set[str], names: set[str]
) -> Part:
    prefix, theirs = use.prefix.text, declared(document)
    own_faults = {fault.name.text for fault in document.faults}
    replaced, replaced_faults = {}, {}
    for old, new in use.replaced:
        # What is a fault and something else is what stands for it, where that is but one; where
        # that is both, too, nobody says which is meant (T145).
        if old.text in own_faults and (old.text not in theirs or new.text in faults):
            replaced_faults[old.text] = new.text
        if old.text not in replaced_faults or (old.text in theirs and new.text in names):
            replaced[old.text] = new.text
    return Part(
        use,
        document,
        _images(host, document, prefix, replaced),
        {name: replaced_faults.get(name, f"{prefix}_{name}") for name in own_faults},
        replaced,
        replaced_faults,
        _left_out(use, document),
        frozenset(
            file.source.name
            for file in document.files
            if file.shown in {word.text for word in use.without}
        ),
    )


def _left_out(use: UseEntry, document: Document) -> dict[str, frozenset[str]]:
    """Return the names that are left out, by section; `rows.crash` is one of that section alone."""
    found: dict[str, set[str]] = {}
    for word in use.without:
        for section, name in places_of(word.text, document):
            found.setdefault(section, set()).add(name)
    return {section: frozenset(names) for section, names in found.items()}


def places_of(word: str, document: Document) -> list[tuple[str, str]]:
    """Return the sections, with the name there, that a word of `without:` means something in."""
    section, dot, name = word.partition(".")
    if dot and section in SECTIONS:
        return [(section, name)] if name in _names_of(document, section) else []
    return [(section, word) for section in SECTIONS if word in _names_of(document, section)]


def _names_of(document: Document, section: str) -> set[str]:
    return {entry.name.text for entry in getattr(document, section)}


def _images(
    host: Document, document: Document, prefix: str, replaced: Mapping[str, str]
) -> dict[str, str]:
    """Return what each name that a used system declares is in `host`."""
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
    return tuple(entry for entry in getattr(part.document, section) if part.takes(entry, section))


# ----------------------------------------------------------------------------- what must be there


def check_names(host: Document, parts: list[Part], part: Part, problems: Problems) -> None:
    """Report words that name nothing (T145) and replacements that do not fit (T146)."""
    use, document = part.use, part.document
    there = {*declared(document), *part.faults}
    instances = {entry.name.text for entry in document.instances} | {"default"}
    claims = {
        entry.name.text
        for entry in document.properties
        if entry.refines is None and part.takes(entry)
    }
    constants = {entry.name.text for entry in document.constants}
    _known([word for word, _, _ in use.settings], constants, "constant", document, problems)
    _check_settings(part, problems)
    _check_left_out(part, problems)
    _known([old for old, _ in use.replaced], there, "part", document, problems)
    _known(use.properties or (), claims, "property", document, problems)
    _known([use.instance] if use.instance else (), instances, "instance", document, problems)
    ours = _declared_here(host, parts)
    _known([new for _, new in use.replaced], ours, "part", host, problems)
    for old, new in use.replaced:
        if old.text in part.replaced and old.text in part.replaced_faults and new.text in ours:
            problems.add(
                "T145",
                f"{document.name.text} has a fault and something else that are called "
                f"`{old.text}`, and `{new.text}` are two things, too",
                new.span,
                help="give what is to stand for one of them a name of its own here",
            )
        elif old.text in there and new.text in ours:
            for fault, names in ((False, part.replaced), (True, part.replaced_faults)):
                if names.get(old.text) == new.text:
                    _check_fit(part, old, new, *ours[new.text], problems, fault=fault)


def _check_fit(
    part: Part, old: Word, new: Word, ours: Document, name: str, problems: Problems, *, fault: bool
) -> None:
    wrong = _misfit(part, old.text, ours, name, fault=fault)
    if wrong is not None:
        problems.add(
            "T146",
            f"`{new.text}` cannot stand for `{old.text}` of {part.document.name.text}",
            new.span,
            expected=wrong[0],
            found=wrong[1],
            help="give it the same interface, or let another thing stand there",
        )


def _check_settings(part: Part, problems: Problems) -> None:
    """Report constants that get a value and are none of the used system's any more (T115)."""
    taken_ = {entry.name.text for entry in taken(part, "constants")}
    for word, _, span in part.use.settings:
        here = part.images.get(word.text)
        if here is not None and word.text not in taken_:
            problems.add(
                "T115",
                f"`{word.text}` is `{here}` of this system here, and has its value"
                if word.text not in part.left_out.get("constants", ())
                else f"`{word.text}` is left out, and has no value",
                span,
                help="leave this out, or set that one",
            )


def _check_left_out(part: Part, problems: Problems) -> None:
    """Report words of `without:` that mean nothing, or several things of one name (T145)."""
    document = part.document
    known = {name for section in SECTIONS for name in _names_of(document, section)}
    known |= {"initial", *(file.shown for file in document.files)}
    whole = {"initial", *(file.shown for file in document.files)}
    for word in part.use.without:
        places = places_of(word.text, document)
        if word.text not in whole and not places:
            _known([word], known, "part", document, problems)
        elif word.text not in whole and len(places) > 1:
            several = " and ".join(f"{section}.{name}" for section, name in places)
            problems.add(
                "T145",
                f"{document.name.text} has several parts that are called `{word.text}`",
                word.span,
                expected=several,
                help=f"say which: {' or '.join(f'{section}.{name}' for section, name in places)}",
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
        for images, replaced in (
            (part.images, part.replaced),
            (part.faults, part.replaced_faults),
        ):
            for name, image in images.items():
                if name not in replaced:
                    found.setdefault(image, (part.document, name))
    return found


def _misfit(
    part: Part, old: str, ours: Document, new: str, *, fault: bool
) -> tuple[str, str] | None:
    """Return what was expected of a replacement and what it is, None where it fits."""
    theirs = part.document
    one, other = _entry(theirs, old, fault=fault), _entry(ours, new, fault=fault)
    kinds = _kind(theirs, old, fault=fault), _kind(ours, new, fault=fault)
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


def _entry(document: Document, name: str, *, fault: bool) -> object:
    """Return what is called so; where a fault is meant, that one first."""
    sections = ("faults", *DECLARING) if fault else (*DECLARING, "faults")
    for section in sections:
        for entry in getattr(document, section):
            if entry.name.text == name:
                return entry
    return None


def _kind(document: Document, name: str, *, fault: bool) -> str:
    entry = _entry(document, name, fault=fault)
    if isinstance(entry, Fault):
        return "a fault"
    if entry is None or (isinstance(entry, Constant) and _is_ids(entry)):
        return "a type"
    section = declared(document)[name]
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
