"""What is asked of a search beside its limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Literal

from checker.frozen import frozen

CHECKPOINT_SECONDS = 300.0
"""How often a checkpoint is written when nobody says otherwise."""

Compact = Literal["auto", "on", "off"]
"""Whether states are kept in halves: where memory is short, as soon as there are many, never."""


def tell_nobody(_text: str) -> None:
    """Ignore a notice."""


@frozen()
class Options:
    """`checkpoint`: directory to keep checkpoints in; `resume`: directory of one to go on from.

    `checkpoint_seconds`: time between two checkpoints; 0 writes one after every level.
    `identity` says what is searched (`identity_of`): a checkpoint belongs to it and to nothing
    else. `profile`: measure, after the search, where time and states go. `keep`: the states that
    were expanded come back with what was found. `compact`: whether states are kept in halves, where
    memory is short or ("on") as soon as there are many. `notice` is told, in a sentence, what a
    user should know at once.
    """

    checkpoint: Path | None = None
    resume: Path | None = None
    checkpoint_seconds: float = CHECKPOINT_SECONDS
    identity: Mapping[str, object] = field(default_factory=dict)
    profile: bool = False
    notice: Callable[[str], None] = tell_nobody
    keep: bool = False
    compact: Compact = "auto"
