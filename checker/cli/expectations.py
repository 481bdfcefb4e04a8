"""Figures that a run found, written into the specification: only numbers, nothing else moves.

Where a value stands is taken from the parsed file; the text around it, comments and layout, stays
as it is. Verdicts and properties are never written: that something else breaks is for a person to
look at.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import click
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap

from checker.cli.gate import Outcome
from checker.errors import EnvironmentFailure, told
from checker.frozen import frozen
from checker.report.files import put_at_once
from checker.verdict import exits

FIGURES = ("distinct", "generated", "depth", "length", "rows")
"""The keys of `expect:` that hold what a run counts."""


@frozen()
class _Edit:
    """Replace the text between two offsets."""

    begin: int
    end: int
    text: str


def update(outcomes: Sequence[Outcome], pinned: Sequence[str]) -> list[Outcome]:
    """Write figures that are not as declared, and those that `pinned` names; show the difference.

    Returns the outcomes as they are then: one whose figures were all that differed is met.
    """
    updated = list(outcomes)
    edits: dict[str, list[_Edit]] = {}
    texts: dict[str, str] = {}
    for place, outcome in enumerate(outcomes):
        file = outcome.task.file
        if not outcome.figures or not Path(file).is_file():
            continue
        if outcome.exit_code != exits.HOLDS and not _only_figures(outcome):
            continue
        text = texts.setdefault(file, Path(file).read_bytes().decode())
        found = _edits(text, outcome, pinned)
        if found is None:
            click.echo(
                f"{outcome.task.system} {outcome.task.instance}: figures must be written by hand: "
                "`expect` is not a mapping here",
                err=True,
            )
            continue
        edits.setdefault(file, []).extend(found)
        updated[place] = replace(
            outcome, failure=None, details="", exit_code=exits.HOLDS, problems=()
        )
    for file, changes in edits.items():
        _show_and_write(Path(file), texts[file], changes)
    return updated


def _only_figures(outcome: Outcome) -> bool:
    """Whether nothing but figures is not as declared."""
    return bool(outcome.problems) and all(
        problem.rule.partition(":")[0] in FIGURES for problem in outcome.problems
    )


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


def _show_and_write(file: Path, text: str, edits: list[_Edit]) -> None:
    """Print the difference, then write the file."""
    changed, end = [], 0
    for edit in sorted(edits, key=lambda edit: edit.begin):
        changed += [text[end : edit.begin], edit.text]
        end = edit.end
    new = "".join([*changed, text[end:]])
    if new == text:
        return
    name = str(file)
    lines = difflib.unified_diff(
        text.splitlines(keepends=True), new.splitlines(keepends=True), name, f"{name} (updated)"
    )
    click.echo("".join(lines), err=True)
    try:
        put_at_once(file, new.encode())
    except OSError as failure:
        raise EnvironmentFailure(f"{file} cannot be written: {told(failure)}") from failure
