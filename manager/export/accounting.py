"""The ledger's money for an accounting system: every entry that moved some, in debit and credit.

What came to an account is its debit, what left it its credit; the two sides of an entry are equal.
Nothing is rounded: amounts are micro-cents, and dollars with all eight places. Entries that moved
no money (events, acts) are in the ledger's own export (`lines`), which proves itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from kit.web.csv_lines import csv_line
from manager.ledger.reports.gaming_day import GamingDay
from manager.ledger.store.chain import Recorded
from manager.ledger.store.ledger import Ledger
from manager.money import text_from_microcents

CSV, JSON_LINES = "csv", "jsonl"
COLUMNS = (
    *("entry", "time_utc", "gaming_day", "kind", "table", "round", "sensor", "claim"),
    *("account", "debit", "credit", "debit_microcents", "credit_microcents", "sentence"),
)


def entries_between(ledger: Ledger, first_ms: int, end_ms: int) -> Iterator[Recorded]:
    """Entries that moved money, from the first moment on and before the last one."""
    # All of them are looked at, also those of closed days that lie in archives.
    for recorded, _ in ledger.recorded():
        if recorded.commit_ms >= end_ms:
            return
        if recorded.commit_ms >= first_ms and recorded.postings:
            yield recorded


def as_csv(entries: Iterable[Recorded], gaming_day: GamingDay) -> Iterator[str]:
    """A line for each posting, after the line of names."""
    yield csv_line(COLUMNS)
    for entry in entries:
        place = entry.reference
        head = (entry.number, *_times(entry, gaming_day), entry.kind, *place)
        for account, amount in entry.postings:
            debit, credit = max(amount, 0), max(-amount, 0)
            dollars = (text_from_microcents(debit), text_from_microcents(credit))
            yield csv_line((*head, account, *dollars, debit, credit, entry.sentence))


def as_json_lines(entries: Iterable[Recorded], gaming_day: GamingDay) -> Iterator[str]:
    """A line for each entry, with its postings."""
    for entry in entries:
        time_utc, day = _times(entry, gaming_day)
        place = entry.reference
        document = {
            "entry": entry.number,
            "time_utc": time_utc,
            "gaming_day": day,
            "kind": entry.kind,
            "table": place.table_id,
            "round": place.round_number,
            "sensor": place.sensor,
            "claim": place.claim_number,
            "sentence": entry.sentence,
            "postings": [
                {
                    "account": account,
                    "debit_microcents": max(amount, 0),
                    "credit_microcents": max(-amount, 0),
                }
                for account, amount in entry.postings
            ],
        }
        yield json.dumps(document, ensure_ascii=False) + "\n"


FORMS = {CSV: as_csv, JSON_LINES: as_json_lines}


def _times(entry: Recorded, gaming_day: GamingDay) -> tuple[str, str]:
    moment = datetime.fromtimestamp(entry.commit_ms / 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}", gaming_day.of(entry.commit_ms).isoformat()
