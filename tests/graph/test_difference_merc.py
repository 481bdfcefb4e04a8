"""Goal: which runs a change loses and gains is what another tool says of both exported graphs.

`merc-lts` (https://github.com/MERCorg/merc) decides whether all traces of one labelled transition
system are traces of another. It reads what `export --to aut` writes. It sees steps only, so the
systems have steps that say how a state looks. More pairs, where the tool is on the path:

    PAIRS=400 python -m pytest tests/graph/test_difference_merc.py
"""

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest
from test_difference_oracle import Hidden, changed, drawn, graph_of, twofold

from checker.export.graphs import aldebaran
from checker.graph.difference import compare
from checker.graph.labelled import LabelledGraph

MERC = shutil.which("merc-lts") or ""
PAIRS = int(os.environ.get("PAIRS", "12"))
KINDS = ("other", "twofold", "changed")

pytestmark = pytest.mark.skipif(not MERC, reason="no merc-lts is installed")


def pair(kind: str, seed: int) -> tuple[Hidden, Hidden]:
    chance = random.Random(f"merc {kind} {seed}")  # noqa: S311 (a test's own)
    old = drawn(chance)
    new = drawn(chance) if kind == "other" else twofold(old, chance)
    return old, changed(new, chance) if kind == "changed" else new


def all_traces_are(mine: Path, theirs: Path) -> bool:
    """Whether all traces of the first file are traces of the second."""
    done = subprocess.run(
        [MERC, "refines", "trace", str(mine), str(theirs)],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    return {"true": True, "false": False}[done.stdout.split()[-1]]


def exported(graph: LabelledGraph, file: Path) -> Path:
    file.write_text("\n".join(aldebaran(graph)) + "\n")
    return file


@pytest.mark.parametrize(
    ("kind", "seed"), [(KINDS[n % len(KINDS)], n // len(KINDS)) for n in range(PAIRS)]
)
def test_what_is_lost_and_gained_is_what_merc_says(kind: str, seed: int, tmp_path: Path) -> None:
    old, new = pair(kind, seed)
    before = graph_of(old, "before", tmp_path, telling=True)
    after = graph_of(new, "after", tmp_path, telling=True)
    files = exported(before, tmp_path / "old.aut"), exported(after, tmp_path / "new.aut")
    found = compare(before, after)
    lost, gained = found.lost.shorter is not None, found.gained.shorter is not None
    assert (lost, gained) == (not all_traces_are(*files), not all_traces_are(*reversed(files)))
    assert found.equal is not (lost or gained)
