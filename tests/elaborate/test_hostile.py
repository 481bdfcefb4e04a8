"""Goal: specifications that try to exhaust the checker end quickly with a located message."""

import time

import pytest
from houses import Elaborating, Refusing

from checker.table.nodes import NAMES_MAX

TICK = "rows:\n  - {row: ticks, do: pass}\n"
CLOCK = 'variables:\n  clock: {type: 0..3, initial: "0"}\n'
DOUBLING = "".join(f"  f{i}(k): {'k' if i == 0 else f'f{i - 1}(f{i - 1}(k))'}\n" for i in range(40))
PROCEDURES = "".join(
    f"  p{i}(): |\n    {'pass' if i == 0 else f'p{i - 1}()'}\n"
    f"    {'pass' if i == 0 else f'p{i - 1}()'}\n"
    for i in range(40)
)
HOSTILE = {
    "power": 'constants:\n  n: {value: "9 ** 9 ** 9"}\n' + TICK,
    "product": "constants:\n  a: 1000000000000\n  b: {value: a * a * a}\n" + TICK,
    "range": f"{CLOCK}rows:\n  - {{row: t, for: {{k: 0..1000000000000}}, do: clock = 1}}\n",
    "range function": f"{CLOCK}bounds:\n  - all(k == k for k in range(10 ** 12))\n{TICK}",
    "wide variable": 'variables:\n  n: {type: "0..2 ** 61", initial: "0"}\n' + TICK,
    "set": "variables:\n  s: {type: set of 0..4096, initial: empty}\n" + TICK,
    "set of sets": "variables:\n  s: {type: set of set of set of 0..9, initial: empty}\n" + TICK,
    "map": 'variables:\n  m: {type: map of 0..1000000 to bool, initial: "{}"}\n' + TICK,
    "nested maps": (
        'variables:\n  m: {type: "map of 0..4000 to map of 0..4000 to 0..9", initial: "{}"}\n'
        + TICK
    ),
    "sequence": "variables:\n  s: {type: sequence of bool up to 1000000000, initial: empty}\n"
    + TICK,
    "ids": "constants:\n  Person: {ids: 1000000000}\n" + TICK,
    "definitions": f"{CLOCK}definitions:\n{DOUBLING}bounds:\n  - f39(clock) < 3\n{TICK}",
    "procedures": f"{CLOCK}procedures:\n{PROCEDURES}rows:\n  - {{row: t, do: p39()}}\n",
    "budget": f"faults:\n  f: {{budget: 10 ** 15}}\n{TICK}",
    "locals": (
        f"{CLOCK}rows:\n  - row: t\n    do: |\n      n = 1\n      for i in range(4000):\n"
        "          n = n * 2\n      clock = n % 3\n"
    ),
    "nested loops": (
        f"{CLOCK}rows:\n  - row: t\n    do: |\n      n = 1\n      for i in range(4000):\n"
        "          for j in range(4000):\n              n += 1\n      clock = n % 3\n"
    ),
    "rounds in a bound": (
        f"{CLOCK}bounds:\n  - all(a + b + c >= clock for a in range(4000)"
        f" for b in range(4000) for c in range(4000))\n{TICK}"
    ),
    "rounds in effects": (
        f"{CLOCK}rows:\n  - row: t\n    do: |\n      for i in range(4000):\n"
        "          for j in range(4000):\n              for k in range(4000):\n"
        "                  clock = (clock + 1) % 3\n"
    ),
    "rounds of a row": (
        f"{CLOCK}rows:\n  - row: t\n    for: {{i: 0..4000, j: 0..4000, k: 0..4000}}\n"
        "    when: i + j + k < clock\n    do: clock = 1\n"
    ),
    "rounds of a constant": (
        'constants:\n  n: {type: set of 0..9, value: "{(a * b * c) % 9 for a in range(4000)'
        f' for b in range(4000) for c in range(1000)}}"}}\n{TICK}'
    ),
    "rounds of an assumption": (
        'assume:\n  - "all(a + b >= c for a in range(4000) for b in range(4000)'
        f' for c in range(4000))"\n{TICK}'
    ),
    "chain": f"{CLOCK}bounds:\n  - {' < '.join(['clock'] * 4000)}\n{TICK}",
    "recursive type": "types:\n  A: optional B\n  B: set of A\n" + TICK,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_it_ends_quickly_with_a_message(wrong: Refusing, name: str) -> None:
    began = time.monotonic()
    found = wrong(HOSTILE[name])
    assert time.monotonic() - began < 20
    assert all(error.code[0] in "NYT" and error.span.line >= 1 for error in found)
    assert all(len(error.message) + len(error.found or "") < 500 for error in found)


def test_two_loops_over_large_types_are_no_harm(machine: Elaborating) -> None:
    machine(
        f"{CLOCK}bounds:\n  - all(a + b >= clock for a in range(4000) for b in range(4000))\n{TICK}"
    )


def test_as_many_names_as_are_allowed_lead_to_each_other(
    machine: Elaborating,
) -> None:
    lets = "".join(f"      v{i}: {f'm[v{i - 1}]' if i else 'm[clock]'}\n" for i in range(NAMES_MAX))
    text = f'{CLOCK}  m: {{type: map of 0..3 to 0..3, initial: "{{0: 0}}"}}\n'
    machine(f"{text}rows:\n  - row: t\n    let:\n{lets}    do: clock = v{NAMES_MAX - 1}\n")
