"""Which mistakes in a specification its instances notice: every mutant, run on every instance.

    PYTHONPATH=. python tests/spec/mutants.py SPEC [--instance NAME ...] [--only WORD] [--batch N]

prints how each mutant was noticed, the survivors last. A mutant is *caught* when an instance that
should hold shows a violation, a deadlock or an evaluation error, or one that should be violated no
longer shows what it declares; it is *counted* when only the number of states or the depth differs,
which `checker verify` notices but nobody can read; it is *silent* when nothing differs at all.
"""

from __future__ import annotations

import argparse
import ctypes
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from weaving import VARIABLE, Mutant, Woven, weave

from checker.elaborate import elaborate
from checker.graph.endless import judge_endless
from checker.kernel import build
from checker.kernel.calls import Calls
from checker.kernel.kernel import Kernel, Words
from checker.layout import pack
from checker.layout.codec import decode_all
from checker.layout.layout import Layout
from checker.library import find
from checker.llvm.meta import CHECK_ERROR, CUT, DROPPED, ERROR, ILLEGAL, STEP
from checker.machine.machine import Machine
from checker.search.explore import explore
from checker.search.limits import Limits
from checker.search.stepper import Stepper
from checker.table import Document, read

GROWTH = 3
"""A mutant with so many times the states of its specification is searched no further."""


@dataclass
class Found:
    """What one search found: steps to each property that breaks, `error` among them, and figures.

    `whole`: nothing was left to expand.
    """

    broken: dict[str, int] = field(default_factory=dict)
    distinct: int = 0
    depth: int = 0
    whole: bool = False

    def breaks(self, name: str) -> None:
        """Note that a property breaks at the present depth."""
        self.broken.setdefault(name, self.depth)


@dataclass(frozen=True)
class Notice:
    """How an instance noticed a mutant: `by` a property (or `error`), or `figures`.

    `broken`: all that break as soon as the first of them does.
    """

    instance: str
    by: str
    length: int | None = None
    broken: tuple[str, ...] = ()

    @property
    def readable(self) -> bool:
        """Whether there is more to see than another number."""
        return self.by != "figures"


class Subject:
    """One instance with all mutants woven in, compiled once and searched for each of them."""

    def __init__(self, woven: Woven, instance: str) -> None:
        self.instance = instance
        self.machine: Machine = elaborate(woven.document, instance)
        self.layout: Layout = pack(self.machine)
        self.kernel: Kernel = build(self.machine, self.layout, use_cache=False)
        self.calls = Calls(self.kernel)
        self.stepper = Stepper(self.kernel)
        self.states, self.meta = self.calls.initial()
        place = [variable.name for variable in self.machine.variables].index(VARIABLE)
        decoded = decode_all(self.layout, self.states)
        self.numbers = np.array([state[place] for state in decoded], np.int64)
        kinds = {item.name: item.kind for item in self.machine.properties}
        self.sometimes = [kinds[name] == "sometimes" for name in self.kernel.checks]
        self.most = 1 << 62
        self.usual = self.search(0)
        self.most = 1000 + GROWTH * self.usual.distinct

    def search(self, number: int) -> Found:
        """Search the mutant of that number breadth first, up to its first violation.

        Paths are not kept and no counterexample is rebuilt, which takes longer than the search.
        """
        states, meta = (np.copy(a[self.numbers == number]) for a in (self.states, self.meta))
        found, witnessed, seen = Found(), set[str](), set[bytes]()
        frontier = self.admit(states, meta, seen, found, witnessed)
        while len(frontier) and not found.broken and len(seen) <= self.most:
            expansion = self.calls.expand(frontier)
            if self.machine.deadlock and (expansion.status == 0).any():
                found.breaks("deadlock")
            if (expansion.status == 2).any():
                found.breaks("error")
            found.depth += 1
            frontier = self.admit(expansion.words, expansion.meta, seen, found, witnessed)
        found.distinct, found.whole = len(seen), not len(frontier)
        if found.whole:
            found.depth -= 1
            for name, some in zip(self.kernel.checks, self.sometimes, strict=True):
                if some and name not in witnessed:
                    found.breaks(name)
        if found.whole and not found.broken and self.kernel.observed:
            self.judge(number, found)
        return found

    def admit(
        self, words: Words, meta: Words, seen: set[bytes], found: Found, witnessed: set[str]
    ) -> Words:
        """Judge steps and the states they lead to; return the states that are new."""
        flags = int(np.bitwise_or.reduce(meta, initial=0))
        for bit, name in ((ERROR, "error"), (ILLEGAL, "legal")):
            if flags & bit:
                found.breaks(name)
        for place, name in enumerate(self.kernel.steps):
            if flags >> (STEP + place) & 1:
                found.breaks(name)
        real = meta & (ERROR | DROPPED) == 0
        words, meta = self.stepper.canonical(words[real]), meta[real]
        new = []
        for place, key in enumerate(map(bytes, words)):
            if key not in seen:
                new.append(place)
                if not meta[place] & CUT:
                    seen.add(key)
        if not new:
            return words[:0]
        checks = self.calls.check(words[new]) if self.kernel.checks else np.zeros(1, np.int64)
        flags = int(np.bitwise_or.reduce(checks))
        if flags & CHECK_ERROR:
            found.breaks("error")
        for place, name in enumerate(self.kernel.checks):
            if flags >> place & 1:
                witnessed.add(name) if self.sometimes[place] else found.breaks(name)
        return words[[place for place in new if not meta[place] & CUT]]

    def judge(self, number: int, found: Found) -> None:
        """Judge the endless runs of a mutant all of whose states are known."""
        states, meta = (np.copy(a[self.numbers == number]) for a in (self.states, self.meta))
        keep = _INITIAL(_Initial(states, meta))
        address = ctypes.cast(keep, ctypes.c_void_p).value
        kernel = replace(self.kernel, initial_address=address or 0)
        exploration = explore(self.machine, self.layout, kernel, Limits(), 1)
        native = (self.layout, kernel)
        liveness = judge_endless(self.machine, exploration, Limits(), native, 1)
        for name, outcome in liveness.outcomes.items():
            if outcome.verdict != "holds":
                found.breaks(f"{name} ({outcome.verdict})")

    def notice(self, number: int) -> Notice | None:
        """Return how this instance notices a mutant; None when it does not."""
        found, usual = self.search(number), self.usual
        for name, depth in found.broken.items():
            if name not in usual.broken:
                return Notice(self.instance, name, depth, tuple(found.broken))
        for name in usual.broken:
            if name not in found.broken:
                return Notice(self.instance, f"{name} is not violated any more")
        return None if found == usual else Notice(self.instance, "figures")


class _Initial:
    """`Kernel.initial` for chosen states."""

    def __init__(self, states: Words, meta: Words) -> None:
        self.states, self.meta = states, meta

    def __call__(self, out: int, capacity: int, meta: int) -> int:
        if len(self.states) > capacity:
            return -1
        ctypes.memmove(out, self.states.ctypes.data, self.states.nbytes)
        ctypes.memmove(meta, self.meta.ctypes.data, self.meta.nbytes)
        return len(self.states)


_INITIAL = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 3)


def batches(document: Document, size: int, only: str = "") -> Iterator[Woven]:
    """Yield all mutants of a specification, at most `size` in one machine."""
    everything = [mutant for mutant in weave(document).mutants if only in mutant.key]
    for first in range(0, len(everything), size):
        keys = {mutant.key for mutant in everything[first : first + size]}
        yield weave(document, keys)


def notices(woven: Woven, instances: Sequence[str]) -> dict[Mutant, Notice | None]:
    """Run the mutants on one instance after the other; those that were caught run no further."""
    found: dict[Mutant, Notice | None] = dict.fromkeys(woven.mutants)
    for name in instances:
        left = [item for item in woven.mutants if not _caught(found[item])]
        if not left:
            break
        started = time.perf_counter()
        subject = Subject(woven, name)
        for mutant in left:
            notice = subject.notice(mutant.number)
            if notice is not None and (notice.readable or found[mutant] is None):
                found[mutant] = notice
        taken = time.perf_counter() - started
        print(f"{name}: {len(left)} mutants, {taken:.1f} s", file=sys.stderr, flush=True)
    return found


def _caught(notice: Notice | None) -> bool:
    return notice is not None and notice.readable


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("spec")
    parser.add_argument("--instance", action="append")
    parser.add_argument("--only", default="", help="mutants whose description has this")
    parser.add_argument("--batch", type=int, default=200)
    given = parser.parse_args()
    document = read(find(given.spec))
    totals: Counter[str] = Counter()
    broken: set[str] = set()
    for woven in batches(document, given.batch, given.only):
        for mutant, notice in notices(woven, given.instance or ["default"]).items():
            how = "silent" if notice is None else "caught" if notice.readable else "counted"
            totals[how] += 1
            broken |= set() if notice is None else set(notice.broken)
            by = "" if notice is None else f"  [{notice.instance}: {notice.by} {notice.length}]"
            print(f"{how:8}{mutant}{by}", flush=True)
    print(dict(totals))
    print("broken by some mutant:", ", ".join(sorted(broken)))


if __name__ == "__main__":
    main()
