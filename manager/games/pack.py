"""Reads a pack file (TOML) into paytables and says what is wrong in it, by line and column.

The only place that knows the file format. It does not know which packs ship (see the
package), nor what the odds are. A file with any problem yields no paytable at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Annotated

from kit.config import (
    Choice,
    Complaint,
    Document,
    Flag,
    Named,
    Path,
    Rows,
    Text,
    Unfit,
    Value,
    Values,
    Whole,
    load,
    read,
    shown,
)
from manager.games.evaluators.vocabulary import EVALUATORS, hidden_by
from manager.games.model import Hand, Level, Pay, Paytable, Percent, PrintedFigure, ToOne
from manager.games.notation import parse_cents, parse_pay, parse_share
from protocol.wire.rows import HAND_ID, HAND_LABEL
from protocol.wire.settings import NOTE_MAX_BYTES, NOTES_PER_GAME_MAX

FORMAT = 1
FIGURES = ("house-edge", "hit-frequency", "base-game-hit-frequency")
WAGER_SCALING = ("none", "fixed-pays")
BASE_GAMES = ("four-card", "crazy-4")
DECK_MAX = 1000
REMARK = Text(bytes_max=400)

_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_LABEL = re.compile(r"[A-Za-z0-9]+([ -][A-Za-z0-9]+)*")
_ALIAS = re.compile(r"([a-z0-9-]+/[a-z0-9-]+/)?[A-Za-z0-9-]+")
_PRINTED_VALUE = re.compile(r"\d{1,3}(\.\d+)?%")


class Format(Value):
    def take(self, value: object) -> int:
        number = Whole(0, 2**31).take(value)
        if number != FORMAT:
            raise Unfit(f"Pack format {number} is not known; use {FORMAT}.")
        return number


@dataclass(frozen=True)
class Written(Value):
    """Text in a notation; `otherwise` is said when it is not."""

    pattern: re.Pattern[str]
    otherwise: str

    def take(self, value: object) -> str:
        text = REMARK.take(value)
        if not self.pattern.fullmatch(text):
            raise Unfit(f"{shown(text)} {self.otherwise}")
        return text


class PayText(Value):
    def take(self, value: object) -> Pay:
        pay = parse_pay(REMARK.take(value))
        if pay is None:
            raise Unfit(
                f"{shown(value)} is not a pay; write it as 100%, 100% Mega, 300 for 1, 3 to 2 or"
                " Push."
            )
        return pay


class Dollars(Value):
    def take(self, value: object) -> int:
        cents = parse_cents(REMARK.take(value))
        if cents is None:
            raise Unfit(f"{shown(value)} is not an amount like $100.")
        return cents


class Share(Value):
    def take(self, value: object) -> int:
        ppm = parse_share(REMARK.take(value))
        if ppm is None:
            raise Unfit(f"{shown(value)} is not a share of the wager like 5%.")
        return ppm


class Note(Value):
    """Notes are shown on the dealer's panel, so they have to be short."""

    def take(self, value: object) -> str:
        if not isinstance(value, str) or not value.isprintable():
            raise Unfit(f"A note is one line of text, not {shown(value)}.")
        if not 1 <= len(value.encode()) <= NOTE_MAX_BYTES:
            raise Unfit(f"A note is one line of 1 to {NOTE_MAX_BYTES} bytes.")
        return value


ID_PART = Written(_ID, "cannot be part of an id.")
EVALUATOR = Choice(tuple(EVALUATORS))


@dataclass(frozen=True)
class HandRow:
    id: Annotated[str, Text(HAND_ID.bytes_max)]
    label: Annotated[str, Text(HAND_LABEL.bytes_max)]
    pay: Annotated[Pay, PayText()]
    envy: Annotated[int, Dollars()] = 0


@dataclass(frozen=True)
class PrintedRow:
    figure: Annotated[str, Choice(FIGURES)]
    value: Annotated[str, Written(_PRINTED_VALUE, "is not a percentage like 4.81%.")]
    where: Annotated[str, REMARK]


@dataclass(frozen=True)
class PaytableRow:
    label: Annotated[str, Written(_LABEL, "cannot be part of an id.")]
    hands: Annotated[tuple[HandRow, ...], Rows(HandRow, 1)]
    title: Annotated[str, REMARK] = ""
    evaluator: Annotated[str, EVALUATOR] = ""
    aliases: Annotated[
        tuple[str, ...], Values(Written(_ALIAS, "is not a label or game/bet/label id."))
    ] = ()
    notes: Annotated[tuple[str, ...], Values(Note())] = ()
    printed: Annotated[tuple[PrintedRow, ...], Rows(PrintedRow)] = ()
    reserve: Annotated[int, Share()] = 0

    def check(self) -> Iterator[Complaint]:
        for number, hand in enumerate(self.hands):
            earlier = [other.id for other in self.hands[:number]]
            for sentence in _unreachable(hand.id, earlier):
                yield ("hands", number, "id"), sentence
        # `to 1` bets lie on the felt, `for 1` and percent bets are taken: never both.
        felt = [isinstance(hand.pay, ToOne) for hand in self.hands]
        if any(felt) and not all(felt):
            yield ("hands",), "A paytable cannot mix 'to' pays with 'for' or percent pays."


@dataclass(frozen=True)
class BetRow:
    id: Annotated[str, ID_PART]
    title: Annotated[str, REMARK]
    evaluator: Annotated[str, EVALUATOR]
    deck: Annotated[int, Whole(1, DECK_MAX)]
    cards_considered: Annotated[int, Whole(1, DECK_MAX)]
    paytable: Annotated[tuple[PaytableRow, ...], Rows(PaytableRow, 1)]
    base_game: Annotated[str, Choice(BASE_GAMES)] = ""
    wager_scaling: Annotated[str, Choice(WAGER_SCALING)] = "none"
    envy_scales: Annotated[bool, Flag()] = False
    links_games: Annotated[bool, Flag()] = False
    notes: Annotated[tuple[str, ...], Values(Note())] = ()
    source: Annotated[str, REMARK] = ""

    def check(self) -> Iterator[Complaint]:
        yield from self._check_deck(self.evaluator)
        for number, row in enumerate(self.paytable):
            path: Path = ("paytable", number)
            if row.evaluator and row.evaluator != self.evaluator:
                for _, sentence in self._check_deck(row.evaluator):
                    yield (*path, "evaluator"), sentence
            for below, sentence in _unknown_hands(row, row.evaluator or self.evaluator):
                yield (*path, *below), sentence
            if len(self.notes) + len(row.notes) > NOTES_PER_GAME_MAX:
                at = "notes" if row.notes else "label"
                sentence = f"at most {NOTES_PER_GAME_MAX} notes, its bet's among them."
                yield (*path, at), f"A paytable has {sentence}"

    def _check_deck(self, evaluator: str) -> Iterator[Complaint]:
        info = EVALUATORS[evaluator]
        if self.deck != info.deck:
            yield ("deck",), f"Evaluator {info.name} needs deck = {info.deck}, not {self.deck}."
        if self.cards_considered != info.cards_considered:
            yield (
                ("cards_considered",),
                f"Evaluator {info.name} needs cards_considered = {info.cards_considered}, "
                f"not {self.cards_considered}.",
            )


@dataclass(frozen=True)
class PackFile:
    format: Annotated[int, Format()]
    game: Annotated[str, ID_PART]
    title: Annotated[str, REMARK]
    source: Annotated[str, REMARK]
    bet: Annotated[tuple[BetRow, ...], Rows(BetRow, 1)]
    # Other games whose tables use these paytables, under an alias of their own.
    other_games: Annotated[Mapping[str, str], Named(REMARK)] = field(default_factory=dict)

    def check(self) -> Iterator[Complaint]:
        """Every id and alias of the file belongs to one paytable, every game has its title."""
        owners: dict[str, tuple[Path, str]] = {}
        for path, bet, row in self.paytables():
            mine = (path, self.id_of(bet, row))
            for name in (mine[1], *self.aliases_of(bet, row)):
                owner = owners.setdefault(name.lower(), mine)
                if owner != mine:
                    yield (*path, "label"), f"The id {name} is already used by {owner[1]}."
                game = name.split("/")[0]
                if game not in self.game_titles():
                    yield (
                        (*path, "aliases"),
                        f"{name} is a name of {game}; give that game's title in other_games.",
                    )

    def game_titles(self) -> dict[str, str]:
        return {self.game: self.title, **self.other_games}

    def paytables(self) -> Iterator[tuple[Path, BetRow, PaytableRow]]:
        for place, bet in enumerate(self.bet):
            for number, row in enumerate(bet.paytable):
                yield ("bet", place, "paytable", number), bet, row

    def id_of(self, bet: BetRow, row: PaytableRow) -> str:
        return f"{self.game}/{bet.id}/{row.label.replace(' ', '-')}"

    def aliases_of(self, bet: BetRow, row: PaytableRow) -> tuple[str, ...]:
        """An alias is a bare label, or a whole ``game/bet/label`` id."""
        prefix = f"{self.game}/{bet.id}"
        return tuple(name if "/" in name else f"{prefix}/{name}" for name in row.aliases)


def read_pack_file(path: FilePath) -> list[Paytable]:
    """The file's paytables, or ConfigError with every problem in it."""
    return read_pack(load(path))


def read_pack(document: Document) -> list[Paytable]:
    pack = read(document, PackFile)
    return [_paytable(document, path, pack, bet, row) for path, bet, row in pack.paytables()]


def _paytable(
    document: Document, path: Path, pack: PackFile, bet: BetRow, row: PaytableRow
) -> Paytable:
    place = document.positions.of_value((*path, "label"))
    hands = tuple(Hand(each.id, each.label, each.pay, each.envy) for each in row.hands)
    return Paytable(
        id=pack.id_of(bet, row),
        title=row.title or f"{bet.title} {row.label}",
        game=pack.game,
        bet=bet.id,
        label=row.label,
        evaluator=row.evaluator or bet.evaluator,
        deck=bet.deck,
        cards_considered=bet.cards_considered,
        hands=hands,
        levels=_levels(hands),
        base_game=bet.base_game,
        envy_scales=bet.envy_scales,
        wager_scaling=bet.wager_scaling,
        reserve_ppm=row.reserve,
        links_games=bet.links_games,
        notes=(*bet.notes, *row.notes),
        source=bet.source or pack.source,
        printed=tuple(PrintedFigure(each.figure, each.value, each.where) for each in row.printed),
        aliases=pack.aliases_of(bet, row),
        house_titles=_house_titles(pack, bet),
        declared_at=(place.line, place.column),
    )


def _house_titles(pack: PackFile, bet: BetRow) -> tuple[tuple[str, str], ...]:
    """A bet that is named after its game is named after the table's own game at every table."""
    is_named_after = bet.title.startswith(pack.title)
    rest = bet.title.removeprefix(pack.title)
    return tuple(
        (game, title + rest if is_named_after else bet.title)
        for game, title in pack.game_titles().items()
    )


def _levels(hands: tuple[Hand, ...]) -> tuple[Level, ...]:
    names = dict.fromkeys(hand.pay.level for hand in hands if isinstance(hand.pay, Percent))
    return tuple(Level(name, name.capitalize()) for name in names)


def _unreachable(hand_id: str, earlier: list[str]) -> Iterator[str]:
    """The first hand made is paid, so a hand after one that contains it is never paid."""
    if hand_id in earlier:
        yield f"Hand {shown(hand_id)} is listed twice."
    for other in earlier:
        if hidden_by(hand_id, other):
            yield f"Hand {shown(hand_id)} is never paid: every such hand is already {shown(other)}."


def _unknown_hands(row: PaytableRow, evaluator: str) -> Iterator[Complaint]:
    known = EVALUATORS[evaluator].hands
    for number, hand in enumerate(row.hands):
        if hand.id not in known:
            sentence = f"has no hand {shown(hand.id)}; it has {', '.join(known)}."
            yield ("hands", number, "id"), f"Evaluator {evaluator} {sentence}"
