"""Holds the product to the explorer on what is shipped: `python -m tests.random_specifications.shipped`.

Random specifications have every word of the language, shipped ones have its idioms, many files and
parts used in parts. Both read the same text, and share no code that knows what it means. Of a large
instance the first levels are compared, of a small one everything, infinite runs included. With
`--deep` the steps of single states are, which random walks find: some for each row that can run.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from checker import flow
from checker.cli.verify import tasks_of
from checker.kernel import build
from checker.kernel.calls import Calls
from checker.layout import decode_all, pack
from checker.llvm.meta import ACTION_MASK
from checker.machine.machine import Machine
from checker.machine.terms import Literal
from checker.machine.types import Bool
from checker.report.result import Result
from checker.search.limits import Limits
from checker.search.reference import explore_reference
from checker.semantics.successors import successors
from checker.table import read

from .composition import SHIPPED
from .execution import State, Step
from .explorer import LIVENESS, Explored, Explorer
from .model import Model, Reader, Row
from .values import Bag, Map, Record, Type

MOST = 100_000
"""States at which a level is too wide to be looked at."""

ROUNDS, WIDTH, LATEST = 120, 40, 600
"""How often random walks go on, from how many states, and from among how many of the latest."""


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


# ------------------------------------------------------------------------------- single states


class _Single(Explorer):
    """Explores the steps of one state."""

    def __init__(self, model: Model, state: State) -> None:
        super().__init__(model, reduce=False, most=MOST, enough=2)
        self._state = state

    def _first(self) -> list[State]:
        step = Step(Row("initial"), (), self._state)
        stored = self._arrive(None, step, -1)
        return [] if stored is None or stored[1] is None else [stored[1]]

    def _not_refined(self, source: State | None, values: dict[str, Any]) -> list[str]:
        """A state in the midst of a run need not be an initial one of what is refined."""
        return [] if source is None else super()._not_refined(source, values)


def compare_steps(model: Model, machine: Machine, state: Sequence[object]) -> int:
    """Compare the steps of one state, and what is judged of them; return how many there are.

    AssertionError where the interpreter and the explorer differ.
    """
    here = _state(model, state)
    single = _Single(model, here)
    wanted = single.run()
    values = zip(machine.variables, state, strict=True)
    variables = tuple(
        replace(one, initial=Literal(value, one.type, machine.initial.span))
        for one, value in values
    )
    begins = Literal(True, Bool(), machine.initial.span)
    nothing = replace(machine.initial, bindings=(), lets=(), guard=begins, body=())
    properties = tuple(
        replace(item, premise=begins) if item.kind == "refines" else item
        for item in machine.properties
    )
    alone = replace(
        machine,
        variables=variables,
        initial=nothing,
        properties=properties,
        symmetry=False,
        expectation=None,
    )
    found = explore_reference(alone, Limits(depth=1))
    made = successors(machine, tuple(state))
    arrived = Counter((it.action, _state(model, it.state)) for it in made if it.state is not None)
    expected = Counter(
        (it.row.name, it.state) for it in single.stepper.steps(here) if it.state is not None
    )
    told = {item.property: item.depth for item in found.findings if item.kind != "error"}
    pairs = {
        "steps": (arrived - expected, expected - arrived),
        "generated": (found.generated, wanted.generated),
        "cuts": (found.cuts, wanted.cuts),
        "levels": (list(found.levels), wanted.levels),
        "fired": (+Counter({row.row: row.fired for row in found.rows}), +wanted.fired),
        "found": (told, wanted.found),
        "error": (any(item.kind == "error" for item in found.findings), wanted.error is not None),
    }
    differences = [(what, *both) for what, both in pairs.items() if both[0] != both[1]]
    assert not differences, f"{machine.name}: {differences} in {state}"
    return wanted.generated - 1


def _state(model: Model, state: Sequence[object]) -> State:
    kinds = zip(model.variables.values(), state, strict=True)
    return tuple(translated(kind, one, model) for kind, one in kinds)


def translated(kind: Type, value: Any, model: Model) -> Any:
    """Return a value of the product as one of the explorer."""
    match kind[0]:
        case "opt":
            return None if value is None else translated(kind[1], value, model)
        case "set":
            return frozenset(translated(kind[1], one, model) for one in value)
        case "seq":
            return tuple(translated(kind[1], one, model) for one in value)
        case "bag":
            return Bag(model.ranks.ordered(translated(kind[1], one, model) for one in value))
        case "map":
            return Map(
                (translated(kind[1], key, model), translated(kind[2], one, model))
                for key, one in value.items()
            )
        case "msg":
            kinds = dict(kind[1])
            name = value.name if value.name in kinds else kind[1][0][0]
            fields = [
                (field, translated(part, value[field], model) if field in value else part[1][0])
                for field, part in kinds[name]
            ]
            return Record(name, tuple(fields))
    return value


def deep_states(machine: Machine, choose: random.Random, each: int) -> list[State]:
    """Return states that random walks find, for every row up to `each` in which it can run."""
    layout = pack(machine)
    calls = Calls(build(machine, layout, use_cache=False, prompt=True, brief=True))
    pool = [tuple(words) for words in calls.initial()[0].tolist()]
    known, by_row = set(pool), dict[int, list[tuple[int, ...]]]()
    for _ in range(ROUNDS):
        taken = choose.sample(pool[-LATEST:], min(WIDTH, len(pool[-LATEST:])))
        steps = calls.expand(np.array(taken, np.int64))
        begin = 0
        for state, end in zip(taken, steps.ends.tolist(), strict=True):
            for row in {meta & ACTION_MASK for meta in steps.meta[begin:end].tolist()}:
                by_row.setdefault(row, []).append(state)
            begin = end
        new = [tuple(words) for words in steps.words.reshape(-1, layout.words).tolist()]
        choose.shuffle(new)
        fresh = [state for state in dict.fromkeys(new) if state not in known][: 2 * WIDTH]
        known.update(fresh)
        pool += fresh
    some = {
        state
        for states in by_row.values()
        for state in choose.sample(states, min(each, len(states)))
    }
    return decode_all(layout, np.array(sorted(some), np.int64))


def deep(path: Path, instance: str, choose: random.Random, each: int) -> Counter[str]:
    """Compare the steps of some states of an instance; return how many, and how many steps."""
    model = Reader(path.parent, path.read_text(), instance).read()
    model.until = None
    machine = flow.machine_of(str(path), instance, {})
    states = deep_states(machine, choose, each)
    steps = sum(compare_steps(model, machine, state) for state in states)
    return Counter(states=len(states), steps=steps)


# ------------------------------------------------------------------------------------- the command


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.random_specifications.shipped")
    parser.add_argument("systems", nargs="*", help="names of shipped systems; all where left out")
    parser.add_argument("--states", type=int, default=300, help="states that are enough of each")
    parser.add_argument(
        "--deep", type=int, default=0, metavar="N", help="instead, N states for each row"
    )
    parser.add_argument("--seconds", type=float, help="how long; instances come in random order")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    given = parser.parse_args()
    instances = [
        (path, task.instance)
        for path in sorted(SHIPPED.glob("*/*/system.yaml"))
        if not given.systems or path.parent.name in given.systems
        for task in tasks_of(read(path))
    ]
    choose = random.Random(given.seed)  # noqa: S311
    choose.shuffle(instances)
    print(len(instances), "instances, seed", given.seed, flush=True)
    sys.setrecursionlimit(20_000)
    seen: Counter[str] = Counter()
    began = time.monotonic()
    for number, (path, instance) in enumerate(instances):
        if given.seconds is not None and time.monotonic() - began > given.seconds:
            break
        if given.deep:
            seen += deep(path, instance, choose, given.deep)
        else:
            wanted = compare(path, instance, given.states)
            seen[wanted.stopped_by or "exhaustive"] += 1
            seen["states"] += wanted.distinct
        if number % 25 == 24:
            print(number + 1, dict(seen), flush=True)
    print("compared:", dict(seen))


if __name__ == "__main__":
    main()
