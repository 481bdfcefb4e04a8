"""Files on any file system that Spark knows, from the driver and without a job: Hadoop's own calls.

Contents are copied by Java from and to files of this machine, so that they pass no socket.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from py4j.java_gateway import is_instance_of

from checker.errors import UsageError
from checker.spark.session import reason_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MISSING = re.compile(r"ClassNotFoundException|No FileSystem for scheme")
_MODULES = {"s3a": "hadoop-aws", "abfs": "hadoop-azure", "abfss": "hadoop-azure"}
"""Hadoop's own modules by scheme; they have the version of Spark's Hadoop."""
_HADOOP = "org.apache.hadoop.fs"
_BUFFER = 1 << 16


class Files:
    """The files below `root`, whose paths are all of one file system."""

    def __init__(self, session: SparkSession, root: str) -> None:
        self.root = root
        self._jvm: Any = session.sparkContext._jvm  # noqa: SLF001 (the only way to Hadoop's files)
        context: Any = session.sparkContext._jsc  # noqa: SLF001
        self._configuration = context.hadoopConfiguration()
        self._gateway: Any = session.sparkContext._gateway  # noqa: SLF001
        self._found: Any = None
        self._raw = False

    def exists(self, text: str) -> bool:
        """Whether there is a file or directory; UsageError where that cannot be found out."""
        system = self._system()
        try:
            return bool(system.exists(self._path(text)))
        except Exception as error:  # noqa: BLE001 (whatever a file system raises)
            raise UsageError(f"{self.root}: {reason_of(error)}") from None

    def names(self, text: str) -> list[str]:
        """Return the paths of what is in a directory, in their order."""
        return sorted(str(file.getPath()) for file in self._system().listStatus(self._path(text)))

    def put(self, text: str, content: str) -> None:
        """Write a small file: whole or not at all."""
        beside = f"{text}.tmp"
        stream = self._create(beside)
        try:
            stream.write(bytearray(content.encode()))
        finally:
            stream.close()
        system, path = self._system(), self._path(text)
        system.delete(path, False)
        if not system.rename(self._path(beside), path):
            raise OSError(f"{beside} cannot be renamed")

    def claim(self, text: str, content: str) -> bool:
        """Write a small file unless it is there; whether it was not. One of several succeeds."""
        system, path = self._system(), self._path(text)
        if self._raw:
            file = system.pathToFile(path)
            file.getParentFile().mkdirs()
            if not file.createNewFile():
                return False
            stream = self._jvm.java.io.FileOutputStream(file)
        elif system.exists(path):
            return False
        else:
            try:
                stream = system.create(path, False)
            except Exception as error:
                if "FileAlreadyExists" in reason_of(error):
                    return False
                raise
        try:
            stream.write(bytearray(content.encode()))
        finally:
            stream.close()
        return True

    def get(self, text: str) -> str:
        """Return a small file's content; UsageError where it cannot be read."""
        try:
            stream = self._system().open(self._path(text))
            try:
                content = stream.readAllBytes()
            finally:
                stream.close()
        except Exception as error:  # noqa: BLE001 (whatever a file system raises)
            raise UsageError(f"{text}: {reason_of(error)}") from None
        return bytes(content).decode(errors="replace")

    def send(self, file: Path, text: str) -> None:
        """Copy a file of this machine to a path, whatever is there."""
        self._copy(self._jvm.java.io.FileInputStream(str(file)), self._create(text))

    def fetch(self, text: str, file: Path) -> None:
        """Copy what is at a path to a file of this machine."""
        stream = self._system().open(self._path(text))
        self._copy(stream, self._jvm.java.io.FileOutputStream(str(file)))

    def delete(self, text: str) -> None:
        """Remove a file, or a directory with all that is in it, if it is there."""
        self._system().delete(self._path(text), True)

    # ------------------------------------------------------------------------ Hadoop's objects

    def _copy(self, source: Any, target: Any) -> None:
        self._jvm.org.apache.hadoop.io.IOUtils.copyBytes(source, target, _BUFFER, True)

    def _create(self, text: str) -> Any:
        system, path = self._system(), self._path(text)
        if not self._raw:
            return system.create(path, True)
        # By Java itself: Hadoop sets a local file's permissions by a process of its own each time.
        file = system.pathToFile(path)
        file.getParentFile().mkdirs()
        return self._jvm.java.io.FileOutputStream(file)

    def _path(self, text: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(text)

    def _system(self) -> Any:
        """Return the file system; UsageError where Spark has none for the root's scheme."""
        if self._found is None:
            try:
                self._found = self._path(self.root).getFileSystem(self._configuration)
            except Exception as error:  # noqa: BLE001 (whatever a file system raises)
                reason = reason_of(error)
                if _MISSING.search(reason) is not None:
                    reason += "; " + self._bring()
                raise UsageError(f"{self.root}: {reason}") from None
            if is_instance_of(self._gateway, self._found, f"{_HADOOP}.FilterFileSystem"):
                within = self._found.getRawFileSystem()
                self._raw = is_instance_of(self._gateway, within, f"{_HADOOP}.RawLocalFileSystem")
            if self._raw:  # without Hadoop's checksums, of which our data have their own
                self._found = within
        return self._found

    def _bring(self) -> str:
        """Return how to have a file system whose classes Spark lacks."""
        version = self._jvm.org.apache.hadoop.util.VersionInfo.getVersion()
        module = _MODULES.get(self.root.partition(":")[0])
        if module is None:
            return "name the jars that have it with --conf spark.jars=... or spark.jars.packages"
        package = f"org.apache.hadoop:{module}:{version}"
        return f"Spark fetches it with --conf spark.jars.packages={package}"
