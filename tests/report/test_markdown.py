"""Goal: what a name or a value holds stays in its cell, its code span, its block."""

from checker.report.markdown import code, fenced, table, text


def test_a_cell_stays_one() -> None:
    rows = [(code("a|b"), text("<b>|\n# h")), (code("a\\|<b>"), "x\ny")]
    assert table(("what", "of"), rows, right=(1,)) == [
        "| what | of |",
        "| --- | ---: |",
        r"| `a\|b` | &lt;b>\| # h |",
        r"| `a\\\|<b>` | x\ny |",
        "",
    ]


def test_backticks_end_no_code() -> None:
    assert code("a") == "`a`"
    assert code("a`b") == "`` a`b ``"
    assert code("``<b>``\n") == r"``` ``<b>``\n ```"
    assert fenced("text", "a\n```\n<b>\x1b") == ["````text", "a\n```\n<b>\\x1b", "````", ""]
