"""Plots of figures: bars with a heading, as lines of text and as SVG, for both a page and a file.

An SVG brings its colours, for light and for dark, and says in words what it shows.
"""

from __future__ import annotations

import math
import textwrap

from checker.frozen import frozen

LONGEST = 40
"""Characters of the longest bar in a text."""

_LETTER = 8.4
"""Pixels that a letter (13 px) is taken to need: more than most do."""
_ROW, _LINE, _TOP = 24, 18, 22
_WIDTH = 344
"""A phone shows so much at once."""


@frozen()
class Bar:
    """A figure: whose it is, how much, and how that is written."""

    name: str
    value: float
    told: str


@frozen()
class Bars:
    """Figures to be compared; `note` says what to see. The lengths may be logarithms."""

    heading: str
    bars: tuple[Bar, ...]
    note: str = ""
    logarithmic: bool = False

    @property
    def parts(self) -> list[float]:
        """How long each bar is, as part of the longest."""
        sizes = [math.log10(bar.value + 1) if self.logarithmic else bar.value for bar in self.bars]
        most = max(sizes, default=0) or 1
        return [size / most for size in sizes]


def as_text(plot: Bars) -> list[str]:
    """Return the heading, a line for each bar, and the note."""
    wide = max((len(bar.name) for bar in plot.bars), default=0)
    lines = [
        f"  {bar.name:>{wide}}  {'#' * (round(LONGEST * part) or int(bar.value > 0))} {bar.told}"
        for bar, part in zip(plot.bars, plot.parts, strict=True)
    ]
    return [plot.heading, *lines, *([plot.note] if plot.note else [])]


def as_svg(plot: Bars) -> str:
    """Return the plot as an SVG that is a file of its own, or part of a page."""
    left = 12 + _LETTER * max((len(bar.name) for bar in plot.bars), default=0)
    right = 16 + _LETTER * max((len(bar.told) for bar in plot.bars), default=0)
    room = max(_WIDTH - left - right, 120)
    width = left + room + right
    heading = textwrap.wrap(plot.heading, int((width - 8) / _LETTER))
    top = _TOP + _LINE * len(heading)
    drawn = [
        {"bar": bar, "y": top + _ROW * place, "length": max(room * part, 2 * (bar.value > 0))}
        for place, (bar, part) in enumerate(zip(plot.bars, plot.parts, strict=True))
    ]
    height = top + _ROW * len(drawn) + 8
    # The template library is imported by those who write a page only.
    from checker.report.hypertext import environment  # noqa: PLC0415

    template = environment().get_template("plot.svg")
    return template.render(
        plot=plot, heading=heading, drawn=drawn, left=left, width=width, height=height
    )
