"""Starts the servers on loopback, and ends them: HDFS and YARN of Hadoop's own, and moto's S3."""

from __future__ import annotations

import getpass
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyspark

HERE = Path(__file__).parent
TARGET = HERE / "target"
BUCKET = "bucket"
_NAMED = {
    "Authorization": "AWS4-HMAC-SHA256 Credential=anybody/20260101/us-east-1/s3/aws4_request, "
    "SignedHeaders=host, Signature=0"
}
_SECONDS = 180


class Files(Protocol):
    """A file system as these runs need it beside Spark: where it is, what it has, to lose some."""

    @property
    def root(self) -> str:
        """The URL that all paths are below, without a slash at the end."""

    def names(self, folder: str) -> list[str]:
        """Return the paths, below the root, of the files in a folder; none where there is none."""

    def lose(self, path: str) -> None:
        """Remove a file."""

    def damage(self, path: str) -> None:
        """Put something else into a file."""


@dataclass(frozen=True, slots=True)
class WebFiles:
    """HDFS by its web service."""

    root: str
    web: str

    def names(self, folder: str) -> list[str]:
        """Return the paths of the files in a folder."""
        try:
            text = _ask("GET", f"{self.web}/webhdfs/v1/{folder}?op=LISTSTATUS")
        except urllib.error.HTTPError:
            return []
        found = json.loads(text)["FileStatuses"]["FileStatus"]
        return [f"{folder}/{entry['pathSuffix']}" for entry in found]

    def lose(self, path: str) -> None:
        """Remove a file."""
        _ask("DELETE", f"{self.web}/webhdfs/v1/{path}?op=DELETE&user.name={_user()}")

    def damage(self, path: str) -> None:
        """Put something else into a file."""
        query = f"op=CREATE&overwrite=true&user.name={_user()}"
        _ask("PUT", f"{self.web}/webhdfs/v1/{path}?{query}", b"damaged")


@dataclass(frozen=True, slots=True)
class Objects:
    """A bucket of an S3 that wants a name and no secret."""

    root: str
    web: str

    def names(self, folder: str) -> list[str]:
        """Return the keys of the objects in a folder."""
        text = self._ask("GET", f"?list-type=2&prefix={folder}/&delimiter=/")
        tree = ET.fromstring(text)  # noqa: S314 (our own server's)
        return [key.text or "" for key in tree.findall(".//{*}Contents/{*}Key")]

    def lose(self, path: str) -> None:
        """Remove an object."""
        self._ask("DELETE", f"/{path}")

    def damage(self, path: str) -> None:
        """Put something else into an object."""
        self._ask("PUT", f"/{path}", b"damaged")

    def make(self) -> None:
        """Make the bucket."""
        self._ask("PUT", "")

    def _ask(self, method: str, what: str, content: bytes | None = None) -> bytes:
        return _ask(method, f"{self.web}/{BUCKET}{what}", content, _NAMED)


@dataclass(frozen=True, slots=True)
class Hadoop:
    """Running servers: their process, their files, and the folder that tells clients of them."""

    process: int
    files: WebFiles
    conf: Path


@contextmanager
def hadoop(classpath: str, folder: Path) -> Iterator[Hadoop]:
    """Run an HDFS with two data nodes and a YARN with two node managers."""
    folder.mkdir()
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            ["java", "-Xmx512m", "-cp", classpath, "checker.clusters.Servers", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        if not line.startswith("ready "):
            sys.exit(f"Hadoop's servers do not start: {(folder / 'log').read_text()[-2000:]}")
        _, root, web = line.split()
        yield Hadoop(process.pid, WebFiles(root, web), folder / "conf")
    finally:
        process.stdin.close()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def s3(python: Path) -> Iterator[Objects]:
    """Run moto's S3, with one bucket; `python` has moto."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = ["-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(
        [python.with_name("moto_server"), *address],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    objects = Objects(f"s3a://{BUCKET}", f"http://127.0.0.1:{port}")
    try:
        until = time.monotonic() + _SECONDS
        while True:
            with suppress(OSError):
                objects.make()
                break
            if process.poll() is not None or time.monotonic() > until:
                sys.exit("moto's server does not start")
            time.sleep(0.2)
        yield objects
    finally:
        process.terminate()
        process.wait()


def compiled() -> str:
    """Compile Servers.java; return the class path to run it with. Maven brings Hadoop."""
    _maven("compile", "dependency:build-classpath", "-Dmdep.outputFile=target/classpath")
    return f"{TARGET / 'classes'}:{(TARGET / 'classpath').read_text()}"


def s3a_jars() -> list[Path]:
    """Return what Hadoop's s3a needs beside the jars of PySpark."""
    jars = TARGET / "s3a"
    _maven("dependency:copy-dependencies", "-Ps3a", f"-DoutputDirectory={jars}")
    wanted = ("hadoop-aws", "bundle", "analyticsaccelerator-s3")
    return [next(jars.glob(f"{name}-*.jar")) for name in wanted]


def with_moto() -> Path:
    """Return the Python of an environment that has moto's server."""
    python = TARGET / "moto" / "bin" / "python"
    if not python.with_name("moto_server").exists():
        subprocess.run([sys.executable, "-m", "venv", TARGET / "moto"], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "moto[server]==5.2.5"], check=True)
    return python


def packed_environment(root: Path) -> Path:
    """Return an archive of an environment in which the checker of this tree is installed."""
    archive, made = TARGET / "environment.tar.gz", TARGET / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--clear", made], check=True)
    pip = [made / "bin" / "python", "-m", "pip", "install", "-q"]
    subprocess.run(
        [*pip, "venv-pack", "setuptools<81", f"pyspark=={pyspark.__version__}"], check=True
    )
    subprocess.run([*pip, f"{root}[spark]"], check=True)
    pack = [made / "bin" / "venv-pack", "-q", "-f", "-p", made, "-o", archive]
    subprocess.run([*pack, "--compress-level", "1"], check=True)
    return archive


def _maven(*goals: str) -> None:
    subprocess.run(["mvn", "-q", "-B", "-Dstyle.color=never", *goals], cwd=HERE, check=True)


def _ask(
    method: str, url: str, content: bytes | None = None, headers: Mapping[str, str] | None = None
) -> bytes:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    request = urllib.request.Request(url, content, headers or {}, method=method)  # noqa: S310 (on loopback)
    try:
        with opener.open(request, timeout=30) as answer:
            return bytes(answer.read())
    except urllib.error.HTTPError as error:
        if error.code == 307:  # HDFS names the data node to send to
            return _ask(method, error.headers["Location"], content, headers)
        raise


def _user() -> str:
    return getpass.getuser()


def executors(servers: int) -> list[int]:
    """Return the executors that run in containers below `servers`."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if b"org.apache.spark.executor.YarnCoarseGrainedExecutorBackend" in words:
                process = int(entry.name)
                if words[0].endswith(b"java") and servers in _above(process):
                    found.append(process)
    return sorted(found)


def _above(process: int) -> Sequence[int]:
    """Return the processes that a process is below."""
    found = []
    while process > 1:
        text = Path(f"/proc/{process}/stat").read_text()
        process = int(text.rpartition(")")[2].split()[1])
        found.append(process)
    return found


def end(process: int) -> None:
    """End one process at once."""
    with suppress(ProcessLookupError):
        os.kill(process, 9)
