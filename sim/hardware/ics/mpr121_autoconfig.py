"""MPR121 charge arithmetic and its automatic configuration search.

It knows how charge current and time scale an electrode's reading and which pair the IC would pick
for a target. When the search runs and which flags it raises is the IC's business.
"""

from __future__ import annotations

from dataclasses import dataclass

from sim.hardware.ics.mpr121_electrode import COUNTS_MAX

# Inputs are the counts read at the reset current (16 uA) with the shortest charge (0.5 us).
REFERENCE_CURRENT_UA = 16
CURRENT_MAX_UA = 63
TIME_CODE_MAX = 7

FRONT_END_1, FRONT_END_2 = 0x5C, 0x5D
CURRENTS, TIMES = 0x5F, 0x6C


@dataclass(frozen=True)
class Charge:
    """Current in uA and the CDT code: 0 off, then 0.5 us doubling with each step."""

    current_ua: int
    time_code: int


@dataclass(frozen=True)
class Limits:
    """USL, LSL and TL: the eight high bits of 10-bit counts."""

    upper: int
    lower: int
    target: int

    def hold(self, counts: int) -> bool:
        return self.lower * 4 <= counts <= self.upper * 4


def scale(input_counts: int, charge: Charge) -> int:
    """The reading at this charge; the converter ends at full scale."""
    if charge.time_code == 0:
        return 0
    factor = charge.current_ua << (charge.time_code - 1)
    return min(COUNTS_MAX, input_counts * factor // REFERENCE_CURRENT_UA)


def charge_in(registers: bytearray, channel: int) -> Charge:
    """The channel's own charge, or the one of all channels where it has none."""
    own_current = registers[CURRENTS + channel] & 0x3F
    own_time = registers[TIMES + channel // 2] >> _time_shift(channel) & 7
    return Charge(
        own_current or registers[FRONT_END_1] & 0x3F, own_time or registers[FRONT_END_2] >> 5
    )


def write_charge(registers: bytearray, channel: int, charge: Charge) -> None:
    registers[CURRENTS + channel] = charge.current_ua
    times = registers[TIMES + channel // 2] & ~(7 << _time_shift(channel))
    registers[TIMES + channel // 2] = times | charge.time_code << _time_shift(channel)


def _time_shift(channel: int) -> int:
    return 4 if channel % 2 else 0


def search(input_counts: int, limits: Limits, fixed_time_code: int | None) -> Charge | None:
    """The charge nearest to the target with the shortest time, or None: the channel failed."""
    codes = range(1, TIME_CODE_MAX + 1) if fixed_time_code is None else (fixed_time_code,)
    for time_code in codes:
        charge = _nearest(input_counts, limits.target * 4, time_code)
        if charge is not None and limits.hold(scale(input_counts, charge)):
            return charge
    return None


def _nearest(input_counts: int, target: int, time_code: int) -> Charge | None:
    counts_per_microampere = (input_counts << max(0, time_code - 1)) / REFERENCE_CURRENT_UA
    if time_code == 0 or counts_per_microampere == 0:
        return None
    current_ua = round(target / counts_per_microampere)
    return Charge(current_ua, time_code) if 1 <= current_ua <= CURRENT_MAX_UA else None
