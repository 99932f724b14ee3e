"""Rows in PostgreSQL's own form: every byte of it, because the server believes what it is told."""

from __future__ import annotations

from struct import pack

import pytest

from manager.ledger.engines.postgres_rows import RowPacker
from manager.ledger.engines.relations import BALANCES, INTEGER, POSTINGS, TEXT

ROW_OID = 16_400


def integer(value: int) -> bytes:
    return pack("!iiq", 20, 8, value)


def text(value: str) -> bytes:
    data = value.encode()
    return pack("!ii", 25, len(data)) + data


def array(*elements: bytes) -> bytes:
    head = pack("!iiIii", 1, 0, ROW_OID, len(elements), 1)
    return head + b"".join(pack("!i", len(each)) + each for each in elements)


def test_rows_are_an_array_of_their_columns_with_types_and_lengths() -> None:
    """Catches: a text counted by its letters, a sign that is lost, rows that change places."""
    assert tuple(BALANCES.types.values()) == (TEXT, INTEGER)
    rows = [("Gerät", -1), ("", 2**62)]
    expected = [pack("!i", 2) + text(name) + integer(amount) for name, amount in rows]
    assert RowPacker(BALANCES, ROW_OID).rows(rows).value == array(*expected)


def test_of_a_row_that_goes_only_its_key_is_told() -> None:
    gone = pack("!i", 2) + text("bank") + pack("!ii", 20, -1)
    assert RowPacker(BALANCES, ROW_OID).keys([("bank",)]).value == array(gone)


def test_no_rows_are_an_array_without_dimensions() -> None:
    nothing = pack("!iiI", 0, 0, ROW_OID)
    moving, appended = RowPacker(BALANCES, ROW_OID), RowPacker(POSTINGS, ROW_OID)
    assert [each.value for each in moving.nothing] == [nothing, nothing]
    assert [each.value for each in appended.nothing] == [nothing]
    assert moving.rows(iter(())).value == moving.keys(iter(())).value == nothing


def test_rows_of_two_lengths_are_refused() -> None:
    """Catches: columns cut off at the shortest row, so that values are left out unseen."""
    with pytest.raises(ValueError, match="shorter"):
        RowPacker(BALANCES, ROW_OID).rows([("bank", 1), ("main",)])
