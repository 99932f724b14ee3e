"""How full the journal is, as the table shows it."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from controller.link.backlog import FULL, NEARLY_FULL, show_backlog
from controller.table.faults import FaultBoard


@dataclass
class Outbox:
    full: bool
    nearly_full: bool


@pytest.mark.parametrize(
    ("full", "nearly", "shown", "stopping"),
    [
        (False, False, [], []),
        (False, True, [NEARLY_FULL], []),
        (True, True, [FULL], [FULL]),
    ],
)
def test_a_full_journal_stops_play_and_a_nearly_full_one_warns(
    full: bool, nearly: bool, shown: list[str], stopping: list[str]
) -> None:
    faults = FaultBoard(lambda _event: None)
    for outbox in (Outbox(True, True), Outbox(False, True), Outbox(full, nearly)):
        show_backlog(outbox, faults)  # type: ignore[arg-type]
    assert [fault.sentence for fault in faults.all()] == shown
    assert faults.stopping() == stopping
