"""The exit codes of the command line; TLC's where it has one, because scripts know them."""

from __future__ import annotations

from checker.errors import CheckerError, refused

HOLDS = 0
DIFFERENCE = 1
USAGE = 2
DEADLOCK = 11
SAFETY = 12
LIVENESS = 13
UNWITNESSED = 16
INCONCLUSIVE = 20
EVALUATION = 75
SPECIFICATION = 120
INTERRUPTED = 130
INTERNAL = 255


def of_failure(error: CheckerError | OSError) -> int:
    """Return the code of what keeps a command from a result, where nothing more is known of it."""
    return INTERNAL if refused(error) else USAGE
