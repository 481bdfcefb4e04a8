"""Goal: constants that are data, names in definitions, and picks inside expressions."""

from pathlib import Path

import pytest
from systems import outcomes, run

from checker.errors import SpecificationError, UsageError
from checker.verdict import exits

VOTING = """\
constants:
  Node: {ids: [a, b, c]}
  quorums:
    type: set of set of Node
    value: "{{a, b}, {b, c}, {a, c}}"
  next_node:
    type: total map of Node to Node
    value: "{a: b, b: c, c: a}"
  weights:
    type: map of Node to 0..3
    value: "{n: 1 if n == a else 2 for n in Node}"
  order: {type: sequence of Node up to 3, value: "[c, a]"}
assume:
  - all(len(q & r) > 0 for q in quorums for r in quorums)
variables:
  votes: {type: set of Node, initial: empty}
  at: {type: Node, initial: "order[0]"}
definitions:
  heavy(n):
    let:
      weight: weights[n]
      double: weight * 2
    is: double > 3 and weight + double > 5
rows:
  - row: vote
    when: at not in votes
    do: |
      votes.add(at)
      at = next_node[at]
terminal: ["true"]
properties:
  decided: {sometimes: votes in quorums, why: w.}
  heavy_ones: {always: "all((n != a) == heavy(n) for n in Node)", why: w.}
  first: {always: "implies(a in votes, c in votes)", why: w.}
instances:
  default: {}
  lone:
    set: {quorums: "{{a}, {a, b}}", order: "[a]"}
"""


def test_sets_maps_and_tables_are_constants(tmp_path: Path) -> None:
    result = run(tmp_path, VOTING)
    assert set(outcomes(result).values()) == {"witnessed", "holds"}
    assert (result.exploration.distinct, result.exploration.depth) == (4, 3)
    constants = dict(result.machine.constants)
    assert constants["next_node"] == "{a: b, b: c, c: a}"


ROUTE = """\
constants:
  Node: {ids: [a, b]}
  top: 2
  roles:
    type: total map of Node to Role
    value: "{a: leader, b: follower}"
  place: {type: Point, value: "Point(1, y=2)"}
  route: {type: sequence of Point up to 3, value: "[Point(0, 0), place]"}
types:
  Role: one of leader, follower
  Level: 0..top
  Point: {fields: {x: Level, y: Level}}
variables:
  at: {type: Point, initial: place}
  led_by: {type: optional Node, initial: none}
rows:
  - row: goes
    for: {n: Node, p: route}
    when: roles[n] == leader
    do: |
      at = p
      led_by = n
properties:
  on_the_route:
    always: any(at == p for p in route)
    why: it goes nowhere else.
  one_leads:
    always: led_by is none or led_by == b and len({n for n in Node if roles[n] == leader}) == 1
    why: of b it is false where a leads.
"""


def test_data_is_of_named_types_too(tmp_path: Path) -> None:
    as_declared = run(tmp_path, ROUTE)
    assert as_declared.exploration.distinct == 3
    assert outcomes(as_declared)["one_leads"] == "violated"
    replaced = run(tmp_path, ROUTE, roles="{a: follower, b: leader}", route="[place]")
    assert outcomes(replaced) == dict.fromkeys(("on_the_route", "one_leads", "deadlock"), "holds")


def test_a_type_of_data_knows_the_constants_above_it(tmp_path: Path) -> None:
    text = ROUTE.replace("  top: 2\n", "").replace("types:\n", "  top: 2\ntypes:\n")
    with pytest.raises(SpecificationError) as caught:
        run(tmp_path, text)
    assert caught.value.diagnostics[0].code == "N201"
    assert caught.value.diagnostics[0].message == "`top` is declared further down"


def test_instances_and_settings_replace_them(tmp_path: Path) -> None:
    lone = run(tmp_path, VOTING, "lone")
    assert outcomes(lone)["first"] == "violated"
    assert outcomes(lone)["decided"] == "witnessed"
    given = run(tmp_path, VOTING, order="[a]", quorums="{{a, b, c}}", keep_going=True)
    assert {item.name: item.length for item in given.verdict.properties}["decided"] == 3


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("quorums", "{a}"),
        ("quorums", "{{a, d}}"),
        ("quorums", "{{a}"),
        ("next_node", "{a: b}"),
        ("order", "[a, b, c, a]"),
        ("order", 3),
    ],
)
def test_what_replaces_a_constant_is_held_to_its_type(
    tmp_path: Path, name: str, value: str | int
) -> None:
    with pytest.raises(UsageError, match=f"`{name}` cannot be "):
        run(tmp_path, VOTING, **{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("{ids: [a, b, c]}", "{ids: 3, symmetric: true}", "Y330"),
        ('value: "[c, a]"', 'value: "[at]"', "Y304"),
        ('value: "{a: b, b: c, c: a}"', 'value: "{a: b, b: c}"', "Y301"),
        ("weights[n]\n", "weights[m]\n", "N201"),
        ('"{{a}, {a, b}}"', '"{{a}, {d}}"', "N201"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, old: str, new: str, code: str) -> None:
    assert old in VOTING
    text = VOTING.replace(old, new)
    with pytest.raises(SpecificationError) as raised:
        run(tmp_path, text, "lone" if "d}" in new else "default")
    assert code in {item.code for item in raised.value.diagnostics}


PICKING = """\
constants:
  Ball: {ids: 3, symmetric: true}
variables:
  left: {type: set of Ball, initial: "{x for x in Ball}"}
  pairs: {type: "0..9", initial: "0"}
rows:
  - row: draw
    do: DRAW
terminal: [len(left) == 0]
"""


def test_a_pick_stands_inside_an_expression(tmp_path: Path) -> None:
    text = PICKING.replace("DRAW", "left = left - {pick_if_any(x for x in left)}")
    result = run(tmp_path, text)
    assert result.verdict.overall == "holds"
    assert (result.exploration.distinct, result.exploration.depth) == (4, 3)
    two = "left = left - {pick_if_any(left)} - {pick_if_any(y for y in left)}"
    apart = run(tmp_path, PICKING.replace("DRAW", two))
    assert apart.exploration.generated > result.exploration.generated


def test_an_empty_pick_is_an_error_unless_it_disables(tmp_path: Path) -> None:
    result = run(tmp_path, PICKING.replace("DRAW", "left = left - {pick(left)}"))
    assert (result.verdict.overall, result.verdict.exit_code) == ("inconclusive", 75)


@pytest.mark.parametrize(
    ("effect", "code"),
    [
        ("pairs = 1 if len(left) > 5 and len({pick(left)}) == 1 else 0", "Y309"),
        ("pairs = pick_if_any(left, left)", "N208"),
        ("pairs = len({pick(left) for x in left})", "Y309"),
    ],
)
def test_picks_stand_where_they_are_made_in_any_case(
    tmp_path: Path, effect: str, code: str
) -> None:
    with pytest.raises(SpecificationError) as raised:
        run(tmp_path, PICKING.replace("DRAW", effect))
    assert code in {item.code for item in raised.value.diagnostics}


@pytest.mark.parametrize("kind", ["set of 0..1", "map of 0..1 to 0..1", "sequence of 0..1 up to 2"])
def test_what_is_cleared_must_be_there(tmp_path: Path, kind: str) -> None:
    text = f"""\
variables:
  m: {{type: "map of 0..2 to {kind}", initial: "{{0: empty}}"}}
rows:
  - row: clears
    for: {{key: 0..1}}
    do: m[key].clear()
properties:
  grown: {{sometimes: 1 in m, why: "no key comes of clearing."}}
"""
    result = run(tmp_path, text)
    assert result.verdict.exit_code == 75
    assert result.verdict.error is not None
    assert outcomes(result)["grown"] == "unknown"


@pytest.mark.parametrize(
    ("kind", "many"),
    [("sequence of bool up to 2", 7), ("bag of bool up to 2", 6), ("optional Pair", 50)],
)
def test_all_values_are_counted_and_not_their_codes(tmp_path: Path, kind: str, many: int) -> None:
    text = f"""\
types:
  Pair: {{fields: {{a: sequence of bool up to 2, b: sequence of bool up to 2}}}}
  Key: {kind}
variables:
  m: {{type: "total map of Key to bool", initial: "{{k: false for k in Key}}"}}
rows:
  - row: sets
    for: {{k: Key}}
    when: len(m) == {many} and len(Key) == {many} and not any(m[x] for x in Key)
    do: m[k] = true
terminal: ["any(m[x] for x in Key)"]
"""
    result = run(tmp_path, text)
    assert (result.verdict.overall, result.exploration.distinct) == ("holds", 1 + many)


WIDER = """\
variables:
  v: {type: 0..3, initial: "0"}
  numbers: {type: map of bool to 1..3, initial: empty}
  sets: {type: map of bool to (set of 1..3), initial: empty}
  maps: {type: map of bool to (map of 1..3 to bool), initial: empty}
rows:
  - {row: turn, do: v = (v + 1) % 4}
properties:
  number: {always: "numbers.get(true, v) == v", why: nothing is stored.}
  set: {always: "len(sets.get(true, {v})) == 1", why: nothing is stored.}
  map: {always: "len(maps.get(true, {v: true})) == 1", why: nothing is stored.}
"""


def test_what_stands_for_an_absent_value_need_not_fit_its_place(tmp_path: Path) -> None:
    told = outcomes(run(tmp_path, WIDER))
    assert told == dict.fromkeys(("number", "set", "map", "deadlock"), "holds")


MANY = """\
variables:
  n: {type: 0..80, initial: "0"}
rows:
  - row: sums
    when: n == 0
    do: |
      for i in range(70):
          n += pick({1})
deadlock: false
properties:
  seventy: {sometimes: n == 70, why: each round picks the one that there is.}
"""


def test_an_execution_makes_as_many_picks_as_its_loops_allow(tmp_path: Path) -> None:
    assert outcomes(run(tmp_path, MANY)) == {"seventy": "witnessed"}
    nested = MANY.replace("n += pick({1})", "for j in range(70): n += pick({1})")
    with pytest.raises(SpecificationError) as raised:
        run(tmp_path, nested)
    assert [item.code for item in raised.value.diagnostics] == ["Y311"]


HOLDING = """\
constants:
  Key: {ids: 1}
variables:
  n: {type: 0..3, initial: "0"}
  held: {type: map of Key to optional 0..1, initial: "{key1: none}"}
rows:
  - {row: counts, when: n < 3, do: n += 1}
  - row: compares
    for: {x: 0..1}
    when: GUARD
    do: held[key1] = x
deadlock: false
properties:
  less: {step: "not (CONDITION and n == 1 and n == 2)", why: it has to have a value.}
"""


@pytest.mark.parametrize("there", ["key1 in held", "any(k == key1 for k in held)"])
def test_a_key_that_is_there_may_hold_nothing(tmp_path: Path, there: str) -> None:
    asked = f"{there} and held[key1] < 1"
    failing = HOLDING.replace("CONDITION", asked).replace("GUARD", "'false'")
    result = run(tmp_path, failing)
    assert result.verdict.exit_code == exits.EVALUATION
    behind = HOLDING.replace("CONDITION", "n > 3").replace("GUARD", f"x == n and not ({asked})")
    behind = behind.replace('0..3, initial: "0"', '0..3, initial: "3"')
    assert run(tmp_path, behind).verdict.exit_code == exits.HOLDS


LARGE = """\
types:
  Pair: {fields: {a: set of 0..2999, b: set of 0..2999}}
variables:
  n: {type: 0..2, initial: "0"}
  r: {type: Pair, initial: "Pair(empty, empty)"}
  z: {type: Pair, initial: "Pair(empty, empty)"}
rows:
  - {row: looks, when: n == 0, do: n = 1 if r == z else 2}
  - {row: adds, do: r.b.add(5)}
deadlock: false
properties:
  same: {always: n != 2, why: until something is added.}
"""


def test_what_changes_a_part_of_a_large_record_is_seen_by_who_looks_at_all_of_it(
    tmp_path: Path,
) -> None:
    result = run(tmp_path, LARGE, keep_going=True)
    assert result.exploration.distinct == 5
    assert outcomes(result) == {"same": "violated"}


COMPARED = """\
constants:
  Room: {ids: [kitchen, cellar]}
types:
  Level: one of low, high
variables:
  n: {type: 0..3, initial: "2"}
  q: {type: sequence of 0..1 up to 2, initial: "[1]"}
  counted: {type: bag of 0..1 up to 2, initial: "[1, 1]"}
  lists: {type: sequence of sequence of 0..1 up to 2 up to 2, initial: "[[1]]"}
  m: {type: map of 0..1 to optional 0..3, initial: "{0: none, 1: 2}"}
  one: {type: optional map of 0..1 to 0..1, initial: "{0: 1}"}
  all_rooms: {type: total map of Room to 0..1, initial: "{r: 0 for r in Room}"}
  maps: {type: map of 0..1 to map of 0..1 to 0..1, initial: "{0: {1: 1}}"}
  wide: {type: map of 0..3 to optional 0..3, initial: "{2: none}"}
  levels: {type: sequence of optional Level up to 2, initial: "[low]"}
rows:
  - row: step
    when: n > 0
    do: |
      n = n - 1
      wide = m if n == 5 else {n + 1: none}
terminal: [n == 0]
properties:
  displays: {always: "{n + 5: none} != m and [n, n, n] not in lists", why: w.}
  comprehensions:
    why: w.
    always: >-
      [k for k in range(4)] not in lists
      and {k: k for k in range(4)} != one
  options: {always: "one != {k + 3: none for k in range(1)} and one == {0: 1}", why: w.}
  chains:
    why: w.
    always: >-
      not (q == [k + 4 for k in range(3)] == q)
      and q == [k + 1 for k in range(1)] == q
  defaults: {always: "maps.get(1, {n + 7: 9}) == {n + 7: 9} and maps.get(0, {}) == {1: 1}", why: w.}
  default_maps: {always: "maps.get(1, {k: k for k in range(5)}) != maps.get(0, {})", why: w.}
  counts: {always: "lists.count([n + 3, 4]) == 0 and lists.count([1]) == 1", why: w.}
  counted_lists:
    why: w.
    always: >-
      lists.count([k for k in range(4)]) == 0
      and lists.count(empty) == 0
  nothing:
    why: w.
    always: >-
      counted.count(none) == 0
      and counted.count(1) == 2 and levels.count(none) == 0
  total:
    why: w.
    always: >-
      all_rooms == {r: 0 for r in Room}
      and all_rooms != {kitchen: 0, cellar: 5}
  of_a_choice:
    why: w.
    always: >-
      n + 2 not in (empty if n > 0 else q) and q == (q if n <= 3 else empty)
      and n not in (counted if n > 3 else empty)
  of_a_choice_that_is_certain:
    why: w.
    always: >-
      (2 if n >= 0 else none) in range(0, 3) and (2 if n >= 0 else none) not in q
      and ({0: 1} if n >= 0 else none) in {one} and (1 if n >= 0 else none) in m
  assigned: {always: "n == 2 or wide == {n + 1: none}", why: w.}
"""


def test_what_is_only_compared_may_be_what_could_not_be_stored(tmp_path: Path) -> None:
    result = run(tmp_path, COMPARED)
    assert set(outcomes(result).values()) == {"holds"}
    assert result.verdict.exit_code == exits.HOLDS


WIDEST = """\
constants:
  most: MOST
variables:
  a: {type: "-most..most", initial: most}
  b: {type: "-most..most", initial: -most}
rows:
  - {row: turn, when: a > 0, do: a = -a}
deadlock: false
properties:
  some_is_not_less: {always: "max(a * b * k for k in range(-1, 2)) > 0", why: w.}
  some_is_not_more: {always: "min(a * b * k for k in range(-1, 2)) < 0", why: w.}
"""


def test_the_widest_numbers_are_compared(tmp_path: Path) -> None:
    result = run(tmp_path, WIDEST.replace("MOST", "2147483647"))
    assert set(outcomes(result).values()) == {"holds"}
    with pytest.raises(SpecificationError) as caught:
        run(tmp_path, WIDEST.replace("MOST", "2147483648"))
    assert {item.code for item in caught.value.diagnostics} == {"Y307"}


DISCARDED = """\
types:
  Put: {fields: {n: 0..1}}
  Nop: {fields: {}}
constants:
  Key: {ids: [a, b]}
variables:
  kinds: {type: set of Put, initial: "{Put(1)}"}
  either: {type: Put or Nop, initial: Put(1)}
  maps: {type: set of total map of Key to 0..1, initial: "{{a: 1, b: 0}}"}
  part: {type: map of Key to 0..1, initial: "{a: 1, b: 0}"}
  whole: {type: total map of Key to 0..1, initial: "{a: 0, b: 0}"}
rows:
  - row: drops
    when: len(kinds) + len(maps) > 0
    do: |
      MORE
      kinds.discard(either)
      maps.discard(part)
      whole = part
deadlock: false
properties:
  gone: {sometimes: len(kinds) + len(maps) == 0 and whole == part, why: both were there.}
"""


def test_what_is_discarded_may_have_a_wider_type(tmp_path: Path) -> None:
    assert outcomes(run(tmp_path, DISCARDED.replace("MORE", "pass"))) == {"gone": "witnessed"}
    lacking = run(tmp_path, DISCARDED.replace("MORE", "del part[a]"))
    assert lacking.verdict.exit_code == 75


def test_a_local_called_budget_is_that_local(tmp_path: Path) -> None:
    """Also where a fault with the name of its field can never happen."""
    text = (
        "types:\n  R: {fields: {bad: 0..2}}\nfaults:\n  bad: {budget: COUNT}\n"
        'variables:\n  n: {type: 0..2, initial: "0"}\n'
        "rows:\n  - {row: sets, let: {budget: R(bad=2)}, do: n = budget.bad}\n"
        "  - {row: falls, fault: bad, when: n == 1, do: n = 0}\n"
        "deadlock: false\nproperties:\n  high: {sometimes: n == 2, why: it is set.}\n"
    )
    for count in ("'0'", "'1'"):
        assert outcomes(run(tmp_path, text.replace("COUNT", count))) == {"high": "witnessed"}
