"""State tables as executable `transitions` machines, and the diagrams drawn from them.

One hub, `executable`, feeds both drawings: Mermaid is written by `transitions` itself, Graphviz
from its markup, so that neither needs Graphviz installed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from transitions.extensions import GraphMachine

from checker.table.state_table import StateTable

Move = tuple[str, str]
"""From one state to another."""


class TableModel:
    """A model that a table's machine moves: `model.state`, and one method an event."""

    state: str


class TableMachine(GraphMachine):
    """A `transitions` machine whose diagram knows which states a counterexample visited."""

    style_attributes = {  # noqa: RUF012 (the library reads it from the class)
        "node": {
            "default": {"fillcolor": "white", "color": "black"},
            "final": {"fillcolor": "lightgray", "color": "black"},
            "visited": {"fillcolor": "gold", "color": "black"},
        },
        "edge": {"default": {"color": "black"}},
        "graph": {"default": {"color": "black", "fillcolor": "white"}},
    }


def executable(
    table: StateTable,
    initial: str | None = None,
    steps: dict[Move, tuple[int, ...]] | None = None,
) -> TableMachine:
    """Return `table` as an executable machine with one model, `machine.models[0]`.

    The model starts in `initial`, by default the table's first initial state; each event is a
    method of it, and one that the table forbids raises `transitions.MachineError`. `steps` are
    step numbers of a counterexample, which a diagram shows behind the events that they took.
    """
    steps = steps or {}
    moves = []
    for move in table.transitions:
        numbers = steps.get((move.origin, move.target), ())
        taken = f" (step {', '.join(map(str, numbers))})" if numbers else ""
        moves.append(
            {
                "trigger": move.event,
                "source": move.origin,
                "dest": move.target,
                "label": f"{move.event}{taken}",
            }
        )
    return TableMachine(
        model=TableModel(),
        states=[{"name": name, "final": name in table.final} for name, _ in table.states],
        transitions=moves,
        initial=initial or table.initial[0],
        auto_transitions=False,
        graph_engine="mermaid",
        title=f"title: {table.name}",
    )


def mermaid(
    table: StateTable,
    visited: Iterable[str] = (),
    steps: dict[Move, tuple[int, ...]] | None = None,
) -> str:
    """Return a Mermaid `stateDiagram-v2` of `table`, the visited states in gold."""
    machine = executable(table, steps=steps)
    model = machine.models[0]
    graph = machine.model_graphs[id(model)]
    graph.reset_styling()
    for state in table.final:
        graph.set_node_style(state, "final")
    for state in visited:
        graph.set_node_style(state, "visited")
    lines = [line.rstrip() for line in str(graph.get_graph().draw(None)).splitlines()]
    lines += [f"  [*] --> {state}" for state in table.initial[1:]]
    lines += [f"  {state} --> [*]" for state in table.final]
    return "\n".join(lines) + "\n"


def graphviz(table: StateTable) -> str:
    """Return `table` as a Graphviz digraph in the dot language."""
    markup = cast("dict[str, Any]", executable(table).markup)
    lines = [
        f"digraph {_quoted(table.name)} {{",
        "  rankdir=LR;",
        '  node [shape=box, style="rounded,filled", fillcolor=white];',
    ]
    for state in markup["states"]:
        peripheries = 2 if state.get("final") else 1
        lines.append(f"  {_quoted(state['name'])} [peripheries={peripheries}];")
    for state in table.initial:
        lines.append(f"  {_quoted('initial ' + state)} [shape=point, label={_quoted('')}];")
        lines.append(f"  {_quoted('initial ' + state)} -> {_quoted(state)};")
    for move in markup["transitions"]:
        ends = f"{_quoted(move['source'])} -> {_quoted(move['dest'])}"
        lines.append(f"  {ends} [label={_quoted(move['label'])}];")
    lines.append("}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
