"""Opens a table in the ledger from its TOML file: meters with their opening entries, settings.

Repeating it with the same file does nothing. A file that differs from what is running is refused:
parameters of a running jackpot change by their own procedure, not by editing a file. Only people
and policy (cards, techs, wrong cards, the cabinet, notes for the dealer) follow the file, and each
change is told. Card numbers are kept only as salted digests.
"""

from __future__ import annotations

import secrets
import tomllib
from collections.abc import Callable
from pathlib import Path

from manager.games import load_paytable as load_shipped_paytable
from manager.ledger.book import Book
from manager.ledger.terms import Jackpot
from manager.links import LinkedTable, check_layout, check_link, check_type
from manager.section import SetupError
from manager.settings import LoadPaytable, build_settings
from manager.setup_file import SetupFile, read_setup
from protocol.cards import SALT_BYTES
from protocol.settings import TableSettings

PEOPLE_AND_POLICY = (
    "cards",
    "card_last_days",
    "disabled_cards",
    "wrong_cards_max",
    "wrong_cards_within_s",
    "card_lockout_s",
    "techs",
    "tamper_stops",
    "notes",
)


def open_table_file(
    book: Book,
    path: Path,
    random_bytes: Callable[[int], bytes] = secrets.token_bytes,
    load_paytable: LoadPaytable = load_shipped_paytable,
) -> str:
    """Opens the table described by a TOML file and returns its id."""
    try:
        text = path.read_text(encoding="utf-8")
        return open_table(book, text, random_bytes, load_paytable)
    except (OSError, UnicodeDecodeError, SetupError) as error:
        raise SetupError(f"{path.name}: {error}") from error


def open_table(
    book: Book,
    text: str,
    random_bytes: Callable[[int], bytes] = secrets.token_bytes,
    load_paytable: LoadPaytable = load_shipped_paytable,
) -> str:
    """Opens the table described by TOML text and returns its id."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SetupError(f"This is not TOML: {error}.") from error
    setup = read_setup(values)
    known = book.tables.settings_of(setup.table_id)
    salt = known.card_salt if known else random_bytes(SALT_BYTES)
    check_layout(setup)
    settings = build_settings(setup, salt, load_paytable)
    with book.store.transaction():
        if known is not None:
            _refuse_differences(book, setup, settings, known)
            _adopt_people(book, settings, known)
        else:
            _open_new(book, setup, settings, load_paytable)
    return setup.table_id


def _open_new(
    book: Book, setup: SetupFile, settings: TableSettings, load_paytable: LoadPaytable
) -> None:
    for jackpot in setup.jackpots.values():
        running = book.jackpots.find(jackpot.id)
        if running is None:
            book.jackpots.open(jackpot)
        else:
            _refuse_other_terms(book, jackpot)
    for table_id in book.tables.ids():
        linked = LinkedTable(book.tables.rules(table_id).settings, book.tables.games_of(table_id))
        check_link(setup, settings, linked, load_paytable)
    games = {choice.letter: choice.game for choice in setup.paytables}
    book.tables.add(settings, setup.board_serial, games)


def _refuse_differences(
    book: Book, setup: SetupFile, settings: TableSettings, known: TableSettings
) -> None:
    for jackpot in setup.jackpots.values():
        _refuse_other_terms(book, jackpot)
    if book.tables.board_serial_of(setup.table_id) != setup.board_serial:
        raise SetupError("board.serial is not that of the unit this table was opened with.")
    for name in _differences(settings, known):
        if name not in PEOPLE_AND_POLICY:
            raise SetupError(
                f"Table {setup.table_id} runs with other settings ({name}); changing them is a"
                " procedure of its own."
            )


def _differences(settings: TableSettings, known: TableSettings) -> list[str]:
    names = TableSettings.__dataclass_fields__
    return [name for name in names if getattr(settings, name) != getattr(known, name)]


def _adopt_people(book: Book, settings: TableSettings, known: TableSettings) -> None:
    changed = _differences(settings, known)
    if changed:
        book.tables.replace(settings)
        sentence = f"Table {settings.table_id} was opened with other {', '.join(changed)}."
        book.alarms.record("PEOPLE", sentence, settings.table_id)


def _refuse_other_terms(book: Book, wanted: Jackpot) -> None:
    """The file may say what the jackpot opened with, what it runs with, or what it waits for."""
    standing = book.jackpots.standing(wanted.id)
    check_type(standing.terms, wanted)
    running = standing.terms
    if wanted in (running, standing.pending, book.jackpots.opened_with(wanted.id)):
        return
    for name in Jackpot.__dataclass_fields__:
        if getattr(running, name) != getattr(wanted, name):
            raise SetupError(
                f"jackpots.{wanted.id}.{name}: the jackpot runs with {getattr(running, name)!r};"
                " changing it is a procedure of its own."
            )
