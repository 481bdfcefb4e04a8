"""What makes a run differ: from the specification's defaults, and from the variant that holds."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from checker.elaborate import judged, world_of
from checker.elaborate.constants import constant_values
from checker.errors import CheckerError
from checker.frozen import frozen
from checker.machine.machine import Machine
from checker.report.result import Result
from checker.semantics.values import format_value
from checker.table.document import Cell, Constant, Document, InstanceEntry, Row, Word

FEW = 5
"""A variant that differs in more constants is another experiment, not the mended one."""


@frozen()
class Setting:
    """A constant: its value here, elsewhere, and what it means.

    `default` is the value elsewhere: the specification's own, or a variant's. `chosen` is one
    that is no number: a design, not a size.
    """

    name: str
    value: str
    default: str
    about: str
    differs: bool
    chosen: bool


@frozen()
class Mended:
    """The instance that differs least from a violated one and is declared to hold."""

    name: str
    about: str
    settings: tuple[Setting, ...]


def settings(result: Result) -> tuple[Setting, ...]:
    """Return the constants of a run in their order, each beside its default."""
    declared = {constant.name.text: constant for constant in result.document.constants}
    set_here = _set_by(result)
    found = []
    for name, value in result.machine.constants:
        constant = declared.get(name)
        here = format_value(value)
        if constant is None:
            found.append(Setting(name, here, "", "", differs=False, chosen=False))
            continue
        default = _default(constant)
        differs = name in set_here if default is None else here != default
        shown = "computed" if default is None else default
        chosen = isinstance(constant.value, bool | Word) or isinstance(value, bool)
        found.append(Setting(name, here, shown, constant.about, differs, chosen))
    return tuple(found)


def mended(result: Result, broken: Iterable[str]) -> Mended | None:
    """Return the variant in which the broken properties are declared to hold; None without one.

    Of those that judge them it differs in the fewest constants, at least one of them a design; of
    several, one that says so in its name (`kafka_1_fixed`) or its `about:`.
    """
    wanted = {name.partition("(")[0] for name in broken} - {"legal", "deadlock"}
    document = result.document
    by_name = {item.name: item for item in settings(result)}
    here = {name: item.value for name, item in by_name.items()}
    set_here = _set_by(result)
    own = re.compile(rf"{re.escape(result.machine.instance)}(_|\b)")
    close: list[tuple[tuple[int, bool], InstanceEntry, dict[str, str]]] = []
    for entry in document.instances:
        holds = entry.expect is not None and entry.expect.verdict in {"holds", None}
        if not holds or (entry.expect is not None and entry.expect.property is not None):
            continue
        there = _effective(document, entry, set_here)
        other = {name: text for name, text in there.items() if here.get(name, text) != text}
        if any(by_name[name].chosen for name in other) and len(other) <= FEW:
            says_so = own.match(entry.name.text) or own.search(entry.about)
            close.append(((len(other), not says_so), entry, other))
    nearest = sorted(close, key=lambda item: item[0])
    best = next((it for it in nearest if wanted <= judged(document, it[1].name.text)), None)
    if best is None:
        return None
    _, entry, other = best
    differing = tuple(
        Setting(name, item.value, other[name], item.about, differs=True, chosen=item.chosen)
        for name, item in by_name.items()
        if name in other
    )
    # The design that the instance is named after, by its ticket, is what the reader looks for.
    tickets = re.findall(r"\d{3,}", result.machine.instance)
    ordered = sorted(
        differing,
        key=lambda item: (not item.chosen, not any(number in item.about for number in tickets)),
    )
    return Mended(entry.name.text, entry.about, tuple(ordered))


def _set_by(result: Result) -> set[str]:
    found = {name for name, _ in result.origin.overrides}
    for entry in result.document.instances:
        if entry.name.text == result.machine.instance:
            found |= {name.text for name, _, _ in entry.settings}
    return found


def _effective(document: Document, entry: InstanceEntry, asked: set[str]) -> dict[str, str]:
    """Return the constants of an instance as text.

    Of those that are computed only what is set or `asked` for: others follow from what differs.
    """
    set_there = {name.text for name, _, _ in entry.settings}
    values = _constants(document, entry.name.text)
    return {
        name: values[name]
        for constant in document.constants
        if (name := constant.name.text) in values
        and (name in set_there | asked or _default(constant) is not None)
    }


@lru_cache(maxsize=1024)
def _constants(document: Document, instance: str) -> Mapping[str, str]:
    """Return the constants of an instance as text; none of one that is wrong.

    That is no variant to compare with. Every violated instance is compared with all others.
    """
    try:
        values = constant_values(world_of(document, instance))
    except CheckerError:
        return {}
    return {name: format_value(value) for name, value in values}


def _default(constant: Constant) -> str | None:
    """Return a constant's default as the language writes it; None where it is computed."""
    if constant.ids_count is not None:
        return str(constant.ids_count)
    if isinstance(constant.value, Word):
        return constant.value.text
    return None if constant.value is None else format_value(constant.value)


def designs_read(document: Document, machine: Machine) -> dict[str, tuple[str, ...]]:
    """Return which designs that are not the default a row depends on, also in what it calls.

    Prose is written for the defaults; beside it stands what is otherwise. Whether a row exists at
    all is no such thing: that it is shown says it.
    """
    values = {name: format_value(value) for name, value in machine.constants}
    other = {
        constant.name.text
        for constant in document.constants
        if isinstance(constant.value, bool | Word)
        and values.get(constant.name.text, _default(constant)) != _default(constant)
    }
    if not other:
        return {}
    called = _called(document)
    reach: dict[str, set[str]] = {}
    found = {}
    for row in document.rows:
        names = set().union(*(_reach(name, called, reach) for name in _row_names(row)))
        met = tuple(sorted(names & other))
        if met:
            found[row.name.text] = met
    return found


def _called(document: Document) -> Mapping[str, set[str]]:
    called = {item.name.text: _names(item.body) for item in document.procedures}
    for definition in document.definitions:
        names = _names(definition.body).union(*(_names(cell) for _, cell in definition.lets))
        called[definition.name.text] = names
    return called


def _reach(name: str, called: Mapping[str, set[str]], known: dict[str, set[str]]) -> set[str]:
    """Return a name and all that stands behind it."""
    if name not in known:
        known[name] = {name}
        known[name] = {name}.union(*(_reach(item, called, known) for item in called.get(name, ())))
    return known[name]


def _row_names(row: Row) -> set[str]:
    cells = [row.on, row.when, row.do, *row.send, *(cell for _, cell in row.lets)]
    cells += [entry.cell for entry in row.bindings]
    return set().union(*(_names(cell) for cell in cells if cell is not None))


def _names(cell: Cell) -> set[str]:
    trees = cell.tree if isinstance(cell.tree, tuple) else (cell.tree,)
    return {node.id for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Name)}
