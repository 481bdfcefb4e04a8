"""Goal: the state graph as tables is the graph of the search, and questions about it are answered.

Sizes are those of published models; columns are what the interpreter says of the same states.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from checker.cli.main import run
from checker.flow import machine_of
from checker.search.limits import Limits
from checker.search.reference import explore_reference
from checker.semantics.successors import initial_states, successors
from checker.spark.session import parquet_at

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def checker(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = run(list(words))
    printed = capfd.readouterr()
    assert "Traceback" not in printed.err
    return code, printed.out + printed.err


def test_a_graph_and_questions_about_it(
    session: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "graph")
    code, text = checker(
        capfd, "graph", "die_hard", "--engine", "spark", "--out", out, "--progress", "none"
    )
    ends = "1 terminal component: 16 states; the largest has 16 (1 of several states)"
    assert (code, text) == (0, f"16 states and 96 edges written to {out}\n{ends}\n")

    machine = machine_of("die_hard", "witness", {})
    found = {step.state for step in initial_states(machine)}
    for _ in range(8):
        found |= {step.state for state in found for step in successors(machine, state)}
    states = session.read.parquet(f"{out}/states")
    assert states.columns == ["depth", "state", "small", "big"]
    assert {(row["small"], row["big"]) for row in states.collect()} == found
    edges = session.read.parquet(f"{out}/edges")
    joined = edges.join(states, edges["target"] == states["state"]).where("small = 0 and big = 4")
    assert joined.count() == sum(
        step.state == (0, 4) for state in found for step in successors(machine, state)
    )
    levels = session.read.parquet(f"{out}/statistics/levels").collect()
    wanted = explore_reference(machine, Limits(keep_going=True))
    assert tuple(row["states"] for row in levels) == wanted.levels

    words = ("--graph", out, "--format", "json", "--progress", "none")
    code, text = checker(capfd, "query", "die_hard", "big == 4", *words)
    answer = json.loads(text)
    run_to_it = answer.pop("run")
    wanted_answer = {"matching": 2, "without_value": 0, "states": 16, "length": 6, "error": None}
    assert (code, answer) == (0, wanted_answer)
    assert [state["#meta"]["row"] for state in run_to_it][1:3] == [
        "fill_big",
        "pour_big_into_small",
    ]
    assert run_to_it[-1]["big"] == {"#bigint": "4"}
    code, text = checker(capfd, "query", "die_hard", "big + small == 2 and big == 1", *words)
    nothing = {"matching": 0, "length": None, "run": None}
    assert (code, json.loads(text)) == (16, wanted_answer | nothing)
    code, text = checker(capfd, "query", "die_hard", "10 // (big - 4) == -10", *words)
    answer = json.loads(text)
    assert (code, answer["matching"], answer["without_value"]) == (0, 2, 2)
    code, text = checker(capfd, "query", "die_hard", "10 // (big - 4) == 77", *words)
    answer = json.loads(text)
    assert (code, answer["matching"], answer["without_value"], answer["length"]) == (75, 0, 2, 6)
    assert answer["error"]["code"].startswith("E5")
    assert answer["error"]["place"] == "<query>:1:1"
    assert answer["run"][-1]["big"] == {"#bigint": "4"}
    code, text = checker(capfd, "query", "die_hard", "10 // (big - 4) == 77", "--graph", out)
    assert (code, "0 of 16 states; in 2 it has no value" in text) == (75, True)
    assert f"{answer['error']['code']}: {answer['error']['message']}" in text
    code, text = checker(capfd, "query", "die_hard", "big == 4", "--graph", out)
    assert "2 of 16 states" in text
    assert "fill_big" in text

    code, text = checker(capfd, "query", "die_hard", "bg == 4", *words)
    assert (code, "<query>:1:1" in text) == (120, True)
    code, text = checker(capfd, "query", "die_hard", "big ==", *words)
    assert code == 120
    code, text = checker(capfd, "query", "hour_clock", "true", *words)
    assert (code, "another search" in text) == (2, True)
    code, text = checker(capfd, "query", "die_hard", "big == 4", "--graph", str(tmp_path / "none"))
    assert (code, "holds no checkpoint" in text) == (2, True)
    code, text = checker(capfd, "graph", "die_hard", "--engine", "spark", "--out", out)
    assert (code, "holds a checkpoint already; remove it" in text) == (2, True)
    files = [*(tmp_path / "graph" / "search" / "levels").rglob("*.parquet")]
    files.pop().unlink()
    code, text = checker(capfd, "query", "die_hard", "big + small == 2 and big == 1", *words)
    assert (code, "states are there where" in text, "write the graph again" in text) == (
        2,
        True,
        True,
    )
    for file in files:
        file.write_bytes(b"damaged" * 20)
    code, text = checker(capfd, "query", "die_hard", "big == 4", *words)
    assert (code, "damaged" in text, "write the graph again" in text) == (2, True, True)
    assert "--checkpoint" not in text


def interrupt_once(monkeypatch: pytest.MonkeyPatch, command: str, due: Callable[[], bool]) -> None:
    """Let a command hear of Ctrl-C as soon as something is so."""
    module = import_module(f"checker.cli.{command}")
    monkeypatch.setattr(module, "interruptible", lambda _engine: nullcontext(due))


@pytest.mark.parametrize(
    ("begun", "told"),
    [
        pytest.param("search/manifests/00002.json", "part of the search", id="search"),
        pytest.param("states", "the search of 16 states, which can be queried", id="tables"),
        pytest.param("drafts", "whole tables of states, edges and statistics", id="terminal"),
    ],
)
@pytest.mark.usefixtures("session")
def test_an_interrupt_says_what_was_written(
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    begun: str,
    told: str,
) -> None:
    out = tmp_path / "graph"
    interrupt_once(monkeypatch, "graph", (out / begun).exists)
    code, text = checker(
        capfd, "graph", "die_hard", "--engine", "spark", "--out", str(out), "--progress", "none"
    )
    assert (code, text.startswith(f"interrupted: {out.as_uri()} holds {told}")) == (130, True)
    assert not (out / "drafts").exists()
    if begun == "states":
        words = ("query", "die_hard", "big == 4", "--graph", str(out), "--progress", "none")
        assert checker(capfd, *words)[0] == 0
        interrupt_once(monkeypatch, "query", lambda: True)
        code, text = checker(capfd, *words)
        assert (code, text) == (130, f"interrupted: {out.as_uri()} was not asked to the end\n")


@pytest.mark.usefixtures("session")
def test_tables_that_lack_states_are_none(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = import_module("checker.spark.graph")
    whole = tables.level_rows
    monkeypatch.setattr(tables, "level_rows", lambda *given: whole(*given).where("level != 3"))
    words = ("--engine", "spark", "--out", str(tmp_path / "graph"), "--progress", "none")
    code, text = checker(capfd, "graph", "die_hard", *words)
    assert code == 2
    assert "damaged: 14 states are there where 16 were written; write the graph again" in text


def test_machines_and_rows_are_counted(
    session: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "graph")
    words = ("--engine", "spark", "--instance", "lost_replies", "--out", out, "--progress", "none")
    code, _ = checker(capfd, "graph", "controller", *words)
    assert code == 0
    levels = session.read.parquet(f"{out}/statistics/levels").collect()
    distinct = sum(row["states"] for row in levels)
    machines = session.read.parquet(f"{out}/statistics/machines").collect()
    assert machines
    by_machine: dict[str, int] = {}
    for row in machines:
        by_machine[row["machine"]] = by_machine.get(row["machine"], 0) + row["states"]
    assert set(by_machine.values()) == {distinct}


SLUICE = """
system: sluice
about: Where the water ends up.
variables:
  n: {type: 0..9, initial: "0"}
  state: {type: bool, initial: "false"}
bounds:
  - n < 9
terminal:
  - n == 4
rows:
  - {row: left, when: n == 0, do: n = 1}
  - {row: right, when: n == 0, do: n = 5}
  - {row: around, when: n == 1 or n == 2, do: n = 3 - n}
  - {row: pump, when: n == 1 or n == 2, do: state = not state}
  - {row: end, when: n == 5, do: n = 4}
  - {row: spill, when: n == 5, do: n = 6}
  - {row: stick, when: n == 5, do: n = 7}
  - {row: idle, when: n == 6, do: pass}
  - {row: burst, when: n == 5, do: n = 8}
  - {row: beyond, when: n == 8, do: n = 9}
"""


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["local", "spark"])
def test_terminal_components(
    session: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str], engine: str
) -> None:
    spec, out = tmp_path / "sluice.yaml", str(tmp_path / "graph")
    spec.write_text(SLUICE)
    words = ("--engine", engine, "--out", out, "--format", "json", "--progress", "none")
    code, text = checker(capfd, "graph", str(spec), *words)
    assert code == 0
    assert json.loads(text)["terminal"] == {
        "components": 5,
        "states": 8,
        "largest": 4,
        "beyond": 1,
        "kinds": {"cycle": 1, "loop": 1, "terminal": 1, "deadlock": 1, "bounds": 1},
    }
    rows = session.read.parquet(f"{out}/terminal").collect()
    found = {
        (row["kind"], row["states"], row["beyond"], row["depth"], row["example"]["n"])
        for row in rows
    }
    assert found == {
        ("cycle", 4, 0, 1, 1),
        ("terminal", 1, 0, 2, 4),
        ("loop", 1, 0, 2, 6),
        ("deadlock", 1, 0, 2, 7),
        ("bounds", 1, 1, 2, 8),
    }
    assert rows[0]["kind"] == "cycle"
    states = session.read.parquet(f"{out}/states")
    # A variable that is called like a column of ours goes by another name.
    assert states.columns == ["depth", "state", "n", "variable.state"]
    same = states.where(states["state"] == rows[0]["state"]).collect()
    assert [(row["n"], row["variable.state"]) for row in same] == [tuple(rows[0]["example"])]
    assert not (tmp_path / "graph" / "drafts").exists()


FAILING = """
system: failing
about: Steps and terminal conditions that fail, and picks that come to the same.
constants:
  C: {ids: 3, symmetric: true}
types:
  Pair: {fields: {order: 0..1, é: 0..1}}
variables:
  x: {type: 0..4, initial: "0"}
  pair: {type: Pair, initial: "Pair(order=0, é=1)"}
  seen: {type: set of C, initial: empty}
terminal: [6 // (2 - x) > 1]
rows:
  - {row: next, when: x < 2, do: x += 1}
  - {row: fails, when: x == 1, do: x = 4 // (x - 1)}
  - row: looks
    when: x == 0
    do: |
      c = pick(c for c in C)
      if len(seen) > 0:
          seen.add(c)
      else:
          seen = {d for d in C if d != c}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "spec", [("share_partition", "--instance", "one_delivery"), ("failing.yaml",)]
)
def test_both_engines_write_the_same_tables(
    session: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str], spec: tuple[str, ...]
) -> None:
    tables: dict[str, list[list[str]]] = {}
    (tmp_path / "failing.yaml").write_text(FAILING)
    which, *instance = spec
    which = str(tmp_path / which) if which.endswith(".yaml") else which
    for engine in ("local", "spark"):
        out = str(tmp_path / f"{engine} é%20[1]{{x}}*")  # a path stands for itself
        words = ("--engine", engine, "--out", out, "--progress", "none")
        code, text = checker(capfd, "graph", which, *instance, *words)
        assert code == 0, text
        tables[engine] = []
        for name in ("states", "edges", "statistics/rows", "statistics/machines", "terminal"):
            assert (Path(out) / name).is_dir()
            table = parquet_at(session, f"{out}/{name}").drop("step", "bindings", "picks")
            rows = sorted(str(row.asDict(recursive=True)) for row in table.collect())
            tables[engine].append([table.schema.simpleString(), *rows])
    assert tables["local"] == tables["spark"]
