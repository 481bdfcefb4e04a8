"""State tables as diagrams, drawn by `transitions`.

One hub, `_machine`, feeds both drawings: Mermaid is written by `transitions` itself, Graphviz from
its markup, so that neither needs Graphviz installed. Events are labels, and states that are called
like a word of Mermaid have another id, so that any name will do. What runs under a table is in
`checker.tables.machines`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from transitions import State
from transitions.extensions import GraphMachine

from checker.table.state_table import StateTable, TableTransition

Move = tuple[str, str]
"""From one state to another."""

Edge = tuple[str, str, str]
"""From one state to another, and what stands on it."""

_WORDS = frozenset(
    {
        *("accdescr", "acctitle", "as", "class", "classdef", "click", "default", "direction"),
        *("end", "hide", "href", "note", "scale", "state", "statediagram", "style"),
    }
)
"""What means something to Mermaid where the name of a state may stand, in any case."""


class _Model:
    """What the machine of a diagram moves: nothing that anybody sees."""


class _State(State):
    """A state with what stands in it."""

    def __init__(self, *arguments: Any, label: str, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.label = label


class _Diagram(GraphMachine):
    """A machine that is drawn, with the states that a counterexample visited."""

    state_cls = _State
    style_attributes = {  # noqa: RUF012 (the library reads it from the class)
        "node": {
            "default": {"fillcolor": "white", "color": "black"},
            "final": {"fillcolor": "lightgray", "color": "black"},
            "visited": {"fillcolor": "gold", "color": "black"},
        },
        "edge": {"default": {"color": "black"}},
        "graph": {"default": {"color": "black", "fillcolor": "white"}},
    }


def mermaid(
    table: StateTable,
    visited: Iterable[str] = (),
    steps: Mapping[Move, tuple[int, ...]] | None = None,
) -> str:
    """Return a Mermaid `stateDiagram-v2` of `table`, the visited states in gold.

    `steps` are step numbers of a counterexample, which stand behind the moves that it made. What
    no transition is, such as a roll-back, a load, or several moves in one step, is drawn besides.
    """
    steps, edges = steps or {}, _edges(table)
    ids = _ids(name for name, _ in table.states)
    machine = _machine(
        table, ids, [(*move, _label(events, steps.get(move, ()))) for move, events in edges.items()]
    )
    graph = machine.model_graphs[id(machine.models[0])]
    graph.reset_styling()
    for state in table.final:
        graph.set_node_style(ids[state], "final")
    for state in visited:
        graph.set_node_style(ids[state], "visited")
    *lines, begins = (line.rstrip() for line in str(graph.get_graph().draw(None)).splitlines())
    lines += [
        f"  {ids[origin]} --> {ids[target]}: step {', '.join(map(str, numbers))}"
        for (origin, target), numbers in steps.items()
        if (origin, target) not in edges
    ]
    lines += [begins, *(f"  [*] --> {ids[state]}" for state in table.initial[1:])]
    lines += [f"  {ids[state]} --> [*]" for state in table.final]
    return "\n".join(lines) + "\n"


def graphviz(table: StateTable) -> str:
    """Return `table` as a Graphviz digraph in the dot language."""
    ids = {name: name for name, _ in table.states}
    moves = [(move.origin, move.target, move.event) for move in _by_event(table)]
    markup = cast("dict[str, Any]", _machine(table, ids, moves).markup)
    lines = [
        f"digraph {_quoted(table.name)} {{",
        "  rankdir=LR;",
        '  node [shape=box, style="rounded,filled", fillcolor=white];',
    ]
    for state in markup["states"]:
        peripheries = 2 if state.get("final") else 1
        lines.append(f"  {_quoted(state['name'])} [peripheries={peripheries}];")
    for name in table.initial:
        lines.append(f"  {_quoted('initial ' + name)} [shape=point, label={_quoted('')}];")
        lines.append(f"  {_quoted('initial ' + name)} -> {_quoted(name)};")
    for move in markup["transitions"]:
        ends = f"{_quoted(move['source'])} -> {_quoted(move['dest'])}"
        lines.append(f"  {ends} [label={_quoted(move['label'])}];")
    lines.append("}")
    return "\n".join(lines) + "\n"


def _machine(table: StateTable, ids: Mapping[str, str], edges: Iterable[Edge]) -> _Diagram:
    """Return the machine of a diagram with these edges; its triggers are numbers, not events.

    A trigger becomes a method of the model, and an event may be called like one that is there.
    """
    return _Diagram(
        model=_Model(),
        states=[
            {"name": ids[name], "label": name, "final": name in table.final}
            for name, _ in table.states
        ],
        transitions=[
            {
                "trigger": f"edge {number}",
                "source": ids[origin],
                "dest": ids[target],
                "label": label,
            }
            for number, (origin, target, label) in enumerate(edges)
        ],
        initial=ids[table.initial[0]],
        auto_transitions=False,
        graph_engine="mermaid",
        title=f"title: {table.name}",
    )


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
