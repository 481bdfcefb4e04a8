"""Goal: what is large is checked in time that grows with it, or refused, and the limit is named."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from checker.cli.main import run
from checker.elaborate import elaborate
from checker.errors import Diagnostic, SpecificationError
from checker.table import read
from checker.table.nodes import ENTRIES_MAX
from checker.table.problems import ERRORS_MAX

ROOT = Path(__file__).parents[2]

HEAD = """\
system: large
about: A counter, and something large.
variables:
  x: {type: "0..9", initial: "0"}
"""
ROWS = """\
rows:
  - row: up
    when: x < 9
    do: x += 1
"""
SECONDS = 20.0
"""Processor seconds; each takes 1 to 6 where nothing else runs."""


def chain(count: int, last: str = "x") -> str:
    """Return so many comparisons in one chain."""
    return " <= ".join(["x"] * count + [last])


def with_property(condition: str) -> str:
    return f"{HEAD}{ROWS}properties:\n  p:\n    always: {condition}\n    why: because.\n"


def with_rows(count: int) -> str:
    rows = (f"  - row: up{number}\n    when: x < 9\n    do: x += 1\n" for number in range(count))
    return f"{HEAD}rows:\n" + "".join(rows)


def nested_chains() -> str:
    inner = chain(55)
    for _ in range(2):
        inner = chain(55, f"(1 if {inner} else 2)")
    return inner


def strange(keys: int, properties: int) -> str:
    """Return properties that each have so many keys that nobody knows."""
    return (
        HEAD
        + ROWS
        + "properties:\n"
        + "".join(
            f"  p{number}:\n" + "".join(f"    k{key}: 1\n" for key in range(keys))
            for number in range(properties)
        )
    )


def nested_procedures(count: int) -> str:
    """Return procedures that each call the one before, inside of two tests."""
    inside = "    if x < 9:\n      if x < 8:\n        p{}()\n"
    texts = [f"  p{number}(): |\n{inside.format(number - 1)}" for number in range(count)]
    texts[0] = "  p0(): x += 1\n"
    return f"{HEAD}procedures:\n{''.join(texts)}rows:\n  - row: up\n    do: p{count - 1}()\n"


def nested_names(key: str, count: int) -> str:
    """Return a row with so many names, each said by the one before where that is possible."""
    said = {"let": "    n{} + 0", "for": "0..0"}[key]
    names = [f"      n{n}: {said.format(n - 1).strip() if n else '0..0'}\n" for n in range(count)]
    if key == "let":
        names[0] = "      n0: x\n"
    row = f"  - row: up\n    {key}:\n{''.join(names)}    when: x < 9\n    do: x += 1\n"
    return f"{HEAD}rows:\n{row}"


def nested_types(count: int, *, backwards: bool = False) -> str:
    """Return records that each hold the one before; `backwards`: the last one declared first."""
    types = [f"  T{n}: {{fields: {{f: T{n - 1}}}}}\n" for n in range(count)]
    types[0] = "  T0: 0..1\n"
    if backwards:
        types.reverse()
    value = f"{{type: optional T{count - 1}, initial: none}}"
    return f"{HEAD}  deep: {value}\ntypes:\n{''.join(types)}{ROWS}"


def doubling_types(count: int) -> str:
    """Return records that each hold the one before twice."""
    types = "".join(f"  T{n}: {{fields: {{a: T{n - 1}, b: T{n - 1}}}}}\n" for n in range(1, count))
    return f"{HEAD}types:\n  T0: 0..1\n{types}{ROWS}"


def with_formula(parts: int) -> str:
    formula = " and ".join(["until(x < 9, x == 9)"] * parts)
    return f"{HEAD}{ROWS}properties:\n  p:\n    ltl: {formula}\n    why: because.\n"


REFUSED = {
    "procedures in each other": (nested_procedures(250), "Y311", "nests too deeply"),
    "201 names that lead to each other": (nested_names("let", 201), "T106", "too many names"),
    "201 names that loop": (nested_names("for", 201), "T106", "too many names"),
    "types in each other": (nested_types(61), "Y306", "levels deep in each other"),
    "types in each other, the last one first": (
        nested_types(100, backwards=True),
        "Y306",
        "too deep in each other",
    ),
    "types that double": (doubling_types(18), "Y306", "parts; at most 65536 are possible"),
    "a formula of 300 parts": (with_formula(300), "Y311", "this formula is too large"),
    "a chain of 2,500 comparisons": (with_property(chain(2500)), "T106", "deeper than 60 levels"),
    "a chain of 61 comparisons": (with_property(chain(61)), "T106", "deeper than 60 levels"),
    "chains in chains": (with_property(nested_chains()), "Y311", "nests too deeply"),
    "60,000 unknown keys": (
        HEAD + "".join(f"k{number}: 1\n" for number in range(60_000)) + ROWS,
        "T106",
        "more than 2000 entries",
    ),
    "60,000 unknown keys in braces": (
        HEAD.replace("}", "".join(f", k{number}: 1" for number in range(60_000)) + "}") + ROWS,
        "T106",
        "more than 2000 entries",
    ),
    "18,000 unknown keys in many places": (strange(1500, 12), "T106", "there are 200 errors"),
    "10,000 rows": (with_rows(10_000), "T106", "more than 2000 entries"),
}


def refusal(folder: Path, text: str) -> tuple[Diagnostic, ...]:
    path = folder / "large.yaml"
    path.write_text(text)
    assert path.stat().st_size < 1 << 20, "the size of the file must not be what is refused"
    with pytest.raises(SpecificationError) as raised:
        elaborate(read(path), "default", {})
    return raised.value.diagnostics


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_too_large_is_refused_soon_and_at_a_place(
    tmp_path: Path, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    text, code, said = REFUSED[name]
    started = time.process_time()
    found = refusal(tmp_path, text)
    last = found[-1]
    assert (last.code, said in last.message) == (code, True), last
    assert last.span.line > 1
    assert len(found) <= ERRORS_MAX + 1
    assert run(["check", str(tmp_path / "large.yaml"), "--progress", "none"]) == 120
    assert time.process_time() - started < SECONDS
    told = capfd.readouterr().err
    assert f"error[{code}]" in told
    assert "Traceback" not in told
    assert len(told) < 500 * ERRORS_MAX


def test_as_many_as_are_allowed_are_checked(tmp_path: Path) -> None:
    (tmp_path / "large.yaml").write_text(with_property(chain(60)))
    assert elaborate(read(tmp_path / "large.yaml"), "default", {}).properties[0].name == "p"
    (tmp_path / "large.yaml").write_text(with_rows(ENTRIES_MAX))
    started = time.process_time()
    assert len(elaborate(read(tmp_path / "large.yaml"), "default", {}).actions) == ENTRIES_MAX
    assert time.process_time() - started < 0.002 * ENTRIES_MAX * 2  # twice, on a busy machine


@pytest.mark.parametrize("engine", ["local", "reference"])
@pytest.mark.parametrize(
    "text",
    [
        nested_procedures(38),
        nested_names("let", 200),
        nested_names("for", 200),
        nested_types(59),
        with_formula(10),
    ],
    ids=["procedures", "let", "for", "types", "formula"],
)
def test_what_nests_as_deeply_as_is_allowed_is_checked(
    tmp_path: Path, text: str, engine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "deep.yaml").write_text(text)
    words = ["check", str(tmp_path / "deep.yaml"), "--engine", engine, "--progress", "none"]
    assert run(words) in {0, 11}, capsys.readouterr().err
    assert "exhaustive" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("kind", "effect"),
    [
        ("map of 0..4095 to 0..1000000000", "m[x] = x"),
        ("map of 0..4095 to bool", "m[x] = true"),
        ("sequence of 0..9 up to 1024", "m.append(x)"),
    ],
)
def test_wide_states_are_compiled_in_bounded_time(tmp_path: Path, kind: str, effect: str) -> None:
    (tmp_path / "wide.yaml").write_text(
        f"system: wide\nabout: A wide state.\nvariables:\n"
        f'  x: {{type: "0..9", initial: "0"}}\n  m: {{type: "{kind}", initial: "empty"}}\n'
        f"rows:\n  - row: up\n    when: x < 9\n    do: |\n      {effect}\n      x += 1\n"
        "terminal:\n  - x == 9 and len(m) == 9\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "checker", "check", "wide.yaml", "--workers", "1"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path / "cold")},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (int(SECONDS), int(SECONDS))),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "holds: 10 distinct states, depth 9" in done.stdout


MANY_IDS = f"""\
{HEAD}  held: {{type: map of C to 0..1, initial: empty}}
constants:
  C: {{ids: 20, symmetric: true}}
rows:
  - row: up
    for: {{c: C}}
    do: held[c] = 1
"""
MANY_CLAIMS = f"{HEAD}{ROWS}fairness: weak\nproperties:\n" + "".join(
    f"  p{n}: {{leads_to: {{from: x == 1, to: x == 2}}, why: it goes on.}}\n" for n in range(21)
)


@pytest.mark.parametrize(
    ("text", "said"),
    [(MANY_IDS, "orders of"), (MANY_CLAIMS, "at most 20 are judged together")],
    ids=["ids", "claims"],
)
def test_the_reference_engine_has_limits_too(
    tmp_path: Path, text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "many.yaml").write_text(text)
    words = ["check", str(tmp_path / "many.yaml"), "--engine", "reference", "--progress", "none"]
    assert run(words) == 2
    assert said in capsys.readouterr().err
