"""Progress on stderr: a live line on a terminal, plain lines in pipes and CI, JSON for programs."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Literal, Self

from checker.cache import refusal
from checker.flow import Observer, Silent
from checker.search.progress import Progress
from checker.visible import json_text

Style = Literal["auto", "json", "none"]

SECONDS_BETWEEN_LINES = 5.0
"""Plain lines are for logs: often enough to see life, not more."""


class JsonLines:
    """One JSON object a line; `version` changes when a key changes its meaning."""

    def stage(self, name: str) -> None:
        """Print the beginning of a stage."""
        self._print({"stage": name})

    def search(self, progress: Progress) -> None:
        """Print the counts of the search."""
        self._print({"stage": "explore", **asdict(progress), "trend": progress.trend})

    def notice(self, text: str) -> None:
        """Print a notice."""
        self._print({"stage": "notice", "text": text})

    def _print(self, event: dict[str, object]) -> None:
        print(json_text({"version": 1, **event}, plain=True), file=sys.stderr, flush=True)  # noqa: T201


class PlainLines:
    """A line every few seconds, none at all for a run that is quick."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def stage(self, name: str) -> None:
        """Say nothing: stages are quick."""

    def search(self, progress: Progress) -> None:
        """Print a line where the last one is old enough."""
        now = time.monotonic()
        if now - self._last >= SECONDS_BETWEEN_LINES:
            self._last = now
            print(describe(progress), file=sys.stderr, flush=True)  # noqa: T201

    def notice(self, text: str) -> None:
        """Print a notice at once."""
        print(text, file=sys.stderr, flush=True)  # noqa: T201


class LiveLine:
    """One line that changes in place, gone at the end."""

    def __init__(self) -> None:
        from rich.console import Console  # noqa: PLC0415 (terminals only)

        self._status = Console(stderr=True, highlight=False, markup=False).status("")

    def __enter__(self) -> Self:
        self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._status.stop()

    def stage(self, name: str) -> None:
        """Show the stage."""
        self._show(f"{name} ...")

    def search(self, progress: Progress) -> None:
        """Show the counts of the search."""
        self._show(describe(progress))

    def notice(self, text: str) -> None:
        """Print a notice above the line."""
        self._status.console.print(text)

    def _show(self, line: str) -> None:
        from rich.text import Text  # noqa: PLC0415 (terminals only)

        self._status.update(Text(line, no_wrap=True, overflow="ellipsis"))


@contextmanager
def observing(style: Style) -> Iterator[Observer]:
    """Yield the observer that `--progress` asks for."""
    if style == "none":
        yield Silent()
    elif style == "json":
        yield _told(JsonLines())
    elif sys.stderr.isatty():
        with LiveLine() as line:
            yield _told(line)
    else:
        yield _told(PlainLines())


def _told(observer: Observer) -> Observer:
    """Tell what makes every run slow, and return the observer."""
    refused = refusal()
    if refused is not None:
        observer.notice(refused)
    return observer


def describe(progress: Progress) -> str:
    """Return one line on a running search."""
    mebibytes = progress.memory_bytes / 2**20
    trend = f" ({progress.trend})" if progress.trend else ""
    cluster = ""
    if progress.skew:
        shuffled = progress.shuffle_bytes / 2**20
        cluster = f", {shuffled:,.1f} MiB shuffled, skew {progress.skew:.2f}"
    if progress.tasks:
        cluster += f", {progress.tasks_done:,} of {progress.tasks:,} tasks done"
    return (
        f"depth {progress.depth}: {progress.distinct:,} distinct, "
        f"{progress.generated:,} generated, {progress.rate:,.0f}/s, "
        f"frontier {progress.frontier:,}{trend}, {mebibytes:,.0f} MiB{cluster}, "
        f"{progress.seconds:.0f} s"
    )
