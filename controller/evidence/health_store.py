"""The file that keeps each spot's health: a row for every stretch of listening, read back as days.

It alone knows the file. Rows are only ever added, so a restart in the middle of a day takes nothing
from it. All figures are in chips as the table is calibrated now; what was recorded before that
calibration is another scale, and is kept but never read with the new one.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from itertools import groupby
from statistics import median

import apsw

from kit.migrations import statements

DAY_MS = 86_400_000
DAYS_KEPT = 90
DIARIES_KEPT = 4
# Fewer chips say more about where they lay than about the pad.
CHIPS_TO_JUDGE_MIN = 5
# In chips: what is stiller cannot be told from the counting of whole steps.
NOISE_TOLD_MIN = 0.001

NEWEST_CALIBRATION = "(SELECT coalesce(max(number), 0) FROM calibration)"


@dataclass(frozen=True)
class Stretch:
    """Some minutes of one spot, from `wall_ms` on; None is what was not to be heard in them.

    Nothing lay on it for `empty_s`, and for `disturbed_s` of them no chip would have been believed.
    """

    sensor: str
    wall_ms: int
    noise: float | None
    drift: float
    chip_level: float | None
    chip_count: int
    noise_calibrated: float
    empty_s: int
    disturbed_s: int


STRETCH_COLUMNS = ", ".join(field.name for field in fields(Stretch))


@dataclass(frozen=True)
class Day:
    """One spot on one day; `chip_level` is the median bet's, None when there was none.

    `noise_times` is its noise relative to the one that was calibrated.
    """

    day: int
    sensor: str
    noise: float | None
    drift: float
    chip_level: float | None
    chip_count: int = CHIPS_TO_JUDGE_MIN
    noise_times: float | None = None
    empty_s: int = 0
    disturbed_s: int = 0

    @property
    def margin(self) -> float | None:
        """How many times its noise a chip stands out: the median bet, else the calibrated chip."""
        if self.noise is None:
            return None
        chip = 1.0 if self.chip_level is None else self.chip_level
        return chip / max(self.noise, NOISE_TOLD_MIN)


class HealthStore:
    """The stretches on disk. Calls block; the caller runs them on the disk's worker."""

    def __init__(self, path: str, vfs: str | None = None) -> None:
        self._connection = apsw.Connection(path, vfs=vfs)
        self._connection.execute(statements(__package__, "health.sql"))

    def keep(self, stretches: list[Stretch]) -> None:
        with self._connection:
            self._connection.executemany(
                f"INSERT OR REPLACE INTO stretch VALUES ({NEWEST_CALIBRATION},?,?,?,?,?,?,?,?,?)",
                (astuple(each) for each in stretches),
            )
            self._connection.execute(
                "DELETE FROM stretch WHERE wall_ms <= (SELECT max(wall_ms) FROM stretch) - ?",
                (DAYS_KEPT * DAY_MS,),
            )

    def calibrated(self, wall_ms: int) -> None:
        """From here on a chip and the empty felt are what a tech just measured."""
        self._connection.execute("INSERT INTO calibration (wall_ms) VALUES (?)", (wall_ms,))

    def days(self, sensor: str) -> list[Day]:
        """The days since the last calibration, oldest first."""
        rows = self._connection.execute(
            f"SELECT {STRETCH_COLUMNS} FROM stretch "
            f"WHERE calibration = {NEWEST_CALIBRATION} AND sensor = ? ORDER BY wall_ms",
            (sensor,),
        )
        stretches = [Stretch(*row) for row in rows]
        by_day = groupby(stretches, key=lambda stretch: stretch.wall_ms // DAY_MS)
        return [_day(number, list(of_day)) for number, of_day in by_day]

    def sensors(self) -> list[str]:
        rows = self._connection.execute(
            f"SELECT DISTINCT sensor FROM stretch WHERE calibration = {NEWEST_CALIBRATION}"
        )
        return [row[0] for row in rows]

    def keep_diary(self, began_wall_ms: int, body: str) -> None:
        """What happened since this start, in place of what was kept of it before."""
        with self._connection:
            self._connection.execute(
                "INSERT OR REPLACE INTO diary VALUES (?, ?)", (began_wall_ms, body)
            )
            self._connection.execute(
                "DELETE FROM diary WHERE rowid NOT IN "
                "(SELECT rowid FROM diary ORDER BY began_wall_ms = ? DESC, began_wall_ms DESC"
                " LIMIT ?)",
                (began_wall_ms, DIARIES_KEPT),
            )

    def diaries(self) -> list[tuple[int, str]]:
        """Of each start that is kept, oldest first: when it was, and what happened since."""
        rows = self._connection.execute(
            "SELECT began_wall_ms, body FROM diary ORDER BY began_wall_ms"
        )
        return [(row[0], row[1]) for row in rows]

    def close(self) -> None:
        self._connection.close(True)


def _day(number: int, stretches: list[Stretch]) -> Day:
    noises = [each.noise for each in stretches if each.noise is not None]
    times = [each.noise / each.noise_calibrated for each in stretches if each.noise is not None]
    # Each stretch's median stands for each of its chips.
    chips = [
        each.chip_level
        for each in stretches
        if each.chip_level is not None
        for _ in range(each.chip_count)
    ]
    return Day(
        number,
        stretches[-1].sensor,
        median(noises) if noises else None,
        stretches[-1].drift,
        median(chips) if chips else None,
        len(chips),
        median(times) if times else None,
        sum(each.empty_s for each in stretches),
        sum(each.disturbed_s for each in stretches),
    )
