"""The arithmetic of meters: contributions, awards, reseeds. Pure, and in integers only.

Works on copies (`MeterState`) and returns new ones, so a quote and a commit run the same code and a
quote can never move money. It alone knows how an award is drawn and what a reseed brings; accounts,
tables, rounds and the database are not known here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from manager.money import MICROCENTS_PER_CENT, PARTS_PER_MILLION, MoneyError, whole


@dataclass(frozen=True, slots=True)
class MeterState:
    """One meter at one instant. Seed is what a reseed brings, not what is left of it."""

    meter_id: str
    seed_microcents: int
    player_microcents: int
    house_microcents: int
    reserve_microcents: int

    def __post_init__(self) -> None:
        for name in ("seed", "player", "house", "reserve"):
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


@dataclass(frozen=True, slots=True)
class Rate:
    """What one meter takes of each wager, in parts per million."""

    meter_id: str
    contribution_ppm: int
    reserve_ppm: int


@dataclass(frozen=True, slots=True)
class Share:
    meter_id: str
    contribution_microcents: int
    reserve_microcents: int


@dataclass(frozen=True, slots=True)
class WagerSplit:
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
    def reseeds(self) -> bool:
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


def split_wager(wager_cents: int, rates: Iterable[Rate]) -> WagerSplit:
    """Divides one wager: exact, because a cent times parts per million is micro-cents."""
    if whole(wager_cents, "The wager") <= 0:
        raise MoneyError("A wager must be at least one cent.")
    shares = tuple(
        Share(
            rate.meter_id,
            wager_cents * whole(rate.contribution_ppm, "A contribution rate"),
            wager_cents * whole(rate.reserve_ppm, "A reserve rate"),
        )
        for rate in rates
    )
    wager_microcents = wager_cents * MICROCENTS_PER_CENT
    taken = sum(share.contribution_microcents + share.reserve_microcents for share in shares)
    if taken > wager_microcents:
        raise MoneyError("The meters together take more than the whole wager.")
    return WagerSplit(wager_microcents, shares, wager_microcents - taken)


def contribute(state: MeterState, share: Share) -> MeterState:
    return replace(
        state,
        player_microcents=state.player_microcents + share.contribution_microcents,
        reserve_microcents=state.reserve_microcents + share.reserve_microcents,
    )


def amount_of(pay: Pay, meters: Mapping[str, MeterState]) -> int:
    """The cents this pay is worth now. A percentage is truncated; the rest stays on the meter."""
    if pay.percent_ppm == 0:
        return whole(pay.fixed_cents, "A fixed pay")
    share = meters[pay.meter_id].total_microcents * whole(pay.percent_ppm, "A percentage")
    return share // PARTS_PER_MILLION // MICROCENTS_PER_CENT


def carry_out(pay: Pay, amount_cents: int, meters: Mapping[str, MeterState]) -> Movement:
    """Pays exactly `amount_cents`: player money first, then the house's, then out of its pocket."""
    if not pay.meter_id:
        return Movement(pay, amount_cents)
    before = meters[pay.meter_id]
    wanted = whole(amount_cents, "An award") * MICROCENTS_PER_CENT
    player = min(wanted, before.player_microcents)
    house = min(wanted - player, before.house_microcents)
    seed, reserve = _reseed(before) if pay.reseeds else (0, 0)
    after = replace(
        before,
        player_microcents=before.player_microcents - player + reserve,
        house_microcents=before.house_microcents - house + seed,
        reserve_microcents=before.reserve_microcents - reserve,
    )
    shortfall = wanted - player - house
    return Movement(
        pay, amount_cents, player, house, shortfall, seed, reserve, before=before, after=after
    )


def _reseed(state: MeterState) -> tuple[int, int]:
    """After a 100 % award: the seed from the house and the whole reserve, once."""
    return state.seed_microcents, state.reserve_microcents


def settle(
    pays: Sequence[Pay], meters: Mapping[str, MeterState], fixed: Sequence[int] | None = None
) -> tuple[list[Movement], dict[str, MeterState]]:
    """Carries out `pays` in the order given, each on what the one before it left.

    Amounts come from the meters as they are at that instant, or are the ones already `fixed`.
    """
    state = dict(meters)
    movements: list[Movement] = []
    for index, pay in enumerate(pays):
        amount_cents = amount_of(pay, state) if fixed is None else fixed[index]
        movement = carry_out(pay, amount_cents, state)
        if movement.after is not None:
            state[pay.meter_id] = movement.after
        movements.append(movement)
    return movements, state
