"""The JSON object of one run, as the contract of the command line has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath

from checker import __version__
from checker.errors import Diagnostic
from checker.report.profile import profile_object
from checker.report.result import Result
from checker.semantics.symmetry import reduces
from checker.trace.trace import Trace
from checker.verdict.vacuity import Looked, vacuous

Json = dict[str, object]

OF_THE_MACHINE_IT_RAN_ON = (
    "workers",
    "seconds",
    "compile_seconds",
    "peak_rss_bytes",
    "bytes_per_state",  # when the table grows depends on how the threads fill the queue
    "checkpoint",
    "profile",
)
"""Keys that differ between two runs of the same check; committed reports leave them out."""


def summary(result: Result, files: Mapping[str, str]) -> Json:
    """Return the object of a run; `files` names the ITF file of each property that has one."""
    machine, exploration, verdict = result.machine, result.exploration, result.verdict
    return {
        "checker": __version__,
        "spec": result.origin.spec,
        "instance": machine.instance,
        "constants": dict(machine.constants),
        "engine": exploration.engine,
        "workers": exploration.workers,
        "verdict": verdict.overall,
        "exit_code": verdict.exit_code,
        "distinct": exploration.distinct,
        "generated": exploration.generated,
        "depth": exploration.depth,
        "seconds": round(exploration.seconds, 6),
        "compile_seconds": round(result.compile_seconds, 6),
        "state_bits": exploration.state_bits,
        "bytes_per_state": exploration.bytes_per_state,
        "peak_rss_bytes": result.peak_rss_bytes,
        "symmetry": reduces(machine),
        "without_symmetry": [diagnostic_object(item) for item in machine.unlike],
        "stopped_by": exploration.stopped_by,
        "depth_complete": exploration.depth_complete,
        "checkpoint": None if exploration.checkpoint is None else exploration.checkpoint.directory,
        "exhaustive": exploration.exhaustive,
        "cuts": exploration.cuts,
        "budgets": dict(machine.budgets),
        "properties": [
            {
                "name": item.name,
                "kind": item.kind,
                "verdict": item.outcome,
                "trace": files.get(item.name),
                "length": item.length,
                **({"within_bounds": True} if item.within_bounds else {}),
                **({"reason": item.reason} if item.reason else {}),
            }
            for item in verdict.properties
        ],
        "rows": [
            # Hunts look for no more than what they take.
            {"row": row.row, "enabled": None, "fired": row.fired, "new": None}
            if exploration.hunted
            else {"row": row.row, "enabled": row.enabled, "fired": row.fired, "new": row.new}
            for row in exploration.rows
        ],
        "deadlocks": exploration.deadlocks,
        "profile": profile_object(exploration),
        "warnings": [diagnostic_object(warning) for warning in machine.warnings],
        "error": failure_object(result.traces),
        **({"vacuous": [told(item) for item in vacuous(result.looked)]} if result.looked else {}),
    }


def told(item: Looked) -> Json:
    """Return what may be vacuous as JSON."""
    return {
        "name": item.name,
        "message": item.message,
        "file": item.span.source.name,
        "line": item.span.line,
        "column": item.span.column,
    }


def failure_object(traces: Sequence[Trace]) -> Json | None:
    """Return the `error` of a run that an evaluation error ended; None for any other."""
    for trace in traces:
        if trace.failure is not None:
            failure = trace.failure
            return {
                "kind": "evaluation",
                "code": failure.code,
                "message": failure.message,
                "place": failure.place,
                "row": failure.row,
                "property": failure.property,
                "length": trace.length,
            }
    return None


def diagnostic_object(item: Diagnostic) -> Json:
    """Return a located message as JSON."""
    used = [
        {
            "what": use.what,
            "file": use.span.source.name,
            "line": use.span.line,
            "column": use.span.column,
        }
        for use in item.uses
    ]
    return {
        "code": item.code,
        "severity": item.severity,
        "message": item.message,
        "file": item.span.source.name,
        "line": item.span.line,
        "column": item.span.column,
        "section": item.section or None,
        "expected": item.expected,
        "found": item.found,
        "help": item.help,
        **({"used": used} if used else {}),
    }


def specification_errors(spec: str, diagnostics: tuple[Diagnostic, ...]) -> Json:
    """Return the object printed for a specification that is wrong."""
    told = [diagnostic_object(item) for item in diagnostics]
    return without_result(spec, {"kind": "specification", "diagnostics": told})


def without_result(spec: str | None, error: Json) -> Json:
    """Return the object printed where there is no result, and why."""
    return {"checker": __version__, "spec": spec, "verdict": None, "error": error}


def timeless(result: Json) -> Json:
    """Return a run's object without what differs from one run or machine to the next."""
    kept = {key: value for key, value in result.items() if key not in OF_THE_MACHINE_IT_RAN_ON}
    for key in ("without_symmetry", "warnings"):
        kept[key] = [_anywhere(item) for item in _objects(kept[key])]
    return kept


def _objects(value: object) -> list[Json]:
    """Return a value that is known to be a list of JSON objects."""
    assert isinstance(value, list)
    return value


def _anywhere(item: Json) -> Json:
    """Return a located message without its place, its file named as from any checkout."""
    kept = {key: value for key, value in item.items() if key not in {"line", "column"}}
    return {**kept, "file": "/".join(PurePath(str(item["file"])).parts[-2:])}
