"""One-time codes: once, soon, for one table, and never guessed."""

from __future__ import annotations

import asyncio
import re

import pytest

from manager.doors import ENROLLING_LIMITS
from manager.identity.codes import (
    ALPHABET,
    DELAY_MAX_S,
    OPEN_MAX,
    SECRET_LETTERS,
    VALID_MS,
    hashed,
)
from manager.identity.enrolling import Enrolling
from manager.identity.errors import IdentityError, WrongCode
from protocol.wire import enrolment
from protocol.wire.messages import Message
from protocol.wire.stream import FrameStream
from sim.time.loop import run_virtual
from tests.kit.identity_store import TABLE, PretendIdentities
from tests.kit.unit_line import HalfPipe

REQUEST, OTHER = b"request one", b"request two"


def other_than(code: str) -> str:
    return code[:-1] + ("A" if code[-1] != "A" else "B")


def test_a_code_is_short_and_has_no_letters_that_look_alike(identities: PretendIdentities) -> None:
    code = identities.enrolments.codes.make(TABLE)
    assert re.fullmatch(r"\d+-[A-Z2-9]{4}-[A-Z2-9]{4}", code)
    assert not set("IOLU01") & set(ALPHABET)
    assert len(set(ALPHABET)) == len(ALPHABET) == 30


def test_only_a_salted_hash_of_the_code_is_stored(identities: PretendIdentities) -> None:
    code = identities.enrolments.codes.make(TABLE)
    secret = code.split("-", 1)[1].replace("-", "")
    stored = identities.folder.database.read_bytes()
    assert secret.encode() not in stored
    (salt, kept) = identities.store.rows("SELECT salt, hash FROM codes")[0]
    assert kept == hashed(secret, salt)
    assert kept != hashed(secret, bytes(16))


def test_a_code_is_read_as_people_type_it(identities: PretendIdentities) -> None:
    code = identities.enrolments.codes.make(TABLE)
    typed = f" {code.lower().replace('-', ' ')} "
    assert identities.enrolments.codes.check(typed, REQUEST).table_id == TABLE


def test_a_code_works_once_but_again_for_the_same_request(identities: PretendIdentities) -> None:
    codes = identities.enrolments.codes
    code = codes.make(TABLE)
    codes.use(codes.check(code, REQUEST), REQUEST)
    codes.check(code, REQUEST)
    with pytest.raises(IdentityError, match="was used already"):
        codes.check(code, OTHER)
    assert identities.notes("ENROLMENT_REFUSED") == ["Enrolment code 1 was used already."]


def test_a_code_expires(identities: PretendIdentities) -> None:
    codes = identities.enrolments.codes
    code = codes.make(TABLE)
    identities.now_ms += VALID_MS - 1
    codes.check(code, REQUEST)
    identities.now_ms += 1
    with pytest.raises(IdentityError, match="has expired"):
        codes.check(code, REQUEST)


def test_wrong_tries_wait_longer_and_longer_and_the_code_stays_good(
    identities: PretendIdentities,
) -> None:
    """Catches: strangers who close the codes of honest units by guessing."""
    codes = identities.enrolments.codes
    code = codes.make(TABLE)
    delays_s = []
    for tried in [other_than(code), "999999-AAAA-AAAA"] * 10:
        with pytest.raises(WrongCode) as caught:
            codes.check(tried, REQUEST)
        delays_s.append(caught.value.delay_s)
    assert delays_s == [1, 2, 4] + [DELAY_MAX_S] * 17
    assert codes.check(code, REQUEST).table_id == TABLE
    identities.now_ms += VALID_MS + 1
    with pytest.raises(WrongCode) as caught:
        codes.check("999999-AAAA-AAAA", REQUEST)
    assert caught.value.delay_s == 1


def test_guessing_for_as_long_as_a_code_is_good_finds_it_in_no_case_to_speak_of(
    identities: PretendIdentities,
) -> None:
    """As many at once as the door lets in, each waiting for its answer."""
    ends_ms, tries = identities.now_ms + VALID_MS, 0
    while identities.now_ms < ends_ms and tries < 1_000:
        with pytest.raises(WrongCode) as refused:
            identities.enrolments.codes.check("9-AAAA-AAAA", bytes(32))
        identities.now_ms += refused.value.delay_s * 1000
        tries += 1
    guesses = ENROLLING_LIMITS.connections_max * tries
    assert guesses / len(ALPHABET) ** SECRET_LETTERS < 1e-8
    assert tries < 1_000


def test_whoever_tried_a_wrong_code_waits_for_the_answer(identities: PretendIdentities) -> None:
    async def ask(code: str) -> tuple[float, Message]:
        up, down = HalfPipe(), HalfPipe()
        enrolling = Enrolling(
            identities.enrolments,
            identities.folder.ca_der(),
            identities.table_of_unit,
            lambda: None,
        )
        begun_s = asyncio.get_running_loop().time()
        serving = asyncio.create_task(enrolling.serve(up.reader, down), name="serve")
        stream = FrameStream(down.reader, up)
        await stream.read()  # the offer
        await stream.write(identities.request(code).encode())
        payload = await stream.read()
        assert payload is not None
        took_s = asyncio.get_running_loop().time() - begun_s
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
        return took_s, enrolment.decode(payload)

    async def main() -> None:
        code = identities.enrolments.codes.make(TABLE)
        for wanted_s in (1, 2, 4):
            took_s, answer = await ask(other_than(code))
            assert isinstance(answer, enrolment.Denied)
            assert took_s == pytest.approx(wanted_s)
        took_s, answer = await ask(code)
        assert isinstance(answer, enrolment.Waiting)
        assert took_s == pytest.approx(0)

    run_virtual(main())


@pytest.mark.parametrize(
    "text", ["", "7", "hello", "1-AAAA", "1-AAAA-AAA1", "x" * 32, "٣-ABCD-EFGH"]
)
def test_what_is_no_code_is_counted_and_refused(identities: PretendIdentities, text: str) -> None:
    with pytest.raises(IdentityError, match="never made"):
        identities.enrolments.codes.check(text, REQUEST)
    assert len(identities.notes("ENROLMENT_REFUSED")) == 1


def test_only_so_many_codes_are_open_at_once(identities: PretendIdentities) -> None:
    row = "INSERT INTO codes (table_id, salt, hash, made_ms, expires_ms) VALUES (?, x'', x'', 0, ?)"
    for _ in range(OPEN_MAX):
        identities.store.execute(row, (TABLE, identities.now_ms + 1))
    with pytest.raises(IdentityError, match="codes are open already"):
        identities.enrolments.codes.make(TABLE)
