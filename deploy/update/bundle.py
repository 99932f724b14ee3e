"""Whether a signed bundle may be installed on this unit: its board, its age, and a way back."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from kit.command_line import CommandRefused
from kit.program_news import FAILED_BEFORE, NO_WAY_BACK, OLDER, WRONG_BOARD

# The project's version, and the date of the source that it was built from.
VERSION: Final = re.compile(r"(\d{1,9})\.(\d{1,9})\.(\d{1,9})\+(\d{8})\.(\d{6})")


@dataclass(frozen=True)
class Program:
    """What a slot holds, or a bundle brings."""

    version: str
    board: str
    formats: dict[str, int]  # of each file below /data: the newest version that it writes

    @classmethod
    def parse(cls, told: dict[str, Any]) -> Program:
        version, board, formats = told.get("version"), told.get("board"), told.get("formats")
        if not (isinstance(version, str) and isinstance(board, str) and isinstance(formats, dict)):
            raise CommandRefused("The description of a program is not complete.")
        numbers = [number for number in formats.values() if isinstance(number, int)]
        if not VERSION.fullmatch(version) or not formats or len(numbers) != len(formats):
            raise CommandRefused(f"The description of the program {version!r:.60} is not complete.")
        return cls(version, board, formats)

    @property
    def age(self) -> tuple[int, ...]:
        found = VERSION.fullmatch(self.version)
        assert found is not None, "it was parsed"
        return tuple(map(int, found.groups()))


def program_here(file: Path) -> Program:
    try:
        return Program.parse(json.loads(file.read_text("utf-8")))
    except ValueError as error:
        raise CommandRefused(f"{file} cannot be read: {error}") from error


def objection(new: Program, here: Program, has_failed: bool) -> str:
    """Why this unit does not take it, as a code; "" when it does."""
    if new.board != here.board:
        return WRONG_BOARD
    if new.age < here.age:
        return OLDER
    if has_failed:
        return FAILED_BEFORE
    # The program before must still read what the new one has written, or there is no way back.
    if any(number > here.formats.get(name, 0) for name, number in new.formats.items()):
        return NO_WAY_BACK
    return ""
