"""What random walks went through, in a few lines: how long they were, when they met which rows."""

from __future__ import annotations

from collections.abc import Sequence

from checker.report.headline import plural
from checker.search.simulate import WalkedRow

BAR = 40
BINS = 10


def lengths_text(lengths: Sequence[int]) -> list[str]:
    """Return how long walks were: the least, the middle and the greatest, and a plot."""
    walks = sum(lengths)
    if not walks:
        return []
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
    bins = [
        (low, min(low + width - 1, most), sum(lengths[low : low + width]))
        for low in range(least, most + 1, width)
    ]
    names = [str(low) if low == high else f"{low}-{high}" for low, high, _ in bins]
    return [heading, *_bars(names, [count for _, _, count in bins])]


def coverage_text(rows: Sequence[WalkedRow], walks: int) -> list[str]:
    """Return how many rows the first walks had taken, each time twice as many walks."""
    firsts = sorted(row.first for row in rows if row.first is not None)
    if not walks or not rows:
        return []
    points = [1]
    while points[-1] < walks:
        points.append(min(2 * points[-1], walks))
    counts = [sum(first < point for first in firsts) for point in points]
    # Once no further row comes, more walks say nothing: one line for all of them.
    last = next(place for place, count in enumerate(counts) if count == counts[-1])
    shown = sorted({*range(last + 1), len(points) - 1})
    heading = f"rows taken, of {len(rows)}, by the first walks"
    newest = max(firsts, default=0)
    lines = _bars([f"{points[place]:,}" for place in shown], [counts[place] for place in shown])
    if firsts and newest + 1 < walks:
        without = plural(walks - newest - 1, "walk")
        lines.append(f"the last new row came in walk {newest + 1:,}; {without} after it had none")
    return [heading, *lines]


def _bars(names: Sequence[str], counts: Sequence[int]) -> list[str]:
    most = max(counts, default=0) or 1
    wide = max(map(len, names), default=0)
    return [
        f"  {name:>{wide}}  {'#' * (round(BAR * count / most) or int(count > 0))} {count:,}"
        for name, count in zip(names, counts, strict=True)
    ]
