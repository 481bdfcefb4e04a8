"""Goal: effects do what the language reference says, one step at a time."""

import pytest
from houses import Elaborating, Refusing
from walking import walk

HOUSE = """
constants:
  Person: {ids: 3, symmetric: true}
  Room: {ids: [kitchen, cellar]}
  broken: false
types:
  Point: {fields: {x: 0..9, y: 0..9}}
machines:
  light: {table: lamp}
variables:
  n: {type: 0..9, initial: "2"}
  who: {type: optional Person, initial: none}
  near: {type: set of Person, initial: empty}
  some: {type: set of 0..9, initial: "{1, 2}"}
  names: {type: map of Room to 0..9, initial: "{kitchen: 1}"}
  queue: {type: sequence of 0..9 up to 3, initial: "[4, 5]"}
  hand: {type: bag of 0..9 up to 3, initial: "[7]"}
  bits: {type: set of 0..1, initial: "{0, 1}"}
  lists: {type: set of sequence of 0..1 up to 1, initial: "{[0]}"}
  point: {type: Point, initial: "Point(1, 2)"}
  last: {type: optional 0..9, initial: none}
  done: {type: bool, initial: "false"}
definitions:
  twice(k): k * 2
procedures:
  raise_to(k): |
    if n >= k:
        return
    n = k
  swap(a, b): |
    point.x = b
    point.y = a
  taken_from(s): |
    n = s.pop(0)
    n += len(s)
  halve(k): |
    k = k // 2
    n = k
rows:
  - row: acts
    when: not done
    do: |
      done = true
EFFECTS
"""


def effects(text: str) -> str:
    lines = "\n".join(f"      {line}" for line in text.strip("\n").splitlines())
    return HOUSE.replace("EFFECTS", lines)


CASES = {
    "n += 3": ("n", {"5"}),
    "k = 4 if n == 2 else none\nlast = k": ("last", {"4"}),
    "k = n\nk = k + 1\nn = k": ("n", {"3"}),
    "k = 0\nfor i in range(3):\n    k += i\nn = k": ("n", {"3"}),
    "k = 0\nfor i in range(3):\n    for j in range(2):\n        k += 1\nn = k": ("n", {"6"}),
    "for i in some:\n    if i == 2:\n        break\n    n = i": ("n", {"1"}),
    "if n == 3:\n    k = 1\nelif n == 2:\n    k = 7\nelse:\n    k = 3\nn = k": ("n", {"7"}),
    "if broken:\n    n = 9\nelse:\n    n = 8": ("n", {"8"}),
    "some.add(9)\nsome.discard(1)\nsome.discard(70)\nsome.remove(2)\nn = len(some)": ("n", {"1"}),
    "some |= {3}\nsome -= {1}\nsome &= {2, 3}\nn = sum(some)": ("n", {"5"}),
    "some.clear()\nn = len(some)": ("n", {"0"}),
    "s = empty\ns.add(3)\ns.add(n)\nn = len(s)": ("n", {"2"}),
    "names[cellar] = 5\nn = names[cellar]\ndel names[kitchen]\nn += len(names)": ("n", {"6"}),
    "queue.append(6)\nn = queue[2]": ("n", {"6"}),
    "q = [0]\nfor i in {1, 7}:\n    q.append(i)\nn = q[1] + q[2]": ("n", {"8"}),
    "queue.pop(0)\nn = queue[0]": ("n", {"5"}),
    "k = queue.pop()\nn = k + len(queue)": ("n", {"6"}),
    "queue[0] = 9\nqueue[-1] = 8\nn = queue[1]": ("n", {"8"}),
    "queue.clear()\nn = len(queue)": ("n", {"0"}),
    "hand.add(7)\nhand.add(3)\nhand.remove(7)\nn = hand.count(7) + len(hand)": ("n", {"3"}),
    "point.x = 5\nn = point.x + point.y": ("n", {"7"}),
    "swap(point.x, point.y)\nn = point.x": ("n", {"2"}),
    "raise_to(1)\nraise_to(twice(3))\nn += 1": ("n", {"7"}),
    "taken_from(queue)\nn += len(queue)": ("n", {"7"}),
    "halve(8)\nhalve(n + 2)": ("n", {"3"}),
    "n = 5\nreturn\nn = 6": ("n", {"5"}),
    "n = pick(some)": ("n", {"1", "2"}),
    "n = pick(k * 2 for k in some if k > 1)": ("n", {"4"}),
    "raise_to(pick(k for k in range(9) if k > 6))": ("n", {"7", "8"}),
    "near.add(pick(Person))\nn = len(near)": ("n", {"1"}),
    "who = fresh(Person)\nnear.add(fresh(Person))\nn = len(near - {who})": ("n", {"1"}),
    "n = 7\nreject()": ("n", {"2"}),
    "k = none\nif n == 2:\n    k = n\nif k is not none:\n    n = k + 1": ("n", {"3"}),
    "light = On\nlight = Broken\nn = 1 if light == Broken else 0": ("n", {"1"}),
    "n = len([0] + [k for k in some])": ("n", {"3"}),
    "k = [0] if done and n == 3 else [i for i in range(5)]\nn = len(k)": ("n", {"5"}),
    "n = len({[0], [k for k in bits]})": ("n", {"2"}),
    "k = [0]\nif n == 2:\n    k = [i for i in some]\nn = len(k)": ("n", {"2"}),
    "k = {0: 0}\nif n == 2:\n    k = {i: i + 2 for i in some}\nn = k[2]": ("n", {"4"}),
    "s = {[0]}\ns.add([k for k in bits])\nn = len(s)": ("n", {"2"}),
    "s = {[0]}\ns.discard([k for k in bits])\nn = len(s)": ("n", {"1"}),
    "s = {[0]}\ns -= {[k for k in bits]}\nn = len(s)": ("n", {"1"}),
    "lists = lists - {[k for k in bits]}\nn = len(lists)": ("n", {"1"}),
    "lists &= {[k for k in bits], [0]}\nn = len(lists)": ("n", {"1"}),
    "lists = lists ^ {[k for k in bits]} & {[0]}\nn = len(lists)": ("n", {"1"}),
    "lists = {least([k for k in range(i)] for i in range(1, 3))}\nn = len(lists)": ("n", {"1"}),
    "n = len(least((k for k in lists if k != k), default=[k for k in bits]))": ("n", {"2"}),
    "create(light, On)\nrestore(light, Off)\nn = 1": ("n", {"1"}),
}


@pytest.mark.parametrize("text", CASES)
def test_what_effects_do(machine: Elaborating, text: str) -> None:
    found = walk(machine(effects(text)))
    variable, expected = CASES[text]
    after = {str(state[variable]) for state in found.states[1:]} or {str(found.states[0][variable])}
    assert after == expected
    assert found.errors == set()
    assert not any(step.illegal for step in found.steps)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("n = n + 9", "E501"),
        ("n = n - 3", "E501"),
        ("some.remove(9)", "E505"),
        ("del names[cellar]", "E505"),
        ("n = names[cellar]", "E505"),
        ("queue.append(1)\nqueue.append(2)", "E501"),
        ("queue.clear()\nqueue.pop(0)", "E506"),
        ("n = queue[n]", "E506"),
        ("near.add(who)", "E502"),
        ("n = 4 // (n - 2)", "E503"),
        ("n = min(k for k in some if k > 5)", "E507"),
        ("n = pick(k for k in some if k > 5)", "E508"),
        ("n = pick(Point(k, 7 // k) for k in range(3)).x", "E503"),
        ("queue = [0] + [k for k in range(4)]", "E501"),
    ],
)
def test_what_goes_wrong_in_a_step(machine: Elaborating, text: str, code: str) -> None:
    assert walk(machine(effects(text))).errors == {("acts", code)}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("n = k", "N201"),
        ("if n == 2:\n    k = 1\nn = k", "N201"),
        ("for i in some:\n    k = i\nn = k", "N201"),
        ("for i in some:\n    pass\nn = i", "N201"),
        ("for i in some:\n    i = 3", "N205"),
        ("broken = true", "N203"),
        ("Point = 3", "N203"),
        ("n = kitchen", "Y301"),
        ("n = 12", "Y301"),
        ("last = 12", "Y301"),
        ("last = 12 if done else none", "Y301"),
        ("last = twice(6) if true else none", "Y301"),
        ("some.add(12)", "Y301"),
        ("n.add(1)", "Y303"),
        ("some.append(1)", "Y303"),
        ("hand.discard(1)", "Y303"),
        ("del queue[0]", "Y320"),
        ("twice(3)", "N205"),
        ("n = swap(1, 2)", "N205"),
        ("swap(1)", "N208"),
        ("light = Green", "N201"),
        ("create(n, 1)", "Y320"),
        ("k = 1\nk = kitchen", "Y303"),
        ("n = 1 if done else pick(some)", "Y309"),
        ("n = names.get(kitchen, pick(some))", "Y309"),
        ("n = min((k for k in some), default=pick(some))", "Y309"),
        ("n = least((k for k in some), by=pick(some))", "Y309"),
        ("n = fresh(Point)", "N205"),
        ("n = fresh(Room)", "Y301"),
        ("send(n)", "N206"),
        ("reject(n)", "Y309"),
        ("who = person1", "Y330"),
        ("teleport()", "N201"),
    ],
)
def test_what_is_wrong_says_so(wrong: Refusing, text: str, code: str) -> None:
    assert [error.code for error in wrong(effects(text))] == [code]


def test_picks_are_named_by_what_they_are_assigned_to(machine: Elaborating) -> None:
    found = walk(machine(effects("n = pick(some)\nk = pick({3})\nsome.add(k)")))
    assert {name for step in found.steps for name, _ in step.picks} == {"n", "k"}


def test_an_illegal_move_is_marked(machine: Elaborating) -> None:
    found = walk(machine(effects("light = Broken\nlight = On")))
    moves = [move for step in found.steps for move in step.illegal]
    assert [(move.origin, move.target, move.kind) for move in moves] == [
        ("Broken", "On", "transition")
    ]


TIMED = """
timers:
  alarm: {about: One, captures: {near: sequence of 0..9 up to 1}}
messages:
  Told: {near: sequence of 0..9 up to 1}
channels:
  post: {carries: [Told], order: bag, capacity: "1"}
variables:
  some: {type: set of 0..9, initial: "{1, 2}"}
rows:
  - {row: arms, when: not armed(alarm), do: "arm(alarm([7]))"}
  - {row: told, when: len(post) == 0, send: "Told([7])"}
  - {row: cancels, do: "cancel(alarm([k for k in some]))"}
  - {row: takes, on: "Told([k for k in some])", do: pass}
  - {row: expires, on: alarm.expired, when: "armed(alarm([k for k in some]))", do: pass}
"""


def test_what_is_looked_for_need_not_fit_what_it_is_compared_with(machine: Elaborating) -> None:
    found = walk(machine(TIMED))
    assert (found.errors, len(found.states)) == (set(), 4)


@pytest.mark.parametrize(
    ("variable", "values"),
    [
        ('lamp: {type: set of 2..3, initial: "{2, 3}"}', {"None", "2", "3"}),
        ("lamp: {type: 0..3, initial: '0'}", {"None", "Off", "On", "Broken"}),
    ],
)
def test_a_binding_over_the_name_of_a_table_runs_over_what_has_values_first(
    machine: Elaborating, variable: str, values: set[str]
) -> None:
    kind = "2..3" if "2" in values else "lamp"
    text = f"""
machines:
  light: {{table: lamp}}
variables:
  {variable}
  seen: {{type: optional {kind}, initial: none}}
rows:
  - {{row: looks, for: {{x: lamp}}, do: seen = x}}
"""
    assert walk(machine(text)).values("seen") == values
