"""What `git archive` gives of a revision, as files."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path


def unpack(archive: bytes, folder: Path) -> None:
    """Write the regular files of a tar archive below `folder`, and nothing anywhere else.

    The filters of `tarfile` would do it, but Python has them from 3.11.4 only.
    """
    top = folder.resolve()
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        for member in files:
            place = (top / member.name).resolve()
            content = files.extractfile(member) if member.isfile() else None
            if content is not None and place.is_relative_to(top):
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(content.read())
