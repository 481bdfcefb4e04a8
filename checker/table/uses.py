"""`uses:`: systems whose parts become parts of this one, under a prefix.

What comes back is a system as if it had been written in one piece: nothing after this knows that
it was not (docs/decisions/012-uses.md).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from checker.source import Span
from checker.table.cells import read_expression
from checker.table.document import (
    Cell,
    Constant,
    Definition,
    Document,
    FairGroupEntry,
    Row,
    Timer,
    Unhandled,
    UseEntry,
    Word,
)
from checker.table.expressions import parse_expression
from checker.table.fields import Fields
from checker.table.nodes import Node, Scalar
from checker.table.passage import Passage
from checker.table.problems import Problems
from checker.table.renaming import TYPES, Renaming, locals_of
from checker.table.scopes import (
    Owners,
    declared,
    ids_begin_with,
    ignored,
    ignoring,
    kind_of,
    of_all,
    owners_in,
    owners_of,
    root_of,
)
from checker.table.used import AS_THEY_ARE, Part, check_names, parts_of_use, taken
from checker.table.words import (
    INTEGER_MAX,
    read_boolean,
    read_integer,
    read_name,
    read_names,
    read_word,
    report_twice,
)

Setting = int | bool | Cell


# --------------------------------------------------------------------------------- as written


def read_uses(system: Fields) -> tuple[UseEntry, ...]:
    """Return `uses:`; a word alone is a system that is used as it is."""
    return tuple(_use(prefix, node, system.problems) for prefix, node in system.named("uses"))


def _use(prefix: Word, node: Node, problems: Problems) -> UseEntry:
    if isinstance(node, Scalar) and node.kind == "string":
        word = read_word(node, "uses", problems)
        return UseEntry(prefix, "", word, None, (), (), (), (), node.span)
    fields = Fields(node, "used system", problems)
    system = fields.need("system")
    claimed = fields.get("properties")
    every = isinstance(claimed, Scalar) and claimed.text == "all"
    without = fields.items("without")
    return UseEntry(
        prefix,
        fields.prose("about"),
        Word("", fields.head()) if system is None else read_word(system, "system", problems),
        fields.name("instance"),
        tuple((word, *_setting(value, problems)) for word, value in fields.named("set")),
        tuple(
            (word, read_name(value, word.text, problems)) for word, value in fields.named("with")
        ),
        tuple(read_word(item, "without", problems) for item in without),
        None if every else () if claimed is None else read_names(claimed, "properties", problems),
        fields.span,
    )


def _setting(node: Node, problems: Problems) -> tuple[Setting, Span]:
    if isinstance(node, Scalar) and node.kind == "boolean":
        return read_boolean(node, "set", problems), node.span
    if isinstance(node, Scalar) and node.kind == "integer":
        return read_integer(node, "set", problems, -INTEGER_MAX), node.span
    return read_expression(node, "set", problems), node.span


# ------------------------------------------------------------------------------------ composed


def composed(
    host: Document, used: Iterable[tuple[UseEntry, Document]], problems: Problems
) -> Document:
    """Return `host` with the parts of the systems that it uses, under the names they have here."""
    parts = parts_of_use(host, used)
    known = {
        *declared(host),
        *(name for part in parts for name in part.images.values()),
        *(_terminal_of(part) for part in parts),
    }
    owners = [owners_in(part.document) for part in parts]
    values = of_all((owners_in(host), *owners))
    promised = _promising(host, parts)
    found, made = host, _ignored_here(host, parts)
    for part, own, there in zip(parts, owners, made, strict=True):
        names = _renaming(host, parts, part, own, _locals(part, own, known, values))
        names = replace(names, ignored=there)
        check_names(host, parts, part, problems)
        if not problems.found:
            found = _joined(found, part, names, promised, problems)
    # Names of expressions are looked at where they get their meaning (N203).
    others: tuple[tuple[Any, ...], ...]
    others = (found.rows, found.properties, found.faults, found.fair_groups)
    for entries in others:
        report_twice([entry.name for entry in entries], problems)
    return found


def _renaming(
    host: Document, parts: list[Part], part: Part, owners: Owners, locals_: Mapping[str, str]
) -> Renaming:
    """Return what names of a used system, the types of whose values are known, are called here."""
    document, prefix = part.document, part.use.prefix.text
    return Renaming(
        prefix=prefix,
        document=document,
        words=part.images,
        locals=locals_,
        rows={row.name.text: f"{prefix}_{row.name.text}" for row in document.rows},
        ignored={},
        faults=part.faults,
        types=frozenset(item.name.text for section in TYPES for item in getattr(document, section)),
        carriers=frozenset(
            [item.name.text for item in document.channels]
            + [item.name.text for item in document.calls]
        ),
        messages=frozenset(item.name.text for item in document.messages),
        owners=owners,
        images=part.images,
        ids=_ids_here(host, parts, part),
        tables={
            table.name: frozenset(state for state, _ in table.states)
            for table in document.tables.values()
        },
    )


def _locals(part: Part, owners: Owners, known: AbstractSet[str], values: Owners) -> dict[str, str]:
    """Return new names for locals that would be taken for something of another system.

    Others are `known`, and `values` are those of all systems.
    That are those that something is called like, and of what `on:` binds those that a value is:
    there a value that fits goes before a new name.
    """
    document, prefix = part.document, part.use.prefix.text
    found, taken_by_on = locals_of(document, owners)
    there = {*known, *found, *declared(document), *values}
    renamed = {}
    for name in sorted(found):
        if name in known or (name in taken_by_on and owners_of(name, values)):
            new, number = f"{prefix}_{name}", 1
            while new in there:
                number += 1
                new = f"{prefix}_{name}_{number}"
            there.add(new)
            renamed[name] = new
    return renamed


def _ids_here(host: Document, parts: list[Part], part: Part) -> dict[str, tuple[str, str]]:
    """Return what counted ids begin with there and here, by their type there.

    An id type that is called as one of this system is that one, with its names.
    """
    found = {}
    for item in part.document.constants:
        if item.ids_count is not None and not item.symmetric:
            there, name = ids_begin_with(item), part.images[item.name.text]
            own = _constant_here(host, parts, name)
            counted = own is not None and own.ids_count is not None
            here = ids_begin_with(own) if own is not None and counted else there
            found[item.name.text] = (there, here)
    return found


def _ignored_here(host: Document, parts: list[Part]) -> list[dict[str, str]]:
    """Return what the rows that ignore messages of each used system are called there and here.

    Here they have names as if all were written in one piece, whose messages they may share.
    """
    rows = {row.name.text for row in host.rows}
    rows |= {
        f"{part.use.prefix.text}_{row.name.text}" for part in parts for row in taken(part, "rows")
    }
    kinds = [kind_of(entry) for entry, _ in ignored(host)]
    for part in parts:
        own = (kind_of(entry) for entry, _ in ignored(part.document) if part.takes(entry))
        kinds += [part.images.get(kind, kind) for kind in own]
    names = ignoring(kinds, rows)
    for _ in ignored(host):
        next(names)
    return [
        {
            name: next(names) if part.takes(entry) else f"{part.use.prefix.text}_{name}"
            for entry, name in ignored(part.document)
        }
        for part in parts
    ]


def _constant_here(host: Document, parts: list[Part], name: str) -> Constant | None:
    """Return the constant that is called so here, of this system or of one that it uses."""
    for item in host.constants:
        if item.name.text == name:
            return item
    for part in parts:
        for item in part.document.constants:
            if part.takes(item, "constants") and part.images[item.name.text] == name:
                return replace(item, name=Word(name, item.name.span))
    return None


def _joined(
    host: Document, part: Part, names: Renaming, promised: AbstractSet[str], problems: Problems
) -> Document:
    document, use = part.document, part.use
    sections: dict[str, Any] = {
        section: (*getattr(host, section), *names(taken(part, section))) for section in AS_THEY_ARE
    }
    sections["constants"] = (*host.constants, *_constants(part, names, problems))
    sections["timers"] = (*host.timers, *names(_promised(part, host)))
    sections["unhandled"] = (*host.unhandled, *names(_ignored(part, host)))
    ended = (replace(names(one), name=one.name) for one in _terminal(part))
    sections["definitions"] = (*sections["definitions"], *ended)
    sections["rows"] = (*host.rows, *names(_fair(part, host, promised)))
    groups = tuple(_of_its_own(part, one) for one in taken(part, "fair_groups"))
    sections["fair_groups"] = (*host.fair_groups, *names(groups))
    sections["properties"] = (*host.properties, *names(_claimed(part)))
    known = {file.source.name for file in host.files}
    files = (
        replace(file, of=file.of or document.name.text)
        for file in document.files
        if file.source.name not in known
    )
    return replace(
        host,
        **sections,
        initial=_initial(host, part, names, problems),
        tables=_tables(host, part, problems),
        abstractions=(
            *host.abstractions,
            *(f"Of {use.prefix.text} ({document.name.text}): {it}" for it in document.abstractions),
        ),
        files=(*host.files, *files),
        headings=(*host.headings, *(one for one in document.headings if one not in host.headings)),
        warnings=(*host.warnings, *(one for one in document.warnings if one not in host.warnings)),
    )


def _of_its_own(part: Part, group: FairGroupEntry) -> FairGroupEntry:
    """Return a group in which `all` means the rows of the used system, those it ignores by too."""
    if group.rows is not None:
        return group
    rows = [row.name for row in taken(part, "rows") if row.fault is None]
    rows += [Word(name, entry.span) for entry, name in ignored(part.document) if part.takes(entry)]
    return replace(group, rows=tuple(rows), every=True)


def _fair(part: Part, host: Document, promised: AbstractSet[str]) -> tuple[Row, ...]:
    """Return the rows, those that do not say `fair` with what their own system promises them.

    Those of an expiry have what its timer promises, if that is among the `promised` ones.
    """
    default = _default(part, host)
    timers = {timer.name.text for timer in part.document.timers}
    timers -= {old for old, new in part.replaced.items() if new not in promised}
    return tuple(
        row
        if default is None
        or row.fair is not None
        or row.fault is not None
        or root_of(row.on) in timers
        else replace(row, fair=default)
        for row in taken(part, "rows")
    )


def _promising(host: Document, parts: Iterable[Part]) -> set[str]:
    """Return the timers that say what is promised to the rows of their expiries, all together."""
    found = {timer.name.text for timer in host.timers if timer.fair is not None}
    for part in parts:
        timers = (timer for timer in _promised(part, host) if timer.fair is not None)
        found |= {part.images[timer.name.text] for timer in timers}
    return found


def _promised(part: Part, host: Document) -> tuple[Timer, ...]:
    default = _default(part, host)
    return tuple(
        timer if default is None or timer.fair is not None else replace(timer, fair=default)
        for timer in taken(part, "timers")
    )


def _ignored(part: Part, host: Document) -> tuple[Unhandled, ...]:
    default = _default(part, host)
    return tuple(
        entry if entry.fair is not None else replace(entry, fair=default)
        for entry in taken(part, "unhandled")
    )


def _default(part: Part, host: Document) -> Word | Cell | None:
    """Return the fairness of the used system where it is not that of the one that uses it."""
    fairness = part.document.fairness
    if isinstance(fairness, str):
        return None if fairness == host.fairness else Word(fairness, part.use.span)
    return fairness


def _claimed(part: Part) -> tuple[Any, ...]:
    wanted = part.use.properties
    names = None if wanted is None else {word.text for word in wanted}
    return tuple(
        entry
        for entry in taken(part, "properties")
        if (entry.refines is None if names is None else entry.name.text in names)
    )


def _terminal_of(part: Part) -> str:
    return f"terminal_{part.use.prefix.text}"


def _terminal(part: Part) -> tuple[Definition, ...]:
    """Return `terminal` as a definition, so that `terminal:` here can say `terminal_prefix()`.

    Several conditions are definitions of their own, so that the first that is true ends the
    question, as it does there.
    """
    cells = [cell for cell in part.document.terminal if part.takes(cell)]
    name = _terminal_of(part)
    if len(cells) < 2:
        return tuple(Definition(Word(name, cell.span), (), cell) for cell in cells)
    # Their places are those of the conditions: whoever uses the system wrote none of them.
    each = [
        Definition(Word(f"{name}_condition_{n}", cell.span), (), cell)
        for n, cell in enumerate(cells, start=1)
    ]
    text = " or ".join(f"{one.name.text}()" for one in each)
    tree = parse_expression(Passage.alone(part.document.name.text, text), Problems())
    assert tree is not None
    span = cells[0].span
    body = Cell(text, span, tree, ((span.line, span.column),))
    return (*each, Definition(Word(name, span), (), body))


def _initial(host: Document, part: Part, names: Renaming, problems: Problems) -> Row | None:
    theirs = part.document.initial
    left_out = any(word.text == "initial" for word in part.use.without)
    if theirs is None or left_out or not part.takes(theirs):
        return host.initial
    if host.initial is not None:
        problems.add(
            "T104",
            f"the section `initial` of {part.document.name.text} is a second one",
            part.use.prefix.span,
            found=f"the first is at {host.initial.span}",
            help="write one here that does both, and leave theirs out: without: [initial]",
        )
        return host.initial
    found: Row = replace(names(theirs), name=theirs.name)
    return found


def _tables(host: Document, part: Part, problems: Problems) -> Mapping[str, Any]:
    for name, table in part.document.tables.items():
        other = host.tables.get(name)
        if other is not None and other.span.source.text != table.span.source.text:
            problems.add(
                "T142",
                f"{part.document.name.text} follows another table `{name}`",
                part.use.system.span,
                expected=f"the one in {other.span.source.name}",
                found=table.span.source.name,
                help="give one of the tables another name",
            )
    return MappingProxyType({**part.document.tables, **host.tables})


# ----------------------------------------------------------------------------------- constants


def _constants(part: Part, names: Renaming, problems: Problems) -> Iterator[Constant]:
    given = {word.text: (value, span) for word, value, span in part.use.settings}
    instance = {word.text: (value, span) for word, value, span in _instance(part)}
    for constant in part.document.constants:
        if not part.takes(constant, "constants"):
            continue
        if constant.name.text in given:
            value, span = given[constant.name.text]
            yield _set(names(constant), value, span, problems)
        elif constant.name.text in instance:
            plain, span = instance[constant.name.text]
            cell = names(_as_cell(str(plain), span)) if isinstance(plain, str) else plain
            yield _set(names(constant), cell, span, problems)
        else:
            yield names(constant)


def _instance(part: Part) -> tuple[tuple[Word, int | bool | str, Span], ...]:
    wanted = part.use.instance.text if part.use.instance is not None else "default"
    for entry in part.document.instances:
        if entry.name.text == wanted:
            return entry.settings
    return ()


def _as_cell(text: str, span: Span) -> Cell:
    tree = parse_expression(Passage.alone(span.source.name, text), Problems())
    return Cell(text, span, tree or ast.Constant(0), ((span.line, span.column),))


def _set(constant: Constant, value: Setting, span: Span, problems: Problems) -> Constant:
    """Return a constant with another value (T115 where it cannot have it)."""
    kind = "true or false" if isinstance(constant.value, bool) else "an integer"
    expected: str | None = None
    if constant.one_of is not None:
        members = [word.text for word in constant.one_of]
        if isinstance(value, Cell) and value.text.strip() in members:
            return replace(constant, value=Word(value.text.strip(), span), value_span=span)
        expected = " or ".join(members)
    elif constant.ids_names is not None:
        expected = "an id type of this system, under `with:`; its ids have names of their own"
    elif constant.ids_count is not None:
        if isinstance(value, int) and not isinstance(value, bool):
            return replace(constant, ids_count=value, value_span=span)
        expected = "a number of ids, or an id type of this system under `with:`"
    elif isinstance(value, Cell):
        return replace(constant, value=None, cell=value, value_span=span)
    elif constant.node is not None:
        return replace(constant, cell=_as_cell(str(value).lower(), span), value_span=span)
    elif constant.value is None or isinstance(constant.value, bool) == isinstance(value, bool):
        return replace(constant, value=value, cell=None, value_span=span)
    problems.add(
        "T115",
        f"`{constant.name.text}` cannot be that",
        span,
        expected=expected or kind,
        help="write one of these",
    )
    return constant
