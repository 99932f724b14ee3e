"""One spot's scale: what a chip and the noise are in its sensing IC's own units.

Above it levels are in chips: 0 is empty felt, 1.0 the chip the tech calibrated with. It knows no
sensing IC; where a tech measured only the empty felt, an MPR121's usual figures stand in.
"""

from controller.core.felt import tuning


class Calibration:
    """What was measured for one spot, in the sensing IC's own units."""

    __slots__ = ("chip_delta", "noise", "raw_max")

    def __init__(
        self,
        chip_delta: float = tuning.CHIP_DELTA_DEFAULT_COUNTS,
        noise: float = tuning.NOISE_DEFAULT_COUNTS,
        raw_max: int = tuning.RAW_MAX_DEFAULT_COUNTS,
    ) -> None:
        if chip_delta <= 0 or noise < 0 or raw_max <= 0:
            raise ValueError("A calibration needs a chip that moves the reading and a real scale.")
        self.chip_delta = chip_delta
        # A spot that reads one and the same count looks noiseless; the next count would then be a
        # movement of infinitely many noises.
        self.noise = max(noise, tuning.NOISE_MIN_COUNTS)
        self.raw_max = raw_max

    def noise_level(self) -> float:
        """The noise in chips, the unit of everything above."""
        return self.noise / self.chip_delta
