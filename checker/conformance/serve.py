"""Speaks the adapter's side of the protocol, for implementations that Python can call.

    from checker.conformance.serve import serve

    serve(LeaseAdapter)

makes a program that `checker conform --adapter 'python lease_adapter.py'` can start. Only the
standard library is used, so the file may also be copied.
"""

from __future__ import annotations

import copy
import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, TextIO

PROTOCOL = 1


def serve(
    factory: Callable[..., Any],
    *,
    name: str = "",
    version: str = "",
    snapshots: bool = False,
) -> None:
    """Answer requests on standard input until it ends.

    `factory` is called at each reset with the mapping's `reset` arguments and returns the adapter:
    an object with a method for each call, timer and operation, called with the arguments by name
    (an operation's also with `outcome`), and `observe()`, which returns the observed fields.
    `close()` is called before the next reset, where there is one. What a method returns is the
    answer; an exception that leaves it is an unexpected failure of the implementation. With
    `snapshots` the adapter is copied with `copy.deepcopy`.

    What the implementation prints goes to standard error, for standard output is the protocol's.
    """
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    Server(factory, name or getattr(factory, "__name__", ""), version, snapshots=snapshots).run(
        sys.stdin, replies
    )


class Server:
    """One adapter after another, each from a reset to the next."""

    def __init__(
        self, factory: Callable[..., Any], name: str, version: str, *, snapshots: bool
    ) -> None:
        self._factory = factory
        self._hello = {
            "protocol": PROTOCOL,
            "name": name,
            "version": version,
            "snapshots": snapshots,
        }
        self._adapter: Any = None
        self._saved: dict[int, Any] = {}
        self._number = 0

    def run(self, requests: TextIO, replies: TextIO) -> None:
        """Answer every line of `requests` with a line of `replies`."""
        for line in requests:
            replies.write(json.dumps(self.reply(json.loads(line))) + "\n")
            replies.flush()

    def reply(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to one request."""
        try:
            return self._reply(request)
        except Exception as failure:  # noqa: BLE001 - the implementation may fail in any way
            return {"error": f"{type(failure).__name__}: {failure}"}

    def _reply(self, request: Mapping[str, Any]) -> dict[str, Any]:
        arguments = request.get("with", {})
        match request["do"]:
            case "hello":
                return self._hello
            case "reset":
                close = getattr(self._adapter, "close", None)
                if close is not None:
                    close()
                self._saved.clear()
                self._adapter = self._factory(**arguments)
                return {}
            case "call" | "fire":
                return {"answer": data(getattr(self._adapter, request["name"])(**arguments))}
            case "complete":
                method = getattr(self._adapter, request["name"])
                return {"answer": data(method(outcome=request["outcome"], **arguments))}
            case "observe":
                return {"fields": data(self._adapter.observe())}
            case "save":
                self._number += 1
                self._saved[self._number] = copy.deepcopy(self._adapter)
                return {"snapshot": self._number}
            case "restore":
                self._adapter = copy.deepcopy(self._saved[request["snapshot"]])
                return {}
            case "forget":
                del self._saved[request["snapshot"]]
                return {}
        return {"error": f"nothing is known of {request['do']!r}"}


def data(value: Any) -> Any:
    """Return a value as JSON has it: sets as arrays, keys of mappings as texts."""
    match value:
        case Mapping():
            return {_key(key): data(item) for key, item in value.items()}
        case set() | frozenset() | list() | tuple():
            return [data(item) for item in value]
    return value


def _key(key: Any) -> str:
    return key if isinstance(key, str) else json.dumps(key)
