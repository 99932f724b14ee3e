"""A table file opens exactly what it says, or is refused with a sentence that names the key."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from manager.app import Manager
from manager.section import SetupError
from manager.setup import open_table
from protocol.cards import card_digest
from protocol.settings import PAY_FOR_ONE, PAY_PERCENT
from tests.unit.manager.desk import SUPERVISOR_ACCOUNT, Clock, Desk, load_paytable, table_toml

SHIPPED = Path(__file__).parents[3] / "deploy" / "tables"


def new_manager() -> Manager:
    return Manager(":memory:", Clock(), random_bytes=lambda count: b"\x07" * count)


@pytest.mark.parametrize("name", ["four-card-touch", "four-card-keypad"])
def test_the_shipped_tables_open(name: str) -> None:
    manager = new_manager()
    assert manager.open_table_file(SHIPPED / f"{name}.toml") == name
    assert manager.view.meter_shown("main") == 1_000_000
    settings = manager.book.tables.rules(name).settings
    assert (settings.seat_count, settings.executive_from_cents) == (7, 500_000)
    assert settings.executive_percent_ppm == 1_000_000
    (game,) = settings.games
    pays = {hand.id: (hand.pay_kind, hand.pay_value, hand.level) for hand in game.hands}
    assert pays == {
        "four-aces": (PAY_PERCENT, 1_000_000, "main"),
        "four-of-a-kind": (PAY_FOR_ONE, 300, ""),
        "straight-flush": (PAY_FOR_ONE, 100, ""),
        "three-of-a-kind": (PAY_FOR_ONE, 9, ""),
    }


def test_the_shipped_tables_may_share_their_meter() -> None:
    manager = new_manager()
    for name in ("four-card-touch", "four-card-keypad"):
        manager.open_table_file(SHIPPED / f"{name}.toml")
    assert [row["id"] for row in manager.view.view()["meters"]] == ["main"]
    assert manager.store.tail()[0] == 1  # one opening


def test_cards_are_kept_as_salted_digests() -> None:
    manager = new_manager()
    manager.open_table(table_toml())
    card = manager.book.tables.rules("touch-1").settings.cards[0]
    assert card.digest == card_digest(b"\x07" * 16, SUPERVISOR_ACCOUNT)
    assert (card.label, card.role) == ("Supervisor 7", 1)


def test_the_packs_notes_go_to_the_dealer() -> None:
    manager = new_manager()
    manager.open_table_file(SHIPPED / "face-up-pai-gow-dual.toml")
    notes = manager.book.tables.rules("face-up-pai-gow-dual").settings.notes
    assert {note.letter for note in notes} == {"A", "B"}
    assert ("A", "The original wager is not returned.") in notes


def test_notes_never_take_the_room_of_a_card() -> None:
    """Catches: a table that cannot open because its paytable has much to say."""
    cards = "".join(
        f'[[cards]]\nlabel = "A Supervisor with a long name {n}"\nrole = "SUPERVISOR"\n'
        f'account = "{n}"\n'
        for n in range(5_000_000, 5_000_058)
    )
    manager = new_manager()
    manager.open_table(table_toml() + cards)
    settings = manager.book.tables.rules("touch-1").settings
    assert (len(settings.cards), settings.notes) == (60, ())


def test_a_table_opened_before_there_were_notes_gets_them_and_the_change_is_told() -> None:
    manager = new_manager()
    manager.open_table(table_toml())
    tables = manager.book.tables
    tables.replace(replace(tables.rules("touch-1").settings, notes=()))
    manager.open_table(table_toml())
    assert len(tables.rules("touch-1").settings.notes) == 4
    assert manager.view.view()["alarms"][0]["text"] == "Table touch-1 was opened with other notes."


def test_the_opening_entry_explains_the_beginning_amount_and_the_terms() -> None:
    manager = new_manager()
    manager.open_table(table_toml(opening='"8000.00"'))
    ((recorded, _),) = manager.store.recorded()
    assert "opened at 8000.00" in recorded.sentence
    assert '"contribution_ppm":250000' in recorded.detail_text


def test_the_same_file_again_changes_nothing() -> None:
    manager = new_manager()
    for _ in range(2):
        manager.open_table(table_toml())
    assert manager.store.tail()[0] == 1


CHANGES = {
    'seed = "10000.00"': ('seed = "20000.00"', "jackpots.main.seed_cents"),
    'opening = "10000.00"': ('opening = "1.00"', "jackpots.main.opening_cents"),
    "contribution_ppm = 250000": ("contribution_ppm = 1", "jackpots.main.contribution_ppm"),
    "wager_cents = 100": ("wager_cents = 500", r"\(games\)"),
    'dealer_limit = "25.00"': ('dealer_limit = "26.00"', r"\(dealer_limit_cents\)"),
    "seats = 7": ("seats = 6", r"\(seat_count\)"),
    'serial = "UF-touch-1"': ('serial = "UF-2"', "board.serial"),
}


@pytest.mark.parametrize("line", CHANGES)
def test_a_changed_file_is_refused_and_names_what_differs(line: str) -> None:
    manager = new_manager()
    text = table_toml()
    manager.open_table(text)
    changed, sentence = CHANGES[line]
    assert line in text
    with pytest.raises(SetupError, match=sentence):
        manager.open_table(text.replace(line, changed))
    assert manager.store.tail()[0] == 1


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ('role = "SUPERVISOR"', 'role = "EXECUTIVE"'),
        (f'account = "{SUPERVISOR_ACCOUNT}"', 'account = "60"'),
        (f'account = "{SUPERVISOR_ACCOUNT}"', f'account = "{SUPERVISOR_ACCOUNT}"\nenabled = false'),
    ],
)
def test_people_follow_the_file_and_the_change_is_told(line: str, changed: str) -> None:
    manager = new_manager()
    text = table_toml()
    manager.open_table(text)
    before = manager.book.tables.rules("touch-1").settings
    manager.open_table(text.replace(line, changed))
    after = manager.book.tables.rules("touch-1").settings
    assert after.cards != before.cards
    assert after.card_salt == before.card_salt
    (alarm,) = manager.book.alarms.newest(10)
    assert alarm.code == "PEOPLE"
    assert "cards" in alarm.sentence
    assert manager.store.tail()[0] == 1


MISTAKES = {
    "seats = 7": [
        ("seats = 7\ncolour = 1", "table.colour is not a known key"),
        ("seats = 0", "table.seats must be a whole number from 1"),
        ("seats = 7.0", "table.seats must be a whole number"),
        ("seats = true", "table.seats must be a whole number"),
        ("", "table.seats is missing"),
    ],
    'id = "touch-1"': [('id = ""', "table.id must be text"), ("id = 1", "table.id must be text")],
    'workflow = "touch"': [('workflow = "foot"', "table.workflow must be one of touch, keypad")],
    'seed = "10000.00"': [
        ("seed = 10000.00", "jackpots.main.seed must be text like"),
        ("seed = 10000", "jackpots.main.seed must be text like"),
        ('seed = "1e4"', "jackpots.main.seed must be text like"),
        ('seed = "10000.005"', "jackpots.main.seed must be text like"),
        ("", "jackpots.main.seed is missing"),
    ],
    'opening = "10000.00"': [("", "jackpots.main.opening is missing")],
    "contribution_ppm = 250000": [
        ("contribution_ppm = 0.25", "jackpots.main.contribution_ppm"),
        ("contribution_ppm = -1", "jackpots.main.contribution_ppm"),
        ("contribution_ppm = 950001", "more than the whole wager"),
    ],
    "claim_lock = false": [("claim_lock = 0", "jackpots.main.claim_lock must be true or false")],
    'fixed_pays_from = "tray"': [('fixed_pays_from = "till"', "must be one of tray, meter")],
    'paytable = "four-card/progressive/Pays-1"': [
        ('paytable = "four-card/progressive/Pays-9"', "paytables.A.paytable: No pack has"),
    ],
    'levels = { top = "main" }': [
        ('levels = { top = "mega" }', "paytables.A.levels.top: no jackpot 'mega'"),
        ('levels = { top = "main", minor = "main" }', "paytables.A.levels.minor is no level"),
        ("levels = {}", "paytables.A.levels.top is missing"),
        ('levels = "main"', "paytables.A.levels must be a table of texts"),
    ],
    "folded_hands_qualify = true": [("", "paytables.A.folded_hands_qualify is missing")],
    "executive_percent = 100": [
        ("executive_percent = 101", "authority.executive_percent"),
        ("executive_percent = 0", "authority.executive_percent"),
    ],
    'dealer_limit = "25.00"': [('dealer_limit = "-1.00"', "authority.dealer_limit must be text")],
    'role = "SUPERVISOR"': [('role = "DEALER"', r"cards\[0\].role must be one of")],
    f'account = "{SUPERVISOR_ACCOUNT}"': [
        ('account = "6012345000000025"', "cards must be without repeats"),
        ("account = 6012345000000017", r"cards\[0\].account must be text"),
        ('account = "6012345000000017"\npin = 1', r"cards\[0\].pin is not a known key"),
    ],
    "[paytables.A]": [("[paytables.C]", "at most two jackpot games")],
    "[jackpots.main]": [("[extra]\n[jackpots.main]", "extra is not a known key")],
    "[authority]": [
        ('[jackpots.other]\nlabel="x"\nseed="1.00"\nopening="1.00"\ncontribution_ppm=1\n'
         'reserve_ppm=1\nclaim_lock=false\nfixed_pays_from="tray"\n[authority]',
         "jackpots.other is used by no paytable"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("line", "changed", "sentence"),
    [(line, changed, sentence) for line, each in MISTAKES.items() for changed, sentence in each],
)
def test_a_mistake_is_refused_with_its_path_and_nothing_is_opened(
    line: str, changed: str, sentence: str
) -> None:
    manager = new_manager()
    text = table_toml()
    assert line in text
    with pytest.raises(SetupError, match=sentence):
        manager.open_table(text.replace(line, changed, 1))
    assert (manager.store.tail()[0], manager.book.tables.ids()) == (0, [])


def test_what_is_not_toml_or_not_there_is_refused_with_the_file_s_name(tmp_path: Path) -> None:
    manager = new_manager()
    path = tmp_path / "table.toml"
    with pytest.raises(SetupError, match=r"table\.toml"):
        manager.open_table_file(path)
    path.write_text("[table\n")
    with pytest.raises(SetupError, match=r"table\.toml: This is not TOML"):
        manager.open_table_file(path)


def test_tables_on_one_meter_must_play_the_same_paytable_for_the_same_wager() -> None:
    manager = new_manager()
    manager.open_table(table_toml("touch-1"))
    with pytest.raises(SetupError, match="linked to table touch-1"):
        manager.open_table(table_toml("touch-2", paytable="four-card/progressive/Pays-2"))
    with pytest.raises(SetupError, match="linked to table touch-1"):
        manager.open_table(table_toml("touch-2").replace("wager_cents = 100", "wager_cents = 500"))
    assert manager.book.tables.ids() == ["touch-1"]


def test_a_jackpot_that_runs_keeps_its_terms_for_every_table() -> None:
    manager = new_manager()
    manager.open_table(table_toml("touch-1"))
    with pytest.raises(SetupError, match=r"jackpots\.main\.reserve_ppm"):
        manager.open_table(table_toml("touch-2", reserve_ppm="1"))


def test_fixed_pays_scale_with_the_wager_and_envy_only_where_the_paytable_says_so() -> None:
    desk = Desk()
    text = table_toml().replace("wager_cents = 100", "wager_cents = 500")
    open_table(desk.manager.book, text, lambda count: bytes(count), load_paytable)
    rules = desk.manager.book.tables.rules("touch-1")
    assert rules.pay("1A", "four-of-a-kind").fixed_cents == 150_000
    assert rules.hand("1A", "four-of-a-kind").envy_cents == 1_000
