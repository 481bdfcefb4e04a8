"""Drives Kafka's released classes along the specifications and writes a page of each result.

    python tests/conformance/run_all.py               # all; pages to reports/conformance
    python tests/conformance/run_all.py share_partition --pages DIR

Needs a JDK and Maven (adapter.py says which). Ends with the worst exit code of `checker conform`,
or with 3 where an adapter cannot be built.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from adapter import MAINS, UNAVAILABLE, build, missing

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

Settings = tuple[str, ...]

RUNS: dict[str, tuple[tuple[str, Settings], ...]] = {
    "share_partition": (
        ("as_in_kafka", ("--set", "several_offsets=false")),
        ("as_in_kafka", ()),
        ("as_in_kafka_with_faults", ()),
        ("as_in_kafka_batches", ("--set", "truncations=1", "--cover", "rows")),
        ("as_in_kafka_three_records", ("--set", "truncations=1", "--cover", "rows")),
    ),
}
"""Of each system its instances and options, the smallest first."""


def main() -> int:
    """Run what is asked for; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("systems", nargs="*", default=list(RUNS), choices=[*RUNS, []])
    parser.add_argument("--pages", type=Path, default=ROOT / "reports" / "conformance")
    given = parser.parse_args()
    worst = 0
    for name in given.systems:
        problem = missing() or build(name)
        if problem is not None:
            print(problem, file=sys.stderr)
            return UNAVAILABLE
        for number, (instance, settings) in enumerate(RUNS[name], start=1):
            page = given.pages / f"{name}_{number}.md"
            adapter = f"python tests/conformance/adapter.py {name}"
            command = ["checker", "conform", name, "--instance", instance, "--adapter", adapter]
            command += [*settings, "--page", str(page)]
            checker = [sys.executable, "-m", "checker", *command[1:]]
            checker[checker.index(adapter)] = adapter.replace("python ", f"{sys.executable} ", 1)
            code = subprocess.run(checker, cwd=ROOT, check=False).returncode
            worst = max(worst, code)
    return worst


assert set(RUNS) <= set(MAINS)

if __name__ == "__main__":
    sys.exit(main())
