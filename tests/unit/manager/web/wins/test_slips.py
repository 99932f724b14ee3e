"""A win's slips: each line with its own meter, from J-POT on, stamped, in words, and as PDF."""

from __future__ import annotations

import re
from typing import Any

import pytest
from reportlab.pdfbase.pdfmetrics import stringWidth

from manager.audit.audit import audit
from manager.ledger.errors import LedgerError
from manager.ledger.stamps import Stamp, put_stamp, stamps_of
from manager.web.wins.amount_words import in_words
from manager.web.wins.pdf import LEFT, QR_SIZE, RIGHT, TOP, pdf_of
from protocol.proof.tail import tails_in
from tests.kit.manager_views import TAIL, FakeManager, claim_row, win_line, win_row
from tests.kit.page_client import Browser
from tests.kit.people import open_pages
from tests.kit.pretend_books import LEVELS, TERMS, Books, document, game
from tests.kit.pretend_units import Desk

ADDRESS = "https://192.0.2.1/wins/1/explain"


def text_of(pdf: bytes) -> list[str]:
    """What each sheet says, as it is drawn."""
    sheets = re.findall(rb"stream\r?\n(.*?)endstream", pdf, re.DOTALL)
    drawn = [re.findall(rb"\((.*?)(?<!\\)\) Tj", sheet) for sheet in sheets]
    texts = [b"\n".join(lines).decode("latin-1") for lines in drawn]
    return [re.sub(r"\\([()\\])", r"\1", text) for text in texts if text]


@pytest.mark.parametrize(
    ("cents", "words"),
    [
        (0, "Zero dollars and 00/100"),
        (100, "One dollar and 00/100"),
        (1_905, "Nineteen dollars and 05/100"),
        (4_200, "Forty-two dollars and 00/100"),
        (80_075, "Eight hundred dollars and 75/100"),
        (
            123_456_789,
            "One million two hundred thirty-four thousand five hundred sixty-seven dollars"
            " and 89/100",
        ),
        (100_000_000_000, "One billion dollars and 00/100"),
    ],
)
def test_amounts_in_words(cents: int, words: str) -> None:
    assert in_words(cents) == words


def test_two_sensors_keep_their_meters_apart(books: Books) -> None:
    """Catches: "before" of the first line beside "after" of the last, which mixed two meters."""
    side = TERMS | {"label": "Side", "opening": "500.00", "seed": "200.00"}
    both = {"A": game(), "B": game(wager_cents=500, top="side")}
    books.open(document(jackpots={"main": TERMS, "side": side}, games=both))
    books.start("touch-1", 1, "5A", "5B", "2A")
    books.paid(_5A="four-aces", _5B="four-aces")
    page = books.manager.view.win(1)
    assert page is not None
    lines = {line["sensor"]: line for line in page["lines"]}
    assert (lines["5A"]["meter"], lines["5B"]["meter"]) == ("main", "side")
    assert (lines["5A"]["wager_cents"], lines["5B"]["wager_cents"]) == (100, 500)
    for line in lines.values():
        assert line["meter_before_cents"] == line["amount_cents"]
    assert lines["5B"]["meter_before_cents"] < 51_000 < lines["5A"]["meter_before_cents"]
    assert page["total_cents"] == page["amount_cents"] + page["envy_total_cents"]


def test_meters_stand_as_the_paytable_ranks_them(books: Books) -> None:
    """Catches: Major before Mega, because the alphabet has it so."""
    levels = {name: TERMS | {"label": name} for name in ("a-minor", "z-mega")}
    played = game(LEVELS.id, mega="z-mega", minor="a-minor")
    books.open(document(jackpots=levels, games={"A": played}))
    shown = [meter["id"] for meter in books.manager.view.view()["meters"]]
    assert shown == ["z-mega", "a-minor"]


def test_a_win_is_seen_from_j_pot_on() -> None:
    """Catches: a logged win that no page shows until the key is back at RUN."""
    desk = Desk()
    desk.open_table("keypad-1", workflow="keypad")
    desk.start("keypad-1", 1, "2A", "5A")
    desk.claim("keypad-1", 1, 1, frozen=True, s5A="four-aces")
    (claim,) = desk.manager.view.view()["claims"]
    assert (claim["table"], claim["claim"], claim["by_key"]) == ("keypad-1", 1, True)
    page = desk.manager.view.claim("keypad-1", 1)
    assert page is not None
    (line,) = page["lines"]
    assert (line["seat"], line["amount_cents"]) == (5, claim["amount_cents"])
    assert line["meter_before_cents"] is None
    text = text_of(pdf_of(page, ""))
    assert "NOT BOOKED YET" in text[0]
    assert desk.manager.view.claim("keypad-1", 2) is None
    desk.store.close()


def test_the_pdf_has_a_cover_and_one_sheet_for_each_winner() -> None:
    lines = [win_line(), win_line(order=2, seat=2, sensor="2B", label="Straight Flush")]
    envy = [{"seat": 7, "sensor": "7A", "amount_cents": 20_000}]
    win = win_row(1, lines=lines, envy=envy)
    cover, first, second = text_of(pdf_of(win, ADDRESS))
    for word in (
        *("Harbour Casino", "Jackpot win 1", "$8,200.75", win["total_words"], "Card swipe"),
        *("Four Card Poker 7 (four-card-touch)", "2026-11-16 14:13:20 PST", "Seat 7 (7A)"),
        *("Checklist for a large win", "Dealer", "Executive", "$8,000.75 before"),
        *("Winners in all\n$8,000.75", "Envy in all\n$200.00", "Seat 7 (7A)\n$200.00"),
        "1. Seat 5 (5A), Four Aces\n$8,000.75",
    ):
        assert word in cover, word
    for word in (
        *("Four Aces", "$8,000.75", "Eight thousand dollars and 75/100", "5A", "$1.00"),
        *("four-card/progressive/Pays-1", "meter Progressive (main)", "$10,000.15", "Player"),
        *("sequential: in pay order", "Jackpot win 1\n$8,000.75\n"),  # its own, not the total
    ):
        assert word in first, word
    assert "2B" in second
    assert "sheet 3 of 3" in second


# As the canvas writes it: a font with its size, or where a baseline begins and what is drawn there.
_DRAWN = re.compile(
    rb"/F(\d)\S* ([\d.]+) Tf|1 0 0 1 ([\d.]+) ([\d.]+) Tm \((.*?)(?<!\\)\) Tj", re.DOTALL
)
_FONTS = {b"1": "Helvetica", b"2": "Helvetica-Bold", b"3": "Courier"}


def places_of(pdf: bytes) -> list[list[tuple[float, float, float, str]]]:
    """On each sheet, every text with its left end, its right end and its height."""
    sheets = []
    for stream in re.findall(rb"stream\r?\n(.*?)endstream", pdf, re.DOTALL):
        drawn, font, size = [], "Helvetica", 12.0
        for number, points, x, y, raw in _DRAWN.findall(stream):
            if number:
                font, size = _FONTS[number], float(points)
                continue
            text = re.sub(r"\\([()\\])", r"\1", raw.decode("latin-1"))
            drawn.append((float(x), float(x) + stringWidth(text, font, size), float(y), text))
        sheets.append(drawn)
    return [drawn for drawn in sheets if drawn]


def test_nothing_on_a_sheet_leaves_it_or_covers_another_thing() -> None:
    """Catches: words of a million that run into the code, a long name over its own label."""
    cents = 777_777_777_77
    large = win_line(
        amount_cents=cents,
        amount_words=in_words(cents),
        game="Crazy 4 Poker Progressive Deluxe, Multi Link",
        meter_label="The Grand Harbour Mega Progressive",
        meter="grand-harbour-mega-progressive-1",
    )
    win = win_row(1, lines=[large, *(win_line(order=order) for order in range(2, 9))])
    win |= {"total_cents": cents, "total_words": in_words(cents)}
    win |= {"name": "A very long table name for the far end of the pit, number seventeen"}
    win |= {"property": "The Grand Harbour Casino, Hotel, Spa and Marina of the Peninsula and Bay"}
    win["authorised_by"] = "Bartholomew Featherstonehaugh and Maximiliana Wolfeschlegelsteinhausen"
    by = "Bartholomew Featherstonehaugh-Cholmondeley the Elder"
    win["stamps"] = [{"stamp": "not to be paid", "by": by, "time_ms": 0, "note": ""}]
    sheets = places_of(pdf_of(win, ADDRESS))
    assert len(sheets) == 10  # a cover that goes on, and eight winners
    code_left, code_bottom = RIGHT - QR_SIZE, TOP - 60 - QR_SIZE
    for sheet in sheets:
        assert len(sheet) > 8
        goes_on = any("continued" in text for *_, text in sheet)
        for begins, ends, y, text in sheet:
            assert LEFT <= begins < ends <= RIGHT + 0.5, text
            assert goes_on or y < code_bottom or y > TOP - 50 or ends < code_left, text
        for begins, ends, y, text in sheet:
            beside = [other for other in sheet if abs(other[2] - y) < 6 and other[3] != text]
            assert not [other for other in beside if other[0] < ends and begins < other[1]], text


def test_every_sheet_names_its_win_also_one_that_goes_on() -> None:
    """Catches: a sheet of signature lines that belongs to no win, and a count without it."""
    lines = [win_line(order=seat, seat=seat, sensor=f"{seat}A") for seat in range(1, 8)]
    envy = [{"seat": seat, "sensor": f"{seat}A", "amount_cents": 500} for seat in range(1, 8)]
    stamps = [{"stamp": "paid", "by": "Cy Cage", "time_ms": 0, "note": ""}]
    sheets = text_of(pdf_of(win_row(1, lines=lines, envy=envy, stamps=stamps), ADDRESS))
    assert "Cover, continued" in sheets[1]
    for number, sheet in enumerate(sheets, 1):
        assert "Jackpot win 1" in sheet
        assert f"sheet {number} of {len(sheets)}" in sheet
        assert "PAID. Cy Cage" in sheet


def test_the_ledgers_tail_is_whole_on_the_sheet() -> None:
    """Catches: a witness that runs off the paper, and so proves nothing."""
    pdf = pdf_of(win_row(1), ADDRESS)
    (tail,) = tails_in(TAIL)
    assert tails_in(text_of(pdf)[0]) == [tail]
    assert tails_in(pdf.decode("latin-1")) == [tail]  # the file itself is a witness, too
    assert all(len(line) <= 90 for line in text_of(pdf)[0].splitlines())


def test_the_same_win_is_the_same_bytes() -> None:
    win = win_row(1)
    assert pdf_of(win, ADDRESS) == pdf_of(win, ADDRESS)
    assert pdf_of(win, ADDRESS) != pdf_of(win, ADDRESS + "/1")  # the code is drawn


def test_a_seat_at_every_place_and_a_big_amount_still_fit() -> None:
    lines = [win_line(order=seat, seat=seat, sensor=f"{seat}A") for seat in range(1, 8)]
    envy = [{"seat": seat, "sensor": f"{seat}A", "amount_cents": 1} for seat in range(1, 8)]
    win = win_row(1, lines=lines, envy=envy, total_cents=123_456_789)
    sheets = text_of(pdf_of(win, ADDRESS))
    assert len(sheets) >= 8
    assert "$1,234,567.89" in sheets[0]


STAMPED: list[dict[str, Any]] = [
    {"stamp": "paid", "by": "Cy Cage", "time_ms": 0, "note": ""},
    {"stamp": "not to be paid", "by": "Eve", "time_ms": 0, "note": "wrong hand"},
]


def test_the_last_stamp_stands_across_every_slip() -> None:
    paid = text_of(pdf_of(win_row(1, stamps=STAMPED[:1]), ADDRESS))
    assert all("PAID. Cy Cage, 1970-01-01 00:00:00 UTC." in sheet for sheet in paid)
    stopped = text_of(pdf_of(win_row(1, stamps=STAMPED), ADDRESS))
    assert all("NOT TO BE PAID. Eve" in sheet for sheet in stopped)
    reversed_win = text_of(pdf_of(win_row(1, stamps=STAMPED[:1], reversed_by=9), ADDRESS))
    assert all("NOT TO BE PAID. Reversed by entry 9." in sheet for sheet in reversed_win)


def test_stamps_are_kept_in_the_chain(books: Books) -> None:
    books.open(document())
    books.start("touch-1", 1, "5A", "2A")
    books.paid(_5A="four-aces")
    put_stamp(books.store, 1, Stamp.PAID, "Cy Cage")
    with pytest.raises(LedgerError, match="already, by Cy Cage"):
        put_stamp(books.store, 1, Stamp.PAID, "Bob")
    put_stamp(books.store, 1, Stamp.NOT_TO_BE_PAID, "Eve", "a mistake")
    assert [each.by for each in stamps_of(books.store, 1)] == ["Cy Cage", "Eve"]
    books.reverse(1)
    with pytest.raises(LedgerError, match="was reversed"):
        put_stamp(books.store, 1, Stamp.PAID, "Cy Cage")
    with pytest.raises(LedgerError, match="no win 7"):
        put_stamp(books.store, 7, Stamp.PAID, "Cy Cage")
    assert audit(books.store).sound


def test_the_pages_show_slips_a_code_and_a_pdf() -> None:
    manager = FakeManager()
    manager.change(claims=[claim_row("keypad-1", 3)])
    browser = Browser(open_pages(manager))
    page = browser.get("/wins/1").text
    assert page.count('<section class="slip') == 2  # the cover and the winner
    assert "<svg" in page
    assert "Not to be paid" in page
    pdf = browser.get("/wins/1/slips.pdf")
    assert pdf.headers["content-type"] == "application/pdf"
    assert pdf.content.startswith(b"%PDF")
    assert "Logged by J-POT" in browser.get("/").text
    waiting = browser.get("/claims/keypad-1/3").text
    assert "NOT BOOKED YET" in waiting
    assert not re.search("Stamp this win", waiting)
    assert browser.get("/claims/keypad-1/4").status_code == 404
    assert browser.get("/claims/keypad-1/3/slips.pdf").content.startswith(b"%PDF")
