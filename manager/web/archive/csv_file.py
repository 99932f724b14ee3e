"""Wins as CSV: one line for each winner and one for each envy payment, amounts as plain numbers."""

from __future__ import annotations

from typing import Any

from kit.web.csv_lines import Cell, csv_line, dollars
from manager.web import words

COLUMNS = (
    *("win", "time_utc", "local_time", "gaming_day", "table", "table_name", "round", "what"),
    *("seat", "sensor", "hand", "paid_from", "amount", "meter_before", "meter_after"),
    *("confirmed", "by", "role", "reversed_by_entry", "replaced_by_win", "stamp", "stamped_by"),
)

View = dict[str, Any]


def head() -> str:
    return csv_line(COLUMNS)


def lines(win: View) -> str:
    """Every line of one win."""
    awards = [_award(win, line) for line in win["lines"]]
    envy = [_envy(win, line) for line in win["envy"]]
    return "".join(csv_line(cells) for cells in (*awards, *envy))


def _award(win: View, line: View) -> list[Cell]:
    is_meter = line["source"] == "meter"
    paid_from = line["meter"] if is_meter else "tray"
    shown = [line["meter_before_cents"], line["meter_after_cents"]] if is_meter else [None, None]
    meters: list[Cell] = ["" if cents is None else dollars(cents) for cents in shown]
    what: list[Cell] = ["award", line["seat"], line["sensor"], line["label"], paid_from]
    return [*_place(win), *what, dollars(line["amount_cents"]), *meters, *_people(win)]


def _envy(win: View, line: View) -> list[Cell]:
    what: list[Cell] = ["envy", line["seat"], line["sensor"], "", "tray"]
    return [*_place(win), *what, dollars(line["amount_cents"]), "", "", *_people(win)]


def _place(win: View) -> list[Cell]:
    times: list[Cell] = [words.moment(win["time_ms"]), win["local_time"], win["gaming_day"]]
    return [win["number"], *times, win["table"], win["name"], win["round"]]


def _people(win: View) -> list[Cell]:
    stamp = win["stamps"][-1] if win["stamps"] else {"stamp": "", "by": ""}
    return [
        words.method(win["method"]),
        win["authorised_by"],
        win["role"].capitalize(),
        win["reversed_by"] or "",
        win["replaced_by"] or "",
        stamp["stamp"],
        stamp["by"],
    ]
