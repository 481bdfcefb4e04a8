"""Goal: what replays is a run of the specification that shows what it claims; nothing else does."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from toggling import Command

from checker.machine.machine import Machine
from checker.semantics.successor import State, Successor
from checker.semantics.successors import successors

SPEC = """\
system: steps
about: A counter that goes round, or stays.
variables:
  count: {type: "0..9", initial: "0"}
  open: {type: bool, initial: "false"}
rows:
  - row: up
    when: count < 9
    do: count += 1
    fair: weak
  - row: round
    when: count == 9
    do: count = 0
    fair: weak
properties:
  small:
    always: count < 3
    why: it is a test.
  settles:
    eventually: open
    why: it never does.
"""
Json = dict[str, Any]


@pytest.fixture
def traces(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    monkeypatch.chdir(tmp_path)
    Path("steps.yaml").write_text(SPEC)
    for name in ("small", "settles"):
        words = ("--property", name, "--engine", "reference", "--progress", "none")
        assert command("check", "steps.yaml", *words, "--report", name).code in (12, 13)
    return {name: Path(name, f"{name}.itf.json") for name in ("small", "settles")}


def test_what_was_written_replays(command: Command, traces: dict[str, Path]) -> None:
    for name, file in traces.items():
        done = command("trace", file, "--replay")
        assert (done.code, done.err) == (0, "")
        assert done.out.startswith(f"{file}: replays, ")
        assert done.out.endswith(f" to {name}\n")


def test_where_a_trace_goes_round_is_a_part_of_it(
    command: Command, traces: dict[str, Path]
) -> None:
    file, other = traces["settles"], Path("other.itf.json")
    other.write_text(file.read_text().replace('"loop": 0', '"loop": 1'))
    end = "and again from step {} on, for ever\n"
    assert end.format(1) in command("trace", file).out
    done = command("trace", file, other, "--diff")
    assert done.code == 1
    assert done.out.endswith(f"- {end.format(1)}+ {end.format(2)}")


def test_a_trace_of_an_error_says_what_fails(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("steps.yaml").write_text(SPEC.replace("when: count < 9", "when: count < 99"))
    words = ("--property", "settles", "--engine", "reference", "--progress", "none")
    assert command("check", "steps.yaml", *words, "--report", "report").code == 75
    shown = command("trace", "report/error.itf.json").out
    assert "\nfailed: E501 in up: 10 is outside 0..9 (in count += 1) at steps.yaml:" in shown


def test_what_is_built_in_has_one_name_and_has_to_be_judged(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ends = SPEC.replace("when: count == 9", "when: count == 10").replace("0..9", "0..10")
    Path("steps.yaml").write_text(ends)
    words = ("--property", "deadlock", "--engine", "reference", "--progress", "none")
    assert command("check", "steps.yaml", *words, "--report", "report").code == 11
    file = Path("report/deadlock.itf.json")
    assert command("trace", file, "--replay").code == 0
    Path("steps.yaml").write_text(ends + "deadlock: false\n")
    done = command("trace", file, "--replay")
    assert (done.code, "does not judge deadlocks" in done.out) == (1, True)
    Path("steps.yaml").write_text(ends)
    changed(file, put("#meta", "property", value="small"))
    done = command("trace", file, "--replay")
    assert (done.code, "deadlock is claimed under the name small" in done.out) == (1, True)


def test_a_constant_that_is_given_leaves_the_others_of_a_trace(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = SPEC.replace("variables:", "constants: {by: 1, other: 0}\nvariables:")
    Path("steps.yaml").write_text(text.replace("count += 1", "count += by"))
    words = ("--property", "small", "--engine", "reference", "--progress", "none")
    command("check", "steps.yaml", *words, "--set", "by=2", "--report", "report")
    file = Path("report/small.itf.json")
    for more in ((), ("--set", "other=1")):
        assert command("trace", file, "--replay", *more).code == 0
        assert command("trace", file, "--eval", "by", *more).out.count("by is 2") == 3
    for more in ((), ("--spec", "steps.yaml"), ("--replay",)):
        assert command("trace", file, file, "--diff", *more).code == (2 if more else 0)


def put(*path: str | int, value: object) -> Callable[[Json], None]:
    """Return a change of a file: `value` at a place in it."""

    def change(data: Json) -> None:
        at: Any = data
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = value

    return change


WRONG: list[tuple[str, Callable[[Json], None], str]] = [
    ("settles", put("loop", value=99), "`loop` is 99; it is the number of a state"),
    ("settles", put("loop", value=-1), "`loop` is -1"),
    ("settles", put("loop", value="x"), '`loop` is "x"'),
    ("settles", put("loop", value=True), "`loop` is true"),
    ("settles", put("loop", value=None), "`loop` is null"),
    ("small", put("states", 1, "more", value=1), "state 1 has more, which is no variable"),
    ("small", put("vars", value=["count"]), "`vars` are not those of steps: open"),
    ("small", put("states", 0, "open", value="no"), "no value of open"),
    ("small", put("states", 0, "count", value={"#bigint": 0}), "no value of count"),
    ("small", put("#meta", value=[]), "no `#meta`"),
    ("small", put("#meta", "spec_hash", value="x"), "no SHA-256"),
    ("small", put("#meta", "kind", value=7), "no text `kind`"),
    ("small", put("#meta", "property", value=None), "no text `property`"),
    ("small", put("#meta", "overrides", value=["x"]), "`overrides`"),
    ("small", put("states", 1, "#meta", value="junk"), "`#meta` of state 1"),
    ("small", put("states", 1, "#meta", "index", value=5), "`#meta` of state 1"),
    ("small", put("states", 1, "#meta", "row", value=["up"]), "`#meta` of state 1"),
    ("small", put("states", 1, "#meta", "picks", value="up"), "`#meta` of state 1"),
    ("small", put("states", 1, "#meta", "changes", value=[1]), "`#meta` of state 1"),
]
UNTRUE: list[tuple[str, Callable[[Json], None], str]] = [
    ("small", put("#meta", "kind", value="nonsense"), "no kind of property"),
    ("small", put("#meta", "property", value="other"), "has no property other"),
    ("small", put("loop", value=0), "it has a loop"),
    ("settles", put("loop", value=3), "where its loop begins"),
    ("small", put("states", 1, "#meta", "row", value="round"), "now it is up"),
    ("small", put("states", 2, "count", value={"#bigint": "7"}), "no row leads to this state"),
]


def changed(file: Path, change: Callable[[Json], None]) -> None:
    data = json.loads(file.read_text())
    change(data)
    file.write_text(json.dumps(data))


@pytest.mark.parametrize(("name", "change", "said"), WRONG)
def test_a_file_that_makes_no_sense_is_refused(
    command: Command,
    traces: dict[str, Path],
    name: str,
    change: Callable[[Json], None],
    said: str,
) -> None:
    changed(traces[name], change)
    done = command("trace", traces[name], "--replay")
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert str(traces[name]) in done.err
    assert command("trace", traces[name]).code == 0 or "`#meta`" not in said


@pytest.mark.parametrize(("name", "change", "said"), UNTRUE)
def test_a_file_that_claims_what_it_does_not_show_differs(
    command: Command,
    traces: dict[str, Path],
    name: str,
    change: Callable[[Json], None],
    said: str,
) -> None:
    changed(traces[name], change)
    done = command("trace", traces[name], "--replay")
    assert done.code == 1, done.err
    assert said in done.out


@pytest.mark.parametrize(
    "value", [{"#map": [[1]]}, {"#map": [1]}, {"#set": 3}, {"tag": "Some"}, [[]], None]
)
def test_a_value_that_is_none_is_shown_as_it_is(
    command: Command, traces: dict[str, Path], tmp_path: Path, value: object
) -> None:
    other = tmp_path / "other.itf.json"
    other.write_text(traces["small"].read_text())
    changed(other, put("states", 1, "count", value=value))
    done = command("trace", traces["small"], other, "--diff")
    assert (done.code, done.err) == (1, "")
    assert "count: 1 | " in done.out
    replayed = command("trace", other, "--replay")
    assert replayed.code == 2
    assert f"no value of count that fits steps: {json.dumps(value)}" in replayed.err


def test_a_key_that_stands_twice_is_refused(command: Command, traces: dict[str, Path]) -> None:
    file = traces["small"]
    file.write_text(file.read_text().replace('"loop"', '"x"').replace("{", '{"vars": [],', 1))
    done = command("trace", file, "--replay")
    assert (done.code, done.out) == (2, "")
    assert "the key 'vars' stands twice" in done.err


def test_another_specification_is_said_with_the_result(
    command: Command, traces: dict[str, Path]
) -> None:
    Path("steps.yaml").write_text(SPEC.replace("goes round", "walks round"))
    done = command("trace", traces["small"], "--replay")
    assert done.code == 0
    assert "replays" in done.out
    assert "the specification is not the one it was recorded on" in done.out
    Path("steps.yaml").write_text(SPEC.replace("count += 1", "count += 2"))
    assert command("trace", traces["small"], "--replay").code != 0
    Path("steps.yaml").write_text(SPEC.replace("open", "opened"))
    done = command("trace", traces["small"], "--replay")
    assert (done.code, done.out) == (2, "")
    assert "opened" in done.err
    assert "the specification is not the one it was recorded on" in done.err


def test_what_repeats_is_run_once(
    command: Command, traces: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Long recorded runs go round in few states; each of them has its successors made once."""
    file = traces["settles"]
    data = json.loads(file.read_text())
    loop = data["states"][data["loop"] + 1 :]
    assert loop
    while len(data["states"]) < 1000:
        data["states"] += json.loads(json.dumps(loop))
    for number, state in enumerate(data["states"]):
        state["#meta"]["index"] = number
    file.write_text(json.dumps(data))
    made: list[object] = []

    def counted(machine: Machine, state: State) -> Iterable[Successor]:
        made.append(state)
        return successors(machine, state)

    monkeypatch.setattr("checker.trace.recorded.successors", counted)
    done = command("trace", file, "--replay")
    assert done.code == 0, done.out + done.err
    assert len(made) == 10


EVIL = "x\n\x1b]0;t\x07\x1b[31m\x9b31m\u202e"
"""It would begin a line, name the window, print in red, and turn the text around."""


@pytest.mark.parametrize("words", [(), ("--replay",), ("--diff",), ("--eval", "count")])
def test_nothing_that_a_trace_says_acts_on_the_terminal(
    command: Command, traces: dict[str, Path], words: tuple[str, ...]
) -> None:
    data = json.loads(traces["small"].read_text())
    data["#meta"] |= {"property": EVIL, "kind": EVIL, "replay": EVIL, "failed": {"text": EVIL}}
    for state in data["states"]:
        state["#meta"] |= {"row": EVIL, "actor": EVIL, "changes": [EVIL], "picks": [[EVIL, EVIL]]}
        state["#meta"] |= {"events": [EVIL]}
    if words != ("--eval", "count"):
        data["#meta"] |= {"spec": EVIL, "instance": EVIL}
    Path("evil.json").write_text(json.dumps(data))
    other = [traces["small"]] if words == ("--diff",) else []
    done = command("trace", "evil.json", *other, *words)
    assert r"\x1b]0;t\x07\x1b[31m\x9b31m\u202e" in done.out + done.err
    assert not set(done.out + done.err) & set("\x1b\x07\x9b\u202e")
    if not words:
        assert len(done.out.splitlines()) == 3 + 3 * len(data["states"])


def test_a_file_without_an_end_is_not_read(command: Command, traces: dict[str, Path]) -> None:
    with Path("large.json").open("wb") as file:
        file.truncate(20 << 30)
    for words in (("trace", "large.json"), ("step", "steps.yaml", "--trace", "large.json")):
        done = command(*words)
        assert (done.code, done.err) == (2, "error: large.json is larger than 64 MiB\n")
    assert traces


OTHERWISE: list[tuple[str, str, str, str]] = [
    ("small", "rows:", "bounds:\n  - count < 2\nrows:", "leaves the bounds, where no run goes on"),
    ("small", "rows:", "bounds:\n  - count > 0\nrows:", "state 0 is beyond the bounds"),
    ("settles", "rows:", "bounds:\n  - count < 9\nrows:", "leaves the bounds"),
    ("small", "always: count < 3", "sometimes: count > 9", "is `sometimes` in the specification"),
]


@pytest.mark.parametrize(("name", "before", "after", "said"), OTHERWISE)
def test_what_the_specification_shows_no_more_differs(
    command: Command, traces: dict[str, Path], name: str, before: str, after: str, said: str
) -> None:
    Path("steps.yaml").write_text(SPEC.replace(before, after))
    done = command("trace", traces[name], "--replay")
    assert done.code == 1
    assert said in done.out


FAILING = """\
system: fails
about: A row that leaves its range, or does not.
constants:
  step: 2
variables:
  count: {type: "0..9", initial: "0"}
rows:
  - row: up
    do: count += step
properties:
  whole: {always: "10 // (count - 20) < 9", why: it is a test.}
"""


def test_an_error_that_does_not_happen_any_more_does_not_replay(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("fails.yaml").write_text(FAILING)
    words = ("--engine", "reference", "--progress", "none", "--report")
    assert command("check", "fails.yaml", *words, "out").code == 75
    file = Path("out", "error.itf.json")
    done = command("trace", file, "--replay")
    assert (done.code, done.err) == (0, "")
    Path("fails.yaml").write_text(FAILING.replace("count += step", "count = (count + step) % 9"))
    done = command("trace", file, "--replay")
    assert done.code == 1
    assert "nothing fails at its end any more" in done.out
    Path("fails.yaml").write_text(FAILING.replace("count - 20", "count - 8"))
    done = command("trace", file, "--replay")
    assert done.code == 0, "the row fails there all the same"
    assert command("check", "fails.yaml", *words, "other").code == 75
    assert command("trace", "other/error.itf.json", "--replay").code == 0
    Path("fails.yaml").write_text(FAILING)
    assert "nothing fails" in command("trace", "other/error.itf.json", "--replay").out
