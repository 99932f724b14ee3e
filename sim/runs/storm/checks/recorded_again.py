"""What recording a reversed win again moves, by the words of the money document.

It counts as of the moment of the table's own win: the amounts stay, and they are drawn from the
parts of the meter as they were then, with the reserve of then, where all of that is still there.
Otherwise they are drawn from the meter as it is. Micro-cents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sim.runs.storm.checks.awards import Earlier, Meter, Paid, pay
from sim.runs.storm.checks.terms import HandTerms


class Parts(NamedTuple):
    """A meter's money at one moment."""

    player: int
    house: int
    reserve: int


def parts(meter: Meter) -> Parts:
    return Parts(meter.player, meter.house, meter.reserve)


def drawn_as_then(
    lines: Sequence[HandTerms],
    amounts_cents: Sequence[int],
    then: Mapping[str, Parts],
    meters: Mapping[str, Meter],
    earlier: Mapping[str, Earlier],
) -> tuple[list[Paid], dict[str, int]]:
    """The awards in the order they are booked, and each meter as it counts before them."""
    of_then = {name: Meter(meters[name].terms, *kept) for name, kept in then.items()}
    before = {name: meter.total for name, meter in of_then.items()}
    paid = pay(lines, of_then, earlier, amounts_cents)
    if _is_there(paid, lines, {name: parts(meters[name]) for name in then}):
        return paid, before
    of_now = {name: meters[name].copy() for name in then}
    before = {name: meter.total for name, meter in of_now.items()}
    return pay(lines, of_now, earlier, amounts_cents), before


def _is_there(paid: Sequence[Paid], lines: Sequence[HandTerms], left: Mapping[str, Parts]) -> bool:
    money = dict(left)
    for each in paid:
        name = lines[each.line].meter
        if not name:
            continue
        player, house, reserve = money[name]
        after = Parts(player - each.player, house - each.house, reserve - each.reserve)
        if min(after) < 0:
            return False
        money[name] = Parts(after.player + each.reserve, after.house + each.seed, after.reserve)
    return True


def take(meter: Meter, paid: Paid) -> None:
    """One of these awards leaves the meter, and perhaps reseeds it."""
    meter.player += paid.reserve - paid.player
    meter.house += paid.seed - paid.house
    meter.reserve -= paid.reserve
    meter.awarded += paid.player + paid.house
    meter.reseeded += paid.seed + paid.reserve
