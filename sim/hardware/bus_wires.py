"""The two wires and the supply of one simulated bus, as the header's pins drive them.

It alone knows that a wire which a Pi's own resistor pulls up feeds the ICs through their inputs:
they lose their supply only while the switch is off and both wires are low. What the ICs do
without it, they know themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hal.board.config import BusConfig
from sim.hardware.faults import BusFaults
from sim.hardware.ics.base import Ic
from sim.hardware.pins import SimPinFactory


class BusWires:
    """`switched_off` holds the numbers of all buses whose supply the unit itself took away."""

    def __init__(
        self,
        config: BusConfig,
        ics: Sequence[Ic],
        faults: BusFaults,
        pins: SimPinFactory,
        switched_off: set[int],
        bring_to_now: Callable[[Ic], None],
        is_powered: Callable[[], bool],
    ) -> None:
        self._config = config
        self._ics = ics
        self._faults = faults
        self._pins = pins
        self._switched_off = switched_off
        self._bring_to_now = bring_to_now
        self._is_powered = is_powered
        if config.recovery is not None:
            faults.on_data_line = self._data_line_changed
            pins.listen(config.recovery.scl_gpio, self._clock_driven)
            pins.listen(config.recovery.sda_gpio, self._supply_changed)
        if config.supply_gpio is not None:
            pins.listen(config.supply_gpio, self._supply_changed)

    def _data_line_changed(self, held: bool) -> None:
        assert self._config.recovery is not None
        self._pins.drive(self._config.recovery.sda_gpio, 0 if held else None)

    def _clock_driven(self, level: int | None) -> None:
        if level != 0:
            self._faults.clock_pulse()
        self._supply_changed(level)

    def _supply_changed(self, _level: int | None) -> None:
        """The switch takes the supply from every IC of the bus, and gives it back."""
        number, is_off = self._config.number, self._is_off()
        if is_off == (number in self._switched_off):
            return
        if is_off:
            self._faults.lose_supply()
            self._switched_off.add(number)
        else:
            self._switched_off.discard(number)
        for ic in self._ics:
            self._bring_to_now(ic)
            if is_off:
                ic.power_off()
            elif self._is_powered() and not ic.powered:
                ic.power_on()

    def _is_off(self) -> bool:
        supply_gpio, wires = self._config.supply_gpio, self._config.recovery
        if supply_gpio is None or self._pins.driven(supply_gpio) != 0:
            return False
        return wires is None or (
            self._pins.driven(wires.scl_gpio) == 0 and self._pins.driven(wires.sda_gpio) == 0
        )
