"""What is watched at one table: its journal, its lights, and how long it was left alone.

Every act, fault and record is a disturbance; the lights are compared with the truth only when the
table has rested. It alone knows what a table needs to come to rest, and which rare moments of a
table are worth a mark.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Protocol

import apsw

from sim.runs.storm import marks
from sim.runs.storm.checks import kinds
from sim.runs.storm.checks.journal_watch import JournalWatch, Row
from sim.runs.storm.checks.light_watch import LightWatch
from sim.runs.storm.checks.restored import is_anew
from sim.runs.storm.floor.clock import now_ms
from sim.runs.storm.floor.unit import StormUnit, connection_of
from sim.runs.storm.record import Record

REST_MS = 3400
NEVER_MS = 1 << 30
# Down after five seconds of silence, counted from the last frame that was dealt with. A disk that
# stalls takes a second each for that frame's receipt, the check before START, and START itself.
SILENCE_MAX_MS = 8500

Listener = Callable[[Row], None]


class SeenWorld(Protocol):
    """The truth about the felt and the key, as the world itself knows it."""

    def has_chip(self, sensor: str) -> bool: ...

    def light(self, sensor: str) -> str: ...


class TableWatch:
    def __init__(
        self, name: str, sensors: list[str], record: Record, is_offline: Callable[[], bool]
    ) -> None:
        self._name = name
        self._record = record
        self._is_offline = is_offline
        self.journal = JournalWatch(name, record, self._recorded)
        self._lights = LightWatch(name, sensors, record)
        self.listeners: list[Listener] = []
        # Chips may stay dark on felt that was wet, or after a start with one on every seat.
        self.felt_in_doubt = False
        self.hurt_until_ms = 0  # by a fault of its hardware, as the one who did it says
        self._heard_ms = 0  # when a byte of the manager could last have reached the unit
        self._disturbed_ms = 0
        self._looked_at_ms = -1  # when somebody will compare the lights
        self._unheard_release = False
        self._claim_before_cut = 0
        self._recorded_s = 0.0
        self._was_untold = False  # when the power last went
        self._power_went_ms = 0
        self._is_booting = False
        self.dirty = False  # the disk changed since the last look

    def disturb(self) -> None:
        self._disturbed_ms = now_ms()

    def expect_look(self, in_ms: int) -> None:
        """Somebody will compare the lights then, and not before."""
        self._looked_at_ms = now_ms() + in_ms

    def look_in_ms(self) -> int:
        """For how long nobody will look at the lights."""
        left_ms = self._looked_at_ms - now_ms()
        return left_ms if left_ms >= 0 else NEVER_MS

    def hurt(self, for_ms: int) -> None:
        """A fault of the hardware: its lights say nothing about bets until it has recovered."""
        self.hurt_until_ms = max(self.hurt_until_ms, now_ms() + for_ms)

    def released(self) -> None:
        """People released a locked unit, which goes on saying that it is locked until it hears."""
        self._unheard_release = True

    def heard(self) -> None:
        self._heard_ms = now_ms()
        if self._unheard_release:
            self._unheard_release = False
            self.disturb()

    def is_heard_of(self, within_ms: int) -> bool:
        """The manager's bytes reach the unit just now, and its hardware is in order."""
        now = now_ms()
        return now - self._heard_ms <= within_ms and now >= self.hurt_until_ms

    def power_goes(self, unit: StormUnit) -> None:
        """Called while the unit still is what it was before the cut."""
        claim = self.journal.round.claim
        self._claim_before_cut = claim.number if claim else 0
        self._power_went_ms = now_ms()
        untold_s = unit.untold_since_s
        self._was_untold = untold_s is not None and self._recorded_s >= untold_s

    def look(self, unit: StormUnit) -> None:
        """Takes in what the journal committed since the last look."""
        if self.dirty and unit.alive and unit.journal is not None:
            connection = connection_of(unit.journal)
            if not connection.in_transaction:
                self.dirty = False
                with contextlib.suppress(apsw.Error):  # its disk fails: the next boot will tell
                    self.journal.look(connection)

    def booted(self, connection: apsw.Connection, key_position: str) -> None:
        first = self.journal.boot_count == 0
        self._is_booting = True
        more = self.journal.booted(connection)
        self._is_booting = False
        self._record.note("boot", self._name, self.journal.last_sequence)
        if first or self.journal.awaits_state:
            return
        if more or self._was_untold:
            self._record.marks.fire(marks.UNTOLD_APPEND_SURVIVED)
        model = self.journal.round
        if model.is_open:
            self._record.marks.fire(marks.ROUND_RESUMED)
        if model.claim and model.claim.frozen and key_position == "JPH":
            self._record.marks.fire(marks.FROZEN_CLAIM_SURVIVED_AT_JPH)

    def bright(self, sensor: str) -> None:
        self._lights.bright(sensor, self.journal.round, now_ms())

    def check_lights(self, world: SeenWorld) -> None:
        """Compares every light with the truth, if the table has rested long enough for that.

        Whoever will look says so before (`expect_look`): the lamps are not played for nobody.
        """
        now = now_ms()
        if self._unheard_release or self.journal.awaits_state:
            return
        if now - self._disturbed_ms >= REST_MS and now >= self.hurt_until_ms:
            self._record.marks.fire(marks.RESTED_LIGHTS_COMPARED)
            self._lights.at_rest(
                self.journal.round, world.has_chip, world.light, self.felt_in_doubt
            )

    def _recorded(self, row: Row) -> None:
        self.disturb()
        self._recorded_s = asyncio.get_running_loop().time()
        self._lights.round_changes(self.journal.round, now_ms())
        self._fire_marks(row)
        for listener in list(self.listeners):
            listener(row)

    def _fire_marks(self, row: Row) -> None:
        fire = self._record.marks.fire
        if is_anew(row.body):
            return  # it happened before
        if row.kind == kinds.ROUND_START:
            self._record.round_count += 1
            self._check_link()
        elif row.kind == kinds.LATE_CHANGE and row.body[3]:
            fire(marks.LATE_CHIP_RECORDED)
        elif row.kind == kinds.SETTLED and row.body[1] == self._claim_before_cut:
            fire(marks.AWARD_RESUMED)
        elif row.kind == kinds.REFUSED and row.body[1] == "START" and self._is_offline():
            fire(marks.START_REFUSED_OFFLINE)
        elif row.kind == kinds.FAULT and row.body[1] == "memory":
            sentence = (
                f"record {row.sequence}: the unit found its memory damaged, and nobody did it"
            )
            self._record.violate("state is a fold of the log", self._name, sentence)

    def _check_link(self) -> None:
        """A round began: the manager was heard a moment ago, or it must not have begun."""
        # A record that is only found at a start was written before the power went.
        began_ms = self._power_went_ms if self._is_booting else now_ms()
        silence_ms = began_ms - self._heard_ms
        if silence_ms > SILENCE_MAX_MS:
            sentence = f"round {self.journal.round.number + 1} began after {silence_ms} ms alone"
            self._record.violate("no game starts offline", self._name, sentence)
