"""Goal: `checker check` keeps the contract: its object, exit codes, errors without traceback."""

import json
from pathlib import Path

import pytest
from toggling import TOGGLE, Command

from checker.trace.itf import load

REFERENCE = ("--engine", "reference")


def test_the_verdict_is_the_first_line(command: Command, toggle: str) -> None:
    result = command("check", toggle, *REFERENCE)
    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines()[0] == (
        "holds: 16 distinct states, depth 8, exhaustive, with at most 1 glitch"
    )


def test_both_engines_say_the_same(command: Command, toggle: str) -> None:
    def told(*words: str) -> object:
        found = command("check", toggle, "--instance", "broken", "--format", "json", *words).json
        varies = ("engine", "workers", "seconds", "compile_seconds", "peak_rss_bytes")
        size = ("state_bits", "bytes_per_state")
        return {key: value for key, value in found.items() if key not in (*varies, *size)}

    assert told(*REFERENCE) == told("--engine", "local", "--workers", "1")


def test_a_violation_exits_with_12_and_writes_what_its_object_names(
    command: Command, toggle: str
) -> None:
    words = ("--instance", "broken", "--report", "out", "--format", "json", *REFERENCE)
    result = command("check", toggle, *words)
    assert result.code == 12
    (few,) = (item for item in result.json["properties"] if item["name"] == "few")
    assert (few["verdict"], few["length"]) == ("violated", 5)
    data = load(Path(few["trace"]).read_text(), few["trace"])
    assert len(data["states"]) == 6
    assert "few (violated, 5 steps)" in Path("out/README.md").read_text()
    assert json.loads(Path("out/verdict.json").read_text())["verdict"] == "violated"


def test_a_report_leaves_no_runs_of_the_one_before(command: Command, toggle: str) -> None:
    command("check", toggle, "--instance", "broken", "--report", "out", *REFERENCE)
    assert Path("out/few.itf.json").exists()
    assert Path("out/few.dot").exists()
    Path("out/mine.itf.json").write_text("{}")
    assert command("check", toggle, "--report", "out", *REFERENCE).code == 0
    named = {
        item["trace"] for item in json.loads(Path("out/verdict.json").read_text())["properties"]
    }
    traces = {path.name for path in Path("out").glob("*.itf.json")}
    assert traces == (named - {None}) | {"mine.itf.json"}
    assert not Path("out/few.dot").exists()


def test_set_changes_a_constant(command: Command, toggle: str) -> None:
    result = command("check", toggle, "--set", "limited=false", *REFERENCE)
    assert result.code == 12
    assert "5 steps" in result.out


@pytest.mark.parametrize(
    ("words", "code", "verdict", "stopped"),
    [
        (("--limit-depth", "2"), 20, "bounded", "depth"),
        (("--limit-states", "3"), 20, "inconclusive", "states"),
        (("--property", "lights_up"), 0, "holds", None),
    ],
)
def test_limits_and_selections(
    command: Command, toggle: str, words: tuple[str, ...], code: int, verdict: str, stopped: str
) -> None:
    result = command("check", toggle, "--format", "json", *REFERENCE, *words)
    assert (result.code, result.json["verdict"]) == (code, verdict)
    assert result.json["stopped_by"] == stopped


def test_a_selected_witness_is_shown(command: Command, toggle: str) -> None:
    result = command("check", toggle, "--property", "lights_up", *REFERENCE)
    assert "lights_up (is reached, 1 step)" in result.out


@pytest.mark.parametrize(
    "words",
    [
        ("--engine", "spark", "--memory", "4g"),
        ("--engine", "spark", "--profile"),
        ("--engine", "spark", "--checkpoint-seconds", "5"),
        ("--engine", "spark", "--workers", "2", "--master", "local[2]"),
        ("--engine", "spark", "--checkpoint", "x", "--resume", "y"),
        ("--engine", "spark", "--conf", "spark.ui.enabled"),
        ("--engine", "spark", "--master", "nonsense"),
        ("--engine", "spark", "--master", "local[0]"),
        ("--master", "local[2]"),
        ("--conf", "spark.ui.enabled=false"),
        ("--checkpoint", "x", "--engine", "reference"),
        ("--resume", "x", "--engine", "reference"),
        ("--resume", "x"),
        ("--profile", "--engine", "reference"),
        ("--checkpoint", "toggle.yaml"),
        ("--symmetry", "on"),  # it has no symmetric ids
        ("--engine", "reference", "--workers", "2"),
        ("--property", "fewer"),
        ("--instance", "none"),
        ("--set", "most"),
        ("--set", "mst=2"),
        ("--set", "most=\u0663"),  # a digit, but not one that the specification may have
        ("--set=",),
        ("--instance", ""),  # "$INSTANCE", which is not set, is not the default instance
        ("--report", " "),
        ("--checkpoint=",),
        ("--checkpoint-seconds", "5"),  # of no checkpoint
        ("--workers", "100000"),
        ("--memory", "lots"),
        ("--memory", "0"),
        ("--limit-depth", "-1"),
        ("--unknown",),
    ],
    ids=" ".join,
)
def test_what_cannot_be_honoured_is_a_usage_error(
    command: Command, toggle: str, words: tuple[str, ...]
) -> None:
    result = command("check", toggle, *words)
    assert (result.code, result.out) == (2, "")
    assert "rror: " in result.err
    assert "Traceback" not in result.err


SYMMETRIC = """
system: guests
about: Guests come in, one after another.
constants:
  Guest: {ids: 3, symmetric: true}
variables:
  inside: {type: set of Guest, initial: empty}
rows:
  - row: comes
    for: {guest: Guest}
    do: inside.add(guest)
properties:
  not_full:
    always: len(inside) < 3
    why: the house is small.
"""


@pytest.mark.parametrize("engine", ["reference", "local"])
def test_symmetry_is_on_where_ids_are_symmetric(
    command: Command, tmp_path: Path, engine: str
) -> None:
    file = tmp_path / "system.yaml"
    file.write_text(SYMMETRIC)

    def told(*words: str) -> tuple[object, ...]:
        found = command("check", file, "--engine", engine, "--format", "json", *words).json
        (item,) = (entry for entry in found["properties"] if entry["name"] == "not_full")
        return found["symmetry"], found["distinct"], item["verdict"], item["length"]

    assert told() == told("--symmetry", "on") == (True, 4, "violated", 3)
    assert told("--symmetry", "off") == (False, 8, "violated", 3)
    text = command("check", file, "--engine", engine).out.replace("\n", " ")
    assert "4 distinct states up to renaming Guest" in text


@pytest.mark.parametrize("engine", ["reference", "local"])
def test_symmetry_and_liveness_go_together_where_asked(
    command: Command, tmp_path: Path, engine: str
) -> None:
    file = tmp_path / "system.yaml"
    lively = "  fills: {eventually: len(inside) == 3, why: they all come.}\n"
    file.write_text(SYMMETRIC + lively)

    def told(*words: str) -> tuple[object, ...]:
        found = command("check", file, "--engine", engine, "--format", "json", *words).json
        (item,) = (entry for entry in found["properties"] if entry["name"] == "fills")
        return found["symmetry"], found["distinct"], item["verdict"], item["length"]

    assert told("--keep-going") == (False, 8, "violated", 0)
    assert told("--keep-going", "--symmetry", "on") == (True, 4, "violated", 0)


def test_symmetry_that_leaves_nothing_to_rename_is_refused(
    command: Command, tmp_path: Path
) -> None:
    file = tmp_path / "system.yaml"
    lively = "  fills: {eventually: len(inside) == 3, why: they all come.}\n"
    file.write_text(SYMMETRIC + lively)
    many = ("--set", "Guest=7", "--symmetry", "on")
    result = command("check", file, *many, *REFERENCE)
    assert (result.code, result.out) == (2, "")
    assert "infinite runs are judged (fills (eventually))" in result.err


@pytest.mark.parametrize("seconds", ["nan", "inf", "1e300", "-1", "soon"])
def test_a_time_that_no_clock_can_wait_for_is_refused(
    command: Command, toggle: str, seconds: str
) -> None:
    for words in (("check",), ("hunt",), ("conform", "--adapter", "true")):
        result = command(*words, toggle, "--limit-seconds", seconds)
        assert (result.code, result.out) == (2, "")
        assert "Invalid value for '--limit-seconds'" in result.err


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("can't start new thread")])
def test_memory_that_the_process_may_not_have_is_no_defect(
    error: Exception, command: Command, toggle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise error

    monkeypatch.setattr("checker.flow.check", refused)
    result = command("check", toggle)
    assert (result.code, result.out) == (255, "")
    assert "the memory it needs" in result.err
    assert "Traceback" not in result.err


def test_a_wrong_name_is_answered_with_a_near_one(command: Command, toggle: str) -> None:
    assert "did you mean few?" in command("check", toggle, "--property", "fewer").err
    assert "two_phase" in command("check", "two_phases").err
    assert "Did you mean 'check'?" in command("chek", toggle).err
    assert "did you mean `most`?" in command("check", toggle, "--set", "mst=2").err
    assert "there are Client, most, limited" in command("check", toggle, "--set", "x=2").err
    assert "after --instance is empty" in command("check", toggle, "--instance", "").err


def test_a_wrong_specification_is_located_in_both_forms(command: Command, toggle: str) -> None:
    Path(toggle).write_text(TOGGLE.replace("presses += 1", "presses += oen"))
    text = command("check", toggle)
    assert (text.code, text.out) == (120, "")
    assert "toggle.yaml:18:" in text.err
    assert "oen" in text.err
    assert "Traceback" not in text.err
    result = command("check", toggle, "--format", "json")
    assert result.code == 120
    (diagnostic,) = result.json["error"]["diagnostics"]
    assert (diagnostic["file"], diagnostic["line"]) == ("toggle.yaml", 18)


def test_an_evaluation_error_exits_with_75(command: Command, toggle: str) -> None:
    Path(toggle).write_text(TOGGLE.replace("0..9", "0..2"))
    text = command("check", toggle, *REFERENCE)
    assert text.code == 75
    assert "evaluation error in row press (3 steps)" in text.out
    assert "3 is outside 0..2" in text.out
    error = command("check", toggle, "--format", "json", *REFERENCE).json["error"]
    assert (error["code"], error["row"], error["kind"]) == ("E501", "press", "evaluation")


def test_an_unreached_sometimes_exits_with_16(command: Command, toggle: str) -> None:
    Path(toggle).write_text(TOGGLE.replace("sometimes: on", "sometimes: presses > most"))
    result = command("check", toggle, *REFERENCE)
    assert result.code == 16
    assert "lights_up is never reached" in result.out.splitlines()[0]


def test_a_deadlock_exits_with_11_and_says_what_could_still_happen(
    command: Command, toggle: str
) -> None:
    Path(toggle).write_text(TOGGLE.replace("when: presses == most", 'when: "false"'))
    result = command("check", toggle, *REFERENCE)
    assert result.code == 11
    assert "only faults can happen here: flicker" in result.out


def test_progress_goes_to_stderr(command: Command, toggle: str) -> None:
    result = command("check", toggle, "--progress", "json", "--format", "json", *REFERENCE)
    assert result.json["verdict"] == "holds"
    stages = [json.loads(line)["stage"] for line in result.err.splitlines()]
    assert stages[:3] == ["read", "elaborate", "explore"]


def test_a_number_that_no_machine_holds_is_told(command: Command, toggle: str) -> None:
    for digits in (19, 99, 4000):
        result = command("check", toggle, "--set", "most=" + "9" * digits)
        assert result.code == 2
        assert "it is an integer between -2**62 and 2**62" in result.err


def test_a_report_that_cannot_be_written_is_told(command: Command, toggle: str) -> None:
    result = command("check", toggle, "--report", "/proc/nowhere")
    assert result.code == 2
    assert "error: /proc/nowhere: no such file or directory" in result.err
    assert "Errno" not in result.err


def test_a_report_is_not_written_through_a_link(command: Command, toggle: str) -> None:
    Path("rep").mkdir()
    Path("rep/index.html").symlink_to("../other.html")
    result = command("check", toggle, "--report", "rep")
    assert result.code == 2
    assert "rep/index.html: a link, and nothing is written through links here" in result.err
    assert [path.name for path in Path("rep").iterdir()] == ["index.html"]
    assert not Path("other.html").exists()


def test_other_engines_keep_no_states_in_halves(command: Command, toggle: str) -> None:
    for engine in ("reference", "spark"):
        result = command("check", toggle, "--engine", engine, "--compact", "on")
        assert result.code == 2
        assert "--compact: only the local engine keeps states in halves" in result.err
    assert command("check", toggle, "--engine", "local", "--compact", "on").code == 0


WIDE = """\
system: wide
about: Out of one state lead 262,144 steps.
types:
  Some: set of 0..8
variables:
  chosen: {type: set of Some, initial: empty}
rows:
  - row: choose
    for: {a: set of 0..8, b: set of 0..8}
    do: chosen.add(a ^ b)
"""


@pytest.mark.usefixtures("toggle")
def test_steps_of_one_state_that_do_not_fit_are_the_reason(command: Command) -> None:
    Path("wide.yaml").write_text(WIDE)
    words = ("check", "wide.yaml", "--memory", "30m")
    result = command(*words)
    assert result.code == 20
    told = " ".join(result.out.split())
    assert "stopped by the memory limit: one state has more steps than fit" in told
    assert command(*words, "--format", "json").json["stopped_by"] == "memory_of_one_state"
