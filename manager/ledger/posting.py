"""Turns wagers, awards, reseeds and envy into ledger entries that balance.

Knows which account each kind of money moves between, and words the sentence that explains it. The
amounts come from `pricing`; when something is booked is decided by `book`.
"""

from __future__ import annotations

from collections.abc import Iterator

from manager.ledger import accounts
from manager.ledger.entries import Entry, Kind, Origin, Reference, postings
from manager.ledger.pricing import MeterState, Movement, WagerSplit
from manager.money import MICROCENTS_PER_CENT, text_from_cents
from protocol.rows import AwardLine, EnvyLine


def wager_entry(split: WagerSplit, reference: Reference, origin: Origin) -> Entry:
    """Players -> each meter's player part and reserve, and the house's share."""
    moved = [(accounts.PLAYERS, -split.wager_microcents)]
    for share in split.shares:
        moved.append((accounts.meter_player(share.meter_id), share.contribution_microcents))
        moved.append((accounts.reserve(share.meter_id), share.reserve_microcents))
    moved.append((accounts.HOUSE_SHARE, split.house_microcents))
    wager = text_from_cents(split.wager_microcents // MICROCENTS_PER_CENT)
    sentence = f"Wager of {wager} accepted at {_place(reference)}."
    return Entry(Kind.WAGER, reference, sentence, postings(*moved), origin)


def claim_logged_entry(
    lines: tuple[AwardLine, ...], envy: tuple[EnvyLine, ...], reference: Reference, origin: Origin
) -> Entry:
    """No money moves yet; the fixed amounts enter the chain."""
    total = text_from_cents(sum(line.amount_cents for line in lines))
    sentence = f"Claim {reference.claim_number} at {_place(reference)} fixed at {total}."
    detail = {"lines": [list(line) for line in lines], "envy": [list(line) for line in envy]}
    return Entry(Kind.CLAIM_LOGGED, reference, sentence, (), origin, detail)


def award_entries(
    movement: Movement, table_id: str, payee: str, reference: Reference, origin: Origin
) -> Iterator[Entry]:
    """One award, and the reseed that follows a 100 % one."""
    yield _award_entry(movement, table_id, payee, reference, origin)
    if movement.pay.reseeds:
        yield _reseed_entry(movement, reference, origin)


def _award_entry(
    movement: Movement, table_id: str, payee: str, reference: Reference, origin: Origin
) -> Entry:
    pay, amount = movement.pay, movement.amount_cents * MICROCENTS_PER_CENT
    if pay.meter_id:
        source = f"meter {pay.meter_id}"
        moved = [
            (accounts.meter_player(pay.meter_id), -movement.player_microcents),
            (accounts.meter_house(pay.meter_id), -movement.house_microcents),
            (accounts.HOUSE_SHORTFALL, -movement.shortfall_microcents),
        ]
    else:
        source = "the tray"
        moved = [(accounts.tray(table_id), -amount)]
    sentence = (
        f"{pay.hand} at {_place(reference)} pays {text_from_cents(movement.amount_cents)}"
        f" from {source}."
    )
    if movement.shortfall_microcents:
        sentence += " The meter was too small; the house added the rest."
    detail = {
        "amount_cents": movement.amount_cents,
        "hand": pay.hand,
        "percent_ppm": pay.percent_ppm,
        "before": _parts(movement.before),
    }
    return Entry(Kind.AWARD, reference, sentence, postings(*moved, (payee, amount)), origin, detail)


def _reseed_entry(movement: Movement, reference: Reference, origin: Origin) -> Entry:
    meter_id = movement.pay.meter_id
    seed, reserve = movement.seed_microcents, movement.reserve_microcents
    moved = postings(
        (accounts.HOUSE_SEED, -seed),
        (accounts.meter_house(meter_id), seed),
        (accounts.reserve(meter_id), -reserve),
        (accounts.meter_player(meter_id), reserve),
    )
    shown = movement.after.shown_cents if movement.after else 0
    sentence = f"Meter {meter_id} reseeded to {text_from_cents(shown)} with seed and reserve."
    return Entry(Kind.RESEED, reference, sentence, moved, origin, {"after": _parts(movement.after)})


def envy_entry(
    line: EnvyLine, table_id: str, payee: str, reference: Reference, origin: Origin
) -> Entry:
    amount = line.amount_cents * MICROCENTS_PER_CENT
    sentence = f"Envy of {text_from_cents(line.amount_cents)} at {_place(reference)}."
    moved = postings((accounts.tray(table_id), -amount), (payee, amount))
    return Entry(Kind.ENVY, reference, sentence, moved, origin)


def handed_over_entry(owed_microcents: int, reference: Reference, origin: Origin) -> Entry:
    account = accounts.owed(reference.table_id, reference.claim_number)
    amount = text_from_cents(owed_microcents // MICROCENTS_PER_CENT)
    sentence = f"Claim {reference.claim_number} at {_place(reference)}: {amount} handed over."
    moved = postings((account, -owed_microcents), (accounts.PLAYERS, owed_microcents))
    return Entry(Kind.HANDED_OVER, reference, sentence, moved, origin)


def _place(reference: Reference) -> str:
    words = f"{reference.table_id} round {reference.round_number}"
    return f"{words}, {reference.sensor}" if reference.sensor else words


def _parts(state: MeterState | None) -> dict[str, int]:
    """A meter's parts to the micro-cent, so that an amount can be explained from its own entry."""
    if state is None:
        return {}
    return {
        "player_microcents": state.player_microcents,
        "house_microcents": state.house_microcents,
        "reserve_microcents": state.reserve_microcents,
    }
