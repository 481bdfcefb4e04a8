"""`checker cache`: where is kept what need not be made again, and how much there is."""

from __future__ import annotations

import click

from checker import cache as kept
from checker.cli.configuration import SpokenOption
from checker.cli.remembered import ROWS, VERDICTS
from checker.elaborate.recalled import MACHINES
from checker.errors import UsageError
from checker.llvm.native import KERNELS
from checker.table.parsed import TEXTS
from checker.table.recalled import DOCUMENTS

CACHES = (KERNELS, MACHINES, VERDICTS, ROWS, DOCUMENTS, TEXTS)
"""Everything that is kept between runs."""


@click.command()
@click.option(
    "--clear", is_flag=True, cls=SpokenOption, does="removes files", help="Forget all of it."
)
def cache(*, clear: bool) -> None:
    """Show the folder of what is kept: kernels, machines, verdicts and others; and how much it is.

    Nothing in it is needed: what is missing is made anew.
    """
    place = kept.place()
    if place is None:
        raise UsageError("nothing is kept: this user has no home; set XDG_CACHE_HOME to a folder")
    if clear:
        kept.repair()
    refusal = kept.refusal()
    if refusal is not None:
        raise UsageError(refusal)
    if clear:
        for item in CACHES:
            item.clear()
    click.echo(place)
    for item in CACHES:
        count, size = item.size()
        click.echo(
            f"  {item.kind}: {count}, {_mebibytes(size)} of at most {_mebibytes(item.capacity)}"
        )


def _mebibytes(size: int) -> str:
    return f"{size / 2**20:.1f} MiB"
