"""What a table's settings mean for money: which game a sensor plays, what a hand pays, who is
paid first, who gets envy, and whose authority a win needs.

Pure: made from the settings the unit also has and the terms of the meters. A sensor id is the
seat's number and the game's letter, as in "5A".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from manager.ledger.errors import Refused
from manager.ledger.jackpots import Jackpot
from manager.ledger.pricing import Pay
from protocol.rows import (
    ROLE_DEALER,
    ROLE_EXECUTIVE,
    ROLE_SUPERVISOR,
    SOURCE_METER,
    SOURCE_TRAY,
    AwardLine,
    EnvyLine,
)
from protocol.settings import (
    PAY_PERCENT,
    CardSetting,
    GameSetting,
    HandSetting,
    TableSettings,
)

ROLE_NAMES = {ROLE_DEALER: "DEALER", ROLE_SUPERVISOR: "SUPERVISOR", ROLE_EXECUTIVE: "EXECUTIVE"}


def seat_of(sensor: str) -> int:
    return int(sensor[:-1])


def letter_of(sensor: str) -> str:
    return sensor[-1]


def pay_order(sensor: str) -> tuple[int, str]:
    """Sort key: the dealer's right is the highest seat and is paid first, then by letter."""
    return (-seat_of(sensor), letter_of(sensor))


def seats_of_player(seat: int, joined: Sequence[Sequence[int]]) -> set[int]:
    """The seat and those that the same player holds with it."""
    return {seat}.union(*(group for group in joined if seat in group))


@dataclass(frozen=True, slots=True)
class TableRules:
    settings: TableSettings
    jackpots: Mapping[str, Jackpot]

    @property
    def table_id(self) -> str:
        return self.settings.table_id

    @property
    def meter_ids(self) -> tuple[str, ...]:
        """Every meter of the table once, in the order of its games."""
        names = [meter.id for game in self.settings.games for meter in game.meters]
        return tuple(dict.fromkeys(names))

    def game(self, sensor: str) -> GameSetting:
        """The game this sensor plays; a sensor the table does not have is refused."""
        if 1 <= seat_of(sensor) <= self.settings.seat_count:
            for game in self.settings.games:
                if game.letter == letter_of(sensor):
                    return game
        raise Refused(f"Table {self.table_id} has no sensor {sensor}.")

    def hand(self, sensor: str, hand_id: str) -> HandSetting:
        for hand in self.game(sensor).hands:
            if hand.id == hand_id:
                return hand
        raise Refused(f"The game at {sensor} pays no hand {hand_id}.")

    def pay(self, sensor: str, hand_id: str) -> Pay:
        """What the hand pays, before any meter is looked at."""
        game, hand = self.game(sensor), self.hand(sensor, hand_id)
        if hand.pay_kind == PAY_PERCENT:
            return Pay(sensor, hand_id, hand.level, hand.pay_value, 0)
        return Pay(sensor, hand_id, hand.level, 0, hand.pay_value * game.wager_cents)

    def locks_claims(self, pays: Iterable[Pay]) -> bool:
        """True when a meter concerned fixes the amount at the claim."""
        return any(pay.meter_id and self.jackpots[pay.meter_id].claim_lock for pay in pays)

    def card(self, digest: bytes) -> CardSetting | None:
        return next((card for card in self.settings.cards if card.digest == digest), None)

    def envy(
        self, accepted: Sequence[str], pays: Sequence[Pay], joined: Sequence[Sequence[int]] = ()
    ) -> tuple[EnvyLine, ...]:
        """What every other player with a bet on the same game gets, summed per sensor.

        A player with two spots is one player: no envy for a hand at one's own seat, nor at a seat
        that the dealer joined to it.
        """
        sheet: dict[str, int] = {}
        for pay in pays:
            amount_cents = self.hand(pay.sensor, pay.hand).envy_cents
            own_seats = seats_of_player(seat_of(pay.sensor), joined)
            for sensor in accepted:
                other = seat_of(sensor) not in own_seats
                if amount_cents and other and letter_of(sensor) == letter_of(pay.sensor):
                    sheet[sensor] = sheet.get(sensor, 0) + amount_cents
        return tuple(EnvyLine(sensor, sheet[sensor]) for sensor in sorted(sheet, key=pay_order))

    def role(self, pays: Sequence[Pay], amounts_cents: Sequence[int]) -> int:
        """The authority a claim needs: by level and by its whole amount, the stricter wins."""
        total_cents = sum(amounts_cents)
        highest_ppm = max(pay.percent_ppm for pay in pays)
        if highest_ppm and highest_ppm >= self.settings.executive_percent_ppm:
            return ROLE_EXECUTIVE
        if total_cents >= self.settings.executive_from_cents:
            return ROLE_EXECUTIVE
        if highest_ppm or total_cents > self.settings.dealer_limit_cents:
            return ROLE_SUPERVISOR
        return ROLE_DEALER


def award_line(pay: Pay, amount_cents: int) -> AwardLine:
    source = SOURCE_METER if pay.meter_id else SOURCE_TRAY
    return AwardLine(pay.sensor, pay.hand, amount_cents, pay.meter_id, source)
