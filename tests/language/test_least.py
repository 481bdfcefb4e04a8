"""Goal: `least` chooses the first by the order of values, of any type, in every engine alike."""

from pathlib import Path

import pytest
from systems import outcomes, run

from checker import flow
from checker.errors import SpecificationError
from checker.export.module import module_of

CHOICES = """\
constants:
  Node: {ids: [a, b, c]}
types:
  Pair: {fields: {x: 0..2, y: bool}}
variables:
  pairs: {type: set of Pair, initial: empty}
  epoch: {type: 0..2, per: Node, initial: "0"}
  first: {type: optional Pair, initial: none}
  lowest: {type: Node, initial: a}
  late: {type: Node, initial: c}
  maybe: {type: optional 0..2, initial: none}
  small: {type: set of 0..2, initial: "{0}"}
deadlock: false
rows:
  - row: adds
    for: {p: Pair}
    when: len(pairs) < 3
    do: |
      pairs.add(p)
      first = least(q for q in pairs if q.y) if any(q.y for q in pairs) else least(pairs)
  - row: raises
    for: {n: Node}
    when: epoch[n] < 2
    do: |
      epoch[n] += 1
      lowest = least((k for k in Node), by=epoch[k])
      late = least((k for k in Node if epoch[k] > 0 and k != a), by=2 - epoch[k], default=c)
      maybe = least((epoch[k] if epoch[k] > 0 else none) for k in Node)
      small = least({epoch[k]} for k in Node)
properties:
  first_of_pairs:
    always: |
      implies(first is not none, all(first.x < q.x or first.x == q.x and implies(first.y, q.y)
              for q in pairs if q.y or not any(z.y for z in pairs)))
    why: records are compared by their first field, then by the next.
  lowest_epoch:
    always: all(epoch[lowest] < epoch[k] or epoch[lowest] == epoch[k] and lowest <= k for k in Node)
    why: of those with the same key it is the first.
  highest_epoch:
    always: |
      implies(epoch[b] + epoch[c] == 0, late == c)
      and implies(epoch[b] > 0 or epoch[c] > 0, late == (b if epoch[b] >= epoch[c] else c))
    why: the default counts where nothing is chosen from, and only there.
  none_is_first:
    always: |
      implies(any(epoch[k] == 0 for k in Node), maybe is none)
      and implies(all(epoch[k] > 0 for k in Node), maybe == min(epoch[k] for k in Node))
    why: none comes before every value.
  sets_too:
    always: small == {min(epoch[k] for k in Node)}
    why: of sets with one element that with the least.
"""


def test_the_least_is_the_first_in_the_order_of_values(tmp_path: Path) -> None:
    result = run(tmp_path, CHOICES)
    assert set(outcomes(result).values()) == {"holds"}
    assert result.exploration.distinct > 500


FAILS = """\
constants:
  Node: {ids: [a, b, c]}
variables:
  rank: {type: map of Node to 0..2, initial: "{a: 0, b: 1}"}
  name: {type: map of Node to 0..2, initial: "{a: 2}"}
  n: {type: 0..3, initial: "3"}
deadlock: false
rows:
  - {row: chooses, when: n == 3, do: "n = %s"}
"""


@pytest.mark.parametrize(
    ("choice", "code"),
    [
        # `by` is of all that may be chosen, also behind the least that there can be.
        ("least((0 for k in Node), by=rank[k])", "E505"),
        ("least((0 for k in Node if k in rank), by=rank[k])", None),
        ("least((0 for k in Node if k in rank), by=rank[k], default=name[c])", None),
        ("least((0 for k in Node if k not in Node), by=rank[k], default=name[c])", "E505"),
        ("least((0 for k in Node if rank[k] == 0), by=0)", "E505"),
        # What is chosen is of those only of which `by` is least.
        ("least((name[k] for k in Node if k in rank), by=rank[k])", None),
        ("least((name[k] for k in Node if k in rank), by=1 - rank[k])", "E505"),
        ("least(name[k] for k in Node if k in rank)", "E505"),
        ("min(name[k] for k in Node if k in rank)", "E505"),
    ],
)
def test_what_is_evaluated_of_those_that_are_not_chosen(
    tmp_path: Path, choice: str, code: str | None
) -> None:
    result = run(tmp_path, FAILS % choice)
    failures = [trace.failure.code for trace in result.traces if trace.failure is not None]
    assert failures == ([] if code is None else [code])
    assert (result.verdict.error is None) == (code is None)


NOTHING = """\
variables:
  numbers: {type: set of 0..2, initial: "{1}"}
  found: {type: 0..2, initial: "0"}
deadlock: false
rows:
  - {row: takes, do: "numbers.discard(found)\\nfound = least(numbers)"}
"""


def test_the_least_of_nothing_is_an_error(tmp_path: Path) -> None:
    result = run(tmp_path, NOTHING)
    failure = result.traces[0].failure
    assert failure is not None
    assert failure.code == "E507"
    assert result.traces[0].length == 2


def test_a_default_is_looked_at_only_where_nothing_is(tmp_path: Path) -> None:
    text = NOTHING.replace(
        "least(numbers)", "least((x for x in numbers), default=2 // (1 - found))"
    )
    failure = run(tmp_path, text).traces[0].failure
    assert failure is not None
    assert failure.code == "E503"


def test_a_default_may_be_none(tmp_path: Path) -> None:
    text = NOTHING.replace(
        'found: {type: 0..2, initial: "0"}', "found: {type: optional 0..2, initial: none}"
    )
    text = text.replace("numbers.discard(found)", "numbers = {2} - numbers")
    counted = []
    for operator in ("least", "min", "max"):
        changed = text.replace("least(numbers)", f"{operator}((x for x in numbers), default=none)")
        result = run(tmp_path, changed)
        assert result.verdict.error is None
        counted.append(result.exploration.distinct)
    assert counted == [3, 3, 3]


def test_a_module_for_tlc_compares_as_the_language_does(tmp_path: Path) -> None:
    result = run(tmp_path, CHOICES)
    module = module_of(result.machine, "least").text
    assert "PairBefore(v_a, v_b) ==" in module
    assert "Least({" in module


@pytest.mark.parametrize(
    ("choice", "code", "says"),
    [
        ("least(Node)", "Y330", "interchangeable"),
        ("least((n for n in Node), by=0)", "Y330", "interchangeable"),
        ("least((0 for n in Node), by=n)", "Y330", "interchangeable"),
        ("least(numbers, by=0)", "Y310", "`by` needs a name"),
        ("least((x for x in numbers), key=x)", "N208", "takes one choice"),
        ("least((x for x in numbers), by={x})", "Y303", "integers"),
        ("least(numbers, 0)", "N208", "takes one choice"),
        ("least({x} for x in range(13))", "Y306", ""),
        ("least(0)", "Y303", ""),
    ],
)
def test_what_has_no_least_is_said_where_it_stands(
    tmp_path: Path, choice: str, code: str, says: str
) -> None:
    path = tmp_path / "system.yaml"
    path.write_text(
        "system: probe\nabout: A system of a test.\nconstants:\n"
        "  Node: {ids: 2, symmetric: true}\n"
        + NOTHING.replace("found = least(numbers)", f"chosen = {choice}")
    )
    with pytest.raises(SpecificationError) as caught:
        flow.machine_of(str(path), "default", {})
    first = caught.value.diagnostics[0]
    assert (first.code, says in first.message) == (code, True)
