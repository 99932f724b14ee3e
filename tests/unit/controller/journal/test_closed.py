"""A unit without a good journal records nothing, and says why to everyone who asks."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from controller.journal.closed import ClosedJournal
from controller.journal.file import JournalFault
from protocol.wire import events

WHY = "The journal is damaged. Restore it."
REFUSED = events.Refused("START", "x").to_body()


@pytest.mark.parametrize(
    "ask",
    [
        lambda journal: journal.append(events.REFUSED, REFUSED, 0, 0),
        lambda journal: journal.adopt_settings(b"x", 0, 0),
        lambda journal: journal.records.after(0, 1),
        lambda journal: journal.beside.settings(),
        lambda journal: journal.outbox.acknowledge(1),
    ],
    ids=["append", "settings", "records", "beside", "acknowledge"],
)
def test_every_call_is_refused_with_the_sentence(ask: Callable[[ClosedJournal], object]) -> None:
    journal = ClosedJournal(WHY)
    with pytest.raises(JournalFault, match=WHY):
        ask(journal)
    journal.close()


def test_it_has_nothing_to_tell() -> None:
    journal = ClosedJournal(WHY)
    assert (journal.journal_id, journal.outbox.acked_sequence) == (bytes(16), 0)
    assert (journal.last_sequence, journal.records.first_sequence) == (0, 1)
