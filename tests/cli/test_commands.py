"""Goal: verify gates, trace replays and compares, show shows; nothing ends in a traceback."""

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from toggling import TOGGLE, Command

from checker import __version__, library

ROOT = Path(__file__).parents[2]


def recorded(command: Command, toggle: str) -> Path:
    command("check", toggle, "--instance", "broken", "--report", "out", "--engine", "reference")
    return Path("out/few.itf.json")


# ------------------------------------------------------------------------------------- verify


def test_what_is_as_declared_passes(command: Command, toggle: str) -> None:
    result = command("verify", toggle, "--workers", "1", "--junit", "junit.xml")
    assert result.code == 0
    assert "2 instances, all as declared" in result.out
    root = ET.parse("junit.xml").getroot()  # noqa: S314 (our own file)
    assert (root.attrib["tests"], root.attrib["failures"]) == ("2", "0")


@pytest.mark.parametrize(
    ("before", "after", "difference"),
    [
        ("distinct: 16", "distinct: 17", "distinct: expected 17, found 16"),
        ("length: 5", "length: 4", "length: expected 4, found 5"),
        (
            "presses < most",
            "presses <= most",
            "verdict: expected holds, found violated (deadlock, few)",
        ),
        ("{verdict: holds, distinct: 16}", "{verdict: violated}", "expected violated, found holds"),
    ],
)
def test_what_is_not_as_declared_fails(
    command: Command, toggle: str, before: str, after: str, difference: str
) -> None:
    assert before in TOGGLE
    Path(toggle).write_text(TOGGLE.replace(before, after))
    result = command("verify", toggle, "--workers", "1", "--junit", "junit.xml")
    assert result.code == 1
    assert difference in result.out
    assert difference in Path("junit.xml").read_text()


def test_a_wrong_specification_does_not_hide_the_others(command: Command, toggle: str) -> None:
    Path("wrong.yaml").write_text("system: wrong\n")
    result = command("verify", "wrong.yaml", toggle, "--workers", "1", "--format", "json")
    assert result.code == 120
    instances = result.json["instances"]
    assert [item["met"] for item in instances] == [False, True, True]
    assert "wrong.yaml:1:" in instances[0]["error"]


def test_processes_find_the_same(command: Command, toggle: str) -> None:
    def told(workers: int) -> list[dict[str, object]]:
        found = command("verify", toggle, "--fresh", "--workers", workers, "--format", "json")
        return [{**item, "seconds": 0} for item in found.json["instances"]]

    assert told(1) == told(2)


def test_reports_are_written_compared_and_found_out_of_date(command: Command, toggle: str) -> None:
    words = ("verify", toggle, "--workers", "1", "--report", "reports")
    assert command(*words, "--check").code == 1
    assert command(*words).code == 0
    assert command(*words, "--check").code == 0
    assert "few (violated, 5 steps)" in Path("reports/toggle/broken/README.md").read_text()
    Path("reports/README.md").write_text("old")
    result = command(*words, "--check")
    assert result.code == 1
    assert "out of date: reports/README.md" in result.err
    assert f"write them again: checker verify {toggle} --report reports" in result.err
    assert command("verify", toggle, "--check").code == 2


# -------------------------------------------------------------------------------------- trace


def test_a_trace_prints_and_replays(command: Command, toggle: str) -> None:
    file = recorded(command, toggle)
    printed = command("trace", file)
    assert printed.code == 0
    assert "few (always), toggle.yaml, instance broken, 5 steps" in printed.out
    assert "   1  press(ann)\n        on: false -> true\n" in printed.out
    assert "replay: checker check toggle.yaml --instance broken" in printed.out
    Path("other.json").write_text('{"vars": ["on"], "states": [{"on": false}, {"on": true}]}')
    printed = command("trace", "other.json")
    assert printed.out == "a walk, 1 step\n   0  initial state\n   1  step 1\n"
    replayed = command("trace", file, "--replay")
    assert (replayed.code, replayed.err) == (0, "")
    assert "replays, 5 steps to few" in replayed.out


def test_a_changed_specification_does_not_replay(command: Command, toggle: str) -> None:
    file = recorded(command, toggle)
    Path(toggle).write_text(TOGGLE.replace("presses += 1", "presses += 2"))
    result = command("trace", file, "--replay")
    assert result.code == 1
    assert "step 1, press(ann): no row leads to this state any more" in result.out
    assert "the specification is not the one it was recorded on" in result.out
    assert result.err == ""


def test_a_mended_property_is_noticed(command: Command, toggle: str) -> None:
    file = recorded(command, toggle)
    Path(toggle).write_text(TOGGLE.replace("presses <= most)", "presses <= 9)"))
    assert "its end does not show few" in command("trace", file, "--replay").out


def test_two_traces_are_compared(command: Command, toggle: str) -> None:
    file = recorded(command, toggle)
    assert command("trace", file, file, "--diff").code == 0
    data = json.loads(file.read_text())
    data["states"][3]["presses"] = {"#bigint": "7"}
    Path("other.itf.json").write_text(json.dumps(data))
    result = command("trace", file, "other.itf.json", "--diff")
    assert result.code == 1
    assert "the first 3 states are the same" in result.out
    assert "  presses: 3 | 7" in result.out


@pytest.mark.parametrize("content", ["", "{}", "[1]", '{"vars": [], "states": [1]}', "\xff"])
def test_what_is_no_trace_is_a_usage_error(command: Command, toggle: str, content: str) -> None:
    Path("bad.itf.json").write_bytes(content.encode("latin-1"))
    result = command("trace", "bad.itf.json")
    assert result.code == 2
    assert "Traceback" not in result.err
    assert command("trace", "missing.json").code == 2
    assert command("trace", toggle, "--diff").code == 2


# --------------------------------------------------------------------------------------- show


def test_tables_in_every_form(command: Command) -> None:
    assert "Every way to CompletingRebalance goes through" in command("show", "group").out
    assert "| `Stable` |" in command("show", "group", "--format", "markdown").out
    assert "stateDiagram-v2" in command("show", "group", "--format", "mermaid").out
    assert command("show", "group", "--format", "dot").out.startswith('digraph "group" {')


@pytest.mark.parametrize("stage", ["table", "machine", "layout", "kernel"])
def test_every_stage_can_be_looked_at(command: Command, toggle: str, stage: str) -> None:
    result = command("show", toggle, "--stage", stage)
    assert result.code == 0
    assert "presses" in result.out or "define" in result.out


def test_rows_are_shown_as_they_are_written(command: Command, toggle: str) -> None:
    result = command("show", toggle, "--format", "markdown")
    assert (
        "**`press`**\n\n```text\nfor   client in Client\nwhen  not limited or presses < most\n"
        "do    on = not on\n      presses += 1\n```\n"
    ) in result.out
    assert command("show", toggle, "--format", "mermaid").code == 2
    assert command("show", "group", "--stage", "machine").code == 2


@pytest.mark.parametrize(
    "words",
    [
        ("show", "--write"),
        ("show", "--tables", "--write", "--set", "most=2"),
        ("show", "--tables", "--row", "press"),
        ("show", "--row", "press", "--instance", "default"),
        ("verify", "--title", "Toggles"),
        ("mutate", "--seed", "4"),
    ],
)
def test_no_option_is_left_out_of_account(
    command: Command, toggle: str, words: tuple[str, ...]
) -> None:
    refused = command(*words, toggle)
    assert (refused.code, refused.out) == (2, "")
    assert not Path("README.md").exists()
    assert command("show", "group", "--instance", "x").code == 2
    if words[0] == "verify":  # what a file says is for runs with a report, too
        Path("checker.toml").write_text('verify = {title = "Toggles"}')
        assert "--title" not in command("verify", toggle, "--workers", "1").err


def test_tables_go_into_the_readme_itself(command: Command, toggle: str) -> None:
    readme, other = Path("README.md"), Path("other.md")
    readme.symlink_to(other)
    refused = command("show", toggle, "--tables", "--write")
    assert refused.code == 2
    assert "README.md: a link, and nothing is written through links here" in refused.err
    assert not other.exists()
    readme.unlink()
    readme.write_text("# Mine\n")
    assert command("show", toggle, "--tables", "--write").code == 0
    assert readme.read_text().startswith("# Mine\n\n<!-- state tables: ")
    with readme.open("wb") as file:
        file.truncate(20 << 30)
    refused = command("show", toggle, "--tables", "--write")
    assert (refused.code, refused.err) == (2, "error: README.md is larger than 1 MiB\n")


@pytest.mark.parametrize("words", [("show", "--tables", "--write"), ("verify", "--update")])
def test_nothing_is_written_into_the_installed_checker(
    command: Command, toggle: str, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setattr(library, "_packed", lambda: Path.cwd().resolve())
    refused = command(*words, toggle)
    assert (refused.code, refused.out) == (2, "")
    assert "is a part of the installed checker" in refused.err
    assert not Path("README.md").exists()


# ----------------------------------------------------------------------- simulate and the rest


def test_walks_are_reproducible(command: Command, toggle: str) -> None:
    words = ("simulate", toggle, "--instance", "broken", "--walks", "50", "--depth", "30")
    first = command(*words, "--seed", "7", "--trace", "new/walk.itf.json")
    assert first.code == 12
    assert first.out == command(*words, "--seed", "7", "--workers", "1").out
    assert command("trace", "new/walk.itf.json", "--replay").code == 0


def test_walks_that_find_nothing_do_not_claim_that_it_holds(command: Command, toggle: str) -> None:
    result = command("simulate", toggle, "--walks", "10", "--depth", "20")
    assert result.code == 0
    assert "walks do not show that it holds" in result.out
    data = command("simulate", toggle, "--walks", "10", "--format", "json").json
    assert (data["walks"], data["complete"], data["property"]) == (10, True, None)


BEGUN_WRONG = """
system: begun
about: What is wrong from the beginning.
variables:
  x: {type: 0..3, initial: "3"}
initial: {do: x = x // (x - 3)}
rows:
  - {row: go, when: x < 3, do: x += 1}
"""


@pytest.mark.usefixtures("toggle")
def test_what_is_an_error_from_the_beginning_is_called_one(command: Command) -> None:
    Path("begun.yaml").write_text(BEGUN_WRONG)
    walked = command("simulate", "begun.yaml", "--walks", "2")
    assert (walked.code, walked.out.split(" in ")[0]) == (75, "inconclusive: evaluation error")
    hunted = command("hunt", "begun.yaml", "--hunts", "1", "--steps", "10")
    assert hunted.code == 75
    assert "a shorter run may exist" not in hunted.out


def test_a_report_of_walks_numbers_them_as_the_answer_does(command: Command, toggle: str) -> None:
    words = ("simulate", toggle, "--walks", "1", "--depth", "4", "--report", "walked")
    assert "nothing went wrong in 1 walk, 4 steps, seed 0" in command(*words).out
    rows = [line.split("|") for line in Path("walked/README.md").read_text().splitlines()]
    assert {row[5].strip() for row in rows if len(row) > 5 and row[1].startswith(" `")} <= {
        "0",
        "never",
    }


def test_walks_say_what_they_do_not_judge(command: Command, toggle: str) -> None:
    endless = "properties:\n  settles: {eventually: on, why: a switch is for light.}\n"
    Path(toggle).write_text(TOGGLE.replace("properties:\n", endless, 1))
    refused = command("simulate", toggle, "--property", "settles", "--walks", "10")
    assert (refused.code, refused.out) == (2, "")
    assert "settles is about endless runs" in refused.err
    words = ("simulate", toggle, "--walks", "10")
    assert "not judged, for walks end: settles" in command(*words).out
    assert command(*words, "--format", "json").json["not_judged"] == ["settles"]
    for name in ("simulate", "hunt"):
        result = command(name, toggle, "--depth", "100000000000")
        assert (result.code, result.out) == (2, "")
        assert "Invalid value for '--depth'" in result.err


def test_hunts_are_reproducible_and_their_findings_replay(command: Command, toggle: str) -> None:
    words = ("hunt", toggle, "--instance", "broken", "--hunts", "5", "--steps", "500")
    first = command(*words, "--seed", "7", "--report", "found")
    assert first.code == 12
    assert "1 hunt of seed 7" in first.out
    assert "a shorter run may exist" in first.out
    assert first.out == command(*words, "--seed", "7", "--workers", "1").out
    traces = [str(path) for path in Path("found").glob("*.itf.json")]
    assert traces
    assert command("trace", *traces, "--replay").code == 0
    data = command(*words, "--format", "json").json
    assert (data["engine"], data["verdict"], data["stopped_by"]) == (
        "hunt",
        "violated",
        "violation",
    )


def test_hunts_that_find_nothing_do_not_claim_that_it_holds(command: Command, toggle: str) -> None:
    result = command("hunt", toggle, "--hunts", "2", "--steps", "100")
    assert result.code == 20
    assert "that does not show that it holds" in " ".join(result.out.split())
    assert command("hunt", toggle, "--property", "nothing").code == 2
    assert any(line.split() == ["row", "taken"] for line in result.out.splitlines())
    words = ("hunt", toggle, "--hunts", "2", "--steps", "100", "--report", "out")
    data = command(*words, "--format", "json").json
    assert {(row["enabled"], row["new"]) for row in data["rows"]} == {(None, None)}
    assert "| row | taken |" in Path("out/README.md").read_text()
    assert ">taken</th></tr>" in Path("out/index.html").read_text()
    assert (data["verdict"], data["stopped_by"]) == ("inconclusive", "steps")


def test_a_hunt_that_reaches_one_of_several_situations_knows_nothing_of_the_others(
    command: Command, tmp_path: Path
) -> None:
    (tmp_path / "two.yaml").write_text(
        "system: two\nabout: a.\ndeadlock: false\n"
        'variables:\n  a: {type: 0..3, initial: "0"}\n'
        "rows:\n  - {row: up, when: a < 2, do: a += 1}\n"
        "properties:\n  near: {sometimes: a == 1, why: b.}\n  never: {sometimes: a == 3, why: b.}\n"
    )
    words = ("hunt", str(tmp_path / "two.yaml"), "--hunts", "2", "--steps", "100")
    both = command(*words, "--format", "json")
    assert (both.code, both.json["verdict"]) == (20, "inconclusive")
    verdicts = {item["name"]: item["verdict"] for item in both.json["properties"]}
    assert verdicts == {"near": "witnessed", "never": "unknown"}
    one = command(*words, "--property", "near", "--format", "json")
    assert (one.code, one.json["verdict"]) == (0, "holds")
    assert command(*words, "--property", "never").code == 20


def test_a_hunt_for_a_situation_shows_how_it_is_reached(command: Command) -> None:
    words = ("hunt", "two_phase", "--property", "can_commit", "--hunts", "20", "--steps", "5000")
    result = command(*words)
    assert result.code == 0
    assert result.out.startswith("holds: can_commit is reached, ")
    assert "decide_commit" in result.out
    data = command(*words, "--format", "json").json
    assert [(item["name"], item["verdict"]) for item in data["properties"]] == [
        ("can_commit", "witnessed")
    ]


def test_codes_are_explained(command: Command) -> None:
    assert command("explain", "t110").out.startswith("# T110")
    assert command("explain", "T999").code == 2


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete(command: Command, shell: str) -> None:
    result = command("completion", shell)
    assert result.code == 0
    assert "_CHECKER_COMPLETE" in result.out


def test_a_search_imports_nothing_that_only_reports_graphs_and_endless_runs_need() -> None:
    script = (
        "import sys\n"
        "from checker.cli.main import run\n"
        "code = run(['check', 'hour_clock'])\n"
        "heavy = {'asyncio', 'networkx', 'transitions', 'jinja2', 'pyspark', 'pyarrow'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "sys.exit(code)\n"
    )
    command = [sys.executable, "-c", script]
    result = subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, check=False, timeout=120
    )
    assert result.returncode == 0, result.stderr


def test_help_and_version_import_nothing_heavy() -> None:
    script = (
        "import sys\n"
        "from checker.cli.main import run\n"
        "code = run(sys.argv[1:])\n"
        "heavy = {'llvmlite', 'rich', 'numpy', 'networkx', 'transitions'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "sys.exit(code)\n"
    )
    for words in (["--help"], ["--version"], ["explain", "T110"], ["completion", "bash"]):
        result = subprocess.run(
            [sys.executable, "-c", script, *words],
            capture_output=True,
            text=True,
            cwd=ROOT,
            check=False,
        )
        assert result.returncode == 0, result.stderr
    assert (
        __version__
        in subprocess.run(
            [sys.executable, "-m", "checker", "--version"],
            capture_output=True,
            text=True,
            cwd=ROOT,
            check=True,
        ).stdout
    )


def test_a_reader_that_goes_away_is_no_error() -> None:
    command_line = f'"{sys.executable}" -m checker show group | head -1'
    result = subprocess.run(
        ["sh", "-c", command_line], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert "Traceback" not in result.stderr
    assert result.stdout.count("\n") == 1


def test_an_error_of_the_checker_asks_for_a_report(
    command: Command, toggle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("checker.flow.judge", broken)
    result = command("check", toggle, "--engine", "reference")
    assert result.code == 255
    assert "Traceback" in result.err
    assert "please\nreport it" in result.err


# ----------------------------------------------------------------------------------- wrong as JSON


@pytest.mark.parametrize(
    "words",
    [
        ("check", "wrong.yaml"),
        ("hunt", "wrong.yaml"),
        ("simulate", "wrong.yaml"),
        ("sweep", "wrong.yaml", "--set", "Most=1..2"),
        ("diff", "toggle.yaml", "wrong.yaml"),
        ("mutate", "wrong.yaml"),
        ("graph", "wrong.yaml", "--out", "out", "--engine", "local"),
        ("query", "wrong.yaml", "on", "--graph", "out"),
        ("conform", "wrong.yaml", "--adapter", "none", "--mapping", "map.yaml"),
        ("validate", "wrong.yaml", "map.yaml", "--mapping", "map.yaml"),
    ],
    ids=lambda words: words[0],
)
@pytest.mark.usefixtures("toggle")
def test_a_wrong_specification_is_one_object(command: Command, words: tuple[str, ...]) -> None:
    Path("wrong.yaml").write_text("system: wrong\nconstants: {Most: 1\n")
    Path("map.yaml").write_text("conformance: wrong\n")
    result = command(*words, "--format", "json")
    assert result.code == 120, result.err
    assert result.json["error"]["kind"] == "specification"
    assert (result.json["spec"], result.json["verdict"]) == ("wrong.yaml", None)
    assert "error[T1" in result.err
    assert command(*words).out == ""


@pytest.mark.parametrize(
    "words",
    [
        ("check", "wrong.yaml", "--report", "out/deep"),
        ("mutate", "wrong.yaml", "--out", "out"),
        ("mutate", "toggle.yaml", "--instance", "broken", "--out", "out"),
    ],
)
def test_what_is_refused_leaves_no_empty_folder(
    command: Command, toggle: str, words: tuple[str, ...]
) -> None:
    Path("wrong.yaml").write_text("system: wrong\nconstants: {Most: 1\n")
    Path(toggle).write_text(Path(toggle).read_text().replace("length: 5", "length: 4"))
    assert command(*words).code in {1, 2, 120}
    assert not Path("out").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("graph", "toggle.yaml", "--out", "out", "--engine", "local"),
        ("graph", "toggle.yaml", "--out", "out", "--engine", "spark"),
        ("query", "toggle.yaml", "on", "--graph", "out"),
        ("check", "toggle.yaml", "--engine", "spark"),
    ],
    ids=["tables", "graph", "query", "check"],
)
@pytest.mark.usefixtures("toggle")
def test_a_package_that_is_not_installed_is_wrong_usage(
    command: Command, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    result = command(*words)
    assert (result.code, result.out) == (2, "")
    assert "which is not installed" in result.err
    assert "pip install '.[spark]'" in result.err


@pytest.mark.parametrize(
    "words",
    [
        "check TOGGLE --checkpoint s3a://bucket/run",
        "check TOGGLE --resume hdfs://host/run",
        "check TOGGLE --report s3://bucket/report",
        "verify TOGGLE --junit https://host/junit.xml",
        "sweep TOGGLE --set most=1..2 --out s3://bucket/sweep",
        "mutate TOGGLE --out file:///tmp/mutants",
        "export TOGGLE --to tla --out file:///tmp/module",
    ],
)
def test_a_url_is_no_folder_of_this_machine(command: Command, toggle: str, words: str) -> None:
    before = set(Path.cwd().iterdir())
    result = command(*words.replace("TOGGLE", toggle).split())
    assert result.code == 2
    url = next(word for word in words.split() if "://" in word)
    assert url in result.err
    assert "of this machine" in result.err or "on this machine" in result.err
    assert set(Path.cwd().iterdir()) == before
