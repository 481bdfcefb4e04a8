"""How far a search may go before it stops with an honest verdict."""

from __future__ import annotations

from checker.frozen import frozen


@frozen()
class Limits:
    """Limits of one search; None is no limit.

    `states`: distinct states that may be stored. `depth`: states at this depth are found and
    checked but not expanded. `seconds`: of searching. `memory_bytes`: of the process. With
    `keep_going` a violation does not end the search; an evaluation error does all the same, unless
    `only_states` are wanted: then nothing is looked for.
    """

    states: int | None = None
    depth: int | None = None
    seconds: float | None = None
    memory_bytes: int | None = None
    keep_going: bool = False
    only_states: bool = False
