"""What every test shares: random examples that are the same in every run, and two options."""

import resource
import time
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import settings

from checker.process import collect_rarely

settings.register_profile("checker", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("checker")

COST = "processor seconds"
BEGAN = pytest.StashKey[float]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what only a nightly run has the time for, and what tells where the time goes."""
    parser.addoption(
        "--every-instance",
        action="store_true",
        help="search all quick instances that are shipped with Spark, too, not only a selection; "
        "put every broken value into every cell, not only a third of them; judge every recorded "
        "run that was changed; drive all brokers that keep somebody waiting",
    )
    parser.addoption(
        "--costs",
        type=int,
        default=0,
        metavar="N",
        help="tell the processor seconds of each folder, and of the N tests that take most",
    )


def pytest_configure() -> None:
    """Collect as the command does: otherwise it is a fifth of the tests' time."""
    collect_rarely()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what only a nightly run has the time for."""
    if config.getoption("--every-instance"):
        return
    left_out = [item for item in items if item.get_closest_marker("nightly")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    item.stash[BEGAN] = processor_seconds()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    yield
    item.user_properties.append((COST, processor_seconds() - item.stash[BEGAN]))


def processor_seconds() -> float:
    """Return what this process took so far, with the processes that it has waited for."""
    others = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + others.ru_utime + others.ru_stime


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    most = config.getoption("--costs")
    if not most:
        return
    tests: Counter[str] = Counter()
    folders: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, seconds in getattr(report, "user_properties", ()):
                if name == COST:
                    tests[report.nodeid] += seconds
                    folders["/".join(report.nodeid.split("/")[:2]).split("::")[0]] += seconds
    terminalreporter.section(COST)
    for name, seconds in (*folders.most_common(), *tests.most_common(most)):
        terminalreporter.write_line(f"{seconds:8.1f}  {name}")
