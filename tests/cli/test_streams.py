"""Goal: whoever reads the output, or nobody, the exit code is the verdict's and nothing breaks."""

import io
import json
import os
import subprocess
from pathlib import Path
from urllib.parse import quote

import pytest
from command_processes import COUNTERS, command, environment

from checker.cli.objects import print_object
from checker.visible import visible

SMALL = COUNTERS.replace("count[p] <= 9", "count[p] < 5").replace(
    "verdict: holds, distinct: 100", "verdict: violated"
)
STRANGE = os.fsdecode(b"caf\xe9\xff")
"""A name that is no UTF-8."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "counters.yaml").write_text(SMALL)
    return tmp_path


def shell(folder: Path, line: str) -> tuple[int, str]:
    """Run a line of shell in which $C is the command; return the exit code and stderr."""
    done = subprocess.run(
        ["/bin/bash", "-c", line],
        cwd=folder,
        env={**environment(), "C": " ".join(map(str, command([])))},
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    "streams",
    [
        ">&-",
        "2>&-",
        ">&- 2>&-",
        "<&- >&- 2>&-",
        "> >(exec <&-; sleep 0.1)",
        "2> >(exec <&-; sleep 0.1)",
        "2>/dev/full",
        "| head -c 1 >/dev/null; exit ${PIPESTATUS[0]}",
        "2>&1 | true; exit ${PIPESTATUS[0]}",
    ],
)
def test_the_exit_code_is_that_of_the_verdict(folder: Path, streams: str) -> None:
    line = "$C check counters.yaml --instance few --progress json --checkpoint k"
    code, _ = shell(folder, f"{line} {streams}")
    assert code == 12
    # With its number free, a file of the checkpoint would have got what was printed.
    assert json.loads((folder / "k" / "manifest.json").read_text())["distinct"] > 0


def test_a_result_that_cannot_be_written_is_no_result(folder: Path) -> None:
    code, told = shell(folder, "$C check counters.yaml --instance few --progress none >/dev/full")
    assert code == 255
    assert "the output could not be written: No space left on device" in told


def test_where_nothing_can_be_typed_a_walk_ends(folder: Path) -> None:
    assert shell(folder, "$C step counters.yaml --instance few <&-") == (0, "")


def test_verify_tells_nobody_too(folder: Path) -> None:
    assert shell(folder, "$C verify counters.yaml --workers 2 >&- 2>&-")[0] == 1


def test_a_report_that_cannot_be_written_costs_no_result(folder: Path) -> None:
    (folder / "report" / "README.md").mkdir(parents=True)
    words = ["check", "counters.yaml", "--instance", "few", "--report", "report"]
    done = subprocess.run(
        command(words), cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "violated: small after 5 steps" in done.stdout
    assert "error: the report could not be written: " in done.stderr


def test_names_that_are_no_utf_8(folder: Path) -> None:
    spec, report = folder / STRANGE / f"{STRANGE}.yaml", folder / STRANGE / "report"
    spec.parent.mkdir()
    spec.write_text(SMALL)

    def checker(*words: str | Path) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            command(words),
            cwd=folder,
            env={**environment(), "PYTHONIOENCODING": "ascii"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stderr
        return done

    done = checker("check", spec, "--instance", "few", "--report", report, "--format", "json")
    assert done.returncode == 12, done.stderr
    found = json.loads(done.stdout)
    trace = report / "small.itf.json"
    told = found["properties"][0]["trace"]
    assert told == visible(str(trace))
    kept = json.loads((report / "verdict.json").read_text())
    assert kept["verdict"] == "violated"
    for one in (found, kept):  # has no half of a pair, which other readers of JSON refuse
        json.dumps(one, ensure_ascii=False).encode("utf-8")
    assert checker("trace", trace, "--replay").returncode == 0
    assert checker("show", spec).returncode == 0
    table = folder / STRANGE / "all"
    written = folder / f"{STRANGE}.sarif"
    files = ("--junit", folder / f"{STRANGE}.xml", "--sarif", written)
    few = checker("verify", spec, "--report", table, *files)
    assert few.returncode in (0, 1), few.stderr
    assert "out of date" not in checker("verify", spec, "--report", table, "--check").stderr
    assert f'"uri": "{quote(os.fsencode(spec.relative_to(folder)))}"' in written.read_text()
    assert checker("graph", spec, "--instance", "few", "--out", table / "graph").returncode == 0
    author = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for words in (("init", "-q"), ("add", "-A"), (*author, "commit", "-qm", "strange")):
        subprocess.run(["git", *words], cwd=folder, check=True)
    assert "0 instances changed since HEAD" in checker("verify", spec, "--since", "HEAD").stderr
    code = spec.with_name("wrong.yaml")
    code.write_text(SMALL.replace("count[place] < 9", "count[plaice] < 9"))
    wrong = checker("check", code)
    assert wrong.returncode == 120
    assert "wrong.yaml:10:17: error[N201]" in wrong.stderr


def test_json_is_json_whatever_the_encoding_of_stdout(monkeypatch: pytest.MonkeyPatch) -> None:
    told, written = {"spec": "caf\u00e9\U0001f692"}, io.BytesIO()
    stream = io.TextIOWrapper(written, encoding="latin-1", errors="backslashreplace")
    monkeypatch.setattr("sys.stdout", stream)
    print_object(told)
    stream.flush()
    assert json.loads(written.getvalue().decode("utf-8")) == told
