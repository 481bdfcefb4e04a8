"""Goal: Spark, too, judges specifications drawn as text as the manual says.

More are drawn by `python -m tests.random_specifications 200 --spark`.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from tests.random_specifications.comparing import judge
from tests.random_specifications.drawing import specifications


@pytest.mark.usefixtures("session")
@settings(
    max_examples=6,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(specifications())
def test_drawn_specifications_are_judged_as_the_manual_says(text: str) -> None:
    judge(text, (("local", 1), ("spark", None)))
