"""The one JSON object on stdout of a command that was asked for JSON."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Mapping

import click

from checker.errors import EvaluationError, Interruption, SpecificationError
from checker.visible import json_text

_TOLD = "checker.cli.objects"

NO_RESULT = (SpecificationError, EvaluationError, Interruption, KeyboardInterrupt)
"""What leaves a command without a result, but for wrong usage and errors of the checker."""


def print_object(told: Mapping[str, object]) -> None:
    """Print an object, and remember that it was; in ASCII where stdout is not UTF-8, as JSON is."""
    written = codecs.lookup(sys.stdout.encoding or "utf-8").name
    click.echo(json_text(told, plain=written != "utf-8"))
    context = click.get_current_context(silent=True)
    if context is not None:
        context.meta[_TOLD] = True


def print_why_not(spec: str | None, error: BaseException) -> None:
    """Print why there is no result, an error of NO_RESULT, where no object was printed.

    An interrupt may come while a result that was told is written to files.
    """
    context = click.get_current_context(silent=True)
    if context is None or not context.meta.get(_TOLD):
        print_object(_why(spec, error))


def _why(spec: str | None, error: BaseException) -> Mapping[str, object]:
    """Return why there is no result; a command that takes several specifications names the file."""
    from checker.report.summary import (  # noqa: PLC0415 (only where there is none)
        specification_errors,
        without_result,
    )

    if isinstance(error, SpecificationError):
        wrong = spec or error.diagnostics[0].span.source.name
        return specification_errors(wrong, error.diagnostics)
    if isinstance(error, EvaluationError):
        told = {"code": error.code, "message": str(error), "place": str(error.span)}
        return without_result(spec, {"kind": "evaluation", **told})
    return without_result(spec, {"kind": "interrupted", "message": str(error)})
