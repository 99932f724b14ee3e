"""A table file opens exactly what it says, or is refused with a sentence that names the key."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kit.config import ConfigError
from manager.app import Manager
from manager.games import Paytable
from manager.games import load_paytable as load_shipped
from manager.setup.open_table import open_table
from protocol.numbers import PAY_FOR_ONE, PAY_PERCENT, ROLE_SUPERVISOR
from protocol.secrets.cards import card_key
from sim.floor import figures
from tests.kit.places import TABLES
from tests.kit.pretend_units import SUPERVISOR_ACCOUNT, Clock, Desk, load_paytable, table_toml


def new_manager() -> Manager:
    return Manager(":memory:", Clock(), random_bytes=lambda count: b"\x07" * count)


@pytest.mark.parametrize("name", ["four-card-touch", "four-card-keypad"])
def test_the_shipped_tables_open(name: str) -> None:
    manager = new_manager()
    assert manager.open_table_file(TABLES / f"{name}.toml") == name
    assert figures.meter_shown(manager.book, "main") == 1_000_000
    settings = manager.book.tables.rules(name).settings
    assert (settings.seat_count, settings.executive_from_cents) == (7, 500_000)
    assert settings.executive_percent_ppm == 1_000_000
    (game,) = settings.games
    pays = {hand.id: (hand.pay_kind, hand.pay_value, hand.meter_id) for hand in game.hands}
    assert pays == {
        "four-aces": (PAY_PERCENT, 1_000_000, "main"),
        "four-of-a-kind": (PAY_FOR_ONE, 300, ""),
        "straight-flush": (PAY_FOR_ONE, 100, ""),
        "three-of-a-kind": (PAY_FOR_ONE, 9, ""),
    }


def test_the_shipped_tables_may_share_their_meter() -> None:
    manager = new_manager()
    for name in ("four-card-touch", "four-card-keypad"):
        manager.open_table_file(TABLES / f"{name}.toml")
    assert [row["id"] for row in manager.view.view()["meters"]] == ["main"]
    assert sum(each.kind == "OPENING" for each, _ in manager.store.recorded()) == 1


def test_cards_are_kept_as_stretched_keys_and_no_unit_gets_any_of_it() -> None:
    manager = new_manager()
    manager.open_table(table_toml())
    rules = manager.book.tables.rules("touch-1")
    card = rules.authority.cards[0]
    assert card.key == card_key(b"\x07" * 16, SUPERVISOR_ACCOUNT)
    assert (card.label, card.role) == ("Supervisor 7", 1)
    sent = rules.settings.encode()
    for secret in (card.key, card.label.encode(), SUPERVISOR_ACCOUNT.encode()):
        assert secret not in sent


def test_a_file_that_is_read_again_stretches_one_key_and_not_one_for_each_card(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def counted(salt: bytes, account: str) -> bytes:
        asked.append(account)
        return card_key(salt, account)

    monkeypatch.setattr("manager.setup.authority._stretched", counted)
    manager = new_manager()
    for _ in range(2):
        manager.open_table(table_toml())
    assert len(asked) == 1 + 2 + 1  # the mark over both, each of them, and the mark again
    assert manager.book.alarms.newest(1) == []


def test_the_packs_notes_go_to_the_dealer() -> None:
    manager = new_manager()
    manager.open_table_file(TABLES / "face-up-pai-gow-dual.toml")
    notes = manager.book.tables.rules("face-up-pai-gow-dual").settings.notes
    assert {note.letter for note in notes} == {"A", "B"}
    assert ("A", "The original wager is not returned.") in notes


def test_notes_never_take_the_room_of_a_tech() -> None:
    """Catches: a table that cannot open because its paytable has much to say."""
    techs = "".join(
        f'[[techs]]\nlabel = "A tech with a long name, number {n}"\npin_salt = "{n:032x}"\n'
        f'pin_hash = "{n:064x}"\n'
        for n in range(16)
    )
    manager = new_manager()
    manager.open_table(table_toml() + techs)
    settings = manager.book.tables.rules("touch-1").settings
    assert len(settings.techs) == 16


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
    assert "opened at $8,000.00" in recorded.sentence
    assert '"contribution_ppm":250000' in recorded.detail_text


def test_the_same_file_again_changes_nothing() -> None:
    manager = new_manager()
    for _ in range(2):
        manager.open_table(table_toml())
    assert sum(each.kind == "OPENING" for each, _ in manager.store.recorded()) == 1


CHANGES = {
    'seed = "10000.00"': ('seed = "20000.00"', "jackpots.main.seed"),
    'opening = "10000.00"': ('opening = "1.00"', "jackpots.main.opening"),
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
    with pytest.raises(ConfigError, match=sentence):
        manager.open_table(text.replace(line, changed))
    assert sum(each.kind == "OPENING" for each, _ in manager.store.recorded()) == 1


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
    before = manager.book.tables.rules("touch-1")
    manager.open_table(text.replace(line, changed))
    after = manager.book.tables.rules("touch-1")
    assert after.authority.cards != before.authority.cards
    assert after.settings.card_salt == before.settings.card_salt
    (alarm,) = manager.book.alarms.newest(10)
    assert alarm.code == "PEOPLE"
    assert "cards" in alarm.sentence
    assert sum(each.kind == "OPENING" for each, _ in manager.store.recorded()) == 1


MISTAKES = {
    "seats = 7": [
        ("seats = 7\ncolour = 1", "table.colour: is not a key this version knows"),
        ("seats = 0", "table.seats: 0 is not between 1 and 12"),
        ("seats = 7.0", "table.seats: must be a whole number"),
        ("seats = true", "table.seats: must be a whole number"),
        ("", "table.seats: is missing"),
    ],
    'id = "touch-1"': [
        ('id = ""', "table.id: must be 1 to 32 characters"),
        ("id = 1", "table.id: must be text"),
    ],
    'workflow = "touch"': [
        ('workflow = "foot"', 'table.workflow: "foot" is not known; known are touch, keypad'),
    ],
    'seed = "10000.00"': [
        ("seed = 10000.00", "jackpots.main.seed: must be text like"),
        ("seed = 10000", "jackpots.main.seed: must be text like"),
        ('seed = "1e4"', "jackpots.main.seed: must be text like"),
        ('seed = "99999999999.00"', "jackpots.main.seed: is above the largest amount"),
        ('seed = "10000.005"', "jackpots.main.seed: must be text like"),
        ("", "jackpots.main.seed: is missing"),
    ],
    'opening = "10000.00"': [("", "jackpots.main.opening: is missing")],
    "contribution_ppm = 250000": [
        ("contribution_ppm = 0.25", "jackpots.main.contribution_ppm"),
        ("contribution_ppm = -1", "jackpots.main.contribution_ppm"),
        ("contribution_ppm = 950001", "more than the whole wager"),
    ],
    "freeze_claims = false": [
        ("freeze_claims = 0", "jackpots.main.freeze_claims: must be true or false"),
    ],
    'fixed_pays_from = "tray"': [
        ('fixed_pays_from = "till"', "fixed_pays_from: .* known are tray, meter"),
    ],
    'paytable = "four-card/progressive/Pays-1"': [
        ('paytable = "four-card/progressive/Pays-9"', "paytables.A.paytable: No pack has"),
    ],
    'levels = { top = "main" }': [
        ('levels = { top = "mega" }', "paytables.A.levels.top: no jackpot 'mega'"),
        ('levels = { top = "main", minor = "main" }', "paytables.A.levels.minor: is no level"),
        ("levels = {}", "paytables.A.levels: must have at least one key"),
        ('levels = { minor = "main" }', "paytables.A.levels.minor: is no level"),
        ('levels = "main"', 'paytables.A.levels: must be a table, not "main"'),
    ],
    "folded_hands_qualify = true": [("", "paytables.A.folded_hands_qualify: is missing")],
    "executive_percent = 100": [
        ("executive_percent = 101", "authority.executive_percent"),
        ("executive_percent = 0", "authority.executive_percent"),
    ],
    'dealer_limit = "25.00"': [('dealer_limit = "-1.00"', "authority.dealer_limit: must be text")],
    'role = "SUPERVISOR"': [('role = "DEALER"', r'cards\[1\].role: "DEALER" is not known')],
    f'account = "{SUPERVISOR_ACCOUNT}"': [
        ('account = "6012345000000025"', "cards must be without repeats"),
        ("account = 6012345000000017", r"cards\[1\].account: must be 1 to 19 digits in quotes"),
        ('account = "6012345000000017"\npin = 1', r"cards\[1\].pin: is not a key"),
    ],
    "[paytables.A]": [("[paytables.C]", "at most two jackpot games")],
    "[jackpots.main]": [("[extra]\n[jackpots.main]", "extra: is not a key this version knows")],
    "[authority]": [
        ('[jackpots.other]\nlabel="x"\nseed="1.00"\nopening="1.00"\ncontribution_ppm=1\n'
         'reserve_ppm=1\nfreeze_claims=false\nfixed_pays_from="tray"\n[authority]',
         "jackpots.other: is used by no paytable"),
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
    with pytest.raises(ConfigError, match=sentence):
        manager.open_table(text.replace(line, changed, 1))
    assert (manager.store.tail()[0], manager.book.tables.ids()) == (0, [])


def test_what_is_not_toml_or_not_there_is_refused_with_the_file_s_name(tmp_path: Path) -> None:
    manager = new_manager()
    path = tmp_path / "table.toml"
    with pytest.raises(ConfigError, match=r"table\.toml"):
        manager.open_table_file(path)
    path.write_text("[table\n")
    with pytest.raises(ConfigError, match=r"table\.toml:1:7: is not TOML"):
        manager.open_table_file(path)


def test_tables_on_one_meter_must_play_the_same_paytable_for_the_same_wager() -> None:
    manager = new_manager()
    manager.open_table(table_toml("touch-1"))
    with pytest.raises(ConfigError, match="linked to table touch-1"):
        manager.open_table(table_toml("touch-2", paytable="four-card/progressive/Pays-2"))
    with pytest.raises(ConfigError, match="linked to table touch-1"):
        manager.open_table(table_toml("touch-2").replace("wager_cents = 100", "wager_cents = 500"))
    assert manager.book.tables.ids() == ["touch-1"]


def test_a_jackpot_that_runs_keeps_its_terms_for_every_table() -> None:
    manager = new_manager()
    manager.open_table(table_toml("touch-1"))
    with pytest.raises(ConfigError, match=r"jackpots\.main\.reserve_ppm"):
        manager.open_table(table_toml("touch-2", reserve_ppm="1"))


def test_fixed_pays_scale_with_the_wager_and_envy_only_where_the_paytable_says_so() -> None:
    desk = Desk()
    text = table_toml().replace("wager_cents = 100", "wager_cents = 500")
    open_table(desk.manager.book, text, lambda count: bytes(count), load_paytable)
    rules = desk.manager.book.tables.rules("touch-1")
    assert rules.pay("1A", "four-of-a-kind").fixed_cents == 150_000
    assert rules.hand("1A", "four-of-a-kind").envy_cents == 1_000


def test_a_jackpots_authority_goes_to_the_unit_and_is_one_of_two() -> None:
    manager = new_manager()
    manager.open_table(table_toml("touch-1", authority='"supervisor"'))
    (game,) = manager.book.tables.rules("touch-1").settings.games
    assert game.meters == (("main", "Main", ROLE_SUPERVISOR, 0),)
    with pytest.raises(ConfigError, match=r'authority: "dealer" is not known; known are sup'):
        new_manager().open_table(table_toml(authority='"dealer"'))


def title_of(text: str) -> str:
    manager = new_manager()
    manager.open_table(text)
    (game,) = manager.book.tables.rules("touch-1").settings.games
    return game.title


@pytest.mark.parametrize(
    ("paytable", "title"),
    [
        ("four-card/progressive/Pays-1", "Four Card Poker Progressive"),
        ("four-card/progressive/Pays-3", "Four Card Poker Progressive"),
        ("Crazy-4/progressive/pays-3", "Crazy 4 Poker Progressive"),
        ("face-up-pai-gow/jackpot/WA03", "Face Up Pai Gow Poker Jackpot"),
        ("fortune-pai-gow/jackpot/WA03", "Fortune Pai Gow Poker Jackpot"),
    ],
)
def test_a_game_is_called_by_the_name_of_its_own_table(paytable: str, title: str) -> None:
    assert title_of(table_toml(paytable=paytable)) == title


def titled(title: str) -> str:
    return table_toml().replace("wager_cents = 100", f'wager_cents = 100\ntitle = "{title}"')


def test_the_house_may_give_a_game_its_own_title() -> None:
    assert title_of(titled("Harbour Jackpot")) == "Harbour Jackpot"


def test_a_new_title_follows_the_file_and_is_told() -> None:
    manager = new_manager()
    manager.open_table(table_toml())
    manager.open_table(titled("Harbour Jackpot"))
    (game,) = manager.book.tables.rules("touch-1").settings.games
    assert game.title == "Harbour Jackpot"
    assert manager.view.view()["alarms"][0]["text"] == "Table touch-1 was opened with other titles."


def test_a_title_is_no_longer_than_a_display_has_room_for() -> None:
    with pytest.raises(ConfigError, match=r"paytables\.A\.title: must be 1 to 40 characters"):
        title_of(titled("x" * 41))


def test_a_packs_title_that_is_too_long_asks_for_the_houses_own() -> None:
    def load_long(name: str) -> Paytable:
        return replace(load_shipped(name), house_titles=(("four-card", "x" * 41),))

    manager = new_manager()
    with pytest.raises(ConfigError, match=r"paytables\.A\.title: is needed: 'x{41}' is longer"):
        open_table(manager.book, table_toml(), load_paytable=load_long)
