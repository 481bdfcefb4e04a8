"""Options that several commands share, and how their words become values."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from checker.cli.configuration import SpokenOption
from checker.cli.objects import NO_RESULT, print_why_not
from checker.errors import UsageError
from checker.frozen import frozen
from checker.search.options import CHECKPOINT_SECONDS, Compact
from checker.spark.session import Cluster

Command = TypeVar("Command", bound=Callable[..., Any])

SIZES = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


class Seconds(click.FloatRange):
    """A time in seconds that a clock can wait for: "nan" is none, and "inf" is too long."""

    def __init__(self, *, some: bool = False) -> None:
        super().__init__(0, min_open=some)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number; a range of click's lets those two pass."""
        number: float = super().convert(value, param, ctx)
        if not number <= _LONGEST:
            self.fail(f"{value!r} is no time; write seconds, at most {_LONGEST:,}", param, ctx)
        return number


_LONGEST = 1_000_000_000

_URL = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)


class _Place(click.Path):
    """A file or folder of this machine: the parts of a URL would be folders here."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        """Return the path."""
        if _URL.match(str(value)):
            self.fail(f"{value} is a URL; give a path on this machine", param, ctx)
        return super().convert(value, param, ctx)


A_FILE = _Place(dir_okay=False, path_type=Path)
A_FOLDER = _Place(file_okay=False, path_type=Path)


def make_folder(directory: Path) -> None:
    """Make the folder that a result will be written to; OSError where that cannot be.

    It is better known before a long search than after it. A command that ends with nothing to
    write, for whatever reason, leaves no empty folder where none was.
    """
    folders = (directory, *directory.parents)
    made = [folder for folder in folders if not folder.exists()]
    directory.mkdir(parents=True, exist_ok=True)

    def take_away() -> None:
        for folder in made:
            try:
                folder.rmdir()
            except OSError:  # something is in it
                return

    click.get_current_context().call_on_close(take_away)


A_PLACE = _Place(path_type=Path)
"""What is written to, on this machine."""

WORKERS = click.IntRange(1, 1024)
"""Each has buffers of its own: more than a machine has cores help nobody, and cost memory."""


def size(text: str) -> int:
    """Return the number of bytes that `4g`, `512m` or `1000000` says."""
    match = re.fullmatch(r"(\d+)\s*([kmgt]?)(i?b)?", text.strip().lower())
    if match is None:
        raise click.BadParameter(f"{text!r} is no size; write 4g, 512m or a number of bytes")
    found = int(match[1]) * SIZES[match[2]]
    if not found:
        raise click.BadParameter(f"{text!r} is no memory at all; write 4g, 512m or leave it out")
    return found


def model_options(command: Command) -> Command:
    """Add what selects one instance of a specification."""
    for option in (
        click.option(
            "--set",
            "settings",
            multiple=True,
            metavar="NAME=VALUE",
            help="Replace a constant; drops the instance's expectation. Repeatable; "
            "of two values of one constant the last counts.",
        ),
        click.option("--instance", default=None, metavar="NAME", help="The instance to take."),
    ):
        command = option(command)
    return command


trace_option = click.option(
    "--trace",
    "file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Begin at the end of a recorded trace.",
)

vacuity_option = click.option(
    "--vacuity",
    type=click.Choice(["off", "warn", "error"]),
    default="off",
    show_default=True,
    help="Look for what says nothing: left sides that never hold, rows that never fire.",
)


progress_option = click.option(
    "--progress",
    type=click.Choice(["auto", "json", "none"]),
    default="auto",
    show_default=True,
    help="Progress on stderr.",
)


def format_option(*others: str) -> Callable[[Command], Command]:
    """Add the form of results: text, JSON and `others`.

    As JSON it is told on stdout, too, why there is no result where the specification is wrong, an
    interrupt came or a value cannot be: who reads it finds one object.
    """

    def decorate(command: Command) -> Command:
        @wraps(command)
        def telling(**given: Any) -> Any:
            try:
                return command(**given)
            except NO_RESULT as error:
                if given["form"] == "json":
                    print_why_not(given.get("spec"), error)
                raise

        option = click.option(
            "--format",
            "form",
            type=click.Choice(["text", "json", *others]),
            default="text",
            show_default=True,
            help="Results on stdout.",
        )
        return option(cast("Command", telling))

    return decorate


def output_options(command: Command) -> Command:
    """Add how results and progress are written."""
    return format_option()(progress_option(command))


def overrides(settings: tuple[str, ...]) -> dict[str, int | bool | str]:
    """Return the constants of `--set NAME=VALUE`; UsageError where one has no such form."""
    found: dict[str, int | bool | str] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise UsageError(f"--set takes NAME=VALUE, not {setting!r}")
        found[name.strip()] = _constant(value.strip())
    return found


def _constant(text: str) -> int | bool | str:
    if text in {"true", "True", "false", "False"}:
        return text.lower() == "true"
    if re.fullmatch(r"[+-]?[0-9]{1,4000}", text):
        return int(text)
    return text


def cluster_options(command: Command) -> Command:
    """Add which Spark runs."""
    for option in (
        click.option(
            "--conf",
            cls=SpokenOption,  # properties of Spark's name programs, and options of Java
            multiple=True,
            metavar="KEY=VALUE",
            help="A property for Spark. Repeatable.",
        ),
        click.option(
            "--master",
            cls=SpokenOption,  # Spark's drivers load objects that its executors send them
            metavar="URL",
            help="The Spark to run on, as spark-submit has it.",
        ),
    ):
        command = option(command)
    return command


def spark_options(command: Command) -> Command:
    """Add the options of what only Spark does."""
    for option in (
        cluster_options,
        click.option("--workers", type=WORKERS, metavar="N", help="Cores to use."),
        click.option(
            "--engine", type=click.Choice(["spark"]), default="spark", help="What does it."
        ),
    ):
        command = option(command)
    return command


def engine_options(command: Command) -> Command:
    """Add which engine runs, and how."""
    for option in (
        cluster_options,
        click.option(
            "--compact",
            type=click.Choice(["auto", "on", "off"]),
            help="Keep states in halves: where memory is short (auto, the default), soon, never.",
        ),
        click.option(
            "--resume", metavar="DIR", help="Go on from the checkpoint in DIR (spark: and there)."
        ),
        click.option(
            "--checkpoint-seconds",
            type=Seconds(),
            metavar="S",
            help=f"Time between two checkpoints; 0: after every level.  [{CHECKPOINT_SECONDS:.0f}]",
        ),
        click.option(
            "--checkpoint",
            metavar="DIR",
            help="Keep checkpoints in DIR; with Spark, a URL of any file system it knows.",
        ),
        click.option(
            "--symmetry",
            type=click.Choice(["on", "off"]),
            default=None,
            help="Keep one of the states that differ by names of symmetric ids only.",
        ),
        click.option("--workers", type=WORKERS, default=None, metavar="N", help="Cores to use."),
        click.option(
            "--engine",
            type=click.Choice(["auto", "local", "spark", "reference"]),
            default="auto",
            show_default=True,
            help="What explores.",
        ),
    ):
        command = option(command)
    return command


@frozen()
class EngineChoice:
    """What the engine options say, as given; None and empty where an option is not there."""

    engine: str
    workers: int | None
    checkpoint: str | None
    checkpoint_seconds: float | None
    resume: str | None
    master: str | None
    conf: tuple[str, ...]
    memory: int | None = None
    profile: bool = False
    others: int = 0
    compact: Compact | None = None

    def refuse(self) -> None:
        """Raise UsageError for what the engine asked for cannot honour."""
        if self.others and self.engine not in {"auto", "local"}:
            raise UsageError("--traces: only the local engine has the graph that they are found in")
        if self.compact is not None and self.engine not in {"auto", "local"}:
            raise UsageError("--compact: only the local engine keeps states in halves")
        if self.checkpoint_seconds is not None and self.checkpoint is None:
            raise UsageError("--checkpoint-seconds: nothing is written without --checkpoint DIR")
        for option, place in (("--checkpoint", self.checkpoint), ("--resume", self.resume)):
            if self.engine != "spark" and place is not None and _URL.match(place):
                raise UsageError(
                    f"{option} {place}: only Spark keeps checkpoints at a URL; add --engine spark, "
                    "or give a folder of this machine"
                )
        if self.engine == "reference":
            self._refuse_for_reference()
        if self.engine == "spark":
            self._refuse_for_spark()
        elif self.master is not None or self.conf:
            option = "--conf" if self.master is None else "--master"
            raise UsageError(f"{option} is for Spark; add --engine spark")

    def _refuse_for_reference(self) -> None:
        for option, value in (("--checkpoint", self.checkpoint), ("--resume", self.resume)):
            if value is not None:
                raise UsageError(f"{option}: the reference engine keeps no checkpoints")
        if self.profile:
            raise UsageError("--profile: the reference engine is not measured; use --engine local")
        if self.workers is not None and self.workers > 1:
            raise UsageError("--workers: the reference engine has one worker")

    def _refuse_for_spark(self) -> None:
        if self.workers is not None and self.master is not None:
            raise UsageError("--workers N is --master 'local[N]'; give one of them")
        if self.memory is not None:
            raise UsageError(
                "--memory is for the local engine; give Spark --conf spark.driver.memory=4g (local)"
                " or --conf spark.executor.memory=4g (a cluster)"
            )
        if self.profile:
            raise UsageError("--profile: Spark is not measured; its UI shows where time goes")
        if self.checkpoint_seconds is not None:
            raise UsageError("--checkpoint-seconds: the spark engine keeps every level anyway")
        if self.resume is not None and self.checkpoint not in (None, self.resume):
            raise UsageError(
                "--resume goes on in the place it resumes from; copy that first to keep it as it is"
            )

    def cluster(self) -> Cluster:
        """Return where Spark runs; UsageError where a property has no value."""
        properties = []
        for setting in self.conf:
            key, equals, value = setting.partition("=")
            if not equals or not key.strip():
                raise UsageError(f"--conf takes KEY=VALUE, not {setting!r}")
            properties.append((key.strip(), value.strip()))
        spark = self.engine == "spark"
        return Cluster(
            master=self.master,
            conf=tuple(properties),
            checkpoint=self.checkpoint if spark else None,
            resume=self.resume if spark else None,
            workers=self.workers,
        )

    def directory(self, value: str | None) -> Path | None:
        """Return a directory of the local engine; None for another engine."""
        return None if value is None or self.engine == "spark" else Path(value)
