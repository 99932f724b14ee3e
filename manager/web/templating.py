"""The pages' templates: strict about names, everything escaped, and how amounts are written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from manager.web import words

TEMPLATES = Path(__file__).parent / "templates"
FILTERS: tuple[Callable[..., Any], ...] = (
    words.money,
    words.exact,
    words.precise,
    words.percent,
    words.moment,
    words.age,
    words.method,
    words.hand,
    words.kind,
    words.policy,
    words.terms,
)


def open_templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for each in FILTERS:
        environment.filters[each.__name__] = each
    return environment
