"""The words by which native functions say more of a state or step than the state itself.

A successor's meta word: bits 0..11 the action; ILLEGAL: it made an illegal transition; ERROR: the
step failed (the words are its source state's); DROPPED: a cut without a state (ids ran out; the
words are the source's); CUT: the state lies outside the bounds; bits STEP.. (up to 44): step
property s (`Kernel.steps[s]`) is violated by this step; the bits from `Kernel.instance_shift` on:
one more than the number of the fair row instance (`semantics.fairness`) that made the step, 0 for
none. They are 0 in every word where the machine has no liveness property. Where there is `explore`,
the bits NUMBER.. up to 61 are the number that is the arrival of the state, if it is new.
"""

from __future__ import annotations

ACTION_MASK = 0xFFF
ILLEGAL = 1 << 12
ERROR = 1 << 13
DROPPED = 1 << 14
CUT = 1 << 15
STEP = 16
CHECK_ERROR = 1 << 62
NUMBER = 53
SKIPPED = 1 << 62
"""Inside a kernel only: a successor that need not be looked up."""
META_BITS = 62

PREMISE = 0
CONDITION = 20
LIVENESS_MAX = 20
"""Liveness properties that fit a word of `observe`."""
