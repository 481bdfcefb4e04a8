"""What the reference semantics says of one state: its successors, and why each is one."""

from __future__ import annotations

from typing import Literal

from checker.errors import EvaluationError
from checker.frozen import frozen

State = tuple[object, ...]
"""The value of every variable, in the order of `Machine.variables`."""


@frozen()
class Event:
    """A message put in or taken out during a step.

    The label of the Send, Receive or Note (`lost` also where a full channel drops), the channel's
    place as written (`requests[c1]`), the variable's name and the message value.
    """

    label: str
    channel: str
    variable: str
    message: object


@frozen()
class IllegalTransition:
    """A move that its table lacks."""

    machine: str
    table: str
    kind: str
    origin: str
    target: str


@frozen()
class Successor:
    """One execution of one row instance.

    `bindings` are those that belong to the step's name, the shown lets included. `state` is None
    where it failed (`error`) or was cut because ids ran out (`cut == "ids"`); a state outside the
    bounds has `cut == "bounds"`.
    """

    action: str
    bindings: tuple[tuple[str, object], ...]
    picks: tuple[tuple[str, object], ...]
    state: State | None
    events: tuple[Event, ...] = ()
    illegal: tuple[IllegalTransition, ...] = ()
    cut: Literal["bounds", "ids"] | None = None
    error: EvaluationError | None = None
