"""Proves from the chain how every jackpot stands and which wins were taken back.

Terms, limits, stops and reversals are facts of the chain; the tables beside it only save looking
them up. Both are told again here from the transactions alone and compared.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from manager.audit.earlier import OF_A_CLAIM, Earlier
from manager.audit.image import Image
from manager.ledger.engines.relations import JACKPOTS, WIN_REVERSALS, Row
from manager.ledger.jackpots import Standing, terms_from
from manager.ledger.store.chain import Recorded
from manager.ledger.store.entries import Kind
from manager.ledger.store.ledger import Ledger

_TERMS = (
    Kind.OPENING,
    Kind.TERMS_CHANGED,
    Kind.LIMIT_SET,
    Kind.SUSPENDED,
    Kind.RESUMED,
    Kind.CLOSED,
)


class TermsAudit:
    """Fed with every transaction in order; `problem` compares with what is kept."""

    def __init__(self, image: Image | None = None, earlier: Earlier | None = None) -> None:
        self._earlier = earlier or Earlier()
        self._standings: dict[str, Standing] = {}
        self._brought: dict[int, dict[str, Any]] = {}  # reseeds that brought terms
        self._reversals: dict[int, int] = {}
        self._moved: dict[tuple[str, int], defaultdict[str, int]] = {}
        self._handlers: dict[str, Callable[[Recorded, dict[str, Any]], str]] = {
            Kind.RESEED: self._reseed,
            Kind.REVERSAL: self._reversal,
            **dict.fromkeys(_TERMS, self._terms),
        }
        if image is not None:
            self._standings = {row[0]: _standing(row) for row in image.rows[JACKPOTS.name]}
            self._reversals = dict(image.rows[WIN_REVERSALS.name])

    def take(self, recorded: Recorded) -> str:
        """What is wrong with this transaction's corrections, "" when nothing is."""
        if recorded.kind in OF_A_CLAIM:
            self._add_to_claim(recorded)
        handler = self._handlers.get(recorded.kind)
        return handler(recorded, json.loads(recorded.detail_text)) if handler else ""

    def problem(self, store: Ledger) -> str:
        kept_reversals: dict[int, int] = dict(
            store.rows("SELECT win_number, transaction_number FROM win_reversals")
        )
        if kept_reversals != self._reversals:
            return "The list of reversed wins does not agree with the chain."
        for row in store.rows(
            "SELECT id, terms, pending, applied_by, suspended, closed FROM jackpots"
        ):
            if self._standings.get(row[0]) != _standing(row):
                return f"How jackpot {row[0]} stands does not agree with the chain."
        return ""

    def _add_to_claim(self, recorded: Recorded) -> None:
        key = (recorded.reference.table_id, recorded.reference.claim_number)
        moved = self._moved_by(key)
        for account, amount in recorded.postings:
            moved[account] += amount

    def _moved_by(self, claim: tuple[str, int]) -> defaultdict[str, int]:
        if claim not in self._moved:
            self._moved[claim] = defaultdict(int, self._earlier.moved(*claim))
        return self._moved[claim]

    def _terms(self, recorded: Recorded, detail: dict[str, Any]) -> str:
        if recorded.kind == Kind.OPENING:
            self._standings[detail["id"]] = Standing(terms_from(recorded.detail_text))
            return ""
        meter_id = detail["meter"]
        standing = self._standings[meter_id]
        if recorded.kind == Kind.TERMS_CHANGED:
            wanted = terms_from(json.dumps(detail["to"]))
            standing = (
                replace(standing, terms=wanted)
                if detail["at_once"]
                else replace(standing, pending=wanted)
            )
        elif recorded.kind == Kind.LIMIT_SET:
            standing = standing.with_limit(detail["limit_cents"])
        elif recorded.kind == Kind.CLOSED:
            standing = replace(standing, pending=None, closed=True)
        else:
            reason = detail["reason"] if recorded.kind == Kind.SUSPENDED else ""
            standing = replace(standing, suspended=reason)
        self._standings[meter_id] = standing
        return ""

    def _reseed(self, recorded: Recorded, detail: dict[str, Any]) -> str:
        if "terms" not in detail:
            return ""
        standing = self._standings[detail["meter"]]
        brought = terms_from(json.dumps(detail["terms"]["to"]))
        if standing.pending != brought:
            return "brings terms that nobody announced"
        self._brought[recorded.number] = detail
        self._standings[detail["meter"]] = replace(
            standing, terms=brought, pending=None, applied_by=recorded.number
        )
        return ""

    def _reversal(self, recorded: Recorded, detail: dict[str, Any]) -> str:
        if detail["win"] in self._reversals:
            return f"reverses win {detail['win']} a second time"
        self._reversals[detail["win"]] = recorded.number
        for number in reversed(detail["undoes"]):
            brought = self._brought.get(number) or self._brought_earlier(number)
            if brought:
                self._give_back(number, brought)
        return self._check_undone(recorded, detail)

    def _brought_earlier(self, number: int) -> dict[str, Any]:
        reseed = self._earlier.recorded(number)
        if reseed is None or reseed.kind != Kind.RESEED:
            return {}
        detail: dict[str, Any] = json.loads(reseed.detail_text)
        return detail if "terms" in detail else {}

    def _give_back(self, number: int, brought: dict[str, Any]) -> None:
        meter_id, terms = brought["meter"], brought["terms"]
        standing = self._standings[meter_id]
        if standing.applied_by == number:
            self._standings[meter_id] = replace(
                standing,
                terms=terms_from(json.dumps(terms["from"])),
                pending=standing.pending or standing.terms,
                applied_by=terms["from_applied_by"],
            )

    def _check_undone(self, recorded: Recorded, detail: dict[str, Any]) -> str:
        """The postings are those of the win's own, turned round, and what had to be shifted."""
        key = (recorded.reference.table_id, recorded.reference.claim_number)
        wanted = {account: -amount for account, amount in self._moved_by(key).items()}
        for account, amount in detail.get("shifted", {}).items():
            wanted[account] = wanted.get(account, 0) + amount
        found = dict(recorded.postings)
        if found != {account: amount for account, amount in wanted.items() if amount}:
            return f"does not undo what win {detail['win']} moved"
        return ""


def _standing(row: Row) -> Standing:
    _, terms, pending, applied_by, suspended, closed = row
    coming = terms_from(pending) if pending else None
    return Standing(terms_from(terms), coming, applied_by, suspended, bool(closed))
