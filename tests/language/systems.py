"""What the tests of the language share: systems from short texts, run by both engines."""

from pathlib import Path

from checker import flow
from checker.report.result import Result
from checker.search.limits import Limits


def run(
    folder: Path,
    text: str,
    instance: str = "default",
    *,
    keep_going: bool = False,
    **overrides: int | bool | str,
) -> Result:
    """Check a text by the reference interpreter and in native code: they must say the same."""
    path = folder / "system.yaml"
    path.write_text("system: probe\nabout: A system of a test.\n" + text)
    results = [
        flow.check(
            flow.Request(
                str(path),
                instance,
                overrides=overrides,
                engine=engine,
                workers=1,
                limits=Limits(keep_going=keep_going),
            ),
            flow.Silent(),
        )
        for engine in ("reference", "local")
    ]
    slow, fast = results
    figures = [
        (
            result.exploration.distinct,
            result.exploration.generated,
            result.exploration.levels,
            result.exploration.cuts,
            result.exploration.findings,
            result.verdict,
            [trace.reasons for trace in result.traces],
        )
        for result in results
    ]
    assert figures[0] == figures[1]
    assert slow.machine == fast.machine
    return fast


def outcomes(result: Result) -> dict[str, str]:
    """Return what was said of each property."""
    return {item.name: item.outcome for item in result.verdict.properties}
