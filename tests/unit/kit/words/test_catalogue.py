"""A sentence that was said in English is found again, with its names and amounts."""

from __future__ import annotations

from controller.words import HouseWords, catalogue
from kit.words import LOCALES, Catalogue


def test_an_amount_inside_a_sentence_is_written_as_its_country_writes_it() -> None:
    spoken = catalogue("es-AR")
    said = "Seat 5 is still owed $8,000.75. Tick it off, or press END GAME again."
    assert spoken.translate(said).startswith("Al asiento 5 aún se le deben $8.000,75.")


def test_a_sentence_inside_another_is_translated_too() -> None:
    said = "Four Aces at seat 5 was taken back. Enter it anew, or press END GAME again."
    assert catalogue("es-US").translate(said) == (
        "Cuatro ases del asiento 5 fue retirada."
        " Ingrésela de nuevo, o presione FIN DEL JUEGO otra vez."
    )


def test_what_has_no_translation_stays_english() -> None:
    assert catalogue("es-MX").translate("Nobody wrote this.") == "Nobody wrote this."
    assert catalogue("en-US").translate("Waiting for bets.") == "Waiting for bets."


def test_holes_may_change_their_order() -> None:
    words = {"{} of {}": "{1}: {0}"}
    assert Catalogue("xx", words, {}).translate("2 of 3") == "3: 2"


def test_the_dealers_switch_changes_words_and_not_the_money() -> None:
    house = HouseWords("es-CO", "en-US")
    assert house.panel.money(800_075) == "$8.000,75"
    house.switch_panel()
    assert (house.panel.language, house.panel.money(800_075)) == ("en", "$8.000,75")
    assert (house.display.language, house.display.money(800_075)) == ("en", "$8,000.75")
    house.switch_panel()
    assert house.panel.language == "es"


def test_every_locale_has_its_words() -> None:
    for locale in LOCALES:
        assert catalogue(locale).language == locale.partition("-")[0]
