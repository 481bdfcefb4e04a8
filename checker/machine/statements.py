"""Typed statements and places: what effects are elaborated into; see `checker.machine.terms`."""

from __future__ import annotations

from typing import Literal as OneOf

from checker.frozen import frozen
from checker.machine.expressions import Term
from checker.machine.types import Id, Type
from checker.source import Span


@frozen()
class Step:
    """One step into a place: a map key or sequence position (`key`), or a field (`name`)."""

    key: Term | None = None
    name: str | None = None


@frozen()
class Place:
    """An assignable place: a variable, then steps into it. `type` is the place's type.

    A key step into a partial map may name an absent key only as the last step of an assignment
    (which inserts it); anywhere else an absent key is E505. A position must exist (E506). A field
    step into a union whose variant lacks the field is E504. Keys are evaluated before the value.
    """

    variable: str
    steps: tuple[Step, ...]
    type: Type
    span: Span


@frozen()
class Assign:
    """`place = value`; the value has the place's type (a Cast makes it so)."""

    place: Place
    value: Term
    span: Span


@frozen()
class Transition:
    """An assignment to a machine's state: always checked against its table, also old == new.

    `kind` is `transition`, `restore` (a roll-back; checked against the table's restores) or
    `create` (loading; checked against the created states). An illegal one still happens and
    marks the step as a violation of `legal`.
    """

    place: Place
    value: Term
    table: str
    kind: OneOf["transition", "restore", "create"]
    span: Span


@frozen()
class Delete:
    """`del m[k]`: the last step is a key of a partial map; E505 when absent."""

    place: Place
    span: Span


@frozen()
class SetLocal:
    """`name = value`: a local; every assignment to it has the same type."""

    name: str
    value: Term
    span: Span


@frozen()
class If:
    """`if` / `else`."""

    condition: Term
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]
    span: Span


@frozen()
class For:
    """`for name in domain:` over a snapshot of the domain, in canonical order."""

    name: str
    domain: Term
    body: tuple[Statement, ...]
    span: Span


@frozen()
class Break:
    """Leave the innermost `for`."""

    span: Span


@frozen()
class Pick:
    """Nondeterministic choice: `name` becomes any value of `domain` that satisfies `condition`.

    Each choice is a successor of its own, in canonical order. `condition` may mention `name`.
    E508 when nothing satisfies it. `text` is how the choice is shown in a step's name.
    """

    name: str
    domain: Term
    condition: Term | None
    span: Span


@frozen()
class Fresh:
    """`name` becomes the least id of `type` that occurs nowhere in the state.

    Occurs: in any variable, however deep, in the state as it is now or as the step found it; ids
    that an earlier Fresh of the same row drew count as occurring. Where every id occurs the
    successor is *cut*: dropped, counted in `cuts` and in `generated`, never an error.
    """

    name: str
    type: Id
    span: Span


@frozen()
class Send:
    """Put a message into a channel: a place whose type is a Bag, a Sequence or a Set (retained).

    When there is no room: `block` abandons this execution of the row (the instance with these
    picks is not enabled), `drop` loses the message, `error` is E509. `label` says what a trace
    shows: sent, duplicated, started (an operation), armed (a timer).
    """

    place: Place
    message: Term
    when_full: OneOf["block", "drop", "error"]
    label: OneOf["sent", "duplicated", "started", "armed", "silent"]
    span: Span


@frozen()
class Receive:
    """Take a message out of a channel.

    One copy from a Bag, from anywhere in a Sequence (its first occurrence), out of a Set. `label`
    says what a trace shows: received, lost, completed; of a timer cancelled, cancelled too late,
    expired.

    `read` shows it as received and leaves a retained message where it is. E505 where the message
    is not there. `silent` is also how elements leave bags and sets (`s.remove(x)`).
    """

    place: Place
    message: Term
    label: OneOf[
        "received",
        "read",
        "lost",
        "completed",
        "timed out",
        "cancelled",
        "cancelled too late",
        "expired",
        "silent",
    ]
    span: Span


@frozen()
class Note:
    """Say what a trace shows of a message that no Send or Receive moves.

    Such are requests and answers of calls, a timeout of an operation that stays, and an expiry that
    ran after its timer was cancelled. It makes an Event of `label`, `place` and `message`
    (evaluated where it stands) and changes nothing; a kernel skips it.
    """

    place: Place
    message: Term
    label: OneOf["sent", "received", "lost", "timed out", "ran after cancel"]
    span: Span


@frozen()
class Require:
    """Abandon this execution of the row, as if its guard were false, unless `condition` holds."""

    condition: Term
    span: Span


@frozen()
class Assert:
    """`assert condition`: E510 unless it holds here, where all statements before have run."""

    condition: Term
    span: Span


@frozen()
class Reject:
    """Undo everything this row did, run `body` (consume the trigger, answer), end the row."""

    body: tuple[Statement, ...]
    span: Span


@frozen()
class Scope:
    """A procedure inlined at its call (or a row's body): `Leave(label)` inside jumps to its end."""

    label: str
    body: tuple[Statement, ...]
    span: Span


@frozen()
class Leave:
    """`return`: go to the end of the enclosing Scope with this label."""

    label: str
    span: Span


Statement = (
    Assign
    | Transition
    | Delete
    | SetLocal
    | If
    | For
    | Break
    | Pick
    | Fresh
    | Send
    | Receive
    | Note
    | Require
    | Assert
    | Reject
    | Scope
    | Leave
)
