"""What people at a table hold and turn: the keypad, the supervisor's key, the card reader, the lid.

It alone knows how fingers and hands reach the pins: how long a key is held, that a key switch
breaks before it makes, and that a swipe needs a reader with power. All of it survives a power cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from hal.board.config import BoardConfig
from sim.hardware.card_reader import CardMachine
from sim.hardware.ics.base import Ic
from sim.hardware.ics.tca9555 import Tca9555
from sim.hardware.pins import SimPinFactory
from sim.hardware.shuffler import ShufflerMachine
from sim.time.clockwork import Action, Clockwork

MILLISECOND_NS = 1_000_000
KEY_HOLD_MS = 80
KEY_TURN_MS = 30  # Break before make: for this long neither contact of the key is closed.

# Which contacts of the key switch are closed in which position: (run, jph).
KEY_CONTACTS = {
    "RUN": (True, False),
    "JPH": (False, True),
    "BETWEEN": (False, False),
    "SHORTED": (True, True),
}


class Controls:
    """Starts as a table is left: key at RUN, lid closed, no key held."""

    def __init__(
        self,
        board: BoardConfig,
        ics: Mapping[str, Ic],
        pins: SimPinFactory,
        clockwork: Clockwork,
        is_powered: Callable[[], bool],
    ) -> None:
        self._board = board
        self._ics = ics
        self._pins = pins
        self._clockwork = clockwork
        self._is_powered = is_powered
        self.key_position = "RUN"
        self.lid_open = False
        self._turn_count = 0
        self._stuck: set[str] = set()  # keys that are down until they are released
        self.card_machine = CardMachine() if board.card_reader else None
        self.shuffler = ShufflerMachine() if board.shuffler else None
        self._set_contacts("RUN")
        self.tamper(open=False)

    def press(self, key: str, hold_ms: int | None = KEY_HOLD_MS) -> None:
        """A finger on a key of the keypad, for `hold_ms` or until `release`."""
        self.press_together([key], hold_ms)

    def press_together(self, keys: Iterable[str], hold_ms: int | None = KEY_HOLD_MS) -> None:
        names = [key for key in keys if key not in self._stuck]  # a finger does not free it
        for key in names:
            self._set_key(key, down=True)
        if hold_ms is None:
            self._stuck.update(names)
        else:
            for key in names:
                self._later(hold_ms, partial(self._set_key, key, down=False))

    def release(self, key: str) -> None:
        self._stuck.discard(key)
        self._set_key(key, down=False)

    def turn_key(self, position: str) -> None:
        """Turns the supervisor's key; its contacts follow as a real switch's do."""
        if position not in KEY_CONTACTS:
            raise ValueError(f"The key turns to {', '.join(KEY_CONTACTS)}, not {position}.")
        if self._board.keyswitch is None:
            raise ValueError("This table has no key switch.")
        if position == self.key_position:
            return
        self.key_position = position
        self._turn_count += 1
        self._set_contacts("BETWEEN")
        self._later(KEY_TURN_MS, partial(self._arrive, position, self._turn_count))

    def swipe(self, name: str) -> None:
        """A card through the reader: SUPERVISOR, EXECUTIVE, UNKNOWN; HALF of one, or GARBAGE."""
        reader = self._reader()
        if not self._is_powered():
            return
        if name == "HALF":
            reader.half_swipe("SUPERVISOR")
        elif name == "GARBAGE":
            reader.garbage()
        else:
            reader.swipe_card(name)

    def half_swipe(self, name: str) -> None:
        reader = self._reader()
        if self._is_powered():
            reader.half_swipe(name)

    def tamper(self, open: bool) -> None:  # noqa: A002
        """Opens or closes the lid. Its switch is closed with the lid, so a cut wire reads open."""
        self.lid_open = open
        if self._board.tamper is not None:
            self._pins.drive(self._board.tamper.gpio, None if open else 0)

    def lose_power(self) -> None:
        for line in (self.card_machine, self.shuffler):
            if line is not None:
                line.lose_power()

    def close(self) -> None:
        for line in (self.card_machine, self.shuffler):
            if line is not None:
                line.close()
        self.card_machine = self.shuffler = None

    def _set_key(self, key: str, down: bool) -> None:
        keypad = self._board.keypad
        if keypad is None:
            raise ValueError("This table has no keypad.")
        if key not in keypad.keys:
            raise ValueError(f"There is no key {key}; there are {', '.join(keypad.keys)}.")
        ic = self._ics[keypad.ic]
        if not isinstance(ic, Tca9555):
            raise ValueError(f"The IC {keypad.ic} of the keypad is no TCA9555.")
        ic.set_pin(keypad.keys[key], not down, self._clockwork.now_ns())
        self._clockwork.wake()

    def _later(self, delay_ms: int, action: Action) -> None:
        self._clockwork.at(self._clockwork.now_ns() + delay_ms * MILLISECOND_NS, action)

    def _arrive(self, position: str, turn: int) -> None:
        if turn == self._turn_count:  # Else the key was turned on before it got there.
            self._set_contacts(position)

    def _set_contacts(self, position: str) -> None:
        if self._board.keyswitch is not None:
            run_closed, jph_closed = KEY_CONTACTS[position]
            self._pins.drive(self._board.keyswitch.run_gpio, 0 if run_closed else None)
            self._pins.drive(self._board.keyswitch.jph_gpio, 0 if jph_closed else None)

    def _reader(self) -> CardMachine:
        if self.card_machine is None:
            raise ValueError("This table has no card reader.")
        return self.card_machine
