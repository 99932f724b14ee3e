"""What the pages show of a table, as one JSON-able value, and the door they press through.

It reads the table's parts and changes nothing. Amounts are whole cents; an amount that nobody knows
yet is None, never zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from controller.core.felt import spot
from controller.core.round import paying, payout
from controller.core.round.claims import ROLE_NAMES, authority_needed
from controller.core.round.guide import Around, Guide, can_void, guide, said
from controller.core.round.late_entry import why_not as why_no_late_entry
from controller.core.round.rules import Rules
from controller.core.round.state import RoundState
from controller.core.round.voiding import REASON_WORDS
from controller.felt.table_felt import TableFelt
from controller.keeper import RoundKeeper
from controller.lights.table_lights import TableLights
from controller.table.dealt_hands import DealtHands
from controller.table.news import TableNews
from controller.table.state import TableState
from controller.web.api import Press, View
from controller.web.deal_view import deal_view
from kit.version import SOFTWARE
from kit.words.numbers import money
from protocol import numbers
from protocol.sensor_id import letter_of, seat_of
from protocol.wire.settings import GameSetting, HandSetting, TableSettings

AGGREGATE_PER_PLAYER = (
    "Aggregate limit: {} a round for each player, on pays of 50 to 1 or more, not on envy."
)
AGGREGATE_PER_TABLE = (
    "Aggregate limit: {} a round for the table, on pays of 50 to 1 or more, not on envy."
)
FOLDED_QUALIFY = "Folded hands qualify for the jackpot."
FOLDED_DO_NOT = "Folded hands do not qualify for the jackpot."


@dataclass(frozen=True)
class Asked:
    """What people are asked for that the round does not know of."""

    lock_out_left_ms: Callable[[], int]  # so long no card is taken any more
    is_training_asked: Callable[[], bool]
    question: Callable[[], tuple[str, str]]  # a keypad's


class TablePages:
    """A table as its pages know it (`controller.web.api.TableApi`)."""

    def __init__(
        self,
        table: TableState,
        keeper: RoundKeeper,
        news: TableNews,
        felt: TableFelt,
        lights: TableLights,
        press: Press,
        asked: Asked,
        deal: DealtHands,
    ) -> None:
        self._table = table
        self._keeper = keeper
        self._news = news
        self._felt = felt
        self._lights = lights
        self.press = press
        self._asked = asked
        self._deal = deal

    @property
    def view_version(self) -> int:
        return self._news.shown.version

    async def view_changed(self, after: int) -> int:
        return await self._news.shown.changed(after)

    def view(self) -> View:
        state, table, config = self._keeper.state, self._table, self._table.config
        rules, meters = self._rules(), self._meters()
        message_id, message_kind, message_text = self._news.message
        now = self._guide(state)
        return {
            "table": config.table_id,
            "name": config.name,
            "title": _heading(config.name, table.settings),
            "workflow": config.workflow,
            "state": now.word,
            "guide": {
                "sentence": now.sentence,
                "kind": now.kind,
                "next": now.next_button,
                "lit": now.lit,
                "ends_ms": now.ends_ms,
            },
            "round": state.round_number,
            # Of the live round: a training never keeps a unit from being restarted.
            "round_open": self._keeper.live_state.round_open,
            "training": self._keeper.training is not None,
            "service": table.service.is_on,
            "wagers": len(state.accepted),
            "joined": [list(group) for group in state.joined],
            "message": {"id": message_id, "kind": message_kind, "text": message_text},
            "seats": self._seats(state),
            "games": [_game(game) for game in table.settings.games] if table.settings else [],
            "notice": self._notice(),
            "house_rules": _house_rules(table.settings),
            "notices": _notices(table.settings),
            "theme": _theme(table.settings),
            "claim": _claim(state, rules, {meter["id"]: meter["shown_cents"] for meter in meters}),
            "can_reopen": state.closed is not None,
            "can_void": can_void(state, rules),
            "voided": sorted({seat_of(sensor) for sensor in state.voided}),
            "void_reason": REASON_WORDS.get(state.void_reason, state.void_reason),
            "last_games": self._last_games(state, rules),
            "pay": _pay(state, rules, self._keeper.clock.started_wall_ms),
            "wins": [_win(rules, win) for win in state.wins],
            "last_wins": [
                {"round": each.round_number, "wall_ms": each.wall_ms, **_win(rules, each.win)}
                for each in self._keeper.last_wins.newest_first()
            ],
            "meters": meters,
            "link": "up" if table.link_up else "down",
            "stop": table.rules.stop_sentence,
            "key": table.rules.key,
            "has_shuffler": config.board.shuffler is not None,
            # A shuffler tells of the table's own game: a training has no cards.
            "deal": None if self._keeper.training else deal_view(self._deal, state, table.rules),
            "faults": [
                {"code": fault.code, "part": fault.part, "text": fault.sentence}
                for fault in table.faults.all()
            ],
            "software": SOFTWARE,
        }

    def text_view(self) -> View:
        """As much of `view` as four rows of text can say; they are laid out each second."""
        state, meters = self._keeper.state, self._meters()
        rules = self._rules()
        word, sentence = said(state, rules, self._around())
        return {
            "state": word,
            "guide": {"sentence": sentence},
            "training": self._keeper.training is not None,
            "service": self._table.service.is_on,
            "claim": _claim(state, rules, {meter["id"]: meter["shown_cents"] for meter in meters}),
            "pay": _pay(state, rules, self._keeper.clock.started_wall_ms),
            "meters": meters,
        }

    def _guide(self, state: RoundState) -> Guide:
        return guide(state, self._rules(), self._around())

    def _around(self) -> Around:
        """What the guide must know beside the round and its rules."""
        spots = self._felt.spots
        chips = [name for name, each in spots.items() if each.presence == spot.PRESENT]
        kind, text, age_ms = self._news.last_word()
        return Around(
            chips,
            self._felt.is_dead(),
            kind,
            text,
            age_ms,
            self._asked.lock_out_left_ms(),
            self._asked.is_training_asked(),
            self._asked.question(),
        )

    def _last_games(self, state: RoundState, rules: Rules) -> list[View]:
        """The games whose forgotten win a supervisor could enter now."""
        if why_no_late_entry(state, rules) or self._keeper.training:
            return []
        games = self._keeper.last_games.to_take_up(state)
        return [{"round": g.number, "wall_ms": g.wall_ms, "bets": len(g.accepted)} for g in games]

    def _rules(self) -> Rules:
        training, live = self._keeper.training, self._table.rules_now()
        return training.rules(live) if training else live

    def _meters(self) -> list[View]:
        """The amounts of now; those of a training are copies that nobody can win."""
        training, live = self._keeper.training, self._table.meters
        age_ms = 0 if training else live.age_ms()
        return [
            {"id": m.id, "label": m.label, "shown_cents": m.shown_cents, "age_ms": age_ms}
            for m in (training.meters() if training else live.meters)
        ]

    def _notice(self) -> str:
        """Why this table cannot open before a tech has done something, and what."""
        faults = self._table.faults.all()
        return next((fault.sentence for fault in faults if fault.code == "references"), "")

    def _seats(self, state: RoundState) -> list[View]:
        config = self._table.config
        seats: list[View] = [
            {"seat": seat, "selected": seat == state.selected_seat, "sensors": []}
            for seat in range(1, config.seat_count + 1)
        ]
        lights = self._lights.lights(self._felt.spots)
        for place in config.board.sensors:
            spot = self._felt.spots[place.id]
            seats[place.seat - 1]["sensors"].append(
                {
                    "id": place.id,
                    "light": lights[place.id],
                    "presence": spot.presence,
                    "accepted": place.id in state.accepted,
                    "hand": state.hand_at(place.id),
                    "fault": spot.reason,
                }
            )
        return seats


def _heading(name: str, settings: TableSettings | None) -> str:
    """What the display is headed with: the games' titles, each once, or the table's own name."""
    titles = dict.fromkeys(game.title for game in settings.games) if settings else {}
    return " · ".join(titles) or name


def _game(game: GameSetting) -> View:
    return {
        "letter": game.letter,
        "title": game.title,
        "wager_cents": game.wager_cents,
        "meters": [meter.id for meter in game.meters],
        "hands": [_hand(hand, game) for hand in game.hands],
    }


def _hand(hand: HandSetting, game: GameSetting) -> View:
    """A fixed pay is money for the wager in play; a share of a meter is named after its meter."""
    is_fixed = hand.pay_kind == numbers.PAY_FOR_ONE
    labels = {meter.id: meter.label for meter in game.meters}
    return {
        "id": hand.id,
        "label": hand.label,
        "pays": pays(hand),
        "level_label": "" if is_fixed else labels.get(hand.meter_id, ""),
        "amount_cents": hand.pay_value * game.wager_cents if is_fixed else None,
        "for_one": hand.pay_value if is_fixed else None,
        "envy_cents": hand.envy_cents,
    }


def _house_rules(settings: TableSettings | None) -> list[View]:
    """What the dealer may look up: the house's choice on folded hands, and the games' notes."""
    if settings is None:
        return []
    folded = FOLDED_QUALIFY if settings.folded_hands_qualify else FOLDED_DO_NOT
    notes = [{"game": note.letter, "text": note.text} for note in settings.notes]
    return [{"game": "", "text": folded}, *notes]


def _notices(settings: TableSettings | None) -> list[str]:
    """What must be posted: the house's own words, then the limits of the jackpots."""
    if settings is None:
        return []
    meters = {meter.id: meter for game in settings.games for meter in game.meters}
    limits = [
        f"{meter.label}: limited to {money(meter.limit_cents)}."
        for meter in meters.values()
        if meter.limit_cents
    ]
    return [*settings.notices, *limits, *_aggregate_notice(settings)]


def _aggregate_notice(settings: TableSettings) -> list[str]:
    if not settings.aggregate_limit_cents:
        return []
    amount = money(settings.aggregate_limit_cents)
    posted = AGGREGATE_PER_PLAYER if settings.aggregate_per_player else AGGREGATE_PER_TABLE
    return [posted.format(amount)]


def _theme(settings: TableSettings | None) -> View:
    if settings is None:
        return {"accent": "", "background": "", "logo": ""}
    return {
        "accent": settings.accent,
        "background": settings.background,
        "logo": settings.logo,
    }


def pays(hand: HandSetting) -> str:
    if hand.pay_kind == numbers.PAY_FOR_ONE:
        return f"{hand.pay_value:,} for 1"
    whole, rest = divmod(hand.pay_value, 10_000)
    return f"{whole} %" if not rest else f"{whole}.{rest:04d}".rstrip("0") + " %"


def _claim(state: RoundState, rules: Rules, meter_cents: dict[str, int]) -> View | None:
    if not state.hands and state.claim is None:
        return None
    claim = state.claim
    if claim is not None and claim.awarded:
        lines, envy, role = claim.award_lines, claim.envy, authority_needed(rules, claim)
    else:
        pairs = claim.lines if claim is not None else state.hands
        paid = [line for win in state.standing_wins() for line in win.lines]
        drawn = payout.drawn_meter_ids(rules, paid)
        # Of an earlier game only the manager knows what the meters showed.
        shown = meter_cents if state.aside is None else {}
        lines = payout.price(rules, pairs, shown, drawn)
        envy = payout.envy_sheet(rules, state.accepted, lines, state.joined)
        role = payout.required_role(rules, lines)
    return {
        "number": claim.number if claim is not None else 0,
        "stage": state.stage(),
        "lines": _lines(rules, lines),
        "envy": _envy(envy),
        "rows": _pay_rows(rules, paying.rows([(0, lines, envy, False)]), 0),
        "total_cents": payout.total_cents(lines),
        "role": ROLE_NAMES[role],
        "final": claim is not None and claim.awarded and (claim.frozen or claim.authorised),
    }


def _pay(state: RoundState, rules: Rules, locked_wall_ms: int) -> View | None:
    """What the wins of this round are to hand to whom, and what was ticked off; None without."""
    if not state.wins:
        return None
    rows = _pay_rows(rules, paying.round_rows(state), locked_wall_ms)
    sums = ("total_cents", "paid_cents", "due_cents", "take_back_cents")
    return {"rows": rows} | {name: sum(row[name] for row in rows) for name in sums}


def _pay_rows(rules: Rules, rows: list[paying.PayRow], locked_wall_ms: int) -> list[View]:
    return [
        {
            "seat": row.seat,
            "lines": [_pay_line(rules, line) for line in row.lines],
            "total_cents": row.total_cents(),
            "paid_cents": row.paid_cents,
            "due_cents": row.due_cents(),
            "take_back_cents": row.take_back_cents(),
            "paid_wall_ms": (
                None if row.paid_offset_ms is None else locked_wall_ms + row.paid_offset_ms
            ),
        }
        for row in rows
    ]


def _pay_line(rules: Rules, line: paying.PayLine) -> View:
    return {
        "kind": line.kind,
        "win": line.win_number,
        "sensor": line.sensor,
        "game": letter_of(line.sensor),
        "label": rules.label_of(line.hand_id) if line.hand_id else "",
        "amount_cents": line.amount_cents,
        "reversed": line.is_reversed,
    }


def _win(rules: Rules, win: Any) -> View:
    return {
        "win": win.win_number,
        "reversed": win.is_reversed,
        "lines": _lines(rules, win.lines),
        "envy": _envy(win.envy),
    }


def _lines(rules: Rules, lines: list[list[Any]]) -> list[View]:
    return [
        {
            "order": order,
            "seat": seat_of(sensor),
            "sensor": sensor,
            "hand": hand,
            "label": rules.label_of(hand),
            "amount_cents": amount_cents,
            "source": "meter" if source == numbers.SOURCE_METER else "tray",
        }
        for order, (sensor, hand, amount_cents, _level, source) in enumerate(lines, start=1)
    ]


def _envy(rows: list[list[Any]]) -> list[View]:
    return [
        {"seat": seat_of(sensor), "sensor": sensor, "amount_cents": amount_cents}
        for sensor, amount_cents in rows
    ]
