"""Figures of many runs as a report: a page, Markdown, and each plot as an SVG beside them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from checker.frozen import frozen
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
    directory.mkdir(parents=True, exist_ok=True)
    drawn = [(name, plot, as_svg(plot)) for name, plot in figures.plots]
    for name, _, drawing in drawn:
        (directory / f"{name}.svg").write_text(drawing, encoding="utf-8")
    # The template library is imported by those who write a page only.
    from checker.report.hypertext import environment  # noqa: PLC0415

    page = environment().get_template("figures.html")
    text = page.render(
        title=figures.title,
        lines=figures.lines,
        plots=[(plot, drawing) for _, plot, drawing in drawn],
        table=figures.table,
        command=figures.command,
    )
    (directory / "index.html").write_text(text, encoding="utf-8")
    (directory / markdown_name).write_text(markdown(figures), encoding="utf-8")


def markdown(figures: Figures) -> str:
    """Return the figures as GitHub renders them; the plots are files beside it."""
    lines = [f"# {figures.title}", ""]
    for line in figures.lines:
        lines += [line, ""]
    for name, plot in figures.plots:
        said = "; ".join(f"{bar.name}: {bar.told}" for bar in plot.bars)
        lines += [f"![{_plain(plot.heading)}: {_plain(said)}]({name}.svg)", ""]
        lines += [plot.note, ""] if plot.note else []
    heads = figures.table.heads
    lines += [f"## {figures.table.title}", "", _row(heads), _row(["---"] * len(heads))]
    lines += [_row([f"`{row[0]}`", *row[1:]]) for row in figures.table.rows]
    lines += ["", "```console", f"$ {figures.command}", "```"]
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    return text.replace("[", "(").replace("]", ")")


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
