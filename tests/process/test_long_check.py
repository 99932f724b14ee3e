"""The whole ledger is audited beside play, by a process that reads it while it is written."""

from __future__ import annotations

import asyncio
from pathlib import Path

from manager.data_folder import LEDGER_NAME
from manager.long_check import check_beside_play
from tests.kit.pretend_units import Desk, desk_with_a_win
from tests.kit.tampering import forge

PATIENCE_S = 60


def checked(desk: Desk, data: Path) -> None:
    """Returns when the check has told what is wrong."""

    async def scene() -> None:
        is_enough = asyncio.Event()

        def tell(sentence: str) -> None:
            desk.manager.tell_unsound(sentence)
            is_enough.set()

        check = asyncio.create_task(check_beside_play(data, tell, after_s=0), name="check")
        async with asyncio.timeout(PATIENCE_S):
            await is_enough.wait()
        check.cancel()
        await asyncio.gather(check, return_exceptions=True)

    asyncio.run(scene())


def test_what_was_changed_in_the_file_becomes_an_alarm(tmp_path: Path) -> None:
    desk = desk_with_a_win(str(tmp_path / LEDGER_NAME))
    forge(desk.store, "UPDATE win_lines SET amount_cents = amount_cents + 1")
    checked(desk, tmp_path)
    newest = desk.manager.book.alarms.newest(1)[0]
    assert newest.code == "AUDIT"
    assert "win_lines" in newest.sentence
    desk.store.close()
