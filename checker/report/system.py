"""The page of a system in `reports/`: what it is, what holds, its tables, what runs went through.

Like everything there it is Markdown, and the same wherever it is made.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from checker.report import diagrams
from checker.report.dashboard import HOME, Line, instance_table
from checker.report.files import PAGE
from checker.report.markdown import code, fenced, paragraph, table, text
from checker.report.matrix import matrix_sections
from checker.report.sections import as_markdown
from checker.table.document import Document
from checker.tables import StateMatrix

WIDE = 40
"""Letters of the longest bar."""


def system_page(document: Document, lines: Sequence[Line], matrices: Sequence[StateMatrix]) -> str:
    """Return the page of a system whose instances are `lines`, and its state tables `matrices`."""
    parts = [f"# {document.name.text}", "", *paragraph(document.about)]
    parts += [f"Source: {text(document.source)}", ""] if document.source else []
    parts += [HOME, "", "## Instances", ""]
    parts += instance_table(lines, "")
    parts += _properties(document, lines)
    parts += _tables(document, matrices)
    parts += _rows(document, lines)
    parts += _levels(lines)
    if document.abstractions:
        parts += ["## What is left out", ""]
        parts += [f"* {text(item)}" for item in document.abstractions]
        parts.append("")
    parts += _sources(document)
    return "\n".join(parts).rstrip() + "\n"


def _properties(document: Document, lines: Sequence[Line]) -> list[str]:
    """Return each property with why it matters, and in how many instances it was what."""
    if not document.properties:
        return []
    rows = []
    for entry in document.properties:
        name = entry.name.text
        found: Counter[str] = Counter()
        broken: list[Line] = []
        for line in lines:
            mine = [
                outcome
                for key, outcome in line.properties.items()
                if key == name or key.startswith(f"{name}(")
            ]
            for outcome in dict.fromkeys(mine):
                found[outcome] += 1
                broken += [line] if outcome == "violated" else []
        told = [f"{outcome} in {count}" for outcome, count in sorted(found.items())]
        links = [_linked(line) for line in broken]
        verdicts = "; ".join(told) + (f": {', '.join(links)}" if links else "")
        rows.append((code(name), entry.kind, verdicts or "not judged", text(entry.why)))
    head = ("property", "kind", "verdict", "why a user should care")
    return ["## Properties", "", *table(head, rows)]


def _linked(line: Line) -> str:
    """Return an instance as a link to its report; where an error ended its run there is none."""
    name = code(line.instance)
    return f"[{name}]({line.instance}/{PAGE})" if line.report else name


def _tables(document: Document, matrices: Sequence[StateMatrix]) -> list[str]:
    parts: list[str] = ["## State tables", ""]
    if matrices:
        written = as_markdown(matrix_sections(matrices))
        parts += [re.sub(r"^#+ ", "### ", written, flags=re.MULTILINE).rstrip(), ""]
    elif not document.tables:
        return []
    for name in sorted(document.tables):
        parts += [f"### Table {name}, drawn", ""]
        parts += fenced("mermaid", diagrams.mermaid(document.tables[name], (), {}))
    return parts


def _rows(document: Document, lines: Sequence[Line]) -> list[str]:
    """Return each row with where it fired: one that never does is a hole of the instances."""
    run = [line for line in lines if line.rows]
    if not run:
        return []
    rows = []
    for row in document.rows:
        counts = {line.instance: line.rows.get(row.name.text, 0) for line in run}
        fired = [name for name, count in counts.items() if count]
        most = max(counts, key=lambda name: counts[name])
        often = f"{counts[most]:,} in {code(most)}" if fired else "**never**"
        rows.append(
            (
                code(row.name.text),
                f"{len(fired)} of {len(run)}",
                often,
                text(row.about),
                text(row.source),
            )
        )
    head = ("row", "instances that it fired in", "most successors", "about", "source")
    return ["## Rows", "", *table(head, rows)]


def _levels(lines: Sequence[Line]) -> list[str]:
    """Draw how many states each depth has, of the instance with most that was run."""
    run = [line for line in lines if len(line.levels) > 1]
    if not run:
        return []
    line = max(run, key=lambda item: sum(item.levels))
    most = max(line.levels)
    drawn = [
        f"{depth:>4} {count:>12,} {'#' * max(round(WIDE * count / most), 1)}"
        for depth, count in enumerate(line.levels)
    ]
    # A search that ended at a violation has not found all of them.
    found = f"{sum(line.levels):,} {'in all' if line.verdict == 'holds' else 'found'}"
    about = f"New states at each depth of {code(line.instance)}, {found}:"
    return ["## States per level", "", about, "", *fenced("text", "\n".join(drawn))]


def _sources(document: Document) -> list[str]:
    cited = Counter(row.source for row in document.rows if row.source)
    parts = ["## Sources", ""]
    parts += [f"* table {name}: {text(item.source)}" for name, item in document.tables.items()]
    parts += [f"* {text(source)}" for source in sorted(cited)]
    files = [f"{code(file.shown)} {text(file.about)}".rstrip() for file in document.files]
    parts += [""] + [f"* file {item}" for item in files] if files else []
    return [*parts, ""]
