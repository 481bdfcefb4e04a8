"""Goal: text from outside can neither command a terminal nor hide what stands beside it."""

import json
import os
import unicodedata

import pytest

from checker.visible import json_text, visible, visible_line


def test_what_acts_or_hides_is_an_escape() -> None:
    told = "\x1b]0;x\x07\x1b[31m \x9b \x7f \u202eabc\u2066 \u2028 \ufeff \ud800 a\rb"
    assert visible(told) == (
        r"\x1b]0;x\x07\x1b[31m \x9b \x7f \u202eabc\u2066 \u2028 \ufeff \ud800 a\x0db"
    )


def test_nothing_else_changes_and_nothing_changes_twice() -> None:
    told = "灯 é 👩\u200d🚒\n\tand so on"
    assert visible(told) == told
    every = "".join(map(chr, range(0x30000)))
    shown = visible(every)
    assert visible(shown) == shown
    assert {c for c in shown if unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"}} == {"\n", "\t"}


def test_a_line_stays_one() -> None:
    assert visible_line("a\nreplay: rm\x1b") == r"a\nreplay: rm\x1b"


@pytest.mark.parametrize("plain", [False, True])
def test_json_has_no_halves_of_pairs_which_few_readers_take(plain: bool) -> None:
    data = {os.fsdecode(b"caf\xe9"): "\\ud800 \U0001f692", "n": [1.5, None]}
    text = json_text(data, plain=plain)
    assert json.loads(text) == {r"caf\udce9": "\\ud800 \U0001f692", "n": [1.5, None]}
    assert text.isascii() == plain
    assert json_text({"a": [1]}, dense=True) == '{"a":[1]}'
    every = "".join(map(chr, range(0x11000)))
    assert json.loads(json_text(every, plain=plain)) == json.loads(json_text(every))
    assert json_text(every.encode("utf-8", "ignore").decode(), plain=True).isascii()
