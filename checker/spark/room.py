"""How much of a search the driver may hold and do by itself."""

from __future__ import annotations

from checker.frozen import frozen


@frozen()
class Room:
    """In bytes; None is what the machine's memory allows.

    `whole`: for the graph of all states, on which the driver judges endless runs. `level`: states
    of a level up to which the driver finds the next one itself; None is what the session's property
    says.
    """

    whole: int | None = None
    level: int | None = None
    search: int | None = None
