"""Builds an adapter for a class of Kafka and becomes it: what `checker conform --adapter` starts.

    python tests/conformance/adapter.py share_partition
    python tests/conformance/adapter.py --build            # all of them, without starting one

Needs a JDK of 17 or newer and Maven, which brings Kafka's released artefacts when they are first
needed (each pom.xml says which); after that no network is. Says what is missing and ends with 3.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
MAINS = {"share_partition": "kafka.server.share.Subject"}
"""Of each system with an adapter the class that speaks the protocol."""

JDK = 17
UNAVAILABLE = 3
"""The exit code where a JDK, Maven or an artefact is missing."""


def missing() -> str | None:
    """Return what this machine lacks to build an adapter, or None."""
    if shutil.which("java") is None or shutil.which("javac") is None:
        return "a JDK (17 or newer) is needed: neither `java` nor `javac` may be missing from PATH"
    said = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(\d+)', said)
    if found is None or int(found[1]) < JDK:
        return f"a JDK of 17 or newer is needed; `java -version` says: {said.splitlines()[0:1]}"
    if shutil.which("mvn") is None:
        return "Maven is needed: there is no `mvn` in PATH"
    return None


def build(name: str) -> str | None:
    """Build the adapter of a system where its sources are newer; return what went wrong."""
    classpath = HERE / name / "target" / "classpath"
    sources = [*HERE.glob("*.xml"), *HERE.glob(f"{name}/pom.xml")]
    sources += [file for part in ("protocol", name) for file in HERE.glob(f"{part}/src/**/*.java")]
    if classpath.is_file() and classpath.stat().st_mtime > max(f.stat().st_mtime for f in sources):
        return None
    goals = ["test-compile", "dependency:build-classpath", "-Dmdep.outputFile=target/classpath"]
    command = ["mvn", "-q", "-B", "-pl", name, "-am", *goals]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    if done.returncode:
        classpath.unlink(missing_ok=True)
        return f"`{' '.join(command)}` failed:\n{(done.stdout + done.stderr)[-3000:]}"
    classpath.touch()  # Maven leaves it alone where it says the same
    return None


def main() -> None:
    """Build, then become the adapter."""
    names = sys.argv[1:]
    only_build = names[:1] == ["--build"]
    names = names[1:] or list(MAINS) if only_build else names
    if not names or set(names) - set(MAINS) or (len(names) > 1 and not only_build):
        sys.exit(f"usage: adapter.py [--build] NAME, with one of {', '.join(MAINS)}")
    problem = missing()
    for name in names:
        problem = problem or build(name)
    if problem is not None:
        print(problem, file=sys.stderr)
        sys.exit(UNAVAILABLE)
    if not only_build:
        (name,) = names
        classpath = (HERE / name / "target" / "classpath").read_text()
        path = os.pathsep.join([str(HERE / name / "target" / "classes"), classpath])
        os.execvp("java", ["java", "-Xshare:auto", "-cp", path, MAINS[name]])  # noqa: S606


if __name__ == "__main__":
    main()
