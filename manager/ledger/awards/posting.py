"""Turns wagers, awards, reseeds and envy into ledger entries that balance.

Knows which account each kind of money moves between, and words the sentence that explains it. The
amounts come from `pricing`; when something is booked is decided by `book`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any

from kit.words.numbers import money
from manager.ledger.pricing import EACH_FULL, MeterState, Movement, WagerSplit
from manager.ledger.store import accounts
from manager.ledger.store.entries import Entry, EventSource, Kind, Posting, Reference, postings
from manager.money import MICROCENTS_PER_CENT
from protocol.wire.rows import AwardLine, EnvyLine


def wagers_entry(splits: Sequence[WagerSplit], reference: Reference, origin: EventSource) -> Entry:
    """Players -> each meter's player part and reserve, and the house's share.

    One entry for all wagers of a game in a round; the reference names their sensors, in the order
    of the splits.
    """
    if splits.count(splits[0]) == len(splits):
        alike = [splits]
    else:
        alike = [list(group) for _, group in groupby(splits, key=id)]
    moved, overflow = _moved(tuple([(group[0], len(group)) for group in alike]))
    detail: dict[str, Any] = {}
    if overflow:
        detail["overflow"] = dict(overflow)
    if len(alike) > 1:
        # A limit was reached in between: who gave what is said.
        detail["contributions"] = [
            {share.meter_id: share.contribution_microcents for share in split.shares}
            for split in splits
        ]
    return Entry(Kind.WAGER, reference, _wagers_sentence(splits), moved, origin, detail)


@lru_cache(maxsize=1024)  # a table's rounds are split alike until its terms change
def _moved(
    counts: tuple[tuple[WagerSplit, int], ...],
) -> tuple[tuple[Posting, ...], tuple[tuple[str, int], ...]]:
    """The postings of so many wagers of each split, and what ran over each meter's limit."""
    moved: defaultdict[str, int] = defaultdict(int)
    overflow: defaultdict[str, int] = defaultdict(int)
    for split, count in counts:
        # The house's share is what is left, so that the parts are the wager whatever the rates are.
        moved[accounts.PLAYERS] -= split.wager_microcents * count
        for share in split.shares:
            moved[accounts.meter_player(share.meter_id)] += share.contribution_microcents * count
            moved[accounts.reserve(share.meter_id)] += share.reserve_microcents * count
            overflow[share.meter_id] += share.overflow_microcents * count
        moved[accounts.HOUSE_SHARE] += split.house_microcents * count
    over = tuple((meter_id, amount) for meter_id, amount in overflow.items() if amount)
    return postings(*moved.items()), over


def _wagers_sentence(splits: Sequence[WagerSplit]) -> str:
    """Where is said by the reference: most of a ledger are these."""
    return _sentence(splits[0].wager_microcents // MICROCENTS_PER_CENT, len(splits))


@lru_cache(maxsize=1024)
def _sentence(wager_cents: int, count: int) -> str:
    wager = money(wager_cents)
    return f"Wager of {wager}." if count == 1 else f"{count} wagers of {wager}."


def measure(movement: Movement) -> dict[str, int]:
    """What a percentage was measured on, so that its amount can be derived again."""
    if not movement.basis_microcents:
        return {}
    return {"basis_microcents": movement.basis_microcents, "sharers": movement.sharers}


def claim_logged_entry(
    lines: tuple[AwardLine, ...],
    envy: tuple[EnvyLine, ...],
    measures: Mapping[str, Mapping[str, int]],
    reference: Reference,
    origin: EventSource,
) -> Entry:
    """No money moves yet; the fixed amounts enter the chain."""
    total = money(sum(line.amount_cents for line in lines))
    sentence = f"Claim {reference.claim_number} at {_place(reference)} fixed at {total}."
    detail = {
        "lines": [list(line) for line in lines],
        "envy": [list(line) for line in envy],
        "measures": {sensor: dict(values) for sensor, values in measures.items()},
    }
    return Entry(Kind.CLAIM_LOGGED, reference, sentence, (), origin, detail)


def award_entry(
    movement: Movement, table_id: str, payee: str, reference: Reference, origin: EventSource
) -> Entry:
    pay, amount = movement.pay, movement.amount_cents * MICROCENTS_PER_CENT
    if pay.meter_id:
        source = f"meter {pay.meter_id}"
        moved = [
            (accounts.meter_player(pay.meter_id), -movement.player_microcents),
            (accounts.meter_house(pay.meter_id), -movement.house_microcents),
            (_house_pocket(movement), -movement.shortfall_microcents),
        ]
    else:
        source = "the tray"
        moved = [(accounts.tray(table_id), -amount)]
    sentence = (
        f"{pay.hand} at {_place(reference)} pays {money(movement.amount_cents)} from {source}."
    )
    if movement.shortfall_microcents:
        sentence += f" {_why_the_house_pays(movement)}"
    detail: dict[str, Any] = {
        "meter": pay.meter_id,
        "amount_cents": movement.amount_cents,
        "hand": pay.hand,
        "percent_ppm": pay.percent_ppm,
        "before": parts(movement.before),  # enough to derive the amount from this entry alone
    }
    if movement.before is not None:
        detail["policy"] = movement.before.policy
    detail |= measure(movement)
    return Entry(Kind.AWARD, reference, sentence, postings(*moved, (payee, amount)), origin, detail)


def _house_pocket(movement: Movement) -> str:
    # A posted prize is a planned expense, a shortfall is not: the cage accounts for them apart.
    posted = movement.before is not None and movement.before.posted
    return accounts.HOUSE_PRIZES if posted else accounts.HOUSE_SHORTFALL


def _why_the_house_pays(movement: Movement) -> str:
    if movement.before is not None and movement.before.posted:
        return "The house pays its posted prize to each winner."
    if movement.before is not None and movement.before.policy == EACH_FULL:
        return "Each winner is paid in full; the house added what the meter lacked."
    return "The meter was too small; the house added the rest."


def reseed_entry(
    movement: Movement, reference: Reference, origin: EventSource, terms: Mapping[str, Any]
) -> Entry:
    """After a 100 % award; `terms` tells which ones it brought, if any waited for it."""
    meter_id = movement.pay.meter_id
    seed, reserve = movement.seed_microcents, movement.reserve_microcents
    moved = postings(
        (accounts.HOUSE_SEED, -seed),
        (accounts.meter_house(meter_id), seed),
        (accounts.reserve(meter_id), -reserve),
        (accounts.meter_player(meter_id), reserve),
    )
    shown = movement.after.shown_cents if movement.after else 0
    sentence = f"Meter {meter_id} reseeded to {money(shown)} with seed and reserve."
    detail: dict[str, Any] = {"meter": meter_id, "after": parts(movement.after)}
    if terms:
        sentence += " The changed terms are in force from now on."
        detail["terms"] = dict(terms)
    return Entry(Kind.RESEED, reference, sentence, moved, origin, detail)


def envy_entry(
    line: EnvyLine, table_id: str, payee: str, reference: Reference, origin: EventSource
) -> Entry:
    amount = line.amount_cents * MICROCENTS_PER_CENT
    sentence = f"Envy of {money(line.amount_cents)} at {_place(reference)}."
    moved = postings((accounts.tray(table_id), -amount), (payee, amount))
    return Entry(Kind.ENVY, reference, sentence, moved, origin)


def handed_over_entry(owed_microcents: int, reference: Reference, origin: EventSource) -> Entry:
    account = accounts.owed(reference.table_id, reference.claim_number)
    amount = money(owed_microcents // MICROCENTS_PER_CENT)
    sentence = f"Claim {reference.claim_number} at {_place(reference)}: {amount} handed over."
    moved = postings((account, -owed_microcents), (accounts.PLAYERS, owed_microcents))
    return Entry(Kind.HANDED_OVER, reference, sentence, moved, origin)


def given_back_entry(
    set_aside: Iterable[tuple[str, int]], reference: Reference, origin: EventSource
) -> Entry:
    """The opposite of everything that was set aside for the claim; a reseed stays where it is."""
    moved = postings(*((account, -amount) for account, amount in set_aside))
    number = reference.claim_number
    sentence = f"Claim {number} at {_place(reference)} was cancelled; its money goes back."
    return Entry(Kind.GIVEN_BACK, reference, sentence, moved, origin)


def _place(reference: Reference) -> str:
    words = f"{reference.table_id} round {reference.round_number}"
    return f"{words}, {reference.sensor}" if reference.sensor else words


def parts(state: MeterState | None) -> dict[str, int]:
    """A meter's parts to the micro-cent, so that an amount can be explained from its own entry."""
    if state is None:
        return {}
    return {
        "player_microcents": state.player_microcents,
        "house_microcents": state.house_microcents,
        "reserve_microcents": state.reserve_microcents,
    }
