"""Wheels are fetched once for all builds of a checkout, also when two of them run at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from deploy.package import wheels
from deploy.package.targets import Target

TARGET = Target("trixie", "amd64")
LOCK = "one==1.0 --hash=sha256:00\n"


def bring(scratch: Path, name: str) -> None:
    (scratch / "wheels").mkdir()
    (scratch / "wheels" / name).write_bytes(b"")


def test_two_builds_that_fetch_at_once_take_the_same_wheels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches: a build that is refused because another one was a second faster."""
    under_way: list[Path] = []

    def download(lock: str, target: Target, scratch: Path) -> None:
        under_way.append(scratch)
        if len(under_way) == 1:
            wheels.fetched(LOCK, TARGET, tmp_path, None)  # the other build, from start to end
        bring(scratch, "one-1.0-py3-none-any.whl")

    monkeypatch.setattr(wheels, "_download", download)
    found = wheels.fetched(LOCK, TARGET, tmp_path, None)
    assert len(under_way) == 2
    assert [path.name for path in found] == ["one-1.0-py3-none-any.whl"]
    assert not list(tmp_path.glob("fetching-*")), "nothing is left of either"


def test_wheels_that_cannot_be_laid_down_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches: a build that goes on without its wheels."""
    monkeypatch.setattr(wheels, "_download", lambda lock, target, scratch: None)
    with pytest.raises(OSError, match="wheels"):
        wheels.fetched(LOCK, TARGET, tmp_path, None)
