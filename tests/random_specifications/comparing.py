"""Runs one specification with the product's engines and with the explorer, and compares."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

from checker import flow
from checker.errors import SpecificationError, UsageError
from checker.report.result import Result
from checker.search.limits import Limits

from .drawing import TABLE
from .explorer import LIVENESS, Explored, Explorer, TooLargeError
from .files import SYSTEM, Files
from .model import Reader

MOST = 400
"""Distinct states of a specification that is looked at; larger ones are passed over."""

TOO_MANY = "R611"
"""More of something than a kernel can note of a state or a step. The interpreter has no limit."""


ENGINES: tuple[tuple[str, int | None], ...] = (("reference", None), ("local", 1), ("local", 2))
"""What is compared: engines, each with its workers."""

DISTRIBUTED = (
    ("spark.ui.enabled", "false"),
    ("spark.default.parallelism", "2"),
    ("spark.checker.driver", "0"),
)
"""Settings of a Spark session that keeps no level on the driver, however small."""


def judge(drawn: str | Files, engines: tuple[tuple[str, int | None], ...] = ENGINES) -> str:
    """Compare engines on a specification; return what became of it.

    AssertionError with the text where they differ.
    """
    files = drawn if isinstance(drawn, Files) else Files({SYSTEM: drawn})
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.texts.items():
            (Path(folder) / name).write_text(text)
        (Path(folder) / "lamp.yaml").write_text(TABLE)
        return _judge(Path(folder) / SYSTEM, str(files), engines)


def _judge(path: Path, text: str, engines: tuple[tuple[str, int | None], ...]) -> str:
    try:
        machine = flow.machine_of(str(path), "default", {})
    except SpecificationError as failure:
        return "refused " + failure.diagnostics[0].code
    lively = any(item.kind in LIVENESS for item in machine.properties)
    symmetries = [False] if lively or not machine.symmetry else [False, True]
    for reduced in symmetries:
        try:
            model = Reader(path.parent, path.read_text(), "default").read()
            wanted = Explorer(model, reduce=reduced, most=MOST).run()
        except TooLargeError:
            return "too large"
        outcome = _run_all(path, text, wanted, engines, reduced=reduced)
        if outcome:
            return outcome
    if lively and machine.symmetry:
        return _infinite_runs_of_orbits(path, text, wanted, engines)
    return str(wanted.stopped_by or "exhaustive")


def _run_all(
    path: Path,
    text: str,
    wanted: Explored,
    engines: tuple[tuple[str, int | None], ...],
    *,
    reduced: bool,
) -> str:
    told: list[Result] = []
    for engine, workers in engines:
        request = flow.Request(
            str(path), engine=engine, workers=workers, symmetry=reduced or None, limits=Limits()
        )
        if not reduced:
            request = flow.Request(str(path), engine=engine, workers=workers, symmetry=False)
        try:
            result = flow.check(request, flow.Silent())
        except (SpecificationError, UsageError) as failure:
            if reduced:
                return "refused with symmetry"
            told = failure.diagnostics if isinstance(failure, SpecificationError) else ()
            if [item.code for item in told] == [TOO_MANY]:
                return f"refused {TOO_MANY}"
            raise
        told.append(result)
        _compare(result, wanted, f"{engine} {workers} symmetry {reduced}\n{text}")
    for other in told[1:]:
        assert other.verdict == told[0].verdict, text
        assert other.traces == told[0].traces, text
        assert other.exploration.rows == told[0].exploration.rows, text
    return ""


def _infinite_runs_of_orbits(
    path: Path, text: str, wanted: Explored, engines: tuple[tuple[str, int | None], ...]
) -> str:
    """Judge infinite runs on one state of each orbit: the verdicts are those of all states."""
    for engine, workers in engines:
        request = flow.Request(
            str(path), engine=engine, workers=workers, symmetry=True, limits=Limits()
        )
        try:
            result = flow.check(request, flow.Silent())
        except (SpecificationError, UsageError):
            return "refused with symmetry"
        _compare_verdicts(result, wanted, f"{engine} {workers}, infinite runs of orbits\n{text}")
    return f"{wanted.stopped_by or 'exhaustive'}, infinite runs of orbits"


def _compare(result: Result, wanted: Explored, text: str) -> None:
    found = result.exploration
    exploration = (found.stopped_by, found.levels, found.cuts, found.deadlocks)
    expected = (wanted.stopped_by, tuple(wanted.levels), wanted.cuts, wanted.deadlocks)
    assert exploration == expected, f"{exploration} is not {expected}: {text}"
    assert found.generated == wanted.generated, f"{found.generated} generated: {text}"
    fired = Counter({row.row: row.fired for row in found.rows})
    assert +fired == +wanted.fired, f"{+fired} is not {+wanted.fired}: {text}"
    enabled = Counter({row.row: row.enabled for row in found.rows})
    assert +enabled == +wanted.enabled, f"{+enabled} is not {+wanted.enabled}: {text}"
    _compare_verdicts(result, wanted, text)


def _compare_verdicts(result: Result, wanted: Explored, text: str) -> None:
    outcomes = {item.name: item.outcome for item in result.verdict.properties}
    for name, outcome in wanted.outcomes.items():
        assert outcomes[name] == outcome, f"{name} is {outcomes[name]}, not {outcome}: {text}"
    assert set(outcomes) == set(wanted.outcomes), text
    lengths = {
        item.name: item.length for item in result.verdict.properties if item.length is not None
    }
    for item in result.verdict.properties:
        if item.kind not in LIVENESS:
            length = wanted.found.get(item.name)
            assert lengths.get(item.name) == length, f"{item.name}: {lengths} {length}: {text}"
    error = result.verdict.error
    assert (error is None) == (wanted.error is None), text
    assert error is None or error.depth == wanted.error, f"{error} {wanted.error} {text}"
    assert (result.verdict.exit_code == 75) == (error is not None), text
