"""In which order several awards are settled and what each is worth, by the meters' policies.

Pure. `sequential` takes each award on what the one before it left. Under `equal_share` the winners
of a 100 % award are one award, at the place of the first of them. Under `each_full` everyone is
measured on the meter as it stood before the first, and it is reseeded once, after the last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from manager.ledger.pricing import (
    EACH_FULL,
    EQUAL_SHARE,
    MeterState,
    Movement,
    Pay,
    carry_out,
    percent_of,
)
from manager.money import whole


def settle(
    pays: Sequence[Pay], meters: Mapping[str, MeterState], fixed: Sequence[int] | None = None
) -> tuple[list[Movement], dict[str, MeterState]]:
    """Carries out `pays`, given in pay order; the movements come in the order they are booked.

    Amounts come from the meters as they are at that instant, or are the ones already `fixed`.
    """
    settling = _Settling(pays, dict(meters), fixed)
    movements = [settling.take(index) for index in settling.order()]
    return movements, settling.meters


@dataclass
class _Settling:
    pays: Sequence[Pay]
    meters: dict[str, MeterState]
    fixed: Sequence[int] | None
    bases: dict[str, int] = field(default_factory=dict)
    shares: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # What everyone is measured on under `each_full`. An earlier claim of the same round may
        # have drawn on the meter already: its winners and these are winners of one round.
        for meter_id, state in self.meters.items():
            full = state.full_microcents
            self.bases[meter_id] = state.total_microcents if full is None else full

    def order(self) -> list[int]:
        """Pay order, with the sharers of one award moved up to the first of them."""
        order: list[int] = []
        for index in range(len(self.pays)):
            if index not in order:
                order.extend(self._sharers(index) or [index])
        return order

    def take(self, index: int) -> Movement:
        pay = self.pays[index]
        amount_cents = self._worth(index) if self.fixed is None else self.fixed[index]
        # A frozen amount was measured when it was frozen, and that entry tells on what.
        basis = self._basis(pay) if self.fixed is None else 0
        movement = carry_out(pay, amount_cents, self.meters, self._reseeds(index))
        sharers = len(self._sharers(index)) or 1
        movement = replace(movement, basis_microcents=basis, sharers=sharers)
        if movement.after is not None:
            self.meters[pay.meter_id] = movement.after
        return movement

    def _worth(self, index: int) -> int:
        pay = self.pays[index]
        if pay.percent_ppm == 0:
            return whole(pay.fixed_cents, "A fixed pay")
        state = self.meters[pay.meter_id]
        sharers = self._sharers(index)
        if sharers:
            # Equal whole cents; what does not divide stays on the meter. The amount is kept at the
            # first sharer, because each of them draws on the meter before the next is priced.
            self.shares.setdefault(pay.meter_id, state.total_microcents)
        return percent_of(self._basis(pay), pay.percent_ppm) // (len(sharers) or 1)

    def _basis(self, pay: Pay) -> int:
        """What the percentage is taken of."""
        if pay.percent_ppm == 0:
            return 0
        state = self.meters[pay.meter_id]
        if state.posted or state.policy == EACH_FULL:
            return self.bases[pay.meter_id]
        if pay.takes_all and pay.meter_id in self.shares:
            return self.shares[pay.meter_id]
        return state.total_microcents

    def _sharers(self, index: int) -> list[int]:
        """The pays that divide this one's award between them; none when it is not divided."""
        pay = self.pays[index]
        if not pay.takes_all or self.meters[pay.meter_id].policy != EQUAL_SHARE:
            return []
        return self._all_of(pay.meter_id)

    def _all_of(self, meter_id: str) -> list[int]:
        return [i for i, p in enumerate(self.pays) if p.takes_all and p.meter_id == meter_id]

    def _reseeds(self, index: int) -> bool:
        pay = self.pays[index]
        if not pay.meter_id or not self._all_of(pay.meter_id):
            return False
        state = self.meters[pay.meter_id]
        # A posted prize has no seed to bring back, and a meter that this round has emptied before
        # was reseeded then.
        if state.posted or state.spent:
            return False
        # Reseeding earlier than after the last of them would pay one winner from the next jackpot.
        if state.policy == EACH_FULL:
            return index == max(i for i, p in enumerate(self.pays) if p.meter_id == pay.meter_id)
        if state.policy == EQUAL_SHARE:
            return index == self._all_of(pay.meter_id)[-1]
        return pay.takes_all
