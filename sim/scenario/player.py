"""Plays a scenario's instructions on one simulated table and compares what must be with what is.

It acts only through the world (chips, fingers, keys, cards, cables) and looks only where a person
could: the lights through the lamp chip, the round on the dealer's panel, the money at the manager.
Between two actions a person takes PACE_MS, unless a `wait` says otherwise; an expectation that is
not yet met gets GRACE_MS to come true.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from hal import aio
from sim.floor import Floor, FloorTable
from sim.scenario.language import Instruction, cents, duration_ms, sensor_id

PACE_MS = 400
GRACE_MS = 2000
LOOK_EVERY_MS = 20
READY_MAX_MS = 10_000


class Mismatch(Exception):  # noqa: N818 - it is the verdict, not a programming error
    """An expectation that was not met, in words."""

    def __init__(self, instruction: Instruction, expected: str, found: str) -> None:
        super().__init__(
            f"line {instruction.line_number}: `{instruction.text}`: "
            f"expected {expected}, found {found}"
        )


class Player:
    def __init__(self, floor: Floor) -> None:
        self._floor = floor
        self._table: FloorTable | None = None
        self._refusals_before = 0
        self._must_pace = False
        self._actions: dict[str, Callable[..., Awaitable[None]]] = {
            "table": self._sit_down,
            "place": self._place,
            "remove": self._remove,
            "press": self._press,
            "key": self._key,
            "swipe": self._swipe,
            "tamper": self._tamper,
            "fault": self._fault,
            "power": self._power,
            "link": self._link,
            "meter": self._set_meter,
        }
        self._looks: dict[str, Callable[..., str]] = {
            "expect state": lambda: self._seat_of_play.state(),
            "expect light": lambda spot: self._seat_of_play.world.light(sensor_id(spot)),
            "expect award": lambda seat: _money(self._seat_of_play.award_cents(sensor_id(seat))),
            "expect envy": lambda seat: _money(self._seat_of_play.envy_cents(sensor_id(seat))),
            "expect meter": lambda name: _money(self._floor.meter_cents(name)),
            "expect wagers": lambda: str(self._seat_of_play.wager_count()),
            "expect refused": lambda: self._answer(),
            "expect accepted": lambda: self._answer(),
            "expect late": lambda spot: self._seat_of_play.late(sensor_id(spot)),
        }

    @property
    def _seat_of_play(self) -> FloorTable:
        assert self._table is not None, "the grammar makes `table` the first line"
        return self._table

    async def play(self, instructions: list[Instruction]) -> None:
        for instruction in instructions:
            await self._step(instruction)

    async def _step(self, instruction: Instruction) -> None:
        if instruction.verb == "wait":
            self._must_pace = False
            await aio.sleep_ms(duration_ms(instruction.arguments[0]))
            return
        if self._must_pace:
            self._must_pace = False
            await aio.sleep_ms(PACE_MS)
        if instruction.verb in self._actions:
            await self._actions[instruction.verb](*instruction.arguments)
            self._must_pace = True
        else:
            await self._expect(instruction)

    async def _expect(self, instruction: Instruction) -> None:
        look = self._looks[instruction.verb]
        *where, wanted = instruction.arguments or (instruction.verb.split()[1],)
        if instruction.verb in ("expect award", "expect envy", "expect meter"):
            wanted = _money(cents(wanted))
        found = look(*where)
        waited_ms = 0
        while found != wanted and waited_ms < GRACE_MS:
            await aio.sleep_ms(LOOK_EVERY_MS)
            waited_ms += LOOK_EVERY_MS
            found = look(*where)
        if found != wanted:
            raise Mismatch(instruction, wanted, found)

    def _answer(self) -> str:
        return "refused" if self._seat_of_play.refusals() > self._refusals_before else "accepted"

    async def _sit_down(self, name: str) -> None:
        self._table = await self._floor.open_table(name)
        waited_ms = 0
        while self._table.state() != "open" and waited_ms < READY_MAX_MS:
            await aio.sleep_ms(LOOK_EVERY_MS)
            waited_ms += LOOK_EVERY_MS

    async def _place(self, spot: str) -> None:
        self._seat_of_play.world.place_chip(sensor_id(spot))

    async def _remove(self, spot: str) -> None:
        self._seat_of_play.world.remove_chip(sensor_id(spot))

    async def _press(self, button: str) -> None:
        self._refusals_before = self._seat_of_play.refusals()
        await self._seat_of_play.press(button)

    async def _key(self, position: str) -> None:
        self._seat_of_play.world.turn_key(position)

    async def _swipe(self, card: str) -> None:
        self._refusals_before = self._seat_of_play.refusals()
        self._seat_of_play.swipe(card)

    async def _tamper(self, position: str) -> None:
        self._seat_of_play.world.tamper(position == "open")

    async def _fault(self, kind: str, part: str) -> None:
        self._seat_of_play.fault(kind, part)

    async def _power(self, what: str) -> None:
        if what == "cut":
            await self._seat_of_play.unit.power_cut()
        else:
            await self._seat_of_play.unit.power_on()

    async def _link(self, what: str) -> None:
        if what == "cut":
            self._seat_of_play.cable.pull()
        else:
            self._seat_of_play.cable.plug()

    async def _set_meter(self, name: str, amount: str) -> None:
        self._floor.set_meter(name, cents(amount))


def _money(amount_cents: int) -> str:
    return f"{amount_cents // 100}.{amount_cents % 100:02d}"
