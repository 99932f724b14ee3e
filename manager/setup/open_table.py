"""Opens a table in the ledger from its TOML file: meters with their opening entries, settings.

Repeating it with the same file does nothing. A file that differs from what is running is refused:
parameters of a running jackpot change by their own procedure, not by editing a file. Only people
and policy (cards, techs, wrong cards, the cabinet, notes for the dealer), the games' titles and the
display's notices and look follow the file, and each change is told. Card numbers are kept only as
keys that are stretched from them.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from kit.config import Document, load, parse, refusal
from manager.games import load_paytable as load_shipped_paytable
from manager.ledger.book import Book
from manager.ledger.table_authority import TableAuthority
from manager.ledger.terms import Jackpot
from manager.setup.authority import build_authority
from manager.setup.link_rules import LinkedTable, check_layout, check_link, check_type
from manager.setup.table_file import SetupFile, read_setup
from manager.setup.unit_settings import LoadPaytable, build_settings
from manager.setup.wager_limits import WagerLimits
from protocol.secrets.cards import SALT_BYTES
from protocol.wire.settings import GameSetting, TableSettings

TITLES = "titles"
AUTHORITY = "cards or authority"
PEOPLE_AND_POLICY = (
    AUTHORITY,
    "wrong_cards_max",
    "wrong_cards_within_s",
    "card_lockout_s",
    "techs",
    "tamper_stops",
    "notes",
    "notices",
    "accent",
    "background",
    "logo",
    TITLES,
)


def open_table_file(
    book: Book,
    path: Path,
    random_bytes: Callable[[int], bytes] = secrets.token_bytes,
    load_paytable: LoadPaytable = load_shipped_paytable,
    limits: WagerLimits | None = None,
) -> str:
    """Opens the table described by a TOML file and returns its id."""
    return open_document(book, load(path), random_bytes, load_paytable, limits)


def open_table(
    book: Book,
    text: str,
    random_bytes: Callable[[int], bytes] = secrets.token_bytes,
    load_paytable: LoadPaytable = load_shipped_paytable,
) -> str:
    """Opens the table described by TOML text and returns its id."""
    return open_document(book, parse(text), random_bytes, load_paytable)


def open_document(
    book: Book,
    document: Document,
    random_bytes: Callable[[int], bytes],
    load_paytable: LoadPaytable = load_shipped_paytable,
    limits: WagerLimits | None = None,
) -> str:
    """Opens the table that a document describes and returns its id.

    A new table whose wagers are beyond a jurisdiction's limits is opened, and an alarm says so.
    """
    setup = read_setup(document)
    known = book.tables.settings_of(setup.table_id)
    salt = known.card_salt if known else random_bytes(SALT_BYTES)
    with document.placing():
        check_layout(setup)
        settings = build_settings(setup, salt, load_paytable)
        before = book.tables.authority_of(setup.table_id)
        authority = build_authority(setup, salt, before)
        if known is not None and before.people_kept_here:
            settings = replace(settings, techs=known.techs)
        with book.store.transaction():
            if known is not None:
                _tell_untaken(book, setup.table_id, authority, before)
                _refuse_differences(book, setup, settings, known)
                _adopt_people(book, settings, known, _unmarked(authority) != _unmarked(before))
            else:
                _open_new(book, setup, settings, load_paytable)
                for sentence in limits.warnings(setup) if limits else ():
                    book.alarms.record("WAGER_LIMIT", sentence, setup.table_id)
            book.tables.keep_authority(setup.table_id, authority)
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
        raise refusal(("board", "serial"), "is not that of the unit this table was opened with.")
    for name in _differences(settings, known):
        if name not in PEOPLE_AND_POLICY:
            raise refusal(
                (),
                f"Table {setup.table_id} runs with other settings ({name}); changing them is a"
                " procedure of its own.",
            )


def _differences(settings: TableSettings, known: TableSettings) -> list[str]:
    """The names of what differs; games that differ in nothing but their titles are `titles`."""
    names = [
        name
        for name in TableSettings.__dataclass_fields__
        if getattr(settings, name) != getattr(known, name)
    ]
    if _untitled(settings.games) == _untitled(known.games):
        return [TITLES if name == "games" else name for name in names]
    return names


def _untitled(games: tuple[GameSetting, ...]) -> list[GameSetting]:
    return [game._replace(title="") for game in games]


def _adopt_people(
    book: Book, settings: TableSettings, known: TableSettings, has_other_authority: bool
) -> None:
    changed = [AUTHORITY] if has_other_authority else []
    changed += _differences(settings, known)
    if changed:
        book.tables.replace(settings)
        sentence = f"Table {settings.table_id} was opened with other {', '.join(changed)}."
        book.alarms.record("PEOPLE", sentence, settings.table_id)


def _unmarked(authority: TableAuthority) -> TableAuthority:
    """Without what is known of the file's cards, where those are not taken."""
    return replace(authority, cards_mark="") if authority.people_kept_here else authority


def _tell_untaken(
    book: Book, table_id: str, authority: TableAuthority, before: TableAuthority
) -> None:
    """Whoever edits the file of a table whose cards are kept at the manager must hear of it."""
    if before.people_kept_here and authority.cards_mark != before.cards_mark:
        sentence = (
            f"The file of table {table_id} names other cards than before. They are not taken:"
            " this table's cards and techs are kept on the page Cards and techs."
        )
        book.alarms.record("PEOPLE", sentence, table_id)


def _refuse_other_terms(book: Book, wanted: Jackpot) -> None:
    """The file may say what the jackpot opened with, what it runs with, or what it waits for."""
    standing = book.jackpots.standing(wanted.id)
    check_type(standing.terms, wanted)
    running = standing.terms
    if wanted in (running, standing.pending, book.jackpots.opened_with(wanted.id)):
        return
    for name in Jackpot.__dataclass_fields__:
        if getattr(running, name) != getattr(wanted, name):
            raise refusal(
                ("jackpots", wanted.id, name.removesuffix("_cents")),
                f"the jackpot runs with {getattr(running, name)!r};"
                " changing it is a procedure of its own.",
            )
