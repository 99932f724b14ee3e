"""The ledger's relations: their names, columns and keys, said once for every storage engine.

A row is a tuple in the order of its columns, and its first columns are its key. Integers are
signed and 64 bits wide. What the rows mean is known by those who write them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

Row = tuple[Any, ...]
Key = tuple[Any, ...]
Where = Mapping[str, Any]  # column: the value that it must have

INTEGER, TEXT, BLOB = "integer", "text", "blob"


class Held(StrEnum):
    """How much of a relation lives in memory while a manager serves."""

    ALL = "all"  # small: every row
    LIVE = "live"  # the rows that match one of `live`
    NONE = "none"  # history: read when it is asked for


@dataclass(frozen=True, slots=True)
class Relation:
    name: str
    key_count: int  # how many of the first columns are the key
    types: Mapping[str, str]  # by column, in order
    held: Held = Held.ALL
    append_only: bool = False
    live: tuple[Where, ...] = ()
    newest_by: tuple[tuple[str, ...], ...] = ()  # the newest row for each value of these is kept
    columns: tuple[str, ...] = field(init=False)
    newest_places: tuple[tuple[tuple[str, ...], slice], ...] = field(init=False)
    _places: Mapping[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.types))
        object.__setattr__(self, "_places", {name: at for at, name in enumerate(self.types)})
        object.__setattr__(self, "newest_places", tuple(map(self._newest_place, self.newest_by)))

    def _newest_place(self, names: tuple[str, ...]) -> tuple[tuple[str, ...], slice]:
        """Columns that stand side by side, so that a slice of a row has their values."""
        first = self.place(names[0]) if names else 0
        place = slice(first, first + len(names))
        assert self.columns[place] == names, f"{names} of {self.name} do not stand side by side"
        return names, place

    def key_of(self, row: Row) -> Key:
        return row[: self.key_count]

    def place(self, column: str) -> int:
        return self._places[column]

    def matches(self, row: Row, where: Where) -> bool:
        return all(row[self._places[column]] == value for column, value in where.items())

    def matcher(self, where: Where) -> Callable[[Row], bool]:
        """The same for many rows, most of which do not: the places are looked up once."""
        tests = [(self._places[column], value) for column, value in where.items()]
        if len(tests) != 1:
            return lambda row: all(row[at] == value for at, value in tests)
        ((only_at, only_value),) = tests
        return lambda row: bool(row[only_at] == only_value)

    def is_live(self, row: Row) -> bool:
        return any(self.matches(row, where) for where in self.live)


def _types(text: str) -> dict[str, str]:
    """Columns from "name type, name type"."""
    pairs = (column.split() for column in text.split(","))
    return {name: {"i": INTEGER, "t": TEXT, "b": BLOB}[letter] for name, letter in pairs}


def _history(
    name: str, key_count: int, columns: str, newest_by: tuple[tuple[str, ...], ...] = ()
) -> Relation:
    types = _types(columns)
    return Relation(name, key_count, types, Held.NONE, append_only=True, newest_by=newest_by)


def _state(name: str, columns: str, key_count: int = 1) -> Relation:
    return Relation(name, key_count, _types(columns))


TRANSACTIONS = _history(
    "transactions",
    1,
    "number i, kind t, table_id t, round_number i, sensor t, claim_number i, sentence t, detail t,"
    " commit_ms i, unit_id t, event_sequence i, event_monotonic_ms i, event_wall_ms i,"
    " event_digest b, journal_id b, event_kind i, event_body b, changes b, digest b",
)
POSTINGS = _history(
    "postings", 2, "transaction_number i, position i, account t, amount_microcents i"
)
# Read only: an event is kept by the last transaction of the step that took it in.
EVENTS = _history(
    "events",
    3,
    "unit_id t, journal_id b, sequence i, kind i, body b, monotonic_ms i, wall_ms i, digest b,"
    " commit_ms i",
)
ALARMS = _history(
    "alarms",
    1,
    "number i, commit_ms i, unit_id t, table_id t, event_sequence i, code t, sentence t",
    newest_by=((), ("unit_id",)),
)
WINS = _history(
    "wins",
    1,
    "number i, table_id t, claim_number i, round_number i, commit_ms i, method i, authorised_by t,"
    " role i, frozen i",
    newest_by=((),),
)
WIN_LINES = _history(
    "win_lines",
    2,
    "win_number i, position i, sensor t, hand t, hand_label t, amount_cents i, meter_id t,"
    " source i, meter_before_cents i, meter_after_cents i",
)
WIN_ENVY = _history("win_envy", 2, "win_number i, position i, sensor t, amount_cents i")
WIN_POLICIES = _history("win_policies", 2, "win_number i, meter_id t, policy t")
WIN_REVERSALS = Relation(  # rare, and looked through at each greeting
    "win_reversals",
    1,
    _types("win_number i, transaction_number i"),
    Held.ALL,
    append_only=True,
)
WIN_REPLACEMENTS = Relation(
    "win_replacements", 1, _types("win_number i, replaces i"), Held.ALL, append_only=True
)
TABLE_GAMES = Relation(
    "table_games", 2, _types("table_id t, letter t, game t"), Held.ALL, append_only=True
)
SEAL_KEYS = Relation("seal_keys", 2, _types("unit_id t, public_key b"), Held.ALL, append_only=True)
TABLES = _state("tables", "id t, board_serial t, settings b")
BALANCES = _state("balances", "account t, amount_microcents i")
JACKPOTS = _state("jackpots", "id t, terms t, pending t, applied_by i, suspended t, closed i")
UNITS = _state(
    "units",
    "unit_id t, table_id t, journal_id b, last_sequence i, last_digest b, last_event_ms i,"
    " software t, config_digest b, lock_sentence t",
)
ROUNDS = Relation(
    "rounds",
    2,
    _types("table_id t, number i, accepted t, joined t, started_ms i, ended_ms i"),
    Held.NONE,
    newest_by=(("table_id",),),
)
CLAIMS = Relation(
    "claims",
    2,
    _types(
        "table_id t, number i, round_number i, state t, frozen i, logged_by t, log_number i,"
        " role i, lines t, envy t, shown t, awarded i, settled i, win_number i, refusal_code i,"
        " refusal_sentence t, refusal_sequence i"
    ),
    Held.LIVE,
    live=({"state": "OPEN"}, {"state": "OWED"}, {"state": "COMMITTED", "settled": 0}),
)
COUNTERS = _state(
    "table_counters",
    "table_id t, wager_count i, wagered_microcents i, win_count i, paid_cents i, round_number i",
)
SUCCESSIONS = _state(
    "successions",
    "number i, table_id t, unit_id t, operator t, reason t, permitted_ms i, adopted_ms i,"
    " journal_id b, before_unit_id t, before_journal_id b, before_sequence i, before_digest b,"
    " restored i",
)
TABLE_AUTHORITY = _state("table_authority", "table_id t, body t")
SWIPES = _history(
    "swipes", 1, "ticket b, table_id t, purpose i, number i, label t, role i, swiped_ms i"
)
# How often two people let the books go on from a backup, and from which tail on each time.
RESTORES = _history(
    "restores",
    1,
    "era i, tail_number i, tail_digest b, operator t, second t, reason t, commit_ms i",
    newest_by=((),),
)
WRONG_SWIPES = _history("wrong_swipes", 1, "number i, table_id t, swiped_ms i", newest_by=((),))
ALARM_ACKS = _history(
    "alarm_acks",
    1,
    "number i, code t, table_id t, unit_id t, alarm_number i, acked_by t, acked_ms i, note t",
    newest_by=((),),
)
WIN_STAMPS = _history(
    "win_stamps",
    1,
    "number i, win_number i, stamp t, stamped_by t, stamped_ms i, note t",
    newest_by=((),),
)
# Gaming days that are over: up to which transaction, and what the books had come to by then.
CLOSED_DAYS = Relation(
    "closed_days",
    1,
    _types("day t, last_number i, image_digest b, closed_ms i"),
    Held.ALL,
    append_only=True,
)
PEOPLE = _state(
    "people",
    "id t, name t, look t, role t, verifier t, code t, code_until_ms i, closed i",
)
REQUESTS = Relation(
    "requests",
    1,
    _types(
        "number i, command t, words t, asked_by t, asked_ms i, until_ms i, state t, decided_by t,"
        " decided_ms i, answer t"
    ),
    Held.LIVE,
    live=({"state": "waiting"},),
    newest_by=((),),
)

# What is stored. A relation's place here is its number in the chain: a new one is added at the end.
RELATIONS: Mapping[str, Relation] = {
    relation.name: relation
    for relation in (
        TRANSACTIONS,
        POSTINGS,
        ALARMS,
        WINS,
        WIN_LINES,
        WIN_ENVY,
        WIN_POLICIES,
        WIN_REVERSALS,
        WIN_REPLACEMENTS,
        TABLE_GAMES,
        SEAL_KEYS,
        TABLES,
        BALANCES,
        JACKPOTS,
        UNITS,
        ROUNDS,
        CLAIMS,
        COUNTERS,
        SUCCESSIONS,
        TABLE_AUTHORITY,
        SWIPES,
        WRONG_SWIPES,
        PEOPLE,
        REQUESTS,
        WIN_STAMPS,
        ALARM_ACKS,
        RESTORES,
        CLOSED_DAYS,
    )
}
NUMBERS: Mapping[str, int] = {name: number for number, name in enumerate(RELATIONS)}
READABLE: Mapping[str, Relation] = {**RELATIONS, EVENTS.name: EVENTS}
