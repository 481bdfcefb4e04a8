"""A run as a Graphviz graph: its states one below the other, the steps between them."""

from __future__ import annotations

from collections.abc import Iterator

from checker.semantics.values import format_value
from checker.trace.naming import step_name
from checker.trace.trace import Step, Trace

CHANGES_MAX = 3
"""Changes that stand beside a step; all of them are its tooltip."""


def run_graph(trace: Trace) -> str:
    """Return a run in the dot language; a state in which something breaks is a double circle."""
    return "\n".join(_lines(trace)) + "\n"


def _lines(trace: Trace) -> Iterator[str]:
    yield f"digraph {_quoted(trace.property_name)} {{"
    yield "  node [shape=circle, fontname=Helvetica];"
    yield "  edge [fontname=Helvetica, fontsize=11];"
    for step in trace.steps:
        yield f"  {step.number} [{_state(trace, step)}];"
    for step in trace.steps[1:]:
        changes = [str(change).replace(" -> ", " → ") for change in step.changes]
        label = [step_name(step), *changes[:CHANGES_MAX]]
        look = ', color="#b34700", fontcolor="#b34700"' if step.fault is not None else ""
        yield (
            f"  {step.number - 1} -> {step.number} [label={_quoted(*label)}, "
            f"tooltip={_quoted(*(changes or ['nothing changes']))}{look}];"
        )
    if trace.loop is not None and trace.loop.start < trace.length:
        again = _quoted("the same state: for ever")
        yield f"  {trace.length} -> {trace.loop.start} [style=dashed, label={again}];"
    yield "}"


def _state(trace: Trace, step: Step) -> str:
    if step.state is None:
        return 'label="error", shape=box, color="#b42318"'
    breaks = step.number == trace.length and trace.loop is None and trace.kind != "sometimes"
    values = zip(trace.machine.variables, step.state, strict=True)
    tooltip = _quoted(*(f"{it.name} = {format_value(value)}" for it, value in values))
    return f"tooltip={tooltip}" + (', shape=doublecircle, color="#b42318"' if breaks else "")


def _quoted(*lines: str) -> str:
    r"""Return lines as one string; the language's own `\n` stands between them."""
    told = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(told) + '"'
