"""Makes a table's settings for the unit from its set-up file and the game packs.

It joins paytable, jackpots and cards, and refuses a combination that has no meaning. It neither
reads files nor writes the ledger.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from manager.games import ForOne, PackError, Paytable, Percent, ToOne, UnknownPaytableError
from manager.games import Hand as PaytableHand
from manager.ledger.terms import FROM_METER, Jackpot
from manager.money import PARTS_PER_MILLION
from manager.section import SetupError
from manager.setup_file import PaytableChoice, SetupFile
from protocol.cards import card_digest
from protocol.errors import ProtocolError
from protocol.settings import (
    PAY_FOR_ONE,
    PAY_PERCENT,
    STOP_SENTENCE_MAX_BYTES,
    CardSetting,
    GameSetting,
    HandSetting,
    MeterName,
    NoteSetting,
    TableSettings,
    TechSetting,
)

LoadPaytable = Callable[[str], Paytable]
CENTS_PER_DOLLAR = 100
SCALES = "fixed-pays"


def build_settings(
    setup: SetupFile, card_salt: bytes, load_paytable: LoadPaytable
) -> TableSettings:
    """The settings, or a sentence that names the part of the file to change."""
    games = tuple(_game(setup, choice, load_paytable) for choice in setup.paytables)
    _refuse_unused_jackpots(setup, games)
    try:
        settings = TableSettings(
            table_id=setup.table_id,
            name=setup.name,
            workflow=setup.workflow,
            seat_count=setup.seat_count,
            dealer_limit_cents=setup.dealer_limit_cents,
            games=games,
            executive_from_cents=setup.executive_from_cents,
            executive_percent_ppm=setup.executive_percent_ppm,
            card_salt=card_salt,
            cards=_cards(setup, card_salt),
            folded_hands_qualify=_folded_hands_qualify(setup),
            card_last_days=_card_last_days(setup),
            disabled_cards=_disabled_cards(setup, card_salt),
            wrong_cards_max=setup.policy.wrong_cards_max,
            wrong_cards_within_s=setup.policy.wrong_cards_within_s,
            card_lockout_s=setup.policy.card_lockout_s,
            techs=tuple(TechSetting(t.label, t.pin_salt, t.pin_hash) for t in setup.techs),
            tamper_stops=setup.policy.tamper_stops,
        )
        _check_room(settings)
    except ProtocolError as error:
        raise SetupError(f"Table {setup.table_id}: {error.sentence}") from error
    return _with_notes(settings, setup, load_paytable)


def _check_room(settings: TableSettings) -> None:
    """All of it must fit the one frame that takes it to the unit, also when play is stopped."""
    replace(settings, stop_sentence="x" * STOP_SENTENCE_MAX_BYTES).encode()


def _with_notes(
    settings: TableSettings, setup: SetupFile, load_paytable: LoadPaytable
) -> TableSettings:
    """The packs' notes for the dealer, where there is room beside what the table needs."""
    notes = tuple(
        NoteSetting(choice.letter, text)
        for choice in setup.paytables
        for text in load_paytable(choice.paytable_id).notes
    )
    noted = replace(settings, notes=notes)
    try:
        _check_room(noted)
    except ProtocolError:
        return settings
    return noted


def _cards(setup: SetupFile, card_salt: bytes) -> tuple[CardSetting, ...]:
    return tuple(
        CardSetting(card_digest(card_salt, card.account), card.role, card.label)
        for card in setup.cards
        if card.enabled
    )


def _card_last_days(setup: SetupFile) -> tuple[int, ...]:
    """One per enabled card; nothing at all while no card ever ends."""
    days = tuple(card.last_day for card in setup.cards if card.enabled)
    return days if any(days) else ()


def _disabled_cards(setup: SetupFile, card_salt: bytes) -> tuple[bytes, ...]:
    """Known to be refused by name; they are not among the cards that an older unit would accept."""
    return tuple(card_digest(card_salt, card.account) for card in setup.cards if not card.enabled)


def _folded_hands_qualify(setup: SetupFile) -> bool:
    choices = {choice.folded_hands_qualify for choice in setup.paytables}
    if len(choices) > 1:
        raise SetupError("paytables: folded_hands_qualify must be the same for the whole table.")
    return choices.pop()


def _game(setup: SetupFile, choice: PaytableChoice, load_paytable: LoadPaytable) -> GameSetting:
    path = f"paytables.{choice.letter}"
    try:
        paytable = load_paytable(choice.paytable_id)
    except (UnknownPaytableError, PackError) as error:
        raise SetupError(f"{path}.paytable: {error}") from error
    jackpots = _jackpots_by_level(setup, choice, paytable, path)
    _check_scaling(setup, choice, paytable, path)
    taken_ppm = sum(each.contribution_ppm + each.reserve_ppm for each in jackpots.values())
    if taken_ppm > PARTS_PER_MILLION:
        raise SetupError(f"{path}: its jackpots together take more than the whole wager.")
    return GameSetting(
        choice.letter,
        paytable.id,
        paytable.title,
        choice.wager_cents,
        tuple(MeterName(jackpot.id, jackpot.label) for jackpot in jackpots.values()),
        tuple(_hand(hand, paytable, choice, jackpots, path) for hand in paytable.hands),
    )


def _check_scaling(setup: SetupFile, choice: PaytableChoice, paytable: Paytable, path: str) -> None:
    """Pays and seeds are printed for a $1 wager; only where the pack says so do they scale."""
    if paytable.wager_scaling == SCALES:
        return
    if choice.wager_cents != CENTS_PER_DOLLAR:
        raise SetupError(
            f"{path}.wager_cents must be {CENTS_PER_DOLLAR}: the pays of {paytable.id} do not"
            " scale with the wager."
        )
    for name in choice.levels.values():
        if name in setup.scaled_seeds:
            raise SetupError(
                f"jackpots.{name}.seed_scales_with_wager must be false: {paytable.id} does not"
                " scale with the wager."
            )


def _jackpots_by_level(
    setup: SetupFile, choice: PaytableChoice, paytable: Paytable, path: str
) -> dict[str, Jackpot]:
    """Each level of the paytable with its jackpot, in the paytable's order."""
    levels = [level.id for level in paytable.levels]
    if not levels:
        raise SetupError(f"{path}.paytable: {paytable.id} pays from no meter.")
    for level in choice.levels:
        if level not in levels:
            raise SetupError(f"{path}.levels.{level} is no level of {paytable.id}.")
    missing = [level for level in levels if level not in choice.levels]
    if missing:
        raise SetupError(f"{path}.levels.{missing[0]} is missing.")
    for level in levels:
        if choice.levels[level] not in setup.jackpots:
            raise SetupError(f"{path}.levels.{level}: no jackpot {choice.levels[level]!r}.")
    if len(set(choice.levels.values())) != len(levels):
        raise SetupError(f"{path}.levels: two levels name the same jackpot.")
    return {level: setup.jackpots[choice.levels[level]] for level in levels}


def _hand(
    hand: PaytableHand,
    paytable: Paytable,
    choice: PaytableChoice,
    jackpots: dict[str, Jackpot],
    path: str,
) -> HandSetting:
    envy_cents = _envy_cents(hand, paytable, choice, path)
    pay = hand.pay
    if isinstance(pay, Percent):
        meter_id = jackpots[pay.level].id
        return HandSetting(hand.id, hand.label, PAY_PERCENT, pay.ppm, meter_id, envy_cents)
    if isinstance(pay, ForOne):
        meter_id = _fixed_pays_meter(jackpots, path)
        return HandSetting(hand.id, hand.label, PAY_FOR_ONE, pay.n, meter_id, envy_cents)
    assert isinstance(pay, ToOne)
    raise SetupError(f"{path}: {hand.id} pays to 1, which is a bet outside the jackpot system.")


def _fixed_pays_meter(jackpots: dict[str, Jackpot], path: str) -> str:
    """The meter that pays fixed pays, or "" for the tray."""
    paying = [jackpot.id for jackpot in jackpots.values() if jackpot.fixed_pays_from == FROM_METER]
    if len(paying) > 1:
        raise SetupError(f"{path}: fixed pays can come from one meter only, not {len(paying)}.")
    return paying[0] if paying else ""


def _envy_cents(hand: PaytableHand, paytable: Paytable, choice: PaytableChoice, path: str) -> int:
    """Envy is printed for a $1 wager; only where the paytable says so does it grow with it."""
    if not paytable.envy_scales:
        return hand.envy_cents
    envy_cents, rest = divmod(hand.envy_cents * choice.wager_cents, CENTS_PER_DOLLAR)
    if rest:
        raise SetupError(f"{path}.wager_cents: the envy of {hand.id} is not whole cents.")
    return envy_cents


def _refuse_unused_jackpots(setup: SetupFile, games: tuple[GameSetting, ...]) -> None:
    used = {meter.id for game in games for meter in game.meters}
    for name in setup.jackpots:
        if name not in used:
            raise SetupError(f"jackpots.{name} is used by no paytable.")
