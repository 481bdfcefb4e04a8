"""Goal: a system may be a folder of files that are read as one, each error in the right file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from checker.diagnostics import render
from checker.elaborate import elaborate
from checker.errors import Diagnostic, SpecificationError
from checker.source import heading_over
from checker.table import read
from checker.table.files import FILES_MAX
from checker.trace.itf import spec_hash

SYSTEM = """\
system: pair
about: Two counters.
files: [right.yaml, left.yaml]
variables:
  shared: {type: 0..2, initial: "0"}
rows:
  - row: rests
    do: pass
"""
LEFT = """\
about: The counter on the left.
definitions:
  section Sums: What is added.
  twice(n): n + n
  section Tests:
  small(n): n < 2
variables:
  left: {type: 0..2, initial: "0"}
rows:
  - section: Counting
    about: How it counts.
  - row: left_counts
    when: small(left)
    do: left = twice(left + 1) - 1 - left
  - section: Starting again
  - row: left_starts_again
    when: not small(left)
    do: left = 0
"""
RIGHT = """\
variables:
  right: {type: 0..1, initial: "0"}
rows:
  - row: right_flips
    do: right = 1 - right
properties:
  right_is_small:
    always: right < 2
    why: otherwise nothing is.
"""


@pytest.fixture
def pair(tmp_path: Path) -> Callable[..., Path]:
    """Writes the system, its files changed or taken away, and returns the first file."""

    def written(**changes: str | None) -> Path:
        files: dict[str, str | None] = {"system": SYSTEM, "left": LEFT, "right": RIGHT} | changes
        folder = tmp_path / "pair"
        folder.mkdir(exist_ok=True)
        for name, text in files.items():
            path = folder / f"{name}.yaml"
            path.unlink(missing_ok=True)
            if text is not None:
                path.write_text(text)
        return folder / "system.yaml"

    return written


def errors(path: Path) -> list[Diagnostic]:
    with pytest.raises(SpecificationError) as raised:
        elaborate(read(path))
    return list(raised.value.diagnostics)


def places(path: Path) -> list[tuple[str, str, int]]:
    """Return code, file and line of each error."""
    return [
        (error.code, Path(error.span.source.name).name, error.span.line) for error in errors(path)
    ]


def test_sections_are_joined_in_the_order_of_the_files(pair: Callable[..., Path]) -> None:
    document = read(pair())
    names = ["rests", "right_flips", "left_counts", "left_starts_again"]
    assert [row.name.text for row in document.rows] == names
    assert [entry.name.text for entry in document.variables] == ["shared", "right", "left"]
    assert [(file.name, file.about) for file in document.files] == [
        ("system.yaml", "Two counters."),
        ("right.yaml", ""),
        ("left.yaml", "The counter on the left."),
    ]
    machine = elaborate(document)
    assert [action.name for action in machine.actions] == names


def test_nothing_else_in_the_folder_is_read(pair: Callable[..., Path]) -> None:
    elaborate(read(pair(other="rows: ["[:-1])))


def test_the_same_system_in_one_file_is_the_same(pair: Callable[..., Path]) -> None:
    """Joined by hand; only the text of the files differs."""
    folder = elaborate(read(pair()))
    one = SYSTEM.replace("files: [right.yaml, left.yaml]\n", "").split("rows:\n")
    parts = [RIGHT.split("rows:\n"), LEFT.split("rows:\n")]
    rows = one[1] + parts[0][1].split("properties:\n")[0] + parts[1][1]
    left = parts[1][0].split("variables:\n")
    text = one[0] + parts[0][0].removeprefix("variables:\n") + left[1]
    text += "rows:\n" + rows + left[0].removeprefix("about: The counter on the left.\n")
    text += "properties:\n" + parts[0][1].split("properties:\n")[1]
    single = elaborate(read(pair(system=text)))
    assert [a.name for a in single.actions] == [a.name for a in folder.actions]
    assert [v.name for v in single.variables] == [v.name for v in folder.variables]


def test_errors_name_the_file_that_they_are_in(pair: Callable[..., Path]) -> None:
    broken = pair(
        left=LEFT.replace("n + n", "n + m"), right=RIGHT.replace("right < 2", "wrong < 2")
    )
    assert places(broken) == [("N201", "left.yaml", 4), ("N201", "right.yaml", 8)]


def test_errors_of_the_text_of_several_files_come_together(pair: Callable[..., Path]) -> None:
    broken = pair(left=LEFT + "rowz: []\n", right="rows: [")
    assert places(broken) == [("T113", "left.yaml", 19), ("T103", "right.yaml", 1)]


@pytest.mark.parametrize(
    ("more", "code", "first"),
    [
        ("variables:\n  left: {type: bool, initial: none}\n", "T104", "left.yaml, line 8"),
        ("rows:\n  - row: left_counts\n    do: pass\n", "T118", "left.yaml, line 12"),
        ("definitions:\n  twice(n): n\n", "T104", "left.yaml, line 4"),
    ],
)
def test_what_two_files_say_is_told_in_the_second(
    pair: Callable[..., Path], more: str, code: str, first: str
) -> None:
    system = SYSTEM.replace("right.yaml, left.yaml", "left.yaml, right.yaml")
    (error,) = errors(pair(system=system, right=more))
    assert (error.code, Path(error.span.source.name).name) == (code, "right.yaml")
    assert error.found == f"the first is in {first}"


@pytest.mark.parametrize("section", ["fairness: weak", "deadlock: false", "initial:\n  do: pass"])
def test_what_only_one_file_may_say(pair: Callable[..., Path], section: str) -> None:
    (error,) = errors(pair(left=f"{LEFT}{section}\n", right=f"{RIGHT}{section}\n"))
    assert (error.code, Path(error.span.source.name).name) == ("T104", "left.yaml")
    assert elaborate(read(pair(left=f"{LEFT}{section}\n", right=RIGHT)))


@pytest.mark.parametrize(
    "name",
    [
        "../other.yaml",
        "/etc/passwd",
        "sub/right.yaml",
        "right",
        "right.txt",
        ".hidden.yaml",
        "a\\b.yaml",
        "system.yaml",
        "link.yaml",
        "missing.yaml",
        "x" * 400 + ".yaml",
    ],
)
def test_only_plain_names_inside_the_folder(pair: Callable[..., Path], name: str) -> None:
    path = pair(system=SYSTEM.replace("right.yaml", f"'{name}'"), sub=None)
    (path.parent.parent / "other.yaml").write_text(RIGHT)
    (path.parent / "sub").mkdir()
    (path.parent / "sub" / "right.yaml").write_text(RIGHT)
    (path.parent / "link.yaml").symlink_to(path.parent.parent / "other.yaml")
    (path.parent / "right.txt").write_text(RIGHT)
    (path.parent / ".hidden.yaml").write_text(RIGHT)
    assert [error.code for error in errors(path)] == ["T143"]


def test_what_is_no_part_of_a_system(pair: Callable[..., Path], lamp: str) -> None:
    for text, code in (("", "T107"), (SYSTEM, "T107"), (lamp, "T107"), ("- a\n", "T112")):
        assert [place[:2] for place in places(pair(right=text))] == [(code, "right.yaml")]
    twice = pair(system=SYSTEM.replace("left.yaml", "right.yaml"))
    assert places(twice) == [("T118", "system.yaml", 3)]
    names = ", ".join(f"f{number}.yaml" for number in range(FILES_MAX + 1))
    assert places(pair(system=SYSTEM.replace("right.yaml, left.yaml", names)))[0][0] == "T106"


def test_a_pipe_is_not_waited_for(pair: Callable[..., Path]) -> None:
    path = pair(right=None)
    os.mkfifo(path.parent / "right.yaml")
    (error,) = errors(path)
    assert (error.code, error.found) == ("T143", "a pipe or a device")
    assert error.help is not None
    assert "right.yaml" not in error.help  # it cannot have been meant


def test_a_folder_is_no_file_that_is_missing(pair: Callable[..., Path]) -> None:
    path = pair(right=None)
    (path.parent / "right.yaml").mkdir()
    (error,) = errors(path)
    assert (error.code, error.found) == ("T143", "a folder")
    assert error.message == "`right.yaml` is no ordinary file"


def test_the_hash_covers_every_file(pair: Callable[..., Path]) -> None:
    before = spec_hash(elaborate(read(pair())))
    instances = LEFT + "instances:\n  default: {about: as declared}\n"
    assert spec_hash(elaborate(read(pair(left=instances)))) != before
    assert spec_hash(elaborate(read(pair(unread="a: b\n")))) == before


def test_headings_are_kept_with_what_stands_under_them(pair: Callable[..., Path]) -> None:
    document = read(pair())
    assert {(h.part, h.title, h.about) for h in document.headings} == {
        ("rows", "Counting", "How it counts."),
        ("rows", "Starting again", ""),
        ("definitions", "Sums", "What is added."),
        ("definitions", "Tests", ""),
    }
    over = {
        entry.name.text: getattr(heading_over(document.headings, entry.name.span), "title", None)
        for entry in (*document.rows, *document.definitions)
    }
    assert over == {
        "rests": None,
        "right_flips": None,
        "left_counts": "Counting",
        "left_starts_again": "Starting again",
        "twice": "Sums",
        "small": "Tests",
    }


def test_an_error_names_the_heading_that_it_stands_under(pair: Callable[..., Path]) -> None:
    (error,) = errors(pair(left=LEFT.replace("not small(left)", "not tiny(left)")))
    assert error.section == "Starting again"
    assert "section: Starting again" in render(error)


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("- section: Counting", "- section: 3", "T112"),
        ("    about: How it counts.", "    when: true", "T113"),
        ("section Sums: What is added.", "section Sums: [a]", "T112"),
    ],
)
def test_headings_that_are_none(pair: Callable[..., Path], old: str, new: str, code: str) -> None:
    assert old in LEFT
    assert [place[:2] for place in places(pair(left=LEFT.replace(old, new)))] == [
        (code, "left.yaml")
    ]
