"""Reads a unit's table file: which table this is, its hardware, and where its manager lives.

The same TOML file also holds the house's money settings; those belong to the Game Manager and are
accepted here by name only. Anything else that is not understood is refused: a unit that guesses at
a misspelt key is worse than one that does not start.
"""

from __future__ import annotations

import ipaddress
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hal.board_config import BoardConfig, parse_board
from hal.config_table import ConfigTable
from hal.errors import ConfigError

THE_MANAGERS = (
    "jackpots",
    "paytables",
    "authority",
    "cards",
    "policy",
    "techs",
    "jurisdiction",
)
WORKFLOWS = ("touch", "keypad")
SEAT_COUNT_MAX = 12
PORT_MAX = 65535
# The panel's screen hangs on the unit itself. Whoever opens it to the network does so by name.
WEB_HOST = "127.0.0.1"


@dataclass(frozen=True)
class UnitConfig:
    table_id: str
    name: str
    workflow: str
    seat_count: int
    board: BoardConfig
    link_host: str
    link_port: int
    web_host: str
    web_port: int


def load_unit_config(path: Path) -> UnitConfig:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: is not valid TOML: {error}") from error
    return parse_unit_config(document)


def parse_unit_config(document: Mapping[str, Any]) -> UnitConfig:
    top = ConfigTable("file", document)
    for name in THE_MANAGERS:
        top.has(name)
    table, link, web = (_required(top, document, name) for name in ("table", "link", "web"))
    board = document["board"] if top.has("board") else {}
    config = UnitConfig(
        table_id=table.text("id"),
        name=table.text("name"),
        workflow=table.choice("workflow", WORKFLOWS),
        seat_count=table.number("seats", 1, SEAT_COUNT_MAX),
        board=parse_board(board),
        link_host=link.text("host"),
        link_port=link.number("port", 0, PORT_MAX),
        web_host=_address(web) if web.has("host") else WEB_HOST,
        web_port=web.number("port", 0, PORT_MAX),
    )
    for section in (top, table, link, web):
        section.finish()
    _check_fit(config)
    return config


def _required(top: ConfigTable, document: Mapping[str, Any], name: str) -> ConfigTable:
    if not top.has(name):
        raise ConfigError(f"{name}: is missing.")
    return ConfigTable(name, document[name])


def _address(web: ConfigTable) -> str:
    host = web.text("host")
    try:
        return str(ipaddress.IPv4Address(host))
    except ValueError as error:
        raise web.refuse(
            "host", f'"{host}" is not an IPv4 address, such as {WEB_HOST} or 0.0.0.0.'
        ) from error


def _check_fit(config: UnitConfig) -> None:
    """The workflow, the seats and the hardware must describe the same table."""
    for sensor in config.board.sensors:
        if sensor.seat > config.seat_count:
            raise ConfigError(
                f"board.sensors: sensor {sensor.id} is at seat {sensor.seat}, "
                f"but the table has {config.seat_count} seats."
            )
    if config.workflow == "keypad" and (not config.board.keypad or not config.board.keyswitch):
        raise ConfigError("table.workflow: a keypad table needs board.keypad and board.keyswitch.")
    if config.workflow == "touch" and not config.board.card_reader:
        raise ConfigError("table.workflow: a touch table needs board.card_reader.")
