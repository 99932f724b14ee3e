"""When two names are one: however a name is spelled, spaced, accented or dressed up.

`id_of` finds a person by what is typed: case, width and spaces do not count. `look_of` is coarser:
two names with one look could be taken for each other on paper, and so must not both be given.
"""

from __future__ import annotations

import re
import unicodedata

NAME_MAX = 60
_JOINS = frozenset(" .-'’")
_LETTERS = ("L", "M", "N")  # letters, their accents, digits
# Letters of other scripts, and figures, that are drawn like a Latin letter.
_DRAWN_LIKE = str.maketrans(
    {
        **dict(zip("АВЕЅІЈКМНОРСТХУЗӀԌԚԜ", "ABESIJKMHOPCTXY3lGQW", strict=True)),
        **dict(zip("аеіјорсухѕԁһӏԛԝвкмнтгп", "aeijopcyxsdhlqwBKMHTrn", strict=True)),
        **dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX", strict=True)),
        **dict(zip("αικνορτυχεηωγ", "aikvoptuxenwy", strict=True)),
        **dict(zip("ıɑɡɩøØłŁđĐ", "iagioOlLdD", strict=True)),
        "I": "l",
        "1": "l",
        "|": "l",
        "0": "o",
        "5": "s",
    }
)


def clean(name: str) -> str:
    """The name as it is kept and shown: one space between words, none around them."""
    return " ".join(unicodedata.normalize("NFKC", name).split())


def problem_with(name: str) -> str:
    """Why nobody can have this name, "" when somebody can."""
    kept = clean(name)
    if not kept:
        return "A person needs a name."
    if len(kept) > NAME_MAX:
        return f"A name has at most {NAME_MAX} letters."
    odd = next((each for each in kept if not _is_for_names(each)), "")
    if odd:
        return f"A name has letters, digits, spaces, . - and '; not {odd!a}."
    return "" if look_of(kept) else "A name needs a letter."


def id_of(name: str) -> str:
    """By this a person is found, however it is typed."""
    return unicodedata.normalize("NFKC", clean(name).casefold())


def look_of(name: str) -> str:
    """What is left of a name for a hasty eye: no case, spaces, accents or foreign twins."""
    # Twins are told apart by case (a big I is drawn like an l), so they are joined before it goes.
    drawn = _bare(clean(name)).translate(_DRAWN_LIKE)
    joined = "".join(each for each in _bare(drawn.casefold()) if each.isalnum())
    return re.sub("rn", "m", joined.translate(_DRAWN_LIKE).casefold())


def is_one_person(first: str, second: str) -> bool:
    """True when the two could be one, by how they are typed or by how they look."""
    return id_of(first) == id_of(second) or look_of(first) == look_of(second)


def _bare(text: str) -> str:
    apart = unicodedata.normalize("NFKD", text)
    return "".join(each for each in apart if not unicodedata.combining(each))


def _is_for_names(letter: str) -> bool:
    return letter in _JOINS or unicodedata.category(letter)[0] in _LETTERS
