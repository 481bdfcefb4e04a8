"""Goal: of each property of a shipped system it is shown that it can fail.

What `checker mutate SYSTEM --declared` judges.
"""

from __future__ import annotations

import pytest
from verified import SYSTEMS, document, mistakes_of

from checker.mutation.shown import jobs_of, judge

EXAMPLES = ("allocator", "token_ring", "voting")
"""Examples that declare mistakes, too."""


@pytest.mark.parametrize("system", [*SYSTEMS, *EXAMPLES])
def test_a_declared_mistake_breaks_its_property(system: str) -> None:
    jobs = jobs_of(document(system), mistakes_of(system))
    shown = [item for job in jobs for item in judge(job)]
    assert [item for item in shown if item.steps is None] == []
