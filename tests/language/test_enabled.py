"""Goal: `enabled` says just what a row's coverage says, `closure` and `assert` what they mean."""

from pathlib import Path

import pytest
from systems import outcomes, run

from checker import flow
from checker.errors import SpecificationError
from checker.flow import machine_of
from checker.machine import terms as t
from checker.machine.machine import Binding
from checker.machine.walk import walk

QUEUE = """\
constants:
  Client: {ids: 2, symmetric: true}
messages:
  Ask: {who: Client, size: 0..2}
channels:
  wire: {carries: [Ask], order: bag, capacity: "2", when_full: drop}
faults:
  crash: {budget: "1"}
variables:
  waiting: {type: bool, per: Client, initial: "false"}
  left: {type: 0..2, per: Client, initial: "2"}
  served: {type: 0..4, initial: "0"}
rows:
  - row: ask
    for: {c: Client, n: "0..2"}
    let: {more: "left[c] - 1"}
    when: not waiting[c] and left[c] > 0 and n == more
    do: |
      waiting[c] = true
      left[c] = more
      send(wire, Ask(c, n))
  - row: answer
    on: Ask(who, size)
    when: waiting[who] and size <= served + 2
    do: |
      waiting[who] = false
      served += 1
  - row: gives_up
    for: {c: Client}
    when: waiting[c] and not enabled(answer, who=c)
    do: waiting[c] = false
  - {row: loses, fault: crash, for: {x: wire}, do: wire.remove(x)}
  - {row: never, when: served > 9, do: pass}
terminal: ["not enabled(ask) and not enabled(answer)"]
properties:
  answer_is_its_guard:
    always: >-
      all(enabled(answer, who=c) == (waiting[c] and any(x.who == c and x.size <= served + 2
      for x in wire)) for c in Client)
    why: the two say the same.
  any_is_some:
    always: enabled(ask) == any(enabled(ask, c=c) for c in Client)
    why: without a binding it is of some.
  by_both:
    always: >-
      all(enabled(ask, n=k, c=c) == (not waiting[c] and k >= 0 and left[c] == k + 1)
      for c in Client for k in range(-1, 4))
    why: numbers that no binding has are never enabled.
  budgets_count:
    always: enabled(loses) == (budget.crash > 0 and len(wire) > 0)
    why: a fault without a budget cannot happen.
  what_ran_could:
    step: implies(ran(answer), enabled(answer)) and implies(ran(gives_up), enabled(gives_up))
    why: only what is enabled runs.
  in_the_next_state:
    step: implies(ran(ask) and len(wire) < 2, next(enabled(answer)))
    why: what was asked can be answered.
  left_out: {always: not enabled(never), why: nothing is served so often.}
"""


def test_enabled_is_what_stands_before_the_effects(tmp_path: Path) -> None:
    found = run(tmp_path, QUEUE)
    broken = {name for name, outcome in outcomes(found).items() if outcome == "violated"}
    assert not broken
    assert found.exploration.exhaustive
    assert found.exploration.distinct > 20


def test_enabled_agrees_with_coverage(tmp_path: Path) -> None:
    rows = {row.row: row.enabled for row in run(tmp_path, QUEUE).exploration.rows}
    for name in ("ask", "answer", "gives_up", "loses", "never"):
        counted = QUEUE + f"  asked: {{sometimes: enabled({name}), why: it is asked.}}\n"
        seen = outcomes(run(tmp_path, counted))["asked"]
        assert (seen == "witnessed") == (rows[name] > 0)


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ("{row: a, when: enabled(a), do: pass}", "N220"),
        ("{row: a, when: enabled(nothing), do: pass}", "N201"),
        ("{row: a, when: 'enabled(b, y=1)', do: pass}", "N208"),
        ("{row: a, when: 'enabled(b, x)', do: pass}", "N208"),
        ("{row: a, when: enabled(asks), do: pass}", "Y309"),
        ("{row: a, when: enabled(c), do: pass}\n  - {row: c, when: enabled(a), do: pass}", "N220"),
    ],
)
def test_what_cannot_be_asked_is_refused(row: str, code: str, tmp_path: Path) -> None:
    path = tmp_path / "system.yaml"
    path.write_text(
        "system: probe\nabout: A guard.\nvariables:\n  n: {type: 0..2, initial: '0'}\nrows:\n"
        "  - {row: b, for: {x: 0..2}, when: x > n, do: n = x}\n"
        f"  - {{row: asks, do: 'require(n > 1)'}}\n  - {row}\n"
    )
    with pytest.raises(SpecificationError) as caught:
        flow.machine_of(str(path), "default", {})
    assert code in {item.code for item in caught.value.diagnostics}


RELATION = """\
constants:
  Node: {ids: [n1, n2, n3, n4, n5]}
variables:
  partial: {type: map of Node to set of Node, initial: "{}"}
  whole: {type: total map of Node to set of Node, initial: "{n: empty for n in Node}"}
rows:
  - row: grows
    for: {a: Node, b: Node}
    when: a not in partial and sum(len(partial[n]) for n in partial) < 3
    do: |
      partial[a] = {b}
      whole[a].add(b)
properties:
  reaches_by_way:
    always: >-
      all(closure(partial)[a] == partial[a] | {z for y in partial[a] if y in partial
      for z in closure(partial)[y]} for a in partial)
    why: it is closed.
  same_of_both:
    always: all(closure(whole)[a] == (closure(partial)[a] if a in partial else empty) for a in Node)
    why: an absent key leads nowhere.
  round:
    sometimes: any(a in closure(whole)[a] and a not in whole[a] for a in Node)
    why: there are circles.
  far:
    sometimes: any(len(closure(whole)[a]) == 3 for a in Node)
    why: ways are long.
deadlock: false
"""


def test_a_closure_is_closed_and_reaches_what_a_way_leads_to(tmp_path: Path) -> None:
    found = outcomes(run(tmp_path, RELATION))
    assert set(found.values()) <= {"holds", "witnessed"}


ASSERTED = """\
variables:
  n: {type: 0..3, initial: "0"}
rows:
  - row: rises
    when: n < 3
    do: |
      n += 1
      assert n < LIMIT
deadlock: false
"""


def test_an_assertion_that_is_false_is_an_evaluation_error_with_its_row(tmp_path: Path) -> None:
    fine = run(tmp_path, ASSERTED.replace("LIMIT", "4"))
    assert fine.verdict.overall == "holds"
    wrong = run(tmp_path, ASSERTED.replace("LIMIT", "2"))
    assert wrong.verdict.exit_code == 75
    failure = wrong.traces[0].failure
    assert failure is not None
    assert (failure.code, failure.row, wrong.traces[0].length) == ("E510", "rises", 2)


LOOPING = """\
constants:
  Guest: {ids: 2, symmetric: true}
variables:
  inside: {type: set of Guest, initial: empty}
  level: {type: 0..2, per: Guest, initial: "0"}
rows:
  - row: joins
    for: {c: Guest}
    when: len(inside) == 0
    do: inside.add(c)
  - row: other
    for: {c: Guest}
    when: c in inside
    do: pass
  - row: sets
    for: {c: Guest}
    do: |
      for m in Guest:
          if enabled(other, c=m):
              level[c] = 1
          else:
              level[c] = 2
deadlock: false
properties:
  last:
    always: not (len(inside) == 1 and any(level[k] == 1 for k in Guest))
    why: the last wins.
"""


def test_names_of_the_row_that_is_asked_for_are_not_those_of_the_row_that_asks(
    tmp_path: Path,
) -> None:
    """`c` of `other` is the id of a round, `c` of `sets` is not: the last round wins."""
    result = run(tmp_path, LOOPING, keep_going=True)
    assert not result.machine.symmetry
    assert any("may depend on the order of ids" in item.message for item in result.machine.unlike)
    assert outcomes(result) == {"last": "violated"}


SHADOWING = """\
constants:
  Guest: {ids: 2, symmetric: true}
variables:
  level: {type: 0..1, per: Guest, initial: "0"}
  count: {type: 0..3, initial: "0"}
  first: {type: optional Guest, initial: none}
procedures:
  put(n): count = n + 0
rows:
  - row: lifts
    for: {k: Guest}
    when: first is none
    do: |
      level[k] = 1
      first = k
  - row: takes
    when: count == 0
    do: |
      for m in Guest:
          for count in {level[m]}:
              put(count)
deadlock: false
properties:
  none_counts: {always: count == 0, why: the last wins.}
"""


def test_a_name_that_a_variable_has_too_is_not_taken_for_the_variable(tmp_path: Path) -> None:
    result = run(tmp_path, SHADOWING, keep_going=True)
    assert not result.machine.symmetry
    assert outcomes(result) == {"none_counts": "violated"}


ASKING = (
    "classic_consumer", "composed", "consumer_group_migration", "controller_failover",
    "isr_in_one_step", "share_partition",
)  # fmt: skip


@pytest.mark.parametrize("system", ASKING)
def test_a_name_is_given_to_one_value_in_a_row_or_property(system: str) -> None:
    for part in machine_of(system, "default", {}).parts:
        given: dict[str, set[int]] = {}
        for node in walk(part):
            if isinstance(node, t.Let | t.Generator | t.Pick | t.Fresh | t.For | Binding):
                given.setdefault(node.name, set()).add(id(node))
        assert all(len(nodes) == 1 for nodes in given.values()), given
