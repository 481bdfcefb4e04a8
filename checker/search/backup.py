"""When a running search writes a checkpoint."""

from __future__ import annotations

import time

from checker.search.checkpoint import Keeper
from checker.search.crew import Crew
from checker.search.exploration import Kept
from checker.search.options import Options
from checker.search.snapshot import Snapshot


class Backup:
    """Writes checkpoints now and then. One that fails is told of; the search goes on."""

    def __init__(self, keeper: Keeper, crew: Crew, options: Options) -> None:
        self.keeper = keeper
        self.crew = crew
        self.options = options
        self.snapshot: Snapshot | None = None
        self._written = time.perf_counter()

    def offer(self, snapshot: Snapshot) -> None:
        """Take note of a finished level, and write it where it is time to."""
        self.snapshot = snapshot
        self.maybe_save()

    def maybe_save(self) -> None:
        """Write the last finished level, if the last checkpoint is old enough.

        Also while threads work: they only add to what a checkpoint holds.
        """
        if time.perf_counter() - self._written >= self.options.checkpoint_seconds:
            self.save()

    def save(self) -> None:
        """Write the last finished level, unless that was done."""
        if self.snapshot is None:
            return
        try:
            self.keeper.save(self.snapshot, self.crew.pieces)
        except OSError as error:
            self.options.notice(f"no checkpoint was written to {self.keeper.directory}: {error}")
        self._written = time.perf_counter()

    @property
    def kept(self) -> Kept | None:
        """What is in the directory now."""
        saved = self.keeper.saved
        if saved is None:
            return None
        return Kept(str(self.keeper.directory), saved.level, saved.distinct)
