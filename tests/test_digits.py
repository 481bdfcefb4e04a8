"""Goal: what only looks like a number is none, however long it is."""

import pytest

from checker.digits import natural


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("007", 7),
        ("9" * 18, 10**18 - 1),
        ("9" * 19, None),
        ("9" * 5000, None),
        ("", None),
        ("-1", None),
        ("1_0", None),
        (" 1", None),
        ("²", None),
        ("٣", None),
    ],
)
def test_only_ascii_digits_are_a_number(text: str, number: int | None) -> None:
    assert natural(text) == number


def test_as_many_digits_as_are_asked_for() -> None:
    assert (natural("123", 3), natural("1234", 3)) == (123, None)
