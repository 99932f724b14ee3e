"""Two copies beside the records: which of them is intact, and which forbids to believe them."""

from __future__ import annotations

import apsw
import pytest

from controller.journal.state_copies import (
    TABLES,
    StateCopies,
    are_of_this_software,
    contradiction,
)
from controller.journal.state_image import ImageHead
from kit.version import SOFTWARE
from protocol.wire import profile

JOURNAL, DIGEST = b"this-journal-id!", bytes(32)
TRUTH = ImageHead("", JOURNAL, 7, DIGEST)
OLD_SOFTWARE = "underfelt, long ago"


def image(
    sequence: int, digest: bytes = DIGEST, journal_id: bytes = JOURNAL, software: str = SOFTWARE
) -> bytes:
    return profile.encode([software, journal_id, sequence, digest])


@pytest.mark.parametrize(
    ("copy", "sentence"),
    [
        (image(7), ""),
        (image(6), ""),
        (image(6, bytes([1]) * 32), ""),  # it stayed behind, where the digest was another
        (image(8), "lost its newest records: 8 were recorded, 7 are there"),
        (image(7, bytes([1]) * 32), "record 7 is not the one that was recorded"),
        (image(7, journal_id=b"another journal!"), "the state of another journal"),
        (None, ""),
        (b"no image", ""),
    ],
)
def test_one_copy_is_enough_to_forbid(copy: bytes | None, sentence: str) -> None:
    """Catches: a copy that stayed behind closing the table, or one that is ahead not doing so."""
    for copies in ([copy, None], [None, copy], [image(7), copy]):
        problem = contradiction(copies, TRUTH)
        assert sentence in problem
        assert bool(problem) is bool(sentence)


def test_after_an_update_both_copies_are_the_old_softwares() -> None:
    old, own = image(7, software=OLD_SOFTWARE), image(7)
    assert not are_of_this_software([old, old])
    for copies in ([own, own], [old, own], [own, old], [old, None], [None, None], [old, b"none"]):
        assert are_of_this_software(copies)


def test_a_copy_is_read_as_it_was_written_or_not_at_all() -> None:
    connection = apsw.Connection(":memory:")
    for table in TABLES:
        connection.execute(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, image, digest)")
    copies = StateCopies(connection)
    assert copies.read() == [None, None]
    copies.write(b"first")
    copies.write(b"second")
    assert copies.read() == [b"second", b"second"]
    connection.execute(f"UPDATE {TABLES[0]} SET image = x'00'")
    assert copies.read() == [None, b"second"]
    connection.close()
