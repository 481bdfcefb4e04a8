"""Make a long log of a system in the words of its mapping, and time how long explaining it takes.

    python bench/recorded.py SPEC [--lines 1000000] [--instance NAME] [--mapping FILE] [--log FILE]

The log is a random walk on the model: a line a step, with its arguments, its answer and every field
that is observed, in one order. Where nothing can be done any more, and after some hundred steps,
a `reset` begins anew. Steps that nobody asks for are taken, too, and have no line of their own.
What it prints is in docs/conformance.md.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from checker import flow
from checker.cli.mapped import mapped
from checker.conformance.explain import explain
from checker.conformance.log import Log
from checker.conformance.mapping import read_mapping
from checker.conformance.space import Key, Space

LONGEST = 300
"""Steps after which a walk begins anew."""


def lines(space: Space, count: int, seed: int) -> Iterator[str]:
    """Yield the lines of random walks."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    starts = space.initial()
    key, steps = starts[0], 0
    seen: dict[Key, str] = {}
    while count:
        choices = space.node(key).choices
        if not choices or steps >= LONGEST:
            yield '{"do": "reset"}\n'
            count -= 1
            key, steps = chance.choice(starts), 0
            continue
        choice = chance.choice(choices)
        edge = chance.choice(choice.edges)
        key, steps = edge.target, steps + 1
        if choice.request is None:
            continue
        if key not in seen:
            node = space.node(key)
            seen[key] = json.dumps({item.item: item.value for item in node.observed})
        answer = "" if edge.answer is None else f', "answer": {json.dumps(edge.answer.value)}'
        yield f'{choice.request[:-1]}{answer}, "fields": {seen[key]}}}\n'
        count -= 1


def main() -> None:
    """Parse the command line, make the log, explain it and say how long that took."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("spec")
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--instance")
    parser.add_argument("--mapping", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", type=Path, help="keep the log there")
    asked = parser.parse_args()
    found = mapped(asked.spec, asked.mapping, asked.instance, (), flow.Silent())
    with tempfile.TemporaryDirectory() as folder:
        log = asked.log or Path(folder) / "log.jsonl"
        with log.open("w", encoding="utf-8") as file:
            file.writelines(lines(Space(found.bound), asked.lines, asked.seed))
        size = log.stat().st_size / 2**20
        print(f"{asked.spec}: {asked.lines:,} lines, {size:,.0f} MiB", flush=True)
        pid = os.fork()
        if pid:
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        bound = found.bound.for_recorded()
        recording = read_mapping(Path(found.bound.path)).recording
        begun, worked = time.perf_counter(), time.process_time()
        space = Space(bound)
        told = explain(space, Log((log,), recording).events(), recording.clock)
        print(
            f"{told.verdict}: {told.events:,} lines in {time.perf_counter() - begun:.1f} s, "
            f"{time.process_time() - worked:.1f} processor seconds, at most {told.most:,} states "
            f"at a time, {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MiB"
        )
        os._exit(told.verdict != "explained")


if __name__ == "__main__":
    main()
