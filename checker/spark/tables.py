"""The doors to the state graph as tables: write them, and ask the search they were made of."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from checker.errors import Interruption, UsageError
from checker.frozen import frozen
from checker.kernel.build import build, fingerprint
from checker.layout.codec import decode_all
from checker.layout.layout import pack
from checker.machine.machine import Machine
from checker.process import deep_recursion
from checker.search.finding import Finding
from checker.search.identity import identity_of
from checker.search.limits import Limits
from checker.search.locks import alone
from checker.search.options import Options
from checker.search.progress import Interrupt, OnProgress, interrupted
from checker.spark.session import Cluster, absolute, folder_of, spark_session

if TYPE_CHECKING:
    from checker.graph.tables import Terminal


def write_graph(
    machine: Machine,
    root: str,
    cluster: Cluster,
    progress: OnProgress | None = None,
    interrupt: Interrupt | None = None,
    options: Options | None = None,
) -> tuple[int, int, Terminal]:
    """Search all states of `machine` and write its state graph below `root`.

    Return the number of states and of edges, and where the system ends up. Interruption, which
    says what was written, where `interrupt` ends it; UsageError where the search does not find all
    states; the rest as `explore_spark`.
    """
    bare = _bare(machine)
    layout = pack(bare)
    kernel = build(bare, layout)
    given = replace(options or Options(), identity=identity_of(bare, kernel))
    with (
        spark_session(cluster, f"checker graph {machine.name}", given.notice, interrupt) as session,
        ExitStack() as holding,
    ):
        # PySpark is imported by those who need it only.
        from checker.graph.tables import IN_USE  # noqa: PLC0415 (Arrow)
        from checker.spark.drafts import sized_for  # noqa: PLC0415
        from checker.spark.graph import write_tables  # noqa: PLC0415
        from checker.spark.jobs import GRAPH_AGAIN, Jobs, Stopped  # noqa: PLC0415
        from checker.spark.rounds import Rounds  # noqa: PLC0415
        from checker.spark.search import Search  # noqa: PLC0415
        from checker.spark.shipped import ship  # noqa: PLC0415
        from checker.spark.terminal import write_terminal  # noqa: PLC0415

        context = session.sparkContext
        root = absolute(root, local=context.master.startswith("local"))
        folder = folder_of(root)
        if folder is not None:
            with suppress(OSError):  # what is wrong with it the search says
                folder.mkdir(parents=True, exist_ok=True)
            holding.enter_context(alone(folder, IN_USE))
        with deep_recursion():
            shipped = ship(kernel, fingerprint(bare))
        limits = Limits(only_states=True)
        search = Search(session, bare, kernel, shipped, limits, progress, interrupt, given)
        found = search.run(replace(cluster, checkpoint=f"{root}/search"), layout)
        if found.stopped_by == "interrupt":
            raise Interruption(f"{root} holds part of the search; remove it before another try")
        if not found.exhaustive:
            raise UsageError(f"the search was stopped: {found.stopped_by}; its graph is not whole")
        jobs = search.jobs = Jobs(
            context, root, lambda: "interrupt" if interrupted(interrupt) else None, GRAPH_AGAIN
        )
        rounds = Rounds(given.notice, f"{machine.name}: terminal components")
        written = f"the search of {found.distinct:,} states, which can be queried; no whole tables"
        try:
            with sized_for(session, found.generated):
                states, edges = jobs.run(
                    f"{machine.name}: tables",
                    lambda: write_tables(session, root, bare, layout, search.shipped),
                )
            if states != found.distinct:
                raise search.damaged(states, found.distinct)
            written = "whole tables of states, edges and statistics; no terminal components"
            ends = jobs.run(
                f"{machine.name}: terminal components",
                lambda: write_terminal(session, root, edges, search.shipped, rounds.tell),
            )
        except Stopped:
            raise Interruption(f"{root} holds {written}") from None
        return states, edges, ends


@frozen()
class Counted:
    """How many of all `states` satisfy a question, and in how many it has no value.

    `finding`: a shortest path to a state that satisfies it, or, where none does, to one where it
    has no value; None where there is neither.
    """

    matching: int
    failing: int
    states: int
    finding: Finding | None


def query_graph(
    machine: Machine,
    asked: Machine,
    root: str,
    cluster: Cluster,
    interrupt: Interrupt | None = None,
    options: Options | None = None,
) -> Counted:
    """Return how many states of the graph at `root` satisfy a question.

    `asked` is `machine` with the question as its one property. UsageError where `root` holds no
    graph of `machine`, Interruption where `interrupt` ends it.
    """
    layout = pack(asked)
    kernel = build(asked, layout)
    given = replace(options or Options(), identity=_identity(machine))
    with spark_session(
        cluster, f"checker query {machine.name}", given.notice, interrupt
    ) as session:
        from checker.spark.jobs import Stopped  # noqa: PLC0415 (as above)
        from checker.spark.search import Search  # noqa: PLC0415
        from checker.spark.shipped import ship  # noqa: PLC0415

        root = absolute(root, local=session.sparkContext.master.startswith("local"))
        with deep_recursion():
            shipped = ship(kernel, fingerprint(asked))
        search = Search(session, asked, kernel, shipped, Limits(), None, interrupt, given)
        try:
            answer = search.ask(f"{root}/search", 1)
        except Stopped:
            raise Interruption(f"{root} was not asked to the end") from None
    finding = None
    if answer.path is not None:
        path = tuple(decode_all(layout, answer.path))
        if answer.matching:
            finding = Finding(kernel.checks[0], "sometimes", len(path) - 1, path)
        else:
            finding = Finding("error", "error", len(path) - 1, path)
    return Counted(answer.matching, answer.failing, answer.states, finding)


def _bare(machine: Machine) -> Machine:
    """Return a machine of which nothing is judged: its state graph does not depend on that."""
    return replace(machine, properties=(), deadlock=False, expectation=None)


def _identity(machine: Machine) -> Mapping[str, object]:
    bare = _bare(machine)
    return identity_of(bare, build(bare, pack(bare)))
