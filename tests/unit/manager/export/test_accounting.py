"""The money for accountants: both sides of each entry equal, and all of them the ledger's own."""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from pathlib import Path

import pytest

from kit.command_line import CommandRefused
from manager.cli.accounting import main
from manager.data_folder import LEDGER_NAME
from manager.ledger.store.entries import EventSource
from tests.kit.pretend_books import Books, document


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """An evening with awards, a reseed, envy, a reversal, an adjustment and a formula."""
    books = Books(str(tmp_path / LEDGER_NAME))
    books.open(document())
    books.start("touch-1", 1, "1A", "2A", "5A")
    books.paid(_5A="four-aces")
    books.reverse()
    books.end("touch-1", 1)
    books.clock.ms += 24 * 3600 * 1000
    books.start("touch-1", 2, "1A", "2A")
    books.win("touch-1", 2, 2, s1A="three-of-a-kind")
    who = {"operator": "=HYPERLINK(1)", "second": "Bob"}
    change = {"command": "adjust", "jackpot": "main", "add": "0.01", "reason": "top-up"}
    books.manager.correct(change | who)
    books.manager.book.alarms.record("FORK", "Moves nothing.", "touch-1", EventSource("UF-1"))
    books.store.close()
    return tmp_path


def exported(data: Path, name: str, *more: str) -> str:
    out = data / name
    assert main(["--data", str(data), "--out", str(out), *more]) == 0
    return out.read_text("utf-8")


def balances(data: Path) -> dict[str, int]:
    books = Books(str(data / LEDGER_NAME))
    try:
        return {account: amount for account, amount in books.store.balances().items() if amount}
    finally:
        books.store.close()


def test_each_entry_is_zero_and_all_of_them_are_the_ledgers_balances(data: Path) -> None:
    """Catches: a posting that is left out, counted twice, or rounded."""
    sums: defaultdict[str, int] = defaultdict(int)
    for line in exported(data, "all.jsonl").splitlines():
        entry = json.loads(line)
        sides = [
            (each["debit_microcents"], each["credit_microcents"]) for each in entry["postings"]
        ]
        assert sum(debit - credit for debit, credit in sides) == 0
        assert all(min(side) == 0 < max(side) for side in sides)
        for each in entry["postings"]:
            sums[each["account"]] += each["debit_microcents"] - each["credit_microcents"]
    assert {account: amount for account, amount in sums.items() if amount} == balances(data)


def test_the_csv_says_the_same_to_the_micro_cent(data: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(exported(data, "all.csv"), newline="")))
    by_entry: defaultdict[str, int] = defaultdict(int)
    sums: defaultdict[str, int] = defaultdict(int)
    for row in rows:
        moved = int(row["debit_microcents"]) - int(row["credit_microcents"])
        dollars = row["debit"].replace(".", ""), row["credit"].replace(".", "")
        assert int(dollars[0]) - int(dollars[1]) == moved
        by_entry[row["entry"]] += moved
        sums[row["account"]] += moved
    assert set(by_entry.values()) == {0}
    assert {account: amount for account, amount in sums.items() if amount} == balances(data)
    assert not [row for row in rows if row["sentence"].startswith("=")]


def test_days_are_cut_where_the_house_says(data: Path) -> None:
    def days(*more: str) -> set[str]:
        name = f"{len(list(data.iterdir()))}.jsonl"
        return {json.loads(line)["gaming_day"] for line in exported(data, name, *more).splitlines()}

    assert days() == {"2023-11-14", "2023-11-15"}
    assert days("--from", "2023-11-15") == {"2023-11-15"}
    assert days("--to", "2023-11-14") == {"2023-11-14"}
    assert days("--from", "2030-01-01") == set()
    assert days("--day-starts", "23:00") == {"2023-11-13", "2023-11-14"}


def test_no_file_is_overwritten_and_the_form_is_by_its_name(data: Path) -> None:
    exported(data, "all.csv")
    with pytest.raises(CommandRefused, match="exists already"):
        exported(data, "all.csv")
    with pytest.raises(CommandRefused, match=r"must end with \.csv or \.jsonl"):
        exported(data, "all.xlsx")
