"""A table's view in the language of the page that shows it.

It alone knows which parts of a view people read. The view itself is in English and in whole cents,
whoever looks at it.
"""

from __future__ import annotations

from typing import Any

from controller.web.api import View
from kit.words import Catalogue

# Wherever one of these stands in a view, its value is read by people.
READ_BY_PEOPLE = frozenset(
    (
        "label",
        "level_label",
        "notice",
        "notices",
        "part",
        "pays",
        "sentence",
        "stop",
        "text",
        "trouble",
        "void_reason",
    )
)


def spoken(view: View, words: Catalogue) -> View:
    translated: View = _spoken(view, words)
    return {**translated, "language": words.language}


def _spoken(value: Any, words: Catalogue, is_read: bool = False) -> Any:
    if isinstance(value, dict):
        return {name: _spoken(each, words, name in READ_BY_PEOPLE) for name, each in value.items()}
    if isinstance(value, list):
        return [_spoken(each, words, is_read) for each in value]
    return words.translate(value) if is_read and isinstance(value, str) else value
