"""Makes a table's settings for the unit from its set-up file and the game packs.

It joins paytable, jackpots and cards, and refuses a combination that has no meaning. It neither
reads files nor writes the ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction

from kit.config import ConfigError, Path, refusal
from manager.games import ForOne, Paytable, Percent, ToOne, UnknownPaytableError
from manager.games import Hand as PaytableHand
from manager.games.rules.aggregate import PER_PLAYER
from manager.games.rules.settlement import RuleError
from manager.ledger.terms import FROM_METER, Jackpot
from manager.money import CENTS_MAX, PARTS_PER_MILLION
from manager.setup.table_file import PaytableChoice, SetupFile
from protocol.numbers import PAY_FOR_ONE, PAY_PERCENT
from protocol.wire.errors import ProtocolError
from protocol.wire.rows import LABEL
from protocol.wire.settings import (
    STOP_SENTENCE_MAX_BYTES,
    GameSetting,
    HandSetting,
    MeterSetting,
    NoteSetting,
    TableSettings,
    TechSetting,
    with_limits,
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
            folded_hands_qualify=_folded_hands_qualify(setup),
            wrong_cards_max=setup.policy.wrong_cards_max,
            wrong_cards_within_s=setup.policy.wrong_cards_within_s,
            card_lockout_s=setup.policy.card_lockout_s,
            techs=tuple(TechSetting(t.label, t.pin_salt, t.pin_hash) for t in setup.techs),
            tamper_stops=setup.policy.tamper,
            notices=setup.display.notices,
            accent=setup.display.accent,
            background=setup.display.background,
            logo=setup.display.logo,
            aggregate_limit_cents=_aggregate_limit_cents(setup),
            aggregate_per_player=_is_per_player(setup),
        )
        _check_room(settings)
    except ProtocolError as error:
        raise refusal((), f"Table {setup.table_id}: {error.sentence}") from error
    return _with_notes(settings, setup, load_paytable)


def _aggregate_limit_cents(setup: SetupFile) -> int:
    limit = setup.aggregate_limit
    if limit is None:
        return 0
    try:
        limit.check(max(choice.wager_cents for choice in setup.paytables))
    except RuleError as error:
        raise refusal(("aggregate_limit", "amount"), str(error)) from error
    return limit.cents


def _is_per_player(setup: SetupFile) -> bool:
    return setup.aggregate_limit is not None and setup.aggregate_limit.per == PER_PLAYER


def _check_room(settings: TableSettings) -> None:
    """All of it must fit the one frame that takes it to the unit, also when play is stopped and
    every jackpot has a limit."""
    limits = {meter.id: CENTS_MAX for game in settings.games for meter in game.meters}
    limited = with_limits(settings.games, limits)
    replace(settings, games=limited, stop_sentence="x" * STOP_SENTENCE_MAX_BYTES).encode()


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


def _folded_hands_qualify(setup: SetupFile) -> bool:
    choices = {choice.folded_hands_qualify for choice in setup.paytables}
    if len(choices) > 1:
        raise refusal(("paytables",), "folded_hands_qualify must be the same for the whole table.")
    return choices.pop()


def _game(setup: SetupFile, choice: PaytableChoice, load_paytable: LoadPaytable) -> GameSetting:
    path: Path = ("paytables", choice.letter)
    try:
        paytable = load_paytable(choice.paytable_id)
    except (UnknownPaytableError, ConfigError) as error:
        raise refusal((*path, "paytable"), str(error)) from error
    jackpots = _jackpots_by_level(setup, choice, paytable, path)
    _check_scaling(setup, choice, paytable, path)
    check_reserve(paytable, jackpots.values(), path)
    taken_ppm = sum(each.contribution_ppm + each.reserve_ppm for each in jackpots.values())
    if taken_ppm > PARTS_PER_MILLION:
        raise refusal(path, "its jackpots together take more than the whole wager.")
    return GameSetting(
        choice.letter,
        paytable.id,
        _title(choice, paytable, path),
        choice.wager_cents,
        tuple(
            MeterSetting(jackpot.id, jackpot.label, setup.authorities[jackpot.id])
            for jackpot in jackpots.values()
        ),
        tuple(_hand(hand, paytable, choice, jackpots, path) for hand in paytable.hands),
    )


def check_reserve(paytable: Paytable, jackpots: Iterable[Jackpot], path: Path) -> None:
    """Where a document prints the reserve of a paytable, no other one is that paytable."""
    growing = [each for each in jackpots if not each.is_house]  # a posted prize takes no wager
    taken_ppm = sum(each.reserve_ppm for each in growing)
    if growing and paytable.reserve_ppm and taken_ppm != paytable.reserve_ppm:
        percent = Fraction(paytable.reserve_ppm * 100, PARTS_PER_MILLION)
        raise refusal(
            path,
            f"{paytable.id} has a reserve of {percent} % of each wager (reserve_ppm ="
            f" {paytable.reserve_ppm}), not {taken_ppm}.",
        )


def _title(choice: PaytableChoice, paytable: Paytable, path: Path) -> str:
    """The house's own title, or the name of the game at this table."""
    title = choice.title or paytable.title_at(choice.game)
    most = LABEL.bytes_max
    if len(title.encode()) > most:
        sentence = f"is needed: {title!r} is longer than the {most} bytes a display has room for."
        raise refusal((*path, "title"), sentence)
    return title


def _check_scaling(
    setup: SetupFile, choice: PaytableChoice, paytable: Paytable, path: Path
) -> None:
    """Pays and seeds are printed for a $1 wager; only where the pack says so do they scale."""
    if paytable.wager_scaling == SCALES:
        return
    if choice.wager_cents != CENTS_PER_DOLLAR:
        raise refusal(
            (*path, "wager_cents"),
            f"must be {CENTS_PER_DOLLAR}: the pays of {paytable.id} do not scale with the wager.",
        )
    for name in choice.levels.values():
        if name in setup.scaled_seeds:
            raise refusal(
                ("jackpots", name, "seed_scales_with_wager"),
                f"must be false: {paytable.id} does not scale with the wager.",
            )


def _jackpots_by_level(
    setup: SetupFile, choice: PaytableChoice, paytable: Paytable, path: Path
) -> dict[str, Jackpot]:
    """Each level of the paytable with its jackpot, in the paytable's order."""
    levels = [level.id for level in paytable.levels]
    if not levels:
        raise refusal((*path, "paytable"), f"{paytable.id} pays from no meter.")
    for level in choice.levels:
        if level not in levels:
            raise refusal((*path, "levels", level), f"is no level of {paytable.id}.")
    missing = [level for level in levels if level not in choice.levels]
    if missing:
        raise refusal((*path, "levels", missing[0]), "is missing.")
    for level in levels:
        if choice.levels[level] not in setup.jackpots:
            raise refusal((*path, "levels", level), f"no jackpot {choice.levels[level]!r}.")
    if len(set(choice.levels.values())) != len(levels):
        raise refusal((*path, "levels"), "two levels name the same jackpot.")
    return {level: setup.jackpots[choice.levels[level]] for level in levels}


def _hand(
    hand: PaytableHand,
    paytable: Paytable,
    choice: PaytableChoice,
    jackpots: dict[str, Jackpot],
    path: Path,
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
    raise refusal(path, f"{hand.id} pays to 1, which is a bet outside the jackpot system.")


def _fixed_pays_meter(jackpots: dict[str, Jackpot], path: Path) -> str:
    """The meter that pays fixed pays, or "" for the tray."""
    paying = [jackpot.id for jackpot in jackpots.values() if jackpot.fixed_pays_from == FROM_METER]
    if len(paying) > 1:
        raise refusal(path, f"fixed pays can come from one meter only, not {len(paying)}.")
    return paying[0] if paying else ""


def _envy_cents(hand: PaytableHand, paytable: Paytable, choice: PaytableChoice, path: Path) -> int:
    """Envy is printed for a $1 wager; only where the paytable says so does it grow with it."""
    if not paytable.envy_scales:
        return hand.envy_cents
    envy_cents, rest = divmod(hand.envy_cents * choice.wager_cents, CENTS_PER_DOLLAR)
    if rest:
        raise refusal((*path, "wager_cents"), f"the envy of {hand.id} is not whole cents.")
    return envy_cents


def _refuse_unused_jackpots(setup: SetupFile, games: tuple[GameSetting, ...]) -> None:
    used = {meter.id for game in games for meter in game.meters}
    for name in setup.jackpots:
        if name not in used:
            raise refusal(("jackpots", name), "is used by no paytable.")
