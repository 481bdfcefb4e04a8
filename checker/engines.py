"""The three ways to run a machine, behind one protocol: local, reference and Spark."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from checker.frozen import frozen
from checker.kernel.kernel import Kernel
from checker.layout.layout import Layout
from checker.machine.machine import Machine
from checker.search.exploration import Exploration
from checker.search.explore import explore
from checker.search.identity import identity_of
from checker.search.limits import Limits
from checker.search.options import Options
from checker.search.progress import Interrupt, OnProgress
from checker.search.reference import explore_reference
from checker.spark.explore import explore_spark
from checker.spark.session import Cluster

Native = tuple[Layout, Kernel]
"""A machine as native code, and where its states keep what."""


@frozen()
class Orders:
    """What an engine is to do beside searching: how far, how, and whom to tell."""

    limits: Limits
    workers: int | None
    options: Options
    cluster: Cluster
    progress: OnProgress
    interrupt: Interrupt | None


class Engine(Protocol):
    """Searches all reachable states of a machine.

    Whichever engine it is, the exploration is the same but for times, and sizes of states. It ends
    by the rule in `checker.search.stopping`.
    """

    native: bool
    """Whether it runs native code, which has to be made first."""

    def explore(self, machine: Machine, native: Native | None, orders: Orders) -> Exploration:
        """Search; `native` is there where the engine wants it."""


class Reference:
    """The interpreter: slow, the oracle."""

    native = False

    def explore(self, machine: Machine, native: Native | None, orders: Orders) -> Exploration:
        """Search state by state."""
        assert native is None
        return explore_reference(machine, orders.limits, orders.progress, orders.interrupt)


class Local:
    """Native code on all cores of this machine."""

    native = True

    def explore(self, machine: Machine, native: Native | None, orders: Orders) -> Exploration:
        """Search level by level."""
        assert native is not None
        layout, kernel = native
        options = orders.options
        if options.checkpoint is not None or options.resume is not None:
            options = _identified(machine, kernel, options)
        return explore(
            machine,
            layout,
            kernel,
            orders.limits,
            orders.workers,
            orders.progress,
            orders.interrupt,
            options,
        )


class Spark:
    """Native code on a cluster."""

    native = True

    def explore(self, machine: Machine, native: Native | None, orders: Orders) -> Exploration:
        """Search level by level, each a job."""
        assert native is not None
        layout, kernel = native
        return explore_spark(
            machine,
            layout,
            kernel,
            orders.limits,
            orders.cluster,
            orders.progress,
            orders.interrupt,
            _identified(machine, kernel, orders.options),
        )


def _identified(machine: Machine, kernel: Kernel, options: Options) -> Options:
    return replace(options, identity=identity_of(machine, kernel))


ENGINES: dict[str, Engine] = {
    "auto": Local(),
    "local": Local(),
    "reference": Reference(),
    "spark": Spark(),
}
