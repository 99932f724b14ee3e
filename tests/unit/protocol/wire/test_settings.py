"""Table settings: round trip, digest, and what may not be in them."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from protocol.numbers import PAY_PERCENT
from protocol.secrets.cards import card_key, swipe_proof
from protocol.wire import profile
from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.settings import NoteSetting, TableSettings, TechSetting
from tests.kit.message_samples import SETTINGS


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
    notes = tuple(NoteSetting("A", "x" * 160) for _ in range(16))
    notices = ("y" * 160,) * 4
    techs = tuple(TechSetting(f"Tech {n:034}", bytes(16), bytes(32)) for n in range(16))
    with pytest.raises(ProtocolError) as caught:
        replace(SETTINGS, notes=notes, notices=notices, techs=techs).encode()
    assert caught.value.code == ErrorCode.OVERSIZED


def test_what_is_not_a_map_is_refused() -> None:
    with pytest.raises(ProtocolError, match="must be a map"):
        TableSettings.decode(profile.encode([]))


def test_a_card_s_key_depends_on_salt_and_number() -> None:
    salt = bytes(range(16))
    assert len(card_key(salt, "1234")) == 32
    assert len({card_key(salt, "1234"), card_key(bytes(16), "1234"), card_key(salt, "1235")}) == 3


def test_a_proof_is_good_for_one_card_one_unit_and_one_thing() -> None:
    made = [
        swipe_proof(bytes(32), "UF-1", 1, 7, [[["5A", "four-aces", 800, "main", 1]], []]),
        swipe_proof(bytes(31) + b"1", "UF-1", 1, 7, [[["5A", "four-aces", 800, "main", 1]], []]),
        swipe_proof(bytes(32), "UF-2", 1, 7, [[["5A", "four-aces", 800, "main", 1]], []]),
        swipe_proof(bytes(32), "UF-1", 2, 7, [[["5A", "four-aces", 800, "main", 1]], []]),
        swipe_proof(bytes(32), "UF-1", 1, 8, [[["5A", "four-aces", 800, "main", 1]], []]),
        swipe_proof(bytes(32), "UF-1", 1, 7, [[["5A", "four-aces", 801, "main", 1]], []]),
    ]
    assert len(set(made)) == len(made)


@pytest.mark.parametrize("account", ["", "１２３４"])
def test_an_account_that_is_not_ascii_is_refused(account: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        card_key(bytes(16), account)
    assert caught.value.code == ErrorCode.CARD_REFUSED


def test_a_short_salt_is_refused() -> None:
    with pytest.raises(ProtocolError, match="salt"):
        card_key(b"", "1234")
