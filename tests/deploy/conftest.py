"""One image for all tests of a run: to build it takes minutes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.kit.unit_image import built, update_keys


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    given = os.environ.get("UPDATE_KEYS")
    return Path(given) if given else update_keys(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="session")
def image(tmp_path_factory: pytest.TempPathFactory, keys: Path) -> Path:
    given = os.environ.get("IMAGE")
    return Path(given) if given else built(tmp_path_factory.mktemp("image"), keys)
