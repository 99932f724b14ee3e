"""The unit's own view of a win before the Game Manager priced it: order, amounts, envy, role.

A preview for the dealer and a second opinion on who must authorise; the amount that is paid always
comes from the Game Manager. Whole cents, truncated. An amount that cannot be known here is None,
never zero: a unit knows neither a meter's award policy nor what it is reseeded with.
"""

from protocol import numbers, sensor_id
from protocol.sensor_id import letter_of, seat_of

MYPY = False
if MYPY:
    from collections.abc import Sequence

    from controller.core.round.rules import Hand, Rules
    from controller.core.round.types import AwardLine, EnvyLine, Pair


# Smaller prizes are never limited.
LIMITED_FROM_ODDS = 50


def pay_order(lines: "list[Pair]") -> "list[Pair]":
    """The dealer's right first: the highest seat, then down; at one seat by letter."""
    # The key is complete because MicroPython's sort is not stable.
    return sorted(lines, key=lambda line: sensor_id.pay_order(line[0]))


def price(
    rules: "Rules",
    lines: "list[Pair]",
    meter_cents: "dict[str, int]",
    drawn: "Sequence[str]" = (),
) -> "list[AwardLine]":
    """The lines in pay order with the amounts that are the same under every award policy.

    A percentage is known when nothing else of the claim draws on its meter and the round has paid
    none from it before (`drawn`). Otherwise it depends on how the house lets winners share, on
    what a reseed brings, and only the Game Manager knows.
    """
    meter_ids = _meter_ids(rules, lines)
    priced = []
    for sensor, hand_id in pay_order(lines):
        hand = rules.hand_of(sensor, hand_id)
        if hand is None:
            priced.append([sensor, hand_id, None, "", numbers.SOURCE_TRAY])
            continue
        # Without its meter's amount a percentage is unknown, which shows; a guess would not.
        alone = meter_ids.count(hand.meter_id) == 1 and hand.meter_id not in drawn
        amount_cents = _amount(rules, sensor, hand, meter_cents if alone else {})
        source = numbers.SOURCE_METER if hand.meter_id else numbers.SOURCE_TRAY
        priced.append([sensor, hand_id, amount_cents, hand.meter_id, source])
    return priced


def drawn_meter_ids(rules: "Rules", lines: "list[AwardLine]") -> "list[str]":
    """The meters that these paid lines took a percentage of."""
    hands = [rules.hand_of(line[0], line[1]) for line in lines]
    return [hand.meter_id for hand in hands if hand and hand.pay_kind == numbers.PAY_PERCENT]


def _meter_ids(rules: "Rules", lines: "list[Pair]") -> "list[str]":
    hands = [rules.hand_of(sensor, hand_id) for sensor, hand_id in lines]
    return [hand.meter_id for hand in hands if hand is not None]


def _amount(
    rules: "Rules", sensor: str, hand: "Hand", meter_cents: "dict[str, int]"
) -> "int | None":
    if hand.pay_kind == numbers.PAY_FOR_ONE:
        game = rules.game_of(sensor)
        return hand.pay_value * game.wager_cents if game is not None else None
    shown_cents = meter_cents.get(hand.meter_id)
    if shown_cents is None:
        return None
    # Of the whole cents that the meter shows. The manager takes it of the micro-cents and cuts off
    # last, so of the same meter it may pay a cent more than this preview, never less.
    return shown_cents * hand.pay_value // numbers.WHOLE_METER_PPM


def total_cents(lines: "list[AwardLine]") -> "int | None":
    """The sum of the lines' amounts, None when one of them is not known."""
    total = 0
    for line in lines:
        if line[2] is None:
            return None
        total += line[2]
    return total


def envy_sheet(
    rules: "Rules",
    accepted: "list[str]",
    lines: "list[Pair] | list[AwardLine]",
    joined: "Sequence[list[int]]" = (),
) -> "list[EnvyLine]":
    """What each other bet of the same game gets for the qualifying hands, in pay order.

    The winner's own seat gets nothing for its own hand: two spots of one seat are one player, and
    so are seats that the dealer joined.
    """
    sheet = []
    for sensor, _bet in pay_order([[sensor, ""] for sensor in accepted]):
        amount_cents = 0
        for line in lines:
            hand = rules.hand_of(line[0], line[1])
            if hand is not None and _sees(sensor, line[0], joined):
                amount_cents += hand.envy_cents
        if amount_cents:
            sheet.append([sensor, amount_cents])
    return sheet


def _sees(sensor: str, winner: str, joined: "Sequence[list[int]]") -> bool:
    seat, winning_seat = seat_of(sensor), seat_of(winner)
    # Another game's bet bought no envy on this game's hands.
    if letter_of(sensor) != letter_of(winner) or seat == winning_seat:
        return False
    return not any(seat in group and winning_seat in group for group in joined)


def passes_limit(rules: "Rules", lines: "list[AwardLine]") -> bool:
    """Whether odds-based pays of this claim come to more than the house's aggregate limit.

    Neither shares of a meter, which are the players' own money, nor prizes below 50 to 1 count.
    """
    if not rules.aggregate_limit_cents:
        return False
    by_player: "dict[int, int]" = {}
    for sensor, hand_id, amount_cents, _meter_id, _source in lines:
        hand = rules.hand_of(sensor, hand_id)
        if hand is None or hand.pay_kind != numbers.PAY_FOR_ONE:
            continue
        if hand.pay_value > LIMITED_FROM_ODDS:  # N for 1 is N - 1 to 1
            player = seat_of(sensor) if rules.aggregate_per_player else 0
            by_player[player] = by_player.get(player, 0) + (amount_cents or 0)
    return any([cents > rules.aggregate_limit_cents for cents in by_player.values()])


def required_role(rules: "Rules", lines: "list[AwardLine]") -> int:
    """Who must authorise these priced lines: by meter and by amount, the stricter wins."""
    hands = [rules.hand_of(line[0], line[1]) for line in lines]
    total = total_cents(lines)
    if passes_limit(rules, lines):
        return numbers.ROLE_EXECUTIVE
    if any(_needs_executive(rules, hand) for hand in hands):
        return numbers.ROLE_EXECUTIVE
    if total is not None and total >= rules.executive_from_cents:
        return numbers.ROLE_EXECUTIVE
    # A share of a meter is never the dealer's alone, however small: it is the players' money.
    all_fixed = all(hand is not None and hand.pay_kind == numbers.PAY_FOR_ONE for hand in hands)
    if all_fixed and total is not None and total <= rules.dealer_limit_cents:
        return numbers.ROLE_DEALER
    return numbers.ROLE_SUPERVISOR


def _needs_executive(rules: "Rules", hand: "Hand | None") -> bool:
    # A hand that the settings do not know is not a small one.
    if hand is None:
        return True
    if hand.pay_kind != numbers.PAY_PERCENT:
        return False
    chosen = rules.meter_authority.get(hand.meter_id, numbers.AUTHORITY_BY_PERCENT)
    if chosen != numbers.AUTHORITY_BY_PERCENT:
        return chosen == numbers.ROLE_EXECUTIVE
    return hand.pay_value >= rules.executive_percent_ppm


def is_within_dealer_limit(rules: "Rules", lines: "list[Pair]") -> bool:
    """True when the dealer alone may record these hands: fixed pays, small in total."""
    return required_role(rules, price(rules, lines, {})) == numbers.ROLE_DEALER
