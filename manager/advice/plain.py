"""Advice as plain values for a page: shares of the wager, remarks, odds, pictures of the paths."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

from manager.advice.advise import FINE, Advice, Remark, advise
from manager.advice.economics import Economics
from manager.advice.plot import svg
from manager.advice.question import Question
from manager.games import Percent, open_catalogue

SHORTFALL = "Fixed pays of an empty meter (simulated)"
OVERFLOW = "Back to the house over the limit (simulated)"


def answer(question: Question) -> dict[str, Any]:
    """Looks the paytable up, simulates, and tells what came out."""
    paytable = open_catalogue(*map(Path, question.packs)).load(question.paytable_id)
    return as_plain(question, advise(paytable, dict(question.jackpots), question.wager_cents))


def as_plain(question: Question, found: Advice) -> dict[str, Any]:
    remarks = sorted(found.remarks, key=lambda remark: remark.kind == FINE)
    jackpots = dict(question.jackpots)
    return {
        "title": found.paytable.title,
        "paytable": found.paytable.id,
        "shares": shares_of(found.economics),
        "remarks": [{"kind": each.kind, "sentence": _sentence(each)} for each in remarks],
        "hands": [
            {
                "label": hand.label,
                "pay": str(hand.pay),
                "level": hand.pay.level if isinstance(hand.pay, Percent) else "",
                "one_in": _one_in(found.odds.tally.counts.get(hand.id, 0), found.odds.tally.total),
            }
            for hand in found.paytable.hands
        ],
        "plots": [
            {"level": level, "label": jackpots[level].label, "svg": svg(jackpots[level], lives)}
            for level, lives in found.paths.items()
        ],
    }


def shares_of(found: Economics) -> list[tuple[str, str]]:
    """Each part of a wager in the long run, in the order in which a person would subtract."""
    rows = {
        "Fixed pays from the tray": found.fixed_return,
        "Envy (three other bettors)": found.envy_return,
        "Contribution to the meters": found.contribution,
        "Reserve": found.reserve,
        "Reseeding, or posted prizes": found.reseed_cost,
        SHORTFALL: found.shortfall,
        OVERFLOW: -found.overflow,
        "The house": found.house_share,
    }
    told = {name for name, share in rows.items() if share or name not in (SHORTFALL, OVERFLOW)}
    return [(name, _percent(share)) for name, share in rows.items() if name in told]


def _sentence(remark: Remark) -> str:
    return remark.sentence[:1].upper() + remark.sentence[1:]


def _percent(share: Fraction) -> str:
    return f"{float(share) * 100:.3f} %"


def _one_in(count: int, total: int) -> str:
    return f"1 in {round(total / count):,}" if count else "never"
