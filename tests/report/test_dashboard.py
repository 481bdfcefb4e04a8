"""Goal: the dashboard is the same wherever it is made, and what is out of date is noticed."""

from pathlib import Path

import pytest

from checker.report.dashboard import HOME, Line, kept_of, pages, stale, write

LINES = [
    Line("group", "default", "quick", "holds", "holds", 48213, 37, met=True),
    Line(
        "group",
        "bug",
        "quick",
        "violated: a",
        "violated: a",
        9,
        3,
        met=True,
        about="One client.",
        report={"README.md": "# bug\n", "a.itf.json": "{}\n", "verdict.json": "{}\n"},
    ),
    Line(
        "clock",
        "default",
        "quick",
        "holds",
        "violated: b",
        12,
        0,
        met=False,
        failure="verdict: expected holds, found violated (b)",
    ),
]


def test_every_instance_has_a_line_and_violations_a_report() -> None:
    wanted = pages(LINES)
    files = ["README.md", "a.itf.json", "verdict.json"]
    assert sorted(wanted) == ["README.md", *(f"group/bug/{name}" for name in files)]
    page = wanted["README.md"]
    assert "| `default` | holds | 48,213 | 37 |" in page
    assert "| [`bug`](group/bug/README.md)<br>One client. | violated: a |" in page
    assert "| `default` | **violated: b**; declared: holds | 12 | 0 |" in page
    assert page.startswith("# What the specifications show\n")
    assert pages(LINES, "Ours")["README.md"].startswith("# Ours\n")


def test_what_is_not_as_declared_is_named_where_more_than_declared_breaks() -> None:
    wrong = "distinct: expected 9, found 12"
    line = Line(
        *("clock", "bug", "quick", "violated: b", "violated: b, c"), 12, 0, met=False, failure=wrong
    )
    assert line.unlike == (wrong,)
    assert LINES[2].unlike == ("declared: holds",)


def test_systems_have_a_page_that_goes_with_them(tmp_path: Path) -> None:
    page = f"# group\n\n{HOME}\n"
    wanted = pages(LINES, systems={"group": ("A group.", page)})
    assert wanted["group/README.md"] == page
    assert "| [group](group/README.md) | 2 | yes | A group. |" in wanted["README.md"]
    assert "| clock | 1 | **1 not** |  |" in wanted["README.md"]
    write(wanted, tmp_path)
    write(pages(LINES), tmp_path)
    assert not (tmp_path / "group/README.md").exists()


def test_what_was_written_is_up_to_date_and_a_change_is_not(tmp_path: Path) -> None:
    wanted = pages(LINES)
    assert stale(wanted, tmp_path) == sorted(wanted)
    write(wanted, tmp_path)
    assert stale(wanted, tmp_path) == []
    (tmp_path / "group/bug/README.md").write_text("# other\n")
    assert stale(wanted, tmp_path) == ["group/bug/README.md"]


def test_reports_of_violations_that_are_no_more_are_removed(tmp_path: Path) -> None:
    write(pages(LINES), tmp_path)
    other = tmp_path / "group" / "bug" / "notes.txt"
    other.write_text("mine")
    fewer = pages(LINES[:1])
    assert "group/bug/README.md" in stale(fewer, tmp_path)
    write(fewer, tmp_path)
    assert stale(fewer, tmp_path) == []
    assert other.read_text() == "mine"


def test_the_folder_of_a_system_that_is_gone_goes_too(tmp_path: Path) -> None:
    write(pages(LINES, systems={"group": ("A group.", f"# group\n\n{HOME}\n")}), tmp_path)
    fewer = pages([line for line in LINES if line.system != "group"])
    assert [name for name in stale(fewer, tmp_path) if name.startswith("group")] == [
        "group/README.md",
        "group/bug/README.md",
        "group/bug/a.itf.json",
        "group/bug/verdict.json",
    ]
    write(fewer, tmp_path)
    assert stale(fewer, tmp_path) == []
    assert not (tmp_path / "group").exists()


def test_one_system_by_itself_leaves_the_others_as_they_are(tmp_path: Path) -> None:
    """Reports of all at once, and of each after the other, are the same."""
    systems = {name: (f"A {name}.", f"# {name}\n\n{HOME}\n") for name in ("group", "clock")}
    whole = pages(LINES, "Ours | all", systems)
    write(whole, tmp_path)
    for name, told in systems.items():
        mine = [line for line in LINES if line.system == name]
        one = pages(mine, None, {name: told}, kept_of(tmp_path))
        assert one["README.md"] == whole["README.md"]
        assert stale(one, tmp_path, {name}) == []
    fewer = pages(LINES[:1], None, {"group": systems["group"]}, kept_of(tmp_path))
    write(fewer, tmp_path, {"group"})
    assert not (tmp_path / "group/bug").exists()
    assert (tmp_path / "clock/README.md").is_file()
    page = (tmp_path / "README.md").read_text()
    assert page.startswith("# Ours | all\n")
    assert "| [group](group/README.md) | 1 | yes | A group. |\n| [clock]" in page
    (tmp_path / "clock/README.md").unlink()  # one that is removed by hand is gone
    assert list(kept_of(tmp_path).rows) == ["group"]


def test_files_that_are_no_reports_stay(tmp_path: Path) -> None:
    own = tmp_path / "docs" / "errors" / "README.md"
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    write(pages(LINES), tmp_path)
    assert stale(pages(LINES), tmp_path) == []
    assert own.read_text() == "mine"


def test_what_was_not_run_has_a_line_that_says_so() -> None:
    line = Line("group", "large", "full", "holds", "not run", 4_000_000, 60, met=None)
    page = pages([line])["README.md"]
    assert "| `large` (full) | not run; declared holds | 4,000,000 | 60 |" in page
    assert "yes, 1 not run" in page


def test_nothing_is_written_or_removed_through_a_link(tmp_path: Path) -> None:
    reports, outside = tmp_path / "reports", tmp_path / "outside"
    write(pages(LINES), reports)
    (reports / "group" / "bug").rename(outside)
    (reports / "group" / "bug").symlink_to(outside)
    before = {path.name: path.read_bytes() for path in [*outside.iterdir(), reports / "README.md"]}
    (outside / "a.itf.json").unlink()
    with pytest.raises(OSError, match="nothing is written through links") as caught:
        write(pages(LINES, "Another"), reports)
    assert caught.value.filename == str(reports / "group" / "bug")
    assert (reports / "README.md").read_bytes() == before["README.md"]
    write(pages(LINES[:1]), reports)
    assert sorted(path.name for path in outside.iterdir()) == ["README.md", "verdict.json"]


def test_the_directory_itself_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "here").symlink_to("there")
    write(pages(LINES), tmp_path / "here")
    assert (tmp_path / "there" / "group" / "bug" / "verdict.json").is_file()
