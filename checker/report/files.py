"""`--report DIR`: the page, the Markdown, the JSON and the ITF traces of one run, side by side."""

from __future__ import annotations

import json
import re
from pathlib import Path

from checker.report import markdown
from checker.report.result import Result
from checker.report.summary import summary, timeless
from checker.trace.itf import dump

PAGE = "README.md"
HTML = "index.html"
OBJECT = "verdict.json"


def trace_files(result: Result) -> dict[str, str]:
    """Return the name of the ITF file of each property whose trace has a state to record."""
    return {
        trace.property_name: f"{_in_paths(trace.property_name)}.itf.json"
        for trace in result.traces
        if any(step.state is not None for step in trace.steps)
    }


def _in_paths(name: str) -> str:
    """Return the name of a property for a file: `settles(c1, 2)` as `settles-c1-2`."""
    return re.sub(r"[^\w.]+", "-", name).strip("-")


def rendered(result: Result, *, committed: bool) -> dict[str, str]:
    """Return the files of a report, name to content; `committed` leaves out all that varies.

    Committed reports are read where Markdown is rendered, and have no page of HTML.
    """
    files = trace_files(result)
    whole = summary(result, files)
    shown = timeless(whole) if committed else whole
    contents = {
        PAGE: markdown.report(result, files),
        OBJECT: json.dumps(shown, indent=2, ensure_ascii=False) + "\n",
    }
    if not committed:
        # The template library is imported by those who write a page only.
        from checker.report.page import page  # noqa: PLC0415

        contents[HTML] = page(result, files)
    for trace in result.traces:
        if trace.property_name in files:
            contents[files[trace.property_name]] = dump(trace, result.origin)
    return contents


def write(result: Result, directory: Path) -> dict[str, str]:
    """Write the report of a run into `directory`; return the paths of its traces by property."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, content in rendered(result, committed=False).items():
        (directory / name).write_bytes(encoded(content))
    return {name: str(directory / file) for name, file in trace_files(result).items()}


def encoded(text: str) -> bytes:
    """Return the bytes of a file; what is no UTF-8, such as some names of files, is escaped."""
    return text.encode("utf-8", errors="backslashreplace")
