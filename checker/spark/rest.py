"""The rest of a graph, in the driver's memory: judged by the code that judges whole graphs.

Beside the states that are left it has one that stands for all others: those that owe nothing, and
those that no fair run can use. Steps to it make their instances enabled and are never taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import functions as f

from checker.graph.components import OUTSIDE
from checker.graph.entries import entries
from checker.graph.lasso import Lasso, lasso_from
from checker.graph.liveness import owing_and_fair
from checker.graph.state_graph import StateGraph
from checker.kernel.kernel import Words
from checker.llvm.meta import PREMISE
from checker.search.memory import available, default_limit
from checker.spark.trimming import Trimming

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_BYTES_OF_A_STEP = 100
_BYTES_OF_A_STATE = 250
"""What collecting, sorting and judging take at most at a time, beside the packed states."""
_SAFETY = 0.9

Least = Callable[[Words, int], Words]
"""Takes different states of one level, returns the least shortest path to one of them."""


@dataclass(frozen=True)
class Rest:
    """A graph whose last state stands for everything outside; of the others `states` (packed).

    `depths` int32 is how far each state is from an initial one, `raises` bool whether it raises
    what is owed. Both, like the graph, have one place more, for the last state.
    """

    graph: StateGraph
    states: Words
    depths: NDArray[np.int32]
    raises: NDArray[np.bool_]

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Return bool: every state but the last."""
        inside = np.ones(self.graph.states, np.bool_)
        inside[-1] = False
        return inside


def fits_driver(states: int, steps: int, words: int, memory_bytes: int | None) -> bool:
    """Whether so many states and steps can be collected and judged in the driver."""
    needed = (_BYTES_OF_A_STATE + 24 * words) * states + _BYTES_OF_A_STEP * steps
    return needed <= (memory_bytes or min(default_limit(), int(_SAFETY * available())))


def collect(
    trimming: Trimming, facts: DataFrame, words: int, strong: NDArray[np.bool_], place: int | None
) -> Rest:
    """Return what trimming left, the packed states of `words` words.

    Raised is the premise of the property at `place`; None: by every initial state, as it is for
    `eventually`.
    """
    alive = trimming.alive
    known = facts.join(alive, "id", "left_semi").toArrow()
    pairs = trimming.enabled.join(alive, "id", "left_semi")
    leading = pairs.select(
        f.col("id").alias("source"),
        f.lit(None).cast("int").alias("ordinal"),
        f.lit(None).cast("bigint").alias("target"),
        "label",
    ).toArrow()
    return _rest(known, trimming.inner.toArrow(), leading, words, strong, place)


def _rest(
    known: pa.Table,
    steps: pa.Table,
    leading: pa.Table,
    words: int,
    strong: NDArray[np.bool_],
    place: int | None,
) -> Rest:
    ids = _column(known, "id")
    content = b"".join(known.column("state").to_pylist())
    states = np.frombuffer(content, "<i8").astype(np.int64).reshape(-1, words)
    depths = _column(known, "depth").astype(np.int32)
    order = np.lexsort((*states.T[::-1], depths))
    number = np.empty(len(ids), np.int64)
    number[order] = np.arange(len(ids))
    by_id = np.argsort(ids)

    def numbers(given: NDArray[np.int64]) -> NDArray[np.int64]:
        found: NDArray[np.int64] = number[by_id[np.searchsorted(ids[by_id], given)]]
        return found

    last = len(ids)
    sources = numbers(np.concatenate((_column(steps, "source"), _column(leading, "source"))))
    out = np.full(leading.num_rows, last)
    targets = np.concatenate((numbers(_column(steps, "target")), out))
    labels = np.concatenate((_column(steps, "label"), _column(leading, "label")))
    ordinals = np.concatenate((_column(steps, "ordinal"), np.full(leading.num_rows, 1 << 40)))
    sorted_ = np.lexsort((labels, ordinals, sources))
    flags = _column(known, "flags")[order]
    graph = StateGraph(
        offsets=np.concatenate(
            (np.zeros(1, np.int64), np.cumsum(np.bincount(sources, minlength=last + 1)))
        ),
        targets=targets[sorted_].astype(np.int32),
        labels=labels[sorted_].astype(np.int32),
        strong=strong,
        initial=np.empty(0, np.int64),
        cut=np.zeros(last + 1, np.bool_),
    )
    deep = np.append(depths[order], -1).astype(np.int32)
    raised = deep == 0 if place is None else np.append((flags >> (PREMISE + place)) & 1, 0) != 0
    return Rest(graph, states[order], deep, raised)


def _column(table: pa.Table, name: str) -> NDArray[np.int64]:
    values: Any = table.column(name).to_numpy()
    return np.asarray(values, np.int64)


def judge_rest(rest: Rest, least: Least) -> tuple[Words, int] | None:
    """Return the path (packed) of a lasso that breaks the property, and where its loop begins.

    None where no fair run does.
    """
    graph, inside = rest.graph, rest.inside
    _, fair = owing_and_fair(graph, rest.raises, inside)
    if not (fair != OUTSIDE).any():
        return None
    sources = np.flatnonzero(rest.raises & inside)

    def way(candidates: NDArray[np.int64]) -> Words:
        return least(rest.states[candidates], int(rest.depths[candidates[0]]))

    def ordered(goal: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the sources, the one that a search of the whole graph comes from in front."""
        candidates = entries(graph, sources, rest.depths, inside, goal)
        first = candidates[:1]
        if len(candidates) > 1:
            end = way(candidates)[-1]
            first = candidates[(rest.states[candidates] == end).all(axis=1)]
        behind = ~np.isin(sources, first)
        found: NDArray[np.int64] = sources[np.lexsort((behind, rest.depths[sources]))]
        return found

    lasso = lasso_from(graph, ordered, rest.depths, inside, fair)
    return None if lasso is None else _path(rest, lasso, way(np.array(lasso.states[:1])))


def _path(rest: Rest, lasso: Lasso, begin: Words) -> tuple[Words, int]:
    """Return a lasso with the way to its first state before it."""
    path = np.concatenate((begin[:-1], rest.states[list(lasso.states)]))
    return path, len(begin) - 1 + lasso.loop
