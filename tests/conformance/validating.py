"""`checker validate` on logs, its verdict as an object."""

import json
from typing import Any

from click.testing import CliRunner

from checker.cli.validate import validate

EXITS = {"explained": 0, "diverges": 1, "inconclusive": 20}


def validated(spec: str, *arguments: str) -> dict[str, Any]:
    """Return what is said of logs, with options; raise what the command raises."""
    outcome = CliRunner().invoke(
        validate,
        [spec, *arguments, "--progress", "none", "--format", "json"],
        standalone_mode=False,
    )
    if outcome.exception is not None:
        raise outcome.exception
    found = json.loads(outcome.stdout)
    assert isinstance(found, dict)
    assert outcome.return_value == EXITS[found["verdict"]]
    return found
