"""What the threads of a search have counted, added up: from their desks, and back to them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from checker.search.board import CHECKS_SEEN, CUTS, DEADLOCKS, EDGES_SEEN, Desk, Numbers
from checker.search.snapshot import Counters


def counted(desks: Sequence[Desk], initial: int) -> Counters:
    """Return what these desks counted beside `initial` initial states."""
    numbers = np.stack([desk.numbers for desk in desks])
    tallies: Numbers = np.sum([desk.tallies for desk in desks], axis=0, dtype=np.int64)
    actions = len(tallies) // 3
    pairs = tallies[: 2 * actions].reshape(-1, 2)
    return Counters(
        generated=initial + int(pairs[:, 1].sum()),
        cuts=int(numbers[:, CUTS].sum()),
        deadlocks=int(numbers[:, DEADLOCKS].sum()),
        edges_seen=int(np.bitwise_or.reduce(numbers[:, EDGES_SEEN])),
        checks_seen=int(np.bitwise_or.reduce(numbers[:, CHECKS_SEEN])),
        tallies=tuple((seen, made) for seen, made in pairs.tolist()),
        new=tuple(tallies[2 * actions :].tolist()),
    )


def forget(desks: Sequence[Desk]) -> None:
    """Let these desks have counted nothing."""
    for desk in desks:
        desk.numbers[[CUTS, DEADLOCKS, EDGES_SEEN, CHECKS_SEEN]] = 0
        desk.tallies[:] = 0


def give(desk: Desk, counters: Counters) -> None:
    """Let a desk, which has counted nothing, have counted `counters`, but for initial states."""
    desk.numbers[CUTS] = counters.cuts
    desk.numbers[DEADLOCKS] = counters.deadlocks
    desk.numbers[EDGES_SEEN] = counters.edges_seen
    desk.numbers[CHECKS_SEEN] = counters.checks_seen
    pairs = np.array(counters.tallies, np.int64).reshape(-1)
    desk.tallies[:] = np.concatenate((pairs, np.array(counters.new, np.int64)))
