"""Drive Kafka's released SharePartition class along share_partition, and compare states.

    python bench/conformance/run.py                      # every transition of as_in_kafka
    python bench/conformance/run.py --walks 3000 --set records=3 --set batch_size=3

Needs Maven and a JDK of 17 or newer; Maven brings Kafka's classes (pom.xml says which release).
Every transition is a case of its own: a new SharePartition is led to the source state by the same
calls, makes the call, and must then look as the model says. Ends with 1 where it does not.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from calls import Sizes, call, seen

from checker.errors import CheckerError
from checker.flow import Request, Silent, prepare
from checker.machine.machine import Machine
from checker.semantics.successors import as_mapping, initial_states, successors

HERE = Path(__file__).parent
WALK = 25
"""Steps of a walk."""


def main() -> None:
    """Parse the command line, write the cases, drive the class along them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--instance", default="as_in_kafka")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--walks", type=int, metavar="STEPS", help="random walks, not everything")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    try:
        machine, sizes = _prepared(given.instance, given.set)
    except (CheckerError, ValueError) as error:
        parser.error(str(error))
    classpath = _compiled()
    with tempfile.TemporaryFile("w+") as cases:
        if given.walks is None:
            states, steps = write_all(machine, sizes, cases)
            print(f"{states:,} states, {steps:,} transitions", flush=True)
        else:
            write_walks(machine, sizes, cases, given.walks, random.Random(given.seed))  # noqa: S311
        cases.seek(0)
        java = ["java", "-cp", classpath, "kafka.server.share.Driver"]
        done = subprocess.run(
            java,
            stdin=cases,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=True,
        )
    print(done.stdout.strip())
    sys.exit(0 if " 0 mismatches" in done.stdout else 1)


def _prepared(instance: str, settings: list[str]) -> tuple[Machine, Sizes]:
    overrides = {"as_in_kafka": True, **dict(_setting(text) for text in settings)}
    request = Request(
        "share_partition", instance, overrides=overrides, symmetry=False, properties=()
    )
    _, machine = prepare(request, Silent())
    constants = dict(machine.constants)
    return machine, Sizes(*(int(constants[name]) for name in Sizes.__slots__))


def _setting(text: str) -> tuple[str, int | bool]:
    name, _, value = text.partition("=")
    return name, value == "true" if value in ("true", "false") else int(value)


def _compiled() -> str:
    """Compile the driver; return the class path to run it with."""
    goals = ["compile", "dependency:build-classpath", "-Dmdep.outputFile=target/classpath"]
    subprocess.run(["mvn", "-q", "-B", *goals], cwd=HERE, check=True)
    return f"{HERE / 'target/classes'}:{(HERE / 'target/classpath').read_text()}"


def write_all(machine: Machine, sizes: Sizes, out: IO[str]) -> tuple[int, int]:
    """Write a case for every transition; return how many states and transitions there are."""
    initial = initial_states(machine)[0].state
    led: dict[object, tuple[str, ...]] = {initial: ()}
    frontier, steps = [initial], 0
    while frontier:
        found = []
        for state in frontier:
            for after, line in _steps(machine, sizes, state):
                steps += 1
                print(sizes.heading, *led[state], line, sep="\n", file=out)
                if after not in led:
                    led[after] = (*led[state], line)
                    found.append(after)
        frontier = found
    return len(led), steps


def write_walks(
    machine: Machine, sizes: Sizes, out: IO[str], steps: int, chance: random.Random
) -> None:
    """Write random walks, of `steps` steps in all; calls of each kind are equally likely."""
    while steps > 0:
        state = initial_states(machine)[0].state
        print(sizes.heading, file=out)
        for _ in range(WALK):
            ways = list(_steps(machine, sizes, state))
            calls = sorted({line.split()[0] for _, line in ways})
            if not calls:
                break
            chosen = chance.choice(calls)
            state, line = chance.choice([way for way in ways if way[1].split()[0] == chosen])
            print(line, file=out)
            steps -= 1


def _steps(machine: Machine, sizes: Sizes, state: object) -> Iterator[tuple[object, str]]:
    """Yield the states that steps lead to, each with the line that a case has for the step."""
    before = as_mapping(machine, state)
    for step in successors(machine, state):
        if step.state is not None:
            after = as_mapping(machine, step.state)
            what = call(sizes, before, step.action, dict(step.bindings))
            yield step.state, f"{what.strip()}\t{seen(sizes, after)}\t{len(after['write'])}"


if __name__ == "__main__":
    main()
