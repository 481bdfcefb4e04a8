"""Compare this checkout with another one on frozen models, in processor seconds.

    python bench/against.py PYTHON [--runs 5] [--workers 2]

PYTHON is the interpreter of the other checkout's environment. Both check the same texts in turn
(`bench/models/frozen`, which commit 2b3c199 reads as well, and Group 4,2), after one run each that
fills their caches. Of a run the processor time of one that stops at its first states is taken off:
what is left is the search.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from process import ROOT, run, settings

FROZEN = ROOT / "bench" / "models" / "frozen"

MODELS = {
    "classic_group, 2 disconnects, 1 crash": (
        str(FROZEN / "classic_group.yaml"),
        *settings(disconnects=2, crashes=1),
    ),
    "share_partition, three_records_and_faults": (
        str(FROZEN / "share_partition.yaml"),
        *("--instance", "three_records_and_faults"),
    ),
    "share_group, three_unequal_members": (
        str(FROZEN / "share_group.yaml"),
        *("--instance", "three_unequal_members"),
    ),
    "Group 4,2": ("group_small", *settings(Member=4, generation_max=2)),
}


@dataclass(frozen=True, slots=True)
class Checkout:
    """A checker that is measured: its interpreter and a cache of its own."""

    python: str
    cache: str
    workers: int

    def seconds(self, *given: str) -> tuple[float, int, int]:
        """Return the processor seconds of a check, its distinct and its generated states."""
        command = [self.python, "-m", "checker", "check", *given, "--engine", "local"]
        command += ["--workers", str(self.workers), "--format", "json", "--progress", "none"]
        environment = {**os.environ, "XDG_CACHE_HOME": self.cache, "NUMBA_CACHE_DIR": self.cache}
        # In a folder without a package: the checker must be that of the interpreter.
        done = run(command, folder=Path(self.cache), environment=environment, codes=(0, 11, 20))
        result = json.loads(done.output)
        return done.processor, result["distinct"], result["generated"]


def main() -> None:
    """Parse the command line, measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("python", help="interpreter of the other checkout's environment")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    print(
        "| model | distinct | there, s | here, s | there / here |\n| --- | --- | --- | --- | --- |"
    )
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        other = Checkout(arguments.python, one, arguments.workers)
        own = Checkout(sys.executable, two, arguments.workers)
        for name, given in MODELS.items():
            print(_row(name, given, (other, own), arguments.runs), flush=True)


def _row(name: str, given: tuple[str, ...], both: tuple[Checkout, ...], runs: int) -> str:
    counts = {checkout.seconds(*given)[1] for checkout in both}
    beginnings = [
        statistics.median(checkout.seconds(*given, "--limit-states", "1")[0] for _ in range(3))
        for checkout in both
    ]
    taken: list[list[float]] = [[], []]
    for _ in range(runs):
        for place, checkout in enumerate(both):
            seconds, distinct, _ = checkout.seconds(*given)
            taken[place].append(seconds - beginnings[place])
            counts.add(distinct)
    there, here = (statistics.median(item) for item in taken)
    ratio = statistics.median(old / new for old, new in zip(*taken, strict=True))
    found = " or ".join(f"{count:,}" for count in sorted(counts))
    return f"| {name} | {found} | {there:.2f} | {here:.2f} | {ratio:.2f}x |"


if __name__ == "__main__":
    main()
