"""The wall clock counts whole milliseconds since 1970."""

from __future__ import annotations

import time

import pytest

from kit.clock import wall_ms


def test_whole_milliseconds_rounded_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 1_700_000_000_123_999_999)
    assert wall_ms() == 1_700_000_000_123
