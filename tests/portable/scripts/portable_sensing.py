"""What the sensing core makes of chips, hands, liquid and drift, told line by line."""

from controller.core.felt.spot import Calibration, Spot
from controller.core.felt.surface import Surface

REFERENCE = 700
CHIP = 60
READ_EVERY_MS = 10
SEATS = (1, 2, 3, 4, 5)


class Felt:
    """Five spots, levels in counts below the reference, a little noise from a small generator."""

    def __init__(self):
        self.surface = Surface()
        self.spots = [Spot(str(seat) + "A", Calibration(CHIP, 1.0)) for seat in SEATS]
        for spot in self.spots:
            self.surface.add(spot)
        self.levels = [0] * len(SEATS)
        self.now_ms = 0
        self.chance = 12345
        self.told = [""] * len(SEATS)
        self.may_learn = True

    def noise(self):
        self.chance = (self.chance * 1103515245 + 12345) % 2147483648
        return self.chance // 65536 % 3 - 1

    def pass_ms(self, duration_ms):
        for _ in range(duration_ms // READ_EVERY_MS):
            self.now_ms += READ_EVERY_MS
            for index, spot in enumerate(self.spots):
                raw = REFERENCE - int(self.levels[index]) + self.noise()
                is_touched = self.levels[index] > 12
                spot.touched(is_touched, self.now_ms, True)
                spot.reading(raw, REFERENCE, is_touched, None, self.now_ms)
            self.surface.look(self.now_ms, self.may_learn)
            self.tell()

    def tell(self):
        for index, spot in enumerate(self.spots):
            now = spot.presence + " " + str(spot.confirmed) + " " + spot.reason
            if now != self.told[index]:
                self.told[index] = now
                began_ms = self.now_ms - spot.classifier.began_ms if spot.confirmed else 0
                print(self.now_ms, spot.sensor, now, began_ms)

    def ramp(self, seats, level, duration_ms):
        starts = [self.levels[seat - 1] for seat in seats]
        steps = duration_ms // READ_EVERY_MS
        for step in range(1, steps + 1):
            for start, seat in zip(starts, seats):
                self.levels[seat - 1] = start + (level - start) * step / steps
            self.pass_ms(READ_EVERY_MS)

    def verdicts(self):
        print(self.now_ms, [spot.verdict_at_lock(self.now_ms) for spot in self.spots])


async def main():
    felt = Felt()
    felt.pass_ms(3000)
    print("a chip falls on 1, a hand puts one on 2, half a chip on 3, a hand rests on 4")
    felt.levels[0] = CHIP
    felt.pass_ms(200)
    felt.verdicts()
    felt.ramp([2], 150, 100)
    felt.ramp([2], 62, 100)
    felt.ramp([3], 90, 100)
    felt.ramp([3], 33, 100)
    felt.ramp([4], 300, 100)
    felt.pass_ms(1500)
    felt.verdicts()
    felt.levels = [0] * len(SEATS)
    felt.pass_ms(4000)
    print("liquid runs over 2, 3 and 4, and a chip falls on 1 beside it")
    felt.ramp([2, 3, 4], 70, 1500)
    felt.levels[0] = CHIP
    felt.pass_ms(2000)
    print("spill", felt.surface.is_wet)
    felt.verdicts()
    felt.levels = [0] * len(SEATS)
    felt.pass_ms(15000)
    print("spill", felt.surface.is_wet)
    print("the room warms up, and one spot reads above its reference")
    for step in range(10):
        felt.levels = [step, step, step, step, -3]
        felt.pass_ms(20000)
    felt.verdicts()
    for spot in felt.spots:
        print("zero", spot.sensor, round(spot.zero * 100))
    felt.spots[0].fault("the bus is stuck", felt.now_ms)
    felt.verdicts()
