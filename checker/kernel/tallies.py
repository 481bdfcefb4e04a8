"""Counting: in how many states each action was enabled, and how many successors it produced.

A step that failed makes its action neither enabled nor fired, and its state no deadlock.
"""

from __future__ import annotations

from dataclasses import dataclass

from checker.kernel.code import Code, Operand, Ref
from checker.kernel.kernel import ACTION_MASK, ERROR


@dataclass(frozen=True, slots=True)
class Count:
    """Counts the successors of one action where they are written, into `%tallies`.

    `seen` notes whether the state at hand has had one, `alive` whether it is no deadlock.
    """

    code: Code
    action: int
    seen: Ref
    alive: Ref

    def begin(self) -> None:
        """Write: a state of which nothing is known yet."""
        self.code.store(0, self.seen)

    def successor(self) -> None:
        """Write: there is one more successor."""
        code, enabled = self.code, Ref("%tallies", 2 * self.action)
        first = code.sub(1, code.load(self.seen))
        code.store(code.add(code.load(enabled), first), enabled)
        code.store(1, self.seen)
        fired = code.shift(enabled, 1)
        code.store(code.add(code.load(fired), 1), fired)

    def failure(self) -> None:
        """Write: a step failed."""
        self.code.store(1, self.alive)


def tally(code: Code, mark: Operand, previous: Ref, sign: int) -> Operand:
    """Write: count a written successor, whose meta word is `mark`; return its action.

    `previous` is the action counted last for this state; a `sign` of -1 takes the count back.
    """
    action = code.bits("and", mark, ACTION_MASK)
    failed = code.compare("ne", code.bits("and", mark, ERROR), 0)
    enabled = Ref("%tallies", code.mul(action, 2))
    first = code.compare("ne", action, code.load(previous))
    counted = code.select(failed, 0, code.number(first))
    code.store(code.select(failed, code.load(previous), action), previous)
    code.store(code.add(code.load(enabled), code.mul(counted, sign)), enabled)
    fired = code.shift(enabled, 1)
    code.store(code.add(code.load(fired), code.select(failed, 0, sign)), fired)
    return action
