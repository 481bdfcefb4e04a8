"""Goal: no specification has another verdict, or other counts, than the manual says.

Specifications are drawn as text, so that reading and elaborating are tested, too, and judged by an
explorer that shares no code with the product: alone, using another system, refining one, with
infinite runs of symmetric ids, over types of every kind. Many more are judged by
`python -m tests.random_specifications 10000`, and all that is shipped by
`python -m tests.random_specifications.shipped`.
"""

from collections import Counter
from pathlib import Path

import pytest
from crowded import crowded
from hypothesis import HealthCheck, given, settings

from checker import flow
from checker.errors import SpecificationError
from checker.search.limits import Limits
from checker.table import read

from .anew import ANEW
from .comparing import judge
from .drawing import TABLE
from .drawing_several import KINDS
from .explorer import Explorer
from .files import Files
from .model import Reader
from .shipped import SHIPPED, compare

EXAMPLES = SHIPPED / "examples"


@pytest.mark.parametrize(
    ("kind", "examples"),
    [
        ("one", 60),
        ("further", 14),
        ("uses", 25),
        ("refines", 20),
        ("orbits", 25),
        ("typed", 15),
        ("typed_further", 30),
        ("typed_alike", 8),
        ("typed_lively", 15),
        ("typed_using", 8),
        ("typed_refining", 8),
    ],
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


def told(path: Path) -> object:
    """Return what is found in some levels, whatever rows and properties are called."""
    request = flow.Request(str(path), engine="reference", symmetry=False, limits=Limits(depth=4))
    result = flow.check(request, flow.Silent())
    found = result.exploration
    rows = Counter((row.enabled, row.fired, row.new) for row in found.rows if row.enabled)
    outcomes = Counter((it.kind, it.outcome, it.length) for it in result.verdict.properties)
    return found.stopped_by, found.levels, found.generated, rows, outcomes


def test_a_drawn_specification_means_the_same_where_all_its_words_are_taken(
    tmp_path: Path,
) -> None:
    """Of more than enough are judged: a specification that is refused says nothing."""
    judged = 0
    (tmp_path / "lamp.yaml").write_text(TABLE)

    @settings(
        max_examples=40,
        deadline=None,
        derandomize=True,
        database=None,
        backend=ANEW,
        suppress_health_check=list(HealthCheck),
    )
    @given(KINDS["one"]())
    def run(text: str) -> None:
        nonlocal judged
        alone, used = tmp_path / "drawn.yaml", tmp_path / "crowd.yaml"
        alone.write_text(text)
        try:
            wanted = told(alone)
        except SpecificationError:
            return
        use = "{system: drawn, properties: all}"
        used.write_text(crowded(read(alone), use))
        assert told(used) == wanted, text
        judged += 1

    run()
    assert judged > 12


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


@pytest.mark.parametrize(
    ("name", "instance", "ended"),
    [
        ("examples/leased_work", "default", None),
        ("examples/peterson", "unfair", None),
        ("systems/partition_record", "default", None),
        ("systems/share_register", "default", "depth"),
    ],
)
def test_shipped_specifications_are_what_the_explorer_finds(
    name: str, instance: str, ended: str | None
) -> None:
    """Several files, headings, parts used, infinite runs; the others take too long for each day."""
    found = compare(SHIPPED / name / "system.yaml", instance, 43)
    assert found.stopped_by == ended
