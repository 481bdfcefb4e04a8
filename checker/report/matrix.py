"""The state tables of a system's machines as sections to read, and the part of a README they are.

In the overview a cell holds short names of the states that a trigger leads to; the list below it
says by which rows, and what they send.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from checker.report.sections import Section, as_markdown
from checker.tables import Cell, Effect, Line, StateMatrix

BEGIN = "<!-- state tables: written by `checker show {name} --tables --write` -->"
END = "<!-- end of the state tables -->"

Names = Mapping[str, str]
"""A short name of each state."""

_STAYS = "="
_OUTCOMES = 2
_LEGEND = (
    "It follows table {table}: {legend}. A cell says where a trigger can lead from the state of "
    "its column; = is the same state. A ? is a message that no row takes in this state and that "
    "nobody thought of; an empty cell is a step that does not happen there. The cells are "
    "computed from guards and effects: what is not in them cannot happen."
)
_SEARCHED = (
    "Constants as in {searched}, all states and steps of which were looked at: what stands in "
    "brackets its guards and effects allow, and no step of it does."
)
_WORDS = {"ignored": "ignored", "impossible": "impossible", "unhandled": "?", "none": ""}


def matrix_sections(matrices: Iterable[StateMatrix], searched: str = "") -> list[Section]:
    """Return overview and rows of each state table; `searched` is the instance that marked it."""
    return [section for matrix in matrices for section in _sections(matrix, searched)]


def short_names(states: tuple[str, ...]) -> Names:
    """Return a short name of each state: the capitals of its words, longer where two are alike."""
    words = {
        state: re.findall(r"[A-Z][a-z0-9]*|[a-z0-9]+", state)
        if not state.isupper()
        else state.split("_")
        for state in states
    }
    longest = max(map(len, states), default=1)
    for letters in range(1, longest + 1):
        names = {
            state: "".join(word[:letters] for word in found) or state
            for state, found in words.items()
        }
        if len(set(names.values())) == len(states):
            return names
    return {state: state for state in states}


def _sections(matrix: StateMatrix, searched: str) -> Iterator[Section]:
    short = short_names(matrix.states)
    where = f"{matrix.machine}[{matrix.per}]" if matrix.per else matrix.machine
    legend = ", ".join(f"{short[state]} {state}" for state in matrix.states)
    overview = tuple(
        (line.trigger, line.kind, *(cell_text(cell, short) for cell in line.cells))
        for line in matrix.lines
    )
    yield Section(
        f"State table of {where}",
        (
            _LEGEND.format(table=matrix.table, legend=legend),
            _SEARCHED.format(searched=searched)
            if searched
            else constants_told(matrix.instances, matrix.absent),
        ),
        ("on", "", *short.values()),
        overview,
        (0,),
    )
    yield Section(
        f"Rows of {where}",
        (),
        ("on", "row", "from -> to", "sends"),
        tuple(row for line in matrix.lines for row in _rows(line, short)),
        (1,),
    )


def constants_told(instances: Iterable[str], absent: Collection[str]) -> str:
    """Return of which instances tables are, and of which rows they say nothing."""
    used = ", ".join(instances)
    if not absent:
        return f"Constants as in {used}, each fault possible."
    return f"Constants as in {used}. Rows that do not exist there: {', '.join(absent)}."


def cell_text(cell: Cell, short: Names) -> str:
    """Return what a cell of the overview holds: short names of the states that it leads to."""
    if not cell.effects:
        return " ".join((_WORDS[cell.mark], ", ".join(cell.only))).rstrip()
    targets = {state for effect in cell.effects for state in effect.targets}
    done = {s for effect in cell.effects for s in effect.targets if s not in effect.never}
    return _shown(cell.state, targets, done, short)


def _shown(state: str, targets: Collection[str], done: Collection[str], short: Names) -> str:
    """Return where a trigger can lead from a state; in brackets what it never does."""
    found = [state] * (state in targets) + [s for s in short if s in targets and s != state]
    words = ((_STAYS if target == state else short[target], target in done) for target in found)
    return " ".join(word if happens else f"({word})" for word, happens in words)


def _rows(line: Line, short: Names) -> Iterator[tuple[str, ...]]:
    """Yield a line for each row: from which states it leads where, and what it sends."""
    found: dict[tuple[str, str], dict[str, list[Effect]]] = {}
    for cell in line.cells:
        for effect in cell.effects:
            groups = found.setdefault((effect.row, effect.which), {})
            groups.setdefault(_targets(effect, short), []).append(effect)
    first = line.trigger
    for (row, which), groups in found.items():
        ways = [
            f"{_origins([effect.state for effect in effects], short)} -> {targets}"
            for targets, effects in groups.items()
        ]
        sends = [message for effects in groups.values() for e in effects for message in e.sends]
        yield first, f"{row} ({which})" if which else row, "; ".join(ways), messages(sends)
        first = ""


def _targets(effect: Effect, short: Names) -> str:
    done = [state for state in effect.targets if state not in effect.never]
    return _shown(effect.state, effect.targets, done, short)


def _origins(states: list[str], short: Names) -> str:
    every = len(states) == len(short) and len(short) > 1
    return "any" if every else " ".join(short[state] for state in states)


def messages(sends: Iterable[str]) -> str:
    """Return messages, each with its outcomes where they are few."""
    outcomes: dict[str, dict[str, None]] = {}
    for message in sends:
        name, _, outcome = message.rstrip(")").partition("(")
        outcomes.setdefault(name, {})[outcome] = None
    return ", ".join(
        f"{name}({' or '.join(found)})" if len(found) <= _OUTCOMES and all(found) else name
        for name, found in outcomes.items()
    )


def readme_part(name: str, matrices: Iterable[StateMatrix]) -> str:
    """Return the generated part of a system's README, its marks included."""
    sections = matrix_sections(matrices)
    text = as_markdown(sections).replace("# State", "## State", 1)
    text = re.sub(r"(?m)^##+ (State table|Rows) of", r"### \1 of", text)
    if not text.strip():
        text = "No machine of this system follows a state table.\n"
    return f"{BEGIN.format(name=name)}\n## State tables\n\n{text}{END}\n"


def with_part(readme: str, name: str, part: str) -> str:
    """Return a README with its generated part put in place of the old one, or at its end."""
    begin = readme.find(BEGIN.format(name=name))
    end = readme.find(END)
    if begin < 0 or end < begin:
        return f"{readme.rstrip()}\n\n{part}"
    return readme[:begin] + part + readme[end + len(END) + 1 :]
