"""Every sentence that people at a table may read has its translation, and none is glued together.

A failure names the sentence, where it is said, and the file that its translation belongs into.
Mutations this catches: a refusal added in English alone, a sentence of a page written into its
template or script, "END GAME again" put behind another sentence, two sentences that the catalogue
cannot tell apart.
"""

from __future__ import annotations

import string
import tomllib

import pytest

from controller.words import FOLDER, LANGUAGES, catalogue
from kit.words import LOCALES
from tests.kit import sentences
from tests.kit.sentences import HOLE, Found

TRANSLATED = [language for language in LANGUAGES if language != "en"]


def words_of(language: str) -> dict[str, dict[str, str]]:
    return tomllib.loads((FOLDER / f"{language}.toml").read_text("utf-8"))


def refuse_missing(found: list[Found], known: set[str], language: str, section: str) -> None:
    lines = sorted({f'{each.place} says "{each.text}"' for each in found if each.text not in known})
    where = f"controller/words/{language}.toml under [{section}]"
    if lines:
        pytest.fail(f"without a translation, which belongs into {where}:\n" + "\n".join(lines))


@pytest.mark.parametrize("language", TRANSLATED)
def test_every_sentence_of_the_code_has_a_translation(language: str) -> None:
    file = words_of(language)
    known = {*file["words"], *file["pages"]}
    found = [*sentences.in_python(), *sentences.from_the_manager()]
    refuse_missing(found, known, language, "words")


@pytest.mark.parametrize("language", TRANSLATED)
def test_every_word_of_the_pages_has_a_translation(language: str) -> None:
    known = set(words_of(language)["pages"])
    found = [*sentences.in_templates(), *sentences.in_scripts()]
    refuse_missing(found, known, language, "pages")


@pytest.mark.parametrize("language", TRANSLATED)
def test_every_shipped_game_has_a_translation(language: str) -> None:
    known = set(words_of(language)["words"])
    named = [each for each in sentences.of_the_shipped_games() if " " in each.text]
    assert len(named) > 100
    refuse_missing(named, known, language, "words")


def test_no_sentence_is_put_together_from_pieces() -> None:
    pieces = [f'{each.place}: "{each.text}"' for each in sentences.in_python() if each.is_piece]
    assert [*pieces, *sentences.glued(), *sentences.glued_in_scripts()] == []


def test_no_page_has_words_of_its_own() -> None:
    assert sentences.unsaid_in_templates() == []


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_sentence_that_was_said_is_found_again(language: str) -> None:
    """Each with other arguments, so that none is taken for another, and each has all its holes."""
    locale = next(name for name in LOCALES if name.startswith(language))
    spoken = catalogue(locale)
    for template, translated in spoken.words.items():
        count = template.count(HOLE)
        arguments = [f"Xq{letter}" for letter in string.ascii_lowercase[:count]]
        said, wanted = template.format(*arguments), translated.format(*arguments)
        assert spoken.translate(said) == wanted, template
        assert sorted(wanted.count(each) for each in arguments) == [1] * count, template


@pytest.mark.parametrize("language", TRANSLATED)
def test_nothing_is_translated_that_nobody_says(language: str) -> None:
    file = words_of(language)
    said = [
        *sentences.in_python(),
        *sentences.from_the_manager(),
        *sentences.in_templates(),
        *sentences.in_scripts(),
        *sentences.of_the_shipped_games(),
    ]
    known = {each.text for each in said}
    unsaid = {key for section in file.values() for key in section if " " in key} - known
    assert unsaid <= SAID_ELSEWHERE


# By parts of the unit that a technician looks after; the pages show their names and reasons.
SAID_ELSEWHERE = {
    "{} ({})",
    "{} %",
    "IC reset itself",
    "I2C bus {}: {}",
    "the bus is stuck or no IC answered in time (errno {})",
    "the transfer broke off (errno {})",
    "The unit's part {} stopped: {}",
    "The Game Manager holds {} events of this unit, its own journal only {}.",
    "The card {} has expired.",
    "claim {}",
    "{} for 1",
}
