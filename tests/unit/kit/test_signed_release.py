"""A release is what was approved, or it is refused: damage, additions, and a manifest made anew."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from kit.release_files import MANIFEST, SIGNATURE, Files, manifest_of
from kit.signed_release import (
    Finding,
    KeyRefused,
    check_release,
    seeded_digest,
    seeded_file_digest,
    sign_release,
)

SEED = b"2026-11-17 inspector"


def write_key(folder: Path, name: str) -> tuple[Path, Path]:
    key = Ed25519PrivateKey.generate()
    private, public = folder / f"{name}.key", folder / f"{name}.pem"
    private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    public.write_bytes(
        key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    )
    return private, public


class Release:
    def __init__(self, tmp_path: Path) -> None:
        self.folder = tmp_path / "release"
        (self.folder / "controller").mkdir(parents=True)
        (self.folder / "controller/round.py").write_text("BETS = 7\n")
        (self.folder / "controller/empty.py").write_text("")
        (self.folder / "table.toml").symlink_to("/etc/underfelt/table.toml")
        self.private, self.public = write_key(tmp_path, "house")
        self.signed_by = sign_release(self.folder, self.private)

    def check(self) -> Finding:
        return check_release(self.folder, self.public)

    def renew_manifest(self) -> None:
        (self.folder / MANIFEST).write_bytes(manifest_of(Files(), self.folder))


@pytest.fixture
def release(tmp_path: Path) -> Release:
    return Release(tmp_path)


def test_what_was_signed_is_in_order(release: Release) -> None:
    assert release.check() == Finding("", release.signed_by)


def change(folder: Path) -> None:
    (folder / "controller/round.py").write_text("BETS = 8\n")


def add(folder: Path) -> None:
    (folder / "controller/more.py").write_text("")


def remove(folder: Path) -> None:
    (folder / "controller/empty.py").unlink()


def lead_elsewhere(folder: Path) -> None:
    (folder / "table.toml").unlink()
    (folder / "table.toml").symlink_to("/tmp/table.toml")


def make_executable(folder: Path) -> None:
    (folder / "controller/round.py").chmod(0o755)


CHANGES = {
    change: "controller/round.py is damaged",
    add: "controller/more.py does not belong to it",
    remove: "controller/empty.py is missing",
    lead_elsewhere: "table.toml is damaged",
    make_executable: "controller/round.py is damaged",
}


@pytest.mark.parametrize("tamper", CHANGES)
def test_every_kind_of_change_is_named(release: Release, tamper: Callable[[Path], None]) -> None:
    tamper(release.folder)
    assert release.check().fault == CHANGES[tamper]


@pytest.mark.parametrize("tamper", CHANGES)
def test_a_manifest_made_anew_does_not_help(
    release: Release, tamper: Callable[[Path], None]
) -> None:
    """Catches a check that trusts the manifest alone."""
    tamper(release.folder)
    release.renew_manifest()
    assert "its signature is not of the key" in release.check().fault


def test_a_signature_that_was_taken_away_or_is_somebody_elses_is_refused(
    release: Release, tmp_path: Path
) -> None:
    (release.folder / SIGNATURE).unlink()
    assert release.check().fault == "it is not signed"
    sign_release(release.folder, write_key(tmp_path, "thief")[0])
    assert "its signature is not of the key" in release.check().fault
    (release.folder / SIGNATURE).write_text("not hex")
    assert "its signature is not of the key" in release.check().fault


def test_where_no_key_is_laid_down_nobody_is_asked_for_a_signature(
    release: Release, tmp_path: Path
) -> None:
    (release.folder / SIGNATURE).unlink()
    assert check_release(release.folder, tmp_path / "none.pem") == Finding("")


def test_a_key_file_that_is_none_keeps_the_table_closed(release: Release) -> None:
    """Catches a broken key file that counts as no key at all."""
    release.public.write_text("no key")
    assert "holds no public key" in release.check().fault
    with pytest.raises(KeyRefused, match="holds no private key"):
        sign_release(release.folder, release.public)


def test_a_folder_that_was_never_finished_is_no_release(tmp_path: Path) -> None:
    assert check_release(tmp_path, tmp_path / "none.pem").fault == "it was never finished"


@pytest.mark.parametrize("tamper", CHANGES)
def test_the_seeded_digest_is_of_every_byte_and_of_the_seed(
    release: Release, tamper: Callable[[Path], None]
) -> None:
    before = seeded_digest(release.folder, SEED)
    assert before == seeded_digest(release.folder, SEED)
    assert before != seeded_digest(release.folder, SEED + b".")
    tamper(release.folder)
    assert before != seeded_digest(release.folder, SEED)


def test_an_inspector_can_compute_a_partitions_digest_without_us(tmp_path: Path) -> None:
    slot = tmp_path / "slot"
    slot.write_bytes(bytes(range(256)) * 10_000)
    expected = hmac.new(SEED, slot.read_bytes(), hashlib.sha256).hexdigest()
    assert seeded_file_digest(slot, SEED) == expected
