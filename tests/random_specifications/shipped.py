"""Holds the product to the explorer on what is shipped: `python -m tests.random_specifications.shipped`.

Random specifications have every word of the language, shipped ones have its idioms, many files and
parts used in parts. Both read the same text, and share no code that knows what it means. Of a large
instance the first levels are compared, of a small one everything, infinite runs included.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from pathlib import Path

from checker import flow
from checker.cli.verify import tasks_of
from checker.report.result import Result
from checker.search.limits import Limits
from checker.table import read

from .composition import SHIPPED
from .explorer import LIVENESS, Explored, Explorer
from .model import Reader

MOST = 100_000
"""States at which a level is too wide to be looked at."""


def compare(path: Path, instance: str, enough: int) -> Explored:
    """Compare what the local engine and the explorer find of an instance, with no reduction.

    Levels are looked at until there are `enough` states. AssertionError where they differ.
    """
    model = Reader(path.parent, path.read_text(), instance).read()
    wanted = Explorer(model, reduce=False, most=MOST, enough=enough).run()
    depth = wanted.depth if wanted.stopped_by == "depth" else None
    request = flow.Request(
        str(path), instance, engine="local", workers=1, symmetry=False, limits=Limits(depth=depth)
    )
    result = flow.check(request, flow.Silent())
    differences = [*_in_states(result, wanted), *_in_properties(result, wanted)]
    assert not differences, f"{path.parent.name} {instance}: {differences}"
    return wanted


def _in_states(result: Result, wanted: Explored) -> list[object]:
    found = result.exploration
    fired = Counter({row.row: row.fired for row in found.rows})
    enabled = Counter({row.row: row.enabled for row in found.rows})
    pairs = {
        "levels": (list(found.levels), wanted.levels),
        "generated": (found.generated, wanted.generated),
        "cuts": (found.cuts, wanted.cuts),
        "deadlocks": (found.deadlocks, wanted.deadlocks),
        "fired": (+fired, +wanted.fired),
        "enabled": (+enabled, +wanted.enabled),
    }
    return [(what, *both) for what, both in pairs.items() if both[0] != both[1]]


def _in_properties(result: Result, wanted: Explored) -> list[object]:
    """Compare those that the instance is about."""
    differences: list[object] = []
    for item in result.verdict.properties:
        length, outcome = wanted.found.get(item.name), wanted.outcomes.get(item.name)
        if item.kind not in LIVENESS and item.length != length:
            differences.append((item.name, item.length, length))
        if wanted.stopped_by != "depth" and outcome not in (None, item.outcome):
            differences.append((item.name, item.outcome, outcome))
    error = None if result.verdict.error is None else result.verdict.error.depth
    if error != wanted.error:
        differences.append(("error", error, wanted.error))
    return differences


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.random_specifications.shipped")
    parser.add_argument("systems", nargs="*", help="names of shipped systems; all where left out")
    parser.add_argument("--states", type=int, default=300, help="states that are enough of each")
    parser.add_argument("--seconds", type=float, help="how long; instances come in random order")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    given = parser.parse_args()
    instances = [
        (path, task.instance)
        for path in sorted(SHIPPED.glob("*/*/system.yaml"))
        if not given.systems or path.parent.name in given.systems
        for task in tasks_of(read(path))
    ]
    random.Random(given.seed).shuffle(instances)  # noqa: S311
    print(len(instances), "instances, seed", given.seed, flush=True)
    sys.setrecursionlimit(20_000)
    seen: Counter[str] = Counter()
    began = time.monotonic()
    for number, (path, instance) in enumerate(instances):
        if given.seconds is not None and time.monotonic() - began > given.seconds:
            break
        wanted = compare(path, instance, given.states)
        seen[wanted.stopped_by or "exhaustive"] += 1
        seen["states"] += wanted.distinct
        if number % 25 == 24:
            print(number + 1, dict(seen), flush=True)
    print("compared:", dict(seen))


if __name__ == "__main__":
    main()
