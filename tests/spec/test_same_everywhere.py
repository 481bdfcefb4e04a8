"""Goal: nothing a user sees depends on the number of threads; verdicts and lengths are the same
with symmetry and without. Here for some instances; `same_everywhere.py` does it for all.
"""

import pytest
from same_everywhere import differences, is_symmetric


@pytest.mark.parametrize("instance", ["kafka_7610", "kafka_7909_fixed"])
def test_the_classic_group_says_the_same_everywhere(instance: str) -> None:
    assert is_symmetric("classic_group", instance)
    assert not differences("classic_group", instance)
