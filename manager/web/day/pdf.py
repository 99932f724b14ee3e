"""A day as PDF: every section as a ruled table on letter paper, the same bytes every time.

What the figures are is decided in `sections`; how a page breaks and what fits a column, here.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from reportlab.lib.pagesizes import landscape, letter
from reportlab.lib.utils import simpleSplit
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from manager.web.day.sections import Cell, Section, figure
from protocol.proof.tail import in_lines

WIDTH, HEIGHT = landscape(letter)
LEFT, RIGHT, TOP, BOTTOM = 48, WIDTH - 48, HEIGHT - 48, 54
PLAIN, BOLD, FIXED = "Helvetica", "Helvetica-Bold", "Courier"
SIZE, LINE, GAP = 9, 13, 12

View = dict[str, Any]


def pdf_of(view: View, property_name: str) -> bytes:
    file = io.BytesIO()
    # Not compressed: what it says can be read without a tool.
    canvas = Canvas(file, pagesize=(WIDTH, HEIGHT), invariant=1, pageCompression=0)
    canvas.setSubject(view["tail"])  # whole, for a program that looks for it
    canvas.setTitle(f"Gaming day {view['day']}")
    paper = _Paper(canvas, f"{property_name or 'Underfelt'}, gaming day {view['day']}")
    paper.head(view)
    for section in view["sections"]:
        paper.section(section)
    paper.foot(view["tail"])
    canvas.save()
    return file.getvalue()


class _Paper:
    """`_y` is where the next line goes."""

    def __init__(self, canvas: Canvas, running: str) -> None:
        self._canvas = canvas
        self._running = running
        self._number = 1
        self._y = TOP

    def head(self, view: View) -> None:
        self._text(LEFT, f"Gaming day {view['day']}", BOLD, 18)
        self._y -= 18
        running = "It is still running. " if view["is_today"] else ""
        self._text(LEFT, f"{running}A gaming day starts at {view['starts']}.", PLAIN, SIZE)
        self._y -= 16
        verdict = "Accruals and meters tie."
        if not view["ties"]:
            verdict = "ACCRUALS AND METERS DO NOT TIE. Run the audit."
        self._text(LEFT, verdict, BOLD, 11)

    def section(self, section: Section) -> None:
        self._room(4 * LINE + GAP)
        self._y -= LINE + GAP
        self._text(LEFT, section.title, BOLD, 11)
        if section.hint:
            self._y -= LINE
            self._text(LEFT, section.hint, PLAIN, SIZE - 1)
        if not section.rows:
            self._y -= LINE
            self._text(LEFT, section.none, PLAIN, SIZE)
            return
        widths = _widths(section)
        self._line(section, widths, section.columns, BOLD)
        self._rule(0.8)
        for row in section.rows:
            self._line(section, widths, row, PLAIN)
        if section.total:
            self._rule(0.8)
            self._line(section, widths, section.total, BOLD)

    def foot(self, tail: str) -> None:
        self._room(7 * LINE)
        self._y -= 2 * LINE
        self._text(LEFT, "The ledger, as of this report:", PLAIN, SIZE - 1)
        for line in in_lines(tail):
            self._y -= 10
            self._text(LEFT, line, FIXED, 7.5)
        self._page_number()

    # -- parts -------------------------------------------------------------------------------

    def _line(
        self, section: Section, widths: Sequence[float], cells: Sequence[Cell], font: str
    ) -> None:
        """One row; a text too long for its column goes on below."""
        texts = [
            simpleSplit(figure(cell), font, SIZE, width - 8) or [""]
            for cell, width in zip(cells, widths, strict=True)
        ]
        height = max(map(len, texts))
        self._room(height * LINE)
        self._canvas.setFont(font, SIZE)
        x = float(LEFT)
        for place, (lines, width) in enumerate(zip(texts, widths, strict=True)):
            for down, line in enumerate(lines, 1):
                y = self._y - down * LINE
                if section.is_number(place):
                    self._canvas.drawRightString(x + width - 8, y, line)
                else:
                    self._canvas.drawString(x, y, line)
            x += width
        self._y -= height * LINE

    def _rule(self, width: float) -> None:
        self._y -= 4
        self._canvas.setLineWidth(width)
        self._canvas.line(LEFT, self._y, RIGHT, self._y)

    def _room(self, height: float) -> None:
        if self._y - height < BOTTOM:
            self._page_number()
            self._canvas.showPage()
            self._number += 1
            self._y = TOP

    def _page_number(self) -> None:
        self._canvas.setFont(PLAIN, 8)
        self._canvas.drawString(LEFT, 30, self._running)
        self._canvas.drawRightString(RIGHT, 30, f"page {self._number}")

    def _text(self, x: float, text: str, font: str, size: float) -> None:
        self._canvas.setFont(font, size)
        self._canvas.drawString(x, self._y, text)


def _widths(section: Section) -> list[float]:
    """Columns as wide as their longest text; what is left over goes to the texts."""
    rows = [*section.rows, section.total] if section.total else section.rows
    wanted = [
        max(stringWidth(figure(cell), BOLD, SIZE) for cell in column) + 14
        for column in zip(section.columns, *rows, strict=True)
    ]
    room = RIGHT - LEFT
    texts = [place for place in range(len(wanted)) if not section.is_number(place)]
    spare = room - sum(wanted)
    if spare >= 0:
        return [each + (spare / len(texts) if at in texts else 0) for at, each in enumerate(wanted)]
    longest = max(texts, key=lambda place: wanted[place])
    wanted[longest] = max(90.0, wanted[longest] + spare)
    return wanted
