"""Takes a Machine with its Layout and Kernel, makes an Exploration: the door to the Spark engine.

Breadth first, level by level. A level is one Spark job: its states are expanded where they are
owned, duplicates dropped, what is left sent to its owners by hash, compared there with all states
of earlier levels, and written. See docs/spark.md.
"""

from __future__ import annotations

from checker.kernel.build import fingerprint
from checker.kernel.kernel import Kernel
from checker.layout.layout import Layout
from checker.machine.machine import Machine
from checker.process import deep_recursion
from checker.search.exploration import Exploration
from checker.search.limits import Limits
from checker.search.options import Options
from checker.search.progress import Interrupt, OnProgress
from checker.spark.room import Room
from checker.spark.session import Cluster, spark_session


def explore_spark(
    machine: Machine,
    layout: Layout,
    kernel: Kernel,
    limits: Limits,
    cluster: Cluster,
    progress: OnProgress | None = None,
    interrupt: Interrupt | None = None,
    options: Options | None = None,
    room: Room | None = None,
) -> Exploration:
    """Search all reachable states of `machine` on `cluster`; see `Exploration`.

    The result is that of the local engine, whatever fails and is retried on the way, but for
    `seconds`. A limit of states, of time, or `interrupt` drops the level that was being searched.

    Where the graph of all states does not fit the driver, which is what `room` says, the result has
    no `states`, and `endless` says so.

    UsageError: a path that cannot be used, a checkpoint that this search cannot go on from.
    EnvironmentFailure: Spark does not start, or a job fails for good.
    """
    given = options or Options()
    with spark_session(cluster, f"checker {machine.name}", given.notice, interrupt) as session:
        # PySpark is imported by those who need it only.
        from checker.spark.search import Search  # noqa: PLC0415
        from checker.spark.shipped import ship  # noqa: PLC0415

        with deep_recursion():
            shipped = ship(kernel, fingerprint(machine))
        search = Search(session, machine, kernel, shipped, limits, progress, interrupt, given, room)
        return search.run(cluster, layout)
