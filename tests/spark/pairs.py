"""Runs the Spark engine and the local one on the same machine, and compares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from checker.kernel.build import build
from checker.layout.layout import pack
from checker.machine.machine import Machine
from checker.search.exploration import Exploration
from checker.search.explore import explore
from checker.search.identity import identity_of
from checker.search.limits import Limits
from checker.search.options import Options
from checker.search.progress import Interrupt
from checker.spark.explore import explore_spark
from checker.spark.room import Room
from checker.spark.session import Cluster

QUIET = (
    ("spark.ui.enabled", "false"),
    ("spark.default.parallelism", "2"),
    ("spark.checker.driver", "0"),
    ("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"),
)


def on_spark(
    machine: Machine,
    limits: Limits | None = None,
    checkpoint: Path | str | None = None,
    resume: Path | str | None = None,
    options: Mapping[str, object] | None = None,
    room: Room | None = None,
    interrupt: Interrupt | None = None,
) -> Exploration:
    """Search with the Spark engine in the session that is there."""
    layout = pack(machine)
    kernel = build(machine, layout)
    cluster = Cluster(
        checkpoint=None if checkpoint is None else str(checkpoint),
        resume=None if resume is None else str(resume),
    )
    given = Options(identity=identity_of(machine, kernel), **(options or {}))
    return explore_spark(
        machine,
        layout,
        kernel,
        limits or Limits(),
        cluster,
        interrupt=interrupt,
        options=given,
        room=room,
    )


def locally(machine: Machine, limits: Limits | None = None) -> Exploration:
    """Search with the local engine on one thread."""
    layout = pack(machine)
    return explore(machine, layout, build(machine, layout), limits or Limits(), 1)


def comparable(found: Exploration) -> Exploration:
    """Leave out what engines may differ in; of `new` only the sum is fixed."""
    return replace(
        found,
        engine="",
        workers=0,
        seconds=0.0,
        bytes_per_state=0.0,
        checkpoint=None,
    )


def assert_same(found: Exploration, wanted: Exploration) -> None:
    """Hold a search on Spark to the local one."""
    assert comparable(found) == comparable(wanted)


def search_until(machine: Machine, after: int) -> Exploration:
    """Search with the Spark engine, interrupted when so many levels were reported."""
    layout = pack(machine)
    kernel = build(machine, layout)
    reported: set[int] = set()
    return explore_spark(
        machine,
        layout,
        kernel,
        Limits(),
        Cluster(),
        progress=lambda progress: reported.add(progress.depth),
        interrupt=lambda: len(reported) >= after,
        options=Options(identity=identity_of(machine, kernel)),
    )
