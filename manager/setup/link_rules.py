"""Which jackpots may stand together on a layout, and which tables may share a meter.

The rules of the approval documents and of WAC 230-15-685, each refused with its reason. A meter
named by several tables links them. What a game pays is in the packs; nothing is opened here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kit.config import ConfigError, Path, refusal
from manager.games import Paytable, UnknownPaytableError
from manager.ledger.terms import Jackpot
from manager.setup.table_file import SetupFile
from protocol.wire.settings import GameSetting, TableSettings

LETTERS = ("A", "B")
LoadPaytable = Callable[[str], Paytable]


@dataclass(frozen=True, slots=True)
class LinkedTable:
    """A table that is open: its settings and the game that is played on each of its sensors."""

    settings: TableSettings
    games: dict[str, str]


def check_layout(setup: SetupFile) -> None:
    """At most two jackpot games, one on each sensor, each with its own jackpots of one type."""
    owners: dict[str, str] = {}
    for choice in setup.paytables:
        path: Path = ("paytables", choice.letter)
        if choice.letter not in LETTERS:
            raise refusal(
                path,
                "a layout offers at most two jackpot games, one on each of the sensors A and B.",
            )
        for name in choice.levels.values():
            if owners.setdefault(name, choice.letter) != choice.letter:
                raise refusal(
                    path,
                    "each sensor is a separate game with a jackpot of its own, but"
                    f" {name!r} is also the jackpot of sensor {owners[name]}.",
                )
    _check_one_type(setup)


def _check_one_type(setup: SetupFile) -> None:
    jackpots = list(setup.jackpots.values())
    for jackpot in jackpots[1:]:
        if jackpot.type != jackpots[0].type:
            raise refusal(
                ("jackpots", jackpot.id),
                "all jackpots of a table must be of one type, but"
                f" {jackpots[0].id!r} is {jackpots[0].type} and this one {jackpot.type}.",
            )


def check_type(running: Jackpot, wanted: Jackpot) -> None:
    if running.type != wanted.type:
        raise refusal(
            ("jackpots", wanted.id),
            "a progressive jackpot is never linked with a house jackpot;"
            f" it runs as {running.type}.",
        )


def check_link(
    setup: SetupFile, settings: TableSettings, other: LinkedTable, load_paytable: LoadPaytable
) -> None:
    """Refuses to share a meter with a table where it would not be won alike."""
    for game in settings.games:
        for linked in other.settings.games:
            theirs = {meter.id for meter in linked.meters}
            shared = [meter.id for meter in game.meters if meter.id in theirs]
            if not shared:
                continue
            start = f"meter {shared[0]} is linked to table {other.settings.table_id}"
            games = (_game_at(setup, game.letter), other.games[linked.letter])
            reason = (
                _difference(game, linked, load_paytable)
                or _other_game(load_paytable(game.paytable), *games)
                or _mixed(setup, other, *games)
            )
            if reason:
                raise refusal(("paytables", game.letter), f"{start}, {reason}")


def _difference(game: GameSetting, linked: GameSetting, load_paytable: LoadPaytable) -> str:
    """The first thing that keeps two games from sharing a meter, "" when there is none."""
    ours = load_paytable(game.paytable)
    try:
        theirs = load_paytable(linked.paytable)
    except (UnknownPaytableError, ConfigError) as error:
        return f"whose paytable cannot be compared: {error}"
    pairs = (
        ("evaluator", ours.evaluator, theirs.evaluator),
        ("deck", ours.deck, theirs.deck),
        ("number of cards considered", ours.cards_considered, theirs.cards_considered),
        ("paytable", game.paytable, linked.paytable),
        ("wager", game.wager_cents, linked.wager_cents),
    )
    for name, our_value, their_value in pairs:
        if our_value != their_value:
            return f"which plays with another {name} ({their_value}, not {our_value})."
    if _pays(game) != _pays(linked):
        return "which was opened with other pays under this paytable's name."
    places = {meter.id: place for place, meter in enumerate(linked.meters)}
    for place, meter in enumerate(game.meters):
        if places.get(meter.id, place) != place:
            return "where it is the meter of another level."
    return ""


def _pays(game: GameSetting) -> list[tuple[str, int, int, int]]:
    """What each hand pays, whichever meters the tables have it from."""
    return [(hand.id, hand.pay_kind, hand.pay_value, hand.envy_cents) for hand in game.hands]


def _game_at(setup: SetupFile, letter: str) -> str:
    return next(choice.game for choice in setup.paytables if choice.letter == letter)


def _other_game(paytable: Paytable, ours: str, theirs: str) -> str:
    """One paytable may be printed for several games, and still be linked within each game only."""
    if ours == theirs or paytable.links_games:
        return ""
    return (
        f"which plays {theirs}, not {ours}: {paytable.id} may be linked between tables of the"
        " same game only."
    )


def _mixed(setup: SetupFile, other: LinkedTable, ours: str, theirs: str) -> str:
    """WAC 230-15-685(6): beside a link of different games no second progressive may run."""
    counts = (len(setup.paytables), len(other.settings.games))
    if ours == theirs or max(counts) == 1 or setup.jurisdiction.dual_on_mixed_link:
        return ""
    return (
        f"which plays {theirs}, not {ours}: a link of different games allows one progressive at"
        " each table, unless jurisdiction.dual_on_mixed_link is true."
    )
