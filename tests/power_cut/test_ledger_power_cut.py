"""The manager loses power in the middle of any disk operation, again and again, and goes on.

After each cut the ledger opens, is sound, has everything that was acknowledged, and takes the
unit's repeated events without paying anything twice. The last test proves that the harness has
teeth: on a disk that lies about syncing, acknowledged events do get lost.

Mutations that were tried by hand, each caught here: `synchronous` NORMAL or OFF instead of FULL;
events taken in without one transaction around them; a new ledger not created in one transaction.
"""

from __future__ import annotations

import pytest

from manager.ledger.engines.engine import StorageFailed
from manager.ledger.errors import LedgerError
from protocol.wire.errors import ProtocolError
from tests.power_cut.ledger_under_cuts import LedgerUnderCuts

WRONG = (AssertionError, LedgerError, ProtocolError, StorageFailed)


@pytest.mark.parametrize("seed", range(30))
def test_no_cut_loses_an_acknowledged_event_or_pays_twice(seed: int) -> None:
    LedgerUnderCuts(seed).run()


def test_no_cut_beside_the_story_does_either() -> None:
    """At each operation of the disk, torn in several ways."""
    run = LedgerUnderCuts(0, beside=True)
    run.run()
    assert run.cut_count > 1000


def test_a_disk_that_lies_about_syncing_is_found_out() -> None:
    broken = 0
    for seed in range(12):
        try:
            LedgerUnderCuts(seed, lying=True).run()
        except WRONG:
            broken += 1
    assert broken > 0


@pytest.mark.parametrize("seed", range(2))
def test_cuts_beside_the_story_find_such_a_disk_out_each_time(seed: int) -> None:
    with pytest.raises(WRONG):
        LedgerUnderCuts(seed, lying=True, beside=True).run()
