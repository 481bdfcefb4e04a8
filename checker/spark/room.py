"""How much of a search the driver may hold and do by itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Room:
    """In bytes; None is what the machine's memory allows.

    `whole`: for the graph of all states; where it fits, the driver judges it, which is fastest.
    `rest`: for what trimming leaves. `enough`: trimming stops as soon as so few states and edges
    are left, because a round costs more than the driver then takes. `level`: states of a level up
    to which the driver finds the next one itself; None is what the session's property says.
    """

    whole: int | None = None
    rest: int | None = None
    enough: int = 1_000_000
    level: int | None = None
