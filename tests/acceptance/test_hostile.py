"""Goal: whatever a specification holds, it is refused at a place, quickly, and nothing is run."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from checker.cli.main import run
from checker.elaborate import elaborate
from checker.errors import Diagnostic, SpecificationError
from checker.table import read

sys.path.insert(0, str(Path(__file__).parent))

import broken

QUICK = ("--engine", "reference", "--limit-states", "20", "--progress", "none")

ROOT = Path(__file__).parents[2]

SECONDS = 60
"""Longest time that any specification may take to be refused, on a busy machine."""

RECURSIVE = {
    "definitions": {"d()": "e() + 1", "e()": "d()", "f(a)": "f(a - 1)"},
    "procedures": {"pr(a)": "pr(a)"},
    "types": {"Level": "one of low, high", "Point": {"fields": {"x": "optional Point"}}},
    "constants": {"n": {"value": "k"}, "k": {"value": "n"}},
}

DOUBLING = {"d()": "x + 1", "f(a)": "a + 1", "g0(a)": "a + a"} | {
    f"g{i}(a)": f"g{i - 1}(g{i - 1}(a)) + g{i - 1}(a)" for i in range(1, 40)
}


def refused(folder: Path, text: str) -> str:
    """Read and elaborate; return what is wrong, each thing with its place, or nothing."""
    started = time.monotonic()
    path = broken.write(folder, text)
    found: tuple[Diagnostic, ...] = ()
    try:
        elaborate(read(path), "default", {})
    except SpecificationError as error:
        found = tuple(error.diagnostics)
        placed = [item.span.line >= 1 and item.span.column >= 1 for item in found]
    else:
        placed = [True]
    assert placed
    assert all(placed)
    assert time.monotonic() - started < SECONDS
    return "; ".join(f"{item.code} {item.message}" for item in found)


def accepted(folder: Path, place: broken.Place, values: Iterable[object]) -> list[object]:
    """Put each value into one cell; return those that make a specification all the same."""
    return [value for value in values if not refused(folder, broken.with_cell(place, value))]


def test_the_whole_specification_is_right(tmp_path: Path) -> None:
    assert refused(tmp_path, broken.SYSTEM) == ""


@pytest.mark.parametrize("place", broken.MAIN_PLACES, ids=str)
def test_the_most_common_broken_expressions(tmp_path: Path, place: broken.Place) -> None:
    kept = accepted(tmp_path, place, broken.EXPRESSIONS)
    assert len(kept) < len(broken.EXPRESSIONS) / 4, kept


@pytest.mark.slow
@pytest.mark.parametrize("place", broken.FURTHER_PLACES, ids=str)
def test_broken_expressions(tmp_path: Path, place: broken.Place) -> None:
    kept = accepted(tmp_path, place, broken.EXPRESSIONS)
    assert len(kept) < len(broken.EXPRESSIONS) / 4, kept


@pytest.mark.parametrize("place", broken.TYPE_PLACES, ids=str)
def test_broken_types(tmp_path: Path, place: broken.Place) -> None:
    kept = accepted(tmp_path, place, broken.TYPES)
    assert len(kept) < len(broken.TYPES) / 4, kept


@pytest.mark.parametrize("place", broken.EFFECT_PLACES, ids=str)
def test_broken_effects(tmp_path: Path, place: broken.Place) -> None:
    kept = accepted(tmp_path, place, broken.EFFECTS)
    assert len(kept) < len(broken.EFFECTS) / 4, kept


def test_every_cell_taken_out(tmp_path: Path) -> None:
    for place in broken.places(broken.whole()):
        refused(tmp_path, broken.with_cell(place, broken.GONE))


@pytest.mark.slow
def test_every_cell_replaced(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """A third of the values in each cell, another third in the next; every night all in all."""
    every = request.config.getoption("--every-instance")
    for number, place in enumerate(broken.places(broken.whole())):
        for value in broken.VALUES if every else broken.VALUES[number % 3 :: 3]:
            refused(tmp_path, broken.with_cell(place, value))


@pytest.mark.parametrize("section", sorted(RECURSIVE))
def test_recursion(tmp_path: Path, section: str) -> None:
    assert "N2" in refused(tmp_path, broken.with_cell((section,), RECURSIVE[section]))


def test_definitions_that_double(tmp_path: Path) -> None:
    """Forty definitions that each use the one before three times: 3 ** 39 uses."""
    text = broken.with_cell(("definitions",), DOUBLING)
    used = text.replace('"x < 3 and d() < f(x)"', '"g39(x) > 0"')
    assert used != text
    assert refused(tmp_path, used)


@pytest.mark.parametrize("value", ["9" * 5000, "-1", "nope", "", "1e9", "0x7", "[", "10**18"])
@pytest.mark.parametrize("name", ["Client", "n", "flag", "mode", "nope", "__class__", ""])
def test_settings(tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str, value: str) -> None:
    path = broken.write(tmp_path, broken.SYSTEM)
    code = run(["check", str(path), "--set", f"{name}={value}", *QUICK])
    errors = capfd.readouterr().err
    assert code in {2, 120}, errors
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    "command", ["check", "verify", "show", "simulate", "hunt", "trace", "explain"]
)
def test_files_that_are_none(tmp_path: Path, command: str) -> None:
    """Pipes, devices, loops, folders and binaries end at once, in little memory."""
    (tmp_path / "binary.yaml").write_bytes(bytes(range(256)) * 20)
    (tmp_path / "empty.yaml").touch()
    (tmp_path / "deep.yaml").write_text("[" * 100_000)
    (tmp_path / "large.yaml").write_text("a" * 2_000_000)
    (tmp_path / "object.yaml").write_text('!!python/object/apply:os.system ["touch PWNED"]\n')
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe.yaml")
    names = [path.name for path in tmp_path.iterdir()]
    script = (
        "import sys\n"
        "from checker.cli.main import run\n"
        "print([run([sys.argv[1], name]) for name in sys.argv[2:]])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, command, *names, "/dev/zero", "no\nname", "../" * 30],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30)),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    codes = done.stdout.splitlines()[-1]
    assert set(codes) <= set("[], 120"), (codes, done.stderr)
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "PWNED").exists()


@pytest.mark.parametrize(
    "table", ["../../../../etc/passwd", "/etc/passwd", "nope", "../lamp", "~/lamp", "", "."]
)
def test_tables_from_elsewhere(tmp_path: Path, table: str) -> None:
    assert refused(tmp_path, broken.with_cell(("tables", 0), table))
