"""Watches a table's lamps: nothing is lit that is not recorded, and at rest every light is true.

The truth is what lies on the felt (the world's own knowledge) and what the journal says, by the
checkers' own reading of it. It never asks the unit what it believes.
"""

from __future__ import annotations

from collections.abc import Callable

from sim.floor.light_eye import WHITE, LampEye
from sim.runs.storm.checks.round_model import RoundModel
from sim.runs.storm.record import Record

BRIGHT_LEVEL_MIN = 2048
# A blink that was on its way when the round ended may still show for a moment.
GRACE_MS = 400


class WatchedLamps(LampEye):
    """The eye above the lamps, telling when a white light turns bright."""

    def __init__(self, sensors: list[str], on_bright: Callable[[str], None]) -> None:
        super().__init__()
        self._on_bright = on_bright
        for sensor in sensors:
            self.add(sensor)

    def record(self, sensor: str, colour: str, at_ns: int, level: int) -> None:
        super().record(sensor, colour, at_ns, level)
        if colour == WHITE and level >= BRIGHT_LEVEL_MIN:
            self._on_bright(sensor)


class LightWatch:
    def __init__(self, table_id: str, sensors: list[str], record: Record) -> None:
        self._table_id = table_id
        self._sensors = sensors
        self._record = record
        self._explained_ms: dict[str, int] = {}

    def round_changes(self, model: RoundModel, now_ms: int) -> None:
        """Called before an event changes the model: what was explained stays so for a moment."""
        for sensor in self._sensors:
            if model.may_be_bright(sensor):
                self._explained_ms[sensor] = now_ms

    def bright(self, sensor: str, model: RoundModel, now_ms: int) -> None:
        if model.may_be_bright(sensor):
            return
        if now_ms - self._explained_ms.get(sensor, -GRACE_MS - 1) > GRACE_MS:
            sentence = f"{sensor} is lit as accepted, but no such round is recorded"
            self._record.violate("recorded before shown", self._table_id, sentence)

    def at_rest(
        self,
        model: RoundModel,
        has_chip: Callable[[str], bool],
        light: Callable[[str], str],
        doubtful: bool = False,
    ) -> None:
        """The table has rested long enough for every light to be what it should be.

        On `doubtful` felt a chip may stay dark, because a unit refuses rather than guesses. What
        was accepted may not, and nothing may be lit that is not there.
        """
        for sensor in self._sensors:
            wanted, found = truth(model, sensor, has_chip(sensor)), light(sensor)
            if doubtful and not wanted & {"accepted", "winner"}:
                wanted.add("off")
            if found not in wanted:
                sentence = f"{sensor} shows {found}, the truth is {' or '.join(sorted(wanted))}"
                self._record.violate("lights equal truth at rest", self._table_id, sentence)


def truth(model: RoundModel, sensor: str, chip: bool) -> set[str]:
    """The lights that would be true for this sensor."""
    if sensor in model.winners():
        return {"winner"}
    if not model.is_open:
        plain = "detected" if chip else "refused" if sensor in model.voided else "off"
        return {plain, "refused"} if model.start_was_refused else {plain}
    if sensor in model.accepted:
        return {"accepted"}
    if not chip:
        return {"off"}
    return {"refused"} if sensor in model.refused else {"late"}
