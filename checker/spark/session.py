"""Where Spark runs: from `--master` and `--conf` to a session that is ready for a search."""

from __future__ import annotations

import logging
import os
import re
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import checker
from checker.digits import natural
from checker.errors import CheckerError, EnvironmentFailure, UsageError
from checker.frozen import frozen
from checker.library import installed
from checker.links import real
from checker.search.progress import Interrupt
from checker.spark.launching import launch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

RETRIES = 4
"""How often a task may fail before the search does; what a cluster does by default."""

_LOCAL = re.compile(r"local(?:\[(\*|[1-9]\d*)\])?")
_MASTER = re.compile(
    _LOCAL.pattern
    + r"|local\[(?:\*|[1-9]\d*),[1-9]\d*\]|local-cluster\[[\d, ]+\]|yarn|k8s://.+"
    + r"|spark://.+"
)
_PATTERN = re.compile(r"[][{}*?\\]")
"""What Hadoop reads as more than itself in a path."""
_STACK = re.compile(r"Traceback \(most recent call last\):\n(?:[ \t]+.*\n)*(\S.*)")

LATE_SECONDS = 20.0
"""When to tell that something does not answer: YARN and S3 are asked again and again, for minutes
where an address is wrong."""

_STANDALONE = re.compile(r"spark://(.+)")
_ANSWER_SECONDS = 5.0
"""How long a standalone master may take to accept a connection. Spark asks for a minute."""
_ANSWER_IN_ALL = 12.0

_INSTALLED = ("site-packages", "dist-packages")

_SILENT = Path(__file__).with_name("log4j2.properties")

DEFAULTS = {
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.adaptive.enabled": "false",  # plans are small and fixed: planning twice costs
    "spark.sql.parquet.compression.codec": "zstd",
    "spark.driver.maxResultSize": "0",
    "spark.python.worker.reuse": "true",
    "spark.locality.wait": "1min",  # elsewhere a shard's index has to be made anew first
    "spark.cleaner.periodicGC.interval": "5min",  # shuffle files of old levels go with it
}


@frozen()
class Cluster:
    """Which Spark a search runs on, and where it keeps its levels.

    `master` is a Spark master URL; None takes `local[workers]`, or what spark-submit says. `conf`
    are properties for Spark. `checkpoint` is a path or URL on any file system that Spark knows;
    None is a temporary directory. `resume` is one that an earlier search left.
    """

    master: str | None = None
    conf: tuple[tuple[str, str], ...] = ()
    checkpoint: str | None = None
    resume: str | None = None
    workers: int | None = None


def require_extra(what: str, *packages: str) -> None:
    """Raise UsageError where a package of the extra `spark` that `what` needs is not installed.

    An installed checker's extra is had by its name, and that of a checkout in its folder.
    """
    for package in packages:
        try:
            import_module(package)
        except ImportError as error:
            raise UsageError(
                f"{what} needs {package}, which is not installed ({error}): pip install "
                f"'{'kafka-checker' if installed() else '.'}[spark]'"
            ) from None


@contextmanager
def spark_session(
    cluster: Cluster,
    name: str,
    tell: Callable[[str], None],
    interrupt: Interrupt | None = None,
) -> Iterator[SparkSession]:
    """Yield a session on `cluster`; one that was there before is used, and left running.

    `name` is the application's. UsageError or EnvironmentFailure where Spark does not start, or
    fails outside a job; Interruption where `interrupt` asks to stop before it is there.
    """
    require_extra("--engine spark", "pyspark", "pyarrow")
    if cluster.master is not None:
        _require_master(cluster.master)
        _require_answer(cluster.master)
    from py4j.protocol import Py4JError  # noqa: PLC0415 (an extra)
    from pyspark.errors import PySparkException  # noqa: PLC0415 (an extra)
    from pyspark.sql import SparkSession  # noqa: PLC0415 (an extra)

    running = SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    _require_home()
    logging.getLogger().addFilter(_is_news)
    # spark-submit has started Java already; SPARK_CONF_DIR is where the user says what Spark logs.
    if not {"PYSPARK_GATEWAY_PORT", "SPARK_CONF_DIR"} & os.environ.keys():
        os.environ.setdefault("LOG4J_CONFIGURATION_FILE", str(_SILENT))
    # PySpark reads the property only where spark-submit has started it.
    python = dict(cluster.conf).get("spark.pyspark.python", sys.executable)
    os.environ.setdefault("PYSPARK_PYTHON", python)
    session = _start(cluster, name, tell, interrupt)
    tell(f"Spark {session.version} on {session.sparkContext.master}: {_address(session)}")
    try:
        yield session
    except (Py4JError, PySparkException) as error:
        raise EnvironmentFailure(f"Spark failed: {reason_of(error)}") from None
    finally:
        # Where Java has died, what it died of is told already.
        with suppress(OSError, Py4JError):
            session.stop()


def _start(
    cluster: Cluster, name: str, tell: Callable[[str], None], interrupt: Interrupt | None
) -> SparkSession:
    """Start Spark; its session, once Java has it, is made for the thread that uses it."""
    from pyspark.sql import SparkSession  # noqa: PLC0415 (an extra)

    where = f" on {cluster.master}" if cluster.master else ""
    given = properties(cluster)
    builder = SparkSession.builder.appName(name)
    for key, value in given.items():
        builder = builder.config(key, value)
    try:
        with waiting(tell, f"Spark{where}: until it answers and has room"):
            launch(given, name, interrupt)
            return builder.getOrCreate()
    except CheckerError:
        raise
    except Exception as error:  # noqa: BLE001 (whatever Java and the network raise)
        raise EnvironmentFailure(f"Spark does not start{where}: {reason_of(error)}") from None


@contextmanager
def waiting(tell: Callable[[str], None], what: str) -> Iterator[None]:
    """Tell that we are still waiting for something, if the block does not end before long."""
    late = threading.Timer(LATE_SECONDS, tell, [f"still waiting for {what}"])
    late.daemon = True
    late.start()
    try:
        yield
    finally:
        late.cancel()


def properties(cluster: Cluster) -> dict[str, str]:
    """Return Spark's properties: ours first, then the user's."""
    properties = dict(DEFAULTS)
    master = cluster.master
    if master is None and "PYSPARK_GATEWAY_PORT" not in os.environ:
        master = f"local[{cluster.workers or '*'}]"
    if master is not None:
        # In local mode nothing is retried unless the master says so.
        match = _LOCAL.fullmatch(master)
        properties["spark.master"] = (
            f"local[{match[1] or 1},{RETRIES}]" if match is not None else master
        )
        if match is not None:
            properties["spark.shuffle.compress"] = "false"  # it crosses no network
            # Most of a session's processor time is Java compiling Spark: at once, and only once.
            properties["spark.driver.extraJavaOptions"] = "-XX:TieredStopAtLevel=1"
            properties["spark.driver.host"] = "127.0.0.1"
            properties["spark.driver.bindAddress"] = "127.0.0.1"
    # Where the checker is installed, the executors' Python has its own, and must not be given the
    # driver's other packages with it: they may be of another version, for another Python.
    root = Path(checker.__file__).parents[1]
    if root.name not in _INSTALLED:
        properties["spark.executorEnv.PYTHONPATH"] = str(root)
    return properties | dict(cluster.conf)


def _require_master(master: str) -> None:
    """Raise UsageError where Java would end with a stack trace of its own."""
    if _MASTER.fullmatch(master) is None:
        raise UsageError(
            f"--master {master}: expected is local, local[N], local[*], spark://HOST:PORT, yarn or "
            "k8s://HOST:PORT"
        )
    if master == "yarn" and not {"HADOOP_CONF_DIR", "YARN_CONF_DIR"} & os.environ.keys():
        raise UsageError("--master yarn: set HADOOP_CONF_DIR to where YARN's configuration is")


def _require_home() -> None:
    """Raise UsageError where SPARK_HOME, which PySpark trusts, leads to no Spark."""
    home = os.environ.get("SPARK_HOME")
    if home is None or "PYSPARK_GATEWAY_PORT" in os.environ:  # spark-submit has started Java
        return
    if not home or not (Path(home) / "bin" / "spark-submit").is_file():
        raise UsageError(
            f"SPARK_HOME is {home or 'empty'}, where there is no Spark (no bin/spark-submit); "
            "unset it, and PySpark's own is taken, or set it to where Spark is"
        )


def _is_news(record: logging.LogRecord) -> bool:
    """Tell whether a record says more than what is raised anyway.

    py4j logs each command that is interrupted or fails, with a traceback.
    """
    return not record.getMessage().endswith("while sending command.")


def _require_answer(master: str) -> None:
    """Raise EnvironmentFailure where none of a standalone cluster's masters can be reached."""
    named = _STANDALONE.fullmatch(master)
    if named is None:
        return
    reasons = []
    until = time.monotonic() + _ANSWER_IN_ALL
    for address in named[1].split(","):
        host, _, port = address.rpartition(":")
        number = natural(port)
        if not host or number is None:
            raise UsageError(f"--master {master}: spark://HOST:PORT is expected, not {address!r}")
        left = min(_ANSWER_SECONDS, until - time.monotonic())
        try:
            with socket.create_connection((host.strip("[]"), number), timeout=max(left, 0.1)):
                return
        except (OSError, OverflowError, UnicodeError) as error:
            reasons.append(f"{address}: {error}")
    raise EnvironmentFailure(f"--master {master}: no master answers ({'; '.join(reasons)})")


def _address(session: SparkSession) -> str:
    url = session.sparkContext.uiWebUrl
    return f"its UI is at {url}" if url else "its UI is switched off"


def reason_of(error: BaseException) -> str:
    """Return, in one line, why something failed in Spark: the innermost cause that says a word.

    Of what failed in Python on an executor, what was raised there.
    """
    java: Any = getattr(error, "java_exception", None)
    text = str(error)
    if java is not None:
        while java.getCause() is not None:
            java = java.getCause()
        text = java.toString()
    raised = _STACK.search(text)
    if raised is not None:
        return raised[1].strip()
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def absolute(path: str, *, local: bool) -> str:
    """Return a path that does not depend on a working directory, as Hadoop reads one.

    That takes every character for itself, also where a URL would have `%20`. UsageError for a name
    that Java has no characters for.
    """
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", path) or not local:
        found = path.rstrip("/")
    else:
        found = f"file://{real(Path(path))}"
    try:
        found.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{path}: this name is not UTF-8, and Spark takes no other") from None
    return found


def folder_of(path: str) -> Path | None:
    """Return the folder of this machine that an `absolute` path names; None where it is none."""
    if not path.startswith("file:/"):
        return None
    rest = path.removeprefix("file:")
    return Path(rest.removeprefix("//"))


def parquet_at(
    session: SparkSession, *paths: str, schema: StructType | str | None = None
) -> DataFrame:
    """Return Parquet tables, read from paths that stand for themselves: `[1]` is no pattern."""
    # Spark's own option against patterns reads each of several such paths as often as there are.
    plain = [_PATTERN.sub(r"\\\g<0>", path) for path in paths]
    return (session.read if schema is None else session.read.schema(schema)).parquet(*plain)
