"""Goal: the pages of evaluation errors are true: the wrong example fails so, the mended never."""

import re
from pathlib import Path

import pytest

from checker.diagnostics import CODES
from checker.elaborate import elaborate
from checker.errors import EvaluationError
from checker.library import explanation
from checker.machine.machine import Machine
from checker.semantics.successors import initial_states, successors
from checker.table import read


def evaluation_errors(machine: Machine) -> set[str]:
    frontier = [step.state for step in initial_states(machine) if step.state is not None]
    seen = set(frontier)
    errors: list[EvaluationError] = []
    while frontier:
        steps = successors(machine, frontier.pop())
        errors += [step.error for step in steps if step.error is not None]
        new = {step.state for step in steps if step.state is not None} - seen
        seen |= new
        frontier += new
    return {error.code for error in errors}


@pytest.mark.parametrize("code", sorted(code for code in CODES if code.startswith("E")))
def test_the_wrong_example_fails_so_and_the_mended_never(tmp_path: Path, code: str) -> None:
    page = explanation(code)
    assert page is not None
    assert page.startswith(f"# {code}: {CODES[code]}\n\n")
    wrong, mended = re.findall(r"```yaml\n(.*?)```", page, flags=re.DOTALL)
    path = tmp_path / "system.yaml"
    path.write_text(wrong)
    assert evaluation_errors(elaborate(read(path))) == {code}
    path.write_text(mended)
    assert evaluation_errors(elaborate(read(path))) == set()


@pytest.mark.parametrize("code", sorted(CODES))
def test_every_code_has_a_page(code: str) -> None:
    assert (explanation(code) or "").startswith(f"# {code}: ")
