"""A win's slips as PDF: a cover, then one sheet for each winner, the same bytes every time.

It draws what the win's page shows, on letter paper with the fonts that every reader has. What the
figures are is decided in `view`.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import segno
from reportlab.lib.pagesizes import letter
from reportlab.pdfgen.canvas import Canvas

from kit.words.numbers import money
from manager.web import words
from protocol.proof.tail import in_lines

WIDTH, HEIGHT = letter
LEFT, RIGHT, TOP, BOTTOM = 54, WIDTH - 54, HEIGHT - 54, 54
LINE = 16
PLAIN, BOLD, FIXED = "Helvetica", "Helvetica-Bold", "Courier"
QR_SIZE = 96
QR_TOP = TOP - 46
CHECKLIST = (
    "Winning hand and cards shown to the camera",
    "Hand verified by a second supervisor",
    "Deck counted and set aside, to be kept for 7 days",
    "Player's identification seen",
    "Tax form completed, where the law asks for one",
    "Surveillance told, with the time of the hand",
)

View = dict[str, Any]
Rows = Sequence[tuple[str, str]]


def pdf_of(win: View, address: str) -> bytes:
    """All sheets. `address` is what the QR code leads to, "" for none."""
    file = io.BytesIO()
    # Not compressed: a few kilobytes more, and what it says can be read without a tool.
    canvas = Canvas(file, pagesize=letter, invariant=1, pageCompression=0)
    canvas.setTitle(words.slip_title(win))
    canvas.setSubject(win["tail"])  # whole, for a program that looks for it
    sheet = _Sheet(canvas, win, address)
    sheet.cover()
    for line in win["lines"]:
        sheet.slip(line)
    canvas.save()
    return file.getvalue()


class _Sheet:
    """One sheet after the other; `_y` is where the next line goes."""

    def __init__(self, canvas: Canvas, win: View, address: str) -> None:
        self._canvas = canvas
        self._win = win
        self._address = address
        self._number = 0
        self._y = TOP

    def cover(self) -> None:
        win = self._win
        self._head(words.slip_title(win), "Cover")
        self._amount(win["total_cents"], win["total_words"], "Handed over in all")
        self._rows(words.place_rows(win))
        self._heading("Paid in this order")
        for line in win["lines"]:
            left = f"{line['order']}. Seat {line['seat']} ({line['sensor']}), {line['label']}"
            self._pair(left, money(line["amount_cents"]))
            self._small(words.meter_line(line))
        if win["envy"]:
            self._heading("Envy")
            for line in win["envy"]:
                self._pair(f"Seat {line['seat']} ({line['sensor']})", money(line["amount_cents"]))
            self._pair("Envy in all", money(win["envy_total_cents"]))
        for hand in win["dealt"]:
            self._small(f"Cards at {hand['sensor']}: {words.dealt(hand)}.")
        if win["is_large"]:
            self._heading("Checklist for a large win")
            for item in CHECKLIST:
                self._box(item)
        for seats in win["joined"]:
            together = " and ".join(map(str, seats))
            self._small(f"Seats {together} are one player: no envy between them.")
        self._tail()
        self._sign(("Dealer", "Supervisor", "Executive", "Cage"))
        self._canvas.showPage()

    def slip(self, line: View) -> None:
        self._head(words.slip_title(self._win), f"Winner {line['order']}")
        self._amount(line["amount_cents"], line["amount_words"], line["label"])
        self._rows(words.line_rows(line))
        self._rows(words.place_rows(self._win))
        self._sign(("Dealer", "Supervisor", "Executive", "Player"))
        self._canvas.showPage()

    # -- parts -------------------------------------------------------------------------------

    def _head(self, title: str, what: str) -> None:
        self._number += 1
        self._y = TOP
        self._text(LEFT, self._win["property"] or "Underfelt", BOLD, 11)
        self._canvas.setFont(PLAIN, 10)
        count = len(self._win["lines"]) + 1
        self._canvas.drawRightString(RIGHT, self._y, f"{what}, sheet {self._number} of {count}")
        self._y -= 26
        self._text(LEFT, title, BOLD, 20)
        self._y -= 10
        self._canvas.line(LEFT, self._y, RIGHT, self._y)
        self._stamp()
        self._qr()

    def _stamp(self) -> None:
        sentence = words.stamp_sentence(self._win)
        if not sentence:
            return
        self._y -= 30
        self._canvas.saveState()
        self._canvas.setLineWidth(2)
        self._canvas.rect(LEFT, self._y - 8, RIGHT - LEFT - QR_SIZE - 12, 26)
        self._text(LEFT + 8, sentence, BOLD, 11)
        self._canvas.restoreState()

    def _qr(self) -> None:
        """Drawn square by square: a reader needs no picture format for it."""
        if not self._address:
            return
        rows = list(segno.make(self._address, error="m", micro=False).matrix_iter(border=0))
        size = QR_SIZE / len(rows)
        for down, row in enumerate(rows):
            for across, is_dark in enumerate(row):
                if is_dark:
                    x, y = RIGHT - QR_SIZE + across * size, QR_TOP - (down + 1) * size
                    self._canvas.rect(x, y, size, size, stroke=0, fill=1)

    def _amount(self, cents: int, in_words: str, what: str) -> None:
        self._y -= 46
        self._text(LEFT, money(cents), BOLD, 32)
        self._y -= 18
        self._text(LEFT, in_words, PLAIN, 10.5)
        self._y -= 18
        self._text(LEFT, what, BOLD, 13)
        self._y = min(self._y - 8, QR_TOP - QR_SIZE - 4)  # below the code at the right

    def _rows(self, rows: Rows) -> None:
        for name, value in rows:
            self._pair(name, value)

    def _pair(self, left: str, right: str) -> None:
        self._y -= LINE
        self._room()
        self._text(LEFT, left, PLAIN, 10)
        self._canvas.setFont(BOLD, 10)
        self._canvas.drawRightString(RIGHT, self._y, right)

    def _heading(self, text: str) -> None:
        self._y -= LINE + 8
        self._room()
        self._text(LEFT, text, BOLD, 11)

    def _small(self, text: str) -> None:
        self._y -= 12
        self._room()
        self._text(LEFT + 14, text, PLAIN, 8.5)

    def _tail(self) -> None:
        self._y -= 8
        self._small("The ledger, as of this sheet:")
        for line in in_lines(self._win["tail"]):
            self._y -= 9
            self._room()
            self._text(LEFT + 14, line, FIXED, 7)

    def _box(self, text: str) -> None:
        self._y -= LINE
        self._room()
        self._canvas.rect(LEFT, self._y - 1, 9, 9)
        self._text(LEFT + 16, text, PLAIN, 10)

    def _sign(self, people: Sequence[str]) -> None:
        if self._y < BOTTOM + 90:
            self._next_sheet()
        width = (RIGHT - LEFT - 24) / 2
        for place, who in enumerate(people):
            x, y = LEFT + (place % 2) * (width + 24), BOTTOM + 62 - (place // 2) * 46
            self._canvas.line(x, y, x + width, y)
            self._canvas.setFont(PLAIN, 8.5)
            self._canvas.drawString(x, y - 11, who)

    def _room(self) -> None:
        if self._y < BOTTOM + 20:
            self._next_sheet()

    def _next_sheet(self) -> None:
        self._canvas.showPage()
        self._y = TOP

    def _text(self, x: float, text: str, font: str, size: float) -> None:
        self._canvas.setFont(font, size)
        self._canvas.drawString(x, self._y, text)
