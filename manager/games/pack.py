"""Reads a pack file (TOML) into paytables and says what is wrong in it, by line and column.

The only place that knows the file format. It does not know which packs ship (see the
package), nor what the odds are. A file with any problem yields no paytable at all.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

from manager.games.evaluators.vocabulary import EVALUATORS, hidden_by
from manager.games.findings import Findings, Problem
from manager.games.model import Hand, Level, Paytable, Percent, PrintedFigure, ToOne
from manager.games.notation import parse_cents, parse_pay, parse_share
from manager.games.positions import Path, PositionIndex, index_positions
from protocol.settings import NOTE_MAX_BYTES, NOTES_PER_GAME_MAX

FORMAT = 1
FIGURES = ("house-edge", "hit-frequency", "base-game-hit-frequency")
WAGER_SCALING = ("none", "fixed-pays")
BASE_GAMES = ("four-card", "crazy-4")

_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_LABEL = re.compile(r"[A-Za-z0-9]+([ -][A-Za-z0-9]+)*")
_PRINTED_VALUE = re.compile(r"\d{1,3}(\.\d+)?%")
_TOML_PLACE = re.compile(r"(.*) \(at line (\d+), column (\d+)\)")

_PACK_KEYS = {"format": int, "game": str, "title": str, "source": str, "bet": list}
_BET_KEYS = {
    "id": str,
    "title": str,
    "evaluator": str,
    "deck": int,
    "cards_considered": int,
    "base_game": str,
    "wager_scaling": str,
    "envy_scales": bool,
    "notes": list,
    "source": str,
    "paytable": list,
}
_PAYTABLE_KEYS = {
    "label": str,
    "title": str,
    "evaluator": str,
    "aliases": list,
    "hands": list,
    "notes": list,
    "printed": list,
    "reserve": str,
}
_HAND_KEYS = {"id": str, "label": str, "pay": str, "envy": str}
_PRINTED_KEYS = {"figure": str, "value": str, "where": str}


def inspect_pack(text: str, file: str) -> tuple[list[Paytable], list[Problem]]:
    """Parse and check a pack text; the paytables are complete only without problems."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return [], [_syntax_problem(text, file, str(error))]
    reader = _Reader(file, index_positions(text))
    paytables = reader.read(data)
    return paytables, reader.problems


def _syntax_problem(text: str, file: str, sentence: str) -> Problem:
    match = _TOML_PLACE.fullmatch(sentence)
    if match:
        return Problem(file, int(match[2]), int(match[3]), f"{match[1]}.")
    last_line = text.count("\n") + 1
    return Problem(file, last_line, 1, f"{sentence}.")


class _Reader(Findings):
    """Walks one parsed pack, collecting paytables and problems."""

    def __init__(self, file: str, positions: PositionIndex) -> None:
        super().__init__(file, positions)
        self.paytables: list[Paytable] = []
        self.names: dict[str, str] = {}

    def read(self, data: Mapping[str, Any]) -> list[Paytable]:
        if not self.check_keys((), data, _PACK_KEYS, "pack"):
            return []
        if data["format"] != FORMAT:
            self.bad_value(("format",), f"Pack format {data['format']} is not known; use {FORMAT}.")
        self.check_pattern(("game",), data["game"], _ID)
        for number, bet in enumerate(data["bet"]):
            self._read_bet(("bet", number), data, bet)
        return self.paytables

    def _read_bet(self, path: Path, pack: Mapping[str, Any], bet: Any) -> None:
        if not self.check_keys(path, bet, _BET_KEYS, "bet"):
            return
        self.check_pattern((*path, "id"), bet["id"], _ID)
        self.check_choice((*path, "wager_scaling"), bet.get("wager_scaling"), WAGER_SCALING)
        self.check_choice((*path, "base_game"), bet.get("base_game"), BASE_GAMES)
        self.check_texts((*path, "notes"), bet.get("notes", []))
        self._check_evaluator(path, bet)
        for number, paytable in enumerate(bet["paytable"]):
            self._read_paytable((*path, "paytable", number), pack, bet, paytable)

    def _check_evaluator(self, path: Path, bet: Mapping[str, Any]) -> None:
        info = EVALUATORS.get(bet["evaluator"])
        if info is None:
            self._unknown_evaluator((*path, "evaluator"), bet["evaluator"])
            return
        for key, own in (("deck", info.deck), ("cards_considered", info.cards_considered)):
            if bet[key] != own:
                sentence = f"Evaluator {info.name} needs {key} = {own}, not {bet[key]}."
                self.bad_value((*path, key), sentence)

    def _read_paytable(
        self, path: Path, pack: Mapping[str, Any], bet: Mapping[str, Any], row: Any
    ) -> None:
        if not self.check_keys(path, row, _PAYTABLE_KEYS, "paytable"):
            return
        self.check_pattern((*path, "label"), row["label"], _LABEL)
        evaluator = row.get("evaluator", bet["evaluator"])
        if "evaluator" in row:
            self._check_evaluator(path, {**bet, "evaluator": evaluator})
        hands = self._read_hands((*path, "hands"), row["hands"], evaluator)
        prefix = f"{pack['game']}/{bet['id']}"
        aliases = self._read_aliases((*path, "aliases"), row.get("aliases", []), prefix)
        paytable_id = f"{prefix}/{row['label'].replace(' ', '-')}"
        self._claim_names(path, paytable_id, aliases)
        self._check_notes(path, [*bet.get("notes", []), *row.get("notes", [])], row)
        place = self.positions.of_value((*path, "label"))
        self.paytables.append(
            Paytable(
                id=paytable_id,
                title=row.get("title", f"{bet['title']} {row['label']}"),
                game=pack["game"],
                bet=bet["id"],
                label=row["label"],
                evaluator=evaluator,
                deck=bet["deck"],
                cards_considered=bet["cards_considered"],
                hands=tuple(hands),
                levels=self._levels(hands),
                base_game=bet.get("base_game", ""),
                envy_scales=bet.get("envy_scales", False),
                wager_scaling=bet.get("wager_scaling", "none"),
                reserve_ppm=self._read_reserve((*path, "reserve"), row.get("reserve")),
                notes=(*bet.get("notes", []), *row.get("notes", [])),
                source=bet.get("source", pack["source"]),
                printed=self._read_printed((*path, "printed"), row.get("printed", [])),
                aliases=tuple(aliases),
                declared_at=(place.line, place.column),
            )
        )

    def _read_hands(self, path: Path, rows: list[Any], evaluator: str) -> list[Hand]:
        hands: list[Hand] = []
        known = EVALUATORS[evaluator].hands if evaluator in EVALUATORS else ()
        if not rows:
            self.bad_value(path, "A paytable needs at least one hand.")
        for number, row in enumerate(rows):
            at = (*path, number)
            if not self.check_keys(at, row, _HAND_KEYS, "hand"):
                continue
            if known and row["id"] not in known:
                sentence = (
                    f"Evaluator {evaluator} has no hand {row['id']!r}; it has {', '.join(known)}."
                )
                self.bad_value((*at, "id"), sentence)
            self._check_reachable((*at, "id"), row["id"], [hand.id for hand in hands])
            hand = self._read_hand(at, row)
            if hand is not None:
                hands.append(hand)
        self._check_kinds(path, hands)
        return hands

    def _read_hand(self, path: Path, row: Mapping[str, str]) -> Hand | None:
        pay = parse_pay(row["pay"])
        envy_cents = parse_cents(row["envy"]) if "envy" in row else 0
        if pay is None:
            self.bad_value(
                (*path, "pay"),
                f"{row['pay']!r} is not a pay; write it as 100%, 100% Mega, 300 for 1, "
                "3 to 2 or Push.",
            )
        if envy_cents is None:
            self.bad_value((*path, "envy"), f"{row['envy']!r} is not an amount like $100.")
        if pay is None or envy_cents is None:
            return None
        return Hand(row["id"], row["label"], pay, envy_cents)

    def _check_reachable(self, path: Path, hand_id: str, earlier: list[str]) -> None:
        """The first hand made is paid, so a hand after one that contains it is never paid."""
        if hand_id in earlier:
            self.bad_value(path, f"Hand {hand_id!r} is listed twice.")
        for other in earlier:
            if hidden_by(hand_id, other):
                sentence = f"Hand {hand_id!r} is never paid: every such hand is already {other!r}."
                self.bad_value(path, sentence)

    def _check_kinds(self, path: Path, hands: list[Hand]) -> None:
        """``to 1`` bets lie on the felt, ``for 1`` and percent bets are taken: never both."""
        felt = [isinstance(hand.pay, ToOne) for hand in hands]
        if any(felt) and not all(felt):
            self.bad_value(path, "A paytable cannot mix 'to' pays with 'for' or percent pays.")

    def _levels(self, hands: list[Hand]) -> tuple[Level, ...]:
        names = dict.fromkeys(hand.pay.level for hand in hands if isinstance(hand.pay, Percent))
        return tuple(Level(name, name.capitalize()) for name in names)

    def _read_aliases(self, path: Path, rows: list[Any], prefix: str) -> list[str]:
        """An alias is a bare label, or a whole ``game/bet/label`` id."""
        if not self.check_texts(path, rows):
            return []
        aliases = []
        for number, row in enumerate(rows):
            name = row if "/" in row else f"{prefix}/{row}"
            if not re.fullmatch(r"[a-z0-9-]+/[a-z0-9-]+/[A-Za-z0-9-]+", name):
                self.bad_value((*path, number), f"{row!r} is not a label or game/bet/label id.")
            aliases.append(name)
        return aliases

    def _claim_names(self, path: Path, paytable_id: str, aliases: list[str]) -> None:
        for name in (paytable_id, *aliases):
            owner = self.names.setdefault(name.lower(), paytable_id)
            if owner != paytable_id or (name == paytable_id and self._is_listed(paytable_id)):
                self.bad_value((*path, "label"), f"The id {name} is already used by {owner}.")

    def _is_listed(self, paytable_id: str) -> bool:
        return any(paytable.id == paytable_id for paytable in self.paytables)

    def _read_reserve(self, path: Path, text: str | None) -> int:
        if text is None:
            return 0
        ppm = parse_share(text)
        if ppm is None:
            self.bad_value(path, f"{text!r} is not a share of the wager like 5%.")
        return ppm or 0

    def _read_printed(self, path: Path, rows: list[Any]) -> tuple[PrintedFigure, ...]:
        figures = []
        for number, row in enumerate(rows):
            at = (*path, number)
            if not self.check_keys(at, row, _PRINTED_KEYS, "printed"):
                continue
            self.check_choice((*at, "figure"), row["figure"], FIGURES)
            if not _PRINTED_VALUE.fullmatch(row["value"]):
                self.bad_value((*at, "value"), f"{row['value']!r} is not a percentage like 4.81%.")
            figures.append(PrintedFigure(row["figure"], row["value"], row["where"]))
        return tuple(figures)

    def _check_notes(self, path: Path, notes: list[Any], row: Mapping[str, Any]) -> None:
        """They are shown on the dealer's panel, so they have to be few and short."""
        at = (*path, "notes") if "notes" in row else (*path, "label")
        self.check_texts((*path, "notes"), row.get("notes", []))
        if len(notes) > NOTES_PER_GAME_MAX:
            sentence = f"A paytable has at most {NOTES_PER_GAME_MAX} notes, its bet's among them."
            self.bad_value(at, sentence)
        for note in notes:
            if isinstance(note, str) and not _is_note(note):
                self.bad_value(at, f"A note is one line of 1 to {NOTE_MAX_BYTES} bytes.")

    def _unknown_evaluator(self, path: Path, name: str) -> None:
        known = ", ".join(EVALUATORS)
        self.bad_value(path, f"Evaluator {name!r} is not known; the evaluators are {known}.")


def _is_note(text: str) -> bool:
    return text.isprintable() and 1 <= len(text.encode()) <= NOTE_MAX_BYTES
