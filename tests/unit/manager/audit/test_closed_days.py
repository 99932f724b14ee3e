"""A closed day is an entry of the chain, and an audit can resume from it: what that proves.

Mutations that were tried by hand, each caught here: an image taken without its digest in the
chain; counts of earlier rows not compared; a full audit that believes an image.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from manager.audit.audit import audit, image_after
from manager.audit.closing import close_path, make_image, newest_image, note_closed, request_for
from manager.audit.image import Image, decoded, encoded
from manager.ledger.corrections.reasons import ReversalReason, Signed
from manager.ledger.corrections.reversal import reverse_win
from manager.ledger.engines.relations import CLAIMS, RELATIONS, ROUNDS
from manager.ledger.errors import LedgerError
from tests.kit.pretend_units import Desk, settled
from tests.kit.tampering import forge

DAY = "2026-11-16"
TWO = Signed("Ann", "Bob")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = Desk(str(tmp_path / "ledger.sqlite"))
    desk.open_table("touch-1")
    desk.open_table("touch-2")
    desk.start("touch-1", 1, "1A", "2A")
    desk.say("touch-1", settled(desk.win("touch-1", 1, 1, _1A="four-aces")))
    desk.end("touch-1", 1)
    desk.start("touch-2", 1, "3A", "4A")  # under way while the day ends
    return desk


def close(desk: Desk, data: Path, day: str = DAY) -> Image:
    image = make_image(data, desk.store, day, desk.store.tail().number)
    note_closed(desk.store, request_for(day, image))
    return image


def play_on(desk: Desk) -> None:
    desk.end("touch-2", 1)
    desk.start("touch-1", 2, "5A")
    desk.end("touch-1", 2)
    reverse_win(desk.manager.book, 1, ReversalReason.WRONG_HAND, TWO)


def test_a_resumed_audit_agrees_with_a_whole_one(desk: Desk, tmp_path: Path) -> None:
    """With a round and a win of the day before that were ended and taken back since."""
    image = close(desk, tmp_path)
    play_on(desk)
    assert audit(desk.store).sound
    resumed = audit(desk.store, (), newest_image(tmp_path, desk.store))
    assert resumed.sound, resumed.sentence
    assert resumed.transaction_count == desk.store.tail().number - image.number
    assert f"since day {DAY}" in resumed.sentence


def test_a_wager_of_the_day_before_can_be_given_back(desk: Desk, tmp_path: Path) -> None:
    image = close(desk, tmp_path)
    desk.void("touch-2", 1)
    finding = audit(desk.store, (), image)
    assert finding.sound, finding.sentence


def test_the_second_day_is_told_from_the_first(desk: Desk, tmp_path: Path) -> None:
    first = close(desk, tmp_path)
    play_on(desk)
    last = desk.store.tail().number
    resumed = make_image(tmp_path, desk.store, "2026-11-17", last)
    assert resumed == image_after(desk.store, last)
    note_closed(desk.store, request_for("2026-11-17", resumed))
    assert audit(desk.store).sound
    assert audit(desk.store, (), newest_image(tmp_path, desk.store)).sound
    assert newest_image(tmp_path, desk.store) == resumed, "the newest, so that least is read again"
    assert newest_image(tmp_path, desk.store, last - 1) == first


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("UPDATE transactions SET sentence = 'x' WHERE round_number = 2", "does not match"),
        ("UPDATE balances SET amount_microcents = amount_microcents + 1", "of balances keeps"),
        ("UPDATE rounds SET ended_ms = 1 WHERE table_id = 'touch-2'", "of rounds keeps ended_ms"),
        ("DELETE FROM wins WHERE number = 1", "0 rows of wins are kept, but the chain tells of 1"),
        ("DELETE FROM rounds WHERE number = 2", "2 rows of rounds are kept"),
        ("UPDATE closed_days SET image_digest = zeroblob(32)", "closed"),
    ],
)
def test_a_resumed_audit_names_what_was_changed(
    desk: Desk, tmp_path: Path, statement: str, sentence: str
) -> None:
    image = close(desk, tmp_path)
    play_on(desk)
    forge(desk.store, statement)
    finding = audit(desk.store, (), image)
    assert not finding.sound
    assert sentence in finding.sentence


def test_what_a_resumed_audit_leaves_to_a_whole_one(desk: Desk, tmp_path: Path) -> None:
    """A row of the day before that nobody touched since: the documents say so."""
    image = close(desk, tmp_path)
    play_on(desk)
    forge(desk.store, "UPDATE win_lines SET amount_cents = amount_cents + 1")
    assert audit(desk.store, (), image).sound
    assert not audit(desk.store).sound


def test_an_image_that_the_chain_does_not_name_proves_nothing(desk: Desk, tmp_path: Path) -> None:
    image = close(desk, tmp_path)
    rows = dict(image.rows)
    rows["balances"] = [(name, amount + 1) for name, amount in rows["balances"]]
    assert not audit(desk.store, (), image._replace(rows=rows)).sound
    unnamed = image_after(desk.store, desk.store.tail().number)
    assert "No closed day" in audit(desk.store, (), unnamed).sentence
    other = image._replace(digest=bytes(32))
    assert "another ledger" in audit(desk.store, (), other).sentence


def test_a_day_closed_with_other_books_is_named(desk: Desk, tmp_path: Path) -> None:
    """Catches: a whole audit that takes an image for granted."""
    image = image_after(desk.store, desk.store.tail().number)
    rows = {**image.rows, "balances": [("players", 0)]}
    note_closed(desk.store, request_for(DAY, image._replace(rows=rows)))
    assert (
        audit(desk.store).sentence == f"Day {DAY} was closed with other books than the chain tells."
    )


def test_a_damaged_image_is_not_used(desk: Desk, tmp_path: Path) -> None:
    close(desk, tmp_path)
    path = close_path(tmp_path, DAY)
    whole = path.read_bytes()
    for damaged in (b"", whole[:-1], whole.replace(b"players", b"prayers"), b"\xff" * 40):
        path.write_bytes(damaged)
        assert newest_image(tmp_path, desk.store) is None
    path.write_bytes(whole)
    assert newest_image(tmp_path, desk.store) == decoded(whole)


def test_a_day_is_closed_once_and_in_order(desk: Desk, tmp_path: Path) -> None:
    image = close(desk, tmp_path)
    for day in (DAY, "2026-11-15"):
        with pytest.raises(LedgerError, match="closed already"):
            note_closed(desk.store, request_for(day, image))
    with pytest.raises(LedgerError, match="There is no transaction"):
        note_closed(desk.store, request_for("2026-11-18", image._replace(number=10_000)))
    with pytest.raises(LedgerError, match="names the day"):
        note_closed(desk.store, {"day": "2026-11-18"})


def test_an_image_keeps_what_memory_holds_and_no_history(desk: Desk) -> None:
    image = image_after(desk.store, desk.store.tail().number)
    assert decoded(encoded(image)) == image
    assert image.rows[ROUNDS.name] == []
    assert image.counts[ROUNDS.name] == 2
    assert image.rows[CLAIMS.name] == []  # paid and settled
    assert set(image.counts) == set(RELATIONS) - {"transactions", "postings"}


def test_where_the_newest_image_is_damaged_the_one_before_it_is_used(
    desk: Desk, tmp_path: Path
) -> None:
    """Catches: the first image that cannot be read ends the search."""
    first = close(desk, tmp_path)
    play_on(desk)
    close(desk, tmp_path, "2026-11-17")
    close_path(tmp_path, "2026-11-17").write_bytes(b"\xff" * 40)
    assert newest_image(tmp_path, desk.store) == first


def test_of_two_closed_days_the_newer_image_is_used(desk: Desk, tmp_path: Path) -> None:
    """Catches: every audit that begins at the first day there ever was."""
    close(desk, tmp_path)
    play_on(desk)
    second = close(desk, tmp_path, "2026-11-17")
    assert newest_image(tmp_path, desk.store) == second


def test_there_is_no_image_of_what_has_not_been_written(desk: Desk) -> None:
    """Catches: a day that is closed with transactions the ledger does not have."""
    last = desk.store.tail().number
    assert image_after(desk.store, last).number == last
    with pytest.raises(LedgerError, match=f"ends at transaction {last}"):
        image_after(desk.store, last + 1)
