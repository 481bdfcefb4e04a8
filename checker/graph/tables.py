"""The state graph as tables, from the native engine alone: the same as Spark writes, sooner.

PATH/states, PATH/edges, PATH/statistics/{levels,rows,machines}, PATH/terminal, each a folder with
one Parquet file. docs/spark.md has the columns.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from checker.errors import EvaluationError, Interruption, UsageError
from checker.frozen import frozen
from checker.graph.columns import column, machines_of, packed, state_columns
from checker.graph.components import components
from checker.graph.labelled import CUT_OFF, FAILED, LabelledGraph
from checker.graph.state_graph import steps_into
from checker.kernel.kernel import Words
from checker.layout import pack
from checker.layout.cells import value_from
from checker.layout.codec import packed_cells, unpack
from checker.layout.layout import Layout
from checker.machine.machine import Machine
from checker.search.locks import alone
from checker.search.progress import Interrupt, interrupted
from checker.semantics.evaluate import Context, evaluate
from checker.semantics.successors import as_mapping

KINDS = ("cycle", "loop", "terminal", "deadlock", "bounds", "error")
"""More than one state; one with steps to itself only; one without a step: which is terminal as
declared, or a deadlock, or whose steps all lead beyond the bounds or fail, or of which nobody can
tell, because its `terminal` conditions have no value."""

IN_USE = "wait for its end, end it, or name another place with --out"
"""What helps where another process writes a graph to the same folder."""

TABLES = ("states", "edges", "statistics", "terminal")
"""The folders that are written."""

_AT_ONCE = 1 << 14
_FILE = "part-00000.parquet"


@frozen()
class Terminal:
    """How many terminal components there are, of how many states; the states of the largest.

    `kinds` counts them by kind; `beyond` are those with steps that were cut or fail: whether a
    run stays there is not known.
    """

    components: int
    states: int
    largest: int
    beyond: int
    kinds: Mapping[str, int]


def write_tables(graph: LabelledGraph, root: Path, interrupt: Interrupt | None = None) -> Terminal:
    """Write the tables of a graph below `root`, whose tables of before they replace.

    Interruption where `interrupt` says to stop; OSError with the file where the disk is full. What
    was not written to its end is taken away: `terminal` is there if all are. UsageError where
    another process is writing there.
    """
    root.mkdir(parents=True, exist_ok=True)
    with alone(root, IN_USE):
        return _write_tables(graph, root, interrupt)


def _write_tables(graph: LabelledGraph, root: Path, interrupt: Interrupt | None) -> Terminal:
    if (root / "search").exists():
        raise UsageError(f"{root} holds a search of Spark; write to another place, or remove it")
    for name in TABLES:
        if (root / name).exists():
            shutil.rmtree(root / name)
    machines: Counter[tuple[str, str]] = Counter()
    words: list[pa.Array] = []
    schema = state_columns(graph.machine)
    layout = pack(graph.machine)
    with _writer(root / "states", schema) as file:
        for first in range(0, graph.states, _AT_ONCE):
            _go_on(interrupt, root)
            numbers = np.arange(first, min(first + _AT_ONCE, graph.states))
            cells = unpack(graph.layout, graph.words[numbers])[:, : len(layout.leaves)]
            words.append(packed(packed_cells(layout, cells)))
            variables = _variables(graph.machine, layout, cells, machines)
            columns = [pa.array(graph.depths[numbers]), words[-1], *variables]
            file.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))
    identities = pa.chunked_array(words, pa.binary()).combine_chunks()
    _write_edges(graph, root / "edges", identities, interrupt)
    _write_statistics(graph, root / "statistics", machines)
    return _write_terminal(graph, root / "terminal", identities, schema)


def _go_on(interrupt: Interrupt | None, root: Path) -> None:
    if interrupted(interrupt):
        raise Interruption(f"{root} holds part of the tables of a graph")


@contextmanager
def _writer(folder: Path, schema: pa.Schema) -> Iterator[pq.ParquetWriter]:
    """Give what writes the table in `folder`, whose name need not be UTF-8 as Arrow's names are."""
    folder.mkdir(parents=True)
    place = folder / _FILE
    try:
        with place.open("wb") as file, pq.ParquetWriter(file, schema) as writer:
            yield writer
    except BaseException as error:
        shutil.rmtree(folder)
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, str(place)) from None
        raise


def _write(table: pa.Table, folder: Path) -> None:
    with _writer(folder, table.schema) as file:
        file.write_table(table)


def _variables(
    machine: Machine, layout: Layout, cells: Words, machines: Counter[tuple[str, str]]
) -> Iterator[pa.Array]:
    """Yield the column of each variable; count in which states machines are.

    A variable has few values, a graph many states: each value is made once.
    """
    for place, variable in enumerate(machine.variables):
        own = cells[:, layout.starts[place] : layout.starts[place + 1]]
        different, which, counts = np.unique(own, axis=0, return_inverse=True, return_counts=True)
        values = [value_from(layout.shapes[place], row) for row in different.tolist()]
        yield column(variable.type, values).take(pa.array(which.reshape(-1)))
        if variable.table is not None:
            for value, count in zip(values, counts.tolist(), strict=True):
                for name in machines_of(variable.name, value):
                    machines[name] += count


def _write_edges(
    graph: LabelledGraph, folder: Path, identities: pa.Array, interrupt: Interrupt | None
) -> None:
    told = pa.map_(pa.string(), pa.string())
    schema = pa.schema(
        [
            ("depth", pa.int32()),
            ("source", pa.binary()),
            ("target", pa.binary()),
            ("row", pa.string()),
            ("kind", pa.string()),
            ("step", pa.string()),
            ("bindings", told),
            ("picks", told),
        ]
    )
    labels = graph.labels
    by_name = [
        pa.array([label.row for label in labels], pa.string()),
        pa.array([label.text for label in labels], pa.string()),
        pa.array([list(label.bindings) for label in labels], told),
        pa.array([list(label.picks) for label in labels], told),
    ]
    sources = graph.sources
    with _writer(folder, schema) as file:
        for first in range(0, len(sources), _AT_ONCE):
            _go_on(interrupt, folder.parent)
            piece = slice(first, first + _AT_ONCE)
            targets = graph.targets[piece]
            kinds = np.select([targets == CUT_OFF, targets == FAILED], ["cut", "error"], "step")
            row, step, bindings, picks = (
                values.take(pa.array(graph.names[piece])) for values in by_name
            )
            file.write_batch(
                pa.RecordBatch.from_arrays(
                    [
                        pa.array(graph.depths[sources[piece]]),
                        identities.take(pa.array(sources[piece])),
                        identities.take(pa.array(targets, mask=targets < 0)),
                        row,
                        pa.array(kinds.tolist(), pa.string()),
                        step,
                        bindings,
                        picks,
                    ],
                    schema=schema,
                )
            )


def _write_statistics(
    graph: LabelledGraph, folder: Path, machines: Counter[tuple[str, str]]
) -> None:
    levels = int(graph.depths.max(initial=-1)) + 1
    states = np.bincount(graph.depths, minlength=levels)
    edges = np.bincount(graph.depths[graph.sources], minlength=levels)
    kinds = np.select([graph.targets == CUT_OFF, graph.targets == FAILED], [1, 2], 0)
    pairs, counts = np.unique(
        np.stack([graph.names, kinds]).astype(np.int64), axis=1, return_counts=True
    )
    rows: Counter[tuple[str, str]] = Counter()
    for (name, kind), count in zip(pairs.T.tolist(), counts.tolist(), strict=True):
        rows[graph.labels[name].row, ("step", "cut", "error")[kind]] += count
    tables = {
        "levels": {"depth": pa.array(range(levels), pa.int32()), "states": states, "edges": edges},
        "rows": _counted(rows, ("row", "kind", "count")),
        "machines": _counted(machines, ("machine", "state", "states")),
    }
    for name, columns in tables.items():
        _write(pa.table(columns), folder / name)


def _counted(counts: Counter[tuple[str, str]], names: tuple[str, str, str]) -> dict[str, pa.Array]:
    ordered = sorted(counts.items())
    return {
        names[0]: pa.array([pair[0] for pair, _ in ordered], pa.string()),
        names[1]: pa.array([pair[1] for pair, _ in ordered], pa.string()),
        names[2]: pa.array([count for _, count in ordered], pa.int64()),
    }


def _write_terminal(
    graph: LabelledGraph, folder: Path, identities: pa.Array, schema: pa.Schema
) -> Terminal:
    found = _terminal_components(graph)
    least = np.array([first for first, *_ in found], np.int64)
    states = graph.values(least)
    variables = [
        column(variable.type, [state[place] for state in states])
        for place, variable in enumerate(graph.machine.variables)
    ]
    fields = list(schema)[2:]
    table = pa.table(
        {
            "states": pa.array([size for _, size, _, _ in found], pa.int64()),
            "kind": pa.array([kind for *_, kind, _ in found], pa.string()),
            "beyond": pa.array([beyond for *_, beyond in found], pa.int64()),
            "depth": pa.array(graph.depths[least]),
            "state": identities.take(pa.array(least)),
            "example": pa.StructArray.from_arrays(variables, fields=fields),
        }
    )
    _write(table, folder)
    kinds = Counter(kind for *_, kind, _ in found)
    return Terminal(
        components=len(found),
        states=sum(size for _, size, _, _ in found),
        largest=max((size for _, size, _, _ in found), default=0),
        beyond=sum(beyond > 0 for *_, beyond in found),
        kinds={kind: kinds[kind] for kind in KINDS if kind in kinds},
    )


def _terminal_components(graph: LabelledGraph) -> list[tuple[int, int, str, int]]:
    """Return least state, size, kind, and steps beyond of each; the largest first."""
    inner = graph.targets >= 0
    sources = graph.sources
    offsets = np.zeros(graph.states + 1, np.int64)
    np.cumsum(np.bincount(sources[inner], minlength=graph.states), out=offsets[1:])
    everywhere = np.ones(graph.states, np.bool_)
    targets = graph.targets[inner]
    into = steps_into(offsets, targets)
    component, count = components(offsets, targets, into, everywhere)
    leaves = np.zeros(count, np.bool_)
    begin, end = component[sources[inner]], component[targets]
    leaves[begin[begin != end]] = True
    sizes = np.bincount(component, minlength=count)
    beyond = np.bincount(component[sources[~inner]], minlength=count)
    steps = np.bincount(begin, minlength=count)
    least = np.full(count, graph.states, np.int64)
    np.minimum.at(least, component, np.arange(graph.states))
    found = []
    for number in np.flatnonzero(~leaves).tolist():
        state, out = int(least[number]), int(beyond[number])
        if sizes[number] > 1:
            kind = "cycle"
        elif steps[number]:
            kind = "loop"
        else:
            kind = _ending(graph, state, out)
        found.append((state, int(sizes[number]), kind, out))
    return sorted(found, key=lambda item: (-item[1], item[0]))


def _ending(graph: LabelledGraph, number: int, beyond: int) -> str:
    """Return what a state without a step to a state is."""
    steps = slice(graph.offsets[number], graph.offsets[number + 1])
    faults = {action.name for action in graph.machine.actions if action.fault is not None}
    if any(
        target == FAILED or graph.labels[name].row not in faults
        for name, target in zip(graph.names[steps], graph.targets[steps], strict=True)
    ):
        return "bounds"
    context = Context(as_mapping(graph.machine, graph.state(number)), {})
    try:
        if not any(evaluate(term, context) for term in graph.machine.terminal):
            return "deadlock"
    except EvaluationError:
        return "error"
    return "bounds" if beyond else "terminal"
