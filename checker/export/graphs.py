"""A state graph in the formats of other tools: Aldebaran, Graphviz, GraphML.

States are numbered as the search finds them, 0 first; steps are called by row, bindings and picks.
Steps beyond the bounds, and failed ones, lead nowhere and are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from xml.sax.saxutils import escape, quoteattr

import numpy as np
from numpy.typing import NDArray

from checker.graph.labelled import LabelledGraph
from checker.semantics.values import format_value

_AT_ONCE = 1 << 14
_DECODED = 1 << 9
"""States whose values are looked up at a time: a fraction of a second."""


def _steps(graph: LabelledGraph) -> Iterator[tuple[int, str, int]]:
    """Yield source, name and target of the steps that lead to a state."""
    texts = [label.text for label in graph.labels]
    sources = graph.sources
    for first in range(0, len(sources), _AT_ONCE):
        piece = slice(first, first + _AT_ONCE)
        rows = zip(
            sources[piece].tolist(),
            graph.names[piece].tolist(),
            graph.targets[piece].tolist(),
            strict=True,
        )
        yield from ((source, texts[name], target) for source, name, target in rows if target >= 0)


def _states(graph: LabelledGraph) -> Iterator[tuple[int, list[tuple[str, str]]]]:
    """Yield the number of each state, and its variables with their values."""
    names = [variable.name for variable in graph.machine.variables]
    for first in range(0, graph.states, _DECODED):
        numbers: NDArray[np.int64] = np.arange(first, min(first + _DECODED, graph.states))
        for number, state in zip(numbers.tolist(), graph.values(numbers), strict=True):
            yield number, list(zip(names, map(format_value, state), strict=True))


def aldebaran(graph: LabelledGraph) -> Iterator[str]:
    """Yield the lines of an Aldebaran file, as CADP and mCRL2 read it.

    It has one initial state. Where the machine has several, or they are not all the first one, a
    new one has a step `initially` to each.
    """
    steps = int(np.count_nonzero(graph.targets >= 0))
    single = graph.initial.tolist() == [0]
    extra = 0 if single else len(graph.initial)
    first = 0 if single else graph.states
    yield f"des ({first}, {steps + extra}, {graph.states + (not single)})"
    if not single:
        for number in graph.initial.tolist():
            yield f'({first}, "initially", {number})'
    for source, name, target in _steps(graph):
        yield f'({source}, "{name}", {target})'


def graphviz(graph: LabelledGraph) -> Iterator[str]:
    """Yield the lines of a Graphviz file, with the values of each state as its tooltip."""
    yield f'digraph "{graph.machine.name}" {{'
    yield "  node [shape=circle]"
    begun = set(graph.initial.tolist())
    for number, values in _states(graph):
        shape = " shape=doublecircle" if number in begun else ""
        text = "\\n".join(f"{name} = {value}" for name, value in values).replace('"', '\\"')
        yield f'  {number} [tooltip="{text}"{shape}]'
    for source, name, target in _steps(graph):
        yield f'  {source} -> {target} [label="{name}"]'
    yield "}"


def graphml(graph: LabelledGraph) -> Iterator[str]:
    """Yield the lines of a GraphML file: a datum a variable, the name of each step."""
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    yield '  <key id="depth" for="node" attr.name="depth" attr.type="int"/>'
    yield '  <key id="initial" for="node" attr.name="initial" attr.type="boolean"/>'
    for place, variable in enumerate(graph.machine.variables):
        name = quoteattr(variable.name)
        yield f'  <key id="v{place}" for="node" attr.name={name} attr.type="string"/>'
    yield '  <key id="step" for="edge" attr.name="step" attr.type="string"/>'
    yield '  <key id="row" for="edge" attr.name="row" attr.type="string"/>'
    yield f'  <graph id={quoteattr(graph.machine.name)} edgedefault="directed">'
    begun = set(graph.initial.tolist())
    depths = graph.depths.tolist()
    for number, values in _states(graph):
        data = f'<data key="depth">{depths[number]}</data>'
        data += f'<data key="initial">{str(number in begun).lower()}</data>'
        data += "".join(
            f'<data key="v{place}">{escape(value)}</data>'
            for place, (_, value) in enumerate(values)
        )
        yield f'    <node id="n{number}">{data}</node>'
    rows = {label.text: label.row for label in graph.labels}
    for source, name, target in _steps(graph):
        data = f'<data key="step">{escape(name)}</data><data key="row">{rows[name]}</data>'
        yield f'    <edge source="n{source}" target="n{target}">{data}</edge>'
    yield "  </graph>"
    yield "</graphml>"


FORMATS: dict[str, tuple[str, Callable[[LabelledGraph], Iterator[str]]]] = {
    "aut": ("aut", aldebaran),
    "dot": ("dot", graphviz),
    "graphml": ("graphml", graphml),
}
"""The formats of graphs: the ending of a file, and what writes it."""
