"""Two copies of the critical state in the journal's file, each with a digest of its own.

They are written in the transaction that records an event, in tables of their own, so that no
damaged page takes both. It knows which copy is intact and which contradict the records; what the
state means, and what is done about it, is not known here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

import apsw

from controller.journal import state_image
from controller.journal.state_image import ImageHead
from kit.version import SOFTWARE
from protocol.wire.errors import ProtocolError

TABLES: Final = ("state_a", "state_b")


class StateCopies:
    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def write(self, image: bytes) -> None:
        """Both copies, in the caller's transaction."""
        digest = hashlib.sha256(image).digest()
        for table in TABLES:
            self._connection.execute(
                f"INSERT OR REPLACE INTO {table} VALUES (1, ?, ?)", (image, digest)
            )

    def read(self) -> list[bytes | None]:
        """Each copy as it was written, None for one that is damaged or gone."""
        return [self._read_one(table) for table in TABLES]

    def _read_one(self, table: str) -> bytes | None:
        try:
            row = self._connection.execute(f"SELECT image, digest FROM {table}").fetchone()
        except apsw.CorruptError:
            return None
        if row is None or hashlib.sha256(row[0]).digest() != row[1]:
            return None
        return bytes(row[0])


def contradiction(copies: Sequence[bytes | None], truth: ImageHead) -> str:
    """Why intact copies forbid to believe records that end as `truth` says, "" when none does.

    A damaged copy, or one that stayed behind, is repaired from the records. A copy that is ahead
    of them means that records are gone.
    """
    for head in filter(None, map(_head, copies)):
        if head.journal_id != truth.journal_id:
            return "The journal's file holds the state of another journal."
        if head.sequence > truth.sequence:
            return (
                f"The journal has lost its newest records: {head.sequence} were recorded, "
                f"{truth.sequence} are there."
            )
        if head.sequence == truth.sequence and head.digest != truth.digest:
            return f"Journal record {truth.sequence} is not the one that was recorded."
    return ""


def are_of_this_software(copies: Sequence[bytes | None]) -> bool:
    """False right after an update, when both copies are intact but were written by the old one."""
    heads = [_head(copy) for copy in copies]
    return not all(head is not None and head.software != SOFTWARE for head in heads)


def _head(image: bytes | None) -> ImageHead | None:
    if image is None:
        return None
    try:
        return state_image.head_of(image)
    except ProtocolError:
        return None
