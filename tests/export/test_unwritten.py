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
        ("fair_groups: {all_rows: {rows: all, fair: weak}}\n", 9),
        ("bounds: [next(n) != n]\n", 9),
        ("properties:\n  p: {ltl: always(eventually(n == 1)), why: w.}\n", 10),
        ("properties:\n  p: {eventually: n == 1, initially: n == 0, why: w.}\n", 10),
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
