"""Builds an adapter for a class of Kafka and becomes it: what `checker conform --adapter` starts.

    python tests/conformance/adapter.py share_partition                  # the newest release
    python tests/conformance/adapter.py share_partition --release 4.2.0
    python tests/conformance/adapter.py classic_group --release 4.2.1    # not written for it
    python tests/conformance/adapter.py --build                          # all, starting none

Needs a JDK of 17 or newer and Maven, which brings Kafka's released artefacts when they are first
needed (each pom.xml says which); after that no network is. Says what is missing and ends with 3.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Subject:
    """The class that speaks the protocol, and the releases it was written for, the newest last."""

    main: str
    releases: tuple[str, ...]
    module: str = ""
    """The Maven module it stands in, if that is not called like the system."""


SUBJECTS = {
    "classic_group": Subject(
        "org.apache.kafka.coordinator.group.Subject", ("3.9.1", "4.1.1", "4.3.1")
    ),
    "consumer_group_848": Subject("org.apache.kafka.coordinator.group.Subject", ("4.2.1", "4.3.1")),
    "consumer_group_migration": Subject(
        "org.apache.kafka.coordinator.group.Migration", ("4.2.1", "4.3.1"), "consumer_group_848"
    ),
    "consumer_group_replay": Subject(
        "org.apache.kafka.coordinator.group.Replay", ("4.2.1", "4.3.1"), "consumer_group_848"
    ),
    "controller": Subject("kafka.controller.Subject", ("2.8.2",)),
    "reassignment": Subject("kafka.controller.Reassignment", ("2.8.2",), "controller"),
    "replication": Subject("org.apache.kafka.controller.Elections", ("4.3.1",), "replication_isr"),
    "replication_isr": Subject("org.apache.kafka.controller.Subject", ("4.3.1",)),
    "share_group": Subject("org.apache.kafka.coordinator.group.Subject", ("4.2.1", "4.3.1")),
    "share_partition": Subject("kafka.server.share.Subject", ("4.2.0", "4.4.0")),
    "share_state": Subject(
        "org.apache.kafka.coordinator.share.Subject", ("4.2.1", "4.3.1", "4.4.0")
    ),
    "topic_deletion": Subject("kafka.controller.TopicDeletion", ("2.8.2",), "controller"),
}
"""Of each system with an adapter what is driven."""

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


def module_of(name: str) -> str:
    """Return the Maven module in which the adapter of a system stands."""
    return SUBJECTS[name].module or name


def written_for(module: str, release: str) -> tuple[str, ...]:
    """Return the releases whose sources a module may take for `release`, those to try first first.

    Its own; of one that has none that before it, then that after it: building says which fit. What
    stands in a module of no adapter, such as the recorder, is for each release.
    """
    known = {
        number(item): item
        for name, subject in SUBJECTS.items()
        if module_of(name) == module
        for item in subject.releases
    }
    here = number(release)
    if here in known or not known:
        return (release,)
    before = sorted(key for key in known if key < here)[-1:]
    after = sorted(key for key in known if key > here)[:1]
    return tuple(known[key] for key in (*before, *after))


def number(release: str) -> tuple[int, ...]:
    """Return a release as numbers that compare: `4.10.0` comes after `4.9.1`."""
    return tuple(int(part) for part in re.findall(r"\d+", release))


def sources(module: str) -> list[Path]:
    """Return the files that an adapter is built from, in an order that stays."""
    found = [*HERE.glob("*.xml"), *HERE.glob(f"{module}/pom.xml")]
    for part in ("protocol", module):
        found += HERE.glob(f"{part}/src/**/*.java")
    return sorted(found)


def made_of(name: str, release: str) -> list[str]:
    """Return the texts that decide what the adapter of a system does for a release, in order.

    Of the classes beside it those that its main class names, and those that these name: a simple
    name anywhere in a text will do, so there may be more than it needs, never less. What only
    another release has is none of them, nor which other modules there are.
    """
    module = module_of(name)
    folders = [HERE / "protocol" / "src" / "main", HERE / module / "src" / "main"]
    parts = release.split(".")
    folders += [HERE / module / "src" / ".".join(parts[:end]) for end in range(1, len(parts) + 1)]
    texts: dict[str, str] = {}
    for folder in folders:
        for file in sorted(folder.glob("java/**/*.java")):
            texts[file.stem] = texts.get(file.stem, "") + file.read_text(encoding="utf-8")
    reached: set[str] = set()
    waiting = {SUBJECTS[name].main.rpartition(".")[2]}
    while waiting:
        reached |= waiting
        named = {word for item in waiting for word in re.findall(r"\w+", texts[item])}
        waiting = named & texts.keys() - reached
    parents = (HERE, HERE / "protocol", HERE / module)
    poms = [(folder / "pom.xml").read_text(encoding="utf-8") for folder in parents]
    poms[0] = re.sub(r"(?s)<modules>.*</modules>", "", poms[0])
    return [*poms, *(texts[item] for item in sorted(reached))]


def build(module: str, release: str) -> str | None:
    """Build a module where its sources are newer; return what went wrong."""
    target = HERE / module / "target"
    target.mkdir(exist_ok=True)
    with (target / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _built(module, release)


def class_path(module: str, release: str) -> str:
    """Return where Java finds the classes of a module that is built, and what they need."""
    target = HERE / module / "target" / release
    return os.pathsep.join([str(target / "classes"), (target / "classpath").read_text()])


def _built(module: str, release: str) -> str | None:
    classpath = HERE / module / "target" / release / "classpath"
    newest = max(file.stat().st_mtime for file in sources(module))
    if classpath.is_file() and classpath.stat().st_mtime > newest:
        return None
    problems = []
    for taken in written_for(module, release):
        problem = _compiled(module, release, taken)
        if problem is None:
            if taken != release:
                print(f"{module}: written for {taken}, built for {release}", file=sys.stderr)
            classpath.touch()  # Maven leaves it alone where it says the same
            return None
        problems.append(problem)
    classpath.unlink(missing_ok=True)
    return problems[0]


def _compiled(module: str, release: str, taken: str) -> str | None:
    """Compile a module for `release`, with the sources of its own that `taken` has."""
    goals = ["test-compile", "dependency:build-classpath"]
    settings = [f"-Dkafka.version={release}", f"-Dmdep.outputFile=target/{release}/classpath"]
    settings.append(f"-Dkafka.sources={taken}")
    command = ["mvn", "-q", "-B", "-pl", module, "-am", *goals, *settings]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"`{' '.join(command)}` failed:\n{(done.stdout + done.stderr)[-3000:]}"
    return None


def main() -> None:
    """Build, then become the adapter."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", nargs="?", choices=[*SUBJECTS])
    parser.add_argument("--release", help="of Kafka  [the newest]")
    parser.add_argument("--build", action="store_true", help="build, and start nothing")
    given = parser.parse_args()
    if given.name is None and not given.build:
        parser.error(f"name one of {', '.join(SUBJECTS)}")
    wanted = [
        (name, release)
        for name, subject in SUBJECTS.items()
        if given.name in (None, name)
        for release in (subject.releases if given.build else subject.releases[-1:])
    ]
    if given.release is not None:
        wanted = [(name, given.release) for name in dict.fromkeys(name for name, _ in wanted)]
    problem = missing()
    for name, release in wanted:
        problem = problem or build(module_of(name), release)
    if problem is not None:
        print(problem, file=sys.stderr)
        sys.exit(UNAVAILABLE)
    if not given.build:
        ((name, release),) = wanted
        subject = SUBJECTS[name]
        path = class_path(module_of(name), release)
        frugal = ("-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
        command = ["java", *frugal, "-cp", path, subject.main]
        os.execvp("java", command)  # noqa: S606


if __name__ == "__main__":
    main()
