"""The server behind `checker explore`: on loopback, for whoever has the token, and nobody else.

The page itself holds nothing of the specification, and the token is in the part of its address
that browsers send nowhere; every question carries it in a header of ours, which no other site can
send. A request for another host than this one is refused, so that no name can be bound anew to it.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import sys
from functools import cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from threading import Lock
from typing import ClassVar
from urllib.parse import parse_qs, urlsplit

from checker.diagnostics import in_a_line
from checker.digits import natural
from checker.errors import CheckerError, InternalError, SpecificationError
from checker.explore.explorer import Explorer, Json, Path, as_text, path_of

LOOPBACK = "127.0.0.1"
HEADER = "X-Checker-Token"
LARGEST = 16 << 20
"""Bytes that a request may have: a trace of some thousand steps."""

_PARTS = ("explore.html", "explore.css", "explore.js")
_SHARED = ("colours.css", "state.js")
"""What this page has in common with the pages of reports."""


class Server(ThreadingHTTPServer):
    """Answers for one explorer; `token` is what a browser must know, `begin` where it begins."""

    daemon_threads = True

    def __init__(self, explorer: Explorer, begin: Path, port: int = 0) -> None:
        super().__init__((LOOPBACK, port), Handler)
        self.explorer = explorer
        self.begin = begin
        self.token = secrets.token_urlsafe(24)
        self.lock = Lock()

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a browser that went away while it was answered."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]

    @property
    def address(self) -> str:
        """What a browser is to open; the token stays in the browser."""
        return f"http://{LOOPBACK}:{self.server_port}/#{self.token}"

    def answer(self, name: str, asked: dict[str, str]) -> Json:
        """Return what is asked; CheckerError where that makes no sense."""
        explorer = self.explorer
        path = path_of(asked.get("path", ""))
        with self.lock:
            match name:
                case "about":
                    return {**explorer.about(), "begin": list(self.begin)}
                case "here":
                    return explorer.here(path)
                case "value":
                    return explorer.value(path, asked.get("text", ""))
                case "seek":
                    start = asked.get("from") == "start"
                    return explorer.seek(path, asked.get("text", ""), start=start)
                case "trace":
                    return {"trace": explorer.as_itf(path)}
                case "load":
                    return {"path": list(explorer.load(asked.get("text", "")))}
        return {}


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Server
    server_version = "checker"
    sys_version = ""
    protocol_version = "HTTP/1.1"
    timeout = 60
    QUESTIONS: ClassVar[frozenset[str]] = frozenset(
        {"about", "here", "value", "seek", "trace", "load"}
    )

    def do_GET(self) -> None:
        """Send the page; it is the same for everybody."""
        if not self._is_for_us():
            return
        if self._place() != "/":
            self._say(HTTPStatus.NOT_FOUND, {"error": "there is nothing here"})
            return
        text, policy = page()
        self._send(HTTPStatus.OK, text.encode(), "text/html; charset=utf-8", policy)

    def do_POST(self) -> None:
        """Answer a question: `/api/NAME` with its parts as a form."""
        if not self._is_for_us():
            return
        known = self.headers.get(HEADER, "")
        if not hmac.compare_digest(known.encode(), self.server.token.encode()):
            self._refuse(HTTPStatus.FORBIDDEN, "the token is missing or wrong")
            return
        name = self._place().removeprefix("/api/")
        length = natural(self.headers.get("Content-Length", ""))
        if name not in self.QUESTIONS or "/" in name:
            self._refuse(HTTPStatus.NOT_FOUND, "there is no such question")
            return
        if length is None or length > LARGEST:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "that is too long")
            return
        body = self.rfile.read(length).decode("utf-8", errors="replace")
        try:
            fields = parse_qs(body, keep_blank_values=True, max_num_fields=8)
            found = self.server.answer(name, {key: value[-1] for key, value in fields.items()})
        except SpecificationError as error:
            told = "; ".join(map(in_a_line, error.diagnostics))
            self._say(HTTPStatus.BAD_REQUEST, {"error": told})
        except InternalError as error:
            self._say(HTTPStatus.INTERNAL_SERVER_ERROR, {"error": str(error)})
        except (CheckerError, ValueError) as error:
            self._say(HTTPStatus.BAD_REQUEST, {"error": str(error)})
        else:
            self._say(HTTPStatus.OK, found)

    def _place(self) -> str:
        """Return the path that is asked for; empty, which nothing is called, for no address."""
        try:
            return urlsplit(self.path).path
        except ValueError:
            return ""

    def _is_for_us(self) -> bool:
        """Refuse what names another host: a page elsewhere whose name leads here."""
        port = self.server.server_port
        if self.headers.get("Host", "") in {f"{LOOPBACK}:{port}", f"localhost:{port}"}:
            return True
        self._refuse(HTTPStatus.FORBIDDEN, "this server is asked by its own address only")
        return False

    def _refuse(self, status: HTTPStatus, text: str) -> None:
        # What was sent with it is not read, so nothing more can come on this connection.
        self.close_connection = True
        self._say(status, {"error": text})

    def _say(self, status: HTTPStatus, data: Json) -> None:
        self._send(status, as_text(data).encode(), "application/json")

    def _send(
        self, status: HTTPStatus, body: bytes, kind: str, policy: str = "default-src 'none'"
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", f"{policy}; frame-ancestors 'none'")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the library's name)
        """Say nothing of requests: stderr is for what a user should know."""


@cache
def page() -> tuple[str, str]:
    """Return the page, and which of its parts may run: those that are in it, by their digests."""
    folder = files("checker.explore") / "templates"
    html, style, script = ((folder / name).read_text(encoding="utf-8") for name in _PARTS)
    reports = files("checker.report") / "templates"
    colours, drawing = ((reports / name).read_text(encoding="utf-8") for name in _SHARED)
    style, script = colours + style, drawing + script
    policy = "; ".join(
        (
            "default-src 'none'",
            f"style-src 'sha256-{_digest(style)}'",
            f"script-src 'sha256-{_digest(script)}'",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    return html.replace("/*style*/", style).replace("/*script*/", script), policy


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
