"""A small floor of real links over TLS: a kill -9 of its manager loses and doubles no wager."""

from __future__ import annotations

import json

import pytest

from sim.__main__ import main

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


def test_a_floor_loses_and_doubles_nothing_when_its_manager_is_killed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["floor", "--tables", "6", "--seconds", "1", "--processes", "1", "--json"]
    assert main(words) == 0
    said = json.loads(capsys.readouterr().out)
    assert set(said) >= WANTED
    assert (said["tables"], said["engine"], said["lost"], said["doubled"]) == (6, "sqlite", 0, 0)
    assert said["wagers_booked"] >= said["wagers_acked"] > 0
    assert said["audit_sound"]
    assert said["faults"] == []
