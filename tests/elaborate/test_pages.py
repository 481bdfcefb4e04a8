"""Goal: the pages of elaboration's codes are true: the wrong is wrong so, the mended is clean."""

import ast
import re
from pathlib import Path

import pytest

import checker.elaborate
from checker.diagnostics import CODES
from checker.elaborate import elaborate
from checker.errors import Diagnostic, SpecificationError
from checker.library import explanation
from checker.table import read

TABLES = {"L401", "L402"}
OWN = sorted(code for code in CODES if (code[0] in "NYL" and code not in TABLES) or code == "R601")


def page(code: str) -> str:
    text = explanation(code)
    assert text is not None, f"docs/errors/{code}.md is missing"
    return text


def diagnostics(path: Path) -> tuple[Diagnostic, ...]:
    try:
        return elaborate(read(path)).warnings
    except SpecificationError as failure:
        return failure.diagnostics


@pytest.mark.parametrize("code", OWN)
def test_the_page_has_the_title_of_the_code(code: str) -> None:
    assert page(code).startswith(f"# {code}: {CODES[code]}\n\n")


@pytest.mark.parametrize("code", OWN)
def test_the_wrong_example_is_wrong_so_and_the_mended_one_clean(folder: Path, code: str) -> None:
    wrong, mended = re.findall(r"```yaml\n(.*?)```", page(code), flags=re.DOTALL)
    path = folder / "system.yaml"
    path.write_text(wrong)
    found = diagnostics(path)
    assert {error.code for error in found} == {code}
    severity = "warning" if code.startswith("L") else "error"
    assert all(error.severity == severity for error in found)
    path.write_text(mended)
    assert diagnostics(path) == ()


def test_every_code_that_elaboration_raises_is_listed() -> None:
    raised: set[str] = set()
    for module in Path(checker.elaborate.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(module.read_text())):
            if isinstance(node, ast.Constant) and re.fullmatch(r"[A-Z]\d{3}", str(node.value)):
                raised.add(str(node.value))
    assert raised == set(OWN)
