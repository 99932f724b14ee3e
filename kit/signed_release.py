"""Whether a release is what was approved: whole, and signed by the key that the house trusts.

A manifest alone shows damage. Whoever changes a file on purpose writes a new manifest as well, and
only the signature tells. A seeded digest is for an inspector: with a seed that nobody knew before,
no answer can have been prepared.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from kit.release_files import LINK, MANIFEST, SIGNATURE, Files, damage, manifest_of, walk

KEY_FILE: Final = Path("/etc/underfelt/release-key.pem")
FINGERPRINT_DIGITS: Final = 16
CHUNK_BYTES: Final = 1 << 20


class KeyRefused(Exception):  # noqa: N818
    """A key's file cannot be read, or holds another kind of key."""


@dataclass(frozen=True)
class Finding:
    """`fault` is "" for a release that may run; `signed_by` is "" without a signature to check."""

    fault: str
    signed_by: str = ""


def check_release(folder: Path, key_file: Path = KEY_FILE) -> Finding:
    """Holds every file against the manifest. Where a key is laid down, the signature must hold."""
    files = Files()
    try:
        fault = damage(files, folder)
        if fault:
            return Finding(fault)
        if not key_file.exists():
            return Finding("")
        return _signature(folder, public_key(key_file))
    except (OSError, KeyRefused) as error:
        return Finding(f"it cannot be read: {error}")


def _signature(folder: Path, key: Ed25519PublicKey) -> Finding:
    path = folder / SIGNATURE
    if not path.exists():
        return Finding("it is not signed")
    try:
        key.verify(bytes.fromhex(path.read_text("ascii")), (folder / MANIFEST).read_bytes())
    except (InvalidSignature, ValueError):
        return Finding(f"its signature is not of the key {fingerprint(key)}")
    return Finding("", fingerprint(key))


def sign_release(folder: Path, key_file: Path) -> str:
    """Writes the manifest of the folder as it is, and signs it; the key's fingerprint."""
    try:
        key = load_pem_private_key(key_file.read_bytes(), None)
    except (ValueError, TypeError) as error:
        raise KeyRefused(f"{key_file} holds no private key without a password") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyRefused(f"{key_file} holds another kind of key than Ed25519")
    text = manifest_of(Files(), folder)
    (folder / MANIFEST).write_bytes(text)
    (folder / SIGNATURE).write_text(key.sign(text).hex() + "\n", "ascii")
    for name in (MANIFEST, SIGNATURE):
        (folder / name).chmod(0o644)
    return fingerprint(key.public_key())


def public_key(key_file: Path) -> Ed25519PublicKey:
    try:
        key = load_pem_public_key(key_file.read_bytes())
    except ValueError as error:
        raise KeyRefused(f"{key_file} holds no public key") from error
    if not isinstance(key, Ed25519PublicKey):
        raise KeyRefused(f"{key_file} holds another kind of key than Ed25519")
    return key


def fingerprint(key: Ed25519PublicKey) -> str:
    raw = key.public_bytes(Encoding.Raw, PublicFormat.Raw)
    return hashlib.sha256(raw).hexdigest()[:FINGERPRINT_DIGITS]


def seeded_digest(folder: Path, seed: bytes) -> str:
    """HMAC-SHA-256 by the seed over all that is there: each path, mode and every byte of content.

    Over the bytes and not over their hashes: who has only the manifest cannot answer.
    """
    files, digest = Files(), hmac.new(seed, digestmod=hashlib.sha256)
    for path in sorted(walk(files, folder)):
        if files.kind(folder / path) == LINK:
            mode, data = "link", files.target(folder / path).encode()
        else:
            mode, data = f"{files.mode(folder / path):04o}", files.read(folder / path)
        # Lengths first, so that no two different folders give the same stream of bytes.
        digest.update(f"{len(path.encode())} {path} {mode} {len(data)}\n".encode())
        digest.update(data)
    return digest.hexdigest()


def seeded_file_digest(file: Path, seed: bytes) -> str:
    """The same over one file or partition, as `openssl dgst -sha256 -hmac SEED FILE` has it."""
    digest = hmac.new(seed, digestmod=hashlib.sha256)
    with file.open("rb") as stream:
        while chunk := stream.read(CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()
