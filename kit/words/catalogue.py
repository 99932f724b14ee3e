"""Turns an English sentence into another language's, whole.

It alone knows how a sentence that was said with its names and amounts in it is found again: by the
words around them. So nobody who decides, journals or sends a sentence needs a catalogue, and what
has no translation yet stays readable English. Nothing is put together from pieces here; a hole
holds a name, a number, an amount or a whole sentence, and each is translated by itself.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from kit.words.numbers import PLAIN, Numbers

ENGLISH = "en"
HOLE = "{}"
KEPT_MAX = 512  # sentences that were said lately


class Catalogue:
    def __init__(
        self,
        language: str,
        words: Mapping[str, str],
        page_words: Mapping[str, str],
        numbers: Numbers = PLAIN,
    ) -> None:
        """`page_words` are those that a page's own script says; every page takes them along."""
        self.language = language
        self.numbers = numbers
        self.page_words = page_words
        self.words = words = {**words, **page_words}
        # The one with the most words of its own first: no sentence is taken for a shorter one.
        holed = sorted((key for key in words if HOLE in key), key=_own_length, reverse=True)
        self._patterns = [(_pattern(key), key) for key in holed]
        self.translate = lru_cache(KEPT_MAX)(self._translate)

    def money(self, cents: int) -> str:
        return self.numbers.money(cents)

    def say(self, template: str, *arguments: object) -> str:
        """A sentence by its English words, with "{}" where its arguments belong."""
        filled = [self.translate(str(argument)) for argument in arguments]
        return self.words.get(template, template).format(*filled)

    def _translate(self, sentence: str) -> str:
        """What this sentence, as it was said in English, is here."""
        known = self.words.get(sentence)
        if known is not None:
            return known
        number = self.numbers.rewritten(sentence)
        if number is not None:
            return number
        for pattern, template in self._patterns:
            found = pattern.fullmatch(sentence)
            if found:
                return self.say(template, *found.groups())
        return sentence


def load(folder: Path, language: str, numbers: Numbers = PLAIN) -> Catalogue:
    """English needs no file: it is the key."""
    path = folder / f"{language}.toml"
    if language == ENGLISH:
        return Catalogue(language, {}, {}, numbers)
    file = tomllib.loads(path.read_text("utf-8"))
    return Catalogue(language, file["words"], file["pages"], numbers)


def languages(folder: Path) -> Sequence[str]:
    return [ENGLISH, *sorted(path.stem for path in folder.glob("*.toml"))]


def _own_length(template: str) -> int:
    return len(template.replace(HOLE, ""))


def _pattern(template: str) -> re.Pattern[str]:
    parts = [re.escape(part) for part in template.split(HOLE)]
    return re.compile("(.+?)".join(parts), re.DOTALL)
