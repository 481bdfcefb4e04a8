"""Measure the engine, against other tools and against its bars, and print it as Markdown.

    python bench/run.py [--runs 3] [--workers 2] [--exponent 8] [--tlc tla2tools.jar] [WHAT ...]

WHAT are models (group4,1 group4,2 group4,3 twophase8 twophase9) and bars (compile start classic
symmetry liveness spill profile memory billion), and spark; without any, all but `billion`, which
takes 24 GiB, and `spark`, whose largest search has 10^E states (--exponent E, default 8: 8 GiB).
What it prints is the figures part of docs/performance.md, and of docs/spark.md.
"""

from __future__ import annotations

import argparse
import platform
from pathlib import Path

from bars import BARS
from compare import CATALOGUE, compare
from spark import spark

HUGE = {"billion"}


def main() -> None:
    """Parse the command line, measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="*", metavar="WHAT", choices=[*CATALOGUE, *BARS, "spark", []])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--exponent", type=int, default=8)
    parser.add_argument("--tlc", type=Path, help="path of tla2tools.jar")
    arguments = parser.parse_args()
    chosen = arguments.what or [name for name in (*CATALOGUE, *BARS) if name not in HUGE]
    print(f"Medians of {arguments.runs} runs, {arguments.workers} threads, {_machine()}.")
    for name in chosen:
        if name in CATALOGUE:
            lines = compare(CATALOGUE[name], arguments.runs, arguments.workers, arguments.tlc)
            print("\n" + "\n".join(lines), flush=True)
    if "spark" in chosen:
        lines = spark(arguments.exponent)
        print("\n### Spark\n\n" + "\n".join(lines), flush=True)
    bars = [name for name in chosen if name in BARS]
    if bars:
        print("\n### Bars\n\n| what | bar | measured |\n| --- | --- | --- |", flush=True)
    for name in bars:
        for row in BARS[name](arguments.runs):
            print("| " + " | ".join(row) + " |", flush=True)


def _machine() -> str:
    """Return a few words about the machine."""
    model = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        names = [line for line in information.read_text().splitlines() if "model name" in line]
        model = names[0].partition(":")[2].strip() if names else model
        return f"{len(names)} processors ({model}), Python {platform.python_version()}"
    return f"{model}, Python {platform.python_version()}"


if __name__ == "__main__":
    main()
