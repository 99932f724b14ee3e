"""The wires between the pads of the felt and the inputs of the sensing ICs.

It alone knows which input belongs to which sensor, and in which unit each kind of IC measures.
What a pad measures is the felt's; when the IC notices is the IC's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from hal.board.config import BoardConfig
from sim.felt.capacitance import fdc1004_femtofarads, femtofarads
from sim.felt.felt import Felt
from sim.hardware.ics.base import Ic, Level, Source
from sim.hardware.ics.fdc1004 import Fdc1004
from sim.hardware.ics.mpr121 import Mpr121
from sim.time.clockwork import Clockwork


class Electrodes:
    def __init__(
        self, board: BoardConfig, ics: Mapping[str, Ic], felt: Felt, clockwork: Clockwork
    ) -> None:
        self._places = {sensor.id: (sensor.ic, sensor.electrode) for sensor in board.sensors}
        self._ics = ics
        self._felt = felt
        self._clockwork = clockwork
        self.on_feel: Callable[[str], None] = lambda sensor: None

    def feel(self, sensor: str) -> None:
        """Tells the sensor's electrode what its pad measures now."""
        self._measure(sensor, self._felt.level(sensor))
        self.on_feel(sensor)

    def feel_all(self, sensors: Iterable[str] | None = None) -> None:
        for sensor in self._places if sensors is None else sensors:
            self.feel(sensor)

    def lay_reading(self, sensor: str, raw: int) -> None:
        """Makes the sensor's electrode measure a recorded value, whatever lies on its pad."""
        name, electrode = self._places[sensor]
        ic = self._ics[name]
        if isinstance(ic, Fdc1004):
            ic.set_input(electrode, fdc1004_femtofarads(raw), self._clockwork.now_ns())
            self._clockwork.wake()
        else:
            self._measure(sensor, raw)

    def _measure(self, sensor: str, level: Level) -> None:
        name, electrode = self._places[sensor]
        ic = self._ics[name]
        if isinstance(ic, Mpr121):
            ic.set_input(electrode, level, self._clockwork.now_ns())
        elif isinstance(ic, Fdc1004):
            level_ff = level if isinstance(level, Source) else femtofarads(level)
            ic.set_input(electrode, level_ff, self._clockwork.now_ns())
        else:
            raise ValueError(f"The IC {name} of sensor {sensor} senses nothing.")
        self._clockwork.wake()
