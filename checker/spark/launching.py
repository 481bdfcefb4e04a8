"""Starts Spark's Java, context and session: seconds, or minutes where a cluster is busy.

That is done beside the main thread, which goes on hearing of signals; whoever does not wait any
longer leaves no Java behind. What Java writes to its stdout goes to stderr: on ours are results.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from checker.errors import Interruption
from checker.search.progress import Interrupt, interrupted
from checker.spark.java import find_java

_LOOK_SECONDS = 0.1
_END_SECONDS = 1.0
"""How long Java may take to end by itself where nobody waits for it any more."""
_WORDS = 4
"""Lines of what Java says that an error tells."""


class JavaEndedError(Exception):
    """Java did not start; the text is what it said."""


def launch(properties: Mapping[str, str], name: str, interrupt: Interrupt | None) -> None:
    """Start a context and a session of Spark with these properties, if there is none yet.

    Interruption where `interrupt` asks to stop before it is there; JavaEndedError, and whatever
    else Java and the network raise, where it does not start.
    """
    start = _Start(properties, name)
    start.start()
    try:
        start.wait(interrupt)
    except BaseException:
        start.give_up()
        raise
    if start.failed is not None:
        raise start.failed


class _Start(threading.Thread):
    """One start; `failed` says why it came to nothing."""

    def __init__(self, properties: Mapping[str, str], name: str) -> None:
        super().__init__(daemon=True)
        self.failed: BaseException | None = None
        self._properties, self._name = properties, name
        self._java: subprocess.Popen[bytes] | None = None
        self._given_up = False

    def run(self) -> None:
        try:
            self._launch()
        except BaseException as error:  # noqa: BLE001 (raised where it is waited for)
            self.failed = error

    def wait(self, interrupt: Interrupt | None) -> None:
        """Return when it is over; Interruption where `interrupt` asks to stop before."""
        while self.is_alive():
            if interrupted(interrupt):
                raise Interruption("Spark was still starting")
            self.join(_LOOK_SECONDS)

    def give_up(self) -> None:
        """End Java, now or as soon as it is there; nobody waits for this thread any more."""
        self._given_up = True
        if self._java is not None:
            _end(self._java)

    def _launch(self) -> None:
        from pyspark import SparkConf, SparkContext  # noqa: PLC0415 (an extra)

        conf = SparkConf().setAppName(self._name).setAll(list(self._properties.items()))
        if SparkContext._gateway is not None:  # noqa: SLF001 (an earlier session's Java goes on)
            _make_session(SparkContext.getOrCreate(conf))
            return
        gateway = _gateway(conf)
        self._java = gateway.proc
        if not self._given_up:
            _make_session(SparkContext(conf=conf, gateway=gateway))
        elif self._java is not None:
            _end(self._java)


def _make_session(context: Any) -> None:
    """Make Java's session, of which whoever uses it makes Python's at once.

    Python's belongs to the thread that makes it, and Java's takes nearly as long as the context.
    What fails here fails there again, and is told.
    """
    with suppress(Exception):
        context._jvm.org.apache.spark.sql.SparkSession.builder().getOrCreate()  # noqa: SLF001


def _gateway(conf: Any) -> Any:
    """Return the connection to a Java that was started for it, or by spark-submit before."""
    from pyspark.errors import PySparkRuntimeError  # noqa: PLC0415 (an extra)
    from pyspark.java_gateway import launch_gateway  # noqa: PLC0415 (an extra)

    if "PYSPARK_GATEWAY_PORT" not in os.environ:  # spark-submit has started Java already
        os.environ["JAVA_HOME"] = str(find_java())
        if os.environ.get("LC_ALL") in ("C", "POSIX"):  # Java then has no names beyond ASCII
            os.environ["LC_ALL"] = "C.UTF-8"
    reader, writer = os.pipe()
    said: deque[str] = deque(maxlen=_WORDS)
    telling = threading.Thread(target=_tell, args=(reader, said), daemon=True)
    telling.start()
    try:
        gateway = launch_gateway(conf, {"stdout": writer})
    except PySparkRuntimeError as error:
        os.close(writer)
        telling.join(_END_SECONDS)
        words = "; ".join(said) or "it says above why"
        raise JavaEndedError(f"Java ended before it was ready: {words}") from error
    except BaseException:
        os.close(writer)
        raise
    os.close(writer)
    return gateway


def _tell(reader: int, said: deque[str]) -> None:
    """Write what Java says to stderr, and remember the last lines."""
    with os.fdopen(reader, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            said.append(line.strip())
            sys.stderr.write(line)


def _end(java: subprocess.Popen[bytes]) -> None:
    java.terminate()
    with suppress(subprocess.TimeoutExpired):
        java.wait(_END_SECONDS)
        return
    java.kill()
