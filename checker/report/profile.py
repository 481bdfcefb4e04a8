"""The profile of a run: which rows take the time, which make the states, what a state costs."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from checker.report.headline import plural
from checker.search.exploration import Exploration, RowCoverage
from checker.search.profile import Profile

WIDEST_BAR = 40
LEVELS_SHOWN = 24
"""Longer runs show the sizes of that many levels, evenly chosen."""


def profile_object(exploration: Exploration) -> dict[str, object] | None:
    """Return the profile as JSON; None for a run without one."""
    profile = exploration.profile
    if profile is None:
        return None
    degrees = profile.degrees
    return {
        "sampled_states": profile.sampled,
        "seconds": round(profile.seconds, 6),
        "expand_nanoseconds": round(profile.expand_nanoseconds, 1),
        "check_nanoseconds": round(profile.check_nanoseconds, 1),
        "out_degree": {
            "min": degrees.least,
            "avg": round(degrees.mean, 3),
            "p95": degrees.high,
            "max": degrees.most,
        },
        "levels": list(exploration.levels),
        "bits": {name: round(bits, 3) for name, bits in profile.bits},
        "rows": [
            {
                "row": row.row,
                "time_share": None if share is None else round(share, 5),
                "enabled": row.enabled,
                "fired": row.fired,
                "new": row.new,
            }
            for row, share in _rows(exploration, profile)
        ],
    }


def print_profile(out: Console, exploration: Exploration) -> None:
    """Print the profile of a run, the rows that take the most time first."""
    profile = exploration.profile
    if profile is None:
        expanded = exploration.depth_complete >= 0
        out.print(f"no profile: {'interrupted' if expanded else 'no state was expanded'}")
        return
    degrees = profile.degrees
    out.print(
        f"profile of {plural(profile.sampled, 'expanded state')}, measured after the search "
        f"on one thread in {profile.seconds:.1f} s"
    )
    out.print(
        f"a state: {profile.expand_nanoseconds:,.0f} ns to expand, "
        f"{profile.check_nanoseconds:,.0f} ns to check; successors {degrees.least} to "
        f"{degrees.most}, {degrees.mean:.1f} on average, 95 % have at most {degrees.high}"
    )
    if profile.shares is None:
        out.print("this processor has no tick counter: no time of single rows")
    _print_rows(out, exploration, profile)
    _print_states(out, exploration)
    _print_bits(out, profile)


def _rows(exploration: Exploration, profile: Profile) -> list[tuple[RowCoverage, float | None]]:
    shares = profile.shares or (None,) * len(exploration.rows)
    pairs = list(zip(exploration.rows, shares, strict=True))
    return sorted(pairs, key=lambda pair: -(pair[1] or 0.0))


def _print_rows(out: Console, exploration: Exploration, profile: Profile) -> None:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("row", overflow="fold")
    for heading in ("time", "enabled", "fired", "new", "new a firing"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row, share in _rows(exploration, profile):
        table.add_row(
            row.row,
            "" if share is None else f"{100 * share:.1f} %",
            f"{row.enabled:,}",
            f"{row.fired:,}",
            f"{row.new:,}",
            f"{row.new / row.fired:.2f}" if row.fired else "",
        )
    out.print(table)


def _print_states(out: Console, exploration: Exploration) -> None:
    levels = exploration.levels
    out.print("states of each level")
    widest = max(levels, default=1)
    step = max(-(-len(levels) // LEVELS_SHOWN), 1)
    for depth in range(0, len(levels), step):
        bar = "#" * -(-WIDEST_BAR * levels[depth] // widest)
        out.print(f"{depth:>6} {levels[depth]:>14,}  {bar}")


def _print_bits(out: Console, profile: Profile) -> None:
    out.print("bits of each variable")
    for name, bits in sorted(profile.bits, key=lambda pair: -pair[1]):
        out.print(f"{bits:>9.2f}  {name}")
