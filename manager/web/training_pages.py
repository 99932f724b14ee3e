"""The training page: a dealt round, what each bet brings, and whether the answers are right.

It keeps nothing: the address has the game, the paytables, the seed and the answers. Nothing here
touches a ledger or a table.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from functools import partial
from typing import Any

from jinja2 import Environment
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute

from manager.games import load_paytable, paytable_ids
from manager.games.rules.aggregate import PER_PLAYER, PER_TABLE
from manager.games.rules.settlement import RuleError
from manager.money import MoneyError
from manager.training.deal import Round, Seat, deal_round, deal_until, has_big_pay
from manager.training.questions import (
    SEATS_MAX,
    answer,
    cards_text,
    is_right,
    limit_of,
    posted,
    question,
)
from manager.training.tables import TABLES, TrainingTable
from manager.web.access import Access

TYPED_MAX = 80
TYPED_LENGTH_MAX = 64
SEED_MAX = 999_999_999
SEATS = 2
# The manager has more to do than to shuffle: a page looks through so many rounds and no more.
DEALS_MAX = 40
FIRST_GAME = "four-card"

View = dict[str, Any]


class TrainingPages:
    def __init__(self, access: Access, templates: Environment) -> None:
        self._access = access
        self._templates = templates

    def routes(self) -> list[BaseRoute]:
        return [self._access.page("/training", self.training)]

    async def training(self, request: Request) -> Response:
        typed = dict(request.query_params)
        if len(typed) > TYPED_MAX or any(len(each) > TYPED_LENGTH_MAX for each in typed.values()):
            raise HTTPException(400, "That is more than the form asks for.")
        # Settling a round takes milliseconds that belong to the tables.
        view = await asyncio.to_thread(view_of, typed)
        page = self._templates.get_template("training.html")
        context = self._access.context(request)
        return HTMLResponse(page.render(**context, here="training", view=view))


def view_of(typed: Mapping[str, str]) -> View:
    """The form, and the round with its questions, or why there is none."""
    table = TABLES.get(typed.get("game", FIRST_GAME))
    if table is None:
        raise HTTPException(404, "There is no such game to train.")
    view = _form(table, typed)
    try:
        chosen = [value for name, value in typed.items() if name.startswith("paytable-") and value]
        known = [name for name in chosen if name.split("/")[0] == table.game]
        papers = table.papers(known)
        limit = limit_of(typed.get("limit", "").strip(), view["per"])
    except (RuleError, MoneyError) as error:
        return {**view, "problem": str(error)}
    chance = random.Random(view["seed"])
    seats = sorted(chance.sample(range(1, SEATS_MAX + 1), view["seats"]))
    deal = partial(deal_round, table, seats, chance, papers, limit)
    dealt = deal_until(deal, has_big_pay, DEALS_MAX) if view["big"] else deal()
    return {**view, "posted": list(posted(table, papers, limit)), **_questions(dealt, typed)}


def _form(table: TrainingTable, typed: Mapping[str, str]) -> View:
    bets = [load_paytable(name) for name in table.paytables]
    return {
        "game": table.game,
        "games": [(each.game, each.title) for each in TABLES.values()],
        "bets": [
            {
                "name": f"paytable-{usual.bet}",
                "choices": _choices(table.game, usual.bet),
                "chosen": typed.get(f"paytable-{usual.bet}", usual.id),
            }
            for usual in bets
        ],
        "seed": _whole(typed.get("seed", ""), 1, SEED_MAX, 1),
        "seats": _whole(typed.get("seats", ""), 1, SEATS_MAX - 1, SEATS),
        "seats_max": SEATS_MAX - 1,
        "limit": typed.get("limit", ""),
        "per": typed["per"] if typed.get("per") in (PER_TABLE, PER_PLAYER) else PER_TABLE,
        "big": typed.get("big") == "yes",
        "problem": "",
        "posted": [],
        "seats_dealt": [],
    }


def _choices(game: str, bet: str) -> list[tuple[str, str]]:
    start = f"{game}/{bet}/"
    return [(name, load_paytable(name).title) for name in paytable_ids() if name.startswith(start)]


def _whole(text: str, least: int, most: int, usual: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and least <= int(text) <= most else usual


def _questions(dealt: Round, typed: Mapping[str, str]) -> View:
    asked = right = 0
    seats = []
    for seat in reversed(dealt.seats):  # the dealer reconciles from his right
        bets = [_bet(seat, place, typed) for place in range(len(seat.paid))]
        asked += len(bets)
        right += sum(bet["right"] is True for bet in bets)
        seats.append(
            {
                "number": seat.number,
                "cards": cards_text(seat.cards),
                "play_times": seat.play_times,
                "bets": bets,
            }
        )
    return {
        "dealer": cards_text(dealt.dealer),
        "seats_dealt": seats,
        "asked": asked,
        "right": right,
        "is_checked": "check" in typed,
    }


def _bet(seat: Seat, place: int, typed: Mapping[str, str]) -> View:
    rule, bet = seat.settled[place], seat.paid[place]
    name = f"answer-{seat.number}-{place}"
    given = typed.get(name, "")
    is_checked = "check" in typed
    return {
        "name": name,
        "question": question(seat, bet),
        "given": given,
        "right": is_right(bet, given) if is_checked else None,
        "answer": answer(rule, bet) if is_checked else "",
    }
