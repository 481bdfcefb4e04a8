"""Goal: what a name or a value holds stays in its cell, its code span, its block."""

import re

import pytest

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


@pytest.mark.parametrize(
    ("prose", "written"),
    [
        ("``` opens a block", r"\`\`\` opens a block"),
        ("~~~", r"\~~~"),
        ("# a heading", r"\# a heading"),
        ("> said", r"\> said"),
        ("- a", r"\- a"),
        ("1. a", r"1\. a"),
        ("---", r"\---"),
        ("* *", r"\* *"),
        ("[x]: http://localhost", r"\[x]: http://localhost"),
        ("[x] done", r"\[x] done"),
        ("![x](https://localhost/p.png)", r"![x]\(https://localhost/p.png)"),
        ("of f[i](k), not `f[i](k)`", r"of f[i]\(k), not `f[i](k)`"),
        ("a lone ` before [x](y)", r"a lone \` before [x]\(y)"),
        (r"\`[x](y)`", r"\`[x]\(y)\`"),
        ("``[x](y)`", r"\`\`[x]\(y)\`"),
    ],
)
def test_prose_is_text_wherever_it_stands(prose: str, written: str) -> None:
    assert text(prose) == written
    parser = pytest.importorskip("markdown_it").MarkdownIt()
    for before in ("", "* ", "| a |\n| --- |\n| "):
        kinds = {token.type for token in parser.parse(f"b\n\n{before}{text(prose)}\n")}
        assert kinds <= {
            "paragraph_open", "inline", "paragraph_close",
            "bullet_list_open", "list_item_open", "list_item_close", "bullet_list_close",
        }  # fmt: skip
        assert not re.search("<(a|img)", parser.render(f"{before}{text(prose)}\n"))


@pytest.mark.parametrize(
    "prose", ["#1 of it", "-1 is less", "1.5 s", "a -> b", "`x` is *not* [y]", "a > b", "**bold**"]
)
def test_prose_that_means_nothing_else_stays(prose: str) -> None:
    assert text(prose) == prose
