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

    def __init__(self) -> None:
        self._standings: dict[str, Standing] = {}
        self._brought: dict[int, dict[str, Any]] = {}  # reseeds that brought terms
        self._reversals: dict[int, int] = {}
        self._moved: dict[tuple[str, int], dict[str, int]] = {}
        self._handlers: dict[str, Callable[[Recorded, dict[str, Any]], str]] = {
            Kind.RESEED: self._reseed,
            Kind.REVERSAL: self._reversal,
            **dict.fromkeys(_TERMS, self._terms),
        }

    def take(self, recorded: Recorded) -> str:
        """What is wrong with this transaction's corrections, "" when nothing is."""
        if recorded.kind in (Kind.AWARD, Kind.RESEED, Kind.ENVY, Kind.HANDED_OVER):
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
            pending = terms_from(row[2]) if row[2] else None
            kept = Standing(terms_from(row[1]), pending, row[3], row[4], bool(row[5]))
            if self._standings.get(row[0]) != kept:
                return f"How jackpot {row[0]} stands does not agree with the chain."
        return ""

    def _add_to_claim(self, recorded: Recorded) -> None:
        key = (recorded.reference.table_id, recorded.reference.claim_number)
        moved = self._moved.setdefault(key, defaultdict(int))
        for account, amount in recorded.postings:
            moved[account] += amount

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
            if number in self._brought:
                self._give_back(number, self._brought[number])
        return self._check_undone(recorded, detail)

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
        wanted = {account: -amount for account, amount in self._moved.get(key, {}).items()}
        for account, amount in detail.get("shifted", {}).items():
            wanted[account] = wanted.get(account, 0) + amount
        found = dict(recorded.postings)
        if found != {account: amount for account, amount in wanted.items() if amount}:
            return f"does not undo what win {detail['win']} moved"
        return ""
