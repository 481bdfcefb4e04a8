"""Goal: a `step` property can ask which row made a step, with which bindings."""

from pathlib import Path

import pytest
from systems import outcomes, run

from checker.errors import SpecificationError

GIVING = """\
constants:
  Client: {ids: 2, symmetric: SYMMETRIC}
  late: false
variables:
  holder: {type: optional Client, initial: none}
rows:
  - row: take
    for: {c: Client}
    when: holder is none
    do: holder = c
  - row: give
    for: {c: Client, d: Client}
    when: holder == c
    do: holder = d
  - row: drop
    only_if: late
    do: holder = none
"""

ASKED = """\
properties:
  takes_own: {step: "all(implies(ran(take, c=c), next(holder) == c) for c in Client)", why: w.}
  takes_free: {step: "implies(ran(take), holder is none)", why: w.}
  gives_away: {step: "all(implies(ran(give, c=c), next(holder) != c) for c in Client)", why: w.}
  only_give: {step: "implies(holder is not none, ran(give))", why: w.}
  never_drops: {step: "not ran(drop)", why: w.}
"""


@pytest.mark.parametrize("symmetric", ["true", "false"])
def test_rows_are_told_by_name_and_bindings(tmp_path: Path, symmetric: str) -> None:
    text = GIVING.replace("SYMMETRIC", symmetric) + ASKED
    result = run(tmp_path, text, keep_going=True)
    assert outcomes(result) == {
        "takes_own": "holds",
        "takes_free": "holds",
        "gives_away": "violated",
        "only_give": "holds",
        "never_drops": "holds",
        "deadlock": "holds",
    }
    (trace,) = result.failures
    assert trace.steps[-1].row == "give"
    assert dict(trace.steps[-1].bindings)["c"] == dict(trace.steps[-1].bindings)["d"]
    late = run(tmp_path, text, keep_going=True, late=True)
    assert outcomes(late)["never_drops"] == outcomes(late)["only_give"] == "violated"


def test_the_step_that_is_shown_is_of_the_row_that_broke_it(tmp_path: Path) -> None:
    """Two rows lead from one state to the same other: the first breaks nothing."""
    text = """\
variables:
  n: {type: "0..1", initial: "0"}
rows:
  - row: allowed
    do: n = 1
  - row: forbidden
    for: {by: "0..2"}
    when: by > 0
    do: n = 1
properties:
  not_by_two: {step: "not ran(forbidden, by=2)", why: it may not.}
"""
    result = run(tmp_path, text)
    (trace,) = result.failures
    assert (trace.steps[-1].row, trace.steps[-1].bindings) == ("forbidden", (("by", 2),))
    assert (result.exploration.distinct, result.exploration.generated) == (2, 4)


@pytest.mark.parametrize(
    ("property_", "code", "help_"),
    [
        ("{always: ran(take)}", "Y309", None),
        ("{step: next(ran(take))}", "Y309", None),
        ("{step: ran(tike)}", "N201", "did you mean `take`?"),
        ('{step: "ran(take, d=holder)"}', "N208", None),
        ("{step: ran()}", "N208", None),
        ('{step: "ran(take, c=3)"}', "Y301", None),
    ],
)
def test_what_is_wrong_is_said(
    tmp_path: Path, property_: str, code: str, help_: str | None
) -> None:
    text = GIVING.replace("SYMMETRIC", "false")
    text += f"properties:\n  asked: {property_[:-1]}, why: w.}}\n"
    with pytest.raises(SpecificationError) as raised:
        run(tmp_path, text)
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.code == code
    assert help_ is None or diagnostic.help == help_


KEYED = """\
constants:
  B: {ids: 2, prefix: b}
messages:
  M: {}
channels:
  ch: {carries: [M], order: bag, capacity: "1", when_full: drop, per: [B, B]}
variables:
  n: {type: 0..1, initial: "0"}
rows:
  - row: sends
    for: {x: B, y: B}
    do: send(ch[x, y], M())
  - row: takes
    on: "TRIGGER"
    do: n = 0 if b == b1 else 1
fair_groups:
  taking: {rows: [takes], per: [b], fair: weak}
  sending: {rows: [sends], per: [x, y], fair: weak}
properties:
  told:
    step: implies(ran(takes, b=b1), next(n) == 0)
    why: b is what the row calls so.
  told_too:
    step: implies(ran(takes, b=b2), next(n) == 1)
    why: b is what the row calls so.
  turns: {always_eventually: n == 1, why: that of b2 is taken too.}
"""


@pytest.mark.parametrize("trigger", ["ch[b, _].M()", "ch[_, b].M()", "ch[b, c].M()"])
def test_a_key_without_a_name_is_not_called_as_one_that_has_it(
    tmp_path: Path, trigger: str
) -> None:
    result = run(tmp_path, KEYED.replace("TRIGGER", trigger))
    assert set(outcomes(result).values()) == {"holds"}


def test_keys_that_nobody_named_are_not_told_apart(tmp_path: Path) -> None:
    text = KEYED.replace("TRIGGER", "ch[_, _].M()")
    with pytest.raises(SpecificationError) as raised:
        run(tmp_path, text.replace("n = 0 if b == b1 else 1", "n = 1 - n"))
    assert [item.code for item in raised.value.diagnostics] == ["N204", "N204", "N204"]
    assert all("name the keys" in (item.help or "") for item in raised.value.diagnostics)


def test_a_binding_that_cannot_be_what_is_asked_for_is_no_error(tmp_path: Path) -> None:
    """None, or a number out of its range, is another value than the binding's, as with `==`."""
    text = """\
variables:
  free: {type: "0..3", initial: "0"}
  last: {type: "optional 0..3", initial: none}
rows:
  - row: sets
    for: {a: "0..3"}
    do: |
      free = a
      last = a
  - row: takes
    for: {b: "optional 0..1", c: "0..1"}
    when: free > 0 and b != none
    do: |
      free = 0
      last = none
properties:
  not_free: {step: "not ran(takes, b=free)", why: w.}
  not_last: {step: "not ran(takes, c=last)", why: w.}
  far: {always: "not (free > 1 and enabled(takes, b=free))", why: w.}
  nothing: {always: "implies(enabled(takes, c=last), last in {0, 1})", why: w.}
"""
    result = run(tmp_path, text, keep_going=True)
    assert outcomes(result) == {
        "not_free": "violated",
        "not_last": "violated",
        "far": "holds",
        "nothing": "holds",
        "deadlock": "holds",
    }
