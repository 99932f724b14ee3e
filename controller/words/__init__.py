"""The unit's words: which language its panel and its display speak, and who may change it.

Each language is one file beside this one; English needs none. The table's file chooses for both.
The dealer may switch the panel to another language until the unit starts again; numbers and money
stay those of the house.
"""

from __future__ import annotations

from pathlib import Path

from kit.words import LOCALES, Catalogue, load
from kit.words.catalogue import languages

FOLDER = Path(__file__).parent
LANGUAGES = tuple(languages(FOLDER))
NAMES = {"en": "English", "es": "Español"}


class HouseWords:
    """`panel` is also for the text lines of a keypad; `display` is what players read."""

    def __init__(self, language: str = "en-US", display_language: str = "") -> None:
        self._numbers = LOCALES[language]
        self.panel = catalogue(language)
        self.display = catalogue(display_language or language)

    def switch_panel(self) -> None:
        self.panel = load(FOLDER, self.next_panel_language(), self._numbers)

    def next_panel_language(self) -> str:
        """In turn, as the dealer's switch offers them."""
        after = LANGUAGES.index(self.panel.language) + 1
        return LANGUAGES[after % len(LANGUAGES)]


def catalogue(locale: str) -> Catalogue:
    """ "es-MX": the words of "es", and numbers and money as in Mexico."""
    return load(FOLDER, locale.partition("-")[0], LOCALES[locale])
