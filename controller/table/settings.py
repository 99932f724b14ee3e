"""Turns the manager's settings into the core's rules.

It alone knows both shapes. The settings come over the wire as checked records; the portable core
has plain classes of its own.
"""

from __future__ import annotations

from controller.core.round.rules import Game, Hand, Rules
from protocol.wire.settings import GameSetting, TableSettings


def rules_from(settings: TableSettings, workflow: str, sensors: list[str]) -> Rules:
    rules = Rules(
        workflow=workflow,
        sensors=sensors,
        games=[_game(game) for game in settings.games],
        dealer_limit_cents=settings.dealer_limit_cents,
        executive_from_cents=settings.executive_from_cents,
        executive_percent_ppm=settings.executive_percent_ppm,
        stop_sentence=settings.stop_sentence,
        meter_authority={
            meter.id: meter.authority for game in settings.games for meter in game.meters
        },
    )
    rules.aggregate_limit_cents = settings.aggregate_limit_cents
    rules.aggregate_per_player = settings.aggregate_per_player
    return rules


def rules_without_settings(workflow: str, sensors: list[str]) -> Rules:
    """Before the manager ever spoke there is no game to play; every command is refused."""
    return Rules(workflow, sensors, [], dealer_limit_cents=0, executive_from_cents=0)


def _game(game: GameSetting) -> Game:
    hands = [
        Hand(hand.id, hand.label, hand.pay_kind, hand.pay_value, hand.meter_id, hand.envy_cents)
        for hand in game.hands
    ]
    return Game(game.letter, game.title, game.wager_cents, hands)


def misfit(settings: TableSettings, workflow: str, seat_count: int, letters: set[str]) -> str:
    """Why these settings cannot be this unit's, "" when they fit."""
    if settings.workflow != workflow:
        return f"The Game Manager takes this for a {settings.workflow} table; it is {workflow}."
    if settings.seat_count != seat_count:
        return f"The Game Manager counts {settings.seat_count} seats; the unit has {seat_count}."
    games = {game.letter for game in settings.games}
    if games != letters:
        return (
            f"The Game Manager has games for sensors {', '.join(sorted(games))}; "
            f"the unit has sensors {', '.join(sorted(letters))}."
        )
    return ""
