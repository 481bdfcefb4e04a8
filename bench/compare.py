"""Compare the checker with SPIN and TLC on the same models, in one run, several times.

    python bench/compare.py [--runs 3] [--workers 2] [--tlc tla2tools.jar] [MODEL ...]

Prints the median of each figure and the ratio to SPIN, as a Markdown table. SPIN needs `spin` and
`gcc`; without them, and without a TLC jar, those columns are left out. SPIN's generation and
compilation are not counted; its time is the verifier's own elapsed time, ours the search's.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

MODELS = Path(__file__).parent / "models"


@dataclass(frozen=True, slots=True)
class Model:
    """One model in every language: our specification and settings, Promela, TLA+."""

    name: str
    specification: str
    settings: tuple[str, ...]
    promela: str
    defines: tuple[str, ...]
    tla: tuple[str, str] | None


@dataclass(frozen=True, slots=True)
class Figures:
    """What one run measured; seconds of the search and of the whole process."""

    distinct: int
    generated: int
    seconds: float
    whole: float
    bytes_per_state: float


def group(members: int, generations: int) -> Model:
    """Return the Group of N members and G generations."""
    return Model(
        f"Group {members},{generations}",
        "group_small",
        (f"Member={members}", f"generation_max={generations}"),
        "Group.pml",
        (f"-DN={members}", f"-DG={generations}"),
        ("Group.tla", f"CONSTANTS N = {members}\nG = {generations}\nBug = FALSE\n"),
    )


def two_phase(managers: int) -> Model:
    """Return the two-phase commit of N resource managers."""
    return Model(
        f"TwoPhase {managers}",
        "two_phase",
        (f"Manager={managers}",),
        "TwoPhase.pml",
        (f"-DN={managers}",),
        None,
    )


CATALOGUE = {
    model.name.replace(" ", "").lower(): model
    for model in (group(4, 1), group(4, 2), group(4, 3), two_phase(8), two_phase(9))
}


def run_checker(model: Model, workers: int) -> Figures:
    """Run our local engine on a model."""
    settings = [word for setting in model.settings for word in ("--set", setting)]
    command = [sys.executable, "-m", "checker", "check", model.specification, *settings]
    command += ["--engine", "local", "--workers", str(workers), "--format", "json"]
    start = time.perf_counter()
    done = subprocess.run(
        [*command, "--progress", "none"], capture_output=True, text=True, check=True
    )
    whole = time.perf_counter() - start
    result = json.loads(done.stdout)
    per_state = result["peak_rss_bytes"] / result["distinct"]
    return Figures(result["distinct"], result["generated"], result["seconds"], whole, per_state)


def build_spin(model: Model, folder: Path) -> Path:
    """Generate and compile SPIN's verifier of a model; return its path."""
    subprocess.run(
        ["spin", *model.defines, "-a", str(MODELS / model.promela)],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    flags = ["-O2", "-DSAFETY", "-DNOREDUCE", "-DVECTORSZ=2048"]
    subprocess.run(
        ["gcc", *flags, "-o", "pan", "pan.c"], cwd=folder, check=True, capture_output=True
    )
    return folder / "pan"


def run_spin(verifier: Path) -> Figures:
    """Run SPIN's verifier once."""
    start = time.perf_counter()
    done = subprocess.run(
        [str(verifier), "-m20000000", "-w26"],
        cwd=verifier.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    whole = time.perf_counter() - start
    text = done.stdout
    stored = int(re.search(r"(\d+) states, stored", text)[1])
    matched = int(re.search(r"(\d+) states, matched", text)[1])
    memory = float(re.search(r"([\d.]+)\s+total actual memory usage", text)[1])
    elapsed = float(re.search(r"elapsed time ([\d.]+) seconds", text)[1])
    return Figures(stored, stored + matched, elapsed, whole, memory * 2**20 / stored)


def run_tlc(model: Model, jar: Path, workers: int, folder: Path) -> Figures | None:
    """Run TLC once on a model that has a TLA+ form."""
    if model.tla is None:
        return None
    name, constants = model.tla
    shutil.copy(MODELS / name, folder / name)
    config = folder / "run.cfg"
    config.write_text(f"{constants}SPECIFICATION Spec\nCHECK_DEADLOCK FALSE\n")
    start = time.perf_counter()
    done = subprocess.run(
        [
            *("java", "-XX:+UseParallelGC", "-cp", str(jar), "tlc2.TLC"),
            *("-workers", str(workers), "-config", "run.cfg", name),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    whole = time.perf_counter() - start
    found = re.search(r"(\d+) states generated, (\d+) distinct states found", done.stdout)
    return Figures(int(found[2]), int(found[1]), whole, whole, float("nan"))


def median(figures: list[Figures]) -> Figures:
    """Return the median of each figure."""
    return Figures(
        figures[0].distinct,
        figures[0].generated,
        statistics.median(each.seconds for each in figures),
        statistics.median(each.whole for each in figures),
        statistics.median(each.bytes_per_state for each in figures),
    )


def row(tool: str, figures: Figures, base: Figures | None) -> str:
    """Return one row of the table."""
    rate = figures.distinct / figures.seconds
    steps = figures.generated / figures.seconds
    ratio = f"{rate / (base.distinct / base.seconds):.1f}x" if base else ""
    return (
        f"| {tool} | {figures.distinct:,} | {figures.generated:,} | {figures.seconds:.2f} "
        f"| {figures.whole:.2f} | {rate / 1e6:.2f} M | {steps / 1e6:.1f} M "
        f"| {figures.bytes_per_state:.0f} | {ratio} |"
    )


def compare(model: Model, runs: int, workers: int, jar: Path | None) -> None:
    """Run every tool in turn, `runs` times, and print the medians."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        spin = build_spin(model, folder) if shutil.which("spin") and shutil.which("gcc") else None
        results: dict[str, list[Figures]] = {}
        run_checker(model, workers)
        for _ in range(runs):
            results.setdefault(f"checker, {workers} threads", []).append(
                run_checker(model, workers)
            )
            if spin:
                results.setdefault("SPIN, 1 core", []).append(run_spin(spin))
            if jar and (figures := run_tlc(model, jar, workers, folder)):
                results.setdefault(f"TLC, {workers} workers", []).append(figures)
    base = median(results["SPIN, 1 core"]) if "SPIN, 1 core" in results else None
    print(f"\n### {model.name}\n")
    print(
        "| tool | distinct | generated | search s | process s | distinct/s | generated/s "
        "| bytes a state | against SPIN |"
    )
    print("| --- " * 9 + "|")
    for tool, figures in results.items():
        print(row(tool, median(figures), base))


def main() -> None:
    """Parse the command line and compare the chosen models."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", metavar="MODEL", help=", ".join(CATALOGUE))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--tlc", type=Path, help="path of tla2tools.jar")
    arguments = parser.parse_args()
    for name in arguments.models or list(CATALOGUE):
        compare(CATALOGUE[name], arguments.runs, arguments.workers, arguments.tlc)


if __name__ == "__main__":
    main()
