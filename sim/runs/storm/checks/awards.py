"""What a wager brings a meter, and what the awards of one claim are worth and take from it.

The checkers' own rules, of the storm and of the fuzz tests alike, written from the words of the
money document and not from the manager's code. It works on the meters it is given, be they the
books or copies; micro-cents unless a name says cents. Who is paid, and which entries come of it, is
the books' business.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sim.runs.storm.checks.terms import EACH_FULL, EQUAL_SHARE, WHOLE_PPM, HandTerms, MeterTerms

MICRO = 1_000_000


@dataclass
class Meter:
    terms: MeterTerms
    player: int = 0
    house: int = 0
    reserve: int = 0
    contributed: int = 0
    awarded: int = 0
    reseeded: int = 0
    adjusted: int = 0  # by operators
    taken_back: int = 0  # with wins that were reversed

    @property
    def total(self) -> int:
        return self.player + self.house

    def copy(self) -> Meter:
        return Meter(self.terms, self.player, self.house, self.reserve)

    def wager(self, wager_cents: int) -> tuple[int, int]:
        """Takes its shares of one wager: what is shown, and what goes into the reserve."""
        contribution = wager_cents * self.terms.contribution_ppm
        shown = min(contribution, self.room) if self.terms.limit_cents else contribution
        reserve = wager_cents * self.terms.reserve_ppm + contribution - shown
        self.player += shown
        self.contributed += shown
        self.reserve += reserve
        return shown, reserve

    def take_back(self, shown: int, reserve: int) -> None:
        """A wager was given back, and with it these shares."""
        self.player -= shown
        self.contributed -= shown
        self.reserve -= reserve

    @property
    def room(self) -> int:
        """What may still be shown below the limit."""
        return max(0, self.terms.limit_cents * MICRO - self.total)


class Earlier(NamedTuple):
    """What claims of the same round that stand did to a meter."""

    total: int  # before the first of their awards
    emptied: bool  # one of them took all of it


class Paid(NamedTuple):
    """One award: player money first, then the house's, then its pocket; then perhaps a reseed."""

    line: int
    cents: int
    player: int = 0
    house: int = 0
    pocket: int = 0
    reseeds: bool = False
    seed: int = 0
    reserve: int = 0


def pay(
    lines: Sequence[HandTerms],
    meters: Mapping[str, Meter],
    earlier: Mapping[str, Earlier],
    fixed_cents: Sequence[int] | None = None,
) -> list[Paid]:
    """Pays the lines, given in pay order, in the order in which they are booked."""
    names = {terms.meter for terms in lines if terms.meter}
    at_first = {n: earlier[n].total if n in earlier else meters[n].total for n in names}
    emptied = {name for name, before in earlier.items() if before.emptied}
    paid: list[Paid] = []
    for award in _awards(lines, meters):
        terms = lines[award[0]]
        each_cents = _worth_cents(terms, meters, at_first) // len(award)
        for line in award:
            cents = each_cents if fixed_cents is None else fixed_cents[line]
            if terms.meter:
                reseeds = line == _reseeding_line(line, award, lines, meters, emptied)
                paid.append(_take(line, cents, terms, meters, emptied, reseeds))
            else:
                paid.append(Paid(line, cents))
    return paid


def _awards(lines: Sequence[HandTerms], meters: Mapping[str, Meter]) -> Iterator[list[int]]:
    """Each award with its winners: one, unless they share all of a meter."""
    shared: set[str] = set()
    for number, terms in enumerate(lines):
        if not (terms.takes_all and meters[terms.meter].terms.policy == EQUAL_SHARE):
            yield [number]
        elif terms.meter not in shared:
            shared.add(terms.meter)
            yield [n for n, t in enumerate(lines) if t.takes_all and t.meter == terms.meter]


def _worth_cents(terms: HandTerms, meters: Mapping[str, Meter], at_first: Mapping[str, int]) -> int:
    if not terms.percent_ppm:
        return terms.fixed_cents
    as_if_alone = meters[terms.meter].terms.policy == EACH_FULL
    measured = at_first[terms.meter] if as_if_alone else meters[terms.meter].total
    return measured * terms.percent_ppm // WHOLE_PPM // MICRO


def _reseeding_line(
    line: int,
    award: list[int],
    lines: Sequence[HandTerms],
    meters: Mapping[str, Meter],
    emptied: set[str],
) -> int | None:
    """Which line brings the reseed that this award asks for, if it asks for one."""
    name = lines[line].meter
    terms = meters[name].terms
    if terms.posted:
        return None
    if terms.policy == EACH_FULL:
        of_meter = [number for number, each in enumerate(lines) if each.meter == name]
        is_won = any(lines[number].takes_all for number in of_meter)
        return of_meter[-1] if is_won and name not in emptied else None
    return award[-1] if lines[line].takes_all else None


def _take(
    line: int,
    cents: int,
    terms: HandTerms,
    meters: Mapping[str, Meter],
    emptied: set[str],
    reseeds: bool,
) -> Paid:
    meter, wanted = meters[terms.meter], cents * MICRO
    # A posted prize never moves, and what came after a round's winners were paid is not theirs.
    gone = meter.terms.policy == EACH_FULL and terms.meter in emptied and terms.percent_ppm > 0
    drawn = 0 if meter.terms.posted or gone else min(wanted, meter.total)
    player = min(drawn, meter.player)
    house = drawn - player
    meter.player -= player
    meter.house -= house
    meter.awarded += drawn
    seed = meter.terms.seed_cents * MICRO if reseeds else 0
    meter.house += seed
    reserve = meter.reserve if reseeds else 0
    if meter.terms.limit_cents:
        reserve = min(reserve, meter.room)
    meter.player += reserve
    meter.reserve -= reserve
    meter.reseeded += seed + reserve
    return Paid(line, cents, player, house, wanted - drawn, reseeds, seed, reserve)
