"""How a running jackpot's terms change: announced now, in force from its next reseed on.

Also the limit, which may be set at once but never below what is shown (WAC 230-15-685), the stop
that lets no game start, and closing for good. Every change is a transaction in the chain, signed;
how the jackpot stands is kept beside it. Two people sign everything but a stop.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from kit.words.numbers import money
from manager.ledger.book import Book
from manager.ledger.corrections.reasons import Signed, StopReason
from manager.ledger.errors import LedgerError
from manager.ledger.jackpots import Standing
from manager.ledger.store import accounts
from manager.ledger.store.entries import Entry, Kind, Reference, postings
from manager.ledger.terms import CHANGEABLE, Jackpot
from manager.money import MICROCENTS_PER_CENT, PARTS_PER_MILLION

_CHANGE, _LIMIT, _CLOSE, _RESUME = "change", "limit", "close", "resume"


def change_terms(book: Book, meter_id: str, changes: Mapping[str, Any], signed: Signed) -> Jackpot:
    """Terms that wait for the next reseed; a house jackpot, which has none, changes at once."""
    signed.require_two("A change of terms")
    with book.store.transaction():
        standing = _open_jackpot(book, meter_id)
        wanted = _changed(standing, changes)
        if book.claims.frozen_unapplied({meter_id}):
            raise LedgerError(f"A fixed win waits to be paid from jackpot {meter_id}.")
        _refuse_too_much(book, wanted)
        at_once = wanted.is_house
        if at_once:
            _refuse_play(book, meter_id)
        when = "at once" if at_once else "from the next reseed on"
        sentence = f"Terms of jackpot {meter_id} changed by {signed.names}, in force {when}."
        detail = {"meter": meter_id, "to": asdict(wanted), "at_once": at_once}
        moved = _posted_change(book, wanted) if at_once else []
        _append(book, Kind.TERMS_CHANGED, sentence, detail, signed, _CHANGE, moved)
        terms, pending = (wanted, None) if at_once else (standing.terms, wanted)
        book.jackpots.keep(meter_id, replace(standing, terms=terms, pending=pending))
    return wanted


def set_limit(book: Book, meter_id: str, limit_cents: int, signed: Signed) -> None:
    """The highest amount to be shown, 0 for none; at least what is shown now."""
    signed.require_two("A change of the limit")
    with book.store.transaction():
        standing = _open_jackpot(book, meter_id)
        shown = book.jackpots.state(meter_id).total_microcents
        if limit_cents and limit_cents * MICROCENTS_PER_CENT < shown:
            shown_text = money(shown // MICROCENTS_PER_CENT)
            raise LedgerError(
                f"The limit of meter {meter_id} must not be below what is shown, {shown_text}."
            )
        words = money(limit_cents) if limit_cents else "none"
        sentence = f"Limit of meter {meter_id} set to {words} by {signed.names}."
        detail = {"meter": meter_id, "limit_cents": limit_cents}
        _append(book, Kind.LIMIT_SET, sentence, detail, signed, _LIMIT)
        book.jackpots.keep(meter_id, standing.with_limit(limit_cents))


def suspend(book: Book, meter_id: str, reason: StopReason, signed: Signed) -> None:
    """No new game at any of its tables; rounds under way finish. One person may stop it."""
    with book.store.transaction():
        standing = _open_jackpot(book, meter_id)
        if standing.suspended:
            raise LedgerError(f"Jackpot {meter_id} is suspended already: {standing.suspended}.")
        sentence = f"Jackpot {meter_id} suspended by {signed.names}: {reason}."
        _append(book, Kind.SUSPENDED, sentence, {"meter": meter_id}, signed, reason)
        book.jackpots.keep(meter_id, replace(standing, suspended=str(reason)))
        book.alarms.record("SUSPENDED", sentence)


def resume(book: Book, meter_id: str, signed: Signed) -> None:
    signed.require_two("Resuming a jackpot")
    with book.store.transaction():
        standing = _open_jackpot(book, meter_id)
        if not standing.suspended:
            raise LedgerError(f"Jackpot {meter_id} is not suspended.")
        sentence = f"Jackpot {meter_id} resumed by {signed.names}."
        _append(book, Kind.RESUMED, sentence, {"meter": meter_id}, signed, _RESUME)
        book.jackpots.keep(meter_id, replace(standing, suspended=""))
        book.alarms.record("RESUMED", sentence)


def close(book: Book, meter_id: str, heir_id: str, signed: Signed) -> None:
    """Ends a suspended jackpot for good: the house takes its seed back, the players' money goes on
    to another progressive jackpot. Without an heir there must be none of it left.
    """
    signed.require_two("Closing a jackpot")
    with book.store.transaction():
        standing = _open_jackpot(book, meter_id)
        if not standing.suspended:
            raise LedgerError(f"Jackpot {meter_id} must be suspended before it is closed.")
        _refuse_play(book, meter_id)
        moved = _closing(book, meter_id, heir_id)
        sentence = f"Jackpot {meter_id} closed for good by {signed.names}."
        detail = {"meter": meter_id, "heir": heir_id}
        _append(book, Kind.CLOSED, sentence, detail, signed, _CLOSE, moved)
        book.jackpots.keep(meter_id, replace(standing, pending=None, closed=True))
        book.alarms.record("CLOSED", sentence)


# -- inside ------------------------------------------------------------------------------------


def _open_jackpot(book: Book, meter_id: str) -> Standing:
    standing = book.jackpots.standing(meter_id)
    if standing.closed:
        raise LedgerError(f"Jackpot {meter_id} is closed for good.")
    return standing


def _changed(standing: Standing, changes: Mapping[str, Any]) -> Jackpot:
    """On top of what is announced already."""
    for name in changes:
        if name not in CHANGEABLE:
            raise LedgerError(f"The {name} of a running jackpot cannot be changed.")
    before = standing.pending or standing.terms
    wanted = dict(changes)
    if before.is_house and "seed_cents" in wanted:
        wanted["opening_cents"] = wanted["seed_cents"]
    changed = replace(before, **wanted)
    if changed == before:
        raise LedgerError(f"Jackpot {before.id} has these terms already.")
    return changed


def _refuse_too_much(book: Book, wanted: Jackpot) -> None:
    """The meters of one game together never take more than the wager."""
    for table_id in book.tables.ids():
        rules = book.tables.rules(table_id)
        for game in rules.settings.games:
            names = [meter.id for meter in game.meters]
            if wanted.id in names:
                coming = [_coming(book, name) if name != wanted.id else wanted for name in names]
                taken = sum(each.contribution_ppm + each.reserve_ppm for each in coming)
                if taken > PARTS_PER_MILLION:
                    raise LedgerError(
                        f"The jackpots of table {table_id} would take more than the whole wager."
                    )


def _coming(book: Book, meter_id: str) -> Jackpot:
    """The greedier of the terms in force and the ones that wait: either may meet the others."""
    standing = book.jackpots.standing(meter_id)
    known = [terms for terms in (standing.terms, standing.pending) if terms is not None]
    return max(known, key=lambda terms: terms.contribution_ppm + terms.reserve_ppm)


def _refuse_play(book: Book, meter_id: str) -> None:
    for table_id in book.tables.ids():
        if meter_id not in book.tables.rules(table_id).meter_ids:
            continue
        latest = book.rounds.latest(table_id)
        if latest is not None and latest.is_on:
            raise LedgerError(f"A round is under way at table {table_id}.")
    for claim in book.claims.unsettled():
        if meter_id in claim.meter_ids:
            raise LedgerError(f"A claim on jackpot {meter_id} is not settled yet.")


def _posted_change(book: Book, wanted: Jackpot) -> list[tuple[str, int]]:
    state = book.jackpots.state(wanted.id)
    change = wanted.seed_cents * MICROCENTS_PER_CENT - state.house_microcents
    return [(accounts.HOUSE_SEED, -change), (accounts.meter_house(wanted.id), change)]


def _closing(book: Book, meter_id: str, heir_id: str) -> list[tuple[str, int]]:
    state = book.jackpots.state(meter_id)
    players = state.player_microcents + state.reserve_microcents
    player, house, reserve = accounts.parts(meter_id)
    moved = [
        (player, -state.player_microcents),
        (house, -state.house_microcents),
        (reserve, -state.reserve_microcents),
        (accounts.HOUSE_SEED, state.house_microcents),
    ]
    if not players:
        return moved
    if not heir_id:
        raise LedgerError(f"Jackpot {meter_id} holds players' money; name the jackpot it goes to.")
    heir = _open_jackpot(book, heir_id)
    if heir_id == meter_id or heir.terms.is_house:
        raise LedgerError("Players' money goes on to another progressive jackpot.")
    room = book.jackpots.state(heir_id).room_microcents
    shown = players if room is None else min(players, room)
    moved.append((accounts.meter_player(heir_id), shown))
    moved.append((accounts.reserve(heir_id), players - shown))
    return moved


def _append(
    book: Book,
    kind: Kind,
    sentence: str,
    detail: Mapping[str, Any],
    signed: Signed,
    reason: str,
    moved: list[tuple[str, int]] | None = None,
) -> None:
    entry = Entry(
        kind,
        Reference(),
        sentence,
        postings(*(moved or [])),
        detail=signed.detail(reason) | dict(detail),
    )
    book.store.append(entry)
