"""A unit's table file: what ships loads, what is not understood is refused with its path."""

from __future__ import annotations

import copy
import tomllib
from pathlib import Path
from typing import Any

import pytest

from controller.config import UnitConfig, load_unit_config, read_unit_config
from hal.backend import open_backend
from kit.config import ConfigError, Document
from kit.web.server import bind
from tests.kit.places import TABLES


def document(name: str = "four-card-touch") -> dict[str, Any]:
    return copy.deepcopy(tomllib.loads((TABLES / f"{name}.toml").read_text()))


def parsed(values: dict[str, Any]) -> UnitConfig:
    return read_unit_config(Document(values))


@pytest.mark.parametrize("path", sorted(TABLES.glob("*.toml")), ids=lambda path: path.stem)
def test_every_shipped_table_loads_and_is_named_like_its_file(path: Path) -> None:
    config = load_unit_config(path)
    assert config.table_id == path.stem
    assert config.board.backend == "raspberry-pi"


def test_an_unknown_key_is_refused_with_its_path() -> None:
    changed = document()
    changed["table"]["colour"] = "green"
    with pytest.raises(ConfigError, match=r"table\.colour"):
        parsed(changed)


def test_an_unknown_section_is_refused() -> None:
    with pytest.raises(ConfigError, match="gadgets"):
        parsed(document() | {"gadgets": {}})


def test_an_unknown_ic_is_refused() -> None:
    changed = document()
    changed["board"]["ics"][0]["kind"] = "mpr122"
    with pytest.raises(ConfigError, match="mpr122"):
        parsed(changed)


@pytest.mark.parametrize("key", ["STRAT", "SEAT", "SEAT 0", "HAND", "HAND four aces", "HAND x a"])
def test_a_key_that_is_no_button_is_refused(key: str) -> None:
    """Catches: a misspelt START, which a table would hear of when nobody can start a game."""
    changed = document("four-card-keypad")
    keys = changed["board"]["keypad"]["keys"]
    keys[key] = keys.pop("START")
    with pytest.raises(ConfigError, match=r"board\.keypad\.keys\..*: is no button; a key is START"):
        parsed(changed)


@pytest.mark.parametrize("section", ["table", "link", "web", "board"])
def test_a_missing_section_is_named(section: str) -> None:
    changed = document()
    del changed[section]
    with pytest.raises(ConfigError, match=section):
        parsed(changed)


def test_a_sensor_at_a_seat_the_table_lacks_is_refused() -> None:
    changed = document()
    changed["table"]["seats"] = 6
    with pytest.raises(ConfigError, match="7A"):
        parsed(changed)


def test_a_keypad_table_needs_its_keypad_and_key() -> None:
    changed = document("four-card-keypad")
    del changed["board"]["keyswitch"]
    with pytest.raises(ConfigError, match="keyswitch"):
        parsed(changed)


def test_a_touch_table_needs_a_card_reader() -> None:
    changed = document()
    del changed["board"]["card_reader"]
    with pytest.raises(ConfigError, match="card_reader"):
        parsed(changed)


def test_a_file_that_is_no_toml_or_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    broken = tmp_path / "broken.toml"
    broken.write_text("[table\n")
    for path in (broken, tmp_path / "missing.toml"):
        with pytest.raises(ConfigError, match=path.name):
            load_unit_config(path)


def test_the_simulator_is_not_a_backend_a_unit_can_choose() -> None:
    with pytest.raises(ConfigError, match="simulated"):
        open_backend("simulated")


@pytest.mark.parametrize("path", sorted(TABLES.glob("*.toml")), ids=lambda path: path.stem)
def test_the_pages_stay_on_the_unit_unless_the_file_opens_them(path: Path) -> None:
    assert load_unit_config(path).web.host == "127.0.0.1"
    opened = document(path.stem)
    opened["web"]["host"] = "0.0.0.0"
    assert parsed(opened).web.host == "0.0.0.0"


@pytest.mark.parametrize("host", ["", "panel.local", "::1", "127.0.0.1:80", "1.2.3"])
def test_a_host_that_is_no_address_is_refused(host: str) -> None:
    changed = document()
    changed["web"]["host"] = host
    with pytest.raises(ConfigError, match=r"^web\.host: "):
        parsed(changed)


def test_an_address_of_another_machine_is_refused_when_the_pages_open() -> None:
    with pytest.raises(
        ConfigError, match=r"^web\.host: 192\.0\.2\.1 is no address of this machine"
    ):
        bind("192.0.2.1", 0)


def test_a_house_chooses_its_languages_and_what_is_heard() -> None:
    plain = parsed(document()).web
    assert (plain.language, plain.display_language, plain.chimes) == ("en-US", "", ())
    changed = document()
    changed["web"] |= {"language": "es-MX", "display_language": "en-US", "chimes": ["win"]}
    chosen = parsed(changed).web
    assert (chosen.language, chosen.display_language) == ("es-MX", "en-US")
    assert (chosen.chimes, chosen.volume_percent) == (("win",), 40)


@pytest.mark.parametrize(
    ("key", "value"), [("language", "es"), ("chimes", ["bell"]), ("volume_percent", 101)]
)
def test_a_language_or_chime_that_nobody_has_is_refused(key: str, value: object) -> None:
    changed = document()
    changed["web"][key] = value
    with pytest.raises(ConfigError, match=rf"^web\.{key}"):
        parsed(changed)
