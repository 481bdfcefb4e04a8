"""Goal: `checker diff` says what a change does, in three forms, and its exit code says whether."""

import io
import json
import subprocess
import tarfile
from pathlib import Path

import pytest

from checker.cli.archives import unpack
from checker.cli.main import run

SYSTEM = """
system: counter
about: It counts.
constants:
  most: 2
variables:
  n: {type: 0..3, initial: "0"}
rows:
  - {row: ticks, when: n < most, do: n += 1}
properties:
  low: {always: n < 3, why: three is too many.}
"""


@pytest.fixture
def spec(tmp_path: Path) -> str:
    path = tmp_path / "counter.yaml"
    path.write_text(SYSTEM)
    return str(path)


def diff(*words: str) -> int:
    return run(["diff", *words, "--progress", "none"])


def test_a_constant_changes_runs_and_a_property(
    spec: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert diff(spec, "--new-set", "most=3") == 1
    text = capsys.readouterr().out
    assert text.startswith("different: lost nothing; gained 1 state\n")
    assert "property low: holds -> violated" in text
    assert "  3. ticks\n  which changes n: 2 -> 3\n" in text
    assert diff(spec, "--new-set", "most=3", "--format", "json") == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["verdict"], told["new"]["run"]) == ("different", ["ticks"] * 3)
    assert told["properties"] == [{"name": "low", "old": "holds", "new": "violated"}]
    assert diff(spec, "--new-set", "most=3", "--format", "markdown") == 1
    assert "* property `low`: holds -> violated" in capsys.readouterr().out


def test_a_revision_is_compared_with_what_is_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "counter.yaml"
    path.write_text(SYSTEM)
    author = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    for words in (("init", "-q"), ("add", "."), (*author, "commit", "-q", "-m", "first")):
        subprocess.run(["git", *words], check=True)
    path.write_text(SYSTEM.replace("n < most", "n + 1 <= most"))
    assert diff("HEAD:counter.yaml", "counter.yaml") == 0
    told = capsys.readouterr().out
    assert told.startswith("equal: the same runs, 3 states\n")
    assert "written otherwise, to the same effect: ticks\n" in told
    path.write_text(SYSTEM.replace("most: 2", "most: 0").replace("n += 1", "n += 2"))
    assert diff("HEAD:counter.yaml", "counter.yaml", "--set", "most=0") == 0
    assert "never taken in this instance, so nothing is said of it: ticks;" in (
        capsys.readouterr().out
    )
    path.write_text(SYSTEM.replace("row: ticks", "row: tocks"))
    assert diff("HEAD:counter.yaml", "counter.yaml") == 0
    told = capsys.readouterr().out
    assert told.startswith("equal: the same runs, 3 states, with 1 row renamed\n")
    assert "renamed: ticks -> tocks" in told
    assert diff("HEAD:counter.yaml", "counter.yaml", "--rename", "ticks=tocks") == 0
    assert "renamed" not in capsys.readouterr().out
    path.write_text(SYSTEM.replace("row: ticks", "row: tocks").replace("n < most", "n < 1"))
    assert diff("HEAD:counter.yaml", "counter.yaml") == 1
    told = capsys.readouterr().out
    assert "lost 1 row" in told
    assert "perhaps renamed: ticks -> tocks; `--rename ticks=tocks`" in told
    assert diff("nowhere:counter.yaml", "counter.yaml") == 2
    assert diff("HEAD:nothing.yaml", "counter.yaml") == 2
    assert diff("counter.yaml", "--rename", "x=y") == 2
    assert "Traceback" not in capsys.readouterr().err


PICKS = """
system: picks
about: It takes one of two.
variables:
  took: {type: 0..2, initial: "0"}
rows:
  - row: takes
    for: {one: 1..2}
    do: |
      mine = pick(x for x in range(1, 3) if x >= one)
      took = mine
"""


def test_what_a_binding_is_called_makes_no_difference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [str(tmp_path / name) for name in ("old.yaml", "new.yaml", "other.yaml")]
    renamed = PICKS.replace("one: 1", "an: 1").replace(">= one", ">= an").replace("mine", "own")
    for file, text in zip(files, (PICKS, renamed, PICKS.replace(">= one", "<= one")), strict=True):
        Path(file).write_text(text)
    assert diff(files[0], files[1]) == 0
    assert capsys.readouterr().out.startswith("equal: the same runs, 3 states\n")
    assert diff(files[0], files[2]) == 1
    told = capsys.readouterr().out
    assert "takes(1) pick 2" in told
    assert "takes(2) pick 1" in told


@pytest.fixture
def committed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a repository with a commit, after which counter.yaml changed."""
    folder = tmp_path / "repository"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "counter.yaml").write_text(SYSTEM)
    author = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    for words in (("init", "-q"), ("add", "."), (*author, "commit", "-q", "-m", "first")):
        subprocess.run(["git", *words], check=True)
    (folder / "counter.yaml").write_text(SYSTEM.replace("most: 2", "most: 1"))
    return folder


def test_of_a_revision_is_taken_what_the_revision_has(
    committed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "link").symlink_to(committed)
    (committed / "circle").symlink_to("circle")
    (tmp_path / "counter.yaml").write_text(SYSTEM)
    (committed / "new.yaml").write_text(SYSTEM)
    for path in (
        committed / "counter.yaml",
        tmp_path / "link" / "counter.yaml",
        "x/../counter.yaml",
        "../repository/counter.yaml",
    ):
        assert diff(f"HEAD:{path}", "counter.yaml") == 1, path
    capsys.readouterr()
    for path, why in (
        (tmp_path / "counter.yaml", "is not in the repository"),
        ("../counter.yaml", "is not in the repository"),
        ("new.yaml", "HEAD has no specification at new.yaml"),
        ("circle/counter.yaml", "HEAD has no specification at circle/counter.yaml"),
        ("", "HEAD has no specification at its top folder; name a file that it has"),
    ):
        assert diff(f"HEAD:{path}", "counter.yaml") == 2
        told = capsys.readouterr().err
        assert why in told
        assert "checker-diff-" not in told


def test_a_revision_is_no_option_of_git(
    committed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = committed / "mine.txt"
    mine.write_text("precious")
    assert run(["diff", "--", f"--output={mine}:counter.yaml", "counter.yaml"]) == 2
    assert "has no revision '--output=" in capsys.readouterr().err
    assert mine.read_text() == "precious"


def test_an_archive_writes_below_its_folder_only(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as files:
        for name in ("a/b.yaml", "../outside.yaml", "/absolute.yaml"):
            member = tarfile.TarInfo(name)
            member.size = 3
            files.addfile(member, io.BytesIO(b"x: "))
        link = tarfile.TarInfo("link.yaml")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        files.addfile(link)
    folder = tmp_path / "inside"
    folder.mkdir()
    unpack(packed.getvalue(), folder)
    assert [path for path in tmp_path.rglob("*") if not path.is_dir()] == [folder / "a" / "b.yaml"]
    assert not Path("/absolute.yaml").exists()


def test_a_property_that_says_something_else_is_named(
    spec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "weaker.yaml"
    other.write_text(SYSTEM.replace("always: n < 3", "always: n < 4"))
    assert diff(spec, str(other)) == 0
    told = capsys.readouterr().out
    assert told.startswith("equal: ")
    assert "property low: written otherwise; holds, as before\n" in told
    claim = "\n    for: {k: 0..1}\n    eventually: n < 3\n    why: three is too many.\n"
    each = SYSTEM.partition(" {always")[0] + claim
    first = tmp_path / "each.yaml"
    first.write_text(each)
    for before, after in (("n < 3", "n < 4"), ("    why", "    within_bounds: true\n    why")):
        assert before in each
        other.write_text(each.replace(before, after, 1))
        assert diff(str(first), str(other)) == 0
        assert "property low(1): written otherwise; holds, as before\n" in capsys.readouterr().out
    other.write_text(SYSTEM.replace("three is too many", "three are too many"))
    assert diff(spec, str(other)) == 0
    assert "property" not in capsys.readouterr().out


def test_a_new_name_that_no_row_has_is_refused(
    spec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.yaml"
    other.write_text(SYSTEM.replace("ticks", "tocks"))
    assert diff(spec, str(other), "--rename", "ticks=tock") == 2
    assert "NEW (counter) has no row 'tock'; did you mean tocks?" in capsys.readouterr().err


def test_lines_fit_a_hundred_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert diff("two_phase", "--new-set", "waits_for_all=false") == 1
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 100
    assert any(line.startswith("    Prepared(manager=") for line in lines)
