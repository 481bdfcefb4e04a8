"""What was found before and need not be found again: outcomes of `verify`, what rows do, tables.

All depend on the texts of the specification, on the checker and on nothing else. So they are kept,
signed like everything in the cache, under a digest of those two. An outcome is kept only where all
was as declared: what differed is always run again.
"""

from __future__ import annotations

import hashlib
import json
import pickle
from dataclasses import asdict, replace
from functools import cache
from importlib.metadata import version

from checker.cache import Cache, code_of
from checker.cli.gate import Outcome, Task
from checker.flow import spec_name
from checker.report.finding import Facts, facts_of
from checker.table import Document
from checker.table.sources import NAMES, texts_of
from checker.tables import StateMatrix, state_matrices
from checker.verdict import exits

VERDICTS = Cache("verdicts", 64 << 20)
"""Where outcomes are kept."""

ROWS = Cache("rows", 16 << 20)
"""Where it is kept what the rows of systems do, and their state tables."""

_LIBRARIES = ("llvmlite", "numpy", "networkx")
_AS_FOUND = (
    "expected", "verdict", "distinct", "depth", "seconds", "report", "figures",
    "levels", "rows", "properties",
)  # fmt: skip


def recall(task: Task) -> Outcome | None:
    """Return what was found of an instance before; None where it has to be run."""
    blob = VERDICTS.get(_key(task))
    return None if blob is None else Outcome(task, remembered=True, **json.loads(blob))


def remember(outcome: Outcome) -> None:
    """Keep what was found of an instance, if it is as declared and final."""
    final = outcome.error is None and not outcome.problems
    if outcome.exit_code != exits.HOLDS or not final or outcome.verdict.startswith("inconclusive"):
        return
    found = asdict(replace(outcome, problems=()))
    kept = json.dumps({name: found[name] for name in _AS_FOUND})
    VERDICTS.put(_key(outcome.task), kept.encode())


def facts(document: Document) -> Facts:
    """Return what the rows of a system do, found out once for each text of it."""
    digest = _of_texts(document, "facts")
    blob = ROWS.get(digest)
    if blob is None:
        found = facts_of(document)
        ROWS.put(digest, json.dumps(asdict(found), default=sorted).encode())
        return found
    known = json.loads(blob)
    states, reads, writes = (
        {row: frozenset(names) for row, names in known[kind].items()}
        for kind in ("states", "reads", "writes")
    )
    return Facts(states, reads, writes, frozenset(known["variables"]))


def matrices(document: Document) -> tuple[StateMatrix, ...]:
    """Return the state tables of a system, made once for each text of it."""
    digest = _of_texts(document, "matrices")
    blob = ROWS.get(digest)
    if blob is not None:
        known: tuple[StateMatrix, ...] = pickle.loads(blob)  # noqa: S301 (signed by this user)
        return known
    found = state_matrices(document)
    ROWS.put(digest, pickle.dumps(found))
    return found


def _of_texts(document: Document, what: str) -> str:
    digest = hashlib.blake2b(_checker(), digest_size=20)
    digest.update(f"{what}\0{texts_of(document)}".encode())
    return digest.hexdigest()


def _key(task: Task) -> str:
    """Return what an outcome depends on: its text, and the name of the specification in pages."""
    digest = hashlib.blake2b(_checker(), digest_size=20)
    asked = task.system, task.instance, spec_name(task.path), task.texts
    digest.update("\0".join(asked).encode(errors=NAMES))
    return digest.hexdigest()


@cache
def _checker() -> bytes:
    """Return a digest of the checker and of what it computes with."""
    digest = hashlib.blake2b(code_of())
    for name in _LIBRARIES:
        digest.update(f"{name} {version(name)}\0".encode())
    return digest.digest()
