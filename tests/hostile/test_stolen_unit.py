"""Whoever has a unit's disk and certificate, and not the card: what they say, and what comes of it.

The pretend unit says whatever it likes with the right chain and the right name.
"""

from __future__ import annotations

import dataclasses

import pytest

from hal import aio
from manager.intake.swipes import LOCKOUT_S, WRONG_MAX
from manager.ledger.errors import LedgerError
from protocol.numbers import (
    METHOD_CARD,
    METHOD_KEY,
    ROLE_EXECUTIVE,
    ROLE_SUPERVISOR,
    SWIPE_CABINET,
    SWIPE_REOPEN,
    SWIPE_TRAINING,
    SWIPE_VOID,
)
from protocol.wire import events
from protocol.wire.errors import ErrorCode
from protocol.wire.messages import Committed, Error
from sim.floor.floor import Floor, FloorTable
from sim.hardware.card_reader import ACCOUNTS
from tests.kit.damaged_tables import claim, faults, on_a_floor, start_round
from tests.kit.pretend_books import Books, document
from tests.kit.pretend_units import SUPERVISOR_ACCOUNT, Desk, only, stretched

TABLE = "touch-1"
TWO = {"operator": "Pat", "second": "Kim"}
BIG = "four-aces"


@pytest.fixture
def desk() -> Desk:
    desk = Desk()
    desk.open_table(TABLE)
    return desk


def priced(desk: Desk, number: int = 1, **hands: str) -> None:
    desk.receive_award(TABLE, desk.claim(TABLE, 1, number, **(hands or {"s1A": BIG})))


def commit(desk: Desk, ticket: bytes, number: int = 1, role: int = ROLE_EXECUTIVE) -> Error:
    return only(desk.say(TABLE, events.Commit(1, number, 2, ticket, role)), Error)


# -- no card, no award -------------------------------------------------------------------------


def test_a_commit_without_a_card_that_was_swiped_for_it_books_nothing(desk: Desk) -> None:
    """Catches: a ticket that is not looked up, or not by its claim."""
    desk.start(TABLE, 1, "1A", "2A")
    priced(desk, 1, s1A="three-of-a-kind")
    used = desk.swipe(TABLE, 1).ticket
    only(desk.say(TABLE, events.Commit(1, 1, 2, used, ROLE_EXECUTIVE)), Committed)
    priced(desk, 2, s2A=BIG)
    for ticket in (bytes(16), b"\xff" * 16, used):
        assert commit(desk, ticket, 2).code == ErrorCode.CARD_REFUSED
    assert len(desk.manager.book.wins.of_round(TABLE, 1)) == 1


def test_a_proof_made_for_another_claim_or_other_amounts_is_a_wrong_card(desk: Desk) -> None:
    """Catches: a proof that does not cover the claim, the amounts, the purpose or the unit."""
    desk.start(TABLE, 1, "1A", "2A")
    priced(desk)
    good = desk.made_swipe(TABLE, 1)
    unit = desk.manager.units.get("UF-touch-1")
    judge = desk.manager.swipes.judge
    desk.say(TABLE, events.Cancel(1, 1))
    priced(desk, 2)
    assert judge(unit, dataclasses.replace(good, number=2)).is_wrong
    assert judge(unit, dataclasses.replace(good, purpose=SWIPE_CABINET)).is_wrong
    assert judge(unit, good).role == 0  # that claim waits for no card any more
    desk.say(TABLE, events.Cancel(1, 2))
    priced(desk, 3)
    other = desk.made_swipe(TABLE, 3)
    renamed = unit._replace(unit_id="UF-other")
    assert judge(renamed, other).is_wrong
    assert judge(unit, other).role == ROLE_EXECUTIVE


def test_a_round_is_void_only_by_a_card_that_was_swiped_for_it(desk: Desk) -> None:
    """Catches: a ticket not looked up, or not by purpose and round; a key where none is."""

    def said(method: int, role: int, ticket: bytes) -> str:
        body = events.Voided(2, method, role, "misdeal", ticket)
        error = only(desk.say(TABLE, body), Error)
        assert error.code == ErrorCode.CLAIM_REFUSED
        return error.sentence

    desk.start(TABLE, 1, "1A", "2A")
    other_round = desk.swipe(TABLE, 1, SUPERVISOR_ACCOUNT, SWIPE_VOID).ticket
    desk.say(TABLE, events.RoundEnd(1))
    assert desk.swipe(TABLE, 1, SUPERVISOR_ACCOUNT, SWIPE_VOID).role == 0
    desk.start(TABLE, 2, "1A", "2A")
    training = desk.swipe(TABLE, 2, SUPERVISOR_ACCOUNT, SWIPE_TRAINING).ticket
    for ticket in (b"", bytes(16), other_round, training):
        assert said(METHOD_CARD, ROLE_SUPERVISOR, ticket).startswith("No card was swiped")
    own = desk.swipe(TABLE, 2, SUPERVISOR_ACCOUNT, SWIPE_VOID).ticket
    assert "another role" in said(METHOD_CARD, ROLE_EXECUTIVE, own)
    assert "keypad table" in said(METHOD_KEY, ROLE_SUPERVISOR, b"")
    assert "VOIDED" not in [kind for kind, _ in desk.entries()]
    right = events.Voided(2, METHOD_CARD, ROLE_SUPERVISOR, "misdeal", own)
    assert desk.say(TABLE, right).answers == []
    assert "VOIDED" in [kind for kind, _ in desk.entries()]


def test_a_round_is_open_again_only_by_a_card_that_was_swiped_for_it(desk: Desk) -> None:
    """Catches: a ticket not looked up, or not by purpose and round; a key where none is."""

    def said(method: int, role: int, ticket: bytes) -> str:
        return only(desk.say(TABLE, events.Reopened(2, method, role, ticket)), Error).sentence

    desk.start(TABLE, 1, "1A")
    desk.end(TABLE, 1)
    other_round = desk.swipe(TABLE, 1, SUPERVISOR_ACCOUNT, SWIPE_REOPEN).ticket
    desk.start(TABLE, 2, "1A")
    void = desk.swipe(TABLE, 2, SUPERVISOR_ACCOUNT, SWIPE_VOID).ticket
    desk.end(TABLE, 2)
    for ticket in (b"", bytes(16), other_round, void):
        assert said(METHOD_CARD, ROLE_SUPERVISOR, ticket).startswith("No card was swiped")
    own = desk.swipe(TABLE, 2, SUPERVISOR_ACCOUNT, SWIPE_REOPEN).ticket
    assert "another role" in said(METHOD_CARD, ROLE_EXECUTIVE, own)
    assert "keypad table" in said(METHOD_KEY, ROLE_SUPERVISOR, b"")
    assert "REOPENED" not in desk.alarm_codes()
    right = events.Reopened(2, METHOD_CARD, ROLE_SUPERVISOR, own)
    assert desk.say(TABLE, right).answers == []
    assert "REOPENED" in desk.alarm_codes()


def test_a_card_opens_only_the_round_that_ended_last(desk: Desk) -> None:
    desk.start(TABLE, 1, "1A")
    assert desk.swipe(TABLE, 1, purpose=SWIPE_REOPEN).role == 0
    desk.end(TABLE, 1)
    assert desk.swipe(TABLE, 1, SUPERVISOR_ACCOUNT, SWIPE_REOPEN).role == ROLE_SUPERVISOR
    assert desk.swipe(TABLE, 2, purpose=SWIPE_REOPEN).role == 0


def changed_card(desk: Desk, **changes: object) -> None:
    tables = desk.manager.book.tables
    authority = tables.authority_of(TABLE)
    cards = tuple(dataclasses.replace(card, **changes) for card in authority.cards)  # type: ignore[arg-type]
    tables.keep_authority(TABLE, dataclasses.replace(authority, cards=cards))


def test_a_disabled_and_an_expired_card_get_no_ticket(desk: Desk) -> None:
    """By the manager's own clock: the unit's is not asked."""
    desk.start(TABLE, 1, "1A")
    priced(desk)
    today = desk.clock.ms // 86_400_000
    changed_card(desk, last_day=today)
    assert desk.swipe(TABLE, 1).role == ROLE_EXECUTIVE
    changed_card(desk, last_day=today - 1)
    verdict = desk.swipe(TABLE, 1)
    assert (verdict.is_wrong, verdict.sentence) == (True, "This card has expired.")
    changed_card(desk, last_day=0, enabled=False)
    verdict = desk.swipe(TABLE, 1)
    assert (verdict.is_wrong, verdict.sentence) == (True, "This card is disabled.")


def test_trying_cards_over_the_wire_ends_in_a_lock_out_that_a_restart_does_not_end() -> None:
    desk = Desk()
    desk.open_table(TABLE)
    desk.start(TABLE, 1, "1A")
    priced(desk)
    for number in range(WRONG_MAX):
        assert desk.swipe(TABLE, 1, f"40000{number}").is_wrong
    assert "Too many wrong cards" in desk.swipe(TABLE, 1).sentence
    desk.manager.swipes = type(desk.manager.swipes)(desk.manager.book, bytes)  # a new process
    assert desk.swipe(TABLE, 1).role == 0
    desk.clock.ms += LOCKOUT_S * 1000
    assert desk.swipe(TABLE, 1).role == ROLE_EXECUTIVE
    assert desk.alarm_codes().count("CARD") == WRONG_MAX


# -- what a unit keeps -------------------------------------------------------------------------


def test_a_unit_s_disk_holds_nothing_of_a_card_that_was_swiped_there() -> None:
    """Neither number, key, proof nor label, after a win, a wrong card and a power cut."""

    async def play(floor: Floor, table: FloorTable) -> None:
        await start_round(table, "5A")
        await claim(table, 5, BIG)
        table.swipe("UNKNOWN")
        await aio.sleep_ms(1000)
        table.swipe("EXECUTIVE")
        await aio.sleep_ms(2000)
        assert len(floor.wins()) == 1
        await table.cut_power()
        table.disk.restore()
        kept = b"".join(table.disk.read_file(name) for name in table.disk.names())
        rules = table.manager.app.book.tables.rules(table.config.table_id)
        secrets = [account.encode() for account in ACCOUNTS.values()]
        secrets += [stretched(rules.settings.card_salt, name) for name in ACCOUNTS.values()]
        secrets += [card.label.encode() for card in rules.authority.cards]
        assert len(kept) > 10_000
        assert [secret for secret in secrets if secret in kept] == []

    on_a_floor(play)


def test_without_the_link_no_card_is_taken_and_the_win_waits() -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        await start_round(table, "5A")
        await claim(table, 5, BIG)
        table.cable.pull()
        await aio.sleep_ms(7000)
        refusals = table.answers()[1]
        table.swipe("EXECUTIVE")
        await aio.sleep_ms(1000)
        assert table.answers()[1] == refusals + 1
        assert table.state() == "confirm", table.picture()
        table.cable.plug()
        await aio.sleep_ms(4000)
        table.swipe("EXECUTIVE")
        await aio.sleep_ms(1000)
        assert len(floor.wins()) == 1

    on_a_floor(play)


# -- faster than people ------------------------------------------------------------------------


def test_rounds_faster_than_people_deal_are_refused_with_an_alarm() -> None:
    books = Books()
    books.open(document(policy={"rounds_per_hour_max": 240}))
    refused = 0
    for number in range(1, 656):
        outcome = books.start(TABLE, number - refused, "1A")
        if outcome.answers:
            assert only(outcome, Error).code == ErrorCode.WAGER
            refused += 1
        else:
            books.end(TABLE, number - refused)
        books.clock.ms += 8  # 655 rounds in 5 s, as an intruder did
    assert refused == 655 - 10
    assert "faster than people deal" in books.manager.book.alarms.newest(1)[0].sentence
    books.clock.ms += 3_600_000
    assert books.start(TABLE, 656 - refused, "1A").answers == []


def test_a_quick_dealer_is_not_refused() -> None:
    books = Books()
    books.open(document(policy={"rounds_per_hour_max": 240}))
    for number in range(1, 100):
        assert books.start(TABLE, number, "1A").answers == []
        assert books.end(TABLE, number).answers == []
        books.clock.ms += 20_000


# -- two people at the manager -----------------------------------------------------------------


def waiting(workflow: str, **authority: object) -> Books:
    """A table with a win of its whole meter, authorised at the table, that waits."""
    books = Books()
    sections = {
        "authority": {"dealer_limit": "25.00", "executive_percent": 100}
        | {"executive_from": "5000.00"}
        | authority
    }
    books.open(document(workflow=workflow, **sections))  # type: ignore[arg-type]
    books.start(TABLE, 1, "1A")
    is_keypad = workflow == "keypad"
    books.receive_award(TABLE, books.claim(TABLE, 1, 1, is_keypad, s1A=BIG))
    outcome = books.by_key(TABLE, 1, 1) if is_keypad else books.by_card(TABLE, 1, 1)
    assert only(outcome, Error).code == ErrorCode.APPROVAL
    assert books.manager.book.wins.of_round(TABLE, 1) == []
    return books


def decide(books: Books, command: str, **words: str) -> str:
    request = {"command": command, "table": TABLE, "claim": "1", **(words or TWO)}
    return books.manager.correct(request)


WAITING = {
    "a supervisor's key": lambda: waiting("keypad"),
    "a large award": lambda: waiting("touch", confirm_from="1000.00"),
    "a large award by an executive's key": lambda: waiting(
        "keypad", key="EXECUTIVE", confirm_from="1000.00"
    ),
}


@pytest.mark.parametrize("name", WAITING)
def test_what_a_table_is_not_enough_for_is_paid_when_two_people_approve(name: str) -> None:
    books = WAITING[name]()
    for alone in ({"operator": "Pat"}, {"operator": "Pat", "second": "pat"}):
        with pytest.raises(LedgerError, match=r"second person|two different"):
            decide(books, "approve-win", **alone)
    assert "is win 1" in decide(books, "approve-win")
    (win,) = books.manager.book.wins.of_round(TABLE, 1)
    assert win.lines[0].amount_cents == 100_025
    kinds = [kind for kind, _ in books.entries()]
    assert kinds.index("CLAIM_APPROVED") < kinds.index("AWARD")
    (answer,) = books.manager.intake.pending_answers(TABLE)
    assert isinstance(answer, Committed)
    with pytest.raises(LedgerError, match="waits for no approval"):
        decide(books, "approve-win")


def confirming(table: FloorTable, from_cents: int = 1) -> None:
    tables, table_id = table.manager.app.book.tables, table.config.table_id
    authority = dataclasses.replace(tables.authority_of(table_id), confirm_from_cents=from_cents)
    tables.keep_authority(table_id, authority)


@pytest.mark.parametrize("cut", [False, True], ids=["at once", "after a power cut"])
def test_a_table_says_that_a_win_waits_and_goes_on_when_it_is_approved(cut: bool) -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        confirming(table)
        await start_round(table, "5A")
        await claim(table, 5, BIG)
        table.swipe("EXECUTIVE")
        await aio.sleep_ms(2000)
        assert "two people approve it" in faults(table)["claim"]
        if cut:
            await table.cut_power()
            await table.restore_power()
            await aio.sleep_ms(4000)
            assert "two people approve it" in faults(table)["claim"]
        assert (table.state(), floor.wins()) == ("confirm", [])
        request = {"command": "approve-win", "table": table.config.table_id, "claim": "1"}
        table.manager.app.correct({**request, **TWO})
        await aio.sleep_ms(1000)
        assert table.state() == "locked", table.picture()
        assert len(floor.wins()) == 1
        assert faults(table) == {}

    on_a_floor(play)


def test_a_refused_win_can_be_entered_again_at_its_table() -> None:
    async def play(floor: Floor, table: FloorTable) -> None:
        confirming(table)
        await start_round(table, "5A")
        await claim(table, 5, BIG)
        table.swipe("EXECUTIVE")
        await aio.sleep_ms(2000)
        request = {"command": "refuse-win", "table": table.config.table_id, "claim": "1"}
        table.manager.app.correct({**request, **TWO})
        await aio.sleep_ms(1000)
        assert table.state() == "claim", table.picture()
        confirming(table, 0)
        await table.press("CONFIRM")
        await aio.sleep_ms(1000)
        table.swipe("EXECUTIVE")
        await aio.sleep_ms(1000)
        assert len(floor.wins()) == 1

    on_a_floor(play)


def test_a_win_that_is_owed_by_now_can_still_be_approved() -> None:
    """A later win on the same meter was paid first; the waiting one has left the meter."""
    books = WAITING["a supervisor's key"]()
    books.open(document("touch-2"), "touch-2")
    books.start("touch-2", 1, "1A")
    books.receive_award("touch-2", books.claim("touch-2", 1, 1, s1A=BIG))
    only(books.by_card("touch-2", 1, 1), Committed)
    assert books.manager.book.claims.get(TABLE, 1).state == "OWED"
    assert "is win 2" in decide(books, "approve-win")


def test_an_executive_s_key_is_enough_where_the_file_says_so() -> None:
    books = Books()
    books.open(document(workflow="keypad"))
    books.start(TABLE, 1, "1A")
    books.receive_award(TABLE, books.claim(TABLE, 1, 1, True, s1A=BIG))
    only(books.by_key(TABLE, 1, 1), Committed)
    (win,) = books.manager.book.wins.of_round(TABLE, 1)
    assert win.authorised_by == "Executive key"


def test_a_supervisor_s_key_is_enough_for_what_needs_a_supervisor() -> None:
    books = Books()
    books.open(document(workflow="keypad", authority={"dealer_limit": "25.00"} | AUTHORITY))
    books.start(TABLE, 1, "1A")
    books.receive_award(TABLE, books.claim(TABLE, 1, 1, True, s1A="four-of-a-kind"))
    only(books.by_key(TABLE, 1, 1), Committed)


AUTHORITY = {"executive_percent": 100, "executive_from": "5000.00"}


def test_a_refused_win_goes_back_to_its_table_and_a_logged_one_stands() -> None:
    books = WAITING["a large award"]()
    decide(books, "refuse-win")
    (answer,) = books.manager.intake.pending_answers(TABLE)
    assert isinstance(answer, Error)
    assert answer.code == ErrorCode.CARD_REFUSED
    assert books.manager.book.wins.of_round(TABLE, 1) == []
    with pytest.raises(LedgerError, match="logged under the key"):
        decide(WAITING["a supervisor's key"](), "refuse-win")


def test_nothing_is_approved_that_nobody_authorised_at_the_table() -> None:
    books = Books()
    books.open(document())
    books.start(TABLE, 1, "1A")
    books.receive_award(TABLE, books.claim(TABLE, 1, 1, s1A=BIG))
    with pytest.raises(LedgerError, match="waits for no approval"):
        decide(books, "approve-win")
