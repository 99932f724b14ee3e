"""What the house posts and how its display looks reach the unit, or are refused with a sentence."""

from __future__ import annotations

import textwrap

import pytest

from kit.config import ConfigError
from manager.app import Manager
from manager.ledger.corrections.reasons import Signed
from manager.ledger.corrections.term_changes import set_limit
from manager.setup.display import CONTRAST_MIN, USUAL_ACCENT, USUAL_BACKGROUND, contrast
from protocol.wire.settings import TableSettings
from tests.kit.places import DOCS
from tests.kit.pretend_units import Clock, table_toml

NOTICE = "Aggregate limit of $25,000.00 a table and round."


def opened(display: str, manager: Manager | None = None) -> TableSettings:
    manager = manager or Manager(":memory:", Clock(), random_bytes=bytes)
    manager.open_table(f"{table_toml()}[display]\n{display}\n")
    return manager.book.tables.rules("touch-1").settings


def test_notices_and_look_go_to_the_unit() -> None:
    settings = opened(
        f'notices = ["{NOTICE}"]\naccent = "#E0B040"\nbackground = "#101c3a"\nlogo = "M1 1h9v9z"'
    )
    assert settings.notices == (NOTICE,)
    assert (settings.accent, settings.background) == ("#e0b040", "#101c3a")
    assert settings.logo == "M1 1h9v9z"


def test_without_the_section_nothing_is_posted() -> None:
    settings = opened("")
    assert (settings.notices, settings.accent, settings.logo) == ((), "", "")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('accent = "gold"', 'display.accent: "gold" is not a colour like #f2cc6b.'),
        ('accent = "#12345"', "is not a colour"),
        ('background = "#10291f; }"', "is not a colour"),
        ('background = "#e0e0e0"', "display.background: is too light"),
        ('background = "#5a5a5a"', "display.background: is too light"),
        ('accent = "#14301f"', "display.accent: accent and background are too much alike"),
        ('logo = "url(x)"', "display.logo: must be the path of an SVG drawing"),
        ("logo = 'M0 0\" onload=\"x'", "display.logo: must be the path of an SVG drawing"),
        (f'logo = "M{"1" * 600}"', "display.logo: must be 1 to 200 characters."),
        (f'notices = ["{"x" * 161}"]', "must be 1 to 160 characters."),
        (f"notices = {['x'] * 5}", "display.notices: at most 4 fit a display, not 5."),
        ('colour = "#ffffff"', "is not a key this version knows"),
    ],
)
def test_what_cannot_be_shown_is_refused(line: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        opened(line)
    assert sentence in str(caught.value)


def test_the_usual_look_can_be_read() -> None:
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast(USUAL_ACCENT, USUAL_BACKGROUND) > CONTRAST_MIN


def test_notices_follow_the_file_and_the_change_is_told() -> None:
    manager = Manager(":memory:", Clock(), random_bytes=bytes)
    opened("", manager)
    assert opened(f'notices = ["{NOTICE}"]', manager).notices == (NOTICE,)
    assert (
        manager.view.view()["alarms"][0]["text"] == "Table touch-1 was opened with other notices."
    )


def test_a_limit_reaches_the_unit_as_it_is_now_and_the_old_file_still_opens() -> None:
    """Catches: the limit of the file posted after the house has set another one."""
    manager = Manager(":memory:", Clock(), random_bytes=bytes)
    assert opened("", manager).games[0].meters[0].limit_cents == 0
    set_limit(manager.book, "main", 9_000_000, Signed("ANN", "BOB"))
    assert opened("", manager).games[0].meters[0].limit_cents == 9_000_000
    assert manager.book.alarms.newest(1) == []


def test_the_example_of_the_operators_page_opens() -> None:
    page = (DOCS / "operator.md").read_text(encoding="utf-8")
    title = page[page.index("    title = ") :].split("\n")[0].strip()
    display = page[page.index("    [display]") :].split("\n\n")[0]
    text = table_toml().replace("wager_cents = 100", f"wager_cents = 100\n{title}")
    manager = Manager(":memory:", Clock(), random_bytes=bytes)
    manager.open_table(text + textwrap.dedent(display))
    settings = manager.book.tables.rules("touch-1").settings
    assert (settings.games[0].title, settings.accent) == ("Harbour Progressive", "#9fe0ff")
