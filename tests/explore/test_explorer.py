"""Goal: a path is where it says it is, can be left, found and taken along, and nothing is kept."""

import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from checker import flow
from checker.errors import SpecificationError, UsageError
from checker.explore.explorer import Explorer, path_of
from checker.report.story import flattened
from checker.semantics.successors import successors

SPEC = "classic_group"
INSTANCE = "kafka_7824"


@cache
def prepared() -> Explorer:
    request = flow.Request(SPEC, INSTANCE)
    return Explorer(request, *flow.prepare(request, flow.Silent()))


def test_what_can_happen_is_what_the_semantics_says() -> None:
    explorer = prepared()
    here = explorer.here(explorer.first)
    state = explorer.node(explorer.first).state
    assert state is not None
    assert len(here["choices"]) == len(successors(explorer.machine, state))
    assert here["places"] == flattened(explorer.machine, state)
    taken = explorer.here((*explorer.first, here["choices"][0]["number"]))
    assert taken["steps"][-1]["name"] == here["choices"][0]["name"]
    assert taken["steps"][-1]["details"] == here["choices"][0]["details"]
    assert set(taken["changed"]) == {
        name for name, text in taken["places"].items() if here["places"].get(name) != text
    }


def test_the_same_path_is_the_same_in_another_explorer_and_back_is_a_shorter_one() -> None:
    explorer = prepared()
    path = tuple(explorer.seek((), "len(coordinator.members) == 2", start=True)["path"])
    again = Explorer(explorer.request, explorer.document, explorer.machine)
    assert again.here(path) == explorer.here(path)
    assert [step["name"] for step in again.here(path[:-1])["steps"]] == [
        step["name"] for step in explorer.here(path)["steps"][:-1]
    ]


def test_a_shortest_path_from_the_start_is_as_long_as_the_search_says() -> None:
    explorer = prepared()
    found = explorer.seek((), "len(coordinator.members) == 2", start=True)
    assert len(found["path"]) - 1 == 5
    assert explorer.value(tuple(found["path"]), "len(coordinator.members)")["values"] == [
        "0", "0", "0", "0", "1", "2",
    ]  # fmt: skip
    none = explorer.seek(
        (), "len(coordinator.members) == 2 and coordinator.leader is none", start=True
    )
    assert none["path"] is None
    assert "no state of" in none["said"]


def test_interchangeable_ids_may_be_named() -> None:
    explorer = prepared()
    text = "client[c1].state != UNJOINED"
    for start in (True, False):
        path = tuple(explorer.seek(explorer.first, text, start=start)["path"])
        assert explorer.value(path, "client[c1].state")["values"][-1] != "UNJOINED"
        assert explorer.value(path, text)["values"][-1] == "true"


def test_a_shortest_path_from_here_goes_on_from_here() -> None:
    explorer = prepared()
    first = explorer.here(explorer.first)
    joins = next(item for item in first["choices"] if item["row"] == "client_poll_sends_join")
    here = (*explorer.first, joins["number"])
    found = explorer.seek(here, "len(coordinator.members) == 1", start=False)
    assert tuple(found["path"][: len(here)]) == here
    assert len(found["path"]) == len(here) + 1
    assert explorer.seek(here, "len(coordinator.members) == 0", start=False)["path"] == list(here)


def test_what_is_wrong_is_said() -> None:
    explorer = prepared()
    with pytest.raises(UsageError, match="no choice 99"):
        explorer.here((*explorer.first, 99))
    for text in ("x", "1..2", "-1", "1.", "9" * 8):
        with pytest.raises(UsageError):
            path_of(text)
    assert path_of("") == ()
    with pytest.raises(SpecificationError):
        explorer.value(explorer.first, "nobody + 1")
    with pytest.raises(SpecificationError):
        explorer.seek(explorer.first, "__import__('os')", start=True)
    with pytest.raises(UsageError):
        explorer.load("[]")


def test_a_path_is_a_trace_and_a_trace_a_path(tmp_path: Path) -> None:
    explorer = prepared()
    path = tuple(explorer.seek((), "len(coordinator.members) == 2", start=True)["path"])
    text = explorer.as_itf(path)
    assert explorer.load(text) == path
    file = tmp_path / "path.itf.json"
    file.write_text(text)
    command = [sys.executable, "-m", "checker", "trace", str(file), "--replay"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


def test_the_command_line_takes_the_same_steps() -> None:
    explorer = prepared()
    path = tuple(explorer.seek((), "len(coordinator.members) == 2", start=True)["path"])
    here = explorer.here(path)
    printing, _, walking = here["command"].partition(" | ")
    words = shlex.split(printing)
    assert words[:2] == ["printf", "%s\\n"]
    assert shlex.split(walking) == ["checker", "step", SPEC, "--instance", INSTANCE]
    command = [sys.executable, "-m", "checker", "step", SPEC, "--instance", INSTANCE]
    lines = "\n".join([*words[2:], "eval len(coordinator.members)"]) + "\n"
    done = subprocess.run(
        command, input=lines, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "\n  2\n" in done.stdout


TWO_WAYS = """\
system: two_ways
about: Two rows that lead from one state to another, and a bound.
variables:
  x: {type: "0..9", initial: "0"}
  y: {type: "0..9", initial: "0"}
bounds: [x < 2]
rows:
  - {row: a, when: x < 9, do: x += 1}
  - {row: b, when: x < 9, do: x += 1}
  - {row: c, when: y < 3, do: y += 1}
deadlock: false
"""


def test_a_trace_is_followed_by_its_own_steps(tmp_path: Path) -> None:
    (tmp_path / "two_ways.yaml").write_text(TWO_WAYS)
    request = flow.Request(str(tmp_path / "two_ways.yaml"))
    explorer = Explorer(request, *flow.prepare(request, flow.Silent()))
    path = (*explorer.first, 1)
    assert explorer.load(explorer.as_itf(path)) == path
    assert [step["name"] for step in explorer.here(path)["steps"]] == ["initial state", "b"]


def test_what_lies_beyond_the_bounds_is_looked_at_from_here_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "two_ways.yaml").write_text(TWO_WAYS)
    request = flow.Request(str(tmp_path / "two_ways.yaml"))
    explorer = Explorer(request, *flow.prepare(request, flow.Silent()))
    for start in (True, False):
        assert len(explorer.seek(explorer.first, "x == 2", start=start)["path"]) == 3
        assert explorer.seek(explorer.first, "x == 3", start=start)["path"] is None
    monkeypatch.setattr("checker.explore.explorer.STATES_FROM_HERE", 2)
    said = explorer.seek(explorer.first, "y == 3", start=False)["said"]
    assert said == "not found within 0 steps from here (3 states)", "c, one step away, is not seen"
