"""Where files really are: links followed, also those that lead in a circle."""

from __future__ import annotations

import os
from pathlib import Path


def real(path: Path) -> Path:
    """Return where a path leads; of links that lead in a circle nothing more is known.

    `Path.resolve` raises RuntimeError there, in some versions of Python. Who opens what is returned
    is told by the system what is wrong with it.
    """
    return Path(os.path.realpath(path))
