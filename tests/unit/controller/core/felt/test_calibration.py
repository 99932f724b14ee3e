"""A spot's scale: what is refused, and that a quiet spot is not called noiseless."""

from __future__ import annotations

import pytest

from controller.core.felt.calibration import Calibration
from controller.core.felt.tuning import NOISE_MIN_COUNTS


@pytest.mark.parametrize(
    ("chip_delta", "noise", "raw_max"), [(0, 1, 1023), (-5, 1, 1023), (60, -0.1, 1023), (60, 1, 0)]
)
def test_a_scale_without_sense_is_refused(chip_delta: float, noise: float, raw_max: int) -> None:
    with pytest.raises(ValueError, match="a real scale"):
        Calibration(chip_delta, noise, raw_max)


def test_a_spot_that_reads_one_and_the_same_count_has_the_least_noise() -> None:
    quiet = Calibration(60, 0.0, 1)
    assert quiet.noise == NOISE_MIN_COUNTS
    assert quiet.noise_level() == NOISE_MIN_COUNTS / 60
    assert Calibration(60, 2.0).noise_level() == 2 / 60
