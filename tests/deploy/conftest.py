"""One image for all tests of a run, and one unit that was brought to its open table with it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.kit.bench_disk import bench_disk
from tests.kit.booted_unit import UnitDisk
from tests.kit.first_start import FirstStart, started_first
from tests.kit.image_variants import Variants
from tests.kit.ready_unit import ready_unit
from tests.kit.unit_image import EPOCH_S, built, update_keys
from tests.kit.updated_unit import NEWER, Proven, Written, opened_and_written, proven


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    given = os.environ.get("UPDATE_KEYS")
    return Path(given) if given else update_keys(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="session")
def image(tmp_path_factory: pytest.TempPathFactory, keys: Path) -> Path:
    given = os.environ.get("IMAGE")
    return Path(given) if given else built(tmp_path_factory.mktemp("image"), keys)


@pytest.fixture(scope="session")
def root(image: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The image's root as a folder."""
    folder = tmp_path_factory.mktemp("root") / "root"
    squashfs = str(image / "root.squashfs")
    subprocess.run(["unsquashfs", "-q", "-n", "-d", str(folder), squashfs], check=True)
    return folder


@pytest.fixture(scope="session")
def bench(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bench_disk(root, tmp_path_factory.mktemp("bench") / "bench.squashfs", EPOCH_S)


@pytest.fixture(scope="session")
def variants(
    root: Path, image: Path, keys: Path, tmp_path_factory: pytest.TempPathFactory
) -> Variants:
    return Variants(root, image, keys, tmp_path_factory.mktemp("variants"))


@pytest.fixture(scope="session")
def first_start(image: Path, bench: Path, tmp_path_factory: pytest.TempPathFactory) -> FirstStart:
    return started_first(image, bench, tmp_path_factory.mktemp("opened"))


@pytest.fixture(scope="session")
def ready(image: Path, bench: Path, tmp_path_factory: pytest.TempPathFactory) -> UnitDisk:
    return ready_unit(image, bench, tmp_path_factory.mktemp("ready"))


@pytest.fixture
def opened(ready: UnitDisk, tmp_path: Path) -> UnitDisk:
    """The disk of a unit that was enrolled and calibrated before."""
    return ready.copy_to(tmp_path)


@pytest.fixture(scope="session")
def bundle(variants: Variants) -> Path:
    return variants.bundle("newer", NEWER)


@pytest.fixture(scope="session")
def written_once(
    ready: UnitDisk, bundle: Path, tmp_path_factory: pytest.TempPathFactory
) -> Written:
    return opened_and_written(ready, bundle, tmp_path_factory.mktemp("written"))


@pytest.fixture(scope="session")
def proven_once(written_once: Written) -> Proven:
    return proven(written_once)
