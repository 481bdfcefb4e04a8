"""Goal: small specifications whose verdict, counts or errors once depended on the engine.

Each is run with the local engine and with the reference interpreter; all that a user is told must
be the same, and be what stands here.
"""

from pathlib import Path

import pytest

from checker import flow
from checker.report.result import Result

HEAD = "system: small\nabout: A small system.\nconstants:\n  K: {ids: [k1, k2]}\n"

FIELDS_OF_ONE_NAME = """\
messages:
  A: {f: "0..3"}
  B: {f: bool}
channels:
  q: {carries: [A, B], order: fifo, capacity: "2"}
variables:
  n: {type: 0..3, initial: "0"}
rows:
  - {row: send_a, when: n < 2, do: n += 1, send: A(n)}
  - {row: send_b, when: n < 3, do: n += 1, send: B(n == 1)}
  - {row: take_a, on: q.A(f), do: n = f}
  - {row: take_no, on: q.B(false), do: n = 0}
  - {row: take_yes, on: q.B(true), do: n = 3}
"""

BOUND_WITHOUT_VALUE = """\
variables:
  n: {type: 0..3, initial: "1"}
  m: {type: map of K to 0..3, initial: empty}
rows:
  - {row: up, when: n < 2, do: n += 1}
bounds:
  - m[k1] < 3
"""

BOUND_WITHOUT_VALUE_IN_ONE = (
    BOUND_WITHOUT_VALUE
    + """\
initial:
  for:
    i: 0..3
  do: |
    n = i
    if i < 3:
        m[k1] = i
"""
)

ERROR_OF_LIVENESS = """\
variables:
  n: {type: 0..9, initial: "1"}
  m: {type: map of K to 0..9, initial: "{k1: 1}"}
rows:
  - {row: up, when: n < 9, do: n += 1}
  - {row: forget, when: n == 3, do: "del m[k1]"}
properties:
  ends: {eventually: "m[k1] == 9", why: it is tested}
  small: {always: "n != 4", why: it is tested}
"""

ERROR_IN_TERMINAL = """\
variables:
  n: {type: 0..3, initial: "0"}
  m: {type: map of K to 0..9, initial: empty}
rows:
  - {row: up, when: n < 2, do: n += 1}
terminal:
  - m[k1] == 1
"""

REPLACED_FIELD = """\
messages:
  A: {f: "0..1"}
  B: {f: "0..3"}
variables:
  n: {type: 0..3, initial: "0"}
  m: {type: A or B, initial: "B(0)"}
rows:
  - {row: up, when: n < 3, do: n += 1}
  - {row: change, when: n > 0 and m is B, do: "m = replace(m, f=n)"}
  - {row: turn, do: "m = A(1)"}
  - {row: change_a, when: m is A and n == 3, do: "m = replace(m, f=n)"}
"""

CASES = {
    "fields of one name": (FIELDS_OF_ONE_NAME, 11, "violated", 15, None),
    "bound without value": (BOUND_WITHOUT_VALUE, 75, "inconclusive", 0, "E505"),
    "bound without value in one": (BOUND_WITHOUT_VALUE_IN_ONE, 75, "inconclusive", 3, "E505"),
    "error of liveness": (ERROR_OF_LIVENESS, 75, "inconclusive", 5, "E505"),
    "error in terminal": (ERROR_IN_TERMINAL, 75, "inconclusive", 3, "E505"),
    "replaced field": (REPLACED_FIELD, 75, "inconclusive", 14, "E501"),
}


def run(path: Path, engine: str) -> Result:
    return flow.check(flow.Request(str(path), engine=engine), flow.Silent())


@pytest.mark.parametrize("name", CASES)
def test_engines_say_the_same(tmp_path: Path, name: str) -> None:
    text, code, overall, distinct, error = CASES[name]
    path = tmp_path / "system.yaml"
    path.write_text(HEAD + text)
    local, reference = run(path, "local"), run(path, "reference")
    assert local.verdict == reference.verdict
    assert local.traces == reference.traces
    assert local.exploration.rows == reference.exploration.rows
    assert (local.verdict.exit_code, local.verdict.overall) == (code, overall)
    assert local.exploration.distinct == reference.exploration.distinct == distinct
    failures = [trace.failure.code for trace in local.traces if trace.failure is not None]
    assert failures == ([error] if error else [])


LETS = """\
types:
  Phase: one of early, late
variables:
  phase: {type: Phase, initial: early}
  n: {type: 0..3, initial: "0"}
  m: {type: map of K to 0..3, initial: empty}
rows:
  - {row: up, when: n < 2, do: n += 1}
  - row: look
    in: {phase: INSIDE}
    let:
      one: m[k1]
      two: one + 1
    when: WHEN
    do: EFFECTS
"""


@pytest.mark.parametrize(
    ("inside", "when", "effects", "fails"),
    [
        ("early", "true", "pass", True),  # nothing uses it
        ("early", "true", "n = two", True),  # only the effects use it
        ("early", "false", "n = two", True),  # before `when`
        ("early", "two == 1", "pass", True),
        ("late", "two == 1", "n = two", False),  # after `in`
    ],
)
def test_every_let_is_evaluated_between_in_and_when(
    tmp_path: Path, inside: str, when: str, effects: str, *, fails: bool
) -> None:
    path = tmp_path / "system.yaml"
    text = LETS.replace("INSIDE", inside).replace("WHEN", f'"{when}"').replace("EFFECTS", effects)
    path.write_text(HEAD + text)
    local, reference = run(path, "local"), run(path, "reference")
    assert local.verdict == reference.verdict
    assert local.traces == reference.traces
    assert (local.exploration.stopped_by == "evaluation_error") == fails
    assert [one.failure.code for one in local.traces if one.failure] == ["E505"] * fails
