"""Figures of many runs as a report: a page, Markdown, and each plot as an SVG beside them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from checker.frozen import frozen
from checker.report.files import put_below
from checker.report.markdown import code, fenced, paragraph, table, text
from checker.report.plots import Bars, as_svg


@frozen()
class Table:
    """Rows of text under their heads; the first cell of each is its name."""

    title: str
    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


@frozen()
class Figures:
    """What a report of many runs says: `plots` by the names of their files, without `.svg`."""

    title: str
    lines: tuple[str, ...]
    plots: tuple[tuple[str, Bars], ...]
    table: Table
    command: str


def written(figures: Figures, directory: Path, markdown_name: str = "README.md") -> None:
    """Write `index.html`, the Markdown and the plots into a directory; OSError where it cannot."""
    drawn = [(name, plot, as_svg(plot)) for name, plot in figures.plots]
    # The template library is imported by those who write a page only.
    from checker.report.hypertext import environment  # noqa: PLC0415

    page = (
        environment()
        .get_template("figures.html")
        .render(
            title=figures.title,
            lines=figures.lines,
            plots=[(plot, drawing) for _, plot, drawing in drawn],
            table=figures.table,
            command=figures.command,
        )
    )
    contents = {f"{name}.svg": drawing for name, _, drawing in drawn}
    put_below(directory, {**contents, "index.html": page, markdown_name: markdown(figures)})


def markdown(figures: Figures) -> str:
    """Return the figures as GitHub renders them; the plots are files beside it."""
    lines = [f"# {text(figures.title)}", ""]
    for line in figures.lines:
        lines += paragraph(line)
    for name, plot in figures.plots:
        said = "; ".join(f"{bar.name}: {bar.told}" for bar in plot.bars)
        lines += [f"![{_plain(plot.heading)}: {_plain(said)}]({name}.svg)", ""]
        lines += paragraph(plot.note)
    rows = [(code(row[0]), *map(text, row[1:])) for row in figures.table.rows]
    lines += [f"## {text(figures.table.title)}", "", *table(figures.table.heads, rows)]
    lines += fenced("console", f"$ {figures.command}")
    return "\n".join(lines).rstrip() + "\n"


def _plain(words: str) -> str:
    return text(words).replace("[", "(").replace("]", ")")
