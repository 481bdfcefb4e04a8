"""Goal: `run_all.py --resume` makes again what is old, missing or was interrupted, nothing else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import run_all
from adapter import made_of
from run_all import RUNS, is_done, make_page

from checker import flow
from checker.kernel.build import behaviour

SYSTEM = "share_state"
RELEASE = "4.3.1"
RUN = next(run for run in RUNS[SYSTEM] if RELEASE in run.releases)
LIMITS = ["--limit-steps", "100"]
TESTING = Path(__file__).parents[2] / "docs" / "testing.md"


def ended(monkeypatch: pytest.MonkeyPatch, stopped_by: str | None) -> None:
    """Let runs end so: this is about what is kept of them."""

    def drive(
        _name: str, _release: str, _run: run_all.Run, more: list[str]
    ) -> tuple[int, dict[str, Any]]:
        Path(more[-1]).write_text("# A page\n", encoding="utf-8")
        found = {
            "adapter": {"name": "Shard", "version": RELEASE},
            "verdict": "agrees",
            "cover": "rows",
            "pairs": 2,
            "pairs_taken": 2,
            "steps": 9,
            "rows": [],
            "differences": [],
            "stopped_by": stopped_by,
        }
        return 0, found

    monkeypatch.setattr(run_all, "drive", drive)


@pytest.mark.parametrize(
    ("stopped_by", "done", "done_without_limits"),
    [
        (None, True, True),
        ("the limit of 100 steps", True, False),
        ("the adapter failed", False, False),
        ("an interrupt", False, False),
    ],
)
def test_a_page_is_done_as_far_as_its_run_went(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    stopped_by: str | None,
    done: bool,
    done_without_limits: bool,
) -> None:
    page = tmp_path / "page.md"
    assert not is_done(page, SYSTEM, RELEASE, RUN, LIMITS)
    ended(monkeypatch, stopped_by)
    make_page(page, SYSTEM, RELEASE, RUN, LIMITS)
    assert page.read_text().startswith("# A page\n")
    assert is_done(page, SYSTEM, RELEASE, RUN, LIMITS) == done
    assert is_done(page, SYSTEM, RELEASE, RUN, []) == done_without_limits


def test_a_page_of_another_model_mapping_or_adapter_is_old(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    ended(monkeypatch, None)
    make_page(page, SYSTEM, RELEASE, RUN, [])
    other = run_all.Run(RUN.instance, RUN.releases, (*RUN.options, "--set", "state_epochs=2"))
    assert not is_done(page, SYSTEM, RELEASE, other, [])
    assert not is_done(page, SYSTEM, "4.4.0", RUN, [])
    with monkeypatch.context() as patched:
        patched.setattr(run_all, "made_of", lambda *_: ["class Subject {}"])
        assert not is_done(page, SYSTEM, RELEASE, RUN, [])
    assert is_done(page, SYSTEM, RELEASE, RUN, [])


def test_another_adapter_of_the_same_module_makes_no_page_old() -> None:
    consumers = "\n".join(made_of("consumer_group_848", "4.3.1"))
    assert "class Chosen" in consumers
    assert "class Migration" not in consumers
    assert "class Migration" in "\n".join(made_of("consumer_group_migration", "4.3.1"))


def test_another_release_makes_no_page_old() -> None:
    assert made_of("share_partition", "4.2.0") != made_of("share_partition", "4.4.0")
    scala = "\n".join(made_of("classic_group", "3.9.1"))
    assert "GroupMetadataManagerTestContext" not in scala
    assert "GroupMetadataManagerTestContext" in "\n".join(made_of("classic_group", "4.3.1"))


def test_a_property_makes_no_page_old(tmp_path: Path) -> None:
    lease = re.findall(r"```yaml\n(.*?)```", TESTING.read_text(encoding="utf-8"), re.DOTALL)[0]
    added = "properties:\n  another:\n    step: implies(ran(expire), epoch > 0)\n    why: so.\n"
    told = []
    for text in (lease, lease.replace("properties:\n", added)):
        file = tmp_path / "lease.yaml"
        file.write_text(text, encoding="utf-8")
        asked = flow.Request(str(file), "default", properties=())
        told.append(behaviour(flow.prepare(asked, flow.Silent())[1]))
    assert told[0] == told[1]
