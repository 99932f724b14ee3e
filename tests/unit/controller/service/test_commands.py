"""`python -m controller selftest` at a unit: nothing is touched before the tech is admitted."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from controller import __main__ as program
from controller.config import load_unit_config
from controller.data_folder import journal_path
from controller.felt.references import ReferencesFault
from controller.journal.journal import Journal
from controller.service import admission, commands
from controller.service.admission import ServiceRefused
from protocol.wire import events
from sim.time.loop import run_virtual
from tests.kit.places import table_path
from tests.kit.tech_settings import PIN, WITH_TECH

CONFIG = load_unit_config(table_path("four-card-touch"))


class NoBackend:
    """Opening anything on it is a failed test."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was opened before the tech was admitted")


def journal(data: Path, look: Callable[[Journal], Any]) -> Any:
    opened = Journal.open(str(journal_path(data)), created_wall_ms=0)
    try:
        return look(opened)
    finally:
        opened.close()


def results(data: Path) -> list[str]:
    def look(opened: Journal) -> list[str]:
        records = [r for r in opened.records.after(0, 100) if r.kind == events.SERVICE]
        return [events.Service.from_body(record.body).result for record in records]

    return list(journal(data, look))


def selftest(data: Path, backend: Any) -> int:
    return run_virtual(commands.selftest_unit(CONFIG, backend, data, "Tech 3"))


def test_a_wrong_pin_opens_no_bus_and_is_in_the_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal(tmp_path, lambda opened: opened.adopt_settings(WITH_TECH.encode(), 0, 0))
    monkeypatch.setattr("sys.stdin", io.StringIO("000000\n"))
    with pytest.raises(ServiceRefused):
        selftest(tmp_path, NoBackend())
    assert results(tmp_path) == [admission.WRONG_PIN]


def test_the_right_pin_is_read_from_standard_input_and_the_end_is_journaled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal(tmp_path, lambda opened: opened.adopt_settings(WITH_TECH.encode(), 0, 0))
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{PIN}\n"))
    with pytest.raises(AssertionError, match="before the tech"):  # the board is opened now
        selftest(tmp_path, NoBackend())
    assert results(tmp_path) == [admission.ADMITTED, "failed"]


def test_the_pin_is_never_an_argument() -> None:
    with pytest.raises(SystemExit):
        program._parser().parse_args(["selftest", "--pin", PIN])
    assert program._parser().parse_args(["selftest", "--tech", "Tech 3"]).tech == "Tech 3"
    assert ReferencesFault in program.REFUSALS
    assert ServiceRefused in program.REFUSALS
