"""What every test shares: random examples that are the same in every run, and an option."""

import pytest
from hypothesis import settings

settings.register_profile("checker", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("checker")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what only a nightly run has the time for."""
    parser.addoption(
        "--every-instance",
        action="store_true",
        help="search all quick instances that are shipped with Spark, too, not only a selection; "
        "put every broken value into every cell, not only a third of them",
    )
