"""What the tasks of one level count: rows of the level's own data, so that no retry adds twice."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict

from pyspark.accumulators import AccumulatorParam

from checker.frozen import frozen
from checker.kernel.kernel import Kernel
from checker.search import board as places
from checker.search.board import Desk
from checker.search.snapshot import Counters


@frozen()
class Counts:
    """Counts of one task, or of several added up.

    `expanded` states had `generated` successors; `cuts`, `deadlocks`, `edges`, `checks`,
    `tallies` as a kernel counts them; `candidates` states that were sent to their owners in
    `shuffled` bytes.
    """

    expanded: int = 0
    generated: int = 0
    cuts: int = 0
    deadlocks: int = 0
    edges: int = 0
    checks: int = 0
    tallies: tuple[int, ...] = ()
    candidates: int = 0
    shuffled: int = 0

    def text(self) -> str:
        """Return the counts as they are stored."""
        return json.dumps(asdict(self), separators=(",", ":"))


@frozen()
class Report:
    """What a shard tells of a level: its states of it, its counts as text, the size of its index.

    `missing` are the shards that it lacks something of, its own or another; then it tells only
    that.
    """

    states: int = 0
    text: str = ""
    index_bytes: int = 0
    on_disk: bool = False
    missing: tuple[int, ...] = ()


Told = dict[int, Report]
"""What each shard told of a level."""


class Telling(AccumulatorParam[Told]):  # type: ignore[misc]
    """How Spark puts together what shards tell.

    A shard that tells twice, because its task ran again, says the same twice and counts once.
    """

    def zero(self, value: Told) -> Told:
        """Return that nothing was told."""
        del value
        return {}

    def addInPlace(self, value1: Told, value2: Told) -> Told:  # noqa: N802 (Spark's name)
        """Return what two of them tell."""
        value1.update(value2)
        return value1


def parse(text: str) -> Counts:
    """Return counts from their stored form."""
    fields = json.loads(text)
    fields["tallies"] = tuple(fields["tallies"])
    return Counts(**fields)


def total(parts: Iterable[Counts]) -> Counts:
    """Return all counts added up; flags are or-ed."""
    sum_: dict[str, int] = {}
    flags = {"edges": 0, "checks": 0}
    tallies: tuple[int, ...] = ()
    for part in parts:
        for name in ("expanded", "generated", "cuts", "deadlocks", "candidates", "shuffled"):
            sum_[name] = sum_.get(name, 0) + getattr(part, name)
        flags["edges"] |= part.edges
        flags["checks"] |= part.checks
        tallies = _added(tallies, part.tallies)
    return Counts(**sum_, **flags, tallies=tallies)


def _added(left: Sequence[int], right: Sequence[int]) -> tuple[int, ...]:
    if not left or not right:
        return tuple(left or right)
    return tuple(one + other for one, other in zip(left, right, strict=True))


def of_desk(desk: Desk, expanded: int, candidates: int, shuffled: int) -> Counts:
    """Return what a desk counted while `expanded` states were expanded."""
    numbers = desk.numbers
    return Counts(
        expanded=expanded,
        generated=int(desk.tallies[1 : 2 * (len(desk.tallies) // 3) : 2].sum()),
        cuts=int(numbers[places.CUTS]),
        deadlocks=int(numbers[places.DEADLOCKS]),
        edges=int(numbers[places.EDGES_SEEN]),
        checks=int(numbers[places.CHECKS_SEEN]),
        tallies=tuple(desk.tallies.tolist()),
        candidates=candidates,
        shuffled=shuffled,
    )


def as_counters(counts: Counts, kernel: Kernel) -> Counters:
    """Return counts of a whole search in the form that checkpoints keep."""
    zeros = (0,) * len(kernel.actions)
    tallies = counts.tallies or zeros * 3
    pairs, new = tallies[: 2 * len(zeros)], tallies[2 * len(zeros) :]
    return Counters(
        generated=counts.generated,
        cuts=counts.cuts,
        deadlocks=counts.deadlocks,
        edges_seen=counts.edges,
        checks_seen=counts.checks,
        tallies=tuple(zip(pairs[::2], pairs[1::2], strict=True)),
        new=new,
    )


def from_counters(counters: Counters) -> Counts:
    """Return what `as_counters` made the counters of."""
    return Counts(
        generated=counters.generated,
        cuts=counters.cuts,
        deadlocks=counters.deadlocks,
        edges=counters.edges_seen,
        checks=counters.checks_seen,
        tallies=(*(number for pair in counters.tallies for number in pair), *counters.new),
    )
