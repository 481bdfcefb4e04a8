"""Which runs one of two graphs has and the other has not, the shortest of each side.

Where no two states of a side look alike, what is seen of a step says where it leads, and the
product of both graphs is walked as it is. Else states that behave alike are made one first, on both
sides together, by partition refinement (P. C. Kanellakis, S. A. Smolka, CCS expressions, finite
state processes, and three problems of equivalence, Inform. and Comput. 86, 1990): what begins in
the same blocks has the same runs. Where that leaves something to choose, sets are walked.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from checker.errors import Interruption
from checker.frozen import frozen
from checker.graph.labelled import LabelledGraph
from checker.graph.refinement import (
    KNOWN,
    LOOKED_AT,
    NEW_PAIR,
    NEW_STEP,
    NONE,
    OLD_PAIR,
    OLD_STEP,
    PLACES,
    place_pairs,
    refine,
    sort_steps,
    walk_product,
)
from checker.memory import available
from checker.search.board import Numbers
from checker.search.progress import Interrupt, interrupted

Short = NDArray[np.int32]

PAIRS_MAX = 200_000
"""Pairs of sets of states that the product may have before nothing is decided."""

WALKED_MAX = 60_000_000
"""Pairs of states that it may have where steps say where they lead."""

_PAIRS = 1 << 16
"""Pairs of states that there is room for at first."""
_BYTES_OF_A_PAIR = 44
"""What a pair of states takes while room is made for more: as it was, as it is, in the index."""
_BYTES_OF_A_MEMBER = 40
"""What a state in a set takes."""
_SHARE = 0.5
"""The part of the memory that is free that pairs may take."""

Run = tuple[int, tuple[int, ...]]
"""A run: its first state, CUT_OFF or FAILED where that is none, and the numbers of its steps."""

Pair = tuple[tuple[int, ...], tuple[int, ...]]
"""What one history can lead to on both sides."""


@frozen(slots=False)
class View:
    """A graph as it is seen: `looks` of its states, `calls` of its steps, alike for both sides.

    `ends` is the look of each step's target; CUT_OFF and FAILED are looks of their own. `plain`:
    no two states look alike.
    """

    graph: LabelledGraph
    looks: Short
    calls: Short
    ends: Short
    plain: bool


@frozen(slots=False)
class _Seen:
    """What is walked: nodes, whose steps are sorted by what is seen of them.

    `node` is the node of each state of a side; None where it is the state itself.
    """

    offsets: Numbers
    keys: Numbers
    targets: Short
    node: Short | None

    def number(self, states: Numbers) -> Numbers:
        """Return the nodes of some states."""
        return states if self.node is None else self.node[states].astype(np.int64)


def runs_apart(
    views: list[View], pairs_max: int = PAIRS_MAX, interrupt: Interrupt | None = None
) -> tuple[tuple[Run | None, Run | None], str]:
    """Return of each side a shortest run that the other has not; why nothing more is known."""
    one, two = (view.graph.astray for view in views)
    begun: list[Run | None] = [(min(a), ()) if a else None for a in (one - two, two - one)]
    if all(begun):
        return (begun[0], begun[1]), ""
    runs, why = _runs_apart(views, pairs_max, interrupt)
    return (begun[0] or runs[0], begun[1] or runs[1]), why


def _runs_apart(
    views: list[View], pairs_max: int, interrupt: Interrupt | None
) -> tuple[tuple[Run | None, Run | None], str]:
    """Return the same of runs from the states in which both begin."""
    span = 3 + max(int(view.looks.max(initial=0)) for view in views)
    if all(view.plain for view in views):
        return _walked(views, [_raw(view, span) for view in views], span, interrupt, same=False)
    seen = _quotient(views, span, interrupt)
    if _chooses(views, seen):
        return _by_sets(views, seen, span, pairs_max, interrupt)
    return _walked(views, seen, span, interrupt, same=True)


def _raw(view: View, span: int) -> _Seen:
    keys = np.asarray(view.calls.astype(np.int64) * span + view.ends + 2, np.int64)
    targets = view.graph.targets.copy()
    sort_steps(view.graph.offsets, keys, targets)
    return _Seen(view.graph.offsets, keys, targets, None)


def _quotient(views: list[View], span: int, interrupt: Interrupt | None) -> list[_Seen]:
    """Return both sides with one node for all states that behave alike; nodes are common."""
    old, new = (view.graph for view in views)
    offsets = np.concatenate([old.offsets, old.offsets[-1] + new.offsets[1:]])
    shifted = np.where(new.targets >= 0, new.targets + old.states, new.targets).astype(np.int32)
    targets = np.concatenate([old.targets, shifted])
    calls = np.concatenate([view.calls for view in views])
    looks = np.concatenate([view.looks for view in views])
    states = len(looks)
    blocks, count = looks.copy(), span
    codes, order = np.empty(len(targets), np.int64), np.empty(len(targets), np.int32)
    widths, fresh = np.empty(states, np.int32), np.empty(states, np.int32)
    before = len(np.unique(looks))
    while True:
        if interrupted(interrupt):
            raise Interruption("states that behave alike were looked for")
        index = np.zeros(1 << max(2 * states - 1, 1).bit_length(), np.int32)
        made = refine(offsets, calls, targets, blocks, count, codes, order, widths, index, fresh)
        if made == before:
            break
        blocks, fresh = fresh, blocks
        before = count = made
    # The codes name blocks of before; numbered anew they are the same blocks.
    _, first = np.unique(blocks, return_index=True)
    look_of = np.zeros(count + 2, np.int32)
    look_of[:2] = -2, -1
    look_of[blocks + 2] = looks
    dense = np.zeros(count + 2, np.int32)
    dense[:2] = -2, -1
    dense[np.sort(blocks[first]) + 2] = np.arange(len(first))
    own = widths[first].astype(np.int64)
    starts = np.zeros(len(first) + 1, np.int64)
    np.cumsum(own, out=starts[1:])
    steps = np.repeat(offsets[first] - starts[:-1], own) + np.arange(starts[-1])
    call, block = np.divmod(codes[steps], count + 2)
    keys = np.asarray(call * span + look_of[block] + 2, np.int64)
    leads = dense[block]
    sort_steps(starts, keys, leads)
    node = dense[blocks + 2]
    return [
        _Seen(starts, keys, leads, node[: old.states]),
        _Seen(starts, keys, leads, node[old.states :]),
    ]


def _chooses(views: list[View], seen: list[_Seen]) -> bool:
    """Whether what is seen does not say where a step, or a beginning, leads."""
    one = seen[0]
    twice = one.keys[1:] == one.keys[:-1]
    twice &= one.targets[1:] != one.targets[:-1]
    inner = np.ones(len(one.keys), np.bool_)
    inner[one.offsets[:-1][one.offsets[:-1] < len(one.keys)]] = False
    if (twice & inner[1:]).any():
        return True
    for view, side in zip(views, seen, strict=True):
        begun = view.graph.initial
        nodes, first = np.unique(side.number(begun), return_index=True)
        if len(np.unique(view.looks[begun[first]])) < len(nodes):
            return True
    return False


# --------------------------------------------------------------------------- steps say where


def _walked(
    views: list[View], seen: list[_Seen], span: int, interrupt: Interrupt | None, *, same: bool
) -> tuple[tuple[Run | None, Run | None], str]:
    """Walk both sides at once, natively."""
    begun = [
        {
            int(view.looks[state]): int(side.number(np.array([state]))[0])
            for state in view.graph.initial.tolist()
        }
        for view, side in zip(views, seen, strict=True)
    ]
    runs: list[Run | None] = [None, None]
    for side in (0, 1):
        alone = sorted(begun[side].keys() - begun[1 - side].keys())
        if alone:
            runs[side] = _concrete(views[side], seen[side], [begun[side][alone[0]]], [], span)
    both = [(begun[0][look], begun[1][look]) for look in sorted(begun[0].keys() & begun[1].keys())]
    walk = _Walk(seen, [pair for pair in both if not same or pair[0] != pair[1]], same=same)
    found = walk.run(interrupt, [run is None for run in runs])
    own = ((OLD_PAIR, OLD_STEP), (NEW_PAIR, NEW_STEP))
    for side, (pair, step) in enumerate((found[a], found[b]) for a, b in own):
        if runs[side] is None and pair != NONE:
            nodes, keys = walk.way(pair, side)
            nodes.append(int(seen[side].targets[step]))
            keys.append(int(seen[side].keys[step]))
            runs[side] = _concrete(views[side], seen[side], nodes, keys, span)
    why = "" if walk.whole or all(runs) else f"more than {len(walk.pairs):,} pairs of states"
    return (runs[0], runs[1]), why


class _Walk:
    """The pairs that were come to, and from which."""

    def __init__(self, seen: list[_Seen], begun: list[tuple[int, int]], *, same: bool) -> None:
        self.seen, self.same = seen, same
        widest = int(np.diff(seen[0].offsets).max(initial=0))
        capacity = max(_PAIRS, 2 * (len(begun) + widest))
        self.pairs = np.zeros(capacity, np.int64)
        self.parents = np.full(capacity, NONE, np.int32)
        unique = list(dict.fromkeys((old << 32) | new for old, new in begun))
        self.pairs[: len(unique)] = unique
        self.progress = np.array([0, len(unique)], np.int64)
        self.whole = True

    def run(self, interrupt: Interrupt | None, wanted: list[bool]) -> list[int]:
        """Walk until nothing is left, or of each wanted side a step of its own is found."""
        found = np.full(PLACES, NONE, np.int64)
        for place, is_wanted in zip((OLD_PAIR, NEW_PAIR), wanted, strict=True):
            found[place] = NONE if is_wanted else 0
        old, new = self.seen
        while True:
            if interrupted(interrupt):
                raise Interruption(f"{int(self.progress[KNOWN]):,} pairs of states were found")
            index = np.zeros(1 << (2 * len(self.pairs) - 1).bit_length(), np.int32)
            place_pairs(self.pairs, int(self.progress[KNOWN]), index)
            walk_product(
                old.offsets, old.keys, old.targets, new.offsets, new.keys, new.targets,
                int(self.same), self.pairs, self.parents, index, self.progress, found,
            )  # fmt: skip
            done = (
                self.progress[LOOKED_AT] == self.progress[KNOWN]
                or (found[[OLD_PAIR, NEW_PAIR]] != NONE).all()
            )
            room = 2 * len(self.pairs)
            full = room * _BYTES_OF_A_PAIR > _SHARE * available()
            if done or full or len(self.pairs) >= WALKED_MAX:
                self.whole = bool(done)
                return [int(number) for number in found]
            self.pairs = np.resize(self.pairs, room)
            self.parents = np.resize(self.parents, room)

    def way(self, pair: int, side: int) -> tuple[list[int], list[int]]:
        """Return the nodes of a side on the way to a pair, and what is seen of the steps."""
        way = [pair]
        while self.parents[way[-1]] != NONE:
            way.append(int(self.parents[way[-1]]))
        both = [(int(self.pairs[n]) >> 32, int(self.pairs[n]) & 0xFFFFFFFF) for n in way[::-1]]
        keys = []
        for before, after in pairwise(both):
            told = [
                set(one.keys[span][one.targets[span] == target].tolist())
                for one, node, target in zip(self.seen, before, after, strict=True)
                for span in [slice(int(one.offsets[node]), int(one.offsets[node + 1]))]
            ]
            keys.append(min(told[0] & told[1]))
        return [nodes[side] for nodes in both], keys


def _concrete(view: View, seen: _Seen, nodes: list[int], keys: list[int], span: int) -> Run:
    """Return a run of a side through some nodes, the last perhaps none, by what is seen."""
    graph = view.graph
    begun = graph.initial[seen.number(graph.initial) == nodes[0]]
    first = state = int(begun[0])
    steps = []
    for key, node in zip(keys, nodes[1:], strict=True):
        own = np.arange(int(graph.offsets[state]), int(graph.offsets[state + 1]))
        call, look = divmod(key, span)
        fits = own[(view.calls[own] == call) & (view.ends[own] == look - 2)]
        targets = graph.targets[fits]
        if node >= 0:
            fits = fits[seen.number(targets.astype(np.int64)) == node]
        steps.append(int(fits[0]))
        state = int(graph.targets[fits[0]])
    return first, tuple(steps)


# ------------------------------------------------------------------------------ sets of nodes

Way = tuple[Pair, int]
"""How a pair of sets was come to: from which, by a step of which it was seen what."""


def _by_sets(
    views: list[View],
    seen: list[_Seen],
    span: int,
    pairs_max: int,
    interrupt: Interrupt | None,
) -> tuple[tuple[Run | None, Run | None], str]:
    """Walk both sides at once, each as the sets of nodes that one history can lead to."""
    found: list[Run | None] = [None, None]
    came: dict[Pair, Way | None] = {}
    waiting: deque[Pair] = deque()
    room = int(_SHARE * available()) // _BYTES_OF_A_MEMBER

    def meet(pair: Pair, way: Way | None) -> None:
        """Note a pair; where one set is empty, the other side alone has the run to it."""
        for side in (0, 1):
            if pair[side] and not pair[1 - side] and found[side] is None:
                nodes, keys = _retraced(seen[side], side, pair[side], way, came)
                found[side] = _concrete(views[side], seen[side], nodes, keys, span)
        # What the same nodes do is the same.
        lasting = all(pair) and min(pair[0]) >= 0 and min(pair[1]) >= 0 and pair[0] != pair[1]
        if lasting and pair not in came:
            nonlocal room
            room -= len(pair[0]) + len(pair[1])
            came[pair] = way
            waiting.append(pair)

    begun = [_by_look(view, side) for view, side in zip(views, seen, strict=True)]
    for look in sorted(begun[0].keys() | begun[1].keys()):
        meet((begun[0].get(look, ()), begun[1].get(look, ())), None)
    while waiting and not all(found):
        if len(came) > pairs_max:
            why = f"more than {pairs_max:,} sets of states that look alike; hide less"
            return (found[0], found[1]), why
        if interrupted(interrupt):
            raise Interruption(f"{len(came):,} pairs of sets of states were found")
        if room < 0:
            why = "sets of states that look alike do not fit the memory; hide less"
            return (found[0], found[1]), why
        pair = waiting.popleft()
        out = [_out(side, nodes) for side, nodes in zip(seen, pair, strict=True)]
        for key in sorted(out[0].keys() | out[1].keys()):
            meet((out[0].get(key, ()), out[1].get(key, ())), (pair, key))
    return (found[0], found[1]), ""


def _by_look(view: View, seen: _Seen) -> dict[int, tuple[int, ...]]:
    found: dict[int, set[int]] = {}
    begun = view.graph.initial
    for state, node in zip(begun.tolist(), seen.number(begun).tolist(), strict=True):
        found.setdefault(int(view.looks[state]), set()).add(node)
    return {look: tuple(sorted(alike)) for look, alike in found.items()}


def _out(seen: _Seen, nodes: Iterable[int]) -> dict[int, tuple[int, ...]]:
    """Return where the nodes of a set lead, by what is seen of the step."""
    found: dict[int, set[int]] = {}
    for node in nodes:
        own = slice(int(seen.offsets[node]), int(seen.offsets[node + 1]))
        pairs = zip(seen.keys[own].tolist(), seen.targets[own].tolist(), strict=True)
        for key, target in pairs:
            found.setdefault(key, set()).add(target)
    return {key: tuple(sorted(to)) for key, to in found.items()}


def _retraced(
    seen: _Seen,
    side: int,
    last: tuple[int, ...],
    way: Way | None,
    came: Mapping[Pair, Way | None],
) -> tuple[list[int], list[int]]:
    """Return nodes and what is seen of steps along a way of the product, found from its end."""
    nodes, keys = [last[0]], []
    while way is not None:
        pair, key = way
        nodes.append(
            next(node for node in pair[side] if nodes[-1] in _out(seen, [node]).get(key, ()))
        )
        keys.append(key)
        way = came[pair]
    return nodes[::-1], keys[::-1]
