"""Goal: before any search it is shown from the text that interchangeable ids are used alike, or the
machine says where it is not, and is searched without symmetry.

What is said to be alike is held to the meaning: in reachable states each row, renamed, has the same
successors, renamed.
"""

import pytest
from houses import Elaborating, Refusing
from machines import reachable

from checker.machine.machine import Machine
from checker.semantics.successor import State
from checker.semantics.successors import successors
from checker.semantics.symmetry import orbit, permute_state, renamings, representative

SYSTEM = """
constants:
  Guest: {{ids: 3, symmetric: true}}
  Key: {{ids: 2, symmetric: true}}
types:
  Card: {{fields: {{who: Guest, number: 0..2}}}}
messages:
  Ask: {{who: Guest}}
variables:
  inside: {{type: set of Guest, initial: empty}}
  asked: {{type: set of Guest, initial: empty}}
  served: {{type: optional Guest, initial: none}}
  host: {{type: optional Guest, initial: none}}
  room: {{type: map of Guest to 0..1, initial: empty}}
  level: {{type: 0..1, per: Guest, initial: "0"}}
  count: {{type: 0..3, initial: "0"}}
  keys: {{type: set of Key, initial: empty}}
  queue: {{type: sequence of Guest up to 2, initial: empty}}
channels:
  questions: {{carries: [Ask], order: bag, capacity: "3", when_full: error}}
rows:
  - row: comes
    for: {{g: Guest}}
    do: |
      inside.add(g)
      if len(queue) < 2 and g not in queue:
          queue.append(g)
  - row: goes_up
    for: {{g: inside}}
    do: level[g] = 1
  - row: hosts
    for: {{g: inside}}
    do: host = g
  - row: acts
    do: |
{effect}
"""

ALIKE = {
    "each its own": """
for g in inside:
    room[g] = level[g]
    asked.add(g)
    if g in room and level[g] == 1:
        del room[g]
        inside.discard(g)
""",
    "all the same": """
for g in inside:
    if level[g] == 1:
        served = host
""",
    "only more": """
for g in inside:
    if level[g] == 0:
        keys = keys | {k for k in Key}
        count += level[g]
""",
    "messages": """
for g in inside:
    send(questions, Ask(who=g))
""",
    "a pick each": """
for g in inside:
    room[g] = pick(n for n in {level[g], 1})
""",
    "locals of a round": """
for g in inside:
    x = level[g]
    y = g
    if x == 1:
        asked.add(y)
""",
    "the order of a stored sequence": """
for g in queue:
    served = g
""",
    "loops inside": """
for g in inside:
    for n in range(2):
        if n > level[g]:
            break
        room[g] = n
""",
    "fresh": """
k = fresh(Key)
keys.add(k)
""",
}

UNLIKE = {
    "the last one": ("for g in inside:\n    served = g\n", "`served`"),
    "the first one": ("for g in inside:\n    served = g\n    break\n", "end it"),
    "what another changed": (
        "for g in inside:\n    if len(asked) == 0:\n        asked.add(g)\n", "`asked`",
    ),
    "numbers": ("n = 0\nfor g in inside:\n    level[g] = n\n    n = 1\n", "`n`"),
    "up and down": (
        "for g in inside:\n    count = count + 1 if level[g] == 0 else count - 1\n",
        "`count`",
    ),
    "who comes first is out": (
        "for g in inside:\n    if served is none:\n        served = g\n", "`served`",
    ),
    "a leader among those left": (
        "for g in inside:\n    inside.discard(g)\n    if host == g:\n        host = pick(inside)\n",
        "`inside`",
    ),
    "a line": ("for g in inside:\n    if len(queue) < 2:\n        queue.append(g)\n", "`queue`"),
    "fresh for each": ("for g in inside:\n    k = fresh(Key)\n    keys.add(k)\n", "least id"),
    "fresh beside what is kept": ("g = fresh(Guest)\ninside.add(g)\n", "level says something"),
    "not only fresh": (
        "k = pick(k for k in Key)\nkeys.add(k)\nj = fresh(Key)\nkeys.add(j)\n", "not only fresh",
    ),
}  # fmt: skip


def indented(effect: str) -> str:
    return "\n".join(f"      {line}" for line in effect.strip("\n").splitlines())


def ends(machine: Machine, state: State) -> dict[str, set[State | str]]:
    """By row, the states of all steps, and whether one fails."""
    found: dict[str, set[State | str]] = {}
    for step in successors(machine, state, once=True):
        end = "fails" if step.error is not None else step.cut or step.state
        assert end is not None
        found.setdefault(step.action, set()).add(end)
    return found


def is_alike(machine: Machine) -> bool:
    """Whether renamed states have renamed successors, up to who is fresh; by brute force."""
    states = reachable(machine, 400)
    some = list(renamings(machine))
    for number, state in enumerate(states[:: max(len(states) // 12, 1)]):
        renaming = some[1 + number % (len(some) - 1)]
        renamed = ends(machine, permute_state(machine, state, renaming))
        for row, found in ends(machine, state).items():
            one, two = (
                {end if isinstance(end, str) else representative(machine, end) for end in some_ends}
                for some_ends in (found, renamed.get(row, set()))
            )
            if one != two:
                return False
    return True


@pytest.mark.parametrize("name", ALIKE)
def test_what_is_shown_to_be_alike(name: str, machine: Elaborating) -> None:
    made = machine(SYSTEM.format(effect=indented(ALIKE[name])))
    assert not made.unlike
    assert made.symmetry
    assert is_alike(made)


@pytest.mark.parametrize("name", UNLIKE)
def test_what_is_not_shown_is_searched_without_symmetry(name: str, machine: Elaborating) -> None:
    effect, why = UNLIKE[name]
    made = machine(SYSTEM.format(effect=indented(effect)))
    assert not made.symmetry
    assert [item.code for item in made.unlike] == ["Y330"]
    (problem,) = made.unlike
    assert why in problem.message
    assert "row acts" in problem.message
    assert problem.span.line > 1
    assert problem in made.warnings


@pytest.mark.parametrize("name", ["the last one", "the first one", "numbers"])
def test_some_of_that_depends_on_names_indeed(name: str, machine: Elaborating) -> None:
    made = machine(SYSTEM.format(effect=indented(UNLIKE[name][0])))
    assert len(orbit(made, reachable(made, 2)[1])) > 1
    assert not is_alike(made)


def test_an_instance_that_insists_is_refused(wrong: Refusing) -> None:
    text = SYSTEM.format(effect=indented(UNLIKE["the last one"][0]))
    (problem,) = wrong(text + "instances:\n  default: {symmetry: true}\n")
    assert problem.code == "Y330"
    assert "this loop" in problem.message
