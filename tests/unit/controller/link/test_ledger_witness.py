"""A unit holds the manager's ledger to what it was told of it before."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from controller.journal.journal import Journal
from controller.link.ledger_witness import LedgerWitness
from protocol.wire import messages
from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.rows import LedgerTail, TailPlace


class Line:
    """Notes what the unit says to the manager."""

    def __init__(self) -> None:
        self.said: list[messages.Message] = []

    async def write(self, payload: bytes) -> None:
        self.said.append(messages.decode(payload))


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal.open(str(tmp_path / "journal"))


def tail(number: int, digest: int = 7, era: int = 0) -> LedgerTail:
    return LedgerTail(era, number, bytes([digest]) * 32, b"")


def heard(journal: Journal, *tails: LedgerTail) -> list[messages.Message]:
    """An acknowledgement with these tails; what the unit answers."""
    line: Any = Line()
    ack = messages.Ack(1, 0, tails)
    asyncio.run(LedgerWitness(journal).hear(line, ack))
    return list(line.said)


def test_the_first_tail_is_believed_and_its_place_is_told(journal: Journal) -> None:
    assert LedgerWitness(journal).place() == ()
    assert heard(journal, tail(5)) == []
    assert LedgerWitness(journal).place() == (TailPlace(0, 5),)


def test_an_acknowledgement_without_a_tail_changes_nothing(journal: Journal) -> None:
    """Catches: noting what was not told, and believing only what is missing."""
    heard(journal, tail(5))
    assert heard(journal) == []
    assert journal.tail.told == tail(5)


def test_a_later_tail_is_believed_in_passing(journal: Journal) -> None:
    heard(journal, tail(5))
    assert heard(journal, tail(6, digest=8)) == []
    assert journal.tail.told == tail(6, digest=8)


@pytest.mark.parametrize("other", [tail(4), tail(5, digest=9)], ids=["went back", "differs"])
def test_a_ledger_that_does_not_fit_is_answered_and_not_noted(
    journal: Journal, other: LedgerTail
) -> None:
    """Catches: a tail of the very same place that is held against itself."""
    heard(journal, tail(5))
    line: Any = Line()
    with pytest.raises(ProtocolError) as refused:
        asyncio.run(LedgerWitness(journal).hear(line, messages.Ack(1, 0, (other,))))
    assert refused.value.code == ErrorCode.TAIL
    (error,) = line.said
    assert isinstance(error, messages.Error)
    assert error.code == ErrorCode.TAIL
    assert journal.tail.told == tail(5)


@pytest.mark.parametrize(("then", "is_ours"), [(7, True), (9, False)])
def test_a_welcome_is_held_against_what_was_told_before(
    journal: Journal, then: int, is_ours: bool
) -> None:
    """Catches: a unit that goes on with a ledger in which its own wins are not."""
    heard(journal, tail(5))
    line: Any = Line()
    welcome = messages.Welcome(
        0, "t", 0, 32, 0, bytes(32), tail=(tail(8, digest=8),), digest_then=bytes([then]) * 32
    )
    judging = LedgerWitness(journal).judge(line, welcome)
    if is_ours:
        asyncio.run(judging)
        assert (line.said, journal.tail.told) == ([], tail(8, digest=8))
    else:
        with pytest.raises(ProtocolError) as caught:
            asyncio.run(judging)
        assert caught.value.code == ErrorCode.TAIL
        assert isinstance(line.said[0], messages.Error)
        assert journal.tail.told == tail(5)
