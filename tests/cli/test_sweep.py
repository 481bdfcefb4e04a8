"""Goal: a sweep says what each size shows, and claims no more than what was searched."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from toggling import Command

from checker.errors import UsageError
from checker.sweep import Size, measure, ranges, settled


def test_values_are_ranges_lists_and_words() -> None:
    found = ranges(("a=1..3", "b=1,4", "c=true,false", "d=Some", "e=-1..0"))
    assert found == {
        "a": [1, 2, 3],
        "b": [1, 4],
        "c": [True, False],
        "d": ["Some"],
        "e": [-1, 0],
    }


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        (("most=1,1",), "1 stands there twice"),
        (("most=01,2,1",), "01 stands there twice"),
        (("most=1,,2",), "a value is missing"),
        (("most=1..2", "most=3"), "gives `most` twice"),
        (("most=2..1",), "the range is empty"),
        (("most=1..99999999999999",), "at most 1,000 sizes"),
    ],
)
def test_no_size_is_evidence_for_itself(settings: tuple[str, ...], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        ranges(settings)


def test_all_combinations_run_and_are_told(command: Command, toggle: str) -> None:
    result = command("sweep", toggle, "--set", "most=1..3", "--set", "limited=true,false")
    assert result.code == 0
    lines = result.out.splitlines()
    assert [line.split()[:2] for line in lines[1:7]] == [
        [f"most={most}", f"limited={limited}"]
        for most in (1, 2, 3)
        for limited in ("true", "false")
    ]
    assert "violated" in lines[2]
    assert "16" in lines[5]
    assert "################" in result.out
    assert result.err.count("states") == 6


def test_figures_are_those_of_check(command: Command, toggle: str, tmp_path: Path) -> None:
    words = ("sweep", toggle, "--set", "most=2..3", "--format", "json", "--out", tmp_path / "out")
    sweep = command(*words).json
    for size in sweep["sizes"]:
        alone = command("check", toggle, "--set", f"most={size['set']['most']}", "--format", "json")
        keys = ("verdict", "distinct", "depth")
        assert [size[key] for key in keys] == [alone.json[key] for key in keys]
    text = (tmp_path / "out" / "sweep.md").read_text()
    assert "| `most=3` | 16 |" in text
    assert all((tmp_path / "out" / name).is_file() for name in re.findall(r"\]\((.*?)\)", text))
    assert (tmp_path / "out" / "index.html").read_text().count("<svg") == 2
    (claim,) = sweep["unchanged_from"]
    assert (claim["constant"], claim["value"], claim["sizes_after"]) == ("most", 2, 1)


def test_a_table_is_not_written_through_a_link(
    command: Command, toggle: str, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "sweep.json").symlink_to("../elsewhere.json")
    result = command("sweep", toggle, "--set", "most=2..3", "--out", tmp_path / "out")
    assert result.code == 2
    assert "sweep.json: a link, and nothing is written through links here" in result.err
    assert not (tmp_path / "elsewhere.json").exists()


def test_a_stopped_size_settles_nothing(command: Command, toggle: str) -> None:
    result = command("sweep", toggle, "--set", "most=2..3", "--limit-states", "5")
    assert result.code == 20
    assert "still changed something, or was not finished" in result.out
    assert "stopped: states" in result.out


def test_what_an_interrupt_left_is_told(
    command: Command, toggle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def one(*words: object) -> Size:
        if ("most", 3) in words[2]:  # type: ignore[operator]
            raise KeyboardInterrupt
        return measure(*words)  # type: ignore[arg-type]

    monkeypatch.setattr("checker.cli.sweep.measure", one)
    words = ("sweep", toggle, "--set", "most=2..4", "--property", "few", "--out", "out")
    result = command(*words)
    assert result.code == 130
    told = "2 sizes not searched (interrupted): most=3, most=4"
    assert result.out.splitlines()[-1] == told
    page = Path("out/sweep.md").read_text()
    assert page.startswith("# toggle.yaml, instance default, in 1 size\n")
    assert told in page
    assert "checker sweep toggle.yaml --property few --set most=2..4\n" in page
    assert json.loads(Path("out/sweep.json").read_text())["left"] == [{"most": 3}, {"most": 4}]


def test_a_search_that_stopped_says_nothing_of_growth(command: Command, toggle: str) -> None:
    words = ("sweep", toggle, "--set", "limited=true,false", "--property", "few")
    lines = command(*words).out.splitlines()
    assert lines[2].split()[:3] == ["limited=false", "14", "5"]  # no `0.9x` between the two
    assert lines[-3].endswith("14 and more, violated: few")


def test_liveness_that_no_memory_judges_settles_nothing(
    command: Command, toggle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = Path(toggle).read_text()
    live = "properties:\n  live: {always_eventually: on, why: w.}\n"
    Path(toggle).write_text(text.replace("properties:\n", live))
    monkeypatch.setattr("checker.graph.build.fits", lambda *_, **__: False)
    result = command("sweep", toggle, "--set", "most=2..3")
    assert result.code == 20
    assert "inconclusive (stopped: memory)" in result.out
    assert "still changed something, or was not finished" in result.out


def test_an_evaluation_error_is_the_exit_code(command: Command, toggle: str) -> None:
    text = Path(toggle).read_text().replace("0..9", "0..2")
    Path(toggle).write_text(text)
    result = command("sweep", toggle, "--set", "most=2..3", "--workers", "1")
    assert result.code == 75
    assert "evaluation error" in result.out


def test_what_a_specification_refuses_is_said(command: Command, toggle: str) -> None:
    Path(toggle).write_text(Path(toggle).read_text() + 'assume:\n  - "most > 1"\n')
    result = command("sweep", toggle, "--set", "most=1..3")
    assert result.code == 0
    assert "refused: " in result.out
    assert command("sweep", toggle, "--set", "most=0..1").code == 120
    wrong = command("sweep", toggle, "--set", "mots=0..1")
    assert wrong.code == 2
    assert "did you mean most?" in wrong.err
    assert command("sweep", toggle, "--set", "most=3..1").code == 2
    for value in ("x..y", "1..", "true", "1..2,3"):
        wrong = command("sweep", toggle, "--set", f"most={value}")
        assert (wrong.code, wrong.out) == (2, ""), value
        assert "it is an integer" in wrong.err
    assert command("sweep", toggle, "--set", "most=1..2", "--instance", "none").code == 2


@pytest.mark.parametrize(
    ("verdicts", "since", "more"),
    [
        (("holds", "holds", "holds"), 1, 2),
        (("violated", "holds", "holds"), 2, 1),
        (("holds", "holds", "violated"), None, 0),
    ],
)
def test_from_where_on_nothing_changed(
    verdicts: tuple[str, ...], since: int | None, more: int
) -> None:
    found = [
        Size((("n", place), ("other", 7)), verdict=verdict)
        for place, verdict in enumerate(verdicts, start=1)
    ]
    assert settled(found, "n") == [("other=7", since, more)]


def test_sizes_grow_in_whatever_order_they_were_asked_for() -> None:
    found = [Size((("n", place),), verdict=str(place > 2)) for place in (3, 1, 2)]
    assert settled(found, "n") == [("", None, 0)]


def test_of_states_that_were_not_kept_nothing_is_said() -> None:
    found = [Size((("n", place),), verdict="holds", control=None) for place in (1, 2, 3)]
    assert settled(found, "n") == [("", None, 0)]
