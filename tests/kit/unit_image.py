"""A unit's image of this tree, as `make image` builds it, and who may sign its updates.

IMAGE=FOLDER UPDATE_KEYS=FOLDER try one that was built before, such as the one to be published.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from shutil import rmtree

from tests.kit.places import ROOT

EPOCH_S = "1700000000"
LATER_EPOCH_S = "1800000000"
BUILD = ROOT / "deploy/image/build"
BUNDLE = ROOT / "deploy/image/bundle"
KEYS = ROOT / "deploy/image/update-keys"


def update_keys(folder: Path, **settings: str) -> Path:
    """An authority and its certificate."""
    subprocess.run([str(KEYS), str(folder)], env=os.environ | settings, check=True)
    return folder


def built(out: Path, keys: Path, epoch_s: str = EPOCH_S) -> Path:
    settings = {"OUT": str(out), "SOURCE_DATE_EPOCH": epoch_s}
    words = [str(BUILD), "amd64", "", str(keys / "authority.pem")]
    subprocess.run(words, env=os.environ | settings, check=True)
    return out


def main() -> None:
    """Builds one for several test processes: `python -m tests.kit.unit_image FOLDER`."""
    folder = Path(sys.argv[1]).resolve()
    rmtree(folder, ignore_errors=True)
    built(folder / "image", update_keys(folder / "keys"))


if __name__ == "__main__":
    main()
