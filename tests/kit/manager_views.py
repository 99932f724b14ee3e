"""A Game Manager that exists only in memory, for looking at and testing the operators' pages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import date
from typing import Any

from manager.advice.child import AdviceError
from manager.games import Paytable, load_paytable
from manager.ledger.reports.day_reports import Accrual, Act, DayReport, MeterDay, TableDay
from manager.ledger.reports.day_wins import PaidDay
from manager.ledger.terms import Jackpot
from manager.web.archive.filters import Filters
from manager.web.archive.wins import Found
from manager.web.day.sections import Names, sections_of
from tests.kit.pretend_views import Fake, View

TAIL = "UFTAIL-0-42-" + "5a" * 32 + "-" + "c3" * 64


class FakeDays:
    """One made-up day, counted at once; `done` stands for one that takes longer."""

    property_name = "Harbour Casino"

    def __init__(self) -> None:
        self.asked: list[date | None] = []
        self.done: float | None = None
        self.ties = True

    async def day(self, day: date | None = None, patience_s: float = 1.0) -> View | float:
        self.asked.append(day)
        if self.done is not None:
            return self.done
        return day_view(day or date(2026, 11, 16), is_today=day is None, ties=self.ties)


class FakeSetup:
    """A floor with one jackpot, and the packs that ship."""

    def groups(self) -> list[View]:
        group = {"id": "main", "label": "Progressive", "type": "progressive", "stopped": ""}
        game = ("Four Card Poker", "four-card/progressive/Pays-1")
        tables = [("four-card-touch", "Four Card Poker 7")]
        return [group | {"shown_cents": 1000475, "games": [game], "tables": tables}]

    def paytables(self) -> list[View]:
        return [{"id": "four-card/progressive/Pays-1", "title": "Pays 1"}]

    def paytable(self, name: str) -> Paytable | None:
        return load_paytable(name) if name == "four-card/progressive/Pays-1" else None

    def running(self) -> Mapping[str, Jackpot]:
        return {}


class FakeReports:
    """A made-up bank and adviser."""

    def __init__(self) -> None:
        self.days = FakeDays()
        self.setup = FakeSetup()
        self.typed: list[dict[str, str]] = []
        self.answer = advice_view()
        self.busy = False

    def bank(self) -> View:
        return bank_view()

    def games(self) -> View:
        return games_view()

    async def advice(self, typed: Mapping[str, str]) -> View:
        self.typed.append(dict(typed))
        if self.busy:
            raise AdviceError("The adviser is busy. Try again in a minute.")
        return self.answer


class FakeUnits:
    """One enrolled unit and one that asks; `done` is what was asked for."""

    def __init__(self) -> None:
        self.done: list[tuple[str, dict[str, str]]] = []

    def fingerprint(self) -> str:
        return "ab:cd"

    def waiting(self) -> list[View]:
        return [{"unit": "UF-0002", "table": "four-card-touch", "since_ms": 0}]

    def certificates(self, unit_id: str) -> list[View]:
        row = {"short": "0123456789abcdef", "issued_ms": 0, "is_used": True, "counts": True}
        return [row | {"ended": "", "ended_ms": 0}]

    def unit_ids(self) -> list[str]:
        return ["UF-0001", "UF-0009"]

    async def approve(self, unit_id: str, match: str) -> str:
        return self.do("approve", unit=unit_id, match=match)

    def do(self, command: str, **words: str) -> str:
        self.done.append((command, words))
        return "code  SECRET-CODE" if command == "enrol-code" else f"{command} was done."


class FakeMeters:
    """One meter, drawn as a line."""

    def page(self, meter_id: str) -> View | None:
        return meter_page() if meter_id == "main" else None

    async def plot(self, meter_id: str, span: str) -> View:
        return plot_view(span=span)


class FakeArchive:
    """The wins of a view, whatever is looked for."""

    def __init__(self, wins: list[View]) -> None:
        self._wins = wins
        self.asked: list[Filters] = []

    def choices(self) -> View:
        return {"tables": [("four-card-touch", "Four Card Poker 7")], "meters": [("main", "Main")]}

    async def find(self, filters: Filters, before: int = 0) -> Found:
        self.asked.append(filters)
        return Found(self._wins, 0, 0)

    async def each(self, filters: Filters) -> AsyncIterator[View]:
        self.asked.append(filters)
        for win in self._wins:
            yield win | {"gaming_day": "2026-11-16"}


class FakeMachines:
    """What machines read, of a manager that has nothing yet."""

    def meters(self) -> list[View]:
        return []

    tables = claims = meters

    def win(self, number: int) -> View | None:
        return None

    def wins(self, after: int, limit: int) -> list[View]:
        return []

    alarms = entries = wins

    def is_well(self) -> bool:
        return True

    def figures(self) -> View:
        lists: View = {"meters": [], "tables": [], "alarms_open": [], "alerts_waiting": {}}
        counts = ("claims_waiting", "wins", "alarms", "entries")
        return lists | dict.fromkeys(counts, 0) | {"is_well": True}


class FakeTablePeople:
    """One card and one tech at one table."""

    def tables(self) -> list[View]:
        return [{"id": "four-card-touch", "name": "Four Card Poker 7"}]

    def cards(self) -> list[View]:
        card = {"label": "SUPERVISOR-7", "role": "supervisor", "last_day": "", "enabled": True}
        return [card | {"tables": self.tables()}]

    def techs(self) -> list[View]:
        return [{"label": "Bench tech", "tables": self.tables()}]

    async def keys_of(self, typed: str, table_id: str) -> str:
        return f"four-card-touch={'ab' * 32}"

    async def pin_of(self, typed: str, again: str) -> str:
        return f"{'ab' * 16}={'cd' * 32}"


class FakeSpots:
    def __init__(self) -> None:
        self.found: list[View] = []
        self.known: list[View] = []

    def rows(self) -> list[View]:
        return self.found

    def tables(self) -> list[View]:
        return self.known


class FakeBundles:
    """No unit was asked yet."""

    def kept(self) -> list[View]:
        return []

    def waiting(self) -> list[View]:
        return []

    async def opened(self, number: int) -> View | None:
        return None

    async def content(self, number: int) -> bytes | None:
        return None

    def ask(self, table_id: str, asked_by: str) -> str:
        return f"The unit of {table_id} is asked."


class FakeManager(Fake):
    def __init__(self, view: View | None = None) -> None:
        super().__init__(manager_view() if view is None else view)
        self.reports = FakeReports()
        self.machines = FakeMachines()
        self.meters = FakeMeters()
        self.archive = FakeArchive(self.view()["wins"])
        self.table_people = FakeTablePeople()
        self.spots = FakeSpots()
        self.bundles = FakeBundles()

    def claims(self) -> list[View]:
        claims: list[View] = self.view()["claims"]
        return claims

    def table(self, table_id: str) -> View | None:
        found = [each for each in self.view()["tables"] if each["id"] == table_id]
        return table_page(found[0]) if found else None

    def void_standing(self, table_id: str, round_number: int) -> str:
        return ""

    def win(self, number: int) -> View | None:
        found = [win for win in self.view()["wins"] if win["number"] == number]
        return found[0] if found else None

    def claim(self, table_id: str, number: int) -> View | None:
        claims = self.view()["claims"]
        found = [each for each in claims if (each["table"], each["claim"]) == (table_id, number)]
        return found[0] if found else None

    def causes(self) -> list[View]:
        causes: list[View] = self.view()["causes"]
        return causes

    def acknowledge(self, key: tuple[str, str, str], number: int, by: str, note: str) -> None:
        for cause in self.causes():
            if (cause["code"], cause["table"], cause["unit"]) == key:
                cause |= {"is_open": False, "acked_by": by}

    def alarm_history(self, wanted: str) -> list[View]:
        return [each for each in self.causes() if wanted in each["text"]]

    def stamp(self, number: int, stamp: str, by: str, note: str) -> None:
        win = self.win(number)
        assert win is not None
        win["stamps"].append({"stamp": str(stamp), "by": by, "time_ms": 0, "note": note})

    async def explain(self, number: int, page: int = 0) -> View | None:
        return {**explanation(number), "page": page} if self.win(number) else None


def manager_view(**fields: Any) -> View:
    view: View = {
        "meters": [meter_row()],
        "tables": [table_row("four-card-touch", "Four Card Poker 7", "up", "locked")],
        "claims": [],
        "wins": [win_row(1)],
        "alarms": [],
        "causes": [],
        "notices": 0,
    }
    return {**view, **fields}


def meter_row(**fields: Any) -> View:
    row = {"id": "main", "label": "Progressive", "shown_cents": 1000475, "seed_cents": 1000000}
    row |= {"reserve_cents": 95, "house_cents": 1000000, "player_cents": 475}
    row |= {"type": "progressive", "award_policy": "sequential", "limit_cents": 0}
    return {**row, "stopped": "", "pending": {}, **fields}


def meter_page(**fields: Any) -> View:
    terms = {"contribution_ppm": 250_000, "reserve_ppm": 50_000, "freeze_claims": False}
    terms |= {"fixed_pays_from": "tray", "overflow_to": "reserve", "opening_cents": 1_000_000}
    tables = [{"id": "four-card-touch", "name": "Four Card Poker 7", "game": "Four Card Poker"}]
    return meter_row() | terms | {"tables": tables, "time_ms": 0} | fields


def plot_view(**fields: Any) -> View:
    view = {"span": "day", "spans": ["day", "week"], "svg": "<svg></svg>", "is_cut": False}
    view |= {"first_ms": 0, "drawn_ms": 0, "lowest_cents": 1, "highest_cents": 2, "win_count": 0}
    return view | {"wins": []} | fields


def table_page(row: View, **fields: Any) -> View:
    meter = {"id": "main", "label": "Progressive", "shown_cents": 1000475}
    game = {"letter": "A", "title": "Four Card Poker", "paytable": "four-card/progressive/Pays-1"}
    page = {"workflow": "touch", "seats": 7, "stopped": "", "bets": ["1A"], "rounds": []}
    page["void_order"] = ""
    page |= {"games": [game | {"wager_cents": 100, "meters": [meter]}], "causes": []}
    page["counted"] = {"wager_count": 3, "wagered_cents": 300, "win_count": 0, "paid_cents": 0}
    page |= {"rules": [("Folded hands", "qualify")], "cards": [], "techs": ["Tech 3"]}
    return row | page | {"claims": [], "wins": [], "time_ms": 0} | fields


def table_row(table: str, name: str, link: str, state: str, **fields: Any) -> View:
    row = {"id": table, "name": name, "unit": "UF-0001", "link": link, "state": state}
    return {
        **row,
        "round": 12,
        "is_on": True,
        "wagers": 3,
        "last_event_age_ms": 1200,
        "locked": False,
        "lock_sentence": "",
        "last_win": {"number": 1, "amount_cents": 800075, "time_ms": 0},
        "alarms": 0,
        "worst": "",
        "software": "underfelt 0.1.0-3f2a9c1b77de-py311",
        **fields,
    }


def win_row(number: int, **fields: Any) -> View:
    row = {
        "number": number,
        "time_ms": 1_794_800_000_000 + number * 700_000,
        "table": "four-card-touch",
        "round": 12,
        "seat": 5,
        "hand": "four-aces",
        "name": "Four Card Poker 7",
        "claim": 1,
        "amount_cents": 800075,
        "envy_total_cents": 20000,
        "total_cents": 820075,
        "total_words": "Eight thousand two hundred dollars and 75/100",
        "method": "card",
        "authorised_by": "EXECUTIVE-2",
        "role": "EXECUTIVE",
        "frozen": False,
        "policies": [{"meter": "main", "policy": "sequential"}],
        "tail": TAIL,
        "reversed_by": 0,
        "replaces": 0,
        "replaced_by": 0,
        "dealt": [{"sensor": "5A", "cards": ["As", "Ah"], "verdict": "agrees", "seen": "pair"}],
        "folded_hands_qualify": True,
        "joined": [],
        "lines": [win_line()],
        "envy": [],
        "stamps": [],
        "property": "Harbour Casino",
        "local_time": "2026-11-16 14:13:20 PST",
        "is_large": True,
    }
    return {**row, **fields}


def win_line(**fields: Any) -> View:
    line = {
        "order": 1,
        "seat": 5,
        "sensor": "5A",
        "hand": "four-aces",
        "label": "Four Aces",
        "amount_cents": 800075,
        "amount_words": "Eight thousand dollars and 75/100",
        "meter": "main",
        "meter_label": "Progressive",
        "source": "meter",
        "meter_before_cents": 800075,
        "meter_after_cents": 1000015,
        "claimed_on_cents": None,
        "policy": "sequential",
        "game": "Four Card Poker",
        "paytable": "four-card/progressive/Pays-1",
        "wager_cents": 100,
    }
    return {**line, **fields}


def cause_row(**fields: Any) -> View:
    row = {"code": "FORK", "table": "touch-1", "unit": "UF-1", "severity": "critical", "count": 3}
    row |= {"total": 5, "first_ms": 0, "time_ms": 1000, "number": 9, "text": "Two of them."}
    return row | {"is_open": True, "acked_by": "", "acked_ms": 0} | fields


def claim_row(table: str, claim: int, **fields: Any) -> View:
    """A win that is logged and not paid yet."""
    row = win_row(0, table=table, claim=claim, by_key=True, waits="", **fields)
    nothing = {"meter_before_cents": None, "meter_after_cents": None, "policy": ""}
    return row | {"lines": [win_line(**nothing)], "stamps": [], "dealt": []}


def day_view(day: date, **fields: Any) -> View:
    meter = MeterDay(
        "main",
        "Progressive",
        1_000_000_000_000,
        1_000_475_000_000,
        0,
        95_000_300,
        475_000_000,
        {"WAGER": 475_000_000},
        {"WAGER": 95_000_300},
    )
    report = DayReport(
        day,
        (Accrual("four-card-touch", "main", 19, 475_000_000, 95_000_300),),
        (meter,),
        (TableDay("four-card-touch", 1_900_000_000, 570_000_300, 1_329_999_700, 0),),
        (PaidDay("four-card-touch", "main", 1, 800_075),),
        (Act(7, 0, "ADJUSTMENT", "", "=SUM(1) was adjusted."),),
    )
    names = Names({"four-card-touch": "Four Card Poker 7"}, {"main": "Progressive"})
    view: View = {
        "day": day.isoformat(),
        "starts": "06:00 America/Los_Angeles",
        "is_today": True,
        "before": "2026-11-15",
        "after": "",
        "ties": True,
        "tail": TAIL,
        "sections": sections_of(report, names, is_today=True),
    }
    return {**view, **fields}


def bank_view() -> View:
    cover = {
        "meter_id": "main",
        "label": "Progressive",
        "type": "progressive",
        "shown_cents": 1_000_475,
        "player_microcents": 475_000_000,
        "reserve_microcents": 95_000_300,
        "owed_cents": 0,
        "required_cents": 571,
        "house_microcents": 1_000_000_000_000,
        "largest_fixed_cents": 30_000,
    }
    return {"covers": [cover], "required_cents": 571, "time_ms": 1_794_800_000_000}


def games_view() -> View:
    query = {"paytable": "four-card/progressive/Pays-1", "wager": "1.00", "top.seed": "10000.00"}
    return {
        "games": [
            {
                "table": "Four Card Poker 7",
                "title": "Four Card Poker Progressive Pays 1",
                "links": [("Numbers in force", query)],
            }
        ],
        "paytables": [
            {"id": "four-card/progressive/Pays-1", "title": "Four Card Poker Progressive Pays 1"}
        ],
    }


def advice_view(**fields: Any) -> View:
    view: View = {
        "form": {
            "paytable": "four-card/progressive/Pays-1",
            "title": "Four Card Poker Progressive Pays 1",
            "wager": "1.00",
            "type": "progressive",
            "fixed": "tray",
            "is_blank": False,
            "levels": [
                {
                    "id": "top",
                    "label": "Top",
                    "fields": [{"name": "top.seed", "label": "Seed, $", "value": "0"}],
                }
            ],
        },
        "problems": [],
        "is_counting": False,
        "advice": {
            "remarks": [{"kind": "warning", "sentence": "Top: a zero seed is not recommended."}],
            "plots": [
                {
                    "label": "Top",
                    "svg": '<svg viewBox="0 0 9 9" role="img"><line stroke="#111" x2="9"/></svg>',
                }
            ],
            "shares": [("The house", "14.183 %")],
            "hands": [{"label": "Four Aces", "pay": "100 %", "one_in": "1 in 54,145"}],
        },
    }
    return {**view, **fields}


def explanation(number: int) -> View:
    """How a win came to be, in the shape of `manager.explain.as_plain`."""
    lines = [
        (1, "OPENING", 80_000_000_000_000, 80_000_000_000_000),
        (2, "WAGER", 25_000_000, 80_000_025_000_000),
    ]
    return {
        "win": number,
        "table": "four-card-touch",
        "round": 12,
        "agrees": True,
        "afterwards": "",
        "page_count": 2,
        "stories": [
            {
                "sensor": "5A",
                "hand": "four-aces",
                "meter": "main",
                "percent_ppm": 1_000_000,
                "percent": "100 %",
                "policy": "equal_share",
                "sharers": 2,
                "award": 4,
                "fixed_at": 3,
                "summary": [
                    {
                        "sentence": "opening: Opened (entry 1)",
                        "change_microcents": 80_000_000_000_000,
                    },
                    {
                        "sentence": "1 wager at four-card-touch, rounds 12 to 12",
                        "change_microcents": 25_000_000,
                    },
                ],
                "value_microcents": 80_000_025_000_000,
                "expected_cents": 80_000_025,
                "paid_cents": 80_000_025,
                "remainder_microcents": 0,
                "lines": [
                    {
                        "transaction": entry,
                        "kind": kind,
                        "table_id": "four-card-touch",
                        "round_number": 12,
                        "sensor": "5A",
                        "sentence": f"{kind} entry.",
                        "change_microcents": change,
                        "value_microcents": value,
                    }
                    for entry, kind, change, value in lines
                ],
            }
        ],
        "fixed": [{"sensor": "2A", "hand": "straight-flush", "paid_cents": 10_000}],
        "dealt": [{"sensor": "5A", "cards": ["As", "Ah"], "verdict": "differs", "seen": ""}],
        "envy": [["7A", 10_000]],
    }
