"""A recorded run: one JSON object a line, in the words of a mapping."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checker.errors import UsageError

LINE_MAX = 1 << 20
"""Characters that a line may have."""

DOES = frozenset({"call", "fire", "complete", "reset"})


@dataclass(frozen=True, slots=True)
class Event:
    """A line of a log: what was asked, as far as it is known, and what was seen after it.

    Without `do` it only says what was seen. `answered` is whether an answer is known.
    """

    line: int
    text: str
    do: str | None
    name: str | None
    outcome: str | None
    arguments: dict[str, Any]
    answered: bool
    answer: Any
    fields: dict[str, Any]


def read_log(path: Path) -> Iterator[Event]:
    """Yield the events of a log, one after another; UsageError for a line that is none."""
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(iter(lambda: lines.readline(LINE_MAX + 1), ""), start=1):
                if len(line) > LINE_MAX:
                    raise _wrong(path, number, f"has more than {LINE_MAX:,} characters")
                if line.strip():
                    yield _event(path, number, line.strip())
    except UnicodeDecodeError as failure:
        raise UsageError(f"{path} is not UTF-8: {failure.reason}") from failure


def _event(path: Path, number: int, text: str) -> Event:
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise _wrong(path, number, f"is no JSON object: {text[:80]}")
    do, name = said.get("do"), said.get("name")
    if do is not None and do not in DOES:
        raise _wrong(path, number, f"`do` is {do!r}, not one of {', '.join(sorted(DOES))}")
    if do not in (None, "reset") and not isinstance(name, str):
        raise _wrong(path, number, f"a {do} has a `name`")
    arguments, fields = said.get("with", {}), said.get("fields", {})
    if not isinstance(arguments, dict) or not isinstance(fields, dict):
        raise _wrong(path, number, "`with` and `fields` are objects")
    if do is None and not fields:
        raise _wrong(path, number, "says neither what was done (`do`) nor what was seen (`fields`)")
    return Event(
        line=number,
        text=text,
        do=do,
        name=name,
        outcome=said.get("outcome"),
        arguments=arguments,
        answered="answer" in said,
        answer=said.get("answer"),
        fields=fields,
    )


def _wrong(path: Path, number: int, what: str) -> UsageError:
    return UsageError(f"{path}:{number}: {what}")
