"""A table made of the core alone, which tells everything that happens to it.

Not a test of its own: the round scripts play on it. Dictionaries are printed sorted, because only
one of the two interpreters keeps their order.
"""

from controller.core import lights
from controller.core.felt.spot import Spot
from controller.core.round import commands, payout
from controller.core.round.decide import RoundState, apply, decide, is_local, table_state
from controller.core.round.guide import Around, guide
from controller.core.round.paying import due_by_seat
from controller.core.round.rules import Game, Hand, Rules
from protocol import numbers

REFERENCE = 700
EMPTY_RAW = 698
CHIP_RAW = 642
READ_EVERY_MS = 10

HANDS = [
    Hand("four-aces", "Four Aces", numbers.PAY_PERCENT, 1000000, "main", 10000),
    Hand("four-of-a-kind", "Four of a Kind", numbers.PAY_PERCENT, 100000, "main", 0),
    Hand("straight-flush", "Straight Flush", numbers.PAY_FOR_ONE, 200, "", 0),
    Hand("three-of-a-kind", "Three of a Kind", numbers.PAY_FOR_ONE, 9, "", 0),
]


class Table:
    def __init__(self, workflow):
        sensors = [str(seat) + "A" for seat in range(1, 8)]
        self.rules = Rules(workflow, sensors, [Game("A", "Four Card", 100, HANDS)], 2500, 500000)
        self.rules.link_up = True
        self.rules.meters_fresh = True
        self.rules.key = numbers.KEY_RUN if workflow == numbers.WORKFLOW_KEYPAD else ""
        self.state = RoundState()
        self.spots = [Spot(sensor) for sensor in sensors]
        self.chips = []
        self.journal = []
        self.now_ms = 0
        self.locked_ms = 0
        self.pass_ms(1000)

    def pass_ms(self, duration_ms):
        """Time passes, and each spot is read again and again."""
        for _ in range(max(1, duration_ms // READ_EVERY_MS)):
            self.now_ms += min(duration_ms, READ_EVERY_MS)
            for spot in self.spots:
                is_chip = spot.sensor in self.chips
                raw = CHIP_RAW if is_chip else EMPTY_RAW
                spot.reading(raw, REFERENCE, is_chip, None, self.now_ms)

    def place(self, sensor):
        self.move(sensor, True)

    def take(self, sensor):
        self.move(sensor, False)

    def move(self, sensor, is_there):
        if is_there:
            self.chips.append(sensor)
        else:
            self.chips.remove(sensor)
        for spot in self.spots:
            if spot.sensor == sensor:
                moved = spot.touched(is_there, self.now_ms)
                print("chip", sensor, "there" if is_there else "gone", "seen at once:", moved)
        self.pass_ms(5)
        came = commands.late(sensor, is_there, self.now_ms)
        self.do(commands.since_lock(came, self.now_ms, self.now_ms - self.locked_ms))

    def start(self):
        self.locked_ms = self.now_ms
        self.do(
            commands.start(
                [(spot.sensor, spot.verdict_at_lock(self.now_ms)) for spot in self.spots]
            )
        )

    def do(self, command):
        print(">", *command)
        events, refusal = decide(self.state, self.rules, command)
        for kind, body in events:
            print("  event", kind, sorted(body.items()))
            if not is_local(kind):
                self.journal.append((kind, body))
            apply(self.state, (kind, body))
        if refusal:
            print("  refused:", refusal)
        now = guide(self.state, self.rules, Around(sorted(self.chips), False, "refused", refusal))
        print("  guide:", now.word, now.kind, now.sentence, now.next_button, now.lit)

    def turn_key(self, position):
        self.rules.key = position
        self.do(commands.key(position))

    def manager_awards(self, meter_cents, role):
        claim = self.state.claim
        lines = payout.price(self.rules, claim.lines, {"main": meter_cents})
        envy = payout.envy_sheet(self.rules, self.state.accepted, claim.lines)
        self.do(commands.award(claim.number, lines, envy, role, claim.frozen))

    def manager_commits(self, win_number):
        claim = self.state.claim
        self.do(commands.committed(claim.number, win_number, claim.award_lines, claim.envy))

    def cut_power(self):
        """Everything is gone but the journal."""
        self.state = rebuilt(self.journal)
        self.locked_ms = self.now_ms - 60000
        print("power cut; rebuilt from", len(self.journal), "events")
        self.do(commands.resume())

    def show(self):
        state = self.state
        phase = table_state(state.phase(), self.rules.link_up, self.rules.stopping_faults)
        print("state", phase, state.stage() or "-", "round", state.round_number)
        print("hands", state.hands, "late", sorted(state.late.items()))
        print("wins", [win.values() for win in state.wins])
        print("paid", state.paid, "due", due_by_seat(state))
        age_ms = self.now_ms - self.locked_ms
        for spot in self.spots:
            light = lights.light_of(spot.sensor, spot.presence, state, age_ms)
            if light != lights.OFF:
                levels = [lights.levels_at(light, t_ms) for t_ms in range(0, 1000, 125)]
                print("light", spot.sensor, light, lights.next_change_ms(light, 130), levels)

    def finish(self):
        same = rebuilt(self.journal).durable_values() == self.state.durable_values()
        print("the journal rebuilds the round:", same)


def rebuilt(journal):
    state = RoundState()
    for event in journal:
        apply(state, event)
    return state
