"""`uses:`: systems whose parts become parts of this one, under a prefix.

What comes back is a system as if it had been written in one piece: nothing after this knows that
it was not (docs/decisions/012-uses.md).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
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
from checker.table.renaming import (
    TYPES,
    Renaming,
    bound_in,
    declared,
    ids_begin_with,
    locals_of,
    values_of,
)
from checker.table.used import AS_THEY_ARE, Part, check_names, images_of, taken
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
    parts = [Part(use, document, images_of(host, use, document)) for use, document in used]
    known = {**declared(host), **{name: "" for part in parts for name in part.images.values()}}
    found = host
    for part in parts:
        names = _renaming(host, part, known)
        check_names(host, parts, part, problems)
        if not problems.found:
            found = _joined(found, part, names, problems)
    # Names of expressions are looked at where they get their meaning (N203).
    others: tuple[tuple[Any, ...], ...]
    others = (found.rows, found.properties, found.faults, found.fair_groups)
    for entries in others:
        report_twice([entry.name for entry in entries], problems)
    return found


def _renaming(host: Document, part: Part, known: Mapping[str, str]) -> Renaming:
    document, prefix = part.document, part.use.prefix.text
    replaced, words = part.replaced, dict(part.images)
    # A local that is called like something of this system would be taken for it.
    bound = frozenset(bound_in(document))
    for name in locals_of(document, bound) - {"requests", "responses"}:
        if name in known:
            words[name] = f"{prefix}_{name}"
    ids = dict(filter(None, (_ids_here(host, part, item) for item in document.constants)))
    return Renaming(
        prefix=prefix,
        words=words,
        rows={row.name.text: f"{prefix}_{row.name.text}" for row in document.rows},
        faults={
            item.name.text: replaced.get(item.name.text, f"{prefix}_{item.name.text}")
            for item in document.faults
        },
        types=frozenset(item.name.text for section in TYPES for item in getattr(document, section)),
        carriers=frozenset(
            [item.name.text for item in document.channels]
            + [item.name.text for item in document.calls]
        ),
        values=values_of(document, part.images, bound),
        ids=ids,
        bound=bound,
        tables={
            table.name: frozenset(state for state, _ in table.states)
            for table in document.tables.values()
        },
    )


def _ids_here(host: Document, part: Part, item: Constant) -> tuple[str, tuple[str, str]] | None:
    """Return what counted ids begin with there, and their type and beginning here; None to stay.

    An id type that is called as one of this system is that one, with its names.
    """
    if item.ids_count is None or item.symmetric:
        return None
    there, name = ids_begin_with(item), part.images[item.name.text]
    if part.takes(item):
        here = replace(item, name=Word(name, item.name.span))
        return there, (name, ids_begin_with(here))
    own = next((one for one in host.constants if one.name.text == name), None)
    if own is None or own.ids_count is None or own.symmetric or ids_begin_with(own) == there:
        return None
    return there, (name, ids_begin_with(own))


def _joined(host: Document, part: Part, names: Renaming, problems: Problems) -> Document:
    document, use = part.document, part.use
    sections: dict[str, Any] = {
        section: (*getattr(host, section), *names(taken(part, section))) for section in AS_THEY_ARE
    }
    sections["constants"] = (*host.constants, *_constants(part, names, problems))
    sections["timers"] = (*host.timers, *names(_promised(part, host)))
    sections["unhandled"] = (*host.unhandled, *names(_ignored(part, host)))
    ended = (replace(names(one), name=one.name) for one in _terminal(part))
    sections["definitions"] = (*sections["definitions"], *ended)
    sections["rows"] = (*host.rows, *names(_fair(part, host)))
    groups = (replace(one, rows=_all(part)) if one.rows is None else one for one in _groups(part))
    sections["fair_groups"] = (*host.fair_groups, *names(tuple(groups)))
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


def _groups(part: Part) -> tuple[Any, ...]:
    return taken(part, "fair_groups")


def _all(part: Part) -> tuple[Word, ...]:
    """Return what `all` means in a group of rows of the used system: its own rows."""
    return tuple(row.name for row in taken(part, "rows") if row.fault is None)


def _fair(part: Part, host: Document) -> tuple[Row, ...]:
    """Return the rows, those that do not say `fair` with what their own system promises them."""
    default = _default(part, host)
    timers = {timer.name.text for timer in part.document.timers}
    return tuple(
        row
        if default is None or row.fair is not None or row.fault is not None or _root(row) in timers
        else replace(row, fair=default)
        for row in taken(part, "rows")
    )


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


def _root(row: Row) -> str | None:
    """Return the channel, operation or timer that a row takes from, where it names one."""
    node: Any = row.on.tree if row.on is not None else None
    while isinstance(node, (ast.Call, ast.Attribute, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


def _claimed(part: Part) -> tuple[Any, ...]:
    wanted = part.use.properties
    names = None if wanted is None else {word.text for word in wanted}
    return tuple(
        entry
        for entry in part.document.properties
        if (entry.refines is None if names is None else entry.name.text in names)
    )


def _terminal(part: Part) -> tuple[Definition, ...]:
    """Return `terminal` as a definition, so that `terminal:` here can say `terminal_prefix()`."""
    cells = part.document.terminal
    if not cells:
        return ()
    lets = tuple((Word(f"ended_{n}", cell.span), cell) for n, cell in enumerate(cells, start=1))
    text = " or ".join(word.text for word, _ in lets)
    tree = parse_expression(Passage.alone(part.document.name.text, text), Problems())
    assert tree is not None
    # Its place is that of the conditions: whoever uses the system wrote none, and need not use it.
    span = cells[0].span
    body = Cell(text, span, tree, ((span.line, span.column),))
    name = Word(f"terminal_{part.use.prefix.text}", span)
    return (Definition(name, (), body, lets),)


def _initial(host: Document, part: Part, names: Renaming, problems: Problems) -> Row | None:
    theirs = part.document.initial
    if theirs is None or "initial" in part.left_out or not part.takes(theirs):
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
        if not part.takes(constant):
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
