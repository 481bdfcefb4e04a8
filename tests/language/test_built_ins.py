"""Goal: one list of the words of the language, and everything that knows words knows these.

Write the tables of docs/language.md anew:
`PYTHONPATH=tests .venv/bin/python tests/language/test_built_ins.py`.
"""

import re
from pathlib import Path

import pytest
from random_specifications.evaluation import _FUNCTIONS as CALCULATED

from checker import flow
from checker.elaborate import effects, functions
from checker.errors import SpecificationError
from checker.llvm.functions import CODE
from checker.machine.builtins import BUILT_INS, CALLED_ONLY, NAMED, RESERVED, documented, named
from checker.machine.types import Bool, Range

MANUAL = Path(__file__).parents[2] / "docs" / "language.md"
TABLES = re.compile(
    r"(<!-- built-ins: ([a-z ]+) -->\n\n).*?(\n\n<!-- end of built-ins -->)", re.DOTALL
)
PLAIN = {item.name for item in BUILT_INS if item.plain is not None}


def rewritten(text: str) -> str:
    """Return the manual with its tables of built-ins as the list has them."""
    return TABLES.sub(lambda found: found[1] + documented(*found[2].split()) + found[3], text)


def test_the_manual_has_the_tables_that_the_list_makes() -> None:
    text = MANUAL.read_text(encoding="utf-8")
    shown = [group for found in TABLES.finditer(text) for group in found[2].split()]
    assert sorted(shown) == sorted({item.group for item in BUILT_INS})
    assert rewritten(text) == text


def test_every_function_and_statement_has_one_meaning() -> None:
    assert len(NAMED) == len(BUILT_INS)
    assert set(functions._HANDLERS) | PLAIN == named("function")
    assert not set(functions._HANDLERS) & PLAIN
    assert set(effects._CALLS) == named("statement")
    assert set(CODE) == PLAIN


def test_the_independent_calculation_knows_every_function() -> None:
    assert set(CALCULATED) | {"ran", "enabled"} == named("function")


@pytest.mark.parametrize("word", sorted(RESERVED | CALLED_ONLY))
def test_nothing_that_is_called_hides_a_word(word: str, tmp_path: Path) -> None:
    path = tmp_path / "system.yaml"
    path.write_text(
        "system: probe\nabout: A name.\nvariables:\n  n: {type: 0..1, initial: '0'}\n"
        f"definitions:\n  {word}(): n == 0\nrows:\n  - {{row: turn, do: n = 1 - n}}\n"
    )
    with pytest.raises(SpecificationError) as caught:
        flow.machine_of(str(path), "default", {})
    assert [item.code for item in caught.value.diagnostics] == ["N203"]


def test_a_plain_function_has_the_type_of_its_values() -> None:
    plain = NAMED["abs"].plain
    assert plain is not None
    assert plain.result(Range(-3, 2)) == Range(0, 3)
    assert plain.result(Range(-5, -2)) == Range(2, 5)
    assert plain.result(Bool()) is None


if __name__ == "__main__":
    MANUAL.write_text(rewritten(MANUAL.read_text(encoding="utf-8")), encoding="utf-8")
