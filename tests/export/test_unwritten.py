"""Goal: what a TLA+ module would not say is refused with its place; common claims are written."""

from pathlib import Path

import pytest

from checker.elaborate import elaborate
from checker.errors import SpecificationError
from checker.export.module import Module, module_of
from checker.table import read

TEXT = """\
system: turning
about: A wheel.
variables:
  n: {type: "0..2", initial: "0"}
rows:
  - row: turn
    do: n = (n + 1) % 3
    fair: weak
"""


def exported(tmp_path: Path, more: str) -> Module:
    path = tmp_path / "turning.yaml"
    path.write_text(TEXT + more)
    machine = elaborate(read(path))
    return module_of(machine, machine.name)


@pytest.mark.parametrize(
    ("more", "line"),
    [
        ("bounds: [next(n) != n]\n", 9),
        ("properties:\n  p: {ltl: 'until(n == 0, n == 1)', why: w.}\n", 10),
    ],
)
def test_what_has_no_form_is_refused_with_its_place(tmp_path: Path, more: str, line: int) -> None:
    with pytest.raises(SpecificationError) as raised:
        exported(tmp_path, more)
    (problem,) = raised.value.diagnostics
    assert (problem.code, problem.span.line) == ("X703", line)


def test_claims_that_have_a_form_are_written(tmp_path: Path) -> None:
    more = "properties:\n  a: {always_eventually: n == 1, why: w.}\n"
    more += "  b: {eventually_always: n != 1, why: w.}\n"
    text = exported(tmp_path, more).text
    assert "a == []<>(n = 1)" in text
    assert "b == <>[](n # 1)" in text


def test_promises_to_rows_together_are_written(tmp_path: Path) -> None:
    more = "  - {row: leap, for: {k: 0..2, m: 0..1}, when: k > n, do: n = k}\n"
    more += "fair_groups:\n  a: {rows: all, fair: weak}\n"
    more += "  b: {rows: [leap], per: [k], fair: strong}\n"
    text = exported(tmp_path, more + "properties:\n  p: {eventually: n == 1, why: w.}\n").text
    leap = "\\E k \\in 0..2 : \\E m \\in 0..1 : leap(k, m)"
    one = leap.replace("0..2", "(0..2) \\cap {the_k}")
    spec = text[text.index("Spec ==") :].partition("\n\n")[0]
    assert spec.splitlines()[3:] == [
        "  /\\ WF_vars(turn)",
        f"  /\\ WF_vars((turn) \\/ ({leap}))",
        f"  /\\ \\A the_k \\in 0..2 : SF_vars({one})",
    ]


def test_formulas_and_claims_of_some_runs_are_written(tmp_path: Path) -> None:
    formula = "implies(always(eventually(n == 1)), eventually(always(n < 2)))"
    more = f"properties:\n  a: {{ltl: '{formula}', why: w.}}\n"
    more += "  b: {eventually: n == 1, initially: n == 0, why: w.}\n"
    text = exported(tmp_path, more).text
    assert "a == (<>([](~(n = 1))) \\/ <>([]((n < 2))))" in text
    assert "b == (n = 0) => (<>(n = 1))" in text
