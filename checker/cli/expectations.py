"""Figures that a run found, written into the specification: only numbers, nothing else moves.

Where a value stands is taken from the parsed file; the text around it, comments and layout, stays
as it is. Verdicts and properties are never written: that something else breaks is for a person to
look at.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from io import StringIO
from pathlib import Path
from typing import Any

import click
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import YAMLError

from checker import library
from checker.cli.gate import Outcome, Task
from checker.errors import CheckerError, UsageError, told
from checker.frozen import frozen
from checker.report.files import put_at_once
from checker.table import read
from checker.table.sources import texts_of
from checker.verdict import exits

FIGURES = ("distinct", "generated", "depth", "length", "rows")
"""The keys of `expect:` that hold what a run counts."""


@frozen()
class _Edit:
    """Replace the text between two offsets."""

    begin: int
    end: int
    text: str


def update(outcomes: Sequence[Outcome], pinned: Sequence[str]) -> tuple[list[Outcome], list[str]]:
    """Write figures that are not as declared, and those that `pinned` names; show the difference.

    Returns the outcomes as they are then, and what could not be written and why: files, and what
    is `pinned` where there is no place for it. One whose figures were all that differed is met,
    where its file was written. Figures are of the text that was judged: into another one none are
    written.
    """
    places: dict[str, list[int]] = {}
    judged: dict[str, Mapping[str, str]] = {}
    for place, outcome in enumerate(outcomes):
        file = outcome.task.file
        if not outcome.figures or not Path(file).is_file():
            continue
        if outcome.exit_code == exits.HOLDS or _only_figures(outcome):
            places.setdefault(file, []).append(place)
    then, unwritten = list(outcomes), []
    for mine in places.values():  # all before any is written, which changes the text itself
        for task in (outcomes[place].task for place in mine):
            judged.setdefault(task.path, _texts(task))
    for file, mine in places.items():
        there = [outcomes[place] for place in mine]
        try:
            text = next((judged[it.task.path].get(file) for it in there), None)
            if text is None or not all(judged[it.task.path] for it in there):
                raise _edited(there[0].task.path)
            written, by_hand = _updated(Path(file), text, there, pinned)
        except (OSError, UsageError) as failure:
            unwritten.append(f"figures cannot be written: {told(failure)}")
            continue
        if pinned:  # that was asked for
            unwritten += by_hand
        else:
            click.echo("".join(f"{line}\n" for line in by_hand), nl=False, err=True)
        for place in mine:
            if outcomes[place] in written:
                then[place] = replace(
                    outcomes[place],
                    failure=None,
                    differs=(),
                    details="",
                    exit_code=exits.HOLDS,
                    problems=(),
                )
    return then, unwritten


def _texts(task: Task) -> Mapping[str, str]:
    """Return the files of what was judged, by their names, with their texts; none of another."""
    try:
        document = read(library.find(task.path))
    except (CheckerError, OSError):
        return {}
    if texts_of(document) != task.texts:
        return {}
    return {item.source.name: item.source.text for item in document.files}


def _edited(file: str | Path) -> UsageError:
    return UsageError(f"{file} was edited since it was judged; verify it again")


def _updated(
    file: Path, judged: str, outcomes: Sequence[Outcome], pinned: Sequence[str]
) -> tuple[list[Outcome], list[str]]:
    """Write the figures of a file's instances, and return those that it says now.

    With them what is said of the others, whose figures have no place that is known. Raises OSError
    where it cannot be written, UsageError where it is not as it was `judged`.
    """
    data = file.read_bytes()
    before = data.decode(errors="replace")
    if before.removeprefix("\ufeff") != judged:
        raise _edited(file)
    text, written, by_hand = before, [], []
    # From the end on: what is added moves no line before it.
    for outcome in sorted(outcomes, key=lambda outcome: -outcome.task.line):
        edits = _edits(text, outcome, pinned)
        changed = None if edits is None else _applied(text, edits)
        if changed is None or not _says(changed, text, outcome, pinned):
            why = "`expect` is no mapping" if changed is None else "it is laid out in another way"
            name = f"{outcome.task.system} {outcome.task.instance}"
            by_hand.append(f"{name}: figures must be written by hand: {why} here")
            continue
        text = changed
        written.append(outcome)
    if text != before:
        old, new = (it.splitlines(keepends=True) for it in (before, text))
        changes = difflib.unified_diff(old, new, str(file), f"{file} (updated)")
        click.echo("".join(changes), err=True)
        if file.read_bytes() != data:
            raise _edited(file)
        put_at_once(file, text.encode())
    return written, by_hand


def _only_figures(outcome: Outcome) -> bool:
    """Whether nothing but figures is not as declared."""
    return bool(outcome.differs) and all(what in FIGURES for what in outcome.differs)


def _edits(text: str, outcome: Outcome, pinned: Sequence[str]) -> list[_Edit] | None:
    """Return what changes in the text of a file; None where no place for it is found."""
    entry = _instance(_parsed(text), outcome.task.instance, outcome.task.line - 1)
    expect = entry.get("expect") if isinstance(entry, CommentedMap) else None
    if not isinstance(expect, CommentedMap):
        return None if pinned or outcome.exit_code != exits.HOLDS else []
    lines = _offsets(text)
    found: list[_Edit] = []
    for key in FIGURES:
        value = outcome.figures.get(key)
        if isinstance(value, dict):
            rows = expect.get(key)
            if isinstance(rows, CommentedMap):
                found += [
                    _number(text, lines, rows, name, value.get(name, 0))
                    for name in rows
                    if rows[name] != value.get(name, 0)
                ]
            elif key in pinned:
                fired = {name: times for name, times in value.items() if times}
                inside = ", ".join(f"{name}: {times}" for name, times in fired.items())
                found.append(_added(text, lines, expect, key, f"{{{inside}}}"))
        elif value is None:
            continue
        elif key in expect:
            if expect[key] != value:
                found.append(_number(text, lines, expect, key, value))
        elif key in pinned:
            found.append(_added(text, lines, expect, key, str(value)))
    return found


@lru_cache(maxsize=2)  # a text that was changed is the one that is changed next
def _parsed(text: str) -> Any:
    return YAML(typ="rt").load(StringIO(text))


def _instance(node: Any, name: str, line: int) -> Any:
    """Return the value of the key `name` in this line, wherever in the file."""
    if not isinstance(node, CommentedMap):
        return None
    for key, value in node.items():
        if key == name and node.lc.key(key)[0] == line:
            return value
        found = _instance(value, name, line)
        if found is not None:
            return found
    return None


def _offsets(text: str) -> list[int]:
    offsets = [0]
    for line in text.split("\n"):
        offsets.append(offsets[-1] + len(line) + 1)
    return offsets


def _value(text: str, lines: list[int], node: CommentedMap, key: str) -> tuple[int, int]:
    """Return where a number stands."""
    line, column = node.lc.value(key)
    begin = lines[line] + column
    match = re.compile(r"[+-]?[0-9_]+").match(text, begin)
    return begin, begin if match is None else match.end()


def _number(text: str, lines: list[int], node: CommentedMap, key: str, value: int) -> _Edit:
    return _Edit(*_value(text, lines, node, key), str(value))


def _added(text: str, lines: list[int], node: CommentedMap, key: str, value: str) -> _Edit:
    """Return a key more, before the first one of a mapping: what follows stays where it is."""
    first = next(iter(node))
    line, column = node.lc.key(first)
    begin = lines[line] + column
    if node.fa.flow_style():
        last = list(node)[-1]
        line, column = node.lc.value(last)
        end = lines[line] + column
        if isinstance(node[last], CommentedMap | list):
            return _Edit(begin, begin, f"{key}: {value}, ")
        match = re.compile(r"[^,}\s]+").match(text, end)
        end = end if match is None else match.end()
        return _Edit(end, end, f", {key}: {value}")
    return _Edit(begin, begin, f"{key}: {value}\n{' ' * column}")


def _applied(text: str, edits: list[_Edit]) -> str:
    changed, end = [], 0
    for edit in sorted(edits, key=lambda edit: edit.begin):
        changed += [text[end : edit.begin], edit.text]
        end = edit.end
    return "".join([*changed, text[end:]])


def _says(new: str, old: str, outcome: Outcome, pinned: Sequence[str]) -> bool:
    """Whether a new text has the figures of an instance, and is otherwise as the old one.

    YAML has more ways to lay a mapping out than edits of text know of.
    """
    try:
        return _edits(new, outcome, pinned) == [] and _but_figures(new) == _but_figures(old)
    except YAMLError:
        return False


def _but_figures(text: str) -> object:
    """Return what a text says, but figures that are expected."""

    def without(node: object, *, expected: bool = False) -> object:
        if isinstance(node, CommentedMap):
            return {
                key: without(value, expected=key == "expect")
                for key, value in node.items()
                if not (expected and key in FIGURES)
            }
        return [without(item) for item in node] if isinstance(node, list) else node

    return without(_parsed(text))
