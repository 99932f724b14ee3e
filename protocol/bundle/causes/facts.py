"""The bundle's parts as the rules ask for them. It reads the bundle, and judges nothing.

Whatever is missing is empty here: a rule without its evidence stays silent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from protocol.bundle.archive import Bundle

View = dict[str, Any]


class Facts:
    def __init__(self, bundle: Bundle) -> None:
        self.head = bundle.head
        self.unit: View = bundle.part("unit") or {}
        self.table: View = bundle.part("table") or {}
        self.board: View = bundle.part("board") or {}
        self.spots: list[View] = bundle.part("spots") or []
        self.health: list[View] = bundle.part("health") or []
        self._diary: View = bundle.part("diary") or {}
        self._earlier: list[View] = bundle.part("earlier") or []
        self._journaled: list[View] = bundle.part("faults") or []
        self._log: list[View] = bundle.part("log") or []
        self.kernel = bundle.files.get("kernel.log", b"").decode("utf-8", "replace")

    # -- since the last starts ---------------------------------------------------------------

    @cached_property
    def diaries(self) -> list[View]:
        """Of this start and those before it, newest first."""
        return [each for each in [self._diary, *reversed(self._earlier)] if each]

    @property
    def now(self) -> View:
        return self._diary

    def buses(self) -> Iterator[View]:
        for diary in self.diaries:
            yield from diary.get("buses", ())

    def ic_failures(self) -> Counter[tuple[str, str]]:
        counted: Counter[tuple[str, str]] = Counter()
        for diary in self.diaries:
            for ic, reason, count in diary.get("ic_failures", ()):
                counted[ic, reason] += count
        return counted

    def seconds(self, sensor: str) -> Counter[str]:
        """For how many seconds a spot was in which trouble, by its reason."""
        counted: Counter[str] = Counter()
        for diary in self.diaries:
            counted.update(diary.get("spots", {}).get(sensor, {}).get("seconds", {}))
        return counted

    def at_start(self, sensor: str) -> list[tuple[float, bool, str]]:
        """What a spot read at each START with something on it: level, accepted, reason."""
        return [
            (level, accepted, reason)
            for diary in reversed(self.diaries)
            for level, accepted, reason in diary.get("spots", {})
            .get(sensor, {})
            .get("at_start", ())
        ]

    def levels(self, sensor: str) -> Iterator[list[float | None]]:
        """The last two minutes of each start, once a second; None is no reading."""
        for diary in self.diaries:
            yield diary.get("spots", {}).get(sensor, {}).get("levels", [])

    def endings(self) -> Counter[str]:
        """Why calls to the manager failed or ended."""
        counted: Counter[str] = Counter()
        for diary in self.diaries:
            counted.update(diary.get("link", {}).get("endings", {}))
        return counted

    # -- what the table showed ---------------------------------------------------------------

    def faults(self, code: str) -> list[tuple[str, str]]:
        """Part and sentence of each fault of this code that was up, in the journal or now."""
        found = {
            (fault["part"], fault["sentence"])
            for fault in self._journaled
            if fault["code"] == code and fault["raised"]
        }
        found |= {
            (fault["part"], fault["text"])
            for fault in self.table.get("faults", ())
            if fault["code"] == code
        }
        return sorted(found)

    def logged(self, text: str) -> list[str]:
        return [line["text"] for line in self._log if text in line["text"]]

    # -- the technician's tests --------------------------------------------------------------

    def failed(self, part_begins: str) -> list[tuple[str, str]]:
        """Part and sentence of each self-test verdict that is not in order."""
        return [
            (verdict["part"], verdict["sentence"])
            for verdict in self.table.get("selftest", ())
            if not verdict["passed"] and verdict["part"].startswith(part_begins)
        ]

    def scanned(self, state: str) -> list[View]:
        return [row for row in self.table.get("scan", ()) if row["state"] == state]

    # -- the board ---------------------------------------------------------------------------

    @property
    def sensors(self) -> list[str]:
        return [sensor["id"] for sensor in self.board.get("sensors", ())]

    def sensors_of(self, ic: str) -> list[str]:
        return [each["id"] for each in self.board.get("sensors", ()) if each["ic"] == ic]

    @property
    def keypad_ic(self) -> str:
        keypad = self.board.get("keypad")
        return keypad["ic"] if keypad else ""

    def ics_at(self, bus: int, address: int) -> list[View]:
        return [
            ic for ic in self.board.get("ics", ()) if ic["bus"] == bus and ic["address"] == address
        ]
