"""What a table's file says of the players' display: what the house must post, and how it looks.

Colours are refused when they could not be read: the accent and the text must stand out from the
background as WCAG AA asks. The logo is one SVG path, drawn in the accent, so that no picture has to
be fetched, stored or trusted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from kit.config import Complaint, Text, Unfit, Value, Values, shown
from protocol.wire.settings import (
    COLOUR,
    LOGO_MAX_BYTES,
    LOGO_PATTERN,
    NOTICE_MAX_BYTES,
    NOTICES_MAX,
)

CONTRAST_MIN = 4.5
# What the display has without a word of the house.
USUAL_ACCENT = "#f2cc6b"
USUAL_BACKGROUND = "#10291f"
TEXT_COLOUR = "#b3c2b8"  # of the dimmest words
INK_COLOUR = "#14201b"  # of words written on the accent


class Colour(Value):
    def take(self, value: object) -> str:
        if not isinstance(value, str) or not re.fullmatch(COLOUR, value.lower(), re.ASCII):
            raise Unfit(f"{shown(value)} is not a colour like {USUAL_ACCENT}.")
        return value.lower()


class PathData(Value):
    def take(self, value: object) -> str:
        path = Text(LOGO_MAX_BYTES).take(value)
        if not re.fullmatch(LOGO_PATTERN, path, re.ASCII):
            raise Unfit("must be the path of an SVG drawing, 100 wide and 100 high.")
        return path


@dataclass(frozen=True, slots=True)
class DisplaySection:
    """[display]"""

    notices: Annotated[tuple[str, ...], Values(Text(NOTICE_MAX_BYTES))] = ()
    accent: Annotated[str, Colour()] = ""
    background: Annotated[str, Colour()] = ""
    logo: Annotated[str, PathData()] = ""

    def check(self) -> Iterator[Complaint]:
        if len(self.notices) > NOTICES_MAX:
            yield ("notices",), f"at most {NOTICES_MAX} fit a display, not {len(self.notices)}."
        background = self.background or USUAL_BACKGROUND
        if contrast(TEXT_COLOUR, background) < CONTRAST_MIN:
            yield ("background",), "is too light: the words could not be read on it."
        accent = self.accent or USUAL_ACCENT
        if min(contrast(accent, background), contrast(accent, INK_COLOUR)) < CONTRAST_MIN:
            at = "accent" if self.accent else "background"
            yield (at,), "accent and background are too much alike to be read."


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours, 1 to 21, as WCAG 2.2 defines it."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
