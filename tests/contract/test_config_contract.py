"""The same mistake in a file is the same sentence at the same place, whoever reads the file.

Table files are read by the unit (and so by its installer), and by the manager when it opens or
advises on a table; packs by `check-pack` and by the manager that serves. All of it goes through
real files and the doors that people use.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from controller.config import load_unit_config
from hal.devices.track2 import Swipe, Track2Parser
from kit.config import ConfigError
from kit.config.document import DEPTH_MAX, FILE_BYTES_MAX
from manager.__main__ import main as manager_main
from manager.app import Manager
from manager.games.catalogue import SHIPPED_PACKS
from protocol.secrets.cards import ACCOUNT_DIGITS_MAX
from protocol.table_file import MANAGER_SECTIONS, SECTIONS, SHARED_SECTIONS, UNIT_SECTIONS

ROOT = Path(__file__).parents[2]
TABLE = (ROOT / "deploy/tables/four-card-touch.toml").read_text(encoding="utf-8")
PACK = (SHIPPED_PACKS / "high-five.toml").read_text(encoding="utf-8")
KNOWN = "is not a key this version knows; here it knows"
SERIAL = (
    "board.serial: must be 1 to 32 letters, digits and inner hyphens, because a certificate is"
    " made for it, not"
)


def at_unit(path: Path) -> None:
    load_unit_config(path)


def at_manager(path: Path) -> None:
    manager = Manager(":memory:", lambda: 0, random_bytes=lambda count: bytes(count))
    try:
        manager.open_table_file(path)
    finally:
        manager.store.close()


def told(reader: Callable[[Path], None], path: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        reader(path)
    return str(caught.value).replace(f"{path.parent}/", "")


def told_by_command(
    words: list[str], path: Path, capsys: pytest.CaptureFixture[str], code: int
) -> str:
    assert manager_main([*words, str(path)]) == code
    return capsys.readouterr().err.rstrip("\n").replace(f"{path.parent}/", "")


def place_of(text: str, mark: str) -> str:
    """Where the first of these characters stands, as refusals write it."""
    before = text[: text.index(mark)]
    return f"{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"


# -- what both sides read: line, what stands there instead, where, and what both say ---------------

SHARED = [
    ("seats = 7", "seats = 0", "0", "table.seats: 0 is not between 1 and 12."),
    ("seats = 7", "seats = 13", "13", "table.seats: 13 is not between 1 and 12."),
    ("seats = 7", "seats = 7.0", "7.0", "table.seats: must be a whole number, not 7.0."),
    ("seats = 7", "seats = true", "true", "table.seats: must be a whole number, not true."),
    ("seats = 7", 'seats = "7"', '"7"', 'table.seats: must be a whole number, not "7".'),
    ("seats = 7", "seats = [7]", "[7]", "table.seats: must be a whole number, not an array."),
    ("seats = 7", "seats = nan", "nan", "table.seats: must be a whole number, not nan."),
    (
        "seats = 7",
        f"seats = 0x{'f' * 4000}",
        "0x",
        "table.seats: a number beyond 64 bits is not between 1 and 12.",
    ),
    ("seats = 7", "", "[table]\nid", "table.seats: is missing."),
    ("seats = 7", "seats = 7\nchairs = 7", "chairs", f"table.chairs: {KNOWN} id, name, "),
    ("seats = 7", 'seats = 7\n"a b" = 7', '"a b"', f'table."a b": {KNOWN} id, name, '),
    ('workflow = "touch"', 'workflow = "foot"', '"foot"', 'table.workflow: "foot" is not known; '),
    ('workflow = "touch"', "workflow = 1", "1\nseats", "table.workflow: 1 is not known; known are"),
    ('id = "four-card-touch"', 'id = ""', '""', "table.id: must be 1 to 32 characters."),
    (
        'id = "four-card-touch"',
        f'id = "{"x" * 33}"',
        '"xx',
        "table.id: must be 1 to 32 characters.",
    ),
    ('id = "four-card-touch"', "id = 4", "4\nname", "table.id: must be text, not 4."),
    ('id = "four-card-touch"', 'id = " x"', '" x"', "table.id: has spaces around it or unprint"),
    ('id = "four-card-touch"', 'id = "\\u0000"', '"\\u', "table.id: has spaces around it or unp"),
    (
        'name = "Four',
        'name = "\u00e9' + "\u00e9" * 20,
        '"\u00e9',
        "table.name: must be 1 to 40 bytes",
    ),
    ("[table]\nid", "[tables]\nid", "[tables]", "table: is missing."),
    (
        "[link]\nhost",
        "[lamps]\n[link]\nhost",
        "[lamps]",
        f"lamps: {KNOWN} {', '.join(SECTIONS)}.",
    ),
    ('serial = "UF-0001"', "", "[board]\nback", "board.serial: is missing."),
    ('serial = "UF-0001"', 'serial = ""', '""', f'{SERIAL} "".'),
    ('serial = "UF-0001"', "serial = 1", "1\n\n# GPIO", f"{SERIAL} 1."),
    ('serial = "UF-0001"', 'serial = "UF 1"', '"UF 1"', f'{SERIAL} "UF 1".'),
    ('serial = "UF-0001"', 'serial = "UF_1"', '"UF_1"', f'{SERIAL} "UF_1".'),
    ('serial = "UF-0001"', 'serial = "-UF"', '"-UF"', f'{SERIAL} "-UF".'),
    ('serial = "UF-0001"', 'serial = "\u00fc"', '"\u00fc"', f'{SERIAL} "\u00fc".'),
    ('serial = "UF-0001"', f'serial = "{"x" * 33}"', '"xxx', f'{SERIAL} "{"x" * 33}".'),
    (
        'serial = "UF-0001"',
        'serial = "game-manager.underfelt"',
        '"game-manager.u',
        f'{SERIAL} "game-manager.underfelt".',
    ),
]


@pytest.mark.parametrize(("line", "instead", "mark", "sentence"), SHARED)
def test_both_sides_say_the_same_of_what_both_read(
    line: str,
    instead: str,
    mark: str,
    sentence: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert TABLE.count(line) == 1
    text = TABLE.replace(line, instead)
    path = tmp_path / "table.toml"
    path.write_text(text, encoding="utf-8")
    at = "1:1" if sentence == "table: is missing." else place_of(text, mark)
    unit = told(at_unit, path)
    assert f"table.toml:{at}: {sentence}" in unit
    assert unit == told(at_manager, path)
    assert unit == told_by_command(["advise"], path, capsys, 2)


# -- files that are no document, whoever reads them ------------------------------------------------

NO_DOCUMENT = {
    "not TOML": (b"[table\n", ":1:7: is not TOML: Expected ']' at the end of a table declaration."),
    "cut off": (b"[table", ":1:1: is not TOML: Expected ']' at the end of a table declaration "),
    "a key twice": (b"a = 1\na = 2\n", ":2:6: is not TOML: Cannot overwrite a value."),
    "not UTF-8": (b"a = 1\nb = '\xe4\xff'\n", ":2:6: is not UTF-8 text."),
    "too long a number": (b"a = " + b"9" * 5000, ":1:1: is not TOML: A number is too long."),
    "too large": (b"#" * (FILE_BYTES_MAX + 1), ": is longer than 256 kB."),
    "too large and not UTF-8": (b"\xff" * (FILE_BYTES_MAX + 1), ": is longer than 256 kB."),
    "deep arrays": (b"a = " + b"[" * 100_000, f":1:{5 + DEPTH_MAX}: is nested more than 12 deep."),
    "deep tables": (b"a = " + b"{a=" * 50_000, ": is nested more than 12 deep."),
    "deep arrays that close": (
        b"a = " + b"[" * 5000 + b"]" * 5000,
        f":1:{5 + DEPTH_MAX}: is nested more than 12 deep.",
    ),
    "deep dotted keys": (
        b"a" + b".a" * 100_000 + b" = 1",
        ": is nested more than 12 deep.",
    ),
    "a header and a key": (
        b"[a.a.a.a.a.a.a.a]\nb.b.b.b.b.b = 1",
        f":1:1: {'a.' * 8}b.b.b.b: is nested more than 12 deep.",
    ),
    "a deep header": (b"[a" + b".a" * 100_000 + b"]", ": is nested more than 12 deep."),
}


@pytest.mark.parametrize("name", NO_DOCUMENT)
def test_what_is_no_document_is_refused_alike_by_all(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content, sentence = NO_DOCUMENT[name]
    path = tmp_path / "file.toml"
    path.write_bytes(content)
    unit = told(at_unit, path)
    assert unit.startswith("file.toml:")
    assert sentence in unit
    assert unit == told(at_manager, path)
    assert unit == told_by_command(["advise"], path, capsys, 2)
    assert unit == told_by_command(["check-pack"], path, capsys, 1)


def test_a_file_that_is_not_there_is_told_alike_by_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "none.toml"
    unit = told(at_unit, path)
    assert unit == "none.toml: cannot be read: No such file or directory."
    assert unit == told(at_manager, path)
    assert unit == told_by_command(["check-pack"], path, capsys, 1)


def test_brackets_in_texts_and_comments_nest_nothing(tmp_path: Path) -> None:
    deep = "[" * 100
    path = tmp_path / "table.toml"
    path.write_text(f"# {deep}\n{TABLE}\n[lamps]\na = '{deep}'\nb = '''{deep}'\n'''''\n")
    assert told(at_unit, path).endswith(f"lamps: {KNOWN} {', '.join(SECTIONS)}.")


# -- one kind of mistake in what only the unit, only the manager, or a pack has -------------------

UNIT, MANAGER, PACKS = "unit", "manager", "check-pack"
MISSING, NOT_TRUE = "is missing.", "must be a whole number, not true."
NOT_FLOAT, NOT_FLAG = "must be a whole number, not 1.5.", "must be true or false, not 1."
NOT_TEXT, NOT_TABLE = "must be text, not 5.", 'must be a table, not "x".'
NOT_ROWS = "must be an array of tables, not a table."
KINDS = [
    (MISSING, UNIT, "port = 7411", "", "link.port"),
    (MISSING, MANAGER, 'seed = "10000.00"\n', "", "jackpots.main.seed"),
    (MISSING, PACKS, "deck = 53\n", "", "bet[1].deck"),
    (NOT_TRUE, UNIT, "port = 7411", "port = true", "link.port"),
    (NOT_TRUE, MANAGER, "wager_cents = 100", "wager_cents = true", "paytables.A.wager_cents"),
    (NOT_TRUE, PACKS, "deck = 53", "deck = true", "bet[1].deck"),
    (NOT_FLOAT, UNIT, "electrode = 1\n", "electrode = 1.5\n", "board.sensors[2].electrode"),
    (NOT_FLOAT, MANAGER, "reserve_ppm = 50000", "reserve_ppm = 1.5", "jackpots.main.reserve_ppm"),
    (NOT_FLOAT, PACKS, "format = 1", "format = 1.5", "format"),
    (
        *(NOT_FLAG, MANAGER, "freeze_claims = false", "freeze_claims = 1"),
        "jackpots.main.freeze_claims",
    ),
    (NOT_FLAG, PACKS, "deck = 53", "deck = 53\nenvy_scales = 1", "bet[1].envy_scales"),
    (NOT_TEXT, UNIT, 'host = "game-manager.local"', "host = 5", "link.host"),
    (NOT_TEXT, MANAGER, 'label = "Executive 2"', "label = 5", "cards[2].label"),
    (NOT_TEXT, PACKS, 'title = "High Five Poker"', "title = 5", "title"),
    (NOT_TABLE, UNIT, "recovery = { scl_gpio = 3, sda_gpio = 2 }", 'recovery = "x"',
     "board.buses[1].recovery"),
    (NOT_TABLE, MANAGER, 'levels = { top = "main" }', 'levels = "x"', "paytables.A.levels"),
    (NOT_TABLE, PACKS, '{ id = "five-aces", label = "Five Aces", pay = "200 to 1" }', '"x"',
     "bet[1].paytable[1].hands[1]"),
    (NOT_ROWS, UNIT, "[[board.buses]]", "[board.buses]", "board.buses"),
    (NOT_ROWS, MANAGER, "[[techs]]", "[techs]", "techs"),
    (NOT_ROWS, PACKS, "[[bet]]", "[bet]", "bet"),
    (KNOWN, UNIT, "gpio = 24", "gpio = 24\npins = 1", "board.tamper.pins"),
    (KNOWN, MANAGER, 'role = "EXECUTIVE"', 'role = "EXECUTIVE"\npin = 1', "cards[2].pin"),
    (KNOWN, PACKS, "deck = 53", "deck = 53\ncolour = 1", "bet[1].colour"),
]  # fmt: skip


def refusal_of(reader: str, path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    if reader == PACKS:
        return told_by_command(["check-pack"], path, capsys, 1)
    return told(at_unit if reader == UNIT else at_manager, path)


@pytest.mark.parametrize(("sentence", "reader", "line", "instead", "key"), KINDS)
def test_a_kind_of_mistake_has_one_sentence_in_every_file(
    sentence: str,
    reader: str,
    line: str,
    instead: str,
    key: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = PACK if reader == PACKS else TABLE
    assert line in text
    path = tmp_path / "file.toml"
    path.write_text(text.replace(line, instead, 1), encoding="utf-8")
    first = refusal_of(reader, path, capsys).splitlines()[0]
    place, _, rest = first.partition(": ")
    assert place.startswith("file.toml:")
    assert rest.startswith(f"{key}: {sentence}")


# -- what only one side reads, and must not let pass -----------------------------------------------

ACCOUNT = f"cards[1].account: must be 1 to {ACCOUNT_DIGITS_MAX} digits in quotes"
ACCOUNTS = ["", "6012 3450", "6012345000000017X", "\u0661\u0662", "-1", "1" * 20, "12345678\\n"]


@pytest.mark.parametrize("account", ACCOUNTS)
def test_a_card_account_that_is_no_digits_is_refused_and_never_repeated(
    account: str, tmp_path: Path
) -> None:
    path = tmp_path / "table.toml"
    path.write_text(TABLE.replace("6012345000000017", account), encoding="utf-8")
    refused = told(at_manager, path)
    assert ACCOUNT in refused
    assert not account or account not in refused


def test_an_account_in_the_file_is_one_that_a_card_can_have() -> None:
    """Catches: a file that takes accounts which no reader ever delivers, or refuses real ones."""
    for digits, is_read in ((1, True), (ACCOUNT_DIGITS_MAX, True), (ACCOUNT_DIGITS_MAX + 1, False)):
        parser = Track2Parser()
        (swipe,) = parser.feed(b";" + b"1" * digits + b"=?\r")
        assert isinstance(swipe, Swipe) == is_read


AGREEMENTS = [
    (UNIT, 'id = "2A"', 'id = "1A"', 'board.sensors: the id "1A" is there twice.'),
    (UNIT, "electrode = 1\n", "electrode = 0\n", "both have electrode 0 of sense-1."),
    (UNIT, "seats = 7", "seats = 6", "board.sensors[7].id: sensor 7A is at seat 7, but the"),
    (UNIT, "gpio = 24", "gpio = 17", "board: sense-1's interrupt and the tamper switch both"),
    (MANAGER, "6012345000000025", "6012345000000017", "cards must be without repeats."),
    (MANAGER, 'top = "main"', 'top = "mega"', "paytables.A.levels.top: no jackpot 'mega'."),
    (PACKS, '"five-aces"', '"royal-flush"', 'hands[2].id: Hand "royal-flush" is listed twice.'),
    (PACKS, "deck = 53", "deck = 52", "bet[1].deck: Evaluator seven-card-joker needs deck = 53"),
]


@pytest.mark.parametrize(("reader", "line", "instead", "sentence"), AGREEMENTS)
def test_what_does_not_fit_together_is_refused_with_its_key(
    reader: str,
    line: str,
    instead: str,
    sentence: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = PACK if reader == PACKS else TABLE
    assert line in text
    path = tmp_path / "file.toml"
    path.write_text(text.replace(line, instead, 1), encoding="utf-8")
    assert sentence in refusal_of(reader, path, capsys)


def test_every_problem_of_a_file_is_told_in_the_order_of_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "table.toml"
    text = TABLE.replace("UF-0001", "").replace("seats = 7", "seats = 0").replace("7411", '"x"')
    path.write_text(text, encoding="utf-8")
    keys = [line.split(": ")[1] for line in told(at_unit, path).splitlines()]
    assert keys == ["table.seats", "link.port", "board.serial"]


def test_every_section_of_the_files_that_ship_has_one_owner() -> None:
    assert len(set(SECTIONS)) == len(SHARED_SECTIONS) + len(UNIT_SECTIONS) + len(MANAGER_SECTIONS)
    for path in (ROOT / "deploy/tables").glob("*.toml"):
        assert set(tomllib.loads(path.read_text(encoding="utf-8"))) <= set(SECTIONS)
