"""Options that several commands share, and how their words become values."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from checker.errors import UsageError
from checker.search.options import CHECKPOINT_SECONDS

Command = TypeVar("Command", bound=Callable[..., Any])

_DIRECTORY = click.Path(file_okay=False, path_type=Path)

SIZES = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def size(text: str) -> int:
    """Return the number of bytes that `4g`, `512m` or `1000000` says."""
    match = re.fullmatch(r"(\d+)\s*([kmgt]?)(i?b)?", text.strip().lower())
    if match is None:
        raise click.BadParameter(f"{text!r} is no size; write 4g, 512m or a number of bytes")
    return int(match[1]) * SIZES[match[2]]


def model_options(command: Command) -> Command:
    """Add what selects one instance of a specification."""
    for option in (
        click.option(
            "--set",
            "settings",
            multiple=True,
            metavar="NAME=VALUE",
            help="Replace a constant; drops the instance's expectation. Repeatable.",
        ),
        click.option("--instance", default=None, metavar="NAME", help="The instance to take."),
    ):
        command = option(command)
    return command


def output_options(command: Command) -> Command:
    """Add how results and progress are written."""
    for option in (
        click.option(
            "--progress",
            type=click.Choice(["auto", "json", "none"]),
            default="auto",
            show_default=True,
            help="Progress on stderr.",
        ),
        click.option(
            "--format",
            "form",
            type=click.Choice(["text", "json"]),
            default="text",
            show_default=True,
            help="Results on stdout.",
        ),
    ):
        command = option(command)
    return command


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
    if re.fullmatch(r"[+-]?\d{1,18}", text):
        return int(text)
    return text


def engine_options(command: Command) -> Command:
    """Add which engine runs, and how."""
    for option in (
        click.option(
            "--resume", type=_DIRECTORY, metavar="DIR", help="Go on from the checkpoint in DIR."
        ),
        click.option(
            "--checkpoint-seconds",
            type=click.FloatRange(0),
            default=CHECKPOINT_SECONDS,
            show_default=True,
            metavar="S",
            help="Time between two checkpoints; 0: after every level.",
        ),
        click.option(
            "--checkpoint", type=_DIRECTORY, metavar="DIR", help="Keep checkpoints in DIR."
        ),
        click.option(
            "--symmetry",
            type=click.Choice(["on", "off"]),
            default=None,
            help="Keep one of the states that differ by names of symmetric ids only.",
        ),
        click.option(
            "--workers", type=click.IntRange(1), default=None, metavar="N", help="Cores to use."
        ),
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


def refuse(
    engine: str,
    workers: int | None,
    checkpoint: Path | None,
    resume: Path | None,
    *,
    profile: bool,
) -> None:
    """Raise UsageError for what the engine asked for cannot honour."""
    if engine == "spark":
        raise UsageError("the engine spark is not there yet; use --engine local")
    for option, value in (("--checkpoint", checkpoint), ("--resume", resume)):
        if value is not None and engine == "reference":
            raise UsageError(f"{option}: the reference engine keeps no checkpoints")
    if profile and engine == "reference":
        raise UsageError("--profile: the reference engine is not measured; use --engine local")
    if engine == "reference" and workers is not None and workers > 1:
        raise UsageError("--workers: the reference engine has one worker")
