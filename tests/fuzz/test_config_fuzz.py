"""Mutated table files: read, or refused with a sentence that names the place. Nothing else."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from controller.config import load_unit_config, parse_unit_config
from hal.errors import ConfigError
from manager.section import SetupError
from manager.setup import open_table
from tests.fuzz.config_inputs import TEXTS, documents, texts, toml_document
from tests.fuzz.effort import examples
from tests.unit.manager.desk import Desk, table_toml

# A path ends at the first colon that is not part of a key in quotes.
UNIT_PATH = re.compile(
    r'(file|table|board|link|web)\b([^:"]|"([^"\\]|\\.)*")*: .*',
    re.DOTALL,
)
NOT_TOML = re.compile(r"This is not TOML: .*\.", re.DOTALL)
# A key of the file, at the top or below it; or the table, when its parts do not fit together.
MANAGERS_PATH = re.compile(r"(\S.* (is|must)|\S*: |Table ).*\.", re.DOTALL)


def check_unit(document: dict[str, Any]) -> None:
    try:
        parse_unit_config(document)
    except ConfigError as error:
        sentence = str(error)
    else:
        return
    assert UNIT_PATH.fullmatch(sentence), sentence


def check_manager(text: str) -> None:
    desk = Desk()
    try:
        open_table(desk.manager.book, text, lambda count: bytes(count))
    except SetupError as error:
        sentence = str(error)
    else:
        return
    finally:
        desk.manager.store.close()
    assert MANAGERS_PATH.fullmatch(sentence) or NOT_TOML.fullmatch(sentence), sentence


@pytest.mark.parametrize("text", TEXTS)
def test_the_shipped_files_are_read_by_both(text: str) -> None:
    parse_unit_config(tomllib.loads(text))
    desk = Desk()
    open_table(desk.manager.book, text)
    desk.manager.store.close()


@examples(150)
@given(documents())
def test_a_unit_refuses_a_changed_file_by_its_key(document: dict[str, Any]) -> None:
    check_unit(document)


@examples(60)
@given(documents())
def test_the_manager_refuses_a_changed_file_by_its_key(document: dict[str, Any]) -> None:
    check_manager(toml_document(document))


@examples(80)
@given(texts())
def test_both_refuse_damaged_text(text: str) -> None:
    check_manager(text)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    check_unit(document)


@pytest.mark.parametrize(
    "content", [b"\xff\xfe\x00", b"[table", b"\x00", "[tablé]".encode("latin-1")]
)
def test_a_file_that_is_not_toml_is_refused_by_its_name(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "table.toml"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"table\.toml: is not valid TOML"):
        load_unit_config(path)
    desk = Desk()
    with pytest.raises(SetupError, match=r"^table\.toml: "):
        desk.manager.open_table_file(path)
    desk.manager.store.close()


def test_settings_that_do_not_fit_a_frame_are_refused_when_the_table_is_opened() -> None:
    """A hundred cards with long labels are each well formed; together no unit could be told."""
    cards = "".join(
        f'[[cards]]\nlabel = "{"L" * 40}"\nrole = "SUPERVISOR"\naccount = "{6_000_000 + number}"\n'
        for number in range(100)
    )
    desk = Desk()
    with pytest.raises(SetupError, match=r"Table touch-1: .* 4000 is the most allowed"):
        open_table(desk.manager.book, table_toml().split("[[cards]]")[0] + cards)
    assert desk.manager.book.tables.ids() == []
    desk.manager.store.close()


@pytest.mark.parametrize("key", ['""', '" "', '":"', '"a b"', '"\\n"'])
def test_a_key_that_is_no_word_is_named_in_quotes(key: str) -> None:
    desk = Desk()
    text = f"{key} = 1\n" + TEXTS[0]
    with pytest.raises(SetupError, match=f"^{re.escape(key)} is not a known key\\.$"):
        open_table(desk.manager.book, text)
    desk.manager.store.close()
    with pytest.raises(ConfigError, match=f"^file.{re.escape(key)}: is not a key"):
        parse_unit_config(tomllib.loads(text))
