"""Goal: what can be claimed of infinite runs: for each id, in formulas, within the bounds."""

import io
from pathlib import Path

import pytest
from systems import outcomes, run

from checker.errors import SpecificationError
from checker.report.headline import headline, loop_text
from checker.report.markdown import report
from checker.report.result import Result
from checker.report.summary import summary
from checker.report.terminal import console, print_result

LAMPS = """\
constants:
  Lamp: {ids: [left, right]}
variables:
  lit: {type: bool, per: Lamp, initial: "false"}
  broken: {type: bool, per: Lamp, initial: "false"}
initial:
  for: {worn: bool}
  do: broken[right] = worn
rows:
  - row: light
    for: {x: Lamp}
    when: not lit[x] and not broken[x]
    do: lit[x] = true
    fair: weak
  - row: dim
    for: {x: Lamp}
    when: lit[x] and x == left
    do: lit[x] = false
    fair: weak
terminal: ["true"]
properties:
"""


def claims(tmp_path: Path, *lines: str, rest: str = "") -> Result:
    return run(tmp_path, LAMPS + "".join(map(block, lines)) + rest)


def block(claim: str) -> str:
    """Return a property, written `name; key: value; ...`, as YAML."""
    name, *keys = claim.split("; ")
    return f"  {name}:\n" + "".join(f"    {key}\n" for key in (*keys, "why: it matters."))


def test_a_property_is_judged_for_each_value_and_the_trace_names_which(tmp_path: Path) -> None:
    result = claims(
        tmp_path,
        "shines; for: {x: Lamp}; eventually: lit[x]",
        "seen; for: {x: Lamp, y: '{left}'}; sometimes: lit[x] and not lit[y]",
        "sound; for: {x: Lamp}; always: not broken[x]",
    )
    assert outcomes(result) == {
        "shines(left)": "unknown",
        "shines(right)": "unknown",
        "seen(left, left)": "unknown",
        "seen(right, left)": "unknown",
        "sound": "violated",
        "deadlock": "unknown",
    }
    (trace,) = result.failures
    assert ("x", "right") in [pair for reason in trace.reasons for pair in reason.bindings]
    judged = claims(
        tmp_path,
        "shines; for: {x: Lamp}; eventually: lit[x]",
        "seen; for: {x: Lamp, y: '{x, left}'}; sometimes: lit[x] and not lit[y]",
    )
    assert outcomes(judged) == {
        "shines(left)": "holds",
        "shines(right)": "violated",
        "seen(left, left)": "unwitnessed",
        "seen(right, left)": "witnessed",
        "seen(right, right)": "unwitnessed",
        "deadlock": "holds",
    }


def test_an_instance_names_a_property_without_its_values(tmp_path: Path) -> None:
    rest = "instances:\n  default:\n    properties: [shines]\n"
    rest += "    expect: {verdict: violated, property: shines, length: 2}\n"
    result = claims(tmp_path, "shines; for: {x: Lamp}; eventually: lit[x]", rest=rest)
    expected = result.machine.expectation
    assert expected is not None
    from checker.verdict.expectation import differences  # noqa: PLC0415

    assert differences(expected, result.verdict, result.exploration) == ()


def test_formulas_and_the_names_of_the_common_ones(tmp_path: Path) -> None:
    result = claims(
        tmp_path,
        "flashes; always_eventually: lit[left]",
        "rests; eventually_always: lit[left]",
        "stays; eventually_always: implies(not broken[right], lit[right])",
        "shines; eventually: lit[right]; initially: not broken[right]",
        "answers; leads_to: {from: 'lit[left]', to: 'lit[right]'}; initially: broken[right]",
        "blinks; ltl: always(eventually(lit[left]) and eventually(not lit[left]))",
        "first; ltl: until(not lit[right], lit[left])",
        "waits; ltl: implies(eventually(lit[right]), always(not broken[right]))",
        "kept; ltl: always(implies(lit[right], always(lit[right])))",
    )
    assert outcomes(result) == {
        "flashes": "holds",
        "rests": "violated",
        "stays": "holds",
        "shines": "holds",
        "answers": "violated",
        "blinks": "holds",
        "first": "violated",
        "waits": "holds",
        "kept": "holds",
        "deadlock": "holds",
    }
    assert result.verdict.exit_code == 13
    texts = {trace.property_name: loop_text(trace)[0] for trace in result.failures}
    assert texts["rests"].startswith("false again and again")
    assert texts["first"] == "this run does not satisfy the formula"


COUNTING = """\
variables:
  n: {type: "0..9", initial: "0"}
rows:
  - row: up
    when: n < 9
    do: n += 1
    fair: weak
  - row: down
    when: n > 0
    do: n -= 1
  - row: reset
    when: n >= 3
    do: n = 0
    fair: strong
bounds: [n <= 4]
properties:
"""


def test_what_is_cut_of_runs_that_are_not_spoken_of_says_nothing(tmp_path: Path) -> None:
    text = """\
variables:
  calm: {type: bool, initial: "true"}
  n: {type: 0..5, initial: "0"}
initial:
  for: {still: bool}
  do: calm = still
rows:
  - {row: rise, when: not calm and n < 5, do: n += 1}
  - {row: turn, when: calm, do: n = 1 - n, fair: weak}
bounds: [n <= 3]
properties:
  leads: {leads_to: {from: n != 1, to: n == 1}, initially: calm, why: w.}
  again: {always_eventually: n == 1, initially: calm, why: w.}
  formula: {ltl: always(eventually(n == 1)), initially: calm, why: w.}
  all_runs: {leads_to: {from: n == 2, to: n == 1}, initially: not calm, why: w.}
  wild: {leads_to: {from: n == 3, to: n == 2}, why: it stays at 3.}
"""
    found = outcomes(run(tmp_path, text))
    wanted = {"leads": "holds", "again": "holds", "formula": "holds"}
    assert {name: found[name] for name in wanted} == wanted
    assert found["all_runs"] == found["wild"] == "violated"
    # The same where they begin beyond the bounds, but of runs that are spoken of.
    beyond = run(tmp_path, text.replace("n <= 3", "calm"))
    found = outcomes(beyond)
    assert {name: found[name] for name in wanted} == wanted
    other = run(
        tmp_path, text.replace("n <= 3", "calm").replace("initially: calm", "initially: not calm")
    )
    assert {outcomes(other)[name] for name in wanted} == {"unknown"}


def test_runs_within_the_bounds_can_be_asked_for(tmp_path: Path) -> None:
    text = COUNTING + "  comes: {leads_to: {from: n >= 3, to: n < 3}, WITHIN why: w.}\n"
    text += "  begins: {ltl: always(eventually(n < 3)), WITHIN why: w.}\n"
    plain = run(tmp_path, text.replace("WITHIN", ""))
    assert outcomes(plain)["comes"] == outcomes(plain)["begins"] == "unknown"
    within = run(tmp_path, text.replace("WITHIN", "within_bounds: true,"))
    assert outcomes(within)["comes"] == outcomes(within)["begins"] == "holds"
    line = headline(within.machine, within.exploration, within.verdict)
    assert line.startswith("holds: comes, begins of the runs that stay within the bounds, ")
    properties = summary(within, {})["properties"]
    assert isinstance(properties, list)
    assert [item.get("within_bounds") for item in properties] == [True, True, None]
    # Also beside what does not hold, where the headline is of that.
    told = io.StringIO()
    print_result(console(told), within)
    assert "\ncomes holds of the runs that stay within the bounds\n" in told.getvalue()
    assert "| `comes` | leads_to | holds of the runs that stay within" in report(within, {})


@pytest.mark.parametrize(
    ("property_", "code"),
    [
        ("for: {x: Lamp}; eventually: lit[y]", "N201"),
        ("for: {x: lit.keys()}; eventually: lit[x]", "Y304"),
        ("always: lit[left]; initially: lit[left]", "Y309"),
        ("sometimes: lit[left]; within_bounds: true", "Y309"),
        ("ltl: any(eventually(lit[x]) for x in Lamp)", "Y309"),
        ("ltl: until(lit[left])", "N208"),
        ("ltl: eventually(next(lit[left]))", "Y309"),
        ("eventually: always(lit[left])", "N201"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, property_: str, code: str) -> None:
    with pytest.raises(SpecificationError) as raised:
        claims(tmp_path, f"claim; {property_}")
    assert [item.code for item in raised.value.diagnostics] == [code]


def test_an_operator_of_formulas_is_no_definition_as_well(tmp_path: Path) -> None:
    definitions = "definitions:\n  until(a, b): a and not b\n"
    with pytest.raises(SpecificationError) as raised:
        claims(tmp_path, "claim; ltl: until(lit[left], lit[right])", rest=definitions)
    assert [item.code for item in raised.value.diagnostics] == ["N203"]


@pytest.mark.parametrize("steps", [0, 1])
def test_a_condition_that_cannot_be_evaluated_among_orbits_has_a_real_run(
    steps: int, tmp_path: Path
) -> None:
    text = f"""\
constants:
  Guest: {{ids: 2, prefix: g, symmetric: true}}
variables:
  inside: {{type: set of Guest, initial: "empty"}}
rows:
  - row: come
    for: {{g: Guest}}
    when: g not in inside
    do: inside.add(g)
terminal: [len(inside) == 2]
properties:
  served: {{for: {{g: Guest}}, leads_to: {{from: 1 // (len(inside) - {steps}) > 0, to: g in inside}}, why: w.}}
instances:
  default: {{symmetry: true}}
"""  # noqa: E501
    result = run(tmp_path, text)
    assert result.verdict.exit_code == 75
    assert result.verdict.error is not None
    assert result.verdict.error.depth == steps
    assert len(result.verdict.error.path) == steps + 1


@pytest.mark.parametrize(
    ("formula", "verdict"),
    [
        ("always(true)", "holds"),
        ("always(false)", "violated"),
        ("until(true, false)", "violated"),
        ("eventually(always(false))", "violated"),
        ("always(eventually(true))", "holds"),
    ],
)
def test_a_formula_without_conditions_is_judged_all_the_same(
    formula: str, verdict: str, tmp_path: Path
) -> None:
    result = claims(tmp_path, f"said; ltl: {formula}")
    assert outcomes(result)["said"] == verdict


@pytest.mark.parametrize("in_rows", [True, False])
def test_nothing_is_known_of_where_a_step_leads_that_runs_out_of_ids(
    tmp_path: Path, in_rows: bool
) -> None:
    """Whatever is claimed of endless runs might be owed there, as where a bound cut the step."""
    draw = "drawn.add(fresh(Ticket))"
    text = f"""\
constants:
  Ticket: {{ids: 1, prefix: t}}
variables:
  drawn: {{type: set of Ticket, initial: "{{}}"}}
  odd: {{type: bool, initial: "false"}}
initial:
  for: {{two: "{{{"false" if in_rows else "false, true"}}}"}}
  do: |
    odd = two
    {draw}
    if two:
      {draw}
rows:
  - row: {"draw" if in_rows else "rest"}
    do: {"odd = true; " + draw if in_rows else "odd = odd"}
terminal: ["true"]
properties:
  comes: {{eventually: len(drawn) == 1, initially: odd, why: w.}}
  stays: {{always_eventually: len(drawn) == 1, why: w.}}
  said: {{ltl: always(eventually(len(drawn) == 1)), why: w.}}
  follows: {{leads_to: {{from: odd, to: len(drawn) == 1}}, why: w.}}
  inside: {{always_eventually: len(drawn) == 1, within_bounds: true, why: w.}}
"""
    result = run(tmp_path, text)
    assert outcomes(result) == {
        "comes": "holds" if in_rows else "unknown",
        "stays": "unknown",
        "said": "unknown",
        "follows": "unknown",
        "inside": "holds",
        "deadlock": "holds",
    }
