"""Goal: equal and different are what minimal automata of both sides, compared by networkx, say.

Random systems with a hidden state and several initial ones: what is seen does not determine what
comes next. The oracle makes each side deterministic, minimises it, and asks whether the two are
isomorphic; the product that `compare` walks has no part in it.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import networkx as nx
import pytest

from checker import flow
from checker.graph.difference import compare, run_labels
from checker.graph.labelled import LabelledGraph, labelled_graph

ROWS = ("a", "b")
STATES = 4
LONGEST = 40
Symbol = tuple[str, int]


@dataclass(frozen=True)
class Hidden:
    """A system: of each hidden state its look and, by row, the next one; the initial states."""

    looks: tuple[int, ...]
    moves: tuple[dict[str, int], ...]
    initial: tuple[int, ...]


def drawn(chance: random.Random) -> Hidden:
    looks = tuple(chance.randrange(2) for _ in range(STATES))
    moves = tuple(
        {row: chance.randrange(STATES) for row in ROWS if chance.random() < 0.75} for _ in looks
    )
    return Hidden(looks, moves, tuple(sorted(chance.sample(range(STATES), 2))))


def twofold(system: Hidden, chance: random.Random) -> Hidden:
    """Return the same behaviour with every state twice: what is equal need not look equal."""
    count = len(system.looks)
    moves = tuple(
        {
            row: target + count * chance.randrange(2)
            for row, target in system.moves[n % count].items()
        }
        for n in range(2 * count)
    )
    initial = tuple(state + count * chance.randrange(2) for state in system.initial)
    return Hidden(system.looks * 2, moves, initial)


def changed(system: Hidden, chance: random.Random) -> Hidden:
    """Return a system one of whose moves is another, or is gone."""
    moves = [dict(found) for found in system.moves]
    state = chance.choice([n for n, found in enumerate(moves) if found])
    row = chance.choice(sorted(moves[state]))
    if chance.random() < 0.5:
        del moves[state][row]
    else:
        moves[state][row] = chance.randrange(len(moves))
    return replace(system, moves=tuple(moves))


def graph_of(system: Hidden, name: str, folder: Path, *, telling: bool = False) -> LabelledGraph:
    """Return the graph of a system, as a specification whose hidden state is called `name`.

    `telling`: with steps that change nothing and say how a state looks, for who sees steps only.
    """

    def chosen(values: dict[int, int]) -> str:
        text = "0"
        for state, value in values.items():
            text = f"({value} if {name} == {state} else {text})"
        return text

    def listed(states: Iterable[int]) -> str:
        return " or ".join(f"{name} == {state}" for state in states) or "false"

    lines = [
        "system: hidden",
        "about: Something that is not all seen.",
        "variables:",
        f'  {name}: {{type: "0..{len(system.looks) - 1}", initial: "0"}}',
        '  look: {type: "0..1", initial: "0"}',
        "initial:",
        "  for:",
        f"    first: 0..{len(system.looks) - 1}",
        f"  when: {' or '.join(f'first == {state}' for state in system.initial)}",
        "  do: |",
        f"    {name} = first",
        f"    look = {chosen(dict(enumerate(system.looks)))}",
        "rows:",
    ]
    for row in ROWS:
        targets = {n: moves[row] for n, moves in enumerate(system.moves) if row in moves}
        lines += [
            f"  - row: {row}",
            f'    when: "{listed(targets)}"',
            "    do: |",
            f"      {name} = {chosen(targets)}",
            f"      look = {chosen(dict(enumerate(system.looks)))}",
        ]
    for look in (0, 1) if telling else ():
        lines += [
            f"  - row: looks_{look}",
            f"    when: look == {look}",
            f"    do: look = {look}",
        ]
    lines += ["deadlock: false", "instances:", "  default: {}"]
    file = folder / f"{name}.yaml"
    file.write_text("\n".join(lines) + "\n")
    machine = replace(flow.machine_of(str(file), "default", {}), properties=(), deadlock=False)
    graph = labelled_graph(machine)
    assert graph is not None
    return graph


def automaton(system: Hidden) -> nx.MultiDiGraph:
    """Return the minimal automaton of what can be seen of a system; its root is marked."""
    root = frozenset({-1})
    waiting, known = [root], {root}
    out: dict[frozenset[int], dict[Symbol, frozenset[int]]] = {}
    while waiting:
        here = waiting.pop()
        to: dict[Symbol, set[int]] = {}
        for state in here:
            found = (
                [("begin", first) for first in system.initial]
                if state < 0
                else list(system.moves[state].items())
            )
            for row, target in found:
                to.setdefault((row, system.looks[target]), set()).add(target)
        out[here] = {symbol: frozenset(states) for symbol, states in to.items()}
        new = set(out[here].values()) - known
        known |= new
        waiting += new
    block = dict.fromkeys(known, 0)
    while True:
        signs = {
            node: (block[node], frozenset((symbol, block[to]) for symbol, to in out[node].items()))
            for node in known
        }
        numbers = {sign: number for number, sign in enumerate(dict.fromkeys(signs.values()))}
        finer = {node: numbers[signs[node]] for node in known}
        if len(set(finer.values())) == len(set(block.values())):
            break
        block = finer
    graph = nx.MultiDiGraph()
    for node in known:
        graph.add_node(
            block[node], root=graph.nodes.get(block[node], {}).get("root") or node == root
        )
    edges = {(block[node], block[to], symbol) for node in known for symbol, to in out[node].items()}
    for begin, end, symbol in edges:
        graph.add_edge(begin, end, symbol=symbol)
    return graph


def same(one: nx.MultiDiGraph, other: nx.MultiDiGraph) -> bool:
    edges = nx.algorithms.isomorphism.categorical_multiedge_match("symbol", None)
    nodes = nx.algorithms.isomorphism.categorical_node_match("root", None)
    return bool(nx.is_isomorphic(one, other, node_match=nodes, edge_match=edges))


def least_own(mine: Hidden, theirs: Hidden) -> int | None:
    """Return the steps of a shortest run that only the first has, by the words of each length."""
    worlds = {
        (first_look,): (
            frozenset(s for s in mine.initial if mine.looks[s] == first_look),
            frozenset(s for s in theirs.initial if theirs.looks[s] == first_look),
        )
        for first_look in {mine.looks[s] for s in mine.initial}
    }
    pairs = set(worlds.values())
    for length in range(LONGEST):
        if any(not other for _, other in pairs):
            return length
        after = set()
        for own, other in pairs:
            for row in ROWS:
                for look in (0, 1):
                    to = _step(mine, own, row, look)
                    if to:
                        after.add((to, _step(theirs, other, row, look)))
        pairs = after
    return None


def _step(system: Hidden, states: frozenset[int], row: str, look: int) -> frozenset[int]:
    found = (system.moves[state].get(row) for state in states)
    return frozenset(to for to in found if to is not None and system.looks[to] == look)


def cases() -> list[tuple[str, int]]:
    return [(kind, seed) for kind in ("other", "twofold", "changed") for seed in range(5)]


@pytest.mark.parametrize(("kind", "seed"), cases())
def test_verdicts_are_those_of_minimal_automata(kind: str, seed: int, tmp_path: Path) -> None:
    chance = random.Random(f"{kind} {seed}")  # noqa: S311 (a test's own)
    old = drawn(chance)
    new = drawn(chance) if kind == "other" else twofold(old, chance)
    new = changed(new, chance) if kind == "changed" else new
    graphs = graph_of(old, "before", tmp_path), graph_of(new, "after", tmp_path)
    found = compare(*graphs)
    assert found.hidden == (("before",), ("after",))
    assert found.equal is same(automaton(old), automaton(new))
    if kind == "twofold":
        assert found.equal is True
    for side, graph, mine, theirs in (
        (found.lost, graphs[0], old, new),
        (found.gained, graphs[1], new, old),
    ):
        least = least_own(mine, theirs)
        assert (None if side.shorter is None else len(side.shorter[1])) == least
        if side.shorter is not None:
            assert len(run_labels(graph, side.shorter)) == least


def test_both_answers_are_among_the_cases() -> None:
    answers = set()
    for kind, seed in cases():
        chance = random.Random(f"{kind} {seed}")  # noqa: S311 (a test's own)
        old = drawn(chance)
        new = drawn(chance) if kind == "other" else twofold(old, chance)
        new = changed(new, chance) if kind == "changed" else new
        answers.add((kind, same(automaton(old), automaton(new))))
    assert {("twofold", True), ("changed", False), ("other", False)} <= answers


def test_too_many_sets_are_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both can do anything; one of them may have begun where only `a` is possible."""
    one = Hidden((0,), ({"a": 0, "b": 0},), (0,))
    other = Hidden((0, 0), ({"a": 0, "b": 0}, {"a": 1}), (0, 1))
    graphs = graph_of(one, "before", tmp_path), graph_of(other, "after", tmp_path)
    assert compare(*graphs).equal is True
    found = compare(*graphs, pairs_max=0)
    assert found.equal is None
    assert "0 sets of states" in found.why
    monkeypatch.setattr("checker.graph.inclusion.available", lambda: 0)
    found = compare(*graphs)
    assert (found.equal, "do not fit the memory" in found.why) == (None, True)


def test_too_many_pairs_are_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps say where they lead, and what is different lies behind more pairs than there may be."""

    def line(length: int) -> Hidden:
        steps = [*({"a": place + 1} for place in range(length)), {"b": length}]
        return Hidden((0,) * (length + 1), tuple(steps), (0,))

    graphs = graph_of(line(6), "before", tmp_path), graph_of(line(7), "after", tmp_path)
    monkeypatch.setattr("checker.graph.inclusion._PAIRS", 1)
    found = compare(*graphs)
    assert (found.equal, found.why) == (False, "")
    monkeypatch.setattr("checker.graph.inclusion.available", lambda: 0)
    found = compare(*graphs)
    assert (found.equal, found.why) == (None, "more than 4 pairs of states")
