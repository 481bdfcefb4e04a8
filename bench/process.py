"""Run a command as a whole process and say what it took."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True, slots=True)
class Run:
    """What a process printed, and the seconds it took: by the clock, and of processors."""

    output: str
    wall: float
    processor: float


class FailedError(Exception):
    """A command ended with another exit code than it may."""


def run(
    command: Sequence[str],
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    codes: Sequence[int] = (0,),
) -> Run:
    """Run a command in `folder`; FailedError if it ends with a code that is not one of `codes`."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        started = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdout=output,
            stderr=errors,
            env={**os.environ, **(environment or {})},
        )
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = code = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if code not in codes:
            said = errors.read().decode(errors="replace")[-2000:]
            raise FailedError(f"{' '.join(command)} ended with {code}:\n{said}")
        text = output.read().decode()
    return Run(text, wall, used.ru_utime + used.ru_stime)


def check(
    specification: str, *options: str, environment: Mapping[str, str] | None = None
) -> tuple[dict[str, Any], Run]:
    """Run `checker check` with the local engine; return its JSON result and what it took."""
    command = [sys.executable, "-m", "checker", "check", specification, "--engine", "local"]
    command += [*options, "--format", "json", "--progress", "none"]
    # 11: a deadlock, 20: a limit ended the search; both are as good to measure.
    done = run(command, folder=ROOT, environment=environment, codes=(0, 11, 20))
    result: dict[str, Any] = json.loads(done.output)
    return result, done


def settings(**constants: int | str) -> list[str]:
    """Return the options that set constants."""
    return [word for name, value in constants.items() for word in ("--set", f"{name}={value}")]
