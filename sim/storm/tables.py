"""The tables of a storm: the shipped ones first, then variations of them, all drawn from the seed.

It alone knows how a table's file is varied: paytable, wager, meters and their terms, one or two
games, touch or keypad. Each table is a file again, read by the shipped set-up code at both ends.
"""

from __future__ import annotations

import copy
import random
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from controller.config import UnitConfig, parse_unit_config
from manager.games import Paytable
from manager.games.catalogue import open_catalogue
from protocol.errors import ProtocolError
from protocol.rows import IDENTIFIER, LABEL
from sim.floor import TABLES_FOLDER
from sim.storm.toml_text import toml_text

SEATS_MAX = 7
PINS = 16
COMMANDS = ("START", "END", "JPOT", "CONFIRM", "CANCEL")
SENSORS_PER_CHIP = {"mpr121": 12, "fdc1004": 4}
LAMPS_PER_CHIP = 8
FIRST = ("four-card-touch", "four-card-keypad")
GROUPS = 2  # link groups of one manager: tables of one group and paytable share their meters

Document = dict[str, Any]


@dataclass(frozen=True)
class TablePlan:
    """One table: its file for the manager's set-up, and the same read by the unit."""

    table_id: str
    paytables: tuple[str, ...]
    text: str
    config: UnitConfig

    @property
    def workflow(self) -> str:
        return self.config.workflow


class TableMaker:
    """Draws tables for one manager, so that linked tables agree on their meters' terms."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._terms: dict[str, Document] = {}
        self._paytables = [
            paytable
            for name in open_catalogue().ids()
            if _can_be_played(paytable := open_catalogue().load(name))
        ]

    def make(self, number: int) -> TablePlan:
        """Table `number` of the floor, counted from 1: the first ones as they ship."""
        shipped = shipped_tables()
        document = tomllib.loads(shipped[(number - 1) % len(shipped)].read_text(encoding="utf-8"))
        if number > len(shipped):
            self._vary(document)
        document["table"]["id"] = f"{document['table']['id'][:24]}-{number}"
        document["board"]["serial"] = f"UF-{number:04d}"
        self._link(document)
        text = toml_text(document)
        config = parse_unit_config(tomllib.loads(text))
        simulated = replace(config, board=replace(config.board, backend="simulated"))
        names = tuple(part["paytable"] for part in document["paytables"].values())
        return TablePlan(document["table"]["id"], names, text, simulated)

    # -- variations --------------------------------------------------------------------------

    def _vary(self, document: Document) -> None:
        draw = self._chance
        keypad = document["table"]["workflow"] == "keypad"
        two_games = not keypad and draw.random() < 0.4
        paytables = draw.sample(self._paytables, 2 if two_games else 1)
        seats = 5 if two_games else draw.randint(4, SEATS_MAX)
        if keypad:
            seats = min(seats, PINS - len(COMMANDS) - len(paytables[0].hands))
        document["table"]["seats"] = seats
        document["paytables"], document["jackpots"] = {}, {}
        for letter, paytable in zip("AB", paytables, strict=False):
            self._add_game(document, letter, paytable)
        _wire(
            document["board"],
            [f"{s}{letter}" for letter in "AB"[: len(paytables)] for s in range(1, seats + 1)],
        )
        if keypad:
            document["board"]["keypad"]["keys"] = _keys(paytables[0], seats)

    def _add_game(self, document: Document, letter: str, paytable: Paytable) -> None:
        levels = {level.id: f"{letter}{level.id}" for level in paytable.levels}
        document["paytables"][letter] = {
            "paytable": paytable.id,
            "wager_cents": 100,
            "levels": levels,
            "folded_hands_qualify": True,
        }
        for name in levels.values():
            document["jackpots"][name] = {"label": name}

    # -- linking -----------------------------------------------------------------------------

    def _link(self, document: Document) -> None:
        """Gives the meters the names and the terms of their link group."""
        group = self._chance.randint(1, GROUPS)
        jackpots = document.pop("jackpots")
        document["jackpots"] = {}
        for game in document["paytables"].values():
            number = [each.id for each in self._paytables].index(_canonical(game["paytable"]))
            share = len(game["levels"])
            for level, name in game["levels"].items():
                meter = f"g{group}-{number}-{level}"
                label = jackpots[name]["label"]
                game["levels"][level] = meter
                document["jackpots"][meter] = self._terms_of(meter, label, share, level)
            wager = self._terms.setdefault(f"wager {group} {number}", self._wager())
            game["wager_cents"] = wager["cents"]

    def _terms_of(self, meter: str, label: str, levels: int, level: str) -> Document:
        if meter not in self._terms:
            draw = self._chance
            contribution_ppm = draw.choice((90_000, 150_001, 250_000, 333_333)) // levels
            seed_cents = draw.choice((0, 50_000, 123_456, 1_000_000)) // levels
            self._terms[meter] = {
                "label": label,
                "seed": _money(seed_cents),
                "opening": _money(seed_cents + draw.choice((0, 0, 77_777))),
                "contribution_ppm": contribution_ppm,
                "reserve_ppm": draw.choice((0, 50_000, 70_007)) // levels,
                "claim_lock": draw.random() < 0.25,
                "fixed_pays_from": "meter" if level == "top" and draw.random() < 0.3 else "tray",
            }
        return copy.deepcopy(self._terms[meter])

    def _wager(self) -> Document:
        return {"cents": self._chance.choice((100, 100, 200, 500))}


def shipped_tables() -> list[Path]:
    """Every shipped table, a touch and a keypad table first: the least that shows everything."""
    files = sorted(TABLES_FOLDER.glob("*.toml"))
    return sorted(files, key=lambda file: FIRST.index(file.stem) if file.stem in FIRST else 9)


def _can_be_played(paytable: Paytable) -> bool:
    """A jackpot game whose hands' names fit the wire."""
    try:
        for hand in paytable.hands:
            IDENTIFIER.check(hand.id, "hand")
            LABEL.check(hand.label, "hand")
    except ProtocolError:
        return False
    return paytable.is_jackpot


def _canonical(name: str) -> str:
    return open_catalogue().load(name).id


def _money(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"


def _keys(paytable: Paytable, seats: int) -> dict[str, int]:
    names = [*COMMANDS, *(f"HAND {hand.id}" for hand in paytable.hands)]
    names += [f"SEAT {seat}" for seat in range(1, seats + 1)]
    return {name: pin for pin, name in enumerate(names)}


def _wire(board: Document, sensors: list[str]) -> None:
    """As many sensing chips and lamp chips as the sensors need."""
    kinds = {chip["kind"]: chip for chip in reversed(board["chips"])}
    (sensing_kind,) = kinds.keys() & SENSORS_PER_CHIP.keys()
    per_chip = SENSORS_PER_CHIP[sensing_kind]
    board["chips"] = [
        *(chip for chip in board["chips"] if chip["kind"] not in ("pca9685", sensing_kind)),
        *_copies(kinds[sensing_kind], "sense", len(sensors), per_chip, "mux_channel"),
        *_copies(kinds["pca9685"], "lights", len(sensors), LAMPS_PER_CHIP, "address"),
    ]
    board["sensors"] = list(_sensors(sensors, per_chip))


def _copies(chip: Document, name: str, needed: int, per_chip: int, told_by: str) -> list[Document]:
    """Chips like this one, told apart by their address or by their channel."""
    count = (needed + per_chip - 1) // per_chip
    copies = [{**chip, "name": f"{name}-{number + 1}"} for number in range(count)]
    for number, copied in enumerate(copies[1:], 1):
        copied[told_by] = chip[told_by] + number
    return copies


def _sensors(sensors: list[str], per_chip: int) -> Iterator[Document]:
    for number, sensor in enumerate(sensors):
        chip, place = divmod(number, LAMPS_PER_CHIP)
        yield {
            "id": sensor,
            "chip": f"sense-{number // per_chip + 1}",
            "electrode": number % per_chip,
            "lamp_chip": f"lights-{chip + 1}",
            "white_channel": 2 * place,
            "amber_channel": 2 * place + 1,
        }
