"""What executors cost, and what one more brings: stand-alone clusters of 1, 2 and 4 of them.

    python bench/executors.py [--exponent 7] [--executors 1 2 4] [--kill]

Searches `turns`, 10^E states, by executors alone, each a process of its own with one core and one
shard, on a master and workers started here on loopback. Where the machine has fewer cores than
executors the clock says nothing; processor seconds do. With `--kill` one executor is ended in the
middle of each search. What comes out is held to the number of states.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pyspark
from process import ROOT, settings
from spark import MODEL, Sampler

from checker.spark.java import find_java

LAUNCHER = Path(pyspark.__file__).parent / "bin" / "spark-class"
DEPLOY = "org.apache.spark.deploy"


@contextmanager
def cluster(executors: int, heap: str, folder: Path) -> Iterator[str]:
    """Yield the URL of a master with so many workers of one core."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = os.environ | {
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        "JAVA_HOME": str(find_java()),
        "PYTHONPATH": str(ROOT),
    }
    loopback = ["--host", "127.0.0.1", "--webui-port", "0"]
    url = f"spark://127.0.0.1:{port}"
    with ExitStack() as stack:

        def start(name: str, *words: str) -> None:
            log = stack.enter_context((folder / f"{name}.log").open("wb"))
            process = subprocess.Popen(
                [str(LAUNCHER), *words], env=environment, stdout=log, stderr=log, cwd=folder
            )
            stack.callback(process.wait)
            stack.callback(process.terminate)

        start("master", f"{DEPLOY}.master.Master", *loopback, "--port", str(port))
        while True:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.1)
        for number in range(executors):
            size = ["--cores", "1", "--memory", heap, "--work-dir", str(folder / f"w{number}")]
            start(f"worker{number}", f"{DEPLOY}.worker.Worker", *loopback, *size, url)
        yield url


def search(executors: int, exponent: int, heap: str, *, kill: bool) -> str:
    """Search with so many executors; return a row of the table."""
    with tempfile.TemporaryDirectory() as name, cluster(executors, heap, Path(name)) as url:
        checkpoint = Path(name) / "checkpoint"
        properties = {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.executor.memory": heap,
            "spark.ui.enabled": "false",
            "spark.checker.driver": "0",
            "spark.default.parallelism": str(executors),
            "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        }
        command = [sys.executable, "-m", "checker", "check", MODEL]
        command += settings(Worker=exponent, last=9, lively="false")
        command += ["--engine", "spark", "--master", url, "--checkpoint", str(checkpoint)]
        command += ["--property", "deadlock", "--format", "json", "--progress", "none"]
        for key, value in properties.items():
            command += ["--conf", f"{key}={value}"]
        with Sampler() as sampler:
            driver = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)
            if kill:
                threading.Thread(target=_kill_one, args=(checkpoint, exponent * 5)).start()
            output, _ = driver.communicate()
            peak = sampler.take()
        found = json.loads(output)
        levels = len(list(checkpoint.glob("manifests/*.json")))
        stored = sum(file.stat().st_size for file in checkpoint.rglob("*") if file.is_file())
    states = found["distinct"]
    if states != 10**exponent:
        sys.exit(f"{states:,} states instead of {10**exponent:,}")
    cells = [
        f"{executors}" + (", one killed on the way" if kill else ""),
        f"{states:,} in {levels}",
        f"{found['seconds']:.0f}",
        f"{peak.processor:.0f}",
        f"{1e6 * peak.processor / states:.2f}",
        f"{peak.together / 2**30:.1f}",
        f"{peak.kept / states:.1f}",
        f"{stored / states:.1f}",
    ]
    return "| " + " | ".join(cells) + " |"


def _kill_one(checkpoint: Path, level: int) -> None:
    """End an executor when this level is finished."""
    while not (checkpoint / "manifests" / f"{level:05d}.json").exists():
        time.sleep(0.1)
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            words = (entry / "cmdline").read_bytes()
            if entry.name.isdigit() and b"CoarseGrainedExecutorBackend" in words:
                os.kill(int(entry.name), signal.SIGKILL)
                return


def main() -> None:
    """Parse the command line, measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--exponent", type=int, default=7)
    parser.add_argument("--executors", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--heap", default="1g", help="Java's heap of each executor")
    parser.add_argument("--kill", action="store_true", help="end one executor on the way")
    arguments = parser.parse_args()
    titles = ["executors", "states, levels", "seconds of the search", "processor seconds, all"]
    titles += ["microseconds a state", "GiB at the peak", "kept, bytes a state", "stored, bytes"]
    print("| " + " | ".join(titles) + " |\n|" + " --- |" * len(titles), flush=True)
    for executors in arguments.executors:
        row = search(executors, arguments.exponent, arguments.heap, kill=arguments.kill)
        print(row, flush=True)


if __name__ == "__main__":
    main()
