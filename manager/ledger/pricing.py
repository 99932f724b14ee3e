"""The arithmetic of meters: contributions, awards, reseeds. Pure, and in integers only.

Works on copies (`MeterState`) and returns new ones, so a quote and a commit run the same code and a
quote can never move money. It alone knows how an award is drawn and what a reseed brings; in which
order several awards are settled is `settling`'s business, accounts and the database are others'.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from manager.money import MICROCENTS_PER_CENT, PARTS_PER_MILLION, MoneyError, whole

SEQUENTIAL = "sequential"  # each award on what the one before it left
EQUAL_SHARE = "equal_share"  # the winners of one 100 % award divide it
EACH_FULL = "each_full"  # every winner as if alone; the house pays what the meter lacks
POLICIES = (SEQUENTIAL, EQUAL_SHARE, EACH_FULL)


@dataclass(frozen=True, slots=True)
class MeterState:
    """One meter at one instant, with the terms that matter for an award.

    Seed is what a reseed brings, not what is left of it. `posted` is a house jackpot: its amount
    is a posted prize that never moves. `full_microcents` is what a round's winners are measured on
    when an earlier claim of the round was already paid in full, `spent` that it emptied the meter.
    """

    meter_id: str
    seed_microcents: int
    player_microcents: int
    house_microcents: int
    reserve_microcents: int
    policy: str = SEQUENTIAL
    posted: bool = False
    limit_microcents: int = 0  # 0 = none
    full_microcents: int | None = None
    spent: bool = False

    def __post_init__(self) -> None:
        for name in ("seed", "player", "house", "reserve", "limit"):
            amount = whole(getattr(self, f"{name}_microcents"), f"{self.meter_id} {name}")
            if amount < 0:
                raise MoneyError(f"{self.meter_id} {name} must not be negative.")

    @property
    def total_microcents(self) -> int:
        return self.player_microcents + self.house_microcents

    @property
    def shown_cents(self) -> int:
        """What the display shows and a 100 % award pays: whole cents, truncated."""
        return self.total_microcents // MICROCENTS_PER_CENT

    @property
    def room_microcents(self) -> int | None:
        """What may still be added before the posted limit; None without a limit."""
        if not self.limit_microcents:
            return None
        return max(0, self.limit_microcents - self.total_microcents)


@dataclass(frozen=True, slots=True)
class Rate:
    """What one meter takes of each wager, in parts per million, and how much it may still take."""

    meter_id: str
    contribution_ppm: int
    reserve_ppm: int
    room_microcents: int | None = None
    overflow_to_house: bool = False


class Share(NamedTuple):
    """A meter's part of a wager; what went over the limit is in the reserve or with the house."""

    meter_id: str
    contribution_microcents: int
    reserve_microcents: int
    overflow_microcents: int = 0


class WagerSplit(NamedTuple):
    """Where one wager goes; the parts add up to the wager exactly."""

    wager_microcents: int
    shares: tuple[Share, ...]
    house_microcents: int


@dataclass(frozen=True, slots=True)
class Pay:
    """What one winning spot is to be paid.

    Either `percent_ppm` of the meter, or the fixed amount when that is zero. A fixed pay without a
    meter comes from the tray.
    """

    sensor: str
    hand: str
    meter_id: str
    percent_ppm: int
    fixed_cents: int

    @property
    def takes_all(self) -> bool:
        return self.percent_ppm == PARTS_PER_MILLION


@dataclass(frozen=True, slots=True)
class Movement:
    """One award carried out on a meter, or a pay from the tray (then no meter is named)."""

    pay: Pay
    amount_cents: int
    player_microcents: int = 0
    house_microcents: int = 0
    shortfall_microcents: int = 0
    seed_microcents: int = 0
    reserve_microcents: int = 0
    before: MeterState | None = None
    after: MeterState | None = None
    reseeds: bool = False
    basis_microcents: int = 0  # what a percentage was measured on; 0 when the amount was given
    sharers: int = 1  # how many divide it


def split_wager(wager_cents: int, rates: Iterable[Rate]) -> WagerSplit:
    """Divides one wager: exact, because a cent times parts per million is micro-cents."""
    if whole(wager_cents, "The wager") <= 0:
        raise MoneyError("A wager must be at least one cent.")
    shares = tuple(_share(wager_cents, rate) for rate in rates)
    wager_microcents = wager_cents * MICROCENTS_PER_CENT
    taken = sum(share.contribution_microcents + share.reserve_microcents for share in shares)
    if taken > wager_microcents:
        raise MoneyError("The meters together take more than the whole wager.")
    return WagerSplit(wager_microcents, shares, wager_microcents - taken)


def _share(wager_cents: int, rate: Rate) -> Share:
    # Cents times parts per million are micro-cents: no division, so nothing is ever rounded.
    contribution = wager_cents * whole(rate.contribution_ppm, "A contribution rate")
    reserve = wager_cents * whole(rate.reserve_ppm, "A reserve rate")
    room = contribution if rate.room_microcents is None else rate.room_microcents
    # Over the posted limit the player's money is still the player's: it waits in the reserve for
    # the next jackpot, unless the house's terms say that it may keep it.
    overflow = max(0, contribution - room)
    to_reserve = 0 if rate.overflow_to_house else overflow
    return Share(rate.meter_id, contribution - overflow, reserve + to_reserve, overflow)


def percent_of(total_microcents: int, percent_ppm: int) -> int:
    """Whole cents, truncated; the rest stays on the meter."""
    share = total_microcents * whole(percent_ppm, "A percentage")
    # Multiplied first: dividing first would lose up to a cent of every percentage.
    return share // PARTS_PER_MILLION // MICROCENTS_PER_CENT


def carry_out(
    pay: Pay, amount_cents: int, meters: Mapping[str, MeterState], reseeds: bool
) -> Movement:
    """Pays exactly `amount_cents`: player money first, then the house's, then out of its pocket."""
    if not pay.meter_id:
        return Movement(pay, amount_cents)
    before = meters[pay.meter_id]
    wanted = whole(amount_cents, "An award") * MICROCENTS_PER_CENT
    # A posted prize never moves. And after another winner of this round has emptied the meter, what
    # lies there now is the next jackpot's seed, which this round did not win.
    untouched = before.posted or (before.spent and pay.percent_ppm > 0)
    drawable = 0 if untouched else wanted
    # The players' money goes first, so that what is left of the seed can be told at any time.
    player = min(drawable, before.player_microcents)
    house = min(drawable - player, before.house_microcents)
    left = replace(
        before,
        player_microcents=before.player_microcents - player,
        house_microcents=before.house_microcents - house,
    )
    seed, reserve = _reseed(left) if reseeds else (0, 0)
    after = replace(
        left,
        player_microcents=left.player_microcents + reserve,
        house_microcents=left.house_microcents + seed,
        reserve_microcents=left.reserve_microcents - reserve,
    )
    shortfall = wanted - player - house
    return Movement(
        pay, amount_cents, player, house, shortfall, seed, reserve, before, after, reseeds
    )


def _reseed(left: MeterState) -> tuple[int, int]:
    """After a 100 % award: the seed from the house and the reserve, as far as the limit lets it."""
    seed, reserve = left.seed_microcents, left.reserve_microcents
    if left.limit_microcents:
        # The seed is a promise and comes whole; only the reserve waits for room below the limit.
        room = left.limit_microcents - left.total_microcents - seed
        reserve = min(reserve, max(0, room))
    return seed, reserve
