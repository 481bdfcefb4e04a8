"""Where many independent runs are done: `--engine local` or `spark` of verify, mutate, sweep..."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Event

import click

from checker.cli.interrupts import interruptible
from checker.cli.options import WORKERS, Command, EngineChoice, cluster_options
from checker.frozen import frozen
from checker.runs import Processes, Spread
from checker.search.explore import cores


@frozen()
class Where:
    """What was asked for: an engine, so many processes or cores, and which Spark."""

    engine: str = "local"
    workers: int | None = None
    master: str | None = None
    conf: tuple[str, ...] = ()

    def refuse(self) -> None:
        """Raise UsageError for options that do not go together."""
        self._choice.refuse()

    @contextmanager
    def spread(self, runs: int, tell: Callable[[str], None]) -> Iterator[Spread]:
        """Yield what does so many `runs`; `tell` is told one sentence of what Spark does."""
        if self.engine == "local":
            yield Processes(max(min(self.workers or cores(), runs), 1))
            return
        from checker.spark.runs import runs_on_spark  # noqa: PLC0415 (PySpark is an extra)

        with runs_on_spark(self._choice.cluster(), tell) as spread:
            yield spread

    def interruptible(self) -> AbstractContextManager[Event]:
        """Yield an event that is set to end; who waits for Spark gets a KeyboardInterrupt."""
        return interruptible("local" if self.engine == "local" else "reference")

    @property
    def _choice(self) -> EngineChoice:
        return EngineChoice(self.engine, self.workers, None, None, None, self.master, self.conf)


def spreading(does: str, workers: str) -> Callable[[Command], Command]:
    """Add where runs are done: what `Where` is made of, with what an engine and a worker do."""

    def decorate(command: Command) -> Command:
        for option in (
            cluster_options,
            click.option(
                "--engine",
                type=click.Choice(["local", "spark"]),
                default="local",
                show_default=True,
                help=does,
            ),
            click.option("--workers", type=WORKERS, metavar="N", help=workers),
        ):
            command = option(command)
        return command

    return decorate


spreading_options = spreading(
    "What does the runs: processes of this machine, or Spark.",
    "Processes, or cores of a local Spark; by default one a core.",
)
