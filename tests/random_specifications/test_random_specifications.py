"""Goal: no specification has another verdict, or other counts, than the manual says.

Specifications are drawn as text, so that reading and elaborating are tested, too, and judged by an
explorer that shares no code with the product: alone, using another system, refining one, with infinite runs of symmetric ids. Many more are judged by
`python -m tests.random_specifications 10000`.
"""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from .anew import ANEW
from .comparing import judge
from .drawing_several import KINDS, Files
from .explorer import Explorer
from .model import Reader

EXAMPLES = Path(__file__).parents[2] / "spec" / "examples"


@pytest.mark.parametrize(
    ("kind", "examples"), [("one", 90), ("uses", 35), ("refines", 25), ("orbits", 25)]
)
def test_drawn_specifications_are_judged_as_the_manual_says(kind: str, examples: int) -> None:
    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        backend=ANEW,
        suppress_health_check=list(HealthCheck),
    )
    @given(KINDS[kind]())
    def run(drawn: str | Files) -> None:
        judge(drawn)

    run()


@pytest.mark.parametrize(
    ("name", "distinct", "depth"),
    [
        ("hour_clock", 12, 0),
        ("die_hard", 14, 6),
        ("dining_philosophers", 67, 28),
        ("peterson", 42, 10),
        ("transaction_commit", 34, 6),
        ("two_phase", 288, 10),
    ],
)
def test_the_explorer_finds_published_counts(name: str, distinct: int, depth: int) -> None:
    path = EXAMPLES / name / "system.yaml"
    model = Reader(path.parent, path.read_text(), "default").read()
    found = Explorer(model, reduce=False, most=5000).run()
    assert (found.distinct, found.depth) == (distinct, depth)
