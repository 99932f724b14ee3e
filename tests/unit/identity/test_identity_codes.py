"""One-time codes: once, soon, for one table, and never guessed."""

from __future__ import annotations

import re

import pytest

from manager.identity.codes import (
    ALPHABET,
    OPEN_MAX,
    VALID_MS,
    WRONG_IN_ALL_MAX,
    WRONG_PER_CODE_MAX,
    hashed,
)
from manager.identity.errors import IdentityError
from tests.unit.identity.identity_desk import TABLE, IdentityDesk

REQUEST, OTHER = b"request one", b"request two"


def other_than(code: str) -> str:
    return code[:-1] + ("A" if code[-1] != "A" else "B")


def test_a_code_is_short_and_has_no_letters_that_look_alike(office: IdentityDesk) -> None:
    code = office.desk.codes.make(TABLE)
    assert re.fullmatch(r"\d+-[A-Z2-9]{4}-[A-Z2-9]{4}", code)
    assert not set("IOLU01") & set(ALPHABET)
    assert len(set(ALPHABET)) == len(ALPHABET) == 30


def test_only_a_salted_hash_of_the_code_is_stored(office: IdentityDesk) -> None:
    code = office.desk.codes.make(TABLE)
    secret = code.split("-", 1)[1].replace("-", "")
    stored = office.folder.database.read_bytes()
    assert secret.encode() not in stored
    (salt, kept) = office.store.rows("SELECT salt, hash FROM codes")[0]
    assert kept == hashed(secret, salt)
    assert kept != hashed(secret, bytes(16))


def test_a_code_is_read_as_people_type_it(office: IdentityDesk) -> None:
    code = office.desk.codes.make(TABLE)
    typed = f" {code.lower().replace('-', ' ')} "
    assert office.desk.codes.check(typed, REQUEST).table_id == TABLE


def test_a_code_works_once_but_again_for_the_same_request(office: IdentityDesk) -> None:
    codes = office.desk.codes
    code = codes.make(TABLE)
    codes.use(codes.check(code, REQUEST), REQUEST)
    codes.check(code, REQUEST)
    with pytest.raises(IdentityError, match="was used already"):
        codes.check(code, OTHER)
    assert office.notes("ENROLMENT_REFUSED") == ["Enrolment code 1 was used already."]


def test_a_code_expires(office: IdentityDesk) -> None:
    codes = office.desk.codes
    code = codes.make(TABLE)
    office.now_ms += VALID_MS - 1
    codes.check(code, REQUEST)
    office.now_ms += 1
    with pytest.raises(IdentityError, match="has expired"):
        codes.check(code, REQUEST)


def test_a_code_closes_after_a_few_wrong_tries_even_for_who_knows_it(office: IdentityDesk) -> None:
    codes = office.desk.codes
    code = codes.make(TABLE)
    for _ in range(WRONG_PER_CODE_MAX):
        with pytest.raises(IdentityError, match="wrong enrolment code"):
            codes.check(other_than(code), REQUEST)
    with pytest.raises(IdentityError, match="is closed"):
        codes.check(code, REQUEST)


def test_all_codes_close_after_more_wrong_tries_in_all(office: IdentityDesk) -> None:
    codes = office.desk.codes
    good = codes.make(TABLE)
    for _ in range(WRONG_IN_ALL_MAX):
        with pytest.raises(IdentityError):
            codes.check("999999-AAAA-AAAA", REQUEST)
    with pytest.raises(IdentityError, match="too many wrong tries in all"):
        codes.check(good, REQUEST)
    office.now_ms += 1
    codes.check(codes.make(TABLE), REQUEST)  # the operator can always make a new one


@pytest.mark.parametrize(
    "text", ["", "7", "hello", "1-AAAA", "1-AAAA-AAA1", "x" * 32, "٣-ABCD-EFGH"]
)
def test_what_is_no_code_is_counted_and_refused(office: IdentityDesk, text: str) -> None:
    with pytest.raises(IdentityError, match="never made"):
        office.desk.codes.check(text, REQUEST)
    assert len(office.notes("ENROLMENT_REFUSED")) == 1


def test_a_table_that_is_not_served_gets_no_code(office: IdentityDesk) -> None:
    with pytest.raises(IdentityError, match="serves no table nowhere; there are touch-1"):
        office.desk.codes.make("nowhere")


def test_only_so_many_codes_are_open_at_once(office: IdentityDesk) -> None:
    row = "INSERT INTO codes (table_id, salt, hash, made_ms, expires_ms) VALUES (?, x'', x'', 0, ?)"
    for _ in range(OPEN_MAX):
        office.store.execute(row, (TABLE, office.now_ms + 1))
    with pytest.raises(IdentityError, match="codes are open already"):
        office.desk.codes.make(TABLE)
