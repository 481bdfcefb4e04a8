"""The first arrow of the flow: the YAML of a system becomes a Document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from checker.errors import Diagnostic, SpecificationError
from checker.library import name_of
from checker.table import behaviour, declarations
from checker.table.document import (
    Document,
    TypeMap,
    TypeName,
    TypeNode,
    TypeOf,
    UseEntry,
    Word,
)
from checker.table.files import System
from checker.table.finding import TableFinder
from checker.table.problems import Problems
from checker.table.systems import USES_MAX, Trail, find_system
from checker.table.tables import read_root
from checker.table.uses import composed, read_uses
from checker.table.words import read_prose

REFINES_MAX = 20
"""Properties of one system that may refine another: each is elaborated with it."""


def read(path: Path, edited: Mapping[Path, str] | None = None) -> Document:
    """Return the system that a file and those it lists hold, with its tables.

    Of files that are `edited` these texts are read instead of what they hold.

    With it come the parts of the systems that it uses, and the systems that its properties refine,
    without what those refine themselves. Raises SpecificationError with every error of the files
    and tables (T1xx), in their order. Nothing else is raised, whatever the file holds.
    """
    problems = Problems()
    trail = Trail.beginning(path, edited or {})
    document = _read(path, trail, problems)
    words = [entry.refines.system for entry in document.properties if entry.refines is not None]
    if len(words) > REFINES_MAX:
        problems.add(
            "T106",
            f"the system has {len(words)} properties that it refines another",
            words[REFINES_MAX].span,
            expected=f"at most {REFINES_MAX}",
            help="join some of them: a mapping may have all variables of one coarse system",
        )
    coarse: dict[str, Document] = {}
    for word in words[:REFINES_MAX]:
        if word.text not in coarse:
            found = find_system(word, path, trail, problems, "refine")
            if found is not None:
                coarse[word.text] = _read(found, trail.to(found), Problems())
    problems.raise_any()
    return replace(document, coarse=MappingProxyType(coarse))


def _read(path: Path, trail: Trail, problems: Problems) -> Document:
    source = trail.source(path)
    node = read_root(source, "system", problems)
    if node is None:
        problems.raise_any()
    assert node is not None
    system = System(node, path, problems, trail.source)
    problems.headings = system.headings
    tables = TableFinder(path, problems)
    document = _document(system, path, tables)
    problems.raise_any()
    if document.uses:
        document = composed(document, list(_used(document, path, trail, problems)), problems)
        problems.raise_any()
    return document


def _used(
    document: Document, path: Path, trail: Trail, problems: Problems
) -> Iterator[tuple[UseEntry, Document]]:
    """Yield the systems that one uses, each with what it uses itself."""
    known: dict[Path, tuple[Document, int]] = {}
    for use in document.uses:
        trail.count[0] += 1
        if trail.count[0] > USES_MAX:
            raise _too_many(use.system)
        found = find_system(use.system, path, trail, problems, "use")
        if found is None:
            continue
        if trail.holds(found):
            way = " -> ".join(map(name_of, (*trail.files, found)))
            problems.add(
                "T147",
                f"`{use.system.text}` uses itself",
                use.system.span,
                found=way,
                help="let one of them do without the other",
            )
            continue
        if found in known:
            trail.count[0] += known[found][1]
        else:
            before = trail.count[0]
            known[found] = _read(found, trail.to(found), Problems()), trail.count[0] - before
        yield use, known[found][0]
    if trail.count[0] > USES_MAX:
        raise _too_many(document.uses[-1].system)
    problems.raise_any()


def _too_many(word: Word) -> SpecificationError:
    message = "too many systems are used, those that these use included"
    expected = f"at most {USES_MAX}"
    return SpecificationError((Diagnostic("T106", message, word.span, expected, help="use fewer"),))


def _document(system: System, path: Path, tables: TableFinder) -> Document:
    tables.listed(system.items("tables"))
    types = declarations.read_types(system)
    messages = declarations.read_messages(system)
    components = declarations.read_components(system)
    machines = declarations.read_machines(system)
    variables = declarations.read_variables(system)
    channels = declarations.read_channels(system)
    calls = declarations.read_calls(system)
    operations = declarations.read_operations(system)
    timers = declarations.read_timers(system)
    rows = behaviour.read_rows(system)
    initial = behaviour.read_initial(system)
    for machine in (*machines, *(one for component in components for one in component.machines)):
        if machine.table.text:
            tables.needed(machine.table)
    document = Document(
        name=system.needed_name("system"),
        path=str(path),
        about=system.prose("about", required=True),
        source=system.prose("source"),
        abstractions=tuple(
            read_prose(item, "abstractions", system.problems)
            for item in system.items("abstractions")
        ),
        tables=MappingProxyType(tables.found),
        files=system.files(),
        uses=read_uses(system),
        constants=declarations.read_constants(system),
        assume=system.expressions("assume"),
        types=types,
        messages=messages,
        components=components,
        machines=machines,
        variables=variables,
        channels=channels,
        calls=calls,
        operations=operations,
        timers=timers,
        faults=declarations.read_faults(system),
        definitions=behaviour.read_definitions(system),
        procedures=behaviour.read_procedures(system),
        initial=initial,
        rows=rows,
        unhandled=behaviour.read_unhandled(system),
        bounds=system.expressions("bounds"),
        terminal=system.expressions("terminal"),
        deadlock=system.boolean("deadlock", default=True),
        fairness=behaviour.read_fairness(system),
        fair_groups=behaviour.read_fair_groups(system),
        properties=behaviour.read_properties(system),
        instances=behaviour.read_instances(system),
    )
    _possible_tables(document, tables)
    # Headings are met while their sections are read.
    headings = tuple(system.headings)
    return replace(document, headings=headings, warnings=tuple(tables.warnings))


def _possible_tables(document: Document, tables: TableFinder) -> None:
    """Read the tables that types name: a table's name is the enum of its states."""
    declared = {
        entry.name.text
        for section in (
            document.constants,
            document.types,
            document.messages,
            document.channels,
            document.calls,
            document.components,
            document.machines,
            document.variables,
        )
        for entry in section
    }
    for word in _type_names(document):
        if word.text not in declared and word.text != "bool":
            tables.possible(word)


def _type_names(document: Document) -> Iterator[Word]:
    """Yield every name that stands as a type."""
    for node in _type_nodes(document):
        yield from _names(node)


def _names(node: TypeNode) -> Iterator[Word]:
    match node:
        case TypeName(name=name, span=span):
            yield Word(name, span)
        case TypeOf(item=item):
            yield from _names(item)
        case TypeMap(key=key, value=value):
            yield from _names(key)
            yield from _names(value)
        case _:
            return


def _type_nodes(document: Document) -> Iterator[TypeNode]:
    for kind in document.types:
        yield from (kind.node,) if kind.node is not None else ()
        yield from (node for _, node in kind.fields or ())
    for message in document.messages:
        yield from (node for _, node in message.fields)
    for operation in document.operations:
        yield from (node for _, node in operation.captures)
        yield from (operation.per,) if operation.per is not None else ()
    for timer in document.timers:
        yield from (node for _, node in timer.captures)
        yield from timer.per
    for component in document.components:
        yield from (component.per,) if component.per is not None else ()
        yield from (variable.node for variable in component.variables)
    for variable in document.variables:
        yield variable.node
        yield from (variable.per,) if variable.per is not None else ()
    for machine in document.machines:
        yield from (machine.per,) if machine.per is not None else ()
    for row in (*document.rows, *((document.initial,) if document.initial else ())):
        yield from (binding.node for binding in row.bindings if binding.node is not None)
