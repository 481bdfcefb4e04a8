"""Breadth-first search of a written-down graph, in the plainest Python: what a search must find."""

from dataclasses import dataclass, field

from flagged_graphs import Graph

from checker.llvm.meta import CHECK_ERROR, CUT, DROPPED, ERROR, ILLEGAL, STEP


@dataclass
class Expected:
    """What there is to find. `findings`: (name, kind) to (depth, path of nodes, action)."""

    levels: list[int] = field(default_factory=list)
    generated: int = 0
    cuts: int = 0
    deadlocks: int = 0
    findings: dict[tuple[str, str], tuple[int, tuple[int, ...], int | None]] = field(
        default_factory=dict
    )

    def found(self, name: str, kind: str, path: tuple[int, ...], action: int | None = None) -> None:
        known = self.findings.get((name, kind))
        if known is None or len(path) - 1 < known[0]:
            self.findings[name, kind] = (len(path) - 1, path, action)


def expected(
    graph: Graph, checks: list[tuple[str, str]], steps: list[str], *, keep_going: bool
) -> Expected:
    """Search `graph`. Paths are kept whole, so the first one to a node is the least."""
    result = Expected()
    paths: dict[int, tuple[int, ...]] = {}

    def judge(node: int, path: tuple[int, ...]) -> None:
        flags = graph.checks.get(node, 0)
        for index, (name, kind) in enumerate(checks):
            if flags >> index & 1:
                result.found(name, kind, path)
        if flags & CHECK_ERROR:
            result.found("error", "error", path)

    def take(source: tuple[int, ...], node: int, flags: int, action: int | None) -> None:
        if flags & ERROR:
            result.found("error", "error", source or (node,), action)
            return
        result.generated += 1
        result.cuts += bool(flags & (CUT | DROPPED))
        if flags & DROPPED:
            return
        path = (*source, node)
        if flags & ILLEGAL:
            result.found("legal", "legal", path)
        for index, name in enumerate(steps):
            if flags >> (STEP + index) & 1:
                result.found(name, "step", path)
        if not flags & CUT:
            if node in paths:
                return
            paths[node] = path
            fresh.append(node)
        judge(node, path)

    fresh: list[int] = []
    for node, flags in graph.initial:
        take((), node, flags, None)
    while fresh:
        result.levels.append(len(fresh))
        kinds = {kind for _, kind in result.findings}
        if "error" in kinds or (kinds - {"sometimes"} and not keep_going):
            break
        level, fresh = fresh, []
        for node in level:
            for edge in graph.edges.get(node, []):
                take(paths[node], edge.target, edge.flags, edge.action)
            if node in graph.unclear:
                result.found("error", "error", paths[node])
            elif node in graph.dead:
                result.deadlocks += 1
                result.found("deadlock", "deadlock", paths[node])
    return result
