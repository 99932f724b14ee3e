"""How amounts, times and ages are written on the operators' pages."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from kit.words.numbers import money
from manager.explain.words import dealt_in_words

METHODS = {
    "dealer": "Dealer's confirm",
    "card": "Card swipe",
    "key": "Key turn",
    "operator": "Operator's correction",
}
KINDS = {
    "OPENING": "Opening",
    "OPENING_RESTATED": "Opening restated",
    "WAGER": "Wagers",
    "AWARD": "Awards",
    "RESEED": "Reseeds",
    "GIVEN_BACK": "Given back",
    "REVERSAL": "Wins reversed",
    "VOIDED": "Void rounds",
    "ADJUSTMENT": "Adjustments",
    "CLOSED": "Jackpot closed",
    "UNIT_RELEASED": "Unit released",
    "LATE_ENTRY": "Round taken up for a forgotten win",
    "BACKED_OUT": "Logged win backed out",
    "CLAIM_APPROVED": "Win approved at the manager",
    "DIVERGED": "Record of a table whose copy went on first",
}
SEVERITY_MARKS = {"critical": "bad", "urgent": "bad", "warning": "warn", "notice": "calm"}
POLICIES = {
    "sequential": "sequential: in pay order, each award on what the one before it left",
    "equal_share": "equal share: the winners of the whole meter divide it",
    "each_full": "each full: every winner as if alone, the house pays what the meter lacks",
}
TERMS = {
    "seed_cents": "seed",
    "contribution_ppm": "contribution",
    "reserve_ppm": "reserve",
    "freeze_claims": "frozen claims",
    "award_policy": "award policy",
    "overflow_to": "overflow to",
    "limit_cents": "limit",
}


def exact(microcents: int) -> str:
    """Dollars with all eight places: an explanation hides no remainder."""
    whole, rest = divmod(abs(microcents), 100_000_000)
    return f"{'-' if microcents < 0 else ''}${whole:,}.{rest:08d}"


def precise(microcents: int) -> str:
    """Dollars with the places that are needed, two at least: 12_250_000 -> "$0.1225"."""
    digits = exact(microcents)
    whole, _, rest = digits.partition(".")
    return f"{whole}.{rest.rstrip('0').ljust(2, '0')}"


def percent(ppm: int) -> str:
    """250000 -> "25 %": parts per million of a wager."""
    whole, rest = divmod(ppm, 10_000)
    return f"{whole}.{rest:04d}".rstrip("0").rstrip(".") + " %"


def moment(time_ms: int) -> str:
    """The Game Manager's time of an entry, in UTC so that every print reads the same."""
    return datetime.fromtimestamp(time_ms // 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def age(age_ms: int | None) -> str:
    if age_ms is None:
        return "never"
    seconds = age_ms // 1000
    if seconds < 120:
        return f"{seconds} s ago"
    return f"{seconds // 60} min ago" if seconds < 7200 else f"{seconds // 3600} h ago"


def method(name: str) -> str:
    return METHODS.get(name, name)


def kind(name: str) -> str:
    return KINDS.get(name, name.replace("_", " ").capitalize())


def policy(name: str) -> str:
    return POLICIES.get(name, name)


def terms(pending: dict[str, Any]) -> str:
    """What the next reseed changes, as one line."""
    parts = []
    for name, value in pending.items():
        text = money(value) if name.endswith("_cents") else str(value).replace("_", " ").lower()
        text = percent(value) if name.endswith("_ppm") else text
        parts.append(f"{TERMS.get(name, name)} {text}")
    return ", ".join(parts)


def severity_mark(name: str) -> str:
    """The look of a severity's tag."""
    return SEVERITY_MARKS[name]


def hand(hand_id: str) -> str:
    """ "four-aces" -> "Four aces": wins carry the hand's id."""
    return hand_id.replace("-", " ").capitalize()


def dealt(hand: Mapping[str, Any]) -> str:
    """What the shuffler recognised at a paid spot, as the terminal says it too."""
    return dealt_in_words(hand["cards"], hand["verdict"], hand["seen"])


def slip_title(win: Mapping[str, Any]) -> str:
    return f"Jackpot win {win['number']}" if win["number"] else "Jackpot win, not booked yet"


def stamp_sentence(win: Mapping[str, Any]) -> str:
    """What stands across a slip, "" when nothing does."""
    if win.get("reversed_by"):
        return f"NOT TO BE PAID. Reversed by entry {win['reversed_by']}."
    if win.get("backed_out"):
        return f"NOT TO BE PAID. {win['backed_out']}"
    if not win["number"]:
        return "NOT BOOKED YET. The meter moves when the win is confirmed."
    if not win["stamps"]:
        return ""
    last = win["stamps"][-1]
    return f"{last['stamp'].upper()}. {last['by']}, {moment(last['time_ms'])}."


def place_rows(win: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Where and when a win was made, and who stands for it."""
    rows = [
        ("Table", f"{win['name']} ({win['table']})"),
        ("Round", str(win["round"])),
        ("Local time", win["local_time"]),
        ("Time of the Game Manager", moment(win["time_ms"])),
        ("Amount fixed", "when it was claimed" if win["frozen"] else "when it was confirmed"),
        ("Confirmed by", confirmed_by(win)),
        ("Folded hands", "qualify" if win["folded_hands_qualify"] else "do not qualify"),
    ]
    if win.get("replaces"):
        rows.append(("Recorded in place of win", str(win["replaces"])))
    return rows


def confirmed_by(win: Mapping[str, Any]) -> str:
    if not win["number"]:
        return "nobody yet"
    who = f": {win['authorised_by']}" if win["authorised_by"] else ""
    return f"{method(win['method'])}{who} ({win['role'].capitalize()})"


def line_rows(line: Mapping[str, Any]) -> list[tuple[str, str]]:
    """One winner: seat, sensor, game, and the meter that paid."""
    rows = [
        ("Seat", str(line["seat"])),
        ("Sensor", line["sensor"]),
        ("Game", line["game"]),
        ("Paytable", line["paytable"]),
        ("Wager", "" if line["wager_cents"] is None else money(line["wager_cents"])),
        ("Hand", line["label"]),
        ("Place in the pay order", str(line["order"])),
        ("Paid from", paid_from(line)),
    ]
    if line["meter_before_cents"] is not None:
        rows.append(("Meter before", money(line["meter_before_cents"])))
        rows.append(("Meter after", money(line["meter_after_cents"])))
    if line["claimed_on_cents"] is not None:
        rows.append(("Meter when claimed", money(line["claimed_on_cents"])))
    if line["policy"]:
        rows.append(("Award policy", policy(line["policy"])))
    return [(name, value) for name, value in rows if value]


def paid_from(line: Mapping[str, Any]) -> str:
    if line["source"] != "meter":
        return "the tray"
    return f"meter {line['meter_label']} ({line['meter']})"


def meter_line(line: Mapping[str, Any]) -> str:
    """Where one line was paid from, with its own meter before and after."""
    text = f"{line['game']}, from {paid_from(line)}"
    if line["meter_before_cents"] is None:
        return text
    before, after = money(line["meter_before_cents"]), money(line["meter_after_cents"])
    return f"{text}: {before} before, {after} after"
