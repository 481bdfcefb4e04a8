"""The process that speaks for an implementation: one JSON object a line, each way, in turn.

Whatever such a process does, the user gets a sentence: that it could not be started, said
something else than JSON, took too long or ended, with what it was asked and its last words.
"""

from __future__ import annotations

import json
import os
import selectors
import shlex
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Self

from checker.conformance.wire import NumberError, decoded
from checker.errors import CheckerError, Interruption, UsageError
from checker.search.progress import Interrupt, interrupted

PROTOCOL = 1
REPLY_MAX = 16 << 20
"""Bytes that a reply may have."""

_TAIL = 4000
"""Characters of the process's standard error that are kept."""
_CHUNK = 1 << 16
_SECONDS_TO_END = 5.0
_SECONDS_TO_END_INTERRUPTED = 0.3
_LOOK_SECONDS = 0.05
"""How often is looked whether somebody wants no answer any more."""
_HEAR_SECONDS = 0.3
"""How long an interrupt may take to be known: a terminal sends it to the adapter, too."""

Reply = dict[str, Any]


class AdapterFailure(CheckerError):  # noqa: N818 - the adapter fails, not a call of ours
    """The adapter cannot be used any further; `reason` is one of crash, hang, garbage."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Adapter:
    """A running adapter. Use it in a `with`, so that its process ends whatever happens."""

    def __init__(
        self,
        command: str,
        seconds: float,
        seconds_to_start: float,
        interrupt: Interrupt | None = None,
    ) -> None:
        """Start `command`, without a shell, and greet it; UsageError where there is none such.

        Where `interrupt` asks to stop, no answer is waited for: Interruption.
        """
        self.command = command
        self._interrupt = interrupt
        self.seconds = seconds
        words = _words(command)
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the user names it on the command line
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
        except (OSError, ValueError) as failure:
            raise UsageError(f"--adapter: {words[0]!r} cannot be started: {failure}") from failure
        self._asked = ""
        self._unread = b""
        self._words = b""
        self._open()
        self._greet(seconds_to_start)

    def _open(self) -> None:
        self._selector = selectors.DefaultSelector()
        for stream in (self._process.stdout, self._process.stderr):
            assert stream is not None
            os.set_blocking(stream.fileno(), False)
            self._selector.register(stream, selectors.EVENT_READ)
        assert self._process.stdin is not None
        os.set_blocking(self._process.stdin.fileno(), False)

    def _greet(self, seconds: float) -> None:
        hello = {"do": "hello", "protocol": PROTOCOL}
        try:
            (reply,) = self.ask([json.dumps(hello)], seconds)
        except BaseException:
            self.close()
            raise
        if reply.get("protocol") != PROTOCOL:
            self.close()
            raise AdapterFailure(
                "garbage",
                f"the adapter speaks protocol {reply.get('protocol')!r}, not {PROTOCOL}; it "
                f'answers the first request with {{"protocol": {PROTOCOL}, "name": "..."}}',
            )
        self.name = str(reply.get("name", "the implementation"))
        self.version = str(reply.get("version", ""))
        self.snapshots = reply.get("snapshots") is True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close(soon=kind is KeyboardInterrupt)

    def close(self, *, soon: bool = False) -> None:
        """End the process: by the end of its input, then by a signal.

        `soon`, or after an interrupt, it has a fraction of a second for each.
        """
        soon = soon or interrupted(self._interrupt)
        seconds = _SECONDS_TO_END_INTERRUPTED if soon else _SECONDS_TO_END
        process = self._process
        assert process.stdin is not None
        with suppress(OSError):
            process.stdin.close()
        try:
            self._drain(process, seconds)
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.terminate() if soon else process.kill()
            with suppress(subprocess.TimeoutExpired):
                process.wait(seconds)
            process.kill()
            process.wait()
        self._selector.close()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()

    def _drain(self, process: subprocess.Popen[bytes], seconds: float) -> None:
        """Read on until the process has closed its output, so that it can end."""
        deadline = time.monotonic() + seconds
        while self._selector.get_map() and time.monotonic() < deadline:
            for key, _ in self._selector.select(0.1):
                self._unread = b""  # nobody asks for it any more, however much it is
                if not self._read(key.fileobj):
                    self._selector.unregister(key.fileobj)
            if process.poll() is not None:
                return

    def ask(self, lines: Sequence[str], seconds: float | None = None) -> list[Reply]:
        """Send requests, one a line, and return their replies; AdapterFailure where one fails.

        They are sent at once. Each has `seconds` of its own to be answered in. Interruption where
        an interrupt comes first.
        """
        allowed = self.seconds if seconds is None else seconds
        data = memoryview("".join(f"{line}\n" for line in lines).encode())
        replies: list[Reply] = []
        began = time.monotonic()
        deadline = began + allowed
        while len(replies) < len(lines):
            self._asked = lines[len(replies)]
            line = self._line()
            if line is not None:
                replies.append(self._reply(line))
                began = time.monotonic()
                deadline = began + allowed
                continue
            self._look()
            data = self._send(data)
            if self._process.poll() is not None:
                # What it has started may hold its output open, and answers soon if it ever does.
                deadline = min(deadline, began + _SECONDS_TO_END)
            left = deadline - time.monotonic()
            if left <= 0:
                if self._process.poll() is not None:
                    self._ended()
                raise self._failure("hang", f"has not answered within {allowed:g} seconds")
            # What cannot be sent yet waits for the process to read, which it may do at any time.
            ready = self._selector.select(min(left, 0.01 if data else _LOOK_SECONDS))
            for key, _ in ready:
                if not self._read(key.fileobj) and key.fileobj is self._process.stdout:
                    self._ended()
        return replies

    def refuse_error(self, reply: Reply) -> None:
        """Raise AdapterFailure where it has not done what is no step of the implementation."""
        if "error" in reply:
            raise self._failure("crash", f"failed: {str(reply['error'])[:200]}")

    def _look(self) -> None:
        if interrupted(self._interrupt):
            raise Interruption("the adapter had not answered")

    def _send(self, data: memoryview) -> memoryview:
        assert self._process.stdin is not None
        while data:
            try:
                data = data[os.write(self._process.stdin.fileno(), data[:_CHUNK]) :]
            except BlockingIOError:
                break
            except OSError:
                self._ended()
        return data

    def _read(self, stream: Any) -> bool:
        """Read what there is of a stream; False at its end."""
        try:
            data = os.read(stream.fileno(), _CHUNK)
        except BlockingIOError:
            return True
        if stream is self._process.stderr:
            self._words = (self._words + data)[-_TAIL:]
            if not data and stream in [key.fileobj for key in self._selector.get_map().values()]:
                self._selector.unregister(stream)
            return True
        self._unread += data
        if len(self._unread) > REPLY_MAX and b"\n" not in self._unread:
            raise self._failure("garbage", f"sends a line of more than {REPLY_MAX >> 20} MiB")
        return bool(data)

    def _line(self) -> bytes | None:
        line, newline, rest = self._unread.partition(b"\n")
        if not newline:
            return None
        self._unread = rest
        return line

    def _reply(self, line: bytes) -> Reply:
        try:
            reply = decoded(line.decode())
        except NumberError as error:
            what = f"answered with the number {error}, which JSON does not have"
            raise self._failure("garbage", what) from error
        except (ValueError, RecursionError):
            reply = None
        if not isinstance(reply, dict):
            shown = line[:200].decode(errors="replace")
            raise self._failure("garbage", f"answered {shown!r}, which is no JSON object")
        return reply

    def _ended(self) -> None:
        """Say that the process ended."""
        code = self._wait(_SECONDS_TO_END, self._process.poll)
        if code is None:
            raise self._failure("crash", "has closed its output")
        # Who is heard first, this process or the other, is chance.
        self._wait(_HEAR_SECONDS if self._interrupt is not None else 0.0, lambda: None)
        how = f"ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        raise self._failure("crash", how)

    def _wait(self, seconds: float, until: Callable[[], int | None]) -> int | None:
        """Return what is there within `seconds`; Interruption where an interrupt comes first."""
        deadline = time.monotonic() + seconds
        while (found := until()) is None and time.monotonic() < deadline:
            self._look()
            time.sleep(_LOOK_SECONDS)
        return found

    def _failure(self, reason: str, what: str) -> AdapterFailure:
        for key in list(self._selector.get_map().values()):
            if key.fileobj is self._process.stderr:
                with suppress(OSError):
                    self._read(self._process.stderr)
        words = self._words.decode(errors="replace").strip()
        told = f"\nits standard error ends with:\n{_indented(words)}" if words else ""
        asked = self._asked if len(self._asked) <= 300 else f"{self._asked[:300]}..."
        return AdapterFailure(
            reason, f"the adapter `{self.command}` {what}\nit was asked: {asked}{told}"
        )


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as failure:
        raise UsageError(f"--adapter {command!r} cannot be read: {failure}") from failure
    if not words:
        raise UsageError("--adapter names the program that speaks for the implementation")
    return words


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines()[-20:])
