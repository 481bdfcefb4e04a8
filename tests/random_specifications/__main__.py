"""Draws specifications for a long night: `python -m tests.random_specifications 10000`.

Prints how many were drawn and what became of them; a difference ends the run with the smallest
specification that shows it.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from checker.spark.session import Cluster, spark_session

from .anew import ANEW
from .comparing import DISTRIBUTED, ENGINES, judge
from .drawing_several import KINDS
from .files import Files


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.random_specifications")
    parser.add_argument("examples", type=int, nargs="?", default=10_000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument(
        "--no-shrink", action="store_true", help="show a difference as it was drawn"
    )
    parser.add_argument(
        "--reference-only", action="store_true", help="without compiling: many more in the time"
    )
    parser.add_argument(
        "--spark", action="store_true", help="with Spark, too: a second or two each"
    )
    parser.add_argument("--only", choices=tuple(KINDS), help="one kind of them")
    given_arguments = parser.parse_args()
    engines = ENGINES[:1] if given_arguments.reference_only else ENGINES
    if given_arguments.spark:
        with spark_session(Cluster(workers=2, conf=DISTRIBUTED), "random", lambda _text: None):
            draw(given_arguments, (*engines, ("spark", None)))
    else:
        draw(given_arguments, engines)


def draw(given_arguments: argparse.Namespace, engines: tuple[tuple[str, int | None], ...]) -> None:
    """Draw, judge and count; the first difference ends it."""
    seen: Counter[str] = Counter()
    phases = [Phase.generate] if given_arguments.no_shrink else [Phase.generate, Phase.shrink]

    drawn = [KINDS[given_arguments.only]] if given_arguments.only else [*KINDS.values()]

    @seed(given_arguments.seed)
    @settings(
        max_examples=given_arguments.examples,
        deadline=None,
        database=None,
        phases=phases,
        backend=ANEW,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.one_of(*(kind() for kind in drawn)))
    def run(text: str | Files) -> None:
        seen[judge(text, engines)] += 1
        total = sum(seen.values())
        if total % 100 == 0:
            print(total, dict(seen), flush=True)

    print("seed", given_arguments.seed, flush=True)
    try:
        run()
    finally:
        print(sum(seen.values()), "judged:", dict(seen), flush=True)


if __name__ == "__main__":
    main()
