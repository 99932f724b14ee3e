"""What the pages show of a table, as one JSON-able value.

It reads the controller and changes nothing. Amounts are whole cents; an amount that nobody knows
yet is None, never zero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.core import kinds, payout
from controller.core.claims import ROLE_NAMES, authority_needed
from controller.core.rules import Game, Hand, seat_of
from controller.version import SOFTWARE

if TYPE_CHECKING:
    from controller.app import Controller

View = dict[str, Any]


def build_view(controller: Controller) -> View:
    state, config = controller.keeper.state, controller.config
    message_id, message_kind, message_text = controller.message
    age_ms = controller.meters.age_ms()
    return {
        "table": config.table_id,
        "name": config.name,
        "workflow": config.workflow,
        "state": controller.state(),
        "round": state.round_number,
        "wagers": len(state.accepted),
        "joined": [list(group) for group in state.joined],
        "message": {"id": message_id, "kind": message_kind, "text": message_text},
        "seats": _seats(controller),
        "games": [_game(game) for game in controller.rules.games],
        "house_rules": _house_rules(controller),
        "claim": _claim(controller),
        "wins": [_win(controller, win) for win in state.wins],
        "meters": [
            {"id": m.id, "label": m.label, "shown_cents": m.shown_cents, "age_ms": age_ms}
            for m in controller.meters.meters
        ],
        "link": "up" if controller.link.up else "down",
        "key": controller.rules.key,
        "faults": [
            {"code": fault.code, "part": fault.part, "text": fault.sentence}
            for fault in controller.faults.all()
        ],
        "software": SOFTWARE,
    }


def _seats(controller: Controller) -> list[View]:
    state = controller.keeper.state
    seats: list[View] = [
        {"seat": seat, "selected": seat == state.selected_seat, "sensors": []}
        for seat in range(1, controller.config.seat_count + 1)
    ]
    for place in controller.board.sensors:
        spot = controller.spots[place.id]
        seats[place.seat - 1]["sensors"].append(
            {
                "id": place.id,
                "light": controller.light(place.id),
                "presence": spot.presence,
                "accepted": place.id in state.accepted,
                "hand": state.hand_at(place.id),
                "fault": spot.reason,
            }
        )
    return seats


def _game(game: Game) -> View:
    return {
        "letter": game.letter,
        "title": game.title,
        "wager_cents": game.wager_cents,
        "hands": [
            {"id": h.hand_id, "label": h.label, "pays": pays(h), "envy_cents": h.envy_cents}
            for h in game.hands
        ],
    }


def _house_rules(controller: Controller) -> list[View]:
    """What the dealer may look up: the house's choice on folded hands, and the games' notes."""
    settings = controller.settings
    if settings is None:
        return []
    word = "qualify" if settings.folded_hands_qualify else "do not qualify"
    notes = [{"game": note.letter, "text": note.text} for note in settings.notes]
    return [{"game": "", "text": f"Folded hands {word} for the jackpot."}, *notes]


def pays(hand: Hand) -> str:
    if hand.pay_kind == kinds.PAY_FOR_ONE:
        return f"{hand.pay_value} for 1"
    whole, rest = divmod(hand.pay_value, 10_000)
    return f"{whole} %" if not rest else f"{whole}.{rest:04d}".rstrip("0") + " %"


def _claim(controller: Controller) -> View | None:
    state, rules = controller.keeper.state, controller.rules
    if not state.hands and state.claim is None:
        return None
    claim = state.claim
    if claim is not None and claim.awarded:
        lines, envy, role = claim.award_lines, claim.envy, authority_needed(rules, claim)
    else:
        pairs = claim.lines if claim is not None else state.hands
        paid = [line for win in state.wins for line in win.lines]
        drawn = payout.drawn_levels(rules, paid)
        lines = payout.price(rules, pairs, controller.meters.cents(), drawn)
        envy = payout.envy_sheet(rules, state.accepted, lines, state.joined)
        role = payout.required_role(rules, lines)
    return {
        "number": claim.number if claim is not None else 0,
        "stage": state.stage(),
        "lines": _lines(controller, lines),
        "envy": _envy(envy),
        "total_cents": payout.total_cents(lines),
        "role": ROLE_NAMES[role],
        "final": claim is not None and claim.awarded and (claim.frozen or claim.authorised),
    }


def _win(controller: Controller, win: Any) -> View:
    return {
        "win": win.win_number,
        "lines": _lines(controller, win.lines),
        "envy": _envy(win.envy),
    }


def _lines(controller: Controller, lines: list[list[Any]]) -> list[View]:
    return [
        {
            "order": order,
            "seat": seat_of(sensor),
            "sensor": sensor,
            "hand": hand,
            "label": controller.rules.label_of(hand),
            "amount_cents": amount_cents,
        }
        for order, (sensor, hand, amount_cents, _level, _source) in enumerate(lines, start=1)
    ]


def _envy(rows: list[list[Any]]) -> list[View]:
    return [
        {"seat": seat_of(sensor), "sensor": sensor, "amount_cents": amount_cents}
        for sensor, amount_cents in rows
    ]
