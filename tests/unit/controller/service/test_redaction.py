"""What a bundle withholds. Mutations: a PIN hash, a card's salt, a ticket or a number passes."""

from __future__ import annotations

import pytest

from controller.journal.records import JournalRecord
from controller.service.bundle.redaction import WITHHELD, plain_record, plain_settings, plain_text
from protocol.wire.settings import TableSettings, TechSetting

SETTINGS = TableSettings(
    table_id="t",
    name="Table",
    workflow="touch",
    seat_count=7,
    dealer_limit_cents=0,
    games=(),
    executive_from_cents=0,
    executive_percent_ppm=0,
    card_salt=b"S" * 16,
    folded_hands_qualify=True,
    techs=(TechSetting("Anna", b"s" * 16, b"h" * 32),),
)


def test_settings_keep_the_names_and_lose_the_secrets() -> None:
    plain = plain_settings(SETTINGS)
    assert plain["techs"] == [{"label": "Anna", "pin": WITHHELD}]
    assert plain["card_salt"] == WITHHELD
    assert plain["seat_count"] == 7


@pytest.mark.parametrize(
    "text",
    [
        "swiped 6012345000000017 twice",
        "6012 3450 0000 0017",
        "6012-3450-0000-0017",
        "key " + "0123456789abcdef" * 2,
        "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----",
    ],
)
def test_whatever_looks_like_a_secret_is_withheld_from_texts(text: str) -> None:
    assert WITHHELD in plain_text(text)
    assert "6012" not in plain_text(text)
    assert "MIIE" not in plain_text(text)


def test_an_ordinary_line_stays_as_it_is() -> None:
    line = "mmc0: error -110 whilst reading sector 1234567 of 62333952"
    assert plain_text(line) == line


def test_a_ticket_is_blanked_and_the_rest_of_a_record_stays() -> None:
    record = JournalRecord(7, 5, {1: 3, 4: b"t" * 16, 5: b"longer than a ticket"}, 1, 2, b"d" * 32)
    assert plain_record(record) == [
        7, 5, {1: 3, 4: bytes(16), 5: b"longer than a ticket"}, 1, 2, b"d" * 32,
    ]  # fmt: skip
