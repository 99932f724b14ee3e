"""What each correction asks for on its form, in the words of the people who fill it in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from manager.ledger.corrections.reasons import (
    NOTE_MAX,
    Increase,
    LateWinReason,
    Reduction,
    ReversalReason,
    StopReason,
)
from manager.ledger.pricing import POLICIES
from protocol.numbers import VOID_REASONS

View = Mapping[str, Any]
Choices = Callable[[View], list[tuple[str, str]]]  # value and word, from what the manager shows


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    label: str
    hint: str = ""
    choices: Choices | None = None
    is_needed: bool = True


@dataclass(frozen=True, slots=True)
class Form:
    command: str
    title: str
    about: str
    fields: tuple[Field, ...]
    verb: str = "Ask for it"


def _meters(view: View) -> list[tuple[str, str]]:
    return [(meter["id"], f"{meter['label']} ({meter['id']})") for meter in view["meters"]]


def _tables(view: View) -> list[tuple[str, str]]:
    return [(table["id"], f"{table['name']} ({table['id']})") for table in view["tables"]]


def _playing(view: View) -> list[tuple[str, str]]:
    on = [table for table in view["tables"] if table["is_on"]]
    return [
        (table["id"], f"{table['name']} ({table['id']}), round {table['round']}") for table in on
    ]


def _locked_units(view: View) -> list[tuple[str, str]]:
    return [
        (table["unit"], f"{table['unit']} at {table['name']}")
        for table in view["tables"]
        if table["locked"]
    ]


def _one_of(codes: Sequence[str], none: str = "") -> Choices:
    first = [("", none)] if none else []
    words = [(code, code.replace("-", " ").replace("_", " ")) for code in map(str, codes)]
    return lambda view: first + words


_NOTE = Field("note", "Note", f"What else the books should keep, {NOTE_MAX} letters.", None, False)
_JACKPOT = Field("jackpot", "Jackpot", choices=_meters)
_WIN = Field("win", "Win", "Its number, as on the win's page.")
_HANDS_HINT = "Spot and hand, such as 5A=four-aces; several with a space between."


def _reason(codes: Sequence[str]) -> Field:
    return Field("reason", "Reason", choices=_one_of(codes))


FORMS: Mapping[str, Form] = {
    form.command: form
    for form in (
        Form(
            "approve-win",
            "Approve a win that waits",
            "Pays a win whose amount asks for two people at the manager.",
            (Field("table", "Table", choices=_tables), Field("claim", "Claim"), _NOTE),
        ),
        Form(
            "refuse-win",
            "Send a waiting win back",
            "The table may enter it anew.",
            (Field("table", "Table", choices=_tables), Field("claim", "Claim"), _NOTE),
        ),
        Form(
            "reverse-win",
            "Reverse a win",
            "Takes a win back. What players put in since then stays on the meter.",
            (_WIN, _reason(list(ReversalReason)), _NOTE),
        ),
        Form(
            "back-out",
            "Back out a win that J-POT logged",
            "Before the key is back at RUN: nothing was paid yet. The table may enter it anew.",
            (
                Field("table", "Table", choices=_tables),
                Field("claim", "Claim"),
                _reason(list(ReversalReason)),
                _NOTE,
            ),
        ),
        Form(
            "void-game",
            "Void the game under way",
            "Every bet of it is given back, and no hand of it is paid. Its table is told at once.",
            (
                Field("table", "Table", choices=_playing),
                Field("round", "Round", "As on the table's page."),
                _reason(list(VOID_REASONS)),
                _NOTE,
            ),
        ),
        Form(
            "record-win",
            "Record a win in place of a reversed one",
            "The right hands, at the amounts of then.",
            (_WIN, Field("hands", "Hands", _HANDS_HINT, None, False), _NOTE),
        ),
        Form(
            "forgotten-win",
            "Record a forgotten win",
            "A win of a round that is over, as of its end.",
            (
                Field("table", "Table", choices=_tables),
                Field("round", "Round"),
                Field("hands", "Hands", _HANDS_HINT),
                _reason(list(LateWinReason)),
                _NOTE,
            ),
        ),
        Form(
            "adjust",
            "Adjust a meter",
            "Adds house money, or takes an amount away for one of the permitted reasons.",
            (
                _JACKPOT,
                Field("add", "Add, $", "Such as 12.50. Leave empty to take.", None, False),
                Field("take", "Take, $", "Leave empty to add.", None, False),
                _reason(sorted({*Increase, *Reduction})),
                _NOTE,
            ),
        ),
        Form(
            "change-terms",
            "Change a jackpot's terms",
            "In force from its next reseed on. What is left empty stays as it is.",
            (
                _JACKPOT,
                Field("seed", "Seed, $", "", None, False),
                Field("contribution-ppm", "Contribution, ppm", "250000 is 25 %.", None, False),
                Field("reserve-ppm", "Reserve, ppm", "", None, False),
                Field(
                    "freeze-claims",
                    "Amount fixed at the claim",
                    choices=_one_of(["true", "false"], "as it is"),
                    is_needed=False,
                ),
                Field(
                    "award-policy",
                    "Award policy",
                    choices=_one_of(list(POLICIES), "as it is"),
                    is_needed=False,
                ),
                _NOTE,
            ),
        ),
        Form(
            "set-limit",
            "Set a jackpot's limit",
            "The highest amount that it shows; never below what it shows now.",
            (_JACKPOT, Field("limit", "Limit, $", "0.00 for none."), _NOTE),
        ),
        Form(
            "suspend",
            "Suspend a jackpot",
            "Its tables start no game. One person is enough.",
            (_JACKPOT, _reason(list(StopReason)), _NOTE),
        ),
        Form("resume", "Resume a jackpot", "Its tables start games again.", (_JACKPOT, _NOTE)),
        Form(
            "close-jackpot",
            "Close a jackpot",
            "Ends it for good; the players' money goes to another one.",
            (_JACKPOT, Field("to", "Money goes to", choices=_meters, is_needed=False), _NOTE),
        ),
        Form(
            "accept-restore",
            "Go on from a backup",
            "Lets the units believe a ledger that was put back from a backup.",
            (Field("note", "Note", "What happened, and which backup it is."),),
        ),
        Form(
            "replace-unit",
            "Replace a unit by another one",
            "The new unit takes table and game over; the old one is locked out for good. In a game"
            " it takes two people.",
            (
                Field("table", "Table", choices=_tables),
                Field("unit", "New unit", "The serial number of its board."),
                Field("reason", "What happened"),
            ),
        ),
        Form(
            "adopt-journal",
            "Let a unit go on with a new disk",
            "Lets a unit go on at a table with a new journal, once, within an hour.",
            (
                Field("unit", "Unit", "The serial number of the unit that goes on."),
                Field("table", "Table that it takes over", choices=_tables, is_needed=False),
                Field("reason", "What happened"),
            ),
        ),
        Form(
            "roll-out",
            "Roll an update out",
            "Ring by ring; the first failure halts it. Updates are kept on the page of that name.",
            (
                Field("bundle", "Update", "Its SHA-256, as on the updates' page."),
                Field("first", "First tables", "Their ids, with a space between."),
                Field("then", "Then so many", "Tables for each ring, such as 5 20.", None, False),
                Field("hold", "Minutes that a ring has to keep it"),
            ),
        ),
        Form(
            "go-on-roll-out",
            "Go on with a roll-out",
            "Without the tables that failed; or, while it runs, without those that do not answer.",
            (Field("reason", "Why"),),
        ),
        Form(
            "stop-roll-out",
            "Stop a roll-out",
            "Nobody else gets it. Tables that have the new program keep it. One person is enough.",
            (Field("reason", "Why"),),
        ),
        Form(
            "remove-update",
            "Remove an update",
            "From this manager's disk. One person is enough.",
            (Field("bundle", "Update", "Its SHA-256, as on the updates' page."),),
        ),
        Form(
            "release-unit",
            "Release a locked unit",
            "Once the copy of its disk was found and taken away.",
            (
                Field("unit", "Unit", choices=_locked_units),
                Field("reason", "What was found"),
            ),
        ),
    )
}


def request_of(form: Form, typed: Mapping[str, str]) -> dict[str, str]:
    """The request as the command line would send it: what was left empty is not in it."""
    named = {field.name: typed.get(field.name, "").strip() for field in form.fields}
    return {"command": form.command} | {name: text for name, text in named.items() if text}
