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
        self.turns, self.midway = turns, midway
        self.waiting: dict[str, list[_Asked]] = {}
        self.served: set[str] = set()
        """Connections on which a request was answered."""

    def contradicted(self, line: int, said: dict[str, Any], pair: str | None) -> str | None:
        """Take a line, say what is wrong with its place among the others of its connection."""
        connection = plain(self.turns.of.at(said))
        if pair is None or connection is None:
            return None
        waiting = self.waiting.pop(connection, [])
        self.waiting[connection] = waiting
        if len(self.waiting) > CONNECTIONS:
            oldest = next(iter(self.waiting))
            self.served.discard(oldest)
            del self.waiting[oldest]
        same = tuple(plain(path.at(said)) for path in self.turns.same)
        if self.turns.answered(said):
            return self._answered(connection, _Asked(line, pair, same), waiting)
        if any(one.pair == pair for one in waiting):
            return "the line asks what another one asks already"
        waiting.append(_Asked(line, pair, same))
        del waiting[:-WAITING]
        return None

    def _answered(self, connection: str, answer: _Asked, waiting: list[_Asked]) -> str | None:
        number = next((n for n, one in enumerate(waiting) if one.pair == answer.pair), None)
        if number is None:
            # Where a log begins midway, what was asked before it is answered first.
            if connection in self.served or not self.midway:
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
