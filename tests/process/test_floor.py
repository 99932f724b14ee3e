"""A small floor of real links over TLS: a kill -9 of its manager loses and doubles no wager."""

from __future__ import annotations

import json

import pytest

from sim.__main__ import main
from tests.kit.postgres_server import is_installed

WANTED = {
    "tables",
    "seconds",
    "engine",
    "wagers_acked",
    "wagers_booked",
    "lost",
    "doubled",
    "wagers_per_second",
    "ack_p50_ms",
    "ack_p99_ms",
    "sync_p50_ms",
    "audit_sound",
}


WORDS = ["floor", "--tables", "6", "--seconds", "1", "--processes", "1", "--json"]


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_a_floor_loses_and_doubles_nothing_when_its_manager_is_killed(
    engine: str, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    words = list(WORDS)
    if engine == "postgresql":
        if not is_installed():
            pytest.skip("PostgreSQL is not installed here")
        words += ["--database", request.getfixturevalue("url")]  # a ledger is made there
    assert main(words) == 0
    said = json.loads(capsys.readouterr().out)
    assert set(said) >= WANTED
    assert (said["tables"], said["engine"], said["lost"], said["doubled"]) == (6, engine, 0, 0)
    assert said["wagers_booked"] >= said["wagers_acked"] > 0
    assert said["audit_sound"]
    assert said["faults"] == []
    if engine == "postgresql":
        # Catches: units that wait for five minutes on a ledger that has heard of them before.
        assert main(words) == 2
        assert "an empty ledger" in capsys.readouterr().err
