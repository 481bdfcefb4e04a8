"""`checker explore SPEC`: walk through a specification in the browser, served on this machine."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

from checker import flow
from checker.cli.options import model_options, overrides, trace_option
from checker.errors import UsageError
from checker.explore.explorer import Explorer
from checker.explore.server import Server
from checker.trace.recorded import read_recorded
from checker.verdict import exits


@click.command()
@click.argument("spec")
@model_options
@trace_option
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="By default a free one."
)
@click.option("--open", "opening", is_flag=True, help="Open the browser.")
def explore(
    spec: str,
    instance: str | None,
    settings: tuple[str, ...],
    file: Path | None,
    port: int,
    opening: bool,
) -> int:
    """Walk through SPEC in the browser: choose a step, see what changed, go back, branch.

    Prints the address to open, and answers until it is interrupted. Only this machine can reach
    it, and only who has the address.
    """
    request = flow.Request(spec, instance or "default", overrides(settings))
    document, machine = flow.prepare(request, flow.Silent())
    explorer = Explorer(request, document, machine)
    begin = explorer.first
    if file is not None:
        begin = explorer.retrace(read_recorded(file))
    try:
        server = Server(explorer, begin, port)
    except OSError as error:
        raise UsageError(f"port {port} cannot be had: {error.strerror}") from error
    with server:
        click.echo(server.address)
        click.echo("answering until interrupted (Ctrl-C)", err=True)
        if opening:
            webbrowser.open(server.address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return exits.INTERRUPTED
    return exits.HOLDS
