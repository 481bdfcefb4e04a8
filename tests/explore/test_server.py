"""Goal: the server answers who has the token, on loopback, and lets nothing of others in or out."""

import http.client
import json
import re
import shutil
import socket
import struct
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from checker import flow
from checker.explore.explorer import Explorer
from checker.explore.server import HEADER, LARGEST, Server, page

SCRIPT = "<img src=x onerror=alert(1)>"
SPEC = f"""\
system: lamp
about: "A lamp {SCRIPT} {"w" * 300}"
variables:
  lit: {{type: bool, initial: "false"}}
  presses: {{type: "0..3", initial: "0"}}
rows:
  - row: press
    about: "Somebody presses. {SCRIPT}"
    when: presses < 3
    do: |
      lit = not lit
      presses += 1
  - row: rest
    when: presses > 0
    do: presses = presses
properties:
  rarely_pressed:
    always: presses < 3
    why: it wears out.
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    file = tmp_path / "lamp.yaml"
    file.write_text(SPEC)
    request = flow.Request(str(file))
    explorer = Explorer(request, *flow.prepare(request, flow.Silent()))
    with Server(explorer, explorer.first) as made:
        thread = threading.Thread(target=made.serve_forever, daemon=True)
        thread.start()
        yield made
        made.shutdown()
        thread.join(10)


def asked(
    server: Server,
    name: str,
    *,
    method: str = "POST",
    token: str | None = None,
    host: str | None = None,
    **fields: str,
) -> tuple[int, str, dict[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    headers = {HEADER: server.token if token is None else token}
    headers["Content-Type"] = "application/x-www-form-urlencoded"
    if host is not None:
        headers["Host"] = host
    connection.request(method, name, urlencode(fields), headers)
    reply = connection.getresponse()
    found = reply.status, reply.read().decode(), dict(reply.getheaders())
    connection.close()
    return found


def test_a_walk_by_its_questions(server: Server) -> None:
    _, text, _ = asked(server, "/api/about")
    about = json.loads(text)
    assert about["name"] == "lamp"
    _, text, _ = asked(server, "/api/here", path=".".join(map(str, about["begin"])))
    here = json.loads(text)
    assert [item["name"] for item in here["choices"]] == ["press"]
    assert here["places"] == {"lit": "false", "presses": "0"}
    _, text, _ = asked(server, "/api/seek", path="0", text="presses == 3", **{"from": "here"})
    path = json.loads(text)["path"]
    assert len(path) == 4
    _, text, _ = asked(server, "/api/here", path=".".join(map(str, path)))
    end = json.loads(text)
    assert end["properties"][0]["broken"] is True
    assert [item["marks"] for item in end["choices"]] == [[["changes nothing", False]]]
    _, text, _ = asked(server, "/api/here", path=".".join(map(str, path[:-1])))
    marks = {item["name"]: item["marks"] for item in json.loads(text)["choices"]}
    assert marks["press"] == [["breaks rarely_pressed", True]]
    _, text, _ = asked(server, "/api/trace", path=".".join(map(str, path)))
    trace = json.loads(text)["trace"]
    _, text, _ = asked(server, "/api/load", text=trace)
    assert json.loads(text)["path"] == path


def test_nothing_is_said_without_the_token(server: Server) -> None:
    for token in (
        "",
        "x",
        server.token[:-1],
        server.token + "x",
        "\u00e9".encode().decode("latin1"),
    ):
        status, text, _ = asked(server, "/api/about", token=token)
        assert status == 403
        assert "lamp" not in text
    status, text, _ = asked(server, "/", method="GET", token="")
    assert status == 200
    assert "lamp" not in text
    assert server.token not in text


def test_other_hosts_are_refused(server: Server) -> None:
    for host in ("example.org", f"example.org:{server.server_port}", "127.0.0.1", ""):
        for method, name in (("GET", "/"), ("POST", "/api/about")):
            assert asked(server, name, method=method, host=host)[0] == 403
    good = f"localhost:{server.server_port}"
    assert asked(server, "/api/about", host=good)[0] == 200


def test_only_loopback_is_listened_on(server: Server) -> None:
    assert server.server_address[0] == "127.0.0.1"
    assert server.socket.family == socket.AF_INET


def test_what_makes_no_sense_is_an_error_and_the_server_goes_on(server: Server) -> None:
    for name, fields in (
        ("/api/here", {"path": "0.77"}),
        ("/api/here", {"path": "x"}),
        ("/api/value", {"path": "0", "text": "nobody"}),
        ("/api/value", {"path": "0", "text": "open('/etc/passwd')"}),
        ("/api/seek", {"path": "0", "text": "presses +"}),
        ("/api/seek", {"path": "0", "text": "presses", "from": "start"}),
        ("/api/seek", {"path": "0", "text": "presses"}),
        ("/api/seek", {"path": "0", "text": "3 // (presses - 1) == 7", "from": "start"}),
        ("/api/seek", {"path": "0", "text": "3 // (presses - 1) == 7"}),
        ("/api/about", dict.fromkeys("abcdefghi", "1")),
        ("/api/load", {"text": "no trace"}),
    ):
        status, text, _ = asked(server, name, **fields)
        assert (status, bool(json.loads(text)["error"])) == (400, True), (name, text)
    _, text, _ = asked(server, "/api/value", path="0", text="pressed > 1")
    assert json.loads(text)["error"].endswith("(column 1); did you mean `presses`?")
    assert asked(server, "/api/nothing")[0] == 404
    assert asked(server, "/../../etc/passwd", method="GET")[0] == 404
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    connection.putrequest("POST", "/api/load")
    connection.putheader(HEADER, server.token)
    connection.putheader("Content-Length", str(LARGEST + 1))
    connection.endheaders()
    assert connection.getresponse().status == 413
    assert asked(server, "/api/about")[0] == 200


def test_what_is_no_http_leaves_no_traceback(
    server: Server, capfd: pytest.CaptureFixture[str]
) -> None:
    host = f"Host: 127.0.0.1:{server.server_port}\r\n"
    token = f"{HEADER}: {server.token}\r\n"
    for request, status in (
        (f"GET http://[ HTTP/1.1\r\n{host}\r\n", 404),
        (f"POST http://[/ HTTP/1.1\r\n{host}{token}Content-Length: 0\r\n\r\n", 404),
        (f"POST /api/about HTTP/1.1\r\n{host}{token}Content-Length: {'9' * 5000}\r\n\r\n", 413),
        (f"POST /api/about HTTP/1.1\r\n{host}{token}Content-Length: \xb2\r\n\r\n", 413),
    ):
        with socket.create_connection(("127.0.0.1", server.server_port), timeout=30) as asking:
            asking.sendall(request.encode("latin-1"))
            assert asking.recv(100).startswith(f"HTTP/1.1 {status} ".encode())
    gone = socket.create_connection(("127.0.0.1", server.server_port), timeout=30)
    gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    gone.sendall(f"GET / HTTP/1.1\r\n{host}\r\n".encode() * 50)
    gone.close()
    assert asked(server, "/api/about")[0] == 200
    assert capfd.readouterr().err == ""


def test_the_page_runs_its_own_script_alone_and_may_not_be_framed(server: Server) -> None:
    _, text, headers = asked(server, "/", method="GET")
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["Cache-Control"] == "no-store"
    assert headers["Referrer-Policy"] == "no-referrer"
    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL)
    assert script is not None
    for word in ("innerHTML", "outerHTML", "document.write", "eval(", "insertAdjacent"):
        assert word not in script[1], "what a specification says is text"
    assert page()[0] == text


CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)


def dom(address: str, folder: Path) -> str:
    command = [
        CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=8000", "--dump-dom",
        address,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
    return done.stdout


@pytest.mark.skipif(not CHROMIUM, reason="no Chromium is installed")
def test_in_a_browser(server: Server, tmp_path: Path) -> None:
    _, text, _ = asked(server, "/api/seek", path="0", text="presses == 2", **{"from": "here"})
    path = ".".join(map(str, json.loads(text)["path"]))
    seen = dom(f"{server.address}/{path}", tmp_path)
    assert '<h1 id="name">lamp, instance default</h1>' in seen
    assert "A lamp &lt;img src=x onerror=alert(1)&gt;" in seen
    assert "<img" not in seen
    assert '<tr class="new"><th scope="row"><code>presses</code></th><td><code>2</code>' in seen
    assert "rarely_pressed (always): true" in seen
    assert "2 steps</span>" in seen
    assert "printf" in seen


@pytest.mark.skipif(not CHROMIUM, reason="no Chromium is installed")
def test_an_address_that_leads_nowhere_shows_the_beginning(server: Server, tmp_path: Path) -> None:
    seen = dom(f"{server.address}/0.999", tmp_path)
    assert '<p id="said" role="alert">there is no choice 999 after 1 step</p>' in seen
    assert "<code>press</code>" in seen


WALK = """
(function () {
  "use strict";
  var said = [], steps = [
    function () { document.querySelector("button.take").click(); },
    function () { document.querySelector("button.take").click(); },
    function () { history.back(); },
    function () { history.forward(); },
    function () { location.hash = location.hash.replace(/[.].*/, ""); },
    function () { location.hash += ".77"; },
    function () {}
  ];
  function next() {
    var path = document.querySelectorAll("#steps > li").length - 1;
    said.push(path + (location.hash.split("/")[1] === undefined ? " of nowhere" : ""));
    document.body.setAttribute("data-walk", said.join(", "));
    if (steps.length) { steps.shift()(); setTimeout(next, 500); }
  }
  setTimeout(next, 1000);
}());
"""


def driven(script: str, server: Server, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return what the page is after a script of ours has used it."""
    text, _ = page()
    text = text.replace("</body>", f"<script>{script}</script></body>")
    policy = "default-src 'self' 'unsafe-inline'"
    monkeypatch.setattr("checker.explore.server.page", lambda: (text, policy))
    return dom(server.address, folder)


@pytest.mark.skipif(not CHROMIUM, reason="no Chromium is installed")
def test_the_browser_goes_back_and_an_address_that_is_changed_is_followed(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = driven(WALK, server, tmp_path, monkeypatch)
    assert 'data-walk="0, 1, 2, 1, 2, 0, 0, 0"' in seen, re.findall('data-walk="[^"]*"', seen)
    assert "there is no choice 77 after 1 step<" in seen


HASTE = """
(function () {
  "use strict";
  function keys(text) {
    text.split("").forEach(function (key) {
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key: key, bubbles: true }));
    });
  }
  function click(id) { document.getElementById(id).click(); }
  var said = [], moves = [
    function () { keys("1112"); },
    function () { click("back"); click("back"); keys("k1"); click("keep"); keys("1"); },
    function () { document.querySelector("#branches button").click(); keys("1"); click("back"); },
    function () { document.querySelector("#steps button").click(); keys("kk1"); },
    function () { keys("1"); document.querySelector("#steps button").click(); }
  ];
  function next() {
    said.push(document.querySelectorAll("#steps > li").length - 1);
    document.body.setAttribute("data-walk", said.join(", "));
    document.body.setAttribute("data-wide", document.documentElement.scrollWidth > innerWidth);
    if (moves.length) { moves.shift()(); setTimeout(next, 500); }
  }
  setTimeout(next, 1000);
}());
"""


@pytest.mark.skipif(not CHROMIUM, reason="no Chromium is installed")
def test_keys_and_clicks_that_come_faster_than_answers_are_taken_in_turn(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = driven(HASTE, server, tmp_path, monkeypatch)
    # At three presses nothing is left but to rest: there is no second choice.
    assert 'data-walk="0, 3, 2, 1, 1, 0"' in seen, re.findall('data-walk="[^"]*"', seen)
    assert "1 step, last press" in seen
    assert 'data-wide="false"' in seen, "a long word is broken"
