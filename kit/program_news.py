"""What has become of an update: told by whoever installs it, shown by the table that runs.

The two are different programs with different rights, so it is a small file between them. A code and
a version and no sentence: the table says it in the language of the house.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from kit.files import write_durably

UPDATE_FOLDER: Final = Path("/data/update")
NEWS_FILE: Final = UPDATE_FOLDER / "news.json"
FILE_BYTES_MAX: Final = 1024
READ_BY_ALL: Final = 0o644

WAITS: Final = "waits"
TAKEN: Final = "taken"  # from the manager's spool; nothing was looked at yet
WRITING: Final = "writing"
INSTALLED: Final = "installed"  # and waits for the pause in which it is booted
PROVING: Final = "proving"
RUNS_ALREADY: Final = "runs_already"
STOPPED: Final = "stopped"  # the manager has withdrawn it
UPDATED: Final = "updated"
ROLLED_BACK: Final = "rolled_back"
NOT_TRUSTED: Final = "not_trusted"
EXPIRED: Final = "expired"
DAMAGED: Final = "damaged"
WRONG_BOARD: Final = "wrong_board"
OLDER: Final = "older"
NO_WAY_BACK: Final = "no_way_back"
FAILED_BEFORE: Final = "failed_before"
NOT_IN_ORDER: Final = "not_in_order"
NOT_WRITTEN: Final = "not_written"


@dataclass(frozen=True)
class ProgramNews:
    code: str
    version: str
    digest: str = ""  # of the bundle, where it came from the manager


def read_news(file: Path = NEWS_FILE) -> ProgramNews | None:
    """None when there is nothing to tell, or nothing that can be read."""
    try:
        with file.open("rb") as opened:
            told = json.loads(opened.read(FILE_BYTES_MAX))
        return ProgramNews(str(told["code"]), str(told["version"]), str(told.get("digest", "")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def write_news(file: Path, news: ProgramNews) -> None:
    write_durably(file, json.dumps(asdict(news)), READ_BY_ALL)
