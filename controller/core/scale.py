"""One spot's scale: what a chip and the noise are in its sensing chip's own units.

Above it levels are in chips: 0 is empty felt, 1.0 the chip the tech calibrated with. It knows no
sensing chip; where a tech measured only the empty felt, an MPR121's usual figures stand in.
"""

CHIP_DELTA_DEFAULT = 60
NOISE_DEFAULT = 1.0
NOISE_MIN = 0.4  # Counting in whole steps is noise of its own.
RAW_MAX_DEFAULT = 1023


class Calibration:
    """What was measured for one spot, in the sensing chip's own units."""

    __slots__ = ("chip_delta", "noise", "raw_max")

    def __init__(
        self,
        chip_delta: float = CHIP_DELTA_DEFAULT,
        noise: float = NOISE_DEFAULT,
        raw_max: int = RAW_MAX_DEFAULT,
    ) -> None:
        if chip_delta <= 0 or noise < 0 or raw_max <= 0:
            raise ValueError("A calibration needs a chip that moves the reading and a real scale.")
        self.chip_delta = chip_delta
        self.noise = max(noise, NOISE_MIN)
        self.raw_max = raw_max

    def noise_level(self) -> float:
        return self.noise / self.chip_delta
