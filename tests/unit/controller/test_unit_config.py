"""A unit's table file: what ships loads, what is not understood is refused with its path."""

from __future__ import annotations

import copy
import tomllib
from pathlib import Path
from typing import Any

import pytest

from controller.config import load_unit_config, parse_unit_config
from controller.web_server import bind
from hal.backend import open_backend
from hal.errors import ConfigError

TABLES = Path(__file__).resolve().parents[3] / "deploy" / "tables"


def document(name: str = "four-card-touch") -> dict[str, Any]:
    return copy.deepcopy(tomllib.loads((TABLES / f"{name}.toml").read_text()))


@pytest.mark.parametrize("path", sorted(TABLES.glob("*.toml")), ids=lambda path: path.stem)
def test_every_shipped_table_loads_and_is_named_like_its_file(path: Path) -> None:
    config = load_unit_config(path)
    assert config.table_id == path.stem
    assert config.board.backend == "raspberry-pi"


def test_an_unknown_key_is_refused_with_its_path() -> None:
    changed = document()
    changed["table"]["colour"] = "green"
    with pytest.raises(ConfigError, match=r"table\.colour"):
        parse_unit_config(changed)


def test_an_unknown_section_is_refused() -> None:
    with pytest.raises(ConfigError, match="lights"):
        parse_unit_config(document() | {"lights": {}})


def test_an_unknown_chip_is_refused() -> None:
    changed = document()
    changed["board"]["chips"][0]["kind"] = "mpr122"
    with pytest.raises(ConfigError, match="mpr122"):
        parse_unit_config(changed)


@pytest.mark.parametrize("section", ["table", "link", "web", "board"])
def test_a_missing_section_is_named(section: str) -> None:
    changed = document()
    del changed[section]
    with pytest.raises(ConfigError, match=section):
        parse_unit_config(changed)


def test_a_sensor_at_a_seat_the_table_lacks_is_refused() -> None:
    changed = document()
    changed["table"]["seats"] = 6
    with pytest.raises(ConfigError, match="7A"):
        parse_unit_config(changed)


def test_a_keypad_table_needs_its_keypad_and_key() -> None:
    changed = document("four-card-keypad")
    del changed["board"]["keyswitch"]
    with pytest.raises(ConfigError, match="keyswitch"):
        parse_unit_config(changed)


def test_a_touch_table_needs_a_card_reader() -> None:
    changed = document()
    del changed["board"]["card_reader"]
    with pytest.raises(ConfigError, match="card_reader"):
        parse_unit_config(changed)


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
    assert load_unit_config(path).web_host == "127.0.0.1"
    opened = document(path.stem)
    opened["web"]["host"] = "0.0.0.0"
    assert parse_unit_config(opened).web_host == "0.0.0.0"


@pytest.mark.parametrize("host", ["", "panel.local", "::1", "127.0.0.1:80", "1.2.3"])
def test_a_host_that_is_no_address_is_refused(host: str) -> None:
    changed = document()
    changed["web"]["host"] = host
    with pytest.raises(ConfigError, match=r"^web\.host: "):
        parse_unit_config(changed)


def test_an_address_of_another_machine_is_refused_when_the_pages_open() -> None:
    with pytest.raises(
        ConfigError, match=r"^web\.host: 192\.0\.2\.1 is no address of this machine"
    ):
        bind("192.0.2.1", 0)
