"""Goal: who reads a page by a screen reader or the keyboard reads all of it, as axe-core judges."""

import json
import re
import subprocess
from importlib.util import find_spec
from pathlib import Path
from threading import Thread

import pytest
from test_browser import CHROMIUM, POLICY, lookup_page, page_of

from checker import flow
from checker.cli.main import run
from checker.explore.explorer import Explorer
from checker.explore.server import Server

AXE = find_spec("axe_core_python")
pytestmark = pytest.mark.skipif(
    not (CHROMIUM and AXE), reason="no Chromium is installed, or no axe-core-python"
)

HEADLESS = (
    CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--dump-dom", "--window-size=1280,900", "--virtual-time-budget=8000",
)  # fmt: skip

JUDGE = """
    document.querySelectorAll('details').forEach(function (it) { it.open = true; });
    axe.run(document, {resultTypes: ['violations']}).then(function (found) {
      document.body.setAttribute('data-axe', JSON.stringify([found.passes.length,
        found.violations.map(function (it) { return it.id + ': ' + it.nodes[0].html; })]));
    });
"""


def dom(address: str, folder: Path) -> str:
    command = [*HEADLESS, f"--user-data-dir={folder / 'profile'}", address]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert "</html>" in done.stdout, done.stderr[-2000:]
    return done.stdout


def violations(page: str, folder: Path) -> list[str]:
    """Return what axe-core finds wrong in a page with everything unfolded."""
    assert AXE is not None
    assert AXE.origin is not None
    axe = Path(AXE.origin).with_name("axe.min.js").read_text().replace("</script", "<\\/script")
    file = folder / "judged.html"
    scripts = f"<script>{axe}</script><script>{JUDGE}</script></body>"
    file.write_text(POLICY.sub("", page).replace("</body>", scripts))
    seen = re.search(r'data-axe="([^"]*)"', dom(file.as_uri(), folder))
    assert seen is not None
    passed, found = json.loads(seen[1].replace("&quot;", '"').replace("&amp;", "&"))
    assert passed > 20
    assert isinstance(found, list)
    return found


def test_the_page_of_a_violation(tmp_path: Path) -> None:
    assert violations(page_of("two_phase", "commits_early"), tmp_path) == []


def test_the_page_of_a_system(tmp_path: Path) -> None:
    assert violations(lookup_page("two_phase"), tmp_path) == []


def test_the_page_of_a_sweep(tmp_path: Path) -> None:
    words = ["sweep", "die_hard", "--set", "goal=3..4", "--out", str(tmp_path), "--workers", "1"]
    run([*words, "--progress", "none"])
    assert violations((tmp_path / "index.html").read_text(), tmp_path) == []


def test_the_explorer_after_a_step(tmp_path: Path) -> None:
    request = flow.Request("two_phase")
    explorer = Explorer(request, *flow.prepare(request, flow.Silent()))
    with Server(explorer, explorer.first) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        seen = dom(f"{server.address}/0.0", tmp_path)
        server.shutdown()
    still = re.sub(r"<script>.*?</script>", "", seen, flags=re.DOTALL)
    assert '<tr class="new">' in still
    assert violations(still, tmp_path) == []


def test_what_cannot_be_read_is_found(tmp_path: Path) -> None:
    page = page_of("two_phase", "commits_early")
    assert any(
        "label" in it for it in violations(page.replace("<main>", "<main><input>"), tmp_path)
    )
