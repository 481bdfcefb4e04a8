"""`show --format html`: a system as one page to look things up in.

The state tables come first: a cell leads to the rows behind it. Each row stands as it was written,
with links to the procedures and definitions that it uses, and can be found by words, trigger,
state and variable. The page needs nothing but itself, and without scripts it is all there to read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from markupsafe import Markup, escape

from checker.frozen import frozen
from checker.machine.machine import Machine
from checker.report.finding import touched
from checker.report.hypertext import environment
from checker.report.matrix import cell_text, constants_told, messages, short_names
from checker.report.sections import Section
from checker.report.tables import setting_text, system_sections, table_sections
from checker.table.document import Document, InstanceEntry
from checker.tables import Cell, StateMatrix

WORD = re.compile(r"[A-Za-z_]\w*")


@frozen()
class Entry:
    """One trigger in one state: where it leads, by which rows, and what they send."""

    state: str
    mark: str
    text: str
    rows: tuple[str, ...]
    told: str


@frozen()
class Chart:
    """The state table of one machine: `lines` are a trigger, its kind, and an entry a state."""

    name: str
    table: str
    states: tuple[tuple[str, str], ...]
    lines: tuple[tuple[str, str, tuple[Entry, ...]], ...]


def lookup(
    document: Document,
    machines: Sequence[Machine],
    matrices: Iterable[StateMatrix],
    searched: str = "",
) -> str:
    """Return the page of a system; `machines` are those whose rows its state tables are made of.

    `searched` names the instance whose every step marked the tables, if there is one.
    """
    charts = [_chart(matrix) for matrix in matrices]
    sections = system_sections(document)
    anchors = _anchors(sections)
    groups = [
        (title, [item for item in sections if item.blocks and item.heading.startswith(title)])
        for title in ("Rows", "Procedures", "Definitions", "Properties")
    ]
    variables = touched(machines)
    here = {action.name for machine in machines for action in machine.actions}
    absent = [row.name.text for row in document.rows if row.name.text not in here]
    return (
        environment()
        .get_template("lookup.html")
        .render(
            document=document,
            charts=charts,
            searched=searched,
            constants=constants_told([machine.instance for machine in machines], absent),
            groups=[(title, found) for title, found in groups if found],
            linked_code=partial(linked_code, anchors),
            places=_places(charts),
            states=list(dict.fromkeys(state for chart in charts for state, _ in chart.states)),
            triggers=list(dict.fromkeys(line[0] for chart in charts for line in chart.lines)),
            variables=sorted({name for both in variables.values() for name in both[0] | both[1]}),
            touched={row: [sorted(names) for names in both] for row, both in variables.items()},
            declared=[_instance(entry) for entry in document.instances],
            tables=[table_sections(document.tables[name]) for name in sorted(document.tables)],
        )
    )


def _chart(matrix: StateMatrix) -> Chart:
    short = short_names(matrix.states)
    lines = tuple(
        (line.trigger, line.kind, tuple(_entry(cell, short) for cell in line.cells))
        for line in matrix.lines
    )
    name = f"{matrix.machine}[{matrix.per}]" if matrix.per else matrix.machine
    return Chart(name, matrix.table, tuple((state, short[state]) for state in matrix.states), lines)


def _entry(cell: Cell, short: Mapping[str, str]) -> Entry:
    rows = tuple(dict.fromkeys(effect.row for effect in cell.effects))
    sends = messages(message for effect in cell.effects for message in effect.sends)
    told = "; ".join(rows) + (f"; sends {sends}" if sends else "")
    return Entry(cell.state, cell.mark, cell_text(cell, short), rows, told or cell.why)


def _places(charts: Iterable[Chart]) -> dict[str, list[list[str]]]:
    """Return where each row applies: trigger and state."""
    found: dict[str, dict[tuple[str, str], None]] = {}
    for chart in charts:
        for trigger, _, entries in chart.lines:
            for entry in entries:
                for row in entry.rows:
                    found.setdefault(row, {})[trigger, entry.state] = None
    return {row: [list(place) for place in places] for row, places in found.items()}


def _anchors(sections: Iterable[Section]) -> dict[str, str]:
    """Return the anchor of each procedure and definition."""
    found = {}
    for section in sections:
        if section.heading.startswith(("Procedures", "Definitions")):
            for block in section.blocks:
                name = block.name.partition("(")[0]
                found[name] = f"body-{name}"
    return found


def linked_code(anchors: Mapping[str, str], text: str) -> Markup:
    """Return code as HTML in which each procedure and definition is a link to its text."""
    pieces: list[Markup] = []
    end = 0
    for found in WORD.finditer(text):
        if found[0] in anchors and not text[: found.start()].endswith("."):
            pieces += [escape(text[end : found.start()])]
            pieces += [Markup('<a href="#{}">{}</a>').format(anchors[found[0]], found[0])]
            end = found.end()
    return Markup("").join([*pieces, escape(text[end:])])


def _instance(entry: InstanceEntry) -> dict[str, object]:
    expect = entry.expect
    settings = [f"{name.text}={setting_text(value)}" for name, value, _ in entry.settings]
    broken = expect.property.text if expect is not None and expect.property is not None else ""
    return {
        "name": entry.name.text,
        "tier": entry.tier,
        "about": entry.about,
        "settings": settings,
        "verdict": (expect.verdict or "") if expect is not None else "",
        "broken": broken,
        "distinct": expect.distinct if expect is not None else None,
        "depth": expect.depth if expect is not None else None,
    }
