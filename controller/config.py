"""Reads a unit's table file: which table this is, its hardware, and where its manager lives.

The same TOML file also holds the house's money settings; those belong to the Game Manager and are
accepted here by name only. Anything else that is not understood is refused: a unit that guesses at
a misspelt key is worse than one that does not start.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from controller.inputs.buttons import is_button
from controller.night import LightsSection
from hal.board.config import AbsolutePath, BoardConfig
from kit.config import (
    Choice,
    Complaint,
    Document,
    Table,
    Text,
    Unfit,
    Value,
    Values,
    Whole,
    load,
    parse,
    read,
    shown,
)
from kit.words import LOCALES
from protocol.numbers import WORKFLOW_KEYPAD, WORKFLOW_TOUCH
from protocol.table_file import SECTIONS, TableSection
from protocol.wire.address import ADDRESS_MAX_BYTES, join_address, split_address

PORT = Whole(0, 65535)
# Words by the language, numbers and money by the country.
LANGUAGE = Choice(tuple(LOCALES))
# What may be heard: all but the win on the panel, the win on the display.
CHIMES = ("locked", "refused", "late", "card", "fault", "win")
# The screens hang on the unit itself. Whoever opens one to the network does so by name, and opens
# only that one: players may look at the display, nobody else at the panel.
WEB_HOST = "127.0.0.1"
DISPLAY_PORT = 8081


class Address(Value):
    def take(self, value: object) -> str:
        try:
            return str(ipaddress.IPv4Address(Text().take(value)))
        except ValueError as error:
            raise Unfit(
                f"{shown(value)} is not an IPv4 address, such as {WEB_HOST} or 0.0.0.0."
            ) from error


class ManagerAddress(Value):
    def take(self, value: object) -> str:
        text = Text(ADDRESS_MAX_BYTES).take(value)
        if split_address(text) is None:
            raise Unfit(f"{shown(value)} is no address such as game-manager.local:7411.")
        return text


@dataclass(frozen=True)
class LinkSection:
    host: Annotated[str, Text()]
    port: Annotated[int, PORT]
    others: Annotated[tuple[str, ...], Values(ManagerAddress())] = ()  # called in turn


@dataclass(frozen=True)
class WebSection:
    port: Annotated[int, PORT]
    host: Annotated[str, Address()] = WEB_HOST
    display_port: Annotated[int, PORT] = DISPLAY_PORT
    display_host: Annotated[str, Address()] = WEB_HOST
    # The technician's page; 0 is closed. On an address that is not this machine's own, by TLS.
    service_port: Annotated[int, PORT] = 0
    service_host: Annotated[str, Address()] = WEB_HOST
    # The same page over a serial line, such as /dev/ttyGS0; "" is closed.
    service_serial: Annotated[str, AbsolutePath()] = ""
    names: Annotated[tuple[str, ...], Values(Text())] = ()
    language: Annotated[str, LANGUAGE] = "en-US"
    display_language: Annotated[str, LANGUAGE] = ""  # "" as the panel's
    chimes: Annotated[tuple[str, ...], Values(Choice(CHIMES))] = ()
    volume_percent: Annotated[int, Whole(0, 100)] = 40

    def check(self) -> Iterator[Complaint]:
        if self.port and self.port == self.display_port:
            yield ("display_port",), "panel and display need a port each."
        if self.service_port and self.service_port in (self.port, self.display_port):
            yield ("service_port",), "the service page needs a port of its own."


@dataclass(frozen=True)
class UnitFile:
    """The unit's part of the file."""

    table: Annotated[TableSection, Table(TableSection)]
    board: Annotated[BoardConfig, Table(BoardConfig)]
    link: Annotated[LinkSection, Table(LinkSection)]
    web: Annotated[WebSection, Table(WebSection)]
    lights: Annotated[LightsSection, Table(LightsSection)] = field(default_factory=LightsSection)

    def check(self) -> Iterator[Complaint]:
        """The workflow, the seats and the hardware must describe the same table."""
        for place, sensor in enumerate(self.board.sensors):
            if sensor.seat > self.table.seats:
                yield (
                    ("board", "sensors", place, "id"),
                    f"sensor {sensor.id} is at seat {sensor.seat}, "
                    f"but the table has {self.table.seats} seats.",
                )
        board, at = self.board, ("table", "workflow")
        if self.table.workflow == WORKFLOW_KEYPAD and not (board.keypad and board.keyswitch):
            yield at, "a keypad table needs board.keypad and board.keyswitch."
        if self.table.workflow == WORKFLOW_TOUCH and not board.card_reader:
            yield at, "a touch table needs board.card_reader."
        for key in board.keypad.keys if board.keypad else ():
            if not is_button(key):
                yield (
                    ("board", "keypad", "keys", key),
                    "is no button; a key is START, END, CONFIRM, CANCEL, JPOT, SEAT with its "
                    "number or HAND with its name.",
                )


@dataclass(frozen=True)
class UnitConfig:
    table_id: str
    name: str
    workflow: str
    seat_count: int
    board: BoardConfig
    link_addresses: tuple[str, ...]
    web: WebSection
    lights: LightsSection


def load_unit_config(path: Path) -> UnitConfig:
    return read_unit_config(load(path))


def parse_unit_config(text: str) -> UnitConfig:
    return read_unit_config(parse(text))


def read_unit_config(document: Document) -> UnitConfig:
    file = read(document, UnitFile, SECTIONS)
    return UnitConfig(
        table_id=file.table.id,
        name=file.table.name,
        workflow=file.table.workflow,
        seat_count=file.table.seats,
        board=file.board,
        link_addresses=(join_address(file.link.host, file.link.port), *file.link.others),
        web=file.web,
        lights=file.lights,
    )
