"""What else the engine is held to: compiling, starting, symmetry, liveness, memory, profile.

Each measurement returns rows of a table: what, the bar, what was measured. Those of two settings
are taken in turn, and the ratio is the median of the ratios of pairs.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path

from compare import baseline
from process import Run, check, settings

MODELS = Path(__file__).parent / "models"

Row = tuple[str, str, str]


def rows_specification(rows: int, members: int) -> str:
    """Return a specification of `rows` rows with an instance for each of `members` members."""
    text = f"""\
system: rows
about: Rows made for measuring how long compiling takes.
constants:
  Member: {{ids: {members}, prefix: m}}
types:
  Step: 0..7
variables:
  phase: {{type: Step, per: Member, initial: "0"}}
  joined: {{type: set of Member, initial: empty}}
  leader: {{type: optional Member, initial: none}}
  epoch: {{type: Step, initial: "0"}}
  inbox: {{type: optional Step, per: Member, initial: none}}
rows:
"""
    for row in range(rows):
        text += f"""\
  - row: row_{row}
    for: {{m: Member}}
    when: |
      phase[m] == {row % 8} and epoch < 7 and (m in joined or inbox[m] is none)
    do: |
      phase[m] = {(3 * row + 1) % 8}
      if m in joined:
          joined.discard(m)
          if leader == m:
              leader = none if len(joined) == 0 else min(k for k in joined)
      else:
          joined.add(m)
          for k in joined:
              inbox[k] = phase[m]
      if epoch == {row % 7}:
          epoch += 1
"""
    return text


def compiling(runs: int) -> list[Row]:
    """Measure compiling with nothing kept from before."""
    found: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        few, many = Path(name) / "few.yaml", Path(name) / "many.yaml"
        few.write_text(rows_specification(100, 3))
        many.write_text(rows_specification(100, 10))
        for what, bar, specification in (
            ("compile 100 rows, 300 instances, cold", "2 s", str(few)),
            ("compile 100 rows, 1,000 instances, cold", "4 s", str(many)),
            ("compile classic_group, cold", "", "classic_group"),
            ("compile share_partition, cold", "", "share_partition"),
            ("compile controller, cold", "", "controller"),
        ):
            seconds = []
            for _ in range(runs):
                with tempfile.TemporaryDirectory() as cache:
                    result, _ = check(
                        *(specification, "--limit-states", "1000"),
                        environment={"XDG_CACHE_HOME": cache},
                    )
                seconds.append(result["compile_seconds"])
            found.append((what, bar, f"{statistics.median(seconds):.2f} s"))
    return found


def starting(runs: int) -> list[Row]:
    """Measure whole processes whose search takes no time: warm, and the first of all."""
    check("hour_clock")
    warm = [check("hour_clock")[1] for _ in range(max(runs, 5))]
    with tempfile.TemporaryDirectory() as cache:
        kept = {"XDG_CACHE_HOME": cache, "NUMBA_CACHE_DIR": cache}
        _, first = check("group_small", environment=kept)
    return [
        ("start to end of a search of 12 states, warm", "1.2 s", _seconds(warm)),
        ("very first run of an installation (group_small)", "15 s", _seconds([first])),
    ]


def _seconds(runs: list[Run]) -> str:
    wall = statistics.median(run.wall for run in runs)
    processor = statistics.median(run.processor for run in runs)
    return f"{wall:.2f} s ({processor:.2f} s of processors)"


def _ratios(
    runs: int, one: Callable[[], float], other: Callable[[], float]
) -> tuple[float, float, float]:
    """Return the medians of two measurements taken in turn, and of the ratio one / other."""
    one()
    other()
    pairs = [(one(), other()) for _ in range(runs)]
    return (
        statistics.median(left for left, _ in pairs),
        statistics.median(right for _, right in pairs),
        statistics.median(left / right for left, right in pairs),
    )


def classic_group(runs: int) -> list[Row]:
    """Measure the shipped classic group, whose states take more than 128 bits, all of its states.

    The smaller one takes part of a second, much of it on levels of few states.
    """
    rows: list[Row] = []
    for faults in ({"disconnects": 2, "hangs": 1}, {"disconnects": 2, "crashes": 1}):
        given = ("classic_group", *settings(**faults))
        results = [check(*given)[0] for _ in range(runs + 1)][1:]
        first = results[0]
        what = (
            f"classic_group, {first['distinct']:,} states of {first['state_bits']} bits, symmetry"
        )
        for name, bar in (("distinct", "2 M"), ("generated", "15 M")):
            rate = statistics.median(item[name] / item["seconds"] for item in results)
            rows.append((f"{what}: {name}/s", bar, f"{rate / 1e6:.2f} M"))
    return rows


def symmetry(runs: int) -> list[Row]:
    """Measure four symmetric ids that refer to each other."""
    model = str(MODELS / "symmetric_group.yaml")
    states: dict[str, int] = {}

    def each(mode: str) -> float:
        result, _ = check(model, "--symmetry", mode)
        states[mode] = result["distinct"]
        return float(result["seconds"] / result["generated"])

    on, off, ratio = _ratios(runs, lambda: each("on"), lambda: each("off"))
    return [
        (
            "symmetry of 4 ids: states without over states with it",
            "15x",
            f"{states['off'] / states['on']:.1f}x ({states['off']:,} to {states['on']:,})",
        ),
        (
            "symmetry of 4 ids: time a generated state",
            "2.5x",
            f"{ratio:.2f}x ({off * 1e9:.0f} to {on * 1e9:.0f} ns)",
        ),
    ]


def liveness(runs: int) -> list[Row]:
    """Measure three properties under weak fairness, after a search of 5.8 M states, 46 M edges."""
    model = str(MODELS / "turns.yaml")

    def each(*options: str) -> float:
        return check(model, *options)[1].wall

    with_, without, _ = _ratios(runs, each, lambda: each("--property", "deadlock"))
    return [
        (
            "liveness, 5.8 M states, 46 M edges, three properties, weak fairness: after the search",
            "60 s",
            f"{with_ - without:.1f} s",
        )
    ]


def spilling(runs: int) -> list[Row]:
    """Measure a wide model at a quarter of the memory that its states need."""
    options = (str(MODELS / "turns.yaml"), *settings(lively="false"), "--property", "deadlock")

    def each(*more: str) -> float:
        return float(check(*options, *more)[0]["seconds"])

    needed = 24 * check(*options)[0]["distinct"]
    small, full, ratio = _ratios(runs, lambda: each("--memory", str(needed // 4)), each)
    return [
        ("spilling at a quarter of the memory", "6x", f"{ratio:.2f}x ({full:.2f} to {small:.2f} s)")
    ]


def profiling(runs: int) -> list[Row]:
    """Measure the search with a profile and without; counts of rows are always on."""
    options = ("group_small", *settings(Member=4, generation_max=2))
    _, _, ratio = _ratios(
        runs,
        lambda: float(check(*options, "--profile")[0]["seconds"]),
        lambda: float(check(*options)[0]["seconds"]),
    )
    return [("search with --profile over without (counts are always on)", "1.1x", f"{ratio:.2f}x")]


def memory(_: int) -> list[Row]:
    """Measure what 20 million states and more take, traces included, beyond an idle process."""
    before = baseline().memory
    found: list[Row] = []
    for members, generations, words, bar in ((4, 3, "one word", 26), (5, 2, "two words", 46)):
        given = settings(Member=members, generation_max=generations)
        result, _ = check("group_small", *given, "--limit-states", "30000000")
        distinct = result["distinct"]
        each = (result["peak_rss_bytes"] - before) / distinct
        what = f"memory, states of {words} ({result['state_bits']} bits), {distinct:,} of them"
        found.append((what, f"{bar} bytes a state", f"{each:.0f}"))
    return found


def billion(_: int) -> list[Row]:
    """Search all 10^9 states of 9 workers with 10 phases each, in memory alone."""
    model = str(MODELS / "turns.yaml")
    given = (*settings(Worker=9, last=9, lively="false"), "--property", "deadlock")
    result, _ = check(model, *given, "--memory", "22g")
    memory = result["peak_rss_bytes"] / 2**30
    return [
        (
            "turns, 9 workers of 10 phases: distinct states in one exact, exhaustive run",
            "10^9",
            f"{result['distinct']:,} in {result['seconds']:.0f} s, {memory:.1f} GiB",
        )
    ]


BARS: dict[str, Callable[[int], list[Row]]] = {
    "compile": compiling,
    "start": starting,
    "classic": classic_group,
    "symmetry": symmetry,
    "liveness": liveness,
    "spill": spilling,
    "profile": profiling,
    "memory": memory,
    "billion": billion,
}
