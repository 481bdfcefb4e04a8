"""What random walks went through, as plots: how long they were, when they met which rows."""

from __future__ import annotations

from collections.abc import Sequence

from checker.report.headline import plural
from checker.report.plots import Bar, Bars
from checker.search.simulate import WalkedRow

BINS = 10


def lengths_plot(lengths: Sequence[int]) -> Bars | None:
    """Return how long walks were: the least, the middle and the greatest, and how many."""
    walks = sum(lengths)
    if not walks:
        return None
    met = [length for length, count in enumerate(lengths) if count]
    least, most = met[0], met[-1]
    seen, middle = 0, least
    for length in met:
        seen += lengths[length]
        middle = length
        if 2 * seen >= walks:
            break
    heading = f"lengths of walks: {least} to {most} steps, half of them at most {middle}"
    width = max(-(-(most - least + 1) // BINS), 1)
    bars = []
    for low in range(least, most + 1, width):
        high = min(low + width - 1, most)
        name = str(low) if low == high else f"{low}-{high}"
        bars.append(_counted(name, sum(lengths[low : low + width])))
    return Bars(heading, tuple(bars))


def coverage_plot(rows: Sequence[WalkedRow], walks: int) -> Bars | None:
    """Return how many rows the first walks had taken, each time twice as many walks."""
    firsts = sorted(row.first for row in rows if row.first is not None)
    if not walks or not rows:
        return None
    points = [1]
    while points[-1] < walks:
        points.append(min(2 * points[-1], walks))
    counts = [sum(first < point for first in firsts) for point in points]
    # Once no further row comes, more walks say nothing: one line for all of them.
    last = next(place for place, count in enumerate(counts) if count == counts[-1])
    shown = sorted({*range(last + 1), len(points) - 1})
    bars = tuple(_counted(f"{points[place]:,}", counts[place]) for place in shown)
    newest = max(firsts, default=0)
    note = ""
    if firsts and newest + 1 < walks:
        without = plural(walks - newest - 1, "walk")
        note = f"the last new row came in walk {newest:,}; {without} after it had none"
    return Bars(f"rows taken, of {len(rows)}, by the first walks", bars, note)


def _counted(name: str, count: int) -> Bar:
    return Bar(name, count, f"{count:,}")
