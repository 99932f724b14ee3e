"""Plays a scenario's instructions on one simulated table and compares what must be with what is.

It acts only through the world (chips, fingers, keys, cards, cables) and looks only where a person
could: the lights through the lamp chip, the round on the dealer's panel, the money at the manager.
Between two actions a person takes PACE_MS, unless a `wait` says otherwise; an expectation that is
not yet met gets GRACE_MS to come true. `table` always begins anew, with a floor of its own.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from hal import aio
from sim.floor import Floor, FloorTable, Impossible
from sim.scenario.language import Instruction, cents, duration_ms, sensor_id
from sim.scenario.playback import Playback
from sim.scenario.verdict import CannotDo, Failure, Mismatch, ProductFailed, describe_error

PACE_MS = 400
GRACE_MS = 2000
# A pulled cable is noticed by silence alone, so a table is known to be offline only after 5 s.
OFFLINE_GRACE_MS = 7000
LOOK_EVERY_MS = 20
READY_MAX_MS = 10_000
MONEY_LOOKS = ("expect award", "expect envy", "expect meter")

Watcher = Callable[[Instruction], None]


class Player:
    """`watch` is told each instruction just before it is played."""

    def __init__(self, new_floor: Callable[[], Floor], watch: Watcher = lambda _: None) -> None:
        self._new_floor = new_floor
        self._watch = watch
        self._floor: Floor | None = None
        self._table: FloorTable | None = None
        self._answers_before = (0, 0)
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
            "expect state": lambda: self.table.state(),
            "expect light": lambda spot: self.table.light(sensor_id(spot)),
            "expect award": lambda seat: _money(self.table.award_cents(sensor_id(seat))),
            "expect envy": lambda seat: _money(self.table.envy_cents(sensor_id(seat))),
            "expect meter": lambda name: _money(self.floor.meter_cents(name)),
            "expect wagers": lambda: str(self.table.wager_count()),
            "expect refused": lambda: self._answer(),
            "expect accepted": lambda: self._answer(),
            "expect late": lambda spot: self.table.late(sensor_id(spot)),
        }

    @property
    def floor(self) -> Floor:
        assert self._floor is not None, "the grammar makes `table` the first line"
        return self._floor

    @property
    def table(self) -> FloorTable:
        assert self._table is not None, "the grammar makes `table` the first line"
        return self._table

    # --- playing ----------------------------------------------------------------------------

    async def play(self, instructions: list[Instruction]) -> Playback:
        """Plays all lines; raises a Failure at the first that does not go as written."""
        try:
            for instruction in instructions:
                await self._step(instruction)
            self._refuse_unsound_books(instructions[-1])
            return Playback.of(self.floor, self.table)
        finally:
            await self._leave()

    async def _step(self, instruction: Instruction) -> None:
        try:
            await self._pace(instruction)
            self._watch(instruction)
            if instruction.verb in self._actions:
                await self._actions[instruction.verb](*instruction.arguments)
                self._must_pace = True
            elif instruction.verb in self._looks:
                await self._expect(instruction)
        except Impossible as refusal:
            self._refuse_product_errors(instruction)
            raise CannotDo(instruction, str(refusal), self._picture()) from refusal
        except Failure:
            raise
        except Exception as error:
            sentence = f"the product failed: {describe_error(error)}"
            raise ProductFailed(instruction, sentence, self._picture()) from error
        self._refuse_product_errors(instruction)

    async def _pace(self, instruction: Instruction) -> None:
        pause_ms = PACE_MS if self._must_pace else 0
        if instruction.verb == "wait":
            pause_ms = duration_ms(instruction.arguments[0])
        self._must_pace = False
        if pause_ms:
            await aio.sleep_ms(pause_ms)

    async def _expect(self, instruction: Instruction) -> None:
        look = self._looks[instruction.verb]
        *where, wanted = instruction.arguments or (instruction.verb.split()[1],)
        if instruction.verb in MONEY_LOOKS:
            wanted = _money(cents(wanted))
        found = look(*where)
        left_ms = OFFLINE_GRACE_MS if wanted == "offline" else GRACE_MS
        while found != wanted and left_ms > 0:
            await aio.sleep_ms(LOOK_EVERY_MS)
            left_ms -= LOOK_EVERY_MS
            found = look(*where)
        self._refuse_product_errors(instruction)
        if found != wanted:
            raise Mismatch(instruction, wanted, found, self._picture())

    def _refuse_product_errors(self, instruction: Instruction) -> None:
        """What the code under test let fall is the scenario's failure, whatever else it shows."""
        if self._floor is not None:
            for error in self._floor.product_errors():
                sentence = f"the product failed: {describe_error(error)}"
                raise ProductFailed(instruction, sentence, self._picture()) from error

    def _refuse_unsound_books(self, last: Instruction) -> None:
        unsound = self.floor.unsound_books()
        if unsound:
            raise ProductFailed(last, f"at the end the books are wrong: {unsound}")

    def _picture(self) -> str:
        return self._table.picture() if self._table is not None else ""

    async def _leave(self) -> None:
        floor, self._floor, self._table = self._floor, None, None
        if floor is not None:
            await floor.close()

    def _answer(self) -> str:
        """What the last press or swipe got: a refusal, an answer that is none, or silence."""
        if not self.table.unit.powered:
            return "no answer, the unit has no power"
        answers, refusals = self.table.answers()
        if refusals > self._answers_before[1]:
            return "refused"
        return "accepted" if answers > self._answers_before[0] else "no answer"

    # --- acting -----------------------------------------------------------------------------

    async def _sit_down(self, name: str) -> None:
        await self._leave()
        self._floor = self._new_floor()
        self._table = await self._floor.open_table(name)
        waited_ms = 0
        while self._table.state() != "open" and waited_ms < READY_MAX_MS:
            await aio.sleep_ms(LOOK_EVERY_MS)
            waited_ms += LOOK_EVERY_MS
        if waited_ms >= READY_MAX_MS:
            raise Impossible(f"the table does not open; it is {self._table.state()}")

    async def _place(self, spot: str) -> None:
        self.table.place(sensor_id(spot))

    async def _remove(self, spot: str) -> None:
        self.table.remove(sensor_id(spot))

    async def _press(self, button: str) -> None:
        self._answers_before = self.table.answers()
        self.table.put_finger_on(button)

    async def _key(self, position: str) -> None:
        self.table.turn_key(position)

    async def _swipe(self, card: str) -> None:
        self._answers_before = self.table.answers()
        self.table.swipe(card)

    async def _tamper(self, position: str) -> None:
        self.table.world.tamper(position == "open")

    async def _fault(self, kind: str, part: str) -> None:
        self.table.fault(kind, part)

    async def _power(self, what: str) -> None:
        if what == "cut":
            await self.table.cut_power()
        else:
            await self.table.restore_power()

    async def _link(self, what: str) -> None:
        if what == "cut":
            self.table.cable.pull()
        else:
            self.table.cable.plug()

    async def _set_meter(self, name: str, amount: str) -> None:
        self.floor.set_meter(name, cents(amount))


def _money(amount_cents: int) -> str:
    return f"{amount_cents // 100}.{amount_cents % 100:02d}"
