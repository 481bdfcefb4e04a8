"""What runs in Spark's Python workers: expand a level, find what is new of it, mark a level.

Data are pairs of a shard and an Item, a blob of packed states. Every function is a pure one of the
finished levels: a task that runs again, after a failure or on speculation, makes the same. What
owners keep on their hosts (`kept.py`) only saves them from being sent it again; without it a task
makes nothing and says that its shard is cold.
"""

from __future__ import annotations

import functools
import gc
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, Protocol

import numpy as np

from checker.frozen import frozen
from checker.kernel.calls import Calls
from checker.kernel.kernel import Kernel, Words
from checker.search.aims import Aim
from checker.search.paths import mark_states
from checker.spark.candidates import Arrivals
from checker.spark.counts import Counts, Report, Told, of_desk, parse, total
from checker.spark.kept import Index, Kept
from checker.spark.scratch import Place, Scratch, remove
from checker.spark.shipped import load
from checker.spark.table import Dealt, Expander, Table

Kind = Literal["anchor", "states", "candidates", "counts", "cold"]

Item = tuple[Kind, bytes, bytes]
"""Packed states, and for candidates their arrivals (uint16 each); or counts as text; or the number
of a cold shard, whose candidates are missing; or nothing, in a place that Spark remembers."""

Pair = tuple[int, Item]

Row = tuple[int, int, bytes | None, int | None, str | None]
"""Of a level's data: shard, count, states, their CRC-32, counts as text. See docs/spark.md."""

BLOB_BYTES = 1 << 20
"""Bytes of states that travel together."""

_EXPECTED = 2
"""Candidates a state for which a table has room at first."""

_PASS = 1024
"""States that `_interleaved` takes in one pass; less than an empty table has room for."""

TABLE_BYTES = 1 << 28
"""Bytes of the table that a task drops duplicates with before it sends candidates on."""


@frozen()
class Step:
    """One job: from level `level`, which is finished, to the next.

    `serial` is the job's own, `before` that of the job that found `level`. Shard s holds `last[s]`
    states of `level`, and `stored[s]` of all levels up to it. The shards in `cold` are given their
    stored states: those of `level` to expand them, all to make an index.
    """

    level: int
    serial: str
    before: str
    stored: tuple[int, ...]
    last: tuple[int, ...]
    cold: frozenset[int]
    place: Place


class DamagedError(Exception):
    """Stored states are not what was written."""


class Broadcast(Protocol):
    """What Spark sends to every executor once."""

    @property
    def value(self) -> Any:
        """The thing itself."""


class Accumulator(Protocol):
    """What tasks tell the driver by."""

    def add(self, term: Told) -> None:
        """Tell something."""


def owner(shard: int) -> int:
    """Return the partition of a shard. Spark knows data as owned alike by this very function."""
    return shard


def anchor(shard: int) -> Pair:
    """Return the item that keeps a shard in its place."""
    return shard, ("anchor", b"", b"")


def clear(place: Place, _: Iterable[Pair]) -> None:
    """Remove what is kept on this host."""
    remove(place)


# ------------------------------------------------------------------------------------ stored rows


def rows_of(shard: int, states: Words, counts: Counts) -> Iterator[Row]:
    """Yield the rows that keep a shard's states of a level, and one of counts."""
    for piece in _pieces(states):
        content = piece.astype("<i8", copy=False).tobytes()
        yield shard, len(piece), content, zlib.crc32(content), None
    yield shard, len(states), None, None, counts.text()


def visited(rows: Iterable[Sequence[Any]]) -> Iterator[Pair]:
    """Yield stored states as items; DamagedError where they are not what was written."""
    for shard, content in _sound(rows):
        yield shard, ("states", content, b"")


def contents(rows: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    """Yield stored states as they are packed."""
    for _, content in _sound(rows):
        yield content


def _sound(rows: Iterable[Sequence[Any]]) -> Iterator[tuple[int, bytes]]:
    for shard, count, content, checksum in rows:
        if zlib.crc32(content) != checksum:
            raise DamagedError(f"{count} states of shard {shard} do not have their checksum")
        yield shard, bytes(content)


def states_of(content: bytes, words: int) -> Words:
    """Return packed states, one a row; a view."""
    return np.frombuffer(content, "<i8").astype(np.int64, copy=False).reshape(-1, words)


def _pieces(states: Words) -> Iterator[Words]:
    size = max(BLOB_BYTES // (8 * states.shape[1]), 1)
    for start in range(0, len(states), size):
        yield states[start : start + size]


@functools.cache
def _rest_after(task: str) -> None:
    """Once a process: let garbage collection pass over all that the first `task` has loaded.

    Spark collects all garbage after every task; looking through a compiler takes longer than a
    small task.
    """
    del task
    gc.freeze()


# ---------------------------------------------------------------------------------------- expand


def expand(
    shipped: Broadcast, step: Step, shards: int, index: int, pairs: Iterable[Pair]
) -> Iterator[Pair]:
    """Yield the different successors of a shard's states of the level, for those who own them.

    Last come the counts, for the shard itself; or, for every shard, that this one is cold.
    """
    kernel = load(shipped.value)
    given = (pair for pair in pairs if pair[1][0] == "states")
    if index in step.cold:
        stored = _counted(index, step.last[index], _states(index, given, kernel.words))
        states = np.concatenate([np.empty((0, kernel.words), np.int64), *stored])
        arrivals = np.zeros(len(states), np.uint16)  # they are not stored
    else:
        for _ in given:
            raise DamagedError(f"shard {index} was given states that it has")
        frontier = Kept(Scratch(step.place), index, kernel.words).frontier(
            step.before, step.last[index]
        )
        if frontier is None:
            yield from ((shard, ("cold", str(index).encode(), b"")) for shard in range(shards))
            return
        states, arrivals = frontier
    yield from expanded(kernel, shards, index, states, arrivals)


def expanded(
    kernel: Kernel, shards: int, index: int, states: Words, arrivals: Arrivals
) -> Iterator[Pair]:
    """Yield the different successors of `states`, dealt out to `shards`; last their counts."""
    expander = Expander(kernel)
    done_with = candidates = shuffled = 0

    def dealt() -> Iterator[Pair]:
        nonlocal candidates, shuffled
        for pair in _candidates(expander.table.deal(shards)):
            candidates += len(pair[1][2]) // 2
            shuffled += len(pair[1][1]) + len(pair[1][2])
            yield pair

    room = min(_EXPECTED * len(states), TABLE_BYTES // (8 * kernel.words + 8) // 4)
    expander.table.make_room(room)
    for some, their in _interleaved(states, arrivals):
        done_with += len(some)
        done = expander.expand(some, their, TABLE_BYTES)
        while not done:
            yield from dealt()
            expander.table.clear()
            done = expander.go_on(TABLE_BYTES)
    yield from dealt()
    counts = of_desk(expander.desk, done_with, candidates, shuffled)
    yield index, ("counts", counts.text().encode(), b"")
    _rest_after("expand")


def _interleaved(states: Words, arrivals: Arrivals) -> Iterator[tuple[Words, Arrivals]]:
    """Yield the same in an order that goes through them again and again in large strides.

    A frontier comes in the order of homes, and so do those successors that are the state itself. A
    table that grows while it is filled in that order is crowded at its beginning, and empty beyond.
    """
    stride = -(-len(states) // _PASS)
    at_a_time = max(BLOB_BYTES // (8 * states.shape[1] * _PASS), 1)
    for first in range(0, stride, at_a_time):
        last = min(first + at_a_time, stride)
        yield (
            np.concatenate([states[start::stride] for start in range(first, last)]),
            np.concatenate([arrivals[start::stride] for start in range(first, last)]),
        )


def _states(index: int, pairs: Iterable[Pair], words: int) -> Iterator[Words]:
    """Yield the states of items."""
    for shard, (_, content, _) in pairs:
        if shard != index:
            raise DamagedError(f"shard {index} was given data of shard {shard}")
        yield states_of(content, words)


def _counted(index: int, count: int, pieces: Iterable[Words]) -> Iterator[Words]:
    """Yield stored states; DamagedError where they are not `count`."""
    seen = 0
    for states in pieces:
        seen += len(states)
        yield states
    if seen != count:
        raise DamagedError(f"shard {index} holds {seen:,} states where {count:,} were written")


def _candidates(dealt: Dealt) -> Iterator[Pair]:
    """Yield what was dealt out as items."""
    size = max(BLOB_BYTES // (8 * dealt.states.shape[1]), 1)
    for shard in range(len(dealt.starts) - 1):
        start, end = int(dealt.starts[shard]), int(dealt.starts[shard + 1])
        for first in range(start, end, size):
            last = min(first + size, end)
            content = dealt.states[first:last].tobytes()
            yield shard, ("candidates", content, dealt.arrivals[first:last].tobytes())


# ---------------------------------------------------------------------------------------- settle


def settle(
    shipped: Broadcast, step: Step, told: Accumulator, index: int, pairs: Iterable[Pair]
) -> Iterator[Row]:
    """Yield the rows of the candidates of a shard that are new: in none of the levels so far.

    Stored states, which a cold shard is given, come before the candidates. The counts also go to
    `told`, or which shards are cold; then there are no rows.
    """
    kernel = load(shipped.value)
    kept = Kept(Scratch(step.place), index, kernel.words)
    stored, others = _parted(pairs)
    parts: list[Counts] = []
    fresh = Fresh(kernel.words)
    missing: set[int] = set()
    with _known(kept, step, index, stored) as known:
        if known is None:
            missing.add(index)
        for shard, (kind, content, arrivals) in others:
            if kind == "anchor":
                continue
            if shard != index or kind == "states":
                raise DamagedError(f"shard {index} was given {kind} of shard {shard}")
            if kind == "counts":
                parts.append(parse(content.decode()))
            elif kind == "cold":
                missing.add(int(content))
            elif known is not None:
                states = states_of(content, kernel.words)
                fresh.take(known.absent(states, np.frombuffer(arrivals, np.uint16)))
        size = 0 if known is None else known.bytes
    if missing:
        told.add({index: Report(missing=tuple(sorted(missing)))})
        return
    dealt = fresh.dealt()
    kept.put_frontier(step.serial, dealt.states, dealt.arrivals)
    kept.forget_frontiers(step.serial, step.before)
    parts.append(Counts(checks=checked(kernel, dealt.states)))
    counts = total(parts)
    yield from rows_of(index, dealt.states, counts)
    told.add({index: Report(len(dealt.states), counts.text(), size, kept.on_disk)})
    _rest_after("settle")


def _parted(pairs: Iterable[Pair]) -> tuple[Iterator[Pair], Iterator[Pair]]:
    """Return the stored states that come first, and the rest; the first has to be used up first."""
    source = iter(pairs)
    held: list[Pair] = []

    def first() -> Iterator[Pair]:
        for pair in source:
            if pair[1][0] == "states":
                yield pair
            elif pair[1][0] != "anchor":
                held.append(pair)
                return

    def rest() -> Iterator[Pair]:
        yield from held
        yield from source

    return first(), rest()


@contextmanager
def _known(kept: Kept, step: Step, index: int, stored: Iterator[Pair]) -> Iterator[Index | None]:
    """Yield the index of a shard's states: the one that is kept, or one made of `stored`."""
    count = step.stored[index]
    if index not in step.cold:
        for _ in stored:
            raise DamagedError(f"shard {index} was given states that it has")
        with kept.up_to(step.level, count, step.before, step.last[index]) as known:
            yield known
        return
    states = _counted(index, count, _states(index, stored, kept.words))
    with kept.rebuilt(step.level, count, states) as known:
        if known is None:
            raise DamagedError(f"shard {index} does not hold {count:,} different states")
        yield known


class Fresh:
    """Candidates that no finished level holds, from several tasks."""

    def __init__(self, words: int) -> None:
        self._table = Table(words)
        self._parts: list[tuple[Words, Arrivals]] = []

    def take(self, part: tuple[Words, Arrivals]) -> None:
        """Take states with their arrivals."""
        self._parts.append(part)

    def dealt(self) -> Dealt:
        """Return each state once, with its greatest arrival.

        They come in the order of their homes, so that the table has to have its size before.
        """
        self._table.make_room(sum(len(arrivals) for _, arrivals in self._parts))
        for states, arrivals in self._parts:
            self._table.enter(states, arrivals)
        self._parts.clear()
        return self._table.deal(1)


def checked(kernel: Kernel, states: Words) -> int:
    """Return the flags of all `states`, or-ed."""
    calls = Calls(kernel)
    seen = 0
    for piece in _pieces(states):
        seen |= int(np.bitwise_or.reduce(calls.check(piece)))
    return seen


# ------------------------------------------------------------------------------ paths and samples


def mark(
    shipped: Broadcast,
    level: int,
    aims: Sequence[Aim],
    later: Broadcast | None,
    rows: Iterable[Sequence[Any]],
) -> Iterator[bytes]:
    """Yield the marks of a level's stored states, as `search.paths` has them."""
    kernel: Kernel = load(shipped.value)
    marks = None
    if later is not None:
        marks = np.frombuffer(later.value, np.int64).reshape(-1, kernel.words + 1)
    for states in _batches(kernel.words, rows):
        found = mark_states(kernel, states, level, aims, marks)
        if len(found):
            yield found.tobytes()


def _batches(words: int, rows: Iterable[Sequence[Any]]) -> Iterator[Words]:
    """Yield stored states, many at a time: each batch costs an index of all marks."""
    held: list[bytes] = []
    for _, content in _sound(rows):
        held.append(content)
        if len(held) * BLOB_BYTES >= TABLE_BYTES:
            yield states_of(b"".join(held), words)
            held.clear()
    if held:
        yield states_of(b"".join(held), words)
