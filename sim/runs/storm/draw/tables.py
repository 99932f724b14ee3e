"""The tables of a storm: two as they ship, the others drawn from everything that ships.

It alone knows how a table's file is varied: board, paytables, one or two games, touch or keypad;
the terms of its meters are drawn elsewhere. Each table is a file again, read by the shipped set-up
code at both ends.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace

from controller.config import UnitConfig, parse_unit_config
from hal.ics.kinds import ELECTRODE_COUNT_MAX
from manager.games import Paytable
from manager.games.catalogue import open_catalogue
from sim.floor.floor import TABLES_FOLDER
from sim.runs.storm.draw.meters import HOUSE_GROUP, Document, MeterMaker
from sim.runs.storm.draw.toml_text import toml_text

SEATS_MAX = 7
TWO_GAMES_SEATS_MAX = 6  # twice as many sensors on one IC
PINS = 16
COMMANDS = ("START", "END", "JPOT", "CONFIRM", "CANCEL")
LAMPS_PER_IC = 8
ASKS_FOR_SEATS = "face-up-pai-gow-keypad"
OTHER_WAGER = "four-card-five-dollar"
FIRST = ("four-card-touch", "four-card-keypad")  # the least that shows everything
AS_SHIPPED = 0.25  # of the further tables
TABLES_PER_MANAGER = 8


@dataclass(frozen=True)
class TablePlan:
    """One table: its file for the manager's set-up, and the same read by the unit."""

    table_id: str
    says: str  # what was drawn, for people
    text: str
    config: UnitConfig

    @property
    def workflow(self) -> str:
        return self.config.workflow


class TableMaker:
    """Draws tables for one manager, so that linked tables agree on their meters' terms."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._meters = MeterMaker(chance)
        self._paytables = [
            paytable
            for name in open_catalogue().ids()
            if (paytable := open_catalogue().load(name)).is_jackpot
        ]

    def make(self, number: int) -> TablePlan:
        """Table `number` of the floor, counted from 1: the first ones play what they ship with."""
        is_first = number <= len(FIRST)
        stem = FIRST[number - 1] if is_first else self._chance.choice(_playable())
        file = TABLES_FOLDER / f"{stem}.toml"
        document = tomllib.loads(file.read_text(encoding="utf-8"))
        if not is_first and self._chance.random() >= AS_SHIPPED:
            self._vary(document)
        # Games of several names meet on one link, beside tables with two games.
        document.setdefault("jurisdiction", {})["dual_on_mixed_link"] = True
        document["table"]["id"] = f"{stem[:24]}-{number}"
        document["board"]["serial"] = f"UF-{number:04d}"
        self._link(document, may_be_house=not is_first)
        text = toml_text(document)
        config = parse_unit_config(text)
        simulated = replace(config, board=replace(config.board, backend="simulated"))
        return TablePlan(document["table"]["id"], _describe(document), text, simulated)

    # -- variations --------------------------------------------------------------------------

    def _vary(self, document: Document) -> None:
        draw = self._chance
        keypad = document["table"]["workflow"] == "keypad"
        two_games = not keypad and draw.random() < 0.4
        paytables = draw.sample(self._paytables, 2 if two_games else 1)
        seats = draw.randint(4, TWO_GAMES_SEATS_MAX if two_games else SEATS_MAX)
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
            "paytable": self._chance.choice(_names(paytable)),
            "wager_cents": 100,
            "levels": levels,
            "folded_hands_qualify": True,
        }
        for name in levels.values():
            document["jackpots"][name] = {"label": name}

    # -- linking -----------------------------------------------------------------------------

    def _link(self, document: Document, may_be_house: bool) -> None:
        """Gives the meters the names and the terms of their link group."""
        jackpots = document.pop("jackpots")
        group = self._meters.group_for(jackpots, may_be_house)
        document["jackpots"] = {}
        for game in document["paytables"].values():
            number = [each.id for each in self._paytables].index(_canonical(game["paytable"]))
            levels = game["levels"]
            for place, (level, name) in enumerate(levels.items()):
                link = f"{number}{_own_link(game['paytable'], self._paytables[number])}"
                meter, label = f"{group}-{link}-{level}", jackpots[name]["label"]
                terms = self._meters.terms_of(meter, label, len(levels), is_top=place == 0)
                if group != HOUSE_GROUP:
                    _keep_printed_reserve(terms, self._paytables[number], len(levels), place)
                levels[level], document["jackpots"][meter] = meter, terms
            game["wager_cents"] = self._meters.wager_cents(group, number)


def _own_link(name: str, paytable: Paytable) -> str:
    """Marks a game's own link, where the paytable may join tables of one game only."""
    place = _names(paytable).index(name) if name in _names(paytable) else 0
    return "" if paytable.links_games or place == 0 else "abc"[place - 1]


def _keep_printed_reserve(terms: Document, paytable: Paytable, levels: int, place: int) -> None:
    """Where the paytable's document prints a reserve, its meters have that together."""
    if paytable.reserve_ppm:
        share, rest = divmod(paytable.reserve_ppm, levels)
        terms["reserve_ppm"] = share + (rest if place == 0 else 0)


def _playable() -> list[str]:
    """What the people of a storm can play: they press keys and read no questions off a display.

    A table that differs by its wager alone is nothing new: wagers are drawn.
    """
    return [stem for stem in shipped_tables() if stem not in (ASKS_FOR_SEATS, OTHER_WAGER)]


def draw_floor(tables: int, seed: str) -> list[TablePlan]:
    """Every table of a floor in order; table n belongs to manager `manager_of(n, tables)`."""
    count = manager_count(tables)
    makers = [TableMaker(random.Random(f"{seed}/tables/{n}")) for n in range(count)]
    return [makers[manager_of(n, tables)].make(n) for n in range(1, tables + 1)]


def manager_count(tables: int) -> int:
    return (tables + TABLES_PER_MANAGER - 1) // TABLES_PER_MANAGER


def manager_of(number: int, tables: int) -> int:
    return (number - 1) % manager_count(tables)


def shipped_tables() -> list[str]:
    return sorted(file.stem for file in TABLES_FOLDER.glob("*.toml"))


def _describe(document: Document) -> str:
    """One line: how it is played, and each game with its wager, its meters and their policies."""
    table, games = document["table"], []
    for letter, game in document["paytables"].items():
        meters = [_describe_meter(m, document["jackpots"][m]) for m in game["levels"].values()]
        cents = game["wager_cents"]
        games.append(f"{letter} {game['paytable']} at {cents} cents on {', '.join(meters)}")
    return f"{table['id']}: {table['workflow']}, {table['seats']} seats; {'; '.join(games)}"


def _describe_meter(name: str, terms: Document) -> str:
    words = [terms.get("award_policy", "posted"), f"{terms['contribution_ppm']} ppm"]
    words += ["frozen claims"] if terms["freeze_claims"] else []
    words += ["fixed pays from it"] if terms["fixed_pays_from"] == "meter" else []
    return f"{name} ({', '.join(words)})"


def _names(paytable: Paytable) -> list[str]:
    """Under which name each game plays it: on a link of several games one paytable has several."""
    game = paytable.id.split("/")[0]
    others = [name for name in paytable.aliases if name.split("/")[0] != game]
    return [paytable.id, *others]


def _canonical(name: str) -> str:
    return open_catalogue().load(name).id


def _keys(paytable: Paytable, seats: int) -> dict[str, int]:
    names = [*COMMANDS, *(f"HAND {hand.id}" for hand in paytable.hands)]
    names += [f"SEAT {seat}" for seat in range(1, seats + 1)]
    return {name: pin for pin, name in enumerate(names)}


def _wire(board: Document, sensors: list[str]) -> None:
    """As many sensing ICs and lamp ICs as the sensors need."""
    kinds = {ic["kind"]: ic for ic in reversed(board["ics"])}
    (sensing_kind,) = kinds.keys() & ELECTRODE_COUNT_MAX.keys()
    per_ic = ELECTRODE_COUNT_MAX[sensing_kind]
    board["ics"] = [
        *(ic for ic in board["ics"] if ic["kind"] not in ("pca9685", sensing_kind)),
        *_copies(kinds[sensing_kind], "sense", len(sensors), per_ic, "mux_channel"),
        *_copies(kinds["pca9685"], "lights", len(sensors), LAMPS_PER_IC, "address"),
    ]
    board["sensors"] = list(_sensors(sensors, per_ic))


def _copies(ic: Document, name: str, needed: int, per_ic: int, told_by: str) -> list[Document]:
    """ICs like this one, told apart by their address or by their channel."""
    count = (needed + per_ic - 1) // per_ic
    copies = [{**ic, "name": f"{name}-{number + 1}"} for number in range(count)]
    for number, copied in enumerate(copies[1:], 1):
        copied[told_by] = ic[told_by] + number
    return copies


def _sensors(sensors: list[str], per_ic: int) -> Iterator[Document]:
    for number, sensor in enumerate(sensors):
        ic, place = divmod(number, LAMPS_PER_IC)
        yield {
            "id": sensor,
            "ic": f"sense-{number // per_ic + 1}",
            "electrode": number % per_ic,
            "lamp_ic": f"lights-{ic + 1}",
            "white_channel": 2 * place,
            "amber_channel": 2 * place + 1,
        }
