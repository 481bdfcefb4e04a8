"""Takes the lines of a log in order, says which of them is no answer to what was asked.

Requests on one connection are answered one after the other, each once and none left out, and an
answer has in common with its request what both say of who asked whom for what. A request that is
never answered is the last one of its connection that is.
"""

from __future__ import annotations

from typing import Any

from checker.conformance.forms import Turns
from checker.conformance.paths import plain
from checker.frozen import frozen

CONNECTIONS = 10_000
"""Connections that are remembered, the latest ones."""

WAITING = 1_000
"""Requests without an answer that are remembered of a connection, the latest ones."""


@frozen()
class _Asked:
    """A request: its line, what pairs it with its answer, what both have in common."""

    line: int
    pair: str
    same: tuple[str | None, ...]


class Connections:
    """The requests of each connection that are not answered yet."""

    def __init__(self, turns: Turns, *, midway: bool) -> None:
        self.turns = turns
        self.unknown = midway
        """Whether a request that is not known may have been asked: before the log begins, or so
        long ago that it was forgotten."""
        self.waiting: dict[str, list[_Asked]] = {}
        self.served: set[str] = set()
        """Connections on which a request was answered that is known."""

    def contradicted(self, line: int, said: dict[str, Any], pair: str | None) -> str | None:
        """Take a line, say what is wrong with its place among the others of its connection."""
        connection = plain(self.turns.of.at(said))
        if pair is None or connection is None:
            return None
        waiting = self.waiting.pop(connection, [])
        self.waiting[connection] = waiting
        if len(self.waiting) > CONNECTIONS:
            oldest = next(iter(self.waiting))
            self._forget(oldest)
            del self.waiting[oldest]
        same = tuple(plain(path.at(said)) for path in self.turns.same)
        if self.turns.answered(said):
            return self._answered(connection, _Asked(line, pair, same), waiting)
        if any(one.pair == pair for one in waiting):
            return "the line asks what another one asks already"
        waiting.append(_Asked(line, pair, same))
        if len(waiting) > WAITING:
            self._forget(connection)
            del waiting[0]
        return None

    def _forget(self, connection: str) -> None:
        """What is answered next on a connection may be what is forgotten."""
        self.served.discard(connection)
        self.unknown = True

    def _answered(self, connection: str, answer: _Asked, waiting: list[_Asked]) -> str | None:
        number = next((n for n, one in enumerate(waiting) if one.pair == answer.pair), None)
        if number is None:
            # What was asked before all that is known is answered first.
            if connection in self.served or not self.unknown:
                return "the line answers what no line asks, or what is answered already"
            return None
        self.served.add(connection)
        before, asked = waiting[0], waiting[number]
        del waiting[: number + 1]
        if number:
            return (
                f"the line answers line {asked.line:,}, and line {before.line:,}, which was asked "
                "before on the same connection, has no answer"
            )
        if asked.same != answer.same:
            return f"the line answers line {asked.line:,}, and says otherwise who asked whom"
        return None
