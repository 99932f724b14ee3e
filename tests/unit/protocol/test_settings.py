"""Table settings: round trip, digest, and what may not be in them."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from protocol import profile
from protocol.cards import card_digest
from protocol.errors import ErrorCode, ProtocolError
from protocol.settings import PAY_PERCENT, CardSetting, NoteSetting, TableSettings
from tests.golden.samples import SETTINGS


def test_round_trip_and_digest() -> None:
    encoded = SETTINGS.encode()
    assert TableSettings.decode(encoded) == SETTINGS
    assert SETTINGS.digest() == hashlib.sha256(encoded).digest()


def test_notes_come_back_as_they_went() -> None:
    noted = replace(SETTINGS, notes=(NoteSetting("A", "The wager is not returned."),))
    assert TableSettings.decode(noted.encode()) == noted
    with pytest.raises(ProtocolError, match="notes"):
        replace(SETTINGS, notes=(NoteSetting("A", "x" * 161),))


def test_two_games_of_one_letter_are_refused() -> None:
    with pytest.raises(ProtocolError, match="games must be without repeats"):
        replace(SETTINGS, games=(SETTINGS.games[0], SETTINGS.games[0]))


def test_one_hand_twice_is_refused() -> None:
    game = SETTINGS.games[0]
    with pytest.raises(ProtocolError, match="games A hands must be without repeats"):
        replace(SETTINGS, games=(game._replace(hands=game.hands * 2),))


def test_one_card_twice_is_refused() -> None:
    card = SETTINGS.cards[0]
    with pytest.raises(ProtocolError, match="cards must be without repeats"):
        replace(SETTINGS, cards=(card, card._replace(label="OTHER", role=2)))


def test_more_than_the_whole_meter_is_refused() -> None:
    game = SETTINGS.games[0]
    hand = game.hands[0]._replace(pay_kind=PAY_PERCENT, pay_value=1_000_001)
    with pytest.raises(ProtocolError, match="hand four-aces must be paid at most the whole meter"):
        replace(SETTINGS, games=(game._replace(hands=(hand,)),))


@pytest.mark.parametrize("workflow", ["", "Touch", "touch ", "voice"])
def test_an_unknown_workflow_is_refused(workflow: str) -> None:
    with pytest.raises(ProtocolError, match="workflow"):
        replace(SETTINGS, workflow=workflow)


def test_settings_that_do_not_fit_one_frame_are_refused_when_encoded() -> None:
    cards = tuple(CardSetting(bytes([i]) * 16, 1, f"SUPERVISOR NUMBER {i:03}") for i in range(128))
    with pytest.raises(ProtocolError) as caught:
        replace(SETTINGS, cards=cards).encode()
    assert caught.value.code == ErrorCode.OVERSIZED


def test_ninety_supervisor_cards_fit() -> None:
    cards = tuple(CardSetting(bytes([i]) * 16, 1, f"SUPERVISOR-{i:03}") for i in range(90))
    assert len(replace(SETTINGS, cards=cards).encode()) <= 4000


def test_what_is_not_a_map_is_refused() -> None:
    with pytest.raises(ProtocolError, match="must be a map"):
        TableSettings.decode(profile.encode([]))


def test_a_card_digest_is_salted_and_short() -> None:
    salt = bytes(range(16))
    assert card_digest(salt, "1234") == hashlib.sha256(salt + b"1234").digest()[:16]
    assert card_digest(salt, "1234") != card_digest(bytes(16), "1234")


@pytest.mark.parametrize("account", ["", "１２３４"])
def test_an_account_that_is_not_ascii_is_refused(account: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        card_digest(bytes(16), account)
    assert caught.value.code == ErrorCode.CARD_REFUSED


def test_a_short_salt_is_refused() -> None:
    with pytest.raises(ProtocolError, match="salt"):
        card_digest(b"", "1234")
