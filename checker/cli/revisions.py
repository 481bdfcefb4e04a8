"""What git knows of a revision: where its repository is, and the revision's files.

A revision is a word of the user's, and of scripts: it reaches git as the name of a commit only,
after `--end-of-options`, so that none is an option of git.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from checker.cli.archives import unpack
from checker.errors import UsageError

_SECONDS = 120


def top_of(folder: Path, failure: str) -> Path:
    """Return the top of the git repository that `folder` is in; UsageError `failure` in none."""
    top = _git(folder, "rev-parse", "--show-toplevel", failure=failure)
    return Path(os.fsdecode(top.removesuffix(b"\n")))


def has_commits(top: Path, failure: str) -> bool:
    """Whether a repository has any commit; UsageError `failure` where it cannot be read."""
    return bool(_git(top, "rev-list", "--all", "--max-count=1", failure=failure))


def commit_of(top: Path, revision: str, failure: str) -> str:
    """Return the commit that `revision` names; UsageError `failure` where it names none."""
    asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    return _git(top, *asked, failure=failure).decode().strip()


def names_in(top: Path, commit: str) -> list[str]:
    """Return the files of a commit, each from the top of the repository."""
    listed = _git(top, "ls-tree", "-r", "-z", "--name-only", commit, failure=_lost(top, commit))
    return [name for name in os.fsdecode(listed).split("\0") if name]


def extract(top: Path, commit: str, folder: Path, names: Sequence[str] | None = None) -> None:
    """Write the files of a commit below `folder`: all, or those in `names`."""
    if names is None or names:
        command = ("--literal-pathspecs", "archive", "--format=tar", commit, "--", *(names or ()))
        unpack(_git(top, *command, failure=_lost(top, commit)), folder)


def _lost(top: Path, commit: str) -> str:
    return f"the repository {top} has no files of {commit}; `git fsck` says what is wrong with it"


def _git(folder: Path, *words: str, failure: str) -> bytes:
    try:
        return subprocess.run(  # noqa: S603 (the user's own git, no shell)
            ["git", "-C", str(folder), *words],  # noqa: S607
            capture_output=True,
            timeout=_SECONDS,
            check=True,
            env={**os.environ, "LC_ALL": "C"},
        ).stdout
    except FileNotFoundError as error:
        raise UsageError("git, which knows the revision, is not installed") from error
    except subprocess.CalledProcessError as error:
        if b"safe.directory" in error.stderr:
            failure = (
                f"git does not read the repository of {folder}, which belongs to another user; "
                "`git config --global --add safe.directory TOP-OF-IT` lets it"
            )
        raise UsageError(failure) from error
    except subprocess.TimeoutExpired as error:
        raise UsageError(f"git did not answer within {_SECONDS} s; {failure}") from error
    except (OSError, ValueError) as error:  # more words than the system takes, or NUL in one
        raise UsageError(f"git cannot be asked for a revision: {error}") from error
