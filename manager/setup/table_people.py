"""Cards and techs of running tables, changed by people at the manager instead of in a file.

From the first change on, a table's cards and techs are kept here, and its file's are not taken any
more. No card number and no PIN gets this far: a request has the keys that were stretched from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import date, timedelta

from kit.config import Unfit
from manager.ledger.book import Book
from manager.ledger.corrections.reasons import Signed
from manager.ledger.errors import LedgerError
from manager.ledger.rules import ROLE_NAMES
from manager.ledger.store.entries import Entry, Kind, Reference
from manager.ledger.table_authority import CardKey, TableAuthority
from manager.setup.people import LastDay
from protocol.numbers import ROLE_EXECUTIVE, ROLE_SUPERVISOR
from protocol.secrets.cards import KEY_BYTES
from protocol.table_file import FILE_LABEL
from protocol.wire.errors import ProtocolError
from protocol.wire.fields import clipped
from protocol.wire.settings import PIN_HASH_BYTES, PIN_SALT_BYTES, TechSetting

ADD_CARD, CHANGE_CARD, RETIRE_CARD = "add-card", "change-card", "retire-card"
ADD_TECH, CHANGE_TECH, RETIRE_TECH = "add-tech", "change-tech", "retire-tech"
COMMANDS = (ADD_CARD, CHANGE_CARD, RETIRE_CARD, ADD_TECH, CHANGE_TECH, RETIRE_TECH)
# What a request carries and no page ever shows.
KEYS, PIN = "keys", "pin"
HIDDEN_WORDS = frozenset({KEYS, PIN})
CARDS_MAX = 200  # at one table: a swipe is held against each of them
NEVER = "never"

_ROLES = {ROLE_NAMES[role].lower(): role for role in (ROLE_SUPERVISOR, ROLE_EXECUTIVE)}
_FIRST_DAY = date(1970, 1, 1)

Request = Mapping[str, str]
Cards = tuple[CardKey, ...]
Techs = tuple[TechSetting, ...]


def carry_out(book: Book, request: Request, signed: Signed) -> str:
    """One change of who counts at one table or at all of them, and what was done."""
    command = request.get("command", "")
    if command in (ADD_CARD, CHANGE_CARD):
        signed.require_two("A card that may confirm wins")
    with book.store.transaction():
        done = _ACTS[command](book, request)
        sentence = clipped(f"{done} By {signed.names}.")
        detail = {"act": command, "who": signed.operator, **signed.detail(done)}
        table_id = request.get("table", "")
        book.store.append(Entry(Kind.ACT, Reference(table_id), sentence, (), detail=detail))
        book.alarms.record("PEOPLE", sentence, table_id)
    return done


def day_text(last_day: int) -> str:
    """A card's last day as people write it, "" when it has none."""
    return (_FIRST_DAY + timedelta(days=last_day)).isoformat() if last_day else ""


def keys_text(keys: Mapping[str, bytes]) -> str:
    """The keys of one card, one for each table, as a request carries them."""
    return " ".join(f"{table_id}={key.hex()}" for table_id, key in keys.items())


def pin_text(salt: bytes, hashed: bytes) -> str:
    return f"{salt.hex()}={hashed.hex()}"


# -- cards ----------------------------------------------------------------------------------------


def _add_card(book: Book, request: Request) -> str:
    label, role, last_day = _label(request), _role(request), _last_day(request)
    keys = _keys(request)
    for table_id, key in keys.items():
        cards = book.tables.authority_of(_known(book, table_id)).cards
        twin = next((card for card in cards if card.key == key), None)
        if twin is not None:
            raise LedgerError(f"This card is known at {table_id} already, as {twin.label}.")
        if any(card.label == label for card in cards):
            raise LedgerError(f"A card is called {label} at {table_id} already.")
        if len(cards) >= CARDS_MAX:
            raise LedgerError(f"Table {table_id} has {CARDS_MAX} cards already.")
        _keep_cards(book, table_id, (*cards, CardKey(label, role, key, last_day)))
    until = f" until {day_text(last_day)}" if last_day else ""
    return f"Card {label} counts as {ROLE_NAMES[role]}{until} {_at(keys)}."


def _change_card(book: Book, request: Request) -> str:
    label, role, last_day = _label(request), _role(request), _last_day(request)

    def changed(card: CardKey) -> CardKey:
        return replace(card, role=role, last_day=last_day, enabled=True)

    tables = _each_card(book, request, changed)
    until = f" until {day_text(last_day)}" if last_day else ""
    return f"Card {label} counts as {ROLE_NAMES[role]}{until} {_at(tables)}."


def _retire_card(book: Book, request: Request) -> str:
    tables = _each_card(book, request, lambda card: replace(card, enabled=False))
    done = f"Card {_label(request)} counts no more {_at(tables)}."
    bare = [each for each in tables if not _has_cards(book.tables.authority_of(each))]
    return f"{done} No card is left {_at(bare)}." if bare else done


def _has_cards(authority: TableAuthority) -> bool:
    return any(card.enabled for card in authority.cards)


def _each_card(book: Book, request: Request, change: Callable[[CardKey], CardKey]) -> list[str]:
    """Changes the card wherever it is known and meant, and says where that was."""
    label, touched = _label(request), []
    for table_id in _meant(book, request):
        cards = book.tables.authority_of(table_id).cards
        wanted = tuple(change(card) if card.label == label else card for card in cards)
        if any(card.label == label for card in cards):
            touched.append(table_id)
        if wanted != cards:
            _keep_cards(book, table_id, wanted)
    if not touched:
        raise LedgerError(f"No card is called {label} {_at(_meant(book, request))}.")
    return touched


def _keep_cards(book: Book, table_id: str, cards: Cards) -> None:
    before = book.tables.authority_of(table_id)
    book.tables.keep_authority(table_id, replace(before, cards=cards, people_kept_here=True))


# -- techs ----------------------------------------------------------------------------------------


def _add_tech(book: Book, request: Request) -> str:
    label, (salt, hashed) = _label(request), _pin(request)
    tables = _meant(book, request)
    for table_id in tables:
        techs = _techs(book, table_id)
        if any(tech.label == label for tech in techs):
            raise LedgerError(f"A tech is called {label} at {table_id} already.")
        _keep_techs(book, table_id, (*techs, TechSetting(label, salt, hashed)))
    return f"Tech {label} may open the service page {_at(tables)}."


def _change_tech(book: Book, request: Request) -> str:
    label, (salt, hashed) = _label(request), _pin(request)
    tables = _each_tech(book, request, lambda tech: (TechSetting(label, salt, hashed),))
    return f"Tech {label} has another PIN {_at(tables)}."


def _retire_tech(book: Book, request: Request) -> str:
    tables = _each_tech(book, request, lambda tech: ())
    return f"Tech {_label(request)} may no longer open the service page {_at(tables)}."


def _each_tech(book: Book, request: Request, change: Callable[[TechSetting], Techs]) -> list[str]:
    label, touched = _label(request), []
    for table_id in _meant(book, request):
        techs = _techs(book, table_id)
        if any(tech.label == label for tech in techs):
            kept = (change(tech) if tech.label == label else (tech,) for tech in techs)
            _keep_techs(book, table_id, tuple(tech for each in kept for tech in each))
            touched.append(table_id)
    if not touched:
        raise LedgerError(f"No tech is called {label} {_at(_meant(book, request))}.")
    return touched


def _techs(book: Book, table_id: str) -> Techs:
    settings = book.tables.settings_of(_known(book, table_id))
    assert settings is not None
    return settings.techs


def _keep_techs(book: Book, table_id: str, techs: Techs) -> None:
    settings = book.tables.settings_of(table_id)
    assert settings is not None
    try:
        book.tables.replace(replace(settings, techs=techs))
    except ProtocolError as error:
        raise LedgerError(f"Table {table_id}: {error.sentence}") from error
    before = book.tables.authority_of(table_id)
    book.tables.keep_authority(table_id, replace(before, people_kept_here=True))


# -- what was asked for ---------------------------------------------------------------------------


def _meant(book: Book, request: Request) -> list[str]:
    table_id = request.get("table", "")
    return [_known(book, table_id)] if table_id else book.tables.ids()


def _known(book: Book, table_id: str) -> str:
    if book.tables.settings_of(table_id) is None:
        raise LedgerError(f"There is no table {table_id}.")
    return table_id


def _label(request: Request) -> str:
    try:
        return str(FILE_LABEL.take(request.get("label", "").strip()))
    except Unfit as error:
        raise LedgerError(f"The name {error}") from error


def _role(request: Request) -> int:
    role = _ROLES.get(request.get("role", "").lower())
    if role is None:
        raise LedgerError(f"A card is {' or '.join(_ROLES)}.")
    return role


def _last_day(request: Request) -> int:
    try:
        return LastDay().take(request.get("last-day", "").strip() or NEVER)
    except Unfit as error:
        raise LedgerError(f"The card's last day {error}") from error


def _keys(request: Request) -> dict[str, bytes]:
    pairs = [each.partition("=") for each in request.get(KEYS, "").split()]
    found = {table_id: _bytes(text, KEY_BYTES) for table_id, _, text in pairs}
    if not found:
        raise LedgerError("This card is known at every table already.")
    return found


def _pin(request: Request) -> tuple[bytes, bytes]:
    salt, _, hashed = request.get(PIN, "").partition("=")
    return _bytes(salt, PIN_SALT_BYTES), _bytes(hashed, PIN_HASH_BYTES)


def _bytes(text: str, length: int) -> bytes:
    try:
        found = bytes.fromhex(text)
    except ValueError:
        found = b""
    if len(found) != length:
        raise LedgerError("The request has no key in it; type the number again.")
    return found


def _at(tables: Iterable[str]) -> str:
    names = list(tables)
    return f"at {len(names)} tables" if len(names) > 3 else f"at {' and '.join(names)}"


_ACTS: Mapping[str, Callable[[Book, Request], str]] = {
    ADD_CARD: _add_card,
    CHANGE_CARD: _change_card,
    RETIRE_CARD: _retire_card,
    ADD_TECH: _add_tech,
    CHANGE_TECH: _change_tech,
    RETIRE_TECH: _retire_tech,
}
