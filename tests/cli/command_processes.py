"""`checker` as a process of its own, with the signals and streams that a test wants."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Timer

ROOT = Path(__file__).parents[2]

COUNTERS = """\
system: counters
about: More states than anybody waits for, found quickly.
constants:
  Place: {ids: 12}
variables:
  count: {type: map of Place to 0..9, initial: "{p: 0 for p in Place}"}
rows:
  - row: step
    for: {place: Place}
    when: count[place] < 9
    do: count[place] += 1
terminal:
  - all(count[p] == 9 for p in Place)
properties:
  small:
    always: all(count[p] <= 9 for p in Place)
    why: it is declared so.
instances:
  few:
    set: {Place: 2}
    expect: {verdict: holds, distinct: 100}
  default: {}
"""

PATIENCE_SECONDS = 120.0
"""How long a process may take to say what is waited for."""

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def command(words: Sequence[str | Path]) -> list[str | Path]:
    return [sys.executable, "-m", "checker", *words]


def with_defaults() -> None:
    """Give the signals their meaning back, whatever the parent ignores (nohup, `&`, some CI)."""
    for number in ENDING:
        signal.signal(number, signal.SIG_DFL)


def with_none() -> None:
    """Ignore the signals, as what runs in the background does."""
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)


def run_until(
    folder: Path,
    words: Sequence[str | Path],
    said: str,
    *numbers: signal.Signals,
    handling: Callable[[], None] = with_defaults,
) -> tuple[int, str, str]:
    """Run `checker`, send signals once `said` appears on stderr; its exit code, stdout, stderr."""
    with subprocess.Popen(
        command(words),
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=handling,  # noqa: PLW1509 (no threads here)
    ) as process:
        waiting = Timer(PATIENCE_SECONDS, process.kill)
        waiting.start()
        try:
            read = list(_lines_until(process, said))
            waiting.cancel()
            for number in numbers:
                process.send_signal(number)
                time.sleep(0.01)  # two at once could be one
            out, err = process.communicate(timeout=120)
        finally:
            waiting.cancel()
            process.kill()
    return process.returncode, out, "".join(read) + err


def _lines_until(process: subprocess.Popen[str], said: str) -> Iterator[str]:
    assert process.stderr is not None
    for line in process.stderr:
        yield line
        if said in line:
            return
    raise AssertionError(f"ended without saying {said!r}")
