"""Records a run of a released broker and its consumers, for `checker validate`.

    python tests/conformance/record.py run.jsonl --protocol consumer --seconds 20 --seed 1
    checker validate consumer_group_848 run.jsonl

A broker of Kafka runs in one process on loopback, and its own clients join a group, leave, die,
stall and lose their connections and answers, at random from the seed. A proxy between them writes a
line for each request and each answer. With `--disturb` there are three brokers, each in a process
of its own, and things happen to the coordinator, too:

    moves    another broker becomes coordinator
    pauses   its process is stopped until another broker is coordinator, and wakes as a zombie
    limits   its log takes no records for a second: appends fail
    lags     its follower is stopped: records are not committed in time

Needs what the adapters need; says what is missing and ends with 3.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from adapter import UNAVAILABLE, build, class_path, missing

RELEASE = "4.4.0"
DISTURBANCES = ("moves", "pauses", "limits", "lags")
SEVERAL = 3
"""Brokers where the coordinator is disturbed: the controller's, and two that can be coordinator."""


def main() -> None:
    """Build the recorder and run it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--protocol", choices=["classic", "consumer", "share"], default="consumer")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--session", type=int, default=2000, help="session timeout in milliseconds")
    parser.add_argument("--disturb", nargs="+", choices=DISTURBANCES, default=[], metavar="WHAT")
    parser.add_argument("--consumers", type=int, default=3, help="at most, at a time  [3]")
    parser.add_argument("--calm", action="store_true", help="consumers only come and go")
    parser.add_argument("--release", default=RELEASE, help=f"of Kafka  [{RELEASE}]")
    given = parser.parse_args()
    problem = missing() or build("recorder", given.release)
    if problem is not None:
        print(problem, file=sys.stderr)
        sys.exit(UNAVAILABLE)
    path = class_path("recorder", given.release)
    words = [given.file, given.protocol, given.seconds, given.seed, given.session]
    words += [
        SEVERAL if given.disturb else 1,
        ",".join(given.disturb),
        given.consumers,
        "calm" if given.calm else "",
    ]
    with TemporaryDirectory() as folder:
        command = ["java", "-Xmx512m", "-Xshare:auto", f"-Djava.io.tmpdir={folder}", "-cp", path]
        command += ["checker.recorder.Recorder", *map(str, words)]
        done = subprocess.run(command, check=False, timeout=given.seconds + 300)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
