"""What runs in Spark's Python workers: expand a level, find what is new of it, mark a level.

Data are pairs of a shard and an Item, a blob of packed states. Every function is a pure one of the
items it is given: a task that runs again, after a failure or on speculation, makes the same.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, Protocol

import numpy as np

from checker.kernel.kernel import Kernel, Words
from checker.search.aims import Aim
from checker.search.paths import mark_states
from checker.search.stepper import Stepper
from checker.spark.counts import Counts, Told, of_desk, parse, total
from checker.spark.shipped import load
from checker.spark.table import Dealt, Expander, Table

Kind = Literal["candidates", "states", "counts"]

Item = tuple[Kind, bytes, bytes]
"""Packed states, and for candidates their actions (uint16 each); or counts as text."""

Pair = tuple[int, Item]

Row = tuple[int, int, bytes | None, int | None, str | None]
"""Of a level's data: shard, count, states, their CRC-32, counts as text. See docs/spark.md."""

BLOB_BYTES = 1 << 20
"""Bytes of states that travel together."""

TABLE_BYTES = 1 << 28
"""Bytes of the table that a task drops duplicates with before it sends candidates on."""


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


# ---------------------------------------------------------------------------------------- expand


def expand(shipped: Broadcast, shards: int, index: int, pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Yield the different successors of a partition's states, for those who own them.

    Last come the counts, for any one shard.
    """
    kernel = load(shipped.value)
    expander = Expander(kernel)
    expanded = candidates = shuffled = 0
    for _, (_, content, _) in pairs:
        states = states_of(content, kernel.words)
        expanded += len(states)
        done = expander.expand(states, TABLE_BYTES)
        while not done:
            for pair in _candidates(expander.table.deal(shards)):
                candidates += len(pair[1][2]) // 2
                shuffled += len(pair[1][1]) + len(pair[1][2])
                yield pair
            done = expander.go_on(TABLE_BYTES)
    for pair in _candidates(expander.table.deal(shards)):
        candidates += len(pair[1][2]) // 2
        shuffled += len(pair[1][1]) + len(pair[1][2])
        yield pair
    counts = of_desk(expander.desk, expanded, candidates, shuffled)
    yield index % shards, ("counts", counts.text().encode(), b"")


def _candidates(dealt: Dealt) -> Iterator[Pair]:
    """Yield what was dealt out as items."""
    size = max(BLOB_BYTES // (8 * dealt.states.shape[1]), 1)
    for shard in range(len(dealt.starts) - 1):
        start, end = int(dealt.starts[shard]), int(dealt.starts[shard + 1])
        for first in range(start, end, size):
            last = min(first + size, end)
            content = dealt.states[first:last].tobytes()
            yield shard, ("candidates", content, dealt.actions[first:last].tobytes())


# ---------------------------------------------------------------------------------------- settle


def settle(
    shipped: Broadcast, told: Accumulator, stored: Sequence[int], index: int, pairs: Iterable[Pair]
) -> Iterator[Row]:
    """Yield the rows of the candidates of a shard that are new: in none of the levels so far.

    The counts also go to `told`. Candidates come before stored states, of which there are
    `stored[index]`; DamagedError where that is not so.
    """
    kernel = load(shipped.value)
    table = Table(kernel.words)
    parts: list[Counts] = []
    seen = 0
    for shard, (kind, content, actions) in pairs:
        if shard != index:
            raise DamagedError(f"shard {index} was given data of shard {shard}")
        if kind == "counts":
            parts.append(parse(content.decode()))
        elif kind == "states":
            states = states_of(content, kernel.words)
            table.remove(states)
            seen += len(states)
        elif seen:
            raise DamagedError("candidates came after stored states")
        else:
            table.enter(states_of(content, kernel.words), np.frombuffer(actions, np.uint16))
    if seen != stored[index]:
        raise DamagedError(
            f"shard {index} holds {seen:,} states where {stored[index]:,} were written"
        )
    dealt = table.deal(1)
    new = np.bincount(dealt.actions, minlength=len(kernel.actions))
    parts.append(Counts(checks=checked(kernel, dealt.states), new=tuple(new.tolist())))
    counts = total(parts)
    yield from rows_of(index, dealt.states, counts)
    told.add({index: (len(dealt.states), counts.text())})


def checked(kernel: Kernel, states: Words) -> int:
    """Return the flags of all `states`, or-ed."""
    stepper = Stepper(kernel)
    seen = 0
    for piece in _pieces(states):
        seen |= int(np.bitwise_or.reduce(stepper.check(piece)))
    return seen


def first_level(kernel: Kernel, shards: int) -> tuple[list[Words], Counts]:
    """Return the initial states of each shard, and what was counted of them."""
    stepper = Stepper(kernel)
    states, meta = stepper.initial()
    expander = Expander(kernel)
    expander.place(stepper.canonical(states), meta)
    dealt = expander.table.deal(shards)
    counts = total((of_desk(expander.desk, 0, 0, 0), Counts(checks=checked(kernel, dealt.states))))
    bounds = zip(dealt.starts[:-1], dealt.starts[1:], strict=True)
    return [dealt.states[start:end] for start, end in bounds], counts


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


def sample(words: int, most: int, rows: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    """Yield at most `most` of the stored states of a partition."""
    for _, content in _sound(rows):
        states = states_of(content, words)[:most]
        most -= len(states)
        yield states.tobytes()
        if most <= 0:
            return
