"""What the manager reads in a bundle that RAUC itself has made."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from manager.rollouts.manifest import read_manifest
from tests.kit.update_files import BOARD

VERSION = "0.2.0+20260601.000000"


@pytest.mark.skipif(shutil.which("rauc") is None, reason="rauc makes the real thing")
def test_a_bundle_of_raucs_own_is_read(tmp_path: Path) -> None:
    key, certificate, content = tmp_path / "key", tmp_path / "cert", tmp_path / "content"
    subprocess.run(
        f"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 9"
        f" -subj /CN=test -keyout {key} -out {certificate}".split(),
        check=True,
        capture_output=True,
    )
    content.mkdir()
    (content / "root.img").write_bytes(random.Random(1).randbytes(50_000))
    (content / "manifest.raucm").write_text(
        f"[update]\ncompatible={BOARD}\nversion={VERSION}\nbuild=journal=1\n\n"
        "[bundle]\nformat=verity\n\n[image.root]\nfilename=root.img\n"
    )
    out = tmp_path / "out.raucb"
    subprocess.run(
        ["rauc", "bundle", f"--cert={certificate}", f"--key={key}", str(content), str(out)],
        capture_output=True,
        check=True,
    )
    with out.open("rb") as file:
        assert read_manifest(file).version == VERSION
