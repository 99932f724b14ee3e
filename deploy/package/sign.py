"""Signs a release folder: `python3 -m deploy.package.sign --key release.key FOLDER`.

The manifest is written anew from what is there, so this is the last step of making a release.
Without a key only the manifest is written: it shows damage, and nobody vouches for it. A key
is made with `openssl genpkey -algorithm ed25519`, and its public half with `openssl pkey -pubout`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from kit.command_line import run_command, told
from kit.release_files import MANIFEST, Files, manifest_of
from kit.signed_release import KeyRefused, sign_release


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m deploy.package.sign", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--key", type=Path, metavar="FILE", help="private, PEM")
    options = parser.parse_args(arguments)
    return told(lambda: _sign(options.folder, options.key), KeyRefused, name="sign")


def _sign(folder: Path, key: Path | None) -> int:
    if key is None:
        (folder / MANIFEST).write_bytes(manifest_of(Files(), folder))
        print(f"{folder} has its manifest, and no signature")
        return 0
    print(f"{folder} is signed by the key {sign_release(folder, key)}")
    return 0


if __name__ == "__main__":
    run_command(main)
