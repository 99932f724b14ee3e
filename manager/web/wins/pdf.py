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
from reportlab.lib.utils import simpleSplit
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from kit.words.numbers import money
from manager.web import words
from manager.web.wins.checklist import CHECKLIST
from protocol.proof.tail import in_lines

WIDTH, HEIGHT = letter
LEFT, RIGHT, TOP, BOTTOM = 54, WIDTH - 54, HEIGHT - 54, 54
LINE = 15
PLAIN, BOLD, FIXED = "Helvetica", "Helvetica-Bold", "Courier"
QR_SIZE = 96
BESIDE_QR = RIGHT - QR_SIZE - 12  # where text ends that stands left of the code
VALUE_MIN = 150  # what a name leaves for its value, however long it is

View = dict[str, Any]
Rows = Sequence[tuple[str, str]]


def pdf_of(win: View, address: str) -> bytes:
    """All sheets. `address` is what the QR code leads to, "" for none."""
    # Each sheet says how many there are, which is known only when all are drawn once.
    count = _draw(io.BytesIO(), win, "", 0)
    file = io.BytesIO()
    _draw(file, win, address, count)
    return file.getvalue()


def _draw(file: io.BytesIO, win: View, address: str, count: int) -> int:
    """Draws every sheet into the file; returns how many there are."""
    # Not compressed: a few kilobytes more, and what it says can be read without a tool.
    canvas = Canvas(file, pagesize=letter, invariant=1, pageCompression=0)
    canvas.setTitle(words.slip_title(win))
    canvas.setSubject(win["tail"])  # whole, for a program that looks for it
    sheet = _Sheet(canvas, win, address, count)
    sheet.cover()
    for line in win["lines"]:
        sheet.slip(line)
    canvas.save()
    return sheet.number


class _Sheet:
    """One sheet after the other; `_y` is where the next line goes."""

    def __init__(self, canvas: Canvas, win: View, address: str, count: int) -> None:
        self._canvas = canvas
        self._win = win
        self._address = address
        self._count = count
        self.number = 0
        self._what = ""
        self._y: float = TOP
        self._qr_top: float = TOP

    def cover(self) -> None:
        win = self._win
        self._head("Cover")
        self._amount(win["total_cents"], win["total_words"], "Handed over in all")
        self._rows(words.place_rows(win))
        self._heading("Paid in this order")
        for line in win["lines"]:
            left = f"{line['order']}. Seat {line['seat']} ({line['sensor']}), {line['label']}"
            self._pair(left, money(line["amount_cents"]))
            self._small(words.meter_line(line))
        if len(win["lines"]) > 1 or win["envy"]:
            self._pair("Winners in all", money(win["amount_cents"]))
        if win["envy"]:
            self._heading("Envy")
            self._envy(win["envy"])
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
        self._head(f"Winner {line['order']}")
        self._amount(line["amount_cents"], line["amount_words"], line["label"])
        self._rows(words.line_rows(line))
        self._rows(words.place_rows(self._win))
        self._sign(("Dealer", "Supervisor", "Executive", "Player"))
        self._canvas.showPage()

    # -- parts -------------------------------------------------------------------------------

    def _head(self, what: str) -> None:
        self._what = what
        self._top(what)
        self._qr()

    def _top(self, what: str) -> None:
        """What names a sheet that is found alone."""
        self.number += 1
        self._canvas.setFont(PLAIN, 10)
        sheet = f"{what}, sheet {self.number} of {self._count}"
        self._canvas.drawRightString(RIGHT, TOP, sheet)
        ends = RIGHT - stringWidth(sheet, PLAIN, 10) - 18
        self._y = TOP + 14
        self._block(self._win["property"] or "Underfelt", BOLD, 11, 14, right=ends)
        self._y -= 26
        self._text(LEFT, words.slip_title(self._win), BOLD, 20)
        self._y -= 10
        self._canvas.line(LEFT, self._y, RIGHT, self._y)
        self._qr_top = self._y - 10
        self._stamp()

    def _stamp(self) -> None:
        sentence = words.stamp_sentence(self._win)
        if not sentence:
            return
        top = self._y - 12
        self._y -= 16
        self._block(sentence, BOLD, 11, 14, LEFT + 8, BESIDE_QR - 8)
        self._canvas.saveState()
        self._canvas.setLineWidth(2)
        self._canvas.rect(LEFT, self._y - 8, BESIDE_QR - LEFT, top - self._y + 8)
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
                    x, y = RIGHT - QR_SIZE + across * size, self._qr_top - (down + 1) * size
                    self._canvas.rect(x, y, size, size, stroke=0, fill=1)

    def _amount(self, cents: int, in_words: str, what: str) -> None:
        self._y -= 46
        self._text(LEFT, money(cents), BOLD, 32)
        self._y -= 4
        self._block(in_words, PLAIN, 10.5, 14, right=BESIDE_QR)
        self._y -= 3
        self._block(what, BOLD, 13, 15, right=BESIDE_QR)
        self._y = min(self._y - 8, self._qr_top - QR_SIZE - 4)  # below the code at the right

    def _rows(self, rows: Rows) -> None:
        for name, value in rows:
            self._pair(name, value)

    def _pair(self, left: str, right: str) -> None:
        self._y -= LINE
        self._room()
        self._text(LEFT, left, PLAIN, 10)
        width = max(VALUE_MIN, RIGHT - LEFT - stringWidth(left, PLAIN, 10) - 24)
        for place, line in enumerate(simpleSplit(right, BOLD, 10, width)):
            self._y -= 12 if place else 0
            self._canvas.setFont(BOLD, 10)
            self._canvas.drawRightString(RIGHT, self._y, line)

    def _envy(self, lines: Sequence[View]) -> None:
        """Two in a row: a full table has more of them than a cover has lines."""
        middle = (LEFT + RIGHT) / 2
        for place, line in enumerate(lines):
            is_right = place % 2
            if not is_right:
                self._y -= LINE
                self._room()
            left, right = (middle + 18, RIGHT) if is_right else (LEFT, middle - 18)
            self._text(left, f"Seat {line['seat']} ({line['sensor']})", PLAIN, 10)
            self._canvas.setFont(BOLD, 10)
            self._canvas.drawRightString(right, self._y, money(line["amount_cents"]))

    def _heading(self, text: str) -> None:
        self._y -= LINE + 8
        self._room()
        self._text(LEFT, text, BOLD, 11)

    def _small(self, text: str) -> None:
        self._block(text, PLAIN, 8.5, 12, LEFT + 14)

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
        self._top(f"{self._what}, continued")
        self._y -= LINE + 8  # what goes on stands below the line and the stamp

    def _block(
        self,
        text: str,
        font: str,
        size: float,
        leading: float,
        left: float = LEFT,
        right: float = RIGHT,
    ) -> None:
        """In as many lines as it takes: a long name leaves no sheet and covers no code."""
        for line in simpleSplit(text, font, size, right - left):
            self._y -= leading
            self._room()
            self._text(left, line, font, size)

    def _text(self, x: float, text: str, font: str, size: float) -> None:
        self._canvas.setFont(font, size)
        self._canvas.drawString(x, self._y, text)
