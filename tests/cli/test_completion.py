"""Goal: the shell completes what a user would have to look up."""

import pytest
from click.shell_completion import BashComplete

from checker.cli.main import checker


def completed(*words: str) -> list[str]:
    shell = BashComplete(checker, {}, "checker", "_CHECKER_COMPLETE")
    return [item.value for item in shell.get_completions(list(words[:-1]), words[-1])]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("mut",), "mutate"),
        (("check", "two_"), "two_phase"),
        (("verify", "hour_clock", "two_"), "two_phase"),
        (("check", "two_phase", "--instance", "managers_"), "managers_7"),
        (("verify", "two_phase", "--instance", "man"), "managers_8"),
        (("check", "two_phase", "--property", "dead"), "deadlock"),
        (("check", "two_phase", "--property", "consis"), "consistent"),
        (("mutate", "two_phase", "--row", "decide_"), "decide_commit"),
        (("explain", "Y30"), "Y301"),
        (("check", "--sy"), "--symmetry"),
    ],
)
def test_names_are_completed(words: tuple[str, ...], expected: str) -> None:
    assert expected in completed(*words)


def test_what_cannot_be_read_completes_nothing() -> None:
    assert completed("check", "no_such_thing", "--instance", "") == []


def test_both_sides_of_a_comparison_are_completed() -> None:
    assert "two_phase" in completed("diff", "two_")
    assert "two_phase" in completed("diff", "hour_clock", "two_")
    assert "commits_early" in completed("diff", "two_phase", "--new-instance", "com")
