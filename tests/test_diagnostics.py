"""Goal: a rendered diagnostic shows the place, fits a terminal, and cannot command it."""

import pytest

from checker.diagnostics import CODES, WIDTH, render, render_all
from checker.errors import Diagnostic
from checker.source import NOWHERE, Source, Span

SOURCE = Source(
    "house.yaml", "system: s\nwhen: a + lamb\nabout: 灯灯 lamb\n" + "x" * 300 + " lamb " + "y" * 300
)


def diagnostic(line: int, column: int, end: int, **more: str) -> Diagnostic:
    return Diagnostic("T113", "no such lamp", Span(SOURCE, line, column, line, end), **more)  # type: ignore[arg-type]


def test_everything_is_shown() -> None:
    shown = render(
        diagnostic(2, 11, 15, expected="lamp", found="lamb", help="did you mean `lamp`?")
    )
    assert shown == (
        "house.yaml:2:11: error[T113]: no such lamp\n"
        "   |\n"
        " 2 | when: a + lamb\n"
        "   |           ^^^^\n"
        "   = expected: lamp\n"
        "   = found: lamb\n"
        "   = help: did you mean `lamp`?"
    )


def test_warnings_say_so() -> None:
    assert ": warning[T113]: " in render(diagnostic(2, 11, 15, severity="warning"))


def test_carets_stand_below_wide_letters() -> None:
    lines = render(diagnostic(3, 11, 15)).splitlines()
    assert lines[2].index("lamb") + 2 == lines[3].index("^")
    assert lines[3].count("^") == 4


def test_long_lines_are_cut_around_the_carets() -> None:
    lines = render(diagnostic(4, 302, 306, help="word " * 60)).splitlines()
    assert all(len(line) <= WIDTH for line in lines)
    at = lines[3].index("^")
    assert lines[2][at : at + 4] == "lamb"


def test_a_span_over_lines_is_marked_to_the_end_of_the_first() -> None:
    shown = render(Diagnostic("T113", "m", Span(SOURCE, 2, 7, 3, 4))).splitlines()
    assert shown[3].count("^") == len("a + lamb")


@pytest.mark.parametrize(("line", "column"), [(1, 10), (2, 500), (9, 1), (5, 1)])
def test_places_beyond_the_text_are_bearable(line: int, column: int) -> None:
    assert render(diagnostic(line, column, column)).startswith(f"house.yaml:{line}:{column}: ")


def test_what_no_user_wrote_has_no_place() -> None:
    assert render(Diagnostic("T113", "m", NOWHERE)) == "error[T113]: m"


def test_colours_are_added_around_the_plain_text() -> None:
    plain = render(diagnostic(2, 11, 15, help="h"))
    colored = render(diagnostic(2, 11, 15, help="h"), color=True)
    assert "\x1b[" not in plain
    for style in ("\x1b[31m", "\x1b[1m", "\x1b[34m", "\x1b[33m", "\x1b[0m"):
        colored = colored.replace(style, "")
    assert colored == plain


def test_sources_cannot_command_the_terminal() -> None:
    source = Source("a\x1b[2J.yaml", "x\x1b[31m\u202e\x07")
    shown = render(
        Diagnostic("T102", "\x1b]0;m", Span(source, 1, 1, 1, 2), found="\x9b", help="\x00")
    )
    assert not any(ord(letter) < 32 and letter != "\n" for letter in shown)
    assert "\u202e" not in shown
    assert "\x9b" not in shown


def test_several_are_parted_by_a_blank_line() -> None:
    assert render_all([diagnostic(2, 11, 15)] * 2).count("\n\n") == 1


def test_titles_are_one_line() -> None:
    for code, title in CODES.items():
        assert code[0] in "TNYLERCX"
        assert code[1:].isdecimal()
        assert title
        assert "\n" not in title
