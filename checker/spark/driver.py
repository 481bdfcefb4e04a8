"""The first levels of a search, found by the driver itself while they are small.

A job of Spark costs a third of a second whatever it does, and the first one of a session ten; a
small level costs the driver a millisecond. What is found here is what the owners of the shards
would have found: the same functions expand and settle, and the levels are kept in the same form.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from checker.errors import UsageError
from checker.kernel.kernel import Kernel, Words
from checker.spark import index as compiled
from checker.spark import tasks
from checker.spark.candidates import Actions
from checker.spark.counts import Counts, parse, total
from checker.spark.kept import absent_from
from checker.spark.properties import DRIVER

LEVEL = 200_000
"""States of a level up to which the driver finds the next one itself."""
_LEVELS = 20
"""How many such levels it holds at most, by their states."""
_BYTES = 1 << 28
"""Bytes of packed states that it holds at most."""
_LOAD = 0.6
_CAPACITY_START = 1 << 12

Level = list[Words]
"""The states of a level, shard by shard."""


@dataclass(frozen=True, slots=True)
class Small:
    """What the driver searches itself: levels of so many states, so many states in all."""

    level: int
    states: int

    def takes(self, frontier: int, distinct: int) -> bool:
        """Whether a level of `frontier` states is expanded here, after `distinct` in all."""
        return 0 < frontier <= self.level and distinct <= self.states


def small(properties: Mapping[str, str], asked: int | None, words: int) -> Small:
    """Return what is small: levels of `asked` states, else what the session's properties say.

    UsageError where a property is no number.
    """
    if asked is None:
        text = properties.get(DRIVER, str(LEVEL))
        if not text.isdecimal() or len(text) > 9:
            raise UsageError(f"--conf {DRIVER}: a number of states is expected, not {text!r}")
        asked = int(text)
    return Small(asked, min(_LEVELS * asked, _BYTES // (8 * words)))


class Seen:
    """The states of all levels so far, in memory."""

    def __init__(self, words: int) -> None:
        self._words = words
        self._count = 0
        self._slots = self._empty(_CAPACITY_START)

    @property
    def bytes(self) -> int:
        """Bytes of the slots."""
        return self._slots.nbytes

    def absent(self, states: Words, actions: Actions) -> tuple[Words, Actions]:
        """Return those of `states`, with their actions, that are not among them."""
        return absent_from(self._slots.ctypes.data, self._capacity, states, actions)

    def add(self, states: Words) -> None:
        """Take the states of one more level."""
        needed = int((self._count + len(states)) / _LOAD) + 1
        if needed > self._capacity:
            old, capacity = self._slots, self._capacity
            self._slots = self._empty(1 << needed.bit_length())
            compiled.move(
                old.ctypes.data, 0, capacity, self._words, self._slots.ctypes.data, self._capacity
            )
        self._count += compiled.add(
            self._slots.ctypes.data,
            self._capacity,
            self._words,
            np.ascontiguousarray(states).ctypes.data,
            len(states),
        )

    @property
    def _capacity(self) -> int:
        return len(self._slots) // self._words

    def _empty(self, capacity: int) -> NDArray[np.int64]:
        return np.zeros(capacity * self._words, np.int64)


class Driver:
    """The levels that the driver finds: the last one, and all states so far.

    `last` are the states of the last finished level, `earlier` those of all levels before it.
    """

    def __init__(self, kernel: Kernel, shards: int, earlier: Words, last: Level) -> None:
        self._kernel = kernel
        self._shards = shards
        self._last = last
        self.seen = Seen(kernel.words)
        self.seen.add(earlier)
        self.seen.add(np.concatenate(last))

    def expand(self) -> tuple[Level, Counts]:
        """Return the next level, shard by shard, and what was counted on the way to it."""
        fresh = tasks.Fresh(self._kernel.words)
        parts: list[Counts] = []
        # One owner of all: what it would send to others comes back to it.
        for _, (kind, content, actions) in tasks.expanded(self._kernel, 1, 0, self._last):
            if kind == "counts":
                parts.append(parse(content.decode()))
            else:
                states = tasks.states_of(content, self._kernel.words)
                fresh.take(self.seen.absent(states, np.frombuffer(actions, np.uint16)))
        dealt = fresh.dealt(self._shards)
        self.seen.add(dealt.states)
        parts.append(Counts(checks=tasks.checked(self._kernel, dealt.states)))
        bounds = zip(dealt.starts[:-1], dealt.starts[1:], strict=True)
        self._last = [dealt.states[start:end] for start, end in bounds]
        return self._last, total(parts)
