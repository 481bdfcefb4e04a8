"""Goal: a release that an adapter was not written for is built from what is nearest to it."""

import pytest
from adapter import SUBJECTS, module_of, written_for


@pytest.mark.parametrize(
    ("module", "release", "taken"),
    [
        ("classic_group", "4.1.1", ("4.1.1",)),
        ("classic_group", "4.1.2", ("4.1.1", "4.3.1")),
        ("classic_group", "4.10.0", ("4.3.1",)),
        ("classic_group", "3.8.0", ("3.9.1",)),
        ("share_state", "4.3.0", ("4.2.1", "4.3.1")),
        ("share_state", "4.3.2", ("4.3.1", "4.4.0")),
        ("recorder", "4.4.0", ("4.4.0",)),
    ],
)
def test_the_release_before_it_comes_first(
    module: str, release: str, taken: tuple[str, ...]
) -> None:
    assert written_for(module, release) == taken


def test_what_was_written_for_a_release_is_taken_for_it() -> None:
    for name, subject in SUBJECTS.items():
        for release in subject.releases:
            assert written_for(module_of(name), release) == (release,)
