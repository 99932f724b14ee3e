"""A database file's format: whose file it is, which version it has, how it comes to the newest.

Forward only: a version adds to the one before it and takes nothing back. A version is a file of SQL
statements beside the code that uses them; the first one makes a new file, so a new file and an old
one that was brought up to date are the same. What the tables mean is not known here.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

import apsw


class FormatRefused(Exception):  # noqa: N818
    """The file is not of this format, or of a version that this software does not know."""


def statements(package: str, name: str) -> str:
    """The SQL in a file of this package."""
    return files(package).joinpath(name).read_text("utf-8")


@dataclass(frozen=True)
class Format:
    """`steps` holds each version's statements in order: version 1 first, the newest last."""

    what: str
    application_id: int
    steps: tuple[str, ...]

    @property
    def version(self) -> int:
        return len(self.steps)

    def create(self, connection: apsw.Connection) -> None:
        """Makes an empty file one of this format; the caller's transaction makes it all or none."""
        self._take(connection, self.steps)
        connection.pragma("application_id", self.application_id)

    def check(self, connection: apsw.Connection) -> None:
        """Refuses a file that is somebody else's, or that newer software has written."""
        if connection.pragma("application_id") != self.application_id:
            raise FormatRefused(f"{self.what} was not made by Underfelt.")
        version = connection.pragma("user_version")
        if not 1 <= version <= self.version:
            raise FormatRefused(
                f"{self.what} has version {version}; this software knows 1 to {self.version}."
            )

    def upgrade(self, connection: apsw.Connection) -> None:
        """Brings a checked file to the newest version: all of it, or nothing at a power cut."""
        missing = self.steps[connection.pragma("user_version") :]
        if missing:
            with connection:
                self._take(connection, missing)

    def _take(self, connection: apsw.Connection, steps: tuple[str, ...]) -> None:
        for step in steps:
            connection.execute(step)
        connection.pragma("user_version", self.version)
