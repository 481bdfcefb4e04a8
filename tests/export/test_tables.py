"""Goal: a graph is written as tables without Spark, each step with its name."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from checker.cli.main import run
from checker.elaborate import elaborate
from checker.errors import Interruption, UsageError
from checker.graph.labelled import labelled_graph
from checker.graph.tables import write_tables
from checker.library import find
from checker.table import read


def test_tables_are_written_without_spark(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("checker.cli.graph.write_graph", None)
    out = tmp_path / "graph"
    for _ in range(2):  # the second replaces what the first wrote
        words = ["--out", str(out), "--format", "json", "--progress", "none"]
        assert run(["graph", "group_small", *words]) == 0
        told = json.loads(capsys.readouterr().out)
    assert (told["states"], told["edges"]) == (3043, 8177)
    states = pq.read_table(out / "states")
    edges = pq.read_table(out / "edges").to_pylist()
    assert (len(states), len(edges)) == (3043, 8177)
    assert len(set(states.column("state").to_pylist())) == 3043
    assert {edge["source"] for edge in edges} <= set(states.column("state").to_pylist())
    left = [edge for edge in edges if edge["row"] == "leave"]
    assert {edge["step"] for edge in left} == {"leave(m1)", "leave(m2)"}
    assert all(len(edge["bindings"]) == 1 and edge["picks"] == [] for edge in left)
    levels = pq.read_table(out / "statistics" / "levels").to_pydict()
    assert (sum(levels["states"]), sum(levels["edges"])) == (3043, 8177)
    terminal = pq.read_table(out / "terminal").to_pylist()
    assert sum(row["states"] for row in terminal) == told["terminal"]["states"]


@pytest.mark.parametrize(("looks", "left"), [(1, []), (2, ["states"])])
def test_an_interrupt_leaves_no_half_of_a_table(
    tmp_path: Path, looks: int, left: list[str]
) -> None:
    graph = labelled_graph(elaborate(read(find("two_phase"))))
    asked: list[None] = []

    def interrupt() -> bool:
        asked.append(None)
        return len(asked) == looks

    with pytest.raises(Interruption, match="holds part of the tables"):
        write_tables(graph, tmp_path, interrupt)
    assert [item.name for item in tmp_path.iterdir()] == left


def test_a_folder_is_written_by_one_at_a_time(tmp_path: Path) -> None:
    graph = labelled_graph(elaborate(read(find("die_hard"))))
    beside = list[str]()

    def meanwhile() -> bool:
        with pytest.raises(UsageError, match="in use by another checker") as refused:
            write_tables(graph, tmp_path)
        beside.append(str(refused.value))
        return False

    write_tables(graph, tmp_path, meanwhile)
    assert beside
    assert len(pq.read_table(tmp_path / "states")) == graph.states
    write_tables(graph, tmp_path)


SHAPES = """
system: shapes
about: Fields whose names are taken, and keys that Arrow's maps do not take.
constants:
  C: {ids: 2, prefix: c}
types:
  P: {fields: {x: "0..3", X: bool}}
  A: {fields: {v: "0..3"}}
  B: {fields: {v: bool}}
  D: {fields: {A_v: C}}
  U: {type: A or B or D}
variables:
  p: {type: P, initial: "P(x=1, X=true)"}
  u: {type: U, initial: A(v=3)}
  m: {type: map of optional C to 0..3, initial: empty}
rows:
  - {row: other, when: u is A, do: u = B(v=true)}
  - {row: third, when: u is B, do: u = D(A_v=c2)}
  - {row: none_at_all, when: u is D, do: "m[none] = 2"}
"""


def test_every_field_has_a_column_of_its_own_and_none_is_a_key(tmp_path: Path) -> None:
    (tmp_path / "shapes.yaml").write_text(SHAPES)
    graph = labelled_graph(elaborate(read(tmp_path / "shapes.yaml")))
    assert graph is not None
    write_tables(graph, tmp_path / "graph")
    states = pq.read_table(tmp_path / "graph" / "states").to_pylist()
    assert {str(state["p"]) for state in states} == {"{'kind': 'P', 'x': 1, 'P_X': True}"}
    assert [state["u"] for state in states[:3]] == [
        {"kind": "A", "A_A_v": 3, "B_v": None, "A_v": None},
        {"kind": "B", "A_A_v": None, "B_v": True, "A_v": None},
        {"kind": "D", "A_A_v": None, "B_v": None, "A_v": "c2"},
    ]
    assert [state["m"] for state in states[-2:]] == [[], [{"key": None, "value": 2}]]


FAILING = """
system: failing
about: Steps, and terminal conditions, that fail.
variables:
  x: {type: 0..4, initial: "FIRST"}
bounds: [x < 4]
terminal: [6 // (2 - x) > 1]
rows:
  - {row: next, when: x < 2, do: x += 1}
  - {row: fails, when: x == 1, do: x = 4 // (x - 1)}
"""


@pytest.mark.parametrize(
    ("first", "edges", "kinds"),
    [
        ("0", ["error", "step", "step"], {"error": 1}),
        ("4", [], {}),
    ],
)
def test_what_fails_is_no_end(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    first: str,
    edges: list[str],
    kinds: dict[str, int],
) -> None:
    (tmp_path / "failing.yaml").write_text(FAILING.replace("FIRST", first))
    out = tmp_path / "graph"
    words = ["--engine", "local", "--out", str(out), "--format", "json", "--progress", "none"]
    assert run(["graph", str(tmp_path / "failing.yaml"), *words]) == 0
    assert json.loads(capsys.readouterr().out)["terminal"]["kinds"] == kinds
    written = pq.read_table(out / "edges").to_pylist()
    assert sorted(edge["kind"] for edge in written) == edges
    assert len(pq.read_table(out / "statistics" / "levels")) == (3 if edges else 0)


def test_what_it_cannot_do_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["graph", "die_hard", "--progress", "none"]
    assert run([*words, "--engine", "local", "--out", "s3a://bucket/graph"]) == 2
    assert run([*words, "--workers", "2", "--out", str(tmp_path / "x")]) == 2
    assert run([*words, "--out", str(tmp_path / "graph")]) == 0
    assert run(["query", "die_hard", "big == 4", "--graph", str(tmp_path / "graph")]) == 2
    assert "--engine spark" in capsys.readouterr().err
    monkeypatch.setattr("checker.cli.graph.LARGE", 3)
    asked: list[object] = []
    monkeypatch.setattr(
        "checker.cli.graph.write_graph", lambda *given: asked.append(given) or 1 / 0
    )
    assert run([*words, "--out", str(tmp_path / "large")]) == 255
    assert len(asked) == 1
