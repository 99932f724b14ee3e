"""Corrections as plain requests: the same words from the command line and to a serving manager.

A request is a map of texts. It is checked here and carried out by the ledger; the answer is one
sentence. Who may send a request is decided where it comes in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kit.words.numbers import money
from manager.ledger.book import Book
from manager.ledger.corrections.adjustments import increase, reduce
from manager.ledger.corrections.back_out import back_out
from manager.ledger.corrections.forgotten import record_forgotten
from manager.ledger.corrections.reasons import (
    Increase,
    LateWinReason,
    Reduction,
    ReversalReason,
    Signed,
    StopReason,
    reason_of,
)
from manager.ledger.corrections.replacement import record_instead
from manager.ledger.corrections.restore import accept_restore
from manager.ledger.corrections.reversal import reverse_win
from manager.ledger.corrections.term_changes import change_terms, close, resume, set_limit, suspend
from manager.ledger.corrections.voiding import order_void
from manager.ledger.errors import LedgerError
from manager.ledger.wins import Win
from manager.money import MoneyError, cents_from_text
from protocol.sensor_id import is_sensor_id
from protocol.wire.rows import ClaimedHand

Request = Mapping[str, str]
BACK_OUT = "back-out"
VOID_GAME = "void-game"
_FLAGS = {"true": True, "false": False}


def correct(book: Book, request: Request) -> str:
    """Carries a request out and tells what was done; refuses it with a sentence."""
    handler = _HANDLERS.get(_need(request, "command"))
    if handler is None:
        raise LedgerError(f"There is no correction {request['command']!r}.")
    signed = Signed(_need(request, "operator"), request.get("second", ""), request.get("note", ""))
    try:
        return handler(book, request, signed)
    except MoneyError as error:
        raise LedgerError(str(error)) from error


def _reverse_win(book: Book, request: Request, signed: Signed) -> str:
    number = _number(request, "win")
    reason = reason_of(_need(request, "reason"), ReversalReason, "Reversing a win")
    transaction = reverse_win(book, number, reason, signed)
    return f"Win {number} is reversed by transaction {transaction}."


def _back_out(book: Book, request: Request, signed: Signed) -> str:
    table_id, number = _need(request, "table"), _number(request, "claim")
    reason = reason_of(_need(request, "reason"), ReversalReason, "Backing out a win")
    back_out(book, table_id, number, reason, signed)
    return f"Claim {number} of table {table_id} is backed out; nothing is paid for it."


def _void_game(book: Book, request: Request, signed: Signed) -> str:
    table_id, number = _need(request, "table"), _number(request, "round")
    return order_void(book, table_id, number, _need(request, "reason"), signed)


def _record_win(book: Book, request: Request, signed: Signed) -> str:
    number = _number(request, "win")
    hands = _hands(request["hands"]) if request.get("hands") else None
    win = record_instead(book, number, signed, hands)
    return f"Win {win} is recorded in place of win {number}."


def _forgotten_win(book: Book, request: Request, signed: Signed) -> str:
    table_id, number = _need(request, "table"), _number(request, "round")
    reason = reason_of(_need(request, "reason"), LateWinReason, "Recording a forgotten win")
    hands = _hands(_need(request, "hands"))
    win = record_forgotten(book, table_id, number, hands, reason, signed)
    amounts = [(line.sensor, line.amount_cents) for line in _found(book, win).lines]
    paid = ", ".join(f"{money(cents)} at {sensor}" for sensor, cents in amounts)
    return f"Win {win} of round {number} at {table_id} is recorded: {paid}."


def _found(book: Book, number: int) -> Win:
    win = book.wins.find(number)
    assert win is not None
    return win


def _adjust(book: Book, request: Request, signed: Signed) -> str:
    meter_id, reason = _need(request, "jackpot"), _need(request, "reason")
    if ("add" in request) == ("take" in request):
        raise LedgerError("An adjustment either adds or takes an amount.")
    if "add" in request:
        amount = cents_from_text(request["add"], "The amount")
        number = increase(
            book, meter_id, amount, reason_of(reason, Increase, "An increase"), signed
        )
    else:
        amount = cents_from_text(request["take"], "The amount")
        number = reduce(book, meter_id, amount, reason_of(reason, Reduction, "A reduction"), signed)
    shown = money(book.jackpots.state(meter_id).shown_cents)
    return f"Jackpot {meter_id} is adjusted by transaction {number} and shows {shown}."


def _change_terms(book: Book, request: Request, signed: Signed) -> str:
    meter_id = _need(request, "jackpot")
    changes: dict[str, Any] = {}
    for name, (field, read) in _TERMS.items():
        if name in request:
            changes[field] = read(request[name])
    terms = change_terms(book, meter_id, changes, signed)
    when = "now" if terms.is_house else "from its next reseed on"
    return f"Jackpot {meter_id} has the changed terms {when}."


def _set_limit(book: Book, request: Request, signed: Signed) -> str:
    meter_id = _need(request, "jackpot")
    set_limit(book, meter_id, cents_from_text(_need(request, "limit"), "The limit"), signed)
    return f"Jackpot {meter_id} has its new limit."


def _suspend(book: Book, request: Request, signed: Signed) -> str:
    meter_id = _need(request, "jackpot")
    suspend(book, meter_id, reason_of(_need(request, "reason"), StopReason, "Suspending"), signed)
    return f"Jackpot {meter_id} is suspended: its tables start no game."


def _resume(book: Book, request: Request, signed: Signed) -> str:
    meter_id = _need(request, "jackpot")
    resume(book, meter_id, signed)
    return f"Jackpot {meter_id} is in operation again."


def _close(book: Book, request: Request, signed: Signed) -> str:
    meter_id = _need(request, "jackpot")
    close(book, meter_id, request.get("to", ""), signed)
    return f"Jackpot {meter_id} is closed for good."


def _accept_restore(book: Book, request: Request, signed: Signed) -> str:
    era = accept_restore(book, signed)
    return (
        f"The ledger goes on from this backup (restore {era}). The units believe it from their next"
        " hello on, and send again what it lacks of theirs. Every audit tells it."
    )


_HANDLERS: dict[str, Callable[[Book, Request, Signed], str]] = {
    "reverse-win": _reverse_win,
    BACK_OUT: _back_out,
    VOID_GAME: _void_game,
    "record-win": _record_win,
    "forgotten-win": _forgotten_win,
    "adjust": _adjust,
    "change-terms": _change_terms,
    "set-limit": _set_limit,
    "suspend": _suspend,
    "resume": _resume,
    "close-jackpot": _close,
    "accept-restore": _accept_restore,
}


def _need(request: Request, name: str) -> str:
    value = request.get(name, "")
    if not value:
        raise LedgerError(f"The correction needs {name}.")
    return value


def _number(request: Request, name: str) -> int:
    return _whole(_need(request, name))


def _whole(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 12:
        raise LedgerError(f"{text!r} is not a whole number.")
    return int(text)


def _cents(text: str) -> int:
    return cents_from_text(text, "The seed")


def _flag(text: str) -> bool:
    if text not in _FLAGS:
        raise LedgerError(f"{text!r} is neither true nor false.")
    return _FLAGS[text]


def _hands(text: str) -> list[ClaimedHand]:
    """Winning hands such as "5A=four-aces 3A=straight-flush"."""
    hands: list[ClaimedHand] = []
    for word in text.split():
        sensor, equals, hand = word.partition("=")
        if not (equals and hand and is_sensor_id(sensor)):
            raise LedgerError(f"{word!r} is not a winning hand such as 5A=four-aces.")
        hands.append(ClaimedHand(sensor, hand))
    return hands


# What each word of a change of terms means: the field, and how its text is read.
_TERMS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "seed": ("seed_cents", _cents),
    "contribution-ppm": ("contribution_ppm", _whole),
    "reserve-ppm": ("reserve_ppm", _whole),
    "freeze-claims": ("freeze_claims", _flag),
    "award-policy": ("award_policy", str),
    "over-limit": ("overflow_to", str),
}
