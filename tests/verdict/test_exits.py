"""Goal: the exit code of a failure says whose fault it is: the command's, or the machine's."""

import errno
import os

import pytest

from checker.errors import CheckerError, EnvironmentFailure, UsageError, told
from checker.verdict import exits


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("no such option"), exits.USAGE),
        (EnvironmentFailure("no compiler"), exits.INTERNAL),
        (OSError(errno.ENOENT, os.strerror(errno.ENOENT), "a.yaml"), exits.USAGE),
        # docs/running.md: a report that cannot be written is 2
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "a.md"), exits.USAGE),
        *(
            (OSError(number, os.strerror(number)), exits.INTERNAL)
            for number in (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)
        ),
    ],
)
def test_the_code_of_a_failure(error: CheckerError | OSError, code: int) -> None:
    assert exits.of_failure(error) == code


def test_what_the_machine_refuses_is_told_with_what_to_do() -> None:
    text = told(OSError(errno.EMFILE, os.strerror(errno.EMFILE), "a.yaml"))
    assert text.startswith("the system refuses what the checker needs: too many open files")
    assert "ulimit" in text
