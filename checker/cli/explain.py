"""`checker explain CODE`: the page of an error code."""

from __future__ import annotations

import click

from checker.errors import UsageError
from checker.library import explanation


@click.command()
@click.argument("code")
def explain(code: str) -> None:
    """Explain an error code, such as `checker explain Y301`."""
    page = explanation(code.upper())
    if page is None:
        raise UsageError(f"there is no error code {code!r}; codes look like T110, N203, Y301, E501")
    click.echo(page.rstrip())
