"""What `checker show` prints: headings, prose, tables and blocks, as Markdown or in a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from checker.frozen import frozen
from checker.report.markdown import code, fenced, table, text


@frozen()
class Block:
    """One named thing: in brackets what marks it, what it is about, and its labelled cells.

    A cell is code as it was written, several lines of it kept.
    """

    name: str
    marks: tuple[str, ...]
    prose: str
    cells: tuple[tuple[str, str], ...]


@frozen()
class Section:
    """A heading, prose, and a table or blocks; columns in `verbatim` hold code."""

    heading: str
    prose: tuple[str, ...]
    headings: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    verbatim: tuple[int, ...] = ()
    blocks: tuple[Block, ...] = ()


def as_markdown(sections: Iterable[Section]) -> str:
    """Return sections as Markdown."""
    lines: list[str] = []
    for number, section in enumerate(sections):
        lines += [f"{'#' if number == 0 else '##'} {text(section.heading)}", ""]
        for prose in filter(None, section.prose):
            lines += [text(prose), ""]
        if section.headings:
            lines += table(section.headings, [_markdown_row(section, row) for row in section.rows])
        for block in section.blocks:
            marks = f" ({text(', '.join(block.marks))})" if block.marks else ""
            prose = f": {text(block.prose)}" if block.prose else ""
            lines += [f"**{code(block.name)}**{marks}{prose}", ""]
            if block.cells:
                lines += fenced("text", "\n".join(_cells(block)))
    return "\n".join(lines).rstrip() + "\n"


def _markdown_row(section: Section, row: tuple[str, ...]) -> list[str]:
    return [
        code(cell) if place in section.verbatim and cell else text(cell)
        for place, cell in enumerate(row)
    ]


def _cells(block: Block) -> list[str]:
    """Return the labelled cells of a block, their code below each other."""
    wide = max(len(label) for label, _ in block.cells) + 2
    lines = []
    for label, content in block.cells:
        first, *rest = textwrap.dedent(content).strip("\n").splitlines() or [""]
        lines.append(f"{label:<{wide}}{first}".rstrip())
        lines += [f"{'':<{wide}}{line}".rstrip() for line in rest]
    return lines


def print_sections(out: Console, sections: Iterable[Section]) -> None:
    """Print sections on the terminal."""
    for number, section in enumerate(sections):
        if number:
            out.print()
        out.print(Text(section.heading, style="bold"))
        for prose in filter(None, section.prose):
            _print_wrapped(out, prose, 0)
        if section.headings:
            _print_table(out, section)
        for place, block in enumerate(section.blocks):
            if place:
                out.print()
            _print_block(out, block)


def _print_table(out: Console, section: Section) -> None:
    shown = Table(box=None, pad_edge=False, header_style="dim", show_lines=False)
    for place, heading in enumerate(section.headings):
        cells = [row[place] for row in section.rows]
        # A name that is broken cannot be looked for, nor copied.
        names = all(len(cell.split()) <= 1 for cell in cells)
        short = max(map(len, cells), default=0) <= out.width // 2
        shown.add_column(heading, overflow="fold", no_wrap=names and short)
    for row in section.rows:
        shown.add_row(*(Text(" ".join(cell.split())) for cell in row))
    out.print(shown)


def _print_block(out: Console, block: Block) -> None:
    heading = Text(block.name, style="bold cyan")
    if block.marks:
        heading.append(f"   [{', '.join(block.marks)}]", style="not bold dim")
    out.print(heading)
    _print_wrapped(out, block.prose, 2, "italic")
    for line in _cells(block) if block.cells else ():
        out.print(Text(f"    {line}"), soft_wrap=True)


def _print_wrapped(out: Console, prose: str, indent: int, style: str = "") -> None:
    for line in textwrap.wrap(" ".join(prose.split()), out.width - indent):
        out.print(Text(" " * indent + line, style=style))
