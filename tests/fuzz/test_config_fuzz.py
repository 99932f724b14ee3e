"""Mutated table files: read, or refused with a sentence that names the place. Nothing else."""

from __future__ import annotations

import functools
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from controller.config import load_unit_config, parse_unit_config, read_unit_config
from kit.config import ConfigError, Document, Problem, parse
from manager.games.model import Hand, Percent
from manager.setup.open_table import open_document, open_table
from protocol.table_file import SECTIONS
from protocol.wire.settings import HANDS_MAX, TECHS_MAX
from tests.fuzz.config_inputs import SHARED, TEXTS, documents, texts, toml_document
from tests.fuzz.effort import examples
from tests.kit.pretend_units import SHARES, Desk, table_toml


def check_problems(error: ConfigError, file: str) -> tuple[Problem, ...]:
    """Each has a key, or says that the table's parts do not fit; each is a sentence."""
    for problem in error.problems:
        assert problem.path or problem.sentence.startswith("Table "), problem
        assert problem.sentence.endswith((".", "?")), problem
        assert "\n" not in problem.sentence
        assert problem.file == file
    return error.problems


def check_unit(document: Document) -> tuple[Problem, ...]:
    try:
        read_unit_config(document)
    except ConfigError as error:
        return check_problems(error, document.file)
    return ()


def check_manager(document: Document) -> tuple[Problem, ...]:
    desk = Desk()
    try:
        open_document(desk.manager.book, document, lambda count: bytes(count))
    except ConfigError as error:
        return check_problems(error, document.file)
    finally:
        desk.manager.store.close()
    return ()


def shared(problems: tuple[Problem, ...]) -> set[Problem]:
    """Of what both sides read: the sections, [table], and the board's serial."""
    return {
        problem
        for problem in problems
        if problem.path[:1] == ("table",)
        or problem.path in (("board",), ("board", "serial"))
        or problem.path[:1] not in {(section,) for section in SECTIONS}
        if "table needs board." not in problem.sentence  # hardware, which the manager cannot know
        if problem.path  # nor can the unit know how this table ran before
    }


def check_both(document: Document) -> None:
    assert shared(check_unit(document)) == shared(check_manager(document))


@pytest.mark.parametrize("text", TEXTS)
def test_the_shipped_files_are_read_by_both(text: str) -> None:
    parse_unit_config(text)
    desk = Desk()
    open_table(desk.manager.book, text)
    desk.manager.store.close()


@examples(150)
@given(documents())
def test_a_unit_refuses_a_changed_file_by_its_key(values: dict[str, Any]) -> None:
    check_unit(Document(values))


@examples(60)
@given(documents())
def test_the_manager_refuses_a_changed_file_by_its_key(values: dict[str, Any]) -> None:
    check_manager(parse(toml_document(values)))


@examples(60)
@given(documents(at=SHARED))
def test_both_refuse_what_both_read_with_the_same_words(values: dict[str, Any]) -> None:
    check_both(parse(toml_document(values), "table.toml"))


@examples(80)
@given(texts())
def test_both_refuse_damaged_text(text: str) -> None:
    """What is no document is refused before either side could read it otherwise."""
    try:
        document = parse(text, "table.toml")
    except ConfigError as error:
        refused = str(error)
    else:
        check_both(document)
        return
    assert re.match(r"table\.toml(:\d+:\d+)?: ", refused)


@pytest.mark.parametrize(
    "content", [b"\xff\xfe\x00", b"[table", b"\x00", "[tabl\u00e9]".encode("latin-1")]
)
def test_a_file_that_is_not_toml_is_refused_alike_by_both(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "table.toml"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"table\.toml:1:\d: is not (TOML|UTF-8 text)") as unit:
        load_unit_config(path)
    desk = Desk()
    with pytest.raises(ConfigError) as manager:
        desk.manager.open_table_file(path)
    desk.manager.store.close()
    assert str(unit.value) == str(manager.value)


def test_settings_that_do_not_fit_a_frame_are_refused_when_the_table_is_opened() -> None:
    """Many techs and a long paytable are each well formed; no unit could be told both."""
    hands = tuple(
        Hand(f"{number:h<40}", f"{number:H<48}", Percent("top", 1000))
        for number in range(HANDS_MAX)
    )
    long_paytable = replace(SHARES, hands=hands)
    techs = "".join(
        f'[[techs]]\nlabel = "{number:L<40}"\npin_salt = "{"0" * 32}"\npin_hash = "{"0" * 64}"\n'
        for number in range(TECHS_MAX)
    )
    desk = Desk()
    open_it = functools.partial(
        open_table, desk.manager.book, load_paytable=lambda paytable_id: long_paytable
    )
    with pytest.raises(ConfigError, match=r"Table touch-1: .* 4000 is the most allowed"):
        open_it(table_toml(paytable=SHARES.id) + techs)
    assert desk.manager.book.tables.ids() == []
    assert open_it(table_toml(paytable=SHARES.id)) == "touch-1"
    desk.manager.store.close()


@pytest.mark.parametrize("key", ['""', '" "', '":"', '"a b"', '"\\n"'])
def test_a_key_that_is_no_word_is_named_in_quotes(key: str) -> None:
    document = parse(f"{key} = 1\n" + TEXTS[0])
    check_both(document)
    (problem,) = check_unit(document)
    assert str(problem).startswith(f"{key}: is not a key this version knows")
