"""Counting: in how many states each action was enabled, its successors, those that are new.

New are successors that are not the state they come from.
A step that failed makes its action neither enabled nor fired, and its state no deadlock.
"""

from __future__ import annotations

from checker.frozen import frozen
from checker.llvm.code import Code, Operand, Ref
from checker.llvm.meta import ACTION_MASK, ERROR


@frozen()
class Count:
    """Counts the successors of one of `actions` actions where they are written, into `%tallies`.

    `sign` is 1, or -1 where a state is expanded again to take back what was counted; `due` is what
    the next successor adds to the states in which the action was enabled; `alive` notes whether
    the state is no deadlock.
    """

    code: Code
    action: int
    actions: int
    sign: Ref
    due: Ref
    alive: Ref

    def begin(self) -> None:
        """Write: a state of which nothing is known yet."""
        self.code.store(self.code.load(self.sign), self.due)

    def successor(self, moved: Operand) -> None:
        """Write: there is one more successor; `moved` is 1 where it is not its source, else 0."""
        code, enabled = self.code, Ref("%tallies", 2 * self.action)
        code.store(code.add(code.load(enabled), code.load(self.due)), enabled)
        code.store(0, self.due)
        fired = code.shift(enabled, 1)
        sign = code.load(self.sign)
        code.store(code.add(code.load(fired), sign), fired)
        new = Ref("%tallies", 2 * self.actions + self.action)
        code.store(code.add(code.load(new), code.mul(moved, sign)), new)

    def failure(self) -> None:
        """Write: a step failed."""
        self.code.store(1, self.alive)

    def end(self) -> None:
        """Write: a state with a successor is no deadlock."""
        code = self.code
        made = code.sub(code.load(self.sign), code.load(self.due))
        code.store(code.bits("or", code.load(self.alive), made), self.alive)


def tally(code: Code, mark: Operand, previous: Ref, moved: Operand, actions: int) -> Operand:
    """Write: count a written successor, whose meta word is `mark`; return its action.

    `previous` is the action counted last for this state. `moved` is 1 where the successor is not
    its source, else 0.
    """
    action = code.bits("and", mark, ACTION_MASK)
    failed = code.compare("ne", code.bits("and", mark, ERROR), 0)
    enabled = Ref("%tallies", code.mul(action, 2))
    first = code.compare("ne", action, code.load(previous))
    counted = code.select(failed, 0, code.number(first))
    code.store(code.select(failed, code.load(previous), action), previous)
    code.store(code.add(code.load(enabled), counted), enabled)
    fired = code.shift(enabled, 1)
    code.store(code.add(code.load(fired), code.select(failed, 0, 1)), fired)
    new = Ref("%tallies", code.add(action, 2 * actions))
    code.store(code.add(code.load(new), moved), new)
    return action
