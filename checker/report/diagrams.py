"""State tables as diagrams, in Mermaid and in the dot language of Graphviz.

Names stand in quotes, and states that are called like a word of Mermaid have another id there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from checker.table.state_table import StateTable, TableTransition

Move = tuple[str, str]
"""From one state to another."""

_STYLES = (("default", "white"), ("final", "lightgray"), ("visited", "gold"))

_WORDS = frozenset(
    {
        *("accdescr", "acctitle", "as", "class", "classdef", "click", "default", "direction"),
        *("end", "hide", "href", "note", "scale", "state", "statediagram", "style"),
    }
)
"""What means something to Mermaid where the name of a state may stand, in any case."""


def mermaid(
    table: StateTable,
    visited: Iterable[str] = (),
    steps: Mapping[Move, tuple[int, ...]] | None = None,
) -> str:
    """Return a Mermaid `stateDiagram-v2` of `table`, the visited states in gold.

    `steps` are step numbers of a counterexample, which stand behind the moves that it made. What
    no transition is, such as a roll-back, a load, or several moves in one step, is drawn besides.
    """
    steps, visited = steps or {}, set(visited)
    ids = _ids(name for name, _ in table.states)
    lines = ["---", f"title: {table.name}", "---", "stateDiagram-v2", "  direction LR"]
    lines += [f"  classDef s_{name} fill:{colour},color:black" for name, colour in _STYLES]
    lines.append("")
    for name, _ in table.states:
        style = "visited" if name in visited else "final" if name in table.final else "default"
        lines += [f'  state "{name}" as {ids[name]}', f"  Class {ids[name]} s_{style}"]
    lines.append("")
    for (origin, target), events in _edges(table).items():
        label = _label(events, steps.get((origin, target), ()))
        lines.append(f"  {ids[origin]} --> {ids[target]}: {label}")
    lines += [
        f"  {ids[origin]} --> {ids[target]}: step {', '.join(map(str, numbers))}"
        for (origin, target), numbers in steps.items()
        if (origin, target) not in _edges(table)
    ]
    lines += [f"  [*] --> {ids[state]}" for state in table.initial]
    lines += [f"  {ids[state]} --> [*]" for state in table.final]
    return "\n".join(lines) + "\n"


def graphviz(table: StateTable) -> str:
    """Return `table` as a Graphviz digraph in the dot language."""
    lines = [
        f"digraph {_quoted(table.name)} {{",
        "  rankdir=LR;",
        '  node [shape=box, style="rounded,filled", fillcolor=white];',
    ]
    for name, _ in table.states:
        lines.append(f"  {_quoted(name)} [peripheries={2 if name in table.final else 1}];")
    for state in table.initial:
        lines.append(f"  {_quoted('initial ' + state)} [shape=point, label={_quoted('')}];")
        lines.append(f"  {_quoted('initial ' + state)} -> {_quoted(state)};")
    for move in _by_event(table):
        ends = f"{_quoted(move.origin)} -> {_quoted(move.target)}"
        lines.append(f"  {ends} [label={_quoted(move.event)}];")
    lines.append("}")
    return "\n".join(lines) + "\n"


def _ids(names: Iterable[str]) -> dict[str, str]:
    """Return by what each state is named in Mermaid: by itself, but for words that it knows."""
    found = {name: name for name in names}
    for name in list(found):
        if name.lower() in _WORDS:
            other = f"{name}_"
            while other in found or other in found.values():
                other += "_"
            found[name] = other
    return found


def _by_event(table: StateTable) -> Iterator[TableTransition]:
    """Yield the transitions event by event, those of each by origin, all as they come first."""
    events: dict[str, dict[str, list[TableTransition]]] = {}
    for move in table.transitions:
        events.setdefault(move.event, {}).setdefault(move.origin, []).append(move)
    for origins in events.values():
        for moves in origins.values():
            yield from moves


def _edges(table: StateTable) -> dict[Move, list[str]]:
    """Return the events that lead from one state to another, all from one origin together."""
    origins: dict[str, dict[Move, list[str]]] = {}
    for move in _by_event(table):
        pair = move.origin, move.target
        origins.setdefault(move.origin, {}).setdefault(pair, []).append(move.event)
    return {pair: events for pairs in origins.values() for pair, events in pairs.items()}


def _label(events: list[str], steps: tuple[int, ...]) -> str:
    """Return what stands on an edge; which of several events a step was a table does not know."""
    if not steps:
        return " | ".join(events)
    return f"{' or '.join(events)} (step {', '.join(map(str, steps))})"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
