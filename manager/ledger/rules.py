"""What a table's settings mean for money: which game a sensor plays, what a hand pays, who is
paid first, who gets envy, and whose authority a win needs.

Pure: made from the settings the unit also has and the terms of the meters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from manager.ledger.errors import BookingRefused
from manager.ledger.jackpots import Jackpot
from manager.ledger.pricing import Pay, WagerSplit, split_wager
from manager.ledger.table_authority import NOBODY, TableAuthority
from protocol.numbers import (
    AUTHORITY_BY_PERCENT,
    PAY_PERCENT,
    ROLE_DEALER,
    ROLE_EXECUTIVE,
    ROLE_SUPERVISOR,
    SOURCE_METER,
    SOURCE_TRAY,
)
from protocol.sensor_id import letter_of, pay_order, seat_of
from protocol.wire.rows import AwardLine, EnvyLine
from protocol.wire.settings import GameSetting, HandSetting, TableSettings, settings_digest

ROLE_NAMES = {ROLE_DEALER: "DEALER", ROLE_SUPERVISOR: "SUPERVISOR", ROLE_EXECUTIVE: "EXECUTIVE"}


def seats_of_player(seat: int, joined: Sequence[Sequence[int]]) -> set[int]:
    """The seat and those that the same player holds with it."""
    return {seat}.union(*(group for group in joined if seat in group))


@dataclass(frozen=True)
class TableRules:
    settings: TableSettings
    jackpots: Mapping[str, Jackpot]
    authority: TableAuthority = NOBODY

    @cached_property
    def table_id(self) -> str:
        return self.settings.table_id

    @cached_property
    def settings_bytes(self) -> bytes:
        """The settings as the unit gets them; made once, however many units come back."""
        return self.settings.encode()

    @cached_property
    def settings_digest(self) -> bytes:
        return settings_digest(self.settings_bytes)

    @cached_property
    def meter_ids(self) -> tuple[str, ...]:
        """Every meter of the table once, in the order of its games."""
        names = [meter.id for game in self.settings.games for meter in game.meters]
        return tuple(dict.fromkeys(names))

    @cached_property
    def meter_keys(self) -> tuple[tuple[str], ...]:
        return tuple((name,) for name in self.meter_ids)

    @cached_property
    def meter_labels(self) -> tuple[tuple[str, str], ...]:
        """What its displays show: tables with the same show the same."""
        return tuple((name, self.jackpots[name].label) for name in self.meter_ids)

    def game(self, sensor: str) -> GameSetting:
        """The game this sensor plays; a sensor the table does not have is refused."""
        game = self.games.get(sensor)
        if game is None:
            raise BookingRefused(f"Table {self.table_id} has no sensor {sensor}.")
        return game

    @cached_property
    def games(self) -> Mapping[str, GameSetting]:
        """By sensor, of every sensor that the table has."""
        seats = range(1, self.settings.seat_count + 1)
        return {f"{seat}{game.letter}": game for game in self.settings.games for seat in seats}

    def split(self, game: GameSetting) -> WagerSplit | None:
        """Where each wager of a game goes; None where a meter's limit makes them differ."""
        return self._splits[game.letter]

    @cached_property
    def _splits(self) -> dict[str, WagerSplit | None]:
        splits: dict[str, WagerSplit | None] = {}
        for game in self.settings.games:
            terms = [self.jackpots[meter.id] for meter in game.meters]
            is_limited = any(each.limit_cents for each in terms)
            rates = [each.rate() for each in terms]
            splits[game.letter] = None if is_limited else split_wager(game.wager_cents, rates)
        return splits

    def hand(self, sensor: str, hand_id: str) -> HandSetting:
        for hand in self.game(sensor).hands:
            if hand.id == hand_id:
                return hand
        raise BookingRefused(f"The game at {sensor} pays no hand {hand_id}.")

    def pay(self, sensor: str, hand_id: str) -> Pay:
        """What the hand pays, before any meter is looked at."""
        game, hand = self.game(sensor), self.hand(sensor, hand_id)
        if hand.pay_kind == PAY_PERCENT:
            return Pay(sensor, hand_id, hand.meter_id, hand.pay_value, 0)
        return Pay(sensor, hand_id, hand.meter_id, 0, hand.pay_value * game.wager_cents)

    def freezes_claims(self, pays: Iterable[Pay]) -> bool:
        """True when a meter concerned fixes the amount at the claim."""
        return any(pay.meter_id and self.jackpots[pay.meter_id].freeze_claims for pay in pays)

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
        """The authority a claim needs: by meter and by its whole amount, the strictest wins."""
        by_meter = [self._share_role(pay) for pay in pays if pay.percent_ppm]
        return max([self._amount_role(sum(amounts_cents)), *by_meter])

    def _share_role(self, pay: Pay) -> int:
        """What the house chose for this meter, or by how much of a meter is paid."""
        meters = [meter for game in self.settings.games for meter in game.meters]
        chosen = next(meter.authority for meter in meters if meter.id == pay.meter_id)
        if chosen != AUTHORITY_BY_PERCENT:
            return chosen
        is_large = pay.percent_ppm >= self.settings.executive_percent_ppm
        return ROLE_EXECUTIVE if is_large else ROLE_SUPERVISOR

    def _amount_role(self, total_cents: int) -> int:
        if total_cents >= self.settings.executive_from_cents:
            return ROLE_EXECUTIVE
        return ROLE_SUPERVISOR if total_cents > self.settings.dealer_limit_cents else ROLE_DEALER


def award_line(pay: Pay, amount_cents: int) -> AwardLine:
    source = SOURCE_METER if pay.meter_id else SOURCE_TRAY
    return AwardLine(pay.sensor, pay.hand, amount_cents, pay.meter_id, source)
