"""Goal: the pages of the reader's codes are true: the wrong is wrong so, the mended is clean."""

import ast
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import checker.table
from checker.diagnostics import CODES
from checker.errors import Diagnostic, SpecificationError
from checker.library import explanation
from checker.source import SIZE_MAX
from checker.table import read, read_table
from checker.table.analysis import lint_table

BYTES: dict[str, Callable[[Path], object]] = {
    "T100": lambda _: None,
    "T101": lambda path: path.write_bytes(b"system: \xff\n"),
    "T106": lambda path: path.write_bytes(b"#" * (SIZE_MAX + 1)),
}
OWN = sorted(code for code in CODES if code.startswith("T") or code in ("L401", "L402"))


def page(code: str) -> str:
    text = explanation(code)
    assert text is not None, f"docs/errors/{code}.md is missing"
    return text


def examples(code: str) -> list[str]:
    return re.findall(r"```yaml\n(.*?)```", page(code), flags=re.DOTALL)


def diagnostics(path: Path) -> tuple[Diagnostic, ...]:
    """Return the errors and warnings of a file, a table if it begins like one."""
    try:
        if path.is_file() and path.read_bytes().startswith(b"table:") and path.stem == "door":
            return lint_table(read_table(path))
        return read(path).warnings
    except SpecificationError as failure:
        return failure.diagnostics


@pytest.mark.parametrize("code", OWN)
def test_the_page_has_the_title_of_the_code(code: str) -> None:
    assert page(code).startswith(f"# {code}: {CODES[code]}\n\n")


@pytest.mark.parametrize("code", [code for code in OWN if code not in BYTES])
def test_the_wrong_example_is_wrong_so_and_the_mended_one_clean(
    folder: Path, lamp: str, code: str
) -> None:
    (folder / "lamp_old.yaml").write_text(lamp)
    wrong, mended = examples(code)
    table = wrong.startswith("table:") and code != "T107"
    path = folder / ("door.yaml" if table else "system.yaml")
    path.write_text(wrong)
    found = diagnostics(path)
    assert {error.code for error in found} == {code}
    severity = "warning" if code.startswith("L") else "error"
    assert all(error.severity == severity for error in found)
    path.write_text(mended)
    assert diagnostics(path) == ()


@pytest.mark.parametrize("code", BYTES)
def test_what_no_text_can_show(tmp_path: Path, code: str) -> None:
    BYTES[code](tmp_path / "system.yaml")
    assert [error.code for error in diagnostics(tmp_path / "system.yaml")] == [code]


def test_every_code_that_the_reader_raises_is_listed() -> None:
    raised: set[str] = set()
    for module in Path(checker.table.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(module.read_text())):
            if isinstance(node, ast.Constant) and re.fullmatch(r"[A-Z]\d{3}", str(node.value)):
                raised.add(str(node.value))
    assert raised == set(OWN)
