"""Goal: nobody waits for a Spark that is starting after an interrupt, and Java's words are told."""

import os
import subprocess
import sys
import time
from threading import Event, Timer
from unittest.mock import MagicMock

import pytest
from pyspark import java_gateway
from pyspark.errors import PySparkRuntimeError

from checker.errors import EnvironmentFailure, Interruption
from checker.spark import launching
from checker.spark import session as starting
from checker.spark.launching import JavaEndedError, launch
from checker.spark.session import Cluster, spark_session


def test_an_interrupt_ends_the_wait_and_java(monkeypatch: pytest.MonkeyPatch) -> None:
    java = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    done = Event()

    def starts_for_long(start: launching._Start) -> None:
        start._java = java
        done.wait(30)

    monkeypatch.setattr(launching._Start, "_launch", starts_for_long)
    interrupt = Event()
    Timer(0.2, interrupt.set).start()
    began = time.monotonic()
    with pytest.raises(Interruption, match="Spark was still starting"):
        launch({}, "test", interrupt)
    assert time.monotonic() - began < 5
    assert java.wait(5) < 0
    done.set()


def test_who_gives_up_before_there_is_a_java_leaves_none(monkeypatch: pytest.MonkeyPatch) -> None:
    java = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    start = launching._Start({}, "test")

    class Gateway:
        proc = java

    def gateway(_conf: object) -> Gateway:
        start.give_up()
        return Gateway()

    monkeypatch.setattr(launching, "_gateway", gateway)
    monkeypatch.setattr("pyspark.SparkContext._gateway", None)
    start.run()
    assert java.wait(5) < 0
    assert start.failed is None


@pytest.mark.parametrize("gateway", [None, object()])
def test_javas_session_is_made_while_an_interrupt_is_heard(
    monkeypatch: pytest.MonkeyPatch, gateway: object
) -> None:
    """It takes seconds, in which the main thread would wait for a socket."""
    made = MagicMock(_gateway=gateway)
    made.getOrCreate.return_value = made.return_value
    monkeypatch.setattr("pyspark.SparkContext", made)
    monkeypatch.setattr("pyspark.SparkConf", MagicMock())
    monkeypatch.setattr(launching, "_gateway", MagicMock())
    launch({}, "test", None)
    session = made.return_value._jvm.org.apache.spark.sql.SparkSession
    session.builder.return_value.getOrCreate.assert_called_once_with()


def test_what_java_says_is_told_and_leaves_stdout_alone(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def ends(_conf: object, given: dict[str, int]) -> None:
        os.write(given["stdout"], b"Error occurred\nToo small maximum heap\n")
        raise PySparkRuntimeError(errorClass="JAVA_GATEWAY_EXITED", messageParameters={})

    monkeypatch.setattr(java_gateway, "launch_gateway", ends)
    with pytest.raises(JavaEndedError, match="ready: Error occurred; Too small maximum heap"):
        launching._gateway(None)
    printed = capfd.readouterr()
    assert (printed.out, printed.err) == ("", "Error occurred\nToo small maximum heap\n")


@pytest.mark.parametrize(
    ("spoken", "java"), [("C", "C.UTF-8"), ("POSIX", "C.UTF-8"), ("de_DE.UTF-8", "de_DE.UTF-8")]
)
def test_java_knows_names_of_files_beyond_ascii(
    monkeypatch: pytest.MonkeyPatch, spoken: str, java: str
) -> None:
    heard = []
    monkeypatch.setenv("LC_ALL", spoken)
    monkeypatch.setattr(
        java_gateway, "launch_gateway", lambda *_: heard.append(os.environ["LC_ALL"])
    )
    launching._gateway(None)
    assert heard == [java]


def test_an_interrupt_is_no_failure_of_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    def raising(error: Exception) -> None:
        def launch(*_: object) -> None:
            raise error

        monkeypatch.setattr(starting, "launch", launch)

    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: None)
    raising(Interruption("Spark was still starting"))
    with pytest.raises(Interruption), spark_session(Cluster(), "test", lambda _: None, Event()):
        pass
    raising(JavaEndedError("Java ended before it was ready: too small"))
    failing = spark_session(Cluster(), "test", lambda _: None, Event())
    with (
        pytest.raises(EnvironmentFailure, match="start: Java ended before it was ready: too"),
        failing,
    ):
        pass
