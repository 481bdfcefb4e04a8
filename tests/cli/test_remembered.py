"""Goal: what was as declared is not searched again, but where a text or the checker is another."""

from __future__ import annotations

from pathlib import Path

import pytest
from toggling import Command

from checker import cache
from checker.cli import gate, remembered
from checker.library import find

ONE = ("--workers", "1", "--format", "json")


def told(command: Command, *words: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = command("verify", *words, *ONE).json["instances"]
    return found


def without(items: list[dict[str, object]]) -> list[dict[str, object]]:
    return [{key: item[key] for key in item if key != "remembered"} for item in items]


def test_the_second_run_remembers_and_says_so(
    command: Command, toggle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = told(command, toggle)
    assert [item["remembered"] for item in first] == [False, False]
    with monkeypatch.context() as patch:
        patch.setattr(gate, "verify", lambda *_: pytest.fail("it was searched again"))
        second = told(command, toggle)
        page = command("verify", toggle, "--workers", "1")
    assert [item["remembered"] for item in second] == [True, True]
    assert without(second) == without(first)
    assert "[1/2] known" in page.err
    assert "2 remembered" in page.err
    assert [item["remembered"] for item in told(command, toggle, "--fresh")] == [False, False]


def test_a_shipped_system_is_remembered_wherever_one_stands(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its tables and the systems that it uses are named from where one stands, if that is above."""
    monkeypatch.chdir(tmp_path)
    assert {item["remembered"] for item in told(command, "leased_work")} == {False}
    monkeypatch.chdir(find("leased_work").parents[2])
    assert {item["remembered"] for item in told(command, "leased_work")} == {True}


def test_what_pages_call_a_specification_is_asked_for_again(
    command: Command, toggle: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = Path(toggle).resolve()
    told(command, str(file))
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    assert [item["remembered"] for item in told(command, str(file))] == [False, False]


def test_any_change_of_a_text_searches_again(command: Command, toggle: str) -> None:
    told(command, toggle)
    file = Path(toggle)
    file.write_text(file.read_text() + "# a comment\n")
    assert [item["remembered"] for item in told(command, toggle)] == [False, False]
    assert [item["remembered"] for item in told(command, toggle)] == [True, True]


def test_a_file_of_prose_alone_is_a_text_as_any_other(command: Command, toggle: str) -> None:
    """Nothing that a run looks at stands in it, but reports say what it says."""
    file = Path(toggle)
    file.write_text(file.read_text().replace("about: A", "files: [prose.yaml]\nabout: A"))
    Path("prose.yaml").write_text("about: Words.\n")
    told(command, toggle)
    Path("prose.yaml").write_text("about: Other words.\n")
    assert [item["remembered"] for item in told(command, toggle)] == [False, False]


def test_a_text_that_changes_meanwhile_is_neither_judged_nor_remembered(
    command: Command, toggle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = Path(toggle)
    text = file.read_text() + "# a text that no other test has\n"
    file.write_text(text)
    verify = gate.verify

    def late(task: gate.Task, memory: int) -> gate.Outcome:
        file.write_text(text + "# saved meanwhile\n")
        return verify(task, memory)

    with monkeypatch.context() as patch:
        patch.setattr(gate, "verify", late)
        result = command("verify", toggle, *ONE)
    assert result.code == 2
    errors = [item["error"] for item in result.json["instances"]]
    assert len(errors) == 2
    assert all("was changed while it was being checked" in error for error in errors)
    file.write_text(text)
    assert [item["remembered"] for item in told(command, toggle)] == [False, False]


def test_another_checker_searches_again(
    command: Command, toggle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told(command, toggle)
    another = remembered._checker() + b"another"
    monkeypatch.setattr(remembered, "_checker", lambda: another)
    assert [item["remembered"] for item in told(command, toggle)] == [False, False]


def test_what_differs_is_never_remembered(command: Command, toggle: str) -> None:
    file = Path(toggle)
    file.write_text(file.read_text().replace("distinct: 16", "distinct: 17"))
    for _ in range(2):
        result = command("verify", toggle, *ONE)
        assert result.code == 1
        wrong = [item for item in result.json["instances"] if not item["met"]]
        assert [item["remembered"] for item in wrong] == [False]


def test_what_was_tampered_with_is_not_believed(command: Command, toggle: str) -> None:
    told(command, toggle)
    place = cache.place()
    assert place is not None
    newest = sorted((place / "verdicts").iterdir(), key=lambda file: file.stat().st_mtime_ns)[-2:]
    for file in newest:
        file.write_bytes(file.read_bytes().replace(b"holds", b"helds").replace(b"16", b"17"))
    assert [item["remembered"] for item in told(command, toggle)] == [False, False]


def test_state_tables_are_made_once(
    command: Command, toggle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command("verify", toggle, *ONE, "--report", "first").code == 0
    monkeypatch.setattr(remembered, "state_matrices", lambda _: pytest.fail("they were made again"))
    assert command("verify", toggle, *ONE, "--report", "again").code == 0
    pages = [path.relative_to("first") for path in Path("first").rglob("*.md")]
    assert [Path("first", page).read_text() for page in pages] == [
        Path("again", page).read_text() for page in pages
    ]
    path = Path(toggle)
    path.write_text(path.read_text() + "# another text\n")
    made = []
    monkeypatch.setattr(remembered, "state_matrices", lambda it: made.append(it) or ())
    assert command("verify", toggle, *ONE, "--report", "other").code == 0
    assert made


def test_what_rows_do_is_found_out_once(
    command: Command, toggle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = command("show", toggle, "--writes", "on")
    assert first.code == 0
    with monkeypatch.context() as patch:
        patch.setattr(remembered, "facts_of", lambda _: pytest.fail("it was elaborated again"))
        assert command("show", toggle, "--writes", "on").out == first.out
    path = Path(toggle)
    path.write_text(path.read_text() + "# another text\n")
    asked = []
    whole = remembered.facts_of
    monkeypatch.setattr(remembered, "facts_of", lambda it: asked.append(it) or whole(it))
    assert command("show", toggle, "--writes", "on").out == first.out
    assert asked
