"""Runs Spark jobs one at a time: watched, stopped where asked to, and with clear failures."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from checker.errors import CheckerError, EnvironmentFailure, UsageError
from checker.search.exploration import StoppedBy
from checker.spark.session import reason_of

if TYPE_CHECKING:
    from pyspark import SparkContext

Made = TypeVar("Made")

Watch = Callable[[], StoppedBy | None]
"""Called several times a second while a job runs; says whether, and why, to stop it."""

_POLL_SECONDS = 0.02

_DAMAGED = re.compile(r"DamagedError: (.*)")
_REFUSED = re.compile(r"(?:WrongVersionError|PlaceError): (.*)")
_UNREADABLE = re.compile(
    r"FileNotFoundException|PATH_NOT_FOUND|FAILED_READ_FILE|not a Parquet file|Corrupt"
    r"|ParquetDecodingException|ParquetDecodingError|CANNOT_READ|could not read page"
    r"|BlockMissingException|ChecksumException",
    re.IGNORECASE,
)
_FULL = re.compile(r"No space left on device|Disk quota exceeded|DSQuotaExceeded")


class Stopped(Exception):  # noqa: N818 - a limit is no error
    """A job was stopped because it was asked to."""

    def __init__(self, reason: StoppedBy) -> None:
        super().__init__(reason)
        self.reason: StoppedBy = reason


SEARCH_AGAIN = "search again with another --checkpoint"
GRAPH_AGAIN = "write the graph again, with `checker graph --engine spark` and another --out"
"""What helps where stored data are damaged."""


class Jobs:
    """The jobs of one search, whose data are below `root`; `again`: how to make them anew."""

    def __init__(
        self, context: SparkContext, root: str, watch: Watch, again: str = SEARCH_AGAIN
    ) -> None:
        self._context = context
        self._root = root
        self._watch = watch
        self.again = again
        self._numbers = itertools.count()

    def run(self, description: str, job: Callable[[], Made]) -> Made:
        """Return what `job` makes; `description` is how Spark's UI calls it.

        Stopped where the watch says so; UsageError where stored data cannot be read or written,
        EnvironmentFailure where the job fails otherwise.
        """
        from pyspark import InheritableThread  # noqa: PLC0415 (an extra)

        group = f"checker {id(self)} {next(self._numbers)}"
        made: list[Made] = []
        failed: list[Exception] = []

        def work() -> None:
            self._context.setJobGroup(group, description)
            try:
                made.append(job())
            except Exception as error:  # noqa: BLE001 (handed over to the caller's thread)
                failed.append(error)

        thread = InheritableThread(target=work, daemon=True)
        thread.start()
        reason = self._wait(thread.is_alive, group)
        thread.join()
        if failed and reason is not None:
            raise Stopped(reason)
        if failed:
            raise self._explained(failed[0], description) from None
        return made[0]

    def _wait(self, alive: Callable[[], bool], group: str) -> StoppedBy | None:
        """Wait for a job; cancel it, and say why, where the watch says to stop."""
        reason: StoppedBy | None = None
        while alive():
            if reason is None:
                reason = self._watch()
            if reason is not None:
                # Again and again: a job that had not begun yet is not cancelled.
                self._context.cancelJobGroup(group)
            time.sleep(_POLL_SECONDS)
        return reason

    def _explained(self, error: Exception, description: str) -> Exception:
        """Return what went wrong as an error for the user."""
        if isinstance(error, CheckerError):
            return error
        # An exception of a task comes as the text of its stack, the driver's own as itself.
        text = f"{type(error).__name__}: {_all_of(error)}"
        damaged, refused = _DAMAGED.search(text), _REFUSED.search(text)
        if damaged is not None:
            return UsageError(f"{self._root}: damaged: {damaged[1].strip()}; {self.again}")
        if refused is not None:
            return UsageError(refused[1].strip())
        if _FULL.search(text) is not None:
            return EnvironmentFailure(
                f"{description}: no space is left, below {self._root} or where Spark keeps its "
                "scratch files (spark.local.dir); what was finished can be resumed"
            )
        if _UNREADABLE.search(text) is not None:
            return UsageError(f"{self._root}: damaged or lost: {reason_of(error)}; {self.again}")
        return EnvironmentFailure(
            f"Spark failed ({description}, stored below {self._root}): {reason_of(error)}"
        )


def _all_of(error: Exception) -> str:
    """Return all that an error and its causes say."""
    texts = [str(error)]
    java = getattr(error, "java_exception", None)
    while java is not None:
        texts.append(str(java.toString()))
        java = java.getCause()
    cause = error.__cause__ or error.__context__
    if isinstance(cause, Exception):
        texts.append(_all_of(cause))
    return "\n".join(texts)
