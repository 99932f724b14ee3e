"""What has become of an update, on the panel and in the journal, in the house's language.

A fault that does not stop play: the table says it, and the Game Manager hears of it.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

from controller.table.faults import FaultBoard
from hal import aio
from hal.worker import Worker
from kit import program_news
from kit.program_news import ProgramNews, read_news
from protocol.wire import program_steps

LOOK_EVERY_MS: Final = 5000
CODE: Final = "update"


async def show_updates(file: Path, faults: FaultBoard, worker: Worker) -> None:
    """Until it is cancelled. `worker` is one that no bet waits for."""
    while True:
        news = await worker.run(partial(read_news, file))
        faults.set(CODE, "unit", sentence_of(news) if news else "")
        await aio.sleep_ms(LOOK_EVERY_MS)


def sentence_of(news: ProgramNews) -> str:
    """What the panel says; "" for what nobody at a table has to know."""
    version = news.version
    known = {
        program_news.WAITS: f"The new program {version} waits for a pause between two games.",
        program_news.WRITING: f"The new program {version} is being written. Play goes on.",
        program_news.INSTALLED: f"The new program {version} is installed. It starts between two "
        "games.",
        program_news.PROVING: f"The new program {version} has to prove itself now. Play goes on.",
        program_news.ROLLED_BACK: f"The new program {version} did not prove itself, and the one "
        "before it runs again. Call a technician.",
        program_news.NOT_TRUSTED: "The update is not signed by somebody whom this unit trusts. "
        "Nothing was changed.",
        program_news.EXPIRED: "The signature of the update has expired, or this unit's clock is "
        "wrong. Nothing was changed.",
        program_news.DAMAGED: "The update is damaged or not complete. Nothing was changed.",
        program_news.WRONG_BOARD: f"The update {version} is for another kind of unit. Nothing was "
        "changed.",
        program_news.OLDER: f"The update {version} is older than the program that runs. Nothing "
        "was changed.",
        program_news.NO_WAY_BACK: f"The update {version} writes files that the program that runs "
        "cannot read, so there would be no way back. Nothing was changed.",
        program_news.FAILED_BEFORE: f"The update {version} was tried before and did not prove "
        "itself. Nothing was changed.",
        program_news.NOT_IN_ORDER: f"The update {version} is not installed, because this table is "
        "not in order. Run the self-test.",
        program_steps.NO_ROOM: f"The update {version} does not fit on this unit's disk. Nothing "
        "was changed. Call a technician.",
        program_steps.TRANSFER: f"The update {version} came damaged from the Game Manager again "
        "and again. Nothing was changed.",
        program_news.NOT_WRITTEN: f"The update {version} could not be written. The program that "
        "runs is as it was. Call a technician.",
    }
    return known.get(news.code, "")
