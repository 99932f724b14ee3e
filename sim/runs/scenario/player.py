"""Plays a scenario's instructions on a simulated floor and compares what must be with what is.

It acts only through the world (chips, fingers, keys, cards, cables) and looks only where a person
could: the lights through the lamp IC, the round on the dealer's panel, the money at the manager.
Between two actions a person takes PACE_MS, unless a `wait` says otherwise; an expectation that is
not yet met gets GRACE_MS to come true. The first `table` opens the floor, each further one another
table of it; a line happens at the first unless it begins with a table's number.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from hal import aio
from manager.money import text_from_cents
from sim.floor import figures, looks
from sim.floor.floor import Floor, FloorTable, Impossible, back_out_claim, possible, void_game
from sim.floor.named_faults import strike
from sim.runs.scenario import shuffler_acts
from sim.runs.scenario.language import Instruction, cents, duration_ms, sensor_id
from sim.runs.scenario.playback import Playback
from sim.runs.scenario.verdict import CannotDo, Failure, Mismatch, ProductFailed, describe_error

PACE_MS = 400
GRACE_MS = 2000
# A pulled cable is noticed by silence alone, so a table is known to be offline only after 5 s.
OFFLINE_GRACE_MS = 7000
# A text display turns its pages, and what is looked for may stand on the last of them.
TEXT_GRACE_MS = 12_000
LOOK_EVERY_MS = 20
READY_MAX_MS = 10_000
MONEY_LOOKS = ("expect award", "expect envy", "expect due", "expect meter")
# The words are part of what is there.
WORD_LOOKS = ("expect title", "expect sentence", "expect text")

Watcher = Callable[[Instruction], None]


class Player:
    """`watch` is told each instruction before it is played, `at_end` the floor as it is left."""

    def __init__(
        self,
        new_floor: Callable[[], Floor],
        watch: Watcher = lambda _: None,
        at_end: Callable[[Floor], None] = lambda _: None,
    ) -> None:
        self._new_floor = new_floor
        self._watch = watch
        self._at_end = at_end
        self._floor: Floor | None = None
        self._tables: list[FloorTable] = []
        self._here = 0  # the table of the line that is being played
        self._answers_before: dict[int, tuple[int, int]] = {}
        self._must_pace = False
        self._acts: dict[str, Callable[..., None]] = {
            "place": lambda spot: self.table.place(sensor_id(spot)),
            "remove": lambda spot: self.table.remove(sensor_id(spot)),
            "press": self._press,
            "find": lambda seat: self._press(f"FIND {seat}"),
            "key": lambda position: self.table.turn_key(position),
            "swipe": self._swipe,
            "tamper": self._tamper,
            "fault": self._fault,
            "link": self._link,
            "meter": lambda name, amount: self.floor.set_meter(name, cents(amount)),
            "shuffler deals": lambda *told: shuffler_acts.deals(self.table, *told),
            "shuffler shows": lambda *told: shuffler_acts.shows(self.table, *told),
            "shuffler": lambda act: shuffler_acts.misbehaves(self.table, act),
            "back out claim": lambda number: back_out_claim(self.table, int(number)),
            "void game": lambda number: void_game(self.table, int(number)),
            "reverse win": lambda number: self.floor.reverse_win(int(number)),
        }
        self._waits: dict[str, Callable[[str], Awaitable[None]]] = {
            "table": self._sit_down,
            "power": self._power,
        }
        self._looks: dict[str, Callable[..., str]] = {
            "expect state": lambda: self.table.state(),
            "expect light": lambda spot: self.table.light(sensor_id(spot)),
            "expect award": lambda seat: text_from_cents(self.table.award_cents(sensor_id(seat))),
            "expect logged": lambda seat: text_from_cents(
                figures.logged_cents(
                    self.table.manager.app, self.table.config.table_id, sensor_id(seat)
                )
            ),
            "expect envy": lambda seat: text_from_cents(self.table.envy_cents(sensor_id(seat))),
            "expect due": lambda seat: text_from_cents(
                looks.due_cents(self.table.unit.controller, int(seat))
            ),
            "expect meter": lambda name: text_from_cents(self.floor.meter_cents(name)),
            "expect wagers": lambda: str(self.table.wager_count()),
            "expect refused": lambda: self._answer(),
            "expect accepted": lambda: self._answer(),
            "expect title": lambda: looks.title(self.table.unit.controller),
            "expect sentence": lambda: looks.sentence(self.table.unit.controller),
            "expect text": lambda: looks.text(self.table.world),
            "expect check": lambda spot: looks.check(self.table.unit.controller, sensor_id(spot)),
            "expect dealt": lambda: looks.dealt(self.table.unit.controller),
            "expect cover-all": lambda: looks.cover_all(self.table.unit.controller),
            "expect late": lambda spot: looks.late(self.table.unit.controller, sensor_id(spot)),
        }

    @property
    def floor(self) -> Floor:
        assert self._floor is not None, "the grammar makes `table` the first line"
        return self._floor

    @property
    def table(self) -> FloorTable:
        return self._tables[self._here]

    # --- playing ----------------------------------------------------------------------------

    async def play(self, instructions: list[Instruction]) -> Playback:
        """Plays all lines; raises a Failure at the first that does not go as written."""
        try:
            for instruction in instructions:
                await self._step(instruction)
            self._refuse_unsound_books(instructions[-1])
            return Playback.of(self.floor, self._tables)
        finally:
            await self._leave()

    async def _step(self, instruction: Instruction) -> None:
        self._here = instruction.table_number - 1
        try:
            await self._pace(instruction)
            self._watch(instruction)
            if instruction.verb in self._acts:
                self._acts[instruction.verb](*instruction.arguments)
                self._must_pace = True
            elif instruction.verb in self._waits:
                await self._waits[instruction.verb](*instruction.arguments)
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
            wanted = text_from_cents(cents(wanted))
        found = look(*where)
        left_ms = OFFLINE_GRACE_MS if wanted == "offline" else GRACE_MS
        if instruction.verb == "expect text":
            left_ms = TEXT_GRACE_MS
        while not _is_met(instruction, wanted, found) and left_ms > 0:
            await aio.sleep_ms(LOOK_EVERY_MS)
            left_ms -= LOOK_EVERY_MS
            found = look(*where)
        self._refuse_product_errors(instruction)
        if not _is_met(instruction, wanted, found):
            raise Mismatch(instruction, wanted, found, self._picture())

    def _refuse_product_errors(self, instruction: Instruction) -> None:
        """What the code under test let fall is the scenario's failure, whatever else it shows."""
        if self._floor is not None:
            for error in self._floor.product_errors():
                sentence = f"the product failed: {describe_error(error)}"
                raise ProductFailed(instruction, sentence, self._picture()) from error
            differs = self._floor.books_differ()
            if differs:
                raise ProductFailed(instruction, f"the books are no fold of their log: {differs}")

    def _refuse_unsound_books(self, last: Instruction) -> None:
        unsound = self.floor.unsound_books()
        if unsound:
            raise ProductFailed(last, f"at the end the books are wrong: {unsound}")

    def _picture(self) -> str:
        return self.table.picture() if self._here < len(self._tables) else ""

    async def _leave(self) -> None:
        floor, self._floor, self._tables = self._floor, None, []
        if floor is not None:
            self._at_end(floor)
            await floor.close()

    def _answer(self) -> str:
        """What the last press or swipe got: a refusal, an answer that is none, or silence."""
        if not self.table.unit.powered:
            return "no answer, the unit has no power"
        answers, refusals = self.table.answers()
        answers_before, refusals_before = self._answers_before.get(self._here, (0, 0))
        if refusals > refusals_before:
            return "refused"
        return "accepted" if answers > answers_before else "no answer"

    # --- acting -----------------------------------------------------------------------------

    async def _sit_down(self, name: str) -> None:
        if self._floor is None:
            self._floor = self._new_floor()
        table = await self._floor.open_table(name)
        self._tables.append(table)
        waited_ms = 0
        while table.state() != "open" and waited_ms < READY_MAX_MS:
            await aio.sleep_ms(LOOK_EVERY_MS)
            waited_ms += LOOK_EVERY_MS
        if waited_ms >= READY_MAX_MS:
            raise Impossible(f"the table does not open; it is {table.state()}")

    def _press(self, button: str) -> None:
        self._answers_before[self._here] = self.table.answers()
        self.table.put_finger_on(button)

    def _swipe(self, card: str) -> None:
        self._answers_before[self._here] = self.table.answers()
        self.table.swipe(card)

    def _tamper(self, position: str) -> None:
        self.table.world.controls.tamper(position == "open")

    def _fault(self, kind: str, part: str) -> None:
        with possible():
            strike(self.table.world.faults, self.table.config.board, kind, part)

    async def _power(self, what: str) -> None:
        if what == "cut":
            await self.table.cut_power()
        else:
            await self.table.restore_power()

    def _link(self, what: str) -> None:
        if what == "cut":
            self.table.cable.pull()
        else:
            self.table.cable.plug()


def _is_met(instruction: Instruction, wanted: str, found: str) -> bool:
    return wanted in found if instruction.verb in WORD_LOOKS else found == wanted
