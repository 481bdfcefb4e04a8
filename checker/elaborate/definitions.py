"""Definitions put in where they are used; no definition or procedure may use itself."""

from __future__ import annotations

from collections.abc import Mapping

from checker.elaborate import convert
from checker.elaborate.connections import is_own_call
from checker.elaborate.context import Context, expression
from checker.elaborate.world import World
from checker.elaborate.wrong import Wrong, used
from checker.machine import terms as t
from checker.machine.types import Type
from checker.source import Span
from checker.table.document import Cell, Definition, Procedure, Word

Term = t.Term


def inline(
    context: Context,
    definition: Definition,
    arguments: tuple[Term, ...],
    span: Span,
    hint: Type | None,
) -> Term:
    """Return the body of a definition with its parameters bound to `arguments`."""
    name = definition.name.text
    expect_count(name, definition.parameters, len(arguments), span)
    if name in context.inlined:
        raise Wrong("N220", f"`{name}` is defined by itself", span)
    names: dict[str, Term] = {}
    bound: list[tuple[str, Term]] = []
    for parameter, argument in zip(definition.parameters, arguments, strict=True):
        if _put_in(argument, definition, context):
            names[parameter.text] = argument
        else:
            unique = context.allocator.unique(f"{name}.{parameter.text}")
            bound.append((unique, argument))
            names[parameter.text] = t.Local(unique, argument.type, argument.span)
    given = [(text, value.type) for text, value in names.items()]
    with used(name, given, span, context.world.problems):
        inner = context.inside(definition.body, names, name)
        inner.maybe = frozenset()
        for word, cell in definition.lets:
            value = inner.at_cell(cell).infer(expression(cell))
            if not _put_in(value, definition, context):
                unique = context.allocator.unique(f"{name}.{word.text}")
                bound.append((unique, value))
                value = t.Local(unique, value.type, word.span)
            inner.names[word.text] = value
        body = inner.infer(expression(definition.body), hint)
    for unique, argument in reversed(bound):
        body = t.Let(unique, argument, body, body.type, span)
    return body


def _put_in(value: Term, definition: Definition, context: Context) -> bool:
    """Whether a value may stand in a body as it is written, instead of a name for it.

    What is read would be another value below `next`.
    """
    if isinstance(value, t.Read) and context.next_allowed:
        return not _looks_ahead(definition, context.world.definitions)
    return convert.is_atomic(value) or is_own_call(value, context.world)


def _looks_ahead(definition: Definition, definitions: dict[str, Definition]) -> bool:
    """Whether `next` stands in a definition, or in one that it uses."""
    met: set[str] = set()
    waiting = [definition]
    while waiting:
        entry = waiting.pop()
        met.add(entry.name.text)
        if any("next" in cell.names for cell in (entry.body, *(cell for _, cell in entry.lets))):
            return True
        waiting += [definitions[name] for name in _all_uses(entry, definitions) - met]
    return False


def expect_count(name: str, parameters: tuple[Word, ...], given: int, span: Span) -> None:
    """Raise N208 unless a use passes as many arguments as there are parameters."""
    if given != len(parameters):
        shown = ", ".join(parameter.text for parameter in parameters)
        raise Wrong(
            "N208",
            f"`{name}` takes {len(parameters)} argument(s)",
            span,
            expected=f"{name}({shown})",
            found=f"{given} argument(s)",
        )


def check_recursion(world: World) -> None:
    """Report each definition or procedure that leads back to itself (N220)."""
    entries: dict[str, Definition | Procedure] = {**world.definitions, **world.procedures}
    uses = {
        name: _all_uses(entry, entries) - {p.text for p in entry.parameters}
        for name, entry in entries.items()
    }
    for name, entry in entries.items():
        path = _way_back(name, uses)
        if path:
            world.problems.add(
                "N220",
                f"`{name}` uses itself",
                entry.name.span,
                expected="no recursion",
                found=" -> ".join(path),
            )


def _all_uses(
    entry: Definition | Procedure, entries: Mapping[str, Definition | Procedure]
) -> set[str]:
    lets = [cell for _, cell in entry.lets] if isinstance(entry, Definition) else []
    return set().union(*(_uses(cell, entries) for cell in (entry.body, *lets)))


def _uses(cell: Cell, entries: Mapping[str, Definition | Procedure]) -> set[str]:
    return {name for name in cell.names if name in entries}


def _way_back(start: str, uses: dict[str, set[str]]) -> list[str]:
    """Return a path from `start` to itself, empty if there is none."""
    came: dict[str, str] = {}
    waiting = [start]
    while waiting:
        name = waiting.pop()
        for other in sorted(uses[name]):
            if other == start:
                path = [start]
                while name != start:
                    path.append(name)
                    name = came[name]
                return [start, *reversed(path[1:]), start]
            if other not in came:
                came[other] = name
                waiting.append(other)
    return []
